"""Powers in the texts of pages: 2^24 is written so in Markdown, and has a superscript where HTML is made of it."""

import re

POWER = re.compile(r"\b(\d+|[a-z])\^(?:\((\w+[+-]\w+)\)|(-?\w+))")


def with_superscripts(text):
    """HTML whose powers have superscripts."""
    return POWER.sub(lambda power: f"{power[1]}<sup>{power[2] or power[3]}</sup>", text)
