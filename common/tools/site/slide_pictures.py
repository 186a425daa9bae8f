"""Pictures as slides show them: as wide as the slide, cut where they are too high, in letters that the last row reads.

A slide has 1280 x 720 pixels, and a picture on it at most PICTURE_WIDTH x PICTURE_HEIGHT. Drawings of lanes are cut between
two of their rows, and what is beside the slide's heading, such as their own title, is left out. A ladder is drawn anew.
"""

import math
import re

from tools.lib.svg import escape, num
from tools.measure.plot_svg import BETTER, GRID, INK, MUTED, OURS, VENDOR, numbers_between, plain
from tools.trace.narrow import WIDTH as NARROW

SLIDE_WIDTH, SLIDE_HEIGHT = 1280, 720
PICTURE_WIDTH, PICTURE_HEIGHT = 1200, 612
LEAST_WIDTH = 0.6  # of the slide
LEAST_LETTER = 14  # pixels
LANES_LEFT, LANES_WIDTH, LANES_SHOWN = 2, 890, 1268  # a drawing of 32 lanes reaches from edge to edge, so that its values stay apart
GAP = 20  # between the two columns of a narrow drawing
LEFT_OUT = 24  # the height of a line that says how many rows are left out
DARK = re.compile(r"@media ?\(prefers-color-scheme: ?dark\) ?\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")  # a slide is always light
BEGINS = re.compile(r'<g class="step"|<rect [^>]*class="finding"|<text [^>]*class="small soft">(?=[^<]*</text>\s*(?:<text [^>]*>[^<]*</text>\s*)*</svg>)')
FRAME = re.compile(r'<rect [^>]*class="page"/>')
TRAILING_TEXT = re.compile(r'(?:\n<text [^>]*>[^<]*</text>)+\s*(?=</svg>)')  # lines of their own
LADDER_ROWS = 9
NAME_LETTERS, CHANGED_LETTERS = 45, 60


