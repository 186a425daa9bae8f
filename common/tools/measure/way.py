"""The way of a sum through the course, as one drawing: a bar for each rung that [way] of chapters/measured.toml names.

    what    what is computed; {n} stands for the size
    n       the size of all rungs
    bytes   what readers call the bytes that the task has to move
    rungs   from the slowest to the fastest: chapter, rung, label, and in = "words of its group" as in [[shown]]

The library and the copy that the lines stand for are those of the last rung's run. The front pages show the drawing between
<!-- way:begin --> and <!-- way:end -->.
"""

import math
from pathlib import Path

from tools.lib.chapter_results import REFERENCE, of_gpu
from tools.lib.failed import Failed
from tools.lib.numbers_html import with_raised_exponents
from tools.lib.rows import is_faster, is_timed, median, number, ratio, size
from tools.lib.svg import Sheet, one_line
from tools.measure import front_page, headline
from tools.measure.plot_svg import BETTER, DARK, GRID, INK, MUTED, OURS, VENDOR, numbers_between, plain
from tools.trace.narrow import PHONE

FILE = Path("common") / "docs" / "way-of-the-sum.svg"
WIDTH, LEFT, RIGHT = PHONE, 12, PHONE - 12  # there the text has its own size
SCALE = 1.4  # how much wider than that the drawing is where there is room
ROW, BAR, OVER = 38, 9, 4  # heights: of a rung, of its bar, and how far the lines are longer than that
LINE_NAME, LEGEND = 17, 18  # heights: of a line's name, of a line of the legend
COLOURS = {
    "text": ("fill", INK), ".soft": ("fill", MUTED), ".rule": ("stroke", GRID), ".rung": ("fill", OURS), ".better": ("fill", BETTER),
    ".library": ("stroke", VENDOR), ".limit": ("stroke", INK), ".library-name": ("fill", VENDOR), ".limit-name": ("fill", INK),
}  # fmt: skip
STYLE = """
svg { font: 12.5px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
.page { fill: #ffffff; stroke: #d0d7de; } .head { font-size: 14px; font-weight: 600; } .strong { font-weight: 600; }
.small { font-size: 11px; } .end { text-anchor: end; } .middle { text-anchor: middle; } .library, .limit { stroke-width: 2.5; }
.limit { stroke-dasharray: 3 2; }
"""
DARK_PAGE = ".page { fill: #0d1117; stroke: #3d444d; }"


class Way:
    """The rungs of a way, with their times."""

    def __init__(self, top, declared):
        self.what = declared["what"].format(n=size(declared["n"]))
        self.bytes = declared["bytes"]
        self.rungs = []  # (declared, row)
        self.results = []
        where = f"{top / REFERENCE}: 'way'"
        for entry in declared["rungs"]:
            row, group = front_page.shown_row(top, {"n": declared["n"], **entry}, f"'way', {entry['rung']}")
            if self.rungs and median(row) > median(self.rungs[-1][1]):
                raise Failed(f"{where}: {row['name']} is slower than {self.rungs[-1][1]['name']}, which comes before it")
            self.rungs.append((entry, row))
            self.results.append(of_gpu(top / "chapters" / entry["chapter"]))
        libraries = [row for row in group if row["kind"] == "vendor" and is_timed(row)]
        if not libraries:
            raise Failed(f"{where}: the group of {row['name']} has no library")
        self.library = min(libraries, key=median)
        self.limit = median(headline.copied(self.results[-1], self.rungs[-1][1]))

    def alt(self, words):
        """What the drawing shows, in words."""
        rungs = [(words.text(entry["label"]), row["name"], entry["chapter"][:2], number(median(row))) for entry, row in self.rungs]
        limit = (self.bytes, number(self.limit))
        return words.way(words.text(self.what), self.results[-1]["device"], rungs, (self.library["name"], number(median(self.library))), limit)

    def description(self):
        """What the drawing shows as plots.ladder() says it of a ladder: one group of rows, and the line through them."""
        rows = [
            {
                "name": row["name"],
                "changed": entry["label"],
                "chapter": entry["chapter"][:2],
                "time": median(row),
                "time_text": number(median(row)),
                "ratio": ratio(row, self.library),
                "mark": "better" if is_faster(row, self.library) else "rung",
            }
            for entry, row in self.rungs
        ]
        return {
            "kind": "way",
            "title": with_raised_exponents(f"How fast is {self.what}?"),
            "subtitle": front_page.sentence([(results, None) for results in self.results]),
            "axis": "µs, medians, log scale; shorter is faster",
            "groups": [{"rows": rows, "line": median(self.library), "line_name": self.library["name"]}],
        }


