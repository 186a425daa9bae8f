"""Draws plots as SVG with matplotlib: one file for light and dark, and the same bytes in every run.

What a plot shows is a plain dictionary, its *description*: texts and numbers, and "kind", which is one of
the functions below `KINDS`. Every SVG carries a digest of its description and of this file, and one of its
own text. So whether a picture is out of step can be told without matplotlib.
"""

import hashlib
import html
import io
import json
import math
import re
from pathlib import Path

# Every colour in light, and what a dark page shows instead.
INK, MUTED, GRID = "#1f2328", "#59636e", "#d1d9e0"
OURS, BETTER, VENDOR = "#0969da", "#1a7f37", "#bc4c00"
DARK = {
    INK: "#e6edf3", MUTED: "#9198a1", GRID: "#3d444d", OURS: "#4493f8", BETTER: "#3fb950", VENDOR: "#f0883e",
    "#8250df": "#ab7df8", "#bf3989": "#f778ba", "#4d5b00": "#c3cf4a",
    "#0e7490": "#39c5cf",
}  # fmt: skip
LINES = [
    (OURS, "o", "-"), (VENDOR, "s", "--"), (BETTER, "^", "-."), ("#8250df", "D", ":"), ("#bf3989", "v", (0, (5, 1))),
    ("#4d5b00", "P", (0, (1, 1))), ("#0e7490", "X", (0, (3, 1, 1, 1, 1, 1))), (MUTED, "p", (0, (8, 2))),
]  # fmt: skip
MARKS = {  # of a ladder's rows: colour, marker, filled
    "rung": (OURS, "o", True), "other": (OURS, "o", False), "better": (BETTER, "D", True), "vendor": (VENDOR, "s", True),
}  # fmt: skip
BARS = {"better": BETTER, "slower": VENDOR, "tie": OURS, "none": OURS}  # of a chapter's ratio to the vendor's library; none is hatched
WIDTH = 830  # points; GitHub shows a README about as wide
SHOWN_RATIOS = (0.5, 4)  # of the plot of all chapters: so that a few per cent are seen; longer bars have a break
DEEPEST_LINE = 3  # groups so deep in the SVG have lines of their own: the parts of axes
METADATA = re.compile(r"<metadata>.*?</metadata>\n", re.DOTALL)


def digest(*parts):
    """16 hexadecimal digits for texts or bytes."""
    return hashlib.sha256(b"\0".join(part if isinstance(part, bytes) else part.encode() for part in parts)).hexdigest()[:16]


def of_description(description):
    """What the SVG is made of: its description and the code that draws."""
    return digest(json.dumps(description, sort_keys=True, ensure_ascii=False), Path(__file__).read_bytes())


def problem(file, description):
    """What is wrong with the SVG file, or None. Needs no matplotlib."""
    if not file.exists():
        return "is missing"
    text = file.read_text(encoding="utf-8")
    found = re.search(r"<metadata>made of (\w+), drawn as (\w+),", text)
    if not found:
        return "was not drawn by this tool"
    if found.group(1) != of_description(description):
        return "is out of step with its data, or with the code that draws it"
    if found.group(2) != digest(METADATA.sub("", text)):
        return "was changed by hand"
    return None


# ---- drawing -------------------------------------------------------------------------------------


