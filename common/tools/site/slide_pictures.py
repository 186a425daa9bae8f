"""Pictures as slides show them: as large as the slide allows, in letters that the last row reads, and whole.

A slide has 1280 x 720 pixels. A picture is alone below the heading (WHOLE), below a text (BELOW), or to the right of one (BESIDE).
A drawing of lanes that is too high for its room goes on on the next slide: it is cut between two of its rows, and no row is left out.
Its own title, which the heading says, is left out. Ladders and bars are drawn for the slide.
"""

import math
import re

from tools.lib.numbers_html import with_raised_exponents
from tools.lib.svg import escape, num
from tools.measure.plot_svg import BETTER, GRID, INK, MUTED, OURS, VENDOR, numbers_between, plain
from tools.trace.narrow import WIDTH as NARROW

SLIDE_WIDTH, SLIDE_HEIGHT = 1280, 720
WHOLE, BELOW, BESIDE = (1236, 544), (1236, 436), (712, 580)  # the room of a picture; printers need the margin
LEAST_LETTER = 14  # pixels
LANES_LEFT, LANES_WIDTH = -6, 898  # of a drawing of 32 lanes: room for larger letters at its left, and no margin at its right
LEAST_LANES = 1000  # pixels of their width: below, values do not stay apart
WIDE = 800  # units of a drawing that is not shown beside a text
GAP = 20  # between the two columns of a narrow drawing
NARROW_SCALE = 4 / 3  # a narrow drawing is at least so much larger than its own size: its lines of code fill its width
HEADS = 20  # the height of the heads of columns
DARK = re.compile(r"@media ?\(prefers-color-scheme: ?dark\) ?\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")  # a slide is always light
BEGINS = re.compile(r'(?:<rect [^>]*class="full L\d+"/>)*\n?<g class="step"|<rect [^>]*class="finding"|<text [^>]*class="small soft">(?=[^<]*</text>\s*(?:<text [^>]*>[^<]*</text>\s*)*</svg>)')
LETTERS = re.compile(r"(font(?:-size)?: ?(?:\d+ )?)([\d.]+)px")
FRAME = re.compile(r'<rect [^>]*class="page"/>')
PLOT_HEAD = 46  # of a plot: its title, and a line about the measurement
PLOT_TITLE = re.compile(r'<g id="patch_\d+"><path d="M 0 [^>]*style="fill: none"/></g>\n?|<g id="text_\d+"><text [^>]*x="10" y="(?:[123]?\d|4[0-5])(?:\.\d+)?"[^>]*>[^<]*</text></g>')
LADDER_ROWS, LADDER_WIDTH = 9, 1200
NAME_LETTERS, CHANGED_LETTERS = 45, 60
BAR_NAME, BAR_WHAT, VALUE_LETTER = 62, 88, 12.5  # letters; the width of a letter of a value, in pixels
BEFORE = "#8db4e2"  # of the rung before


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
    begin = max(0, part.find('<g class="step"'))  # a row of a time line has its lines before it
    y = float(re.search(r'\by="([\d.]+)"', part[begin:])[1])
    return y - 8 if part.startswith("<rect", begin) else y - 16


def rows_of(svg):
    """(what comes before the rows, the heads of the columns, [(text, top)] of the rows, what the last row ends at)."""
    begins = [found.start() for found in BEGINS.finditer(svg)]
    ends = [*begins[1:], svg.rindex("</svg>")]
    parts = [svg[begin:end] for begin, end in zip(begins, ends)]
    bottom = box_of(svg)[3]
    while '<g class="step"' not in parts[-1]:  # what the signs mean, and the report: said by the speaker
        bottom = top_of(parts.pop())
    heads = re.search(r'<g class="columns">.*?</g>', svg)
    return svg[: begins[0]], heads[0] if heads else "", [(part, top_of(part)) for part in parts], bottom


def height_of(rows):
    return sum(height for _, _, height in rows)


