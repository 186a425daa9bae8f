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
from tools.lib.rows import is_faster, is_timed, median, number, size
from tools.lib.svg import Sheet, one_line
from tools.measure import front_page, headline
from tools.measure.plot_svg import BETTER, DARK, GRID, INK, MUTED, OURS, VENDOR, numbers_between, plain

FILE = Path("common") / "docs" / "way-of-the-sum.svg"
WIDTH, LEFT, RIGHT = 360, 12, 348  # as narrow as a telephone: there the text has its own size
SCALE = 1.4  # how much wider than that the drawing is where there is room
ROW, BAR, OVER = 38, 9, 4  # heights: of a rung, of its bar, and how far the lines are longer than that
COLOURS = {
    "text": ("fill", INK), ".soft": ("fill", MUTED), ".rule": ("stroke", GRID), ".rung": ("fill", OURS), ".better": ("fill", BETTER),
    ".library": ("stroke", VENDOR), ".limit": ("stroke", INK),
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


def style():
    """The drawing's rules, in light and in dark."""
    light = " ".join(f"{selector} {{ {what}: {colour}; }}" for selector, (what, colour) in COLOURS.items())
    dark = " ".join(f"{selector} {{ {what}: {DARK[colour]}; }}" for selector, (what, colour) in COLOURS.items())
    return f"<style>{one_line(STYLE)} {light}\n@media (prefers-color-scheme: dark) {{ {DARK_PAGE} {dark} }}</style>"


def drawn(way, alt):
    """The text of the SVG."""
    times = [median(row) for _, row in way.rungs]
    low, high = 10 ** math.floor(math.log10(min(way.limit, times[-1]))), max(times)
    ticks = numbers_between(low, high)

    def across(microseconds):
        return LEFT + (RIGHT - LEFT) * math.log(microseconds / low) / math.log(high / low)

    page = Sheet()

    def words(text, below, style=""):
        page.new_line()
        page.y += below
        page.text(LEFT, page.y, text, style)

    title = with_raised_exponents(f"{way.what[0].upper()}{way.what[1:]}, rung by rung")
    where, _, when = front_page.sentence([(results, None) for results in way.results]).rpartition(", ")
    words(title, 24, "head")
    words(f"{where}, medians, log scale", 18, "small soft")
    words(when, 15, "small soft")
    page.y += 6
    for (entry, row), time in zip(way.rungs, times):
        page.new_line()
        page.text(LEFT, page.y + 16, entry["chapter"][:2], "soft")
        page.text(LEFT + 22, page.y + 16, entry["label"])
        page.text(RIGHT, page.y + 16, f"{number(time)} µs", "strong end")
        bar = page.y + 22
        ends = bar - OVER / 2, bar + BAR + OVER / 2
        for tick in ticks:
            page.flow(across(tick), ends[0], across(tick), ends[1], "rule")
        page.rect(LEFT, bar, across(time) - LEFT, BAR, "better" if is_faster(row, way.library) else "rung")
        for at, kind in ((median(way.library), "library"), (way.limit, "limit")):
            page.flow(across(at), ends[0], across(at), ends[1], kind)
        page.y += ROW
    page.new_line()
    page.y += 14
    for tick in ticks:
        page.text(across(tick), page.y, plain(tick) + (" µs" if tick == low else ""), "small soft" if tick == low else "small soft middle")
    page.y += 8
    legend = [
        ("library", f"{way.library['name']}: {number(median(way.library))} µs"),
        ("limit", f"limit: {way.bytes} at the rate of a copy, {number(way.limit)} µs"),
        ("better", "faster than the library"),
        ("chapter", "the chapter of the rung"),
    ]
    for kind, text in legend:
        page.new_line()
        if kind == "chapter":
            page.text(LEFT, page.y + 15, way.rungs[0][0]["chapter"][:2], "small soft")
        elif kind == "better":
            page.rect(LEFT, page.y + 6, 14, BAR, kind)
        else:
            page.flow(LEFT + 7, page.y + 4, LEFT + 7, page.y + 17, kind)
        page.text(LEFT + 22, page.y + 15, text, "small")
        page.y += 18
    page.y += 8
    return page.document(WIDTH, title, alt, [style()], SCALE)


def part(way, words):
    """The Markdown between the markers."""
    return f"![{way.alt(words)}]({FILE.as_posix()})"