class Page:
    """A figure with the size of its contents in points, and y counted from the top."""

    def __init__(self, height):
        from matplotlib.figure import Figure

        self.height = height
        self.figure = Figure(figsize=(WIDTH / 72, height / 72))

    def text(self, x, y, text, size=11, colour=INK, align="left", **more):
        self.figure.text(
            x / WIDTH, 1 - y / self.height, text, size=size, color=colour, ha=align, va="center", **more
        )

    def axes(self, left, top, right, bottom):
        """Axes between these distances, in points, from the page's left and upper edges."""
        axes = self.figure.add_axes(
            (left / WIDTH, 1 - bottom / self.height, (right - left) / WIDTH, (bottom - top) / self.height)
        )
        axes.set_facecolor("none")
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(length=0, which="both", labelsize=10, colors=MUTED, labelcolor=MUTED)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        return axes

    def whole(self):
        """Axes without ticks on the whole page, whose units are the page's points."""
        axes = self.axes(0, 0, WIDTH, self.height)
        axes.set(xlim=(0, WIDTH), ylim=(self.height, 0), xticks=[], yticks=[])
        return axes

    def heading(self, description):
        self.text(10, 18, description["title"], size=13, weight="bold")
        self.text(10, 37, description["subtitle"], size=10, colour=MUTED)