def in_parts(rows, bottom, first, more):
    """[[(text, top, height)]]: rows in as few parts as fit, the first into the height `first` and the others into `more`."""
    tops = [top for _, top in rows] + [bottom]
    sized = [(text, top, tops[k + 1] - top) for k, (text, top) in enumerate(rows)]

    def fullest(parts):
        return max(height_of(part) / (more if k else first) for k, part in enumerate(parts))

    for count in range(1, len(sized) + 1):
        parts = min(all_splits(sized, count), key=fullest)
        if fullest(parts) <= 1:
            break
    return parts


def all_splits(rows, count):
    """All ways to divide rows into `count` parts."""
    if count == 1:
        return [[rows]]
    return [[rows[:cut], *rest] for cut in range(1, len(rows) - count + 2) for rest in all_splits(rows[cut:], count - 1)]


def column_svg(heads, column, left):
    """(the elements of one column, moved to the drawing's top; its height)."""
    heads_top = float(re.search(r'y="([\d.]+)"', heads)[1]) - 14 if heads else 0
    y = HEADS if heads else 0
    parts = [f'<g transform="translate({num(left)} {num(-heads_top)})">{heads}</g>'] if heads else []
    parts.append(f'<g transform="translate({num(left)} {num(y - column[0][1])})">{"".join(row[0] for row in column)}</g>')
    return "\n".join(parts), y + height_of(column)


def lane_pictures(svg, room=WHOLE):
    """The slides' SVGs of a drawing of lanes or threads: the first one fits into `room`; where it is too high, others go on alone on their slides. A narrow
    drawing has one column, or two; none if it would be too small."""
    before, heads, rows, bottom = rows_of(svg)
    taken = HEADS if heads else 0
    across = box_of(svg)[2]
    if across > NARROW:
        parts = in_parts(rows, bottom, *(high * LANES_WIDTH / LEAST_LANES - taken for _, high in (room, WHOLE)))
        return [lanes_svg(before, heads, [part], LANES_LEFT, LANES_WIDTH, WHOLE if k else room) for k, part in enumerate(parts)]
    whole = in_parts(rows, bottom, math.inf, math.inf)
    both = whole if len(rows) == 1 else min(all_splits(whole[0], 2), key=lambda parts: max(map(height_of, parts)))
    for columns in (whole, both):
        width = len(columns) * (across + GAP) - GAP
        if min(room[0] / width, room[1] / (max(map(height_of, columns)) + taken)) >= NARROW_SCALE:
            return [lanes_svg(before, heads, columns, 0, width, room)]
    return []


def lanes_svg(before, heads, columns, left, width, room):
    """The SVG of columns of rows, as large as fits into `room`."""
    step = (width + GAP) / len(columns)
    drawn = [column_svg(heads, column, k * step) for k, column in enumerate(columns)]
    height = max(height for _, height in drawn)
    shown = min(room[0], room[1] * width / height)
    head = re.search(r"<defs>.*?</defs>", before, re.DOTALL)[0] + re.search(r"<style>.*?</style>", before, re.DOTALL)[0]
    svg = with_letters(f"<svg>{head}\n" + "\n".join(text for text, _ in drawn) + "\n</svg>", width / shown)
    return with_box(svg, (left, 0, width, height), shown)


def with_letters(svg, unit):
    """An SVG, whose pixels on the slide have so many units, with letters of at least LEAST_LETTER pixels."""
    least = math.ceil(100 * LEAST_LETTER * unit) / 100
    return LETTERS.sub(lambda size: f"{size[1]}{num(max(least, float(size[2])))}px", svg)


# ---- other drawings --------------------------------------------------------------------------------


def drawing(svg, room=WHOLE):
    """The slide's SVG of a plot or another drawing: without its title, and as large as fits into `room`."""
    left, top, across, down = box_of(svg)
    if svg.count('class="head"') == 1:  # its title; and below that one line
        svg, end = without_title(svg)
        top, down = top + end, down - end
    elif "font: 700 13px" in svg:  # a plot
        svg = PLOT_TITLE.sub("", svg)
        top, down = top + PLOT_HEAD, down - PLOT_HEAD
    most_width, most_height = room
    shown = min(most_width, most_height * across / down)
    return with_box(with_letters(svg, across / shown), (left, top, across, down), shown)


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
    step = min(90, (WHOLE[1] - top - 56) / len(rows))
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
    return with_box("<svg>" + "\n".join(parts) + "</svg>", (0, 0, LADDER_WIDTH, bottom + 56), LADDER_WIDTH)


