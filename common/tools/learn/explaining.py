"""What ./course diff says below a difference: the solution's own comments on the lines that an answer has not."""

import difflib
from dataclasses import dataclass

from tools.lib import cpp_text


@dataclass
class Line:
    """A line with code: its number, its tokens with a blank between two, and the comments above it and at its end."""

    number: int
    code: str
    comments: list


def lines_of(text):
    """The lines of a text that have code. A comment that a blank line follows is on none of them."""
    lines, above = [], []
    for number, tokens in enumerate(tokens_by_line(text), 1):
        comments = [words_of(token.text) for token in tokens if token.kind == "comment"]
        code = " ".join(token.text for token in tokens if token.kind != "comment")
        if code:
            lines.append(Line(number, code, [" ".join(above)] * bool(above) + comments))
        above = [*above, *comments] if comments and not code else []
    return lines


def tokens_by_line(text):
    """For each line of a text, the tokens that begin there."""
    found = [[] for _ in range(text.count("\n") + 1)]
    for token in cpp_text.tokens_of(text):
        found[text.count("\n", 0, token.begin)].append(token)
    return found


def words_of(comment):
    """The text of a comment, in one line."""
    inside = comment.removeprefix("/*").removesuffix("*/") if comment.startswith("/*") else comment.lstrip("/")
    return " ".join(inside.lstrip("<").split())


def explanations(answer, solution):
    """(the number of a line of the solution, what the solution says of it), where the answer has other code, and not this
    comment."""
    mine, theirs = lines_of(answer), lines_of(solution)
    known = {comment for line in mine for comment in line.comments}
    matcher = difflib.SequenceMatcher(None, [line.code for line in mine], [line.code for line in theirs], autojunk=False)
    differing = [theirs[i] for kind, _, _, begin, end in matcher.get_opcodes() if kind != "equal" for i in range(begin, end)]
    return [(line.number, comment) for line in differing for comment in line.comments if comment not in known]
