"""Texts that tools write: each is a Document, which knows its file, what is expected there, and what it is.

`common/dev generate` writes those that are out of step, and `common/dev generate --check` names them. A Document may be a
part of its file: what a person writes around it stays as it is.
"""

from tools.lib import compact_json, markers
from tools.lib.failed import Failed

COMMAND = "common/dev generate"


class Document:
    """A generated text. `what` says what it is, `make` makes the file's whole text out of the text that is there."""

    def __init__(self, file, what, make):
        self.file = file
        self.what = what
        self.make = make
        self.left_out = []  # what could not be made, and stays as it is

    def found(self):
        """The text of the file; "" without a file."""
        return self.file.read_text(encoding="utf-8") if self.file.exists() else ""

    def expected(self):
        """The file's text as it should be; Failed where that cannot be said."""
        return self.make(self.found())

    def problem(self):
        """What is out of step, or None."""
        if not self.file.exists():
            return "is missing"
        found, expected = self.found(), self.expected()
        return None if found == expected else f"is out of step, {first_difference(found, expected)}"

    def write(self):
        """Brings the file into step; says whether that has changed it."""
        expected = self.expected()
        if self.file.exists() and self.found() == expected:
            return False
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(expected, encoding="utf-8")
        return True


def section(file, name, what, text):
    """The Document of the Markdown between <!-- NAME:begin --> and <!-- NAME:end --> of a file."""
    return Document(file, what, lambda found: markers.replaced(file, found, name, text))


def data(file, what, content):
    """The Document of a file of results: the object that `content` returns, with one row per line."""
    return Document(file, what, lambda _: compact_json.text_of(content()))


def first_difference(found, expected):
    """Where a text differs first from the expected one: its line, and the last marker of a generated part above that."""
    lines, new_lines = found.split("\n"), expected.split("\n")
    pairs = enumerate(zip(lines, new_lines))
    at = next((i for i, pair in pairs if pair[0] != pair[1]), min(len(lines), len(new_lines)))
    marker = next((line for line in reversed(new_lines[: at + 1]) if line.lstrip().startswith(("<!-- ", "// rows"))), None)
    return f"line {at + 1}" + (f": {marker.strip()}" if marker else "")


def gathered(makers):
    """(the Documents that these functions return, what is wrong with the others): one that fails hides no other."""
    found, problems = [], []
    for make in makers:
        try:
            found += make()
        except Failed as failed:
            problems.append(str(failed))
    return found, problems


def write(top, makers):
    """Writes all Documents, and returns the files that have changed; Failed, with every problem, if one could not be written."""
    found, problems = gathered(makers)
    changed = []
    for document in found:
        try:
            if document.write():
                changed.append(document.file)
            problems += document.left_out
        except (Failed, OSError) as failed:
            problems.append(f"{shown(top, document)}: {failed}")
    if problems:
        raise Failed("\n".join(problems))
    return list(dict.fromkeys(changed))


def check(top, makers):
    """How many Documents are in step; Failed, with every problem, if one is not."""
    found, problems = gathered(makers)
    out_of_step = []
    for document in found:
        try:
            if (problem := document.problem()) is not None:
                out_of_step.append(f"{shown(top, document)} {problem}: {document.what}")
            problems += document.left_out
        except (Failed, OSError) as failed:
            problems.append(f"{shown(top, document)}: {failed}")
    if problems or out_of_step:
        raise Failed("\n".join([*problems, *out_of_step, *([f"run: {COMMAND}"] if out_of_step else [])]))
    return len(found)


def shown(top, document):
    """A Document's file, from the top of the course."""
    return document.file.relative_to(top)