# ---- bars ------------------------------------------------------------------------------------------


def bars(description):
    """The slide's SVG of Bars (tools/site/slide_rows.py), to the right of a text: a name, and below it the bar with its value."""
    width, most = BESIDE
    step = min(130, (most - 30) / len(description.bars))
    with_what = step >= 78 and any(bar.what for bar in description.bars)
    longest = max(bar.value for bar in description.bars)
    right = width - 24 - max(VALUE_LETTER * len(bar.text) for bar in description.bars)
    parts = [
        f"<style>text {{ font: 20px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif; fill: {INK}; }} "
        f".name {{ font: 600 18px ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', Consolas, monospace; }} "
        f".soft {{ fill: {MUTED}; font-size: 15px; }} .strong {{ font-weight: 600; }}</style>"
    ]
    for k, bar in enumerate(description.bars):
        y = k * step
        colour = {"vendor": VENDOR, "better": BETTER, "before": BEFORE}.get(bar.mark, OURS)
        length = right * bar.value / longest
        name = clipped(with_raised_exponents(bar.name), BAR_NAME)
        what = clipped(with_raised_exponents(bar.what), BAR_WHAT) if with_what else ""
        thick = min(64, step - 62 if with_what else step - 40)
        parts.append(
            f'<text x="2" y="{num(y + 20)}" class="name">{escape(name)}</text><rect x="2" y="{num(y + 28)}" width="{num(length)}" height="{num(thick)}" rx="3" fill="{colour}"/>'
            f'<text x="{num(length + 12)}" y="{num(y + 28 + thick / 2 + 7)}" class="{"soft-value" if bar.mark == "before" else "strong"}">{escape(with_raised_exponents(bar.text))}</text>'
            + (f'<text x="2" y="{num(y + 28 + thick + 18)}" class="soft">{escape(what)}</text>' if what else "")
        )
    bottom = step * len(description.bars) + 24
    note = "; ".join(filter(None, (description.unit, description.note)))
    parts.append(f'<text x="2" y="{num(bottom)}" class="soft">{escape(clipped(with_raised_exponents(note), BAR_WHAT))}</text>')
    return with_box("<svg>" + "\n".join(parts) + "</svg>", (0, 0, width, bottom + 6), width)


# ---- exercises -------------------------------------------------------------------------------------


def exercises(rows):
    """The slide's SVG of [(name, stars, minutes, command)]: how long each exercise takes."""
    width, most = WHOLE
    step = min(110, (most - 10) / len(rows))
    longest = max(minutes for _, _, minutes, _ in rows)
    parts = [
        f"<style>text {{ font: 24px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif; fill: {INK}; }} "
        f".code {{ font: 22px ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', Consolas, monospace; }} .stars {{ fill: {MUTED}; font-size: 18px; }}</style>"
    ]
    for k, (name, stars, minutes, command) in enumerate(rows):
        y = k * step
        parts.append(
            f'<text x="2" y="{num(y + 28)}" class="code" style="font-weight: 600">{escape(name)}</text><text x="2" y="{num(y + 54)}" class="stars">{stars}</text>'
            f'<rect x="360" y="{num(y + 12)}" width="{num(240 * minutes / longest)}" height="32" rx="3" fill="{OURS}"/>'
            f'<text x="{num(372 + 240 * minutes / longest)}" y="{num(y + 37)}">{minutes} min</text><text x="730" y="{num(y + 36)}" class="code">{escape(command)}</text>'
        )
    return with_box("<svg>" + "\n".join(parts) + "</svg>", (0, 0, width, step * len(rows)), width)