def rules():
    """The drawing's style rules, and what they are on a dark page."""
    light, dark = (
        " ".join(f"{selector} {{ {what}: {shown[colour]}; }}" for selector, (what, colour) in COLOURS.items())
        for shown in ({colour: colour for colour in DARK}, DARK)
    )
    return f"{one_line(STYLE)} {light}", f"{DARK_PAGE} {dark}"


def style():
    """The drawing's <style>, in light and in dark."""
    light, dark = rules()
    return f"<style>{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}</style>"


def drawn(way, alt):
    """The text of the SVG."""
    description = way.description()
    (group,) = description["groups"]
    rows = group["rows"]
    times = [row["time"] for row in rows]
    low, high = 10 ** math.floor(math.log10(min(way.limit, times[-1]))), max(times)
    ticks = numbers_between(low, high)
    lines = [  # (where, kind, name)
        (group["line"], "library", f"{group['line_name']}, {number(group['line'])} µs"),
        (way.limit, "limit", f"limit: {way.bytes} at the rate of a copy, {number(way.limit)} µs"),
    ]

    def across(microseconds):
        return LEFT + (RIGHT - LEFT) * math.log(microseconds / low) / math.log(high / low)

    page = Sheet()

    def words(text, below, style=""):
        page.new_line()
        page.y += below
        page.text(LEFT, page.y, text, style)

    where, _, when = description["subtitle"].rpartition(", ")
    words(description["title"], 24, "head")
    words(where, 18, "small soft")
    words(when, 15, "small soft")
    words(description["axis"], 24, "small soft")
    page.new_line()
    page.y += 15
    for tick in ticks:
        page.text(across(tick), page.y, plain(tick), "small soft" if tick == low else "small soft middle")
    page.y += 2
    for row in rows:
        page.new_line()
        page.text(LEFT, page.y + 16, row["chapter"], "soft")
        page.text(LEFT + 22, page.y + 16, row["changed"])
        page.text(RIGHT, page.y + 16, f"{row['time_text']} µs", "strong end")
        bar = page.y + 22
        ends = bar - OVER / 2, bar + BAR + OVER / 2
        for tick in ticks:
            page.flow(across(tick), ends[0], across(tick), ends[1], "rule")
        page.rect(LEFT, bar, across(row["time"]) - LEFT, BAR, row["mark"])
        for at, kind, _ in lines:
            page.flow(across(at), ends[0], across(at), ends[1], kind)
        page.y += ROW
    last = page.y - ROW + 22 + BAR + OVER / 2
    for at, kind, name in sorted(lines, reverse=True):  # the line of a lower name is left of the names above it
        page.new_line()
        page.y += LINE_NAME
        page.flow(across(at), last, across(at), page.y, kind)
        page.text(across(at) + 5, page.y, name, f"small {kind}-name")
    page.y += 10
    for kind, text in (("better", f"faster than {group['line_name']}"), ("chapter", "the chapter of the rung")):
        page.new_line()
        if kind == "chapter":
            page.text(LEFT, page.y + 15, rows[0]["chapter"], "small soft")
        else:
            page.rect(LEFT, page.y + 6, 14, BAR, kind)
        page.text(LEFT + 22, page.y + 15, text, "small")
        page.y += LEGEND
    page.y += 8
    return page.document(WIDTH, description["title"], alt, [style()], SCALE)


def part(way, words):
    """The Markdown between the markers."""
    return f"![{way.alt(words)}]({FILE.as_posix()})"
