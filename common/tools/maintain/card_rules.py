"""Rules for the cards of a chapter's exercises, on its page and on that in Chinese.

Each exercise has one card, in the order of chapter.toml, in a section. The first card comes early, but for the first chapter,
whose page first says what a kernel is. The hints are not on the page, and it says `./course check`: how Meson does the same is
in common/docs/learning.md.
"""

import re

from tools.lib import pages

PAGES = ("README.md", "README.zh-CN.md")
LATEST = 0.45  # of what is visible of a page comes before its first card
FIRST_CHAPTER = "00"
HINT = re.compile(r"<summary>(?:Hint|提示)")


def problems_of(top, chapter):
    """What is wrong with the cards of one chapter."""
    problems = []
    for page in (chapter.folder / name for name in PAGES):
        if page.exists():
            problems += [f"{page.relative_to(top)}: {problem}" for problem in problems_of_page(chapter, page.read_text(encoding="utf-8"))]
    return problems


def problems_of_page(chapter, text):
    """The same of one of its pages."""
    cards = pages.cards(text)
    shown = [exercise for exercise, _ in cards]
    problems = [f"{exercise} has {shown.count(exercise)} lines <!-- exercise {exercise} -->, not one"
                for exercise in chapter.exercises if shown.count(exercise) != 1]
    if not problems and shown != chapter.exercises:
        problems.append(f"the cards come in the order {', '.join(shown)}, and chapter.toml names {', '.join(chapter.exercises)}")
    problems += [f"the card of {exercise} is in no section: no heading ## is above it" for exercise, step in cards if step is None]
    share = pages.share_before_first_card(text)
    if chapter.number != FIRST_CHAPTER and share is not None and share > LATEST:
        problems.append(f"{share:.0%} of what is visible comes before the first card, and {LATEST:.0%} may")
    if "meson test -C" in text:
        problems.append("says meson test -C: a page says ./course check")
    if HINT.search(text):
        problems.append("has a hint: hints are in hints/EXERCISE.md, and come one at a time")
    return problems
