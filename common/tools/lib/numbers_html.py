"""Numbers in the texts of pages, as HTML has them: 2^24, which Markdown has, is a superscript there, and no line ends before a unit."""

import re

POWER = re.compile(r"\b(\d+|[a-z])\^(?:\((\w+[+-]\w+)\)|(-?\w+))")
UNIT = re.compile(r"(?<=\d) (?=(?:[nµm]?s|min|h|[KMGT]i?B|bytes?|[GT]B/s|GHz|W|times)\b|%|小时|分钟|秒)|(?<=★) (?=\d)| (?=★)")
RANGE = re.compile(r"(?<=\u00a0–) (?=\d)")
CHINESE_UNIT = re.compile(r"(?<=\u00a0)(?:小时|分钟)")

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def with_raised_exponents(text):
    """2^24 with the superscripts that a font has, for drawings."""
    return POWER.sub(lambda power: power[1] + power[3].translate(RAISED) if (power[3] or "").lstrip("-").isdigit() else power[0], text)


def with_units_kept(text):
    """A text with no-break spaces between each number and its unit, and in a range that has one. A word joiner forbids to break Chinese units inside, and a range after its dash."""
    text = RANGE.sub("\u2060\u00a0", UNIT.sub("\u00a0", text))
    return CHINESE_UNIT.sub(lambda unit: "\u2060".join(unit[0]), text)


def typeset_numbers(text):
    """HTML whose powers have superscripts, and whose numbers keep their units."""
    return POWER.sub(lambda power: f"{power[1]}<sup>{power[2] or power[3]}</sup>", with_units_kept(text))
