"""Plots as lines of text, each with its mark below it: what a phone shows in place of the drawing of a ladder, or of ratios.

A drawing is as wide as a page on GitHub. On a phone its letters would be too small, and its values out of view.
"""

import html
import math

from tools.lib.numbers_html import typeset_numbers
from tools.measure.plot_svg import BARS, DARK, MARKS, SHOWN_RATIOS


def typeset(text):
    return typeset_numbers(html.escape(text))


def place(value, low, high, log=True):
    """Where a value is between two others, in per cent."""
    part = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
    return f"{100 * part:.1f}%"


def colour(light):
    return f"--mark: light-dark({light}, {DARK[light]})"


def line(name, what, value, ratio, mark):
    """One row; `mark` is the HTML of its mark, with its colour."""
    return (
        f'<li style="{mark[0]}"><b>{typeset(name)}</b> <span>{typeset(value)} <b>{typeset(ratio)}</b></span>'
        f'<small>{typeset(what)}</small><i class="track">{mark[1]}</i></li>'
    )  # fmt: skip


def whole(description, groups, kind):
    """The rows of a plot below its title, and its axis and its legend below them."""
    legend = "".join(
        f'<li style="{style}">{mark}<small>{typeset(text)}</small></li>'
        for (style, mark), text in ((kind(mark), text) for mark, text in description["legend"])
    )
    return (
        f'<div class="plot-rows"><p><b>{typeset(description["title"])}</b><small>{typeset(description["subtitle"])}</small></p>{groups}'
        f'<p><small>{typeset(description["axis"])}</small></p><ul class="legend">{legend}</ul></div>'
    )  # fmt: skip


def of_ladder(description):
    times = [row["time"] for group in description["groups"] for row in group["rows"]]
    log = description["log"]
    ends = (min(times) / 1.4, max(times) * 1.4, log) if log else (0, 1.06 * max(times), log)

    def kind(mark, left=""):
        light, _, filled = MARKS[mark]
        return colour(light), f'<i class="dot{"" if filled else " hollow"}"{left}></i>'

    def rows_of(group):
        rows = "".join(
            line(row["name"], row["changed"], f"{row['time_text']} µs", row["ratio"], kind(row["mark"], f' style="left: {place(row["time"], *ends)}"'))
            for row in group["rows"]
        )
        if not group["line"]:
            return f"<ul>{rows}</ul>"
        at = place(group["line"], *ends)
        side = "before" if float(at[:-1]) > 50 else "after"
        return f'<ul style="--at: {at}"><li class="name {side}"><small>{typeset(group["line_name"])}</small></li>{rows}</ul>'

    return whole(description, "".join(map(rows_of, description["groups"])), kind)


def of_ratios(description):
    low, high = SHOWN_RATIOS

    def kind(mark, classes="", style=""):
        hatched = " hatched" if mark == "none" else ""
        return colour(BARS[mark]), f'<i class="bar{hatched}{classes}"{style}></i>'

    def bar(row):
        shown = min(max(row["ratio"], low), high)
        goes_on = "" if shown == row["ratio"] else " goes-on-left" if shown == low else " goes-on-right"
        return kind(row["mark"], goes_on, f' style="left: {place(min(shown, 1), low, high)}; right: {place(max(shown, 1), high, low)}"')

    rows = "".join(line(row["name"], row["what"], row["against"], row["ratio_text"], bar(row)) for row in description["rows"])
    return whole(description, f'<ul style="--at: {place(1, *SHOWN_RATIOS)}">{rows}</ul>', kind)


KINDS = {"ladder": of_ladder, "ratios": of_ratios}


def of(description):
    """The HTML of a plot that has rows; "" of a curve, which has none."""
    return KINDS.get(description["kind"], lambda _: "")(description)
