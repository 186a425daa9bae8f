"""Rules for the length of the front page, README.md: a reader meets the first command early, and reads all of it in minutes.

Words are those of its text: no tables, no code, no pictures; of a link what a reader sees.
"""

import re

from tools.lib import markers, pages

MOST_WORDS = 700
MOST_BEFORE = 150  # the first command
PICTURE_OR_LINK = re.compile(r"(!?)\[((?:!\[[^\]]*\]\([^)]*\)|[^\]])*)\]\([^)]*\)")
COMMAND = "<!-- command 1 -->"


def words(text):
    """How many words of text a page has."""
    text = markers.without_comments(pages.without_fences(text))
    text = PICTURE_OR_LINK.sub(lambda found: "" if found[1] or found[2].startswith("![") else found[2], text)
    return sum(bool(re.search(r"\w", word)) for line in text.splitlines() if not line.lstrip().startswith("|") for word in line.split())


def problems_of(top):
    """What is too long."""
    text = (top / "README.md").read_text(encoding="utf-8")
    before, command, _ = text.partition(COMMAND)
    found = [("before its first command", words(before), MOST_BEFORE)] if command else []
    found.append(("outside of tables and code", words(text), MOST_WORDS))
    return [f"README.md: {count} words {where}; {most} at most" for where, count, most in found if count > most]
