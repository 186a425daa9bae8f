"""Names of files in messages."""


def quoted(name):
    """The name as a sentence has it: between quotes where its begin or end would not be seen."""
    return f"'{name}'" if not name or any(letter.isspace() for letter in name) else name
