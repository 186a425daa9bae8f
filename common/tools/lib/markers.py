"""The generated parts of a Markdown file: what is between <!-- NAME:begin --> and <!-- NAME:end -->."""

from tools.lib.failed import Failed


def replaced(file, text, name, part):
    """`text` with `part` between the markers of `name`; Failed if not exactly one pair is there."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise Failed(f"{file}: needs one line {begin} and, below it, one line {end}")
    head, rest = text.split(begin)
    return f"{head}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"
