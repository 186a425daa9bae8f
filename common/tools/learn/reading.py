"""Where on which page a learner reads on: the step whose idea an exercise asks for, and what comes after it."""

import re

from tools.lib import checkout, pages
from tools.lib.checkout import seen_from_the_shell


def page_of(exercise):
    return checkout.TOP / "chapters" / exercise.chapter / "README.md"


def text_of(exercise):
    """The text of the page; "" where it is gone."""
    try:
        return page_of(exercise).read_text(encoding="utf-8")
    except OSError:
        return ""


def said(title):
    """The title of a section in a line: Step 3 (the sum in every lane), or 'Prefix sums'."""
    title = title.replace("`", "")
    step = re.fullmatch(r"(Step \d+): (.+)", title)
    return f"{step[1]} ({step[2]})" if step else f"'{title}'"


def place(exercise, title=None):
    """A section of the exercise's page; without a title the one that its card is in."""
    title = title or dict(pages.cards(text_of(exercise))).get(exercise.name)
    page = seen_from_the_shell(page_of(exercise))
    return f"{said(title)} of {page}" if title else page


def after(solved, following, command):
    """What to read, once an exercise is solved, before the command that checks the following one."""
    text = text_of(solved)
    titles, step_of = [section.title for section in pages.sections(text)], dict(pages.cards(text))
    here, there = step_of.get(solved.name), step_of.get(following.name)
    if solved.chapter != following.chapter:
        steps_left = [title for title in titles[titles.index(here) + 1 :] if title.startswith("Step ")] if here else []
        rest = f"{place(solved, steps_left[0])}, then " if steps_left else ""
        return f"{rest}{seen_from_the_shell(page_of(following))}, then {command}"
    if here is None or there is None or titles.index(there) < titles.index(here):
        return f"{place(following)}, then {command}"
    if here == there:
        return f"{command}, in the same step"
    return f"{place(following, titles[titles.index(here) + 1])}, then {command}"
