"""Parts of a Markdown file between <!-- NAME:begin --> and <!-- NAME:end -->: what tools write, and what leads to answers."""

import re

from tools.lib.failed import Failed

# What leads to an answer, and a release for learners leaves out. The marker may not begin a line: there it would end the
# paragraph.
ANSWERS = re.compile(r"<!-- answers:begin -->(.*?)<!-- answers:end -->", re.DOTALL)
COMMENT = re.compile(r"<!-- [^\n]*?-->")


def without_comments(text):
    """A text without the comments in its lines, such as the markers of measured numbers (tools/measure/prose_numbers.py)."""
    return COMMENT.sub("", text)


def replaced(file, text, name, part):
    """`text` with `part` between the markers of `name`; Failed if not exactly one pair is there."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise Failed(f"{file}: needs one line {begin} and, below it, one line {end}")
    head, rest = text.split(begin)
    return f"{head}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"


def without_answers(text):
    """(the text without what leads to answers, a list of what went)."""
    return ANSWERS.sub("", text), [" ".join(part.split()) for part in ANSWERS.findall(text)]
