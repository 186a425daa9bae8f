"""What a terminal can show: colours, its width, its characters; and Markdown as plain text for it."""

import codecs
import os
import re
import shutil
import sys
import textwrap

STYLES = {"good": "32", "open": "33", "bad": "31", "strong": "1", "quiet": "2"}
PLAIN = {
    "–": "-", "—": "-", "−": "-", "→": "->", "←": "<-", "×": "x", "·": "*", "…": "...", "µ": "u", "μ": "u",
    "≤": "<=", "≥": ">=", "≠": "!=", "“": '"', "”": '"', "‘": "'", "’": "'", "↑": "^", "↓": "v", "✓": "+", "▶": ">", "─": "-",
}
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")  # of a list
WIDEST = 100  # longer lines are hard to read


def prepare():
    """Characters that an output's encoding does not have are written in others, and never are an error."""
    codecs.register_error("course-plain", lambda error: (PLAIN.get(error.object[error.start], "?"), error.start + 1))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="course-plain")


def has_colour():
    """True if standard output is a terminal with colours, and NO_COLOR is not set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")


def paint(text, style):
    """`text` in one of STYLES, where there are colours."""
    return f"\033[{STYLES[style]}m{text}\033[0m" if has_colour() and text else text


def width():
    """Columns of the terminal, at least 20; 80 where there is none."""
    return max(20, min(WIDEST, shutil.get_terminal_size().columns))


def from_markdown(text, indent=""):
    """Markdown as plain text: paragraphs and lists wrapped, links by their text, code and tables as they are."""
    lines = []
    paragraph = []

    def flush():
        joined = " ".join([*paragraph[:1], *map(str.strip, paragraph[1:])])
        joined = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", joined)
        margin = indent + (ITEM.match(joined) or re.match(r"\s*", joined)).group()
        if paragraph:
            lines.append(textwrap.fill(
                indent + joined, width(), subsequent_indent=" " * len(margin), break_long_words=False,
                break_on_hyphens=False,
            ))
        paragraph.clear()

    in_code = False
    for line in text.strip("\n").splitlines():
        if line.lstrip().startswith("```"):
            flush()
            in_code = not in_code
        elif in_code or line.startswith(("    ", "|")):
            flush()
            lines.append(indent + ("  " if in_code else "") + line)
        elif not line.strip():
            flush()
            lines.append("")
        else:
            in_list = paragraph and ITEM.match(paragraph[0])
            if ITEM.match(line) or line[0] == " " and not in_list:
                flush()
            paragraph.append(line)
    flush()
    return "\n".join(lines)
