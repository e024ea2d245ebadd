"""What the application refuses of its callers, as opposed to what is wrong with the program."""


class Refused(ValueError):
    """Input that can't be meant: the message names the value and says what to do, and nothing was changed.

    Command line and HTTP show it as a sentence; any other ValueError is a fault of the program, seen whole.
    """
