"""The Markdown of a page: its headings and their anchors, and the cards of its exercises.

A card is what `common/dev generate` writes between <!-- exercise NAME --> and <!-- exercise:end -->
(tools/measure/cards.py). It belongs to the section of the second level that it is in: the step whose idea it exercises.
"""

import re
from collections import namedtuple

CARD = re.compile(
    r"^<!-- exercise (?P<marker>(?P<name>\w+)\b[^\n]*) -->\n(?:(?:(?!<!-- exercise ).*\n)*?<!-- exercise:end -->\n)?", re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) +(.*?)[ #]*$", re.MULTILINE)
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
INSIDE = r"(?:(?!</?details>).)*"
FOLD = re.compile(rf"<details>{INSIDE}(?:<details>{INSIDE}</details>{INSIDE})*</details>", re.DOTALL)  # and the folds in it
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

# A section of the second level: its heading without "##", and where it begins.
Section = namedtuple("Section", "title begin")


def without_fences(text):
    """A page's text without its blocks of code."""
    return FENCE.sub("", text)


def anchor_of(heading):
    """The anchor that GitHub gives to a heading, where no heading above has it."""
    shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def anchors_of(text):
    """The anchors that GitHub gives to the headings of a page."""
    anchors = set()
    for _, heading in HEADING.findall(without_fences(text)):
        anchor, times = anchor_of(heading), 0
        while (name := f"{anchor}-{times}" if times else anchor) in anchors:
            times += 1
        anchors.add(name)
    return anchors


def sections(text):
    """The Sections of a page, in its order."""
    blanked = FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence.group()), text)
    return [Section(found[2], found.start()) for found in HEADING.finditer(blanked) if found[1] == "##"]


def cards(text):
    """[(exercise, the title of the section that its card is in, or None)] of a page, in its order."""
    there = sections(text)
    return [
        (card["name"], next((section.title for section in reversed(there) if section.begin < card.start()), None))
        for card in CARD.finditer(text)
    ]


def without_exercises(text):
    """A page's text without its cards, and without what follows a card in its section: that is about the exercise."""
    return re.sub(CARD.pattern + r"(?:(?!## ).*\n)*", "", text, flags=re.MULTILINE)


def visible(text):
    """What a reader sees of a page that has just been opened: no comments, and nothing that is folded."""
    return COMMENT.sub("", FOLD.sub("", text))


def share_before_first_card(text):
    """How much of what is visible comes before the first card, from 0 to 1; None without a card."""
    first = CARD.search(text)
    return len(visible(text[: first.start()])) / len(visible(text)) if first else None
