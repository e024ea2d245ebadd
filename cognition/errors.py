"""The expected errors of the application. Any other exception is a bug and keeps its traceback."""


class CognitionError(Exception):
    """Base class of the errors shown to the user as a plain message, without a traceback."""


class InvalidInput(CognitionError, ValueError):
    """Invalid input. The message names the value and what was expected; nothing was changed."""


class Unavailable(CognitionError, RuntimeError):
    """A resource that is currently unavailable. The message says which one and how to fix it."""
