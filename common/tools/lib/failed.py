"""The exception of the tools: a program ends with its text and exit code 1."""


class Failed(Exception):
    """What went wrong, for the user."""
