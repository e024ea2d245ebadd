"""The errors this application raises on purpose. Any other exception is a bug and keeps its traceback."""


class CognitionError(Exception):
    """The base of all errors that are shown to a user as one sentence."""


class InvalidInput(CognitionError, ValueError):
    """Input that can't be used. The message names the value and what was expected; nothing was changed."""


class Unavailable(CognitionError, RuntimeError):
    """Something that can't be used right now. The message says what and how to fix it."""