def box_of(svg):
    """(left, top, width, height) of a drawing's coordinates."""
    return tuple(map(float, re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', svg).groups()))


def with_box(svg, box, width):
    """The SVG with another part of its coordinates, so many pixels wide."""
    left, top, across, down = box
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{num(left)} {num(top)} {num(across)} {num(down)}" '
        f'width="{num(width)}" height="{num(width * down / across)}">'
    )
    return re.sub(r"<svg[^>]*>", head, DARK.sub("", svg[svg.index("<svg") :]), count=1)


# ---- drawings of what threads do -------------------------------------------------------------------


def top_of(part):
    """Where the first element of a part of a drawing begins."""
    y = float(re.search(r'\by="([\d.]+)"', part)[1])
    return y - 8 if part.startswith("<rect") else y - 16


def rows_of(svg):
    """(what comes before the rows, the heads of the columns, [(text, top)] of the rows, what the last row ends at)."""
    begins = [found.start() for found in BEGINS.finditer(svg)]
    ends = [*begins[1:], svg.rindex("</svg>")]
    parts = [svg[begin:end] for begin, end in zip(begins, ends)]
    bottom = box_of(svg)[3]
    while parts[-1].startswith(("<text", "<rect")):  # what the signs mean, and the report: said by the speaker
        bottom = top_of(parts.pop())
    heads = re.search(r'<g class="columns">.*?</g>', svg)
    return svg[: begins[0]], heads[0] if heads else "", [(part, top_of(part)) for part in parts], bottom


def columns_of(rows, bottom, room, most):
    """([[(text, top, height)]], how many rows are left out): rows in one column, or in two about equally high, none higher than
    `room`: the second has the last rows."""
    tops = [top for _, top in rows] + [bottom]
    sized = [(text, top, tops[k + 1] - top) for k, (text, top) in enumerate(rows)]

    def height(part):
        return sum(row[2] for row in part)

    if most == 1:
        return [sized], 0
    cut = min(range(1, len(sized)), key=lambda k: max(height(sized[:k]), height(sized[k:])))
    first, last = sized[:cut], sized[cut:]
    while height(first) > room:
        first = first[:-1]
    while height(last) > room - (LEFT_OUT if len(first) + len(last) < len(sized) else 0):
        last = last[1:]
    return [first, last], len(sized) - len(first) - len(last)


def column_svg(heads, column, left, left_out=0):
    """The elements of one column, moved to the drawing's top; above it how many rows are left out."""
    heads_top = float(re.search(r'y="([\d.]+)"', heads)[1]) - 14 if heads else 0
    y = 20 if heads else 0
    parts = [f'<g transform="translate({num(left)} {num(-heads_top)})">{heads}</g>'] if heads else []
    if left_out:
        y += LEFT_OUT
        parts.append(f'<text x="{num(left + 10)}" y="{num(y - 8)}" class="soft">… {left_out} row{"s" if left_out > 1 else ""} before</text>')
    parts.append(f'<g transform="translate({num(left)} {num(y - column[0][1])})">{"".join(row[0] for row in column)}</g>')
    return "\n".join(parts), y + sum(row[2] for row in column)


def lane_pictures(svg):
    """The slides' SVGs of a drawing of lanes or threads: one, or two where it is too high for one."""
    before, heads, rows, bottom = rows_of(svg)
    across = box_of(svg)[2]
    whole = bottom - rows[0][1] + (20 if heads else 0)
    is_narrow = across <= NARROW
    side_by_side = is_narrow and LEAST_WIDTH * SLIDE_WIDTH / across * whole > PICTURE_HEIGHT
    width = 2 * across + GAP if side_by_side else across
    left = 0
    if not is_narrow:
        left, width, shown = LANES_LEFT, LANES_WIDTH, LANES_SHOWN
    elif side_by_side:
        shown = PICTURE_WIDTH
    else:
        shown = min(PICTURE_WIDTH, PICTURE_HEIGHT / whole * width)
    room = PICTURE_HEIGHT * width / shown - (20 if heads else 0) + 0.01
    columns, left_out = columns_of(rows, bottom, room, 2 if side_by_side or whole > PICTURE_HEIGHT * width / shown + 0.01 else 1)
    least = math.ceil(100 * LEAST_LETTER * width / shown) / 100
    style = re.search(r"<style>.*?</style>", before, re.DOTALL)[0]
    sizes = {"small": 9.5, "tiny": 8.5, "value": 9.5}
    larger = " ".join(f".{name} {{ font-size: {num(least)}px; }}" for name, size in sizes.items() if size < least)
    head = re.search(r"<defs>.*?</defs>", before, re.DOTALL)[0] + style.replace("</style>", f"\n{larger}</style>")

    def document(body, height):
        return with_box(f"<svg>{head}\n{body}\n</svg>", (left, 0, width, height), shown)

    if side_by_side:
        drawn = [column_svg(heads, column, k * (across + GAP), left_out if k else 0) for k, column in enumerate(columns)]
        return [document("\n".join(text for text, _ in drawn), max(height for _, height in drawn))]
    return [document(*column_svg(heads, column, 0, left_out if k else 0)) for k, column in enumerate(columns)]


# ---- other drawings --------------------------------------------------------------------------------


def drawing(svg):
    """The slide's SVG of a plot or another drawing: without its title, and where it is high, without what is written below it, or its middle."""
    left, top, across, down = box_of(svg)
    if svg.count('class="head"') == 1:  # its title; and below that one line
        svg, end = without_title(svg)
        top, down = top + end, down - end
    elif "font: 700 13px" in svg:  # a plot: its title and subtitle are above 46
        top, down = top + 46, down - 46
    highest = PICTURE_HEIGHT * across / (LEAST_WIDTH * SLIDE_WIDTH)
    if down > highest:
        svg = FRAME.sub("", svg)
        if last := TRAILING_TEXT.search(svg):
            down = float(re.search(r'\by="([\d.]+)"', last[0])[1]) - 20 - top
            svg = svg[: last.start()] + svg[last.end() :]
    if down > highest:
        top, down = top + (down - highest) / 2, highest
    return with_box(svg, (left, top, across, down), min(PICTURE_WIDTH, PICTURE_HEIGHT * across / down))


def without_title(svg):
    """(the SVG without its frame, its title and the line below it, where they end)."""
    head = re.search(r'<text x="[\d.]+" y="([\d.]+)" class="head">[^<]*</text>', svg)
    svg, end = FRAME.sub("", svg).replace(head[0], ""), float(head[1])
    below = re.search(r'<text x="[\d.]+" y="([\d.]+)" class="small soft">[^<]*</text>', svg)
    if below and float(below[1]) < end + 22:
        svg, end = svg.replace(below[0], ""), float(below[1])
    return svg, end + 6


# ---- a ladder --------------------------------------------------------------------------------------


def rows_to_show(rows):
    """The rows of a ladder that a slide has room for: the first, the fastest, the vendor's, and those of others that changed most."""
    if len(rows) <= LADDER_ROWS:
        return rows
    own = [row for row in rows if row["mark"] != "vendor"]
    kept = [own[0], min(own, key=lambda row: row["time"]), *(row for row in rows if row["mark"] == "vendor")]
    changes = sorted(zip(own, own[1:]), key=lambda pair: -abs(math.log(pair[1]["time"] / pair[0]["time"])))
    for _, row in changes:
        if len(kept) < LADDER_ROWS and row not in kept:
            kept.append(row)
    return [row for row in rows if row in kept]


def even_ticks(high):
    """0 and numbers at equal distances up to `high`, four to eight of them."""
    distance = next(step * 10.0**power for power in range(-3, 9) for step in (1, 2, 5) if high / (step * 10.0**power) < 8)
    return [distance * k for k in range(int(high / distance) + 1)]


def clipped(text, letters):
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


def ladder(description):
    """The slide's SVG of a ladder's first group: names, points on a scale of times, times and ratios."""
    group = description["groups"][0]
    rows = rows_to_show(group["rows"])
    left, right, top = 470, 940, 44
    step = min(90, (PICTURE_HEIGHT - top - 56) / len(rows))
    bottom = top + step * len(rows)
    low, high = min(row["time"] for row in rows), max(row["time"] for row in rows)
    log = high > 6 * low
    low, high = (low / 1.4, high * 1.4) if log else (0, 1.06 * high)

    def x_of(time):
        share = math.log(time / low) / math.log(high / low) if log else time / high
        return num(left + share * (right - left))

    ticks = numbers_between(low, high, (1, 2, 5) if high / low < 60 else (1,)) if log else even_ticks(high)
    parts = [
        f"<style>text {{ font: 18px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif; fill: {INK}; }} "
        f".name {{ font-family: ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', Consolas, monospace; font-weight: 600; font-size: 17px; }} "
        f".soft {{ fill: {MUTED}; font-size: 14px; }} .end {{ text-anchor: end; }} .middle {{ text-anchor: middle; }}</style>",
        f'<text x="1060" y="26" class="soft end">µs</text><text x="1195" y="26" class="soft end">{description["ratios"]}</text>',
    ]
    for tick in ticks:
        parts.append(f'<path d="M{x_of(tick)} {top}V{num(bottom)}" stroke="{GRID}"/><text x="{x_of(tick)}" y="{num(bottom + 22)}" class="soft middle">{plain(tick)}</text>')
    if group["line"]:
        parts.append(f'<path d="M{x_of(group["line"])} {top}V{num(bottom)}" stroke="{VENDOR}" stroke-width="2" stroke-dasharray="7 5"/>')
        half = 4.4 * len(group["line_name"])
        middle = num(min(max(float(x_of(group["line"])), left + half), right - half))
        parts.append(f'<text x="{middle}" y="26" class="middle" style="fill: {VENDOR}; font-size: 15px">{escape(group["line_name"])}</text>')
    for k, row in enumerate(rows):
        y = top + step * (k + 0.5)
        colour = {"vendor": VENDOR, "better": BETTER}.get(row["mark"], OURS)
        fill = "#ffffff" if row["mark"] == "other" else colour
        parts.append(
            f'<text x="4" y="{num(y - 3)}" class="name">{escape(clipped(row["name"], NAME_LETTERS))}</text>'
            f'<text x="4" y="{num(y + 16)}" class="soft">{escape(clipped(row["changed"], CHANGED_LETTERS))}</text>'
            f'<circle cx="{x_of(row["time"])}" cy="{num(y)}" r="8" fill="{fill}" stroke="{colour}" stroke-width="3"/>'
            f'<text x="1060" y="{num(y + 6)}" class="end">{row["time_text"]}</text><text x="1195" y="{num(y + 6)}" class="end">{row["ratio"]}</text>'
        )
    below = [description["axis"], *(f"hollow: {text}" for kind, text in description["legend"] if kind == "other" and any(row["mark"] == "other" for row in rows))]
    parts.append(f'<text x="4" y="{num(bottom + 48)}" class="soft">{escape(clipped("; ".join(below), 160))}</text>')
    return with_box("<svg>" + "\n".join(parts) + "</svg>", (0, 0, PICTURE_WIDTH, bottom + 56), PICTURE_WIDTH)
