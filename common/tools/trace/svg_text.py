"""Texts as a picture contains them: cut off, and always the same for the same value."""

import re


def clip(text, width):
    """`text`, cut off to `width` characters."""
    return text if len(text) <= width else text[: max(0, width - 1)].rstrip() + "…"


def short_value(text, width=4):
    """A value in at most `width` characters; a number loses digits where it has to."""
    text = {"true": "1", "false": "0"}.get(text, text)
    if len(text) <= width:
        return text
    try:
        number = float(text)
    except ValueError:
        return clip(text, width)
    if number != number or abs(number) == float("inf"):
        return clip(text, width)
    for digits in range(width, 0, -1):
        plain = f"{number:.{digits}g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
        plain = re.sub(r"^(-?)0\.", r"\1.", plain)
        if len(plain) <= width:
            return plain
    return clip(text, width)


def parts_of(value):
    """"(1, 2)" as ["1", "2"]; what is no vector, as one part."""
    return value[1:-1].split(", ") if value.startswith("(") and value.endswith(")") else [value]
