"""The exception of the tools: a program ends with its text and its exit code."""


class Failed(Exception):
    """What went wrong, for the user."""

    def __init__(self, text, exit_code=1):
        super().__init__(text)
        self.exit_code = exit_code