def plain(value):
    """1000 as 1,000 and 0.25 as 0.25."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def numbers_between(low, high, steps=(1,)):
    """1, 10, 100 ... that lie between, times each of `steps`."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def logarithmic(axis, set_limits, low, high):
    """A log scale for `axis` of matplotlib, with plain numbers at its ticks."""
    ticks = numbers_between(low, high, (1, 2, 5) if high / low < 60 else (1, 3) if high / low < 600 else (1,))
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    set_limits(low, high)
    axis.set_ticks(ticks, [plain(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


def mark(axes, x, y, kind):
    """The point of a ladder's row; returns its colour."""
    colour, marker, filled = MARKS[kind]
    axes.plot(
        x, y, marker=marker, markersize=8, color=colour, markeredgewidth=1.8, zorder=3,
        markerfacecolor=colour if filled else "none",
    )  # fmt: skip
    return colour


def draw_ladder(description):
    """Rungs from top to bottom, their times as points; the vendor's time is a line through its group."""
    groups = description["groups"]
    step, gap, top = 36, 20, 78
    count = sum(len(group["rows"]) for group in groups)
    bottom = top + step * count + gap * (len(groups) - 1)
    page = Page(bottom + 46 + 17 * len(description["legend"]))
    page.heading(description)
    left, right = 375, 640
    axes = page.axes(left, top, right, bottom)
    times = [row["time"] for group in groups for row in group["rows"]]
    low, high = min(times), max(times)
    if description["log"]:
        logarithmic(axes.xaxis, axes.set_xlim, low / 1.4, high * 1.4)
    else:
        axes.set_xlim(0, 1.06 * high)
        axes.locator_params(axis="x", nbins=5)
        axes.xaxis.set_major_formatter(lambda value, _: plain(value) if value else "0")
    axes.set_ylim(bottom, top)
    axes.set_yticks([])
    page.text((left + right) / 2, bottom + 32, description["axis"], size=10, colour=MUTED, align="center")
    page.text(706, top - 12, "µs", size=10, colour=MUTED, align="right")
    page.text(718, top - 12, description["ratios"], size=10, colour=MUTED)

    middle = top + step / 2
    for group in groups:
        first = middle
        for row in group["rows"]:
            axes.axhline(middle, color=GRID, linewidth=0.8, zorder=0)
            colour = mark(axes, row["time"], middle, row["mark"])
            page.text(14, middle - 7, row["name"], weight="bold")
            page.text(14, middle + 8, row["changed"], size=9, colour=MUTED)
            page.text(706, middle, row["time_text"], align="right")
            page.text(718, middle, row["ratio"], colour=colour, weight="bold" if row["mark"] == "better" else "normal")
            middle += step
        if group["line"]:
            axes.plot(
                [group["line"]] * 2, [first - step / 2, middle - step / 2], color=VENDOR, linewidth=1.4, linestyle="--"
            )
            place = left + axes.transAxes.inverted().transform(axes.transData.transform((group["line"], 0)))[0] * (right - left)
            half = 2.8 * len(group["line_name"])  # of the name's width; it stays over the axes
            page.text(
                min(max(place, left + half), right - half), first - step / 2 - 7, group["line_name"], size=9, colour=VENDOR, align="center"
            )  # fmt: skip
        middle += gap
    legend = page.whole()
    for index, (kind, text) in enumerate(description["legend"]):
        y = bottom + 54 + 17 * index
        mark(legend, 20, y, kind)
        page.text(34, y, text, size=10, colour=MUTED)
    return page.figure


def apart(places, distance):
    """Places from top to bottom, moved so that neighbours are at least `distance` apart."""
    moved = {}
    last = -math.inf
    for key in sorted(places, key=places.get):
        last = moved[key] = max(places[key], last + distance)
    return moved


def wrapped(name, width=25):
    """A name in lines of so many characters, each of which ends with a word or with "::"."""
    lines = [""]
    for part in re.findall(r"[^\s:]*(?:::|\s+|:|$)", name):
        if lines[-1] and len((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def draw_curves(description):
    """A line for each series, with its name at the right end; both scales are logarithmic."""
    series = description["series"]
    page = Page(430)
    page.heading(description)
    left, top, right, bottom = 62, 78, 655, 388
    axes = page.axes(left, top, right, bottom)
    xs = sorted({x for line in series for x, _ in line["points"]})
    ys = [y for line in series for _, y in line["points"]]
    axes.set_xscale("log", base=2)
    axes.set_xlim(xs[0] / 1.06, xs[-1] * 1.06 if len(xs) > 1 else xs[0] * 2)
    shown = xs[:: max(1, math.ceil(len(xs) / 12))]
    axes.xaxis.set_ticks(shown, [description["x_texts"][xs.index(x)] for x in shown])
    axes.xaxis.set_ticks([], minor=True)
    logarithmic(axes.yaxis, axes.set_ylim, min(ys) / 1.25, max(ys) * 1.25)
    page.text(10, top - 14, description["y_axis"], size=10, colour=MUTED)
    page.text((left + right) / 2, bottom + 32, description["x_axis"], size=10, colour=MUTED, align="center")
    low, high = (math.log(y) for y in axes.get_ylim())
    ends = {}
    for index, line in enumerate(series):
        colour, marker, dashes = LINES[index % len(LINES)]
        axes.plot(*zip(*line["points"]), color=colour, marker=marker, markersize=5, linewidth=1.8, linestyle=dashes)
        x, y = line["points"][-1]
        if x == xs[-1]:
            ends[index] = bottom - (math.log(y) - low) / (high - low) * (bottom - top)
        else:  # it ends on the way
            axes.annotate(
                line["name"], (x, y), (9, 0), textcoords="offset points", va="center", size=11, color=colour
            )  # fmt: skip
    names = page.whole()
    texts = {index: wrapped(series[index]["name"]) for index in ends}
    for index, y in apart(ends, 28 if any("\n" in text for text in texts.values()) else 16).items():
        colour, marker, _ = LINES[index % len(LINES)]
        names.plot(right + 14, y, marker=marker, markersize=5, color=colour)
        page.text(right + 24, y, texts[index], colour=colour)
    return page.figure


def bar_of(kind):
    """How a bar of BARS is drawn."""
    hatched = kind == "none"
    return {"edgecolor": BARS[kind], "color": "none" if hatched else BARS[kind], "hatch": "////" if hatched else None}


def draw_ratios(description):
    """A bar for each chapter, from 1x to the left or to the right."""
    rows = description["rows"]
    step, top = 36, 74
    bottom = top + step * len(rows)
    page = Page(bottom + 46 + 17 * len(description["legend"]))
    page.heading(description)
    left, right = 270, 560
    axes = page.axes(left, top, right, bottom)
    low, high = SHOWN_RATIOS
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    ticks = [0.5, 0.7, 1, 1.5, 2, 3, 4]
    axes.xaxis.set_ticks(ticks, [f"{tick:g}x" for tick in ticks])
    axes.xaxis.set_ticks([], minor=True)
    axes.set_ylim(bottom, top)
    axes.set_yticks([])
    axes.axvline(1, color=INK, linewidth=1.6, zorder=4)
    page.text((left + right) / 2, bottom + 32, description["axis"], size=10, colour=MUTED, align="center")
    breaks = page.whole()
    breaks.set_zorder(axes.get_zorder() + 1)
    for index, row in enumerate(rows):
        middle = top + step * (index + 0.5)
        shown = min(max(row["ratio"], low), high)
        axes.barh(middle, shown - 1, left=1, height=15, linewidth=1.4, zorder=3, **bar_of(row["mark"]))
        page.text(14, middle - 7, row["name"], weight="bold")
        page.text(14, middle + 8, row["what"], size=9, colour=MUTED)
        if shown != row["ratio"]:  # a break: the bar would go on
            end = left + 10 if shown == low else right - 10
            for shift in (-3, 3):
                breaks.plot([end + shift - 3, end + shift + 3], [middle + 10, middle - 10], color=INK, linewidth=1.6)
        page.text(574, middle - 7, row["ratio_text"], colour=BARS[row["mark"]], weight="bold")
        page.text(574, middle + 8, row["against"], size=9, colour=MUTED)
    legend = page.whole()
    for index, (kind, text) in enumerate(description["legend"]):
        y = bottom + 54 + 17 * index
        legend.barh(y, 20, left=14, height=10, linewidth=1.2, **bar_of(kind))
        page.text(44, y, text, size=10, colour=MUTED)
    return page.figure


KINDS = {"ladder": draw_ladder, "curves": draw_curves, "ratios": draw_ratios}


def for_dark_pages():
    """Rules that a dark page applies: matplotlib writes its colours into style attributes."""
    rules = " ".join(
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in DARK.items() for what in ("fill", "stroke")
    )  # fmt: skip
    return f"<style>@media (prefers-color-scheme: dark) {{ {rules} }}</style>\n"


def compact(svg):
    """The same elements, one group per line: matplotlib breaks the line after each point of a path."""
    lines, depth = [], 0
    for token in re.findall(r"<[^>]*>|[^<]+", svg):
        if token.isspace():
            continue
        is_tag, is_end = token.startswith("<"), token.startswith("</")
        depth -= is_end
        text = " ".join(token.split()) if is_tag else token
        if depth == 0 or depth <= DEEPEST_LINE and token.startswith(("<g ", "<defs")):
            lines.append(text)
        else:
            lines[-1] += text
        depth += is_tag and not is_end and not token.startswith(("<?", "<!")) and not token.endswith("/>")
    return "\n".join(lines) + "\n"


def draw(description):
    """The text of the SVG; ImportError without matplotlib."""
    import matplotlib

    settings = {
        "svg.fonttype": "none", "svg.hashsalt": "course", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
        "text.parse_math": False, "hatch.linewidth": 1.4, "figure.dpi": 72,
    }  # fmt: skip
    out = io.StringIO()
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **settings}):
        KINDS[description["kind"]](description).savefig(
            out, format="svg", transparent=True, metadata={key: None for key in ("Date", "Creator", "Format", "Type")}
        )
    text = compact(out.getvalue()).replace("'DejaVu Sans', sans-serif", "sans-serif").replace("'DejaVu Sans'", "sans-serif")
    return signed(text, description, matplotlib.__version__)


def signed(svg, description, version):
    """What matplotlib of this version drew, with its finding as title, the dark colours, and the digests."""
    title = f"<title>{html.escape(description['finding'])}</title>\n"
    svg = re.sub(r"(<svg[^>]*)>\n", lambda tag: f'{tag.group(1)} role="img">\n{title}{for_dark_pages()}', svg, count=1)
    made = f"made of {of_description(description)}, drawn as {digest(svg)}, with matplotlib {version}"
    return svg.replace("</title>\n", f"</title>\n<metadata>{made}</metadata>\n", 1)
