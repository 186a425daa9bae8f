"""The way of a sum in one drawing: its bars and lines, its words, and whether the page and the file are in step with the results."""

import math
import re
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

from tools.lib import compact_json
from tools.lib.chapter_results import measured
from tools.lib.failed import Failed
from tools.measure import languages, plot_svg, way
from tools.tests.sample_course import README, Course, results, row, toml

READS = ("chapters",)

SVG = "{http://www.w3.org/2000/svg}"
RUNGS = [("01-slow", "naive", "one atomic per element"), ("02-fast", "tree", "a tree"), ("02-fast", "pack", "16 bytes per load")]
DECLARED = {
    "what": "the sum of {n} floats", "n": 4096, "bytes": "16 MB",
    "rungs": [{"chapter": chapter, "rung": rung, "label": label} for chapter, rung, label in RUNGS],
}  # fmt: skip
COPIED = 16_000_000  # bytes: 4 µs at the rate of the sample's copy
WIDEST = 0.62  # of a letter, in ems


class Way(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.top = self.course.top
        self.course.readme.write_text(README + "<!-- way:begin -->\n<!-- way:end -->\n")
        self.course.measured("01-slow", row("naive", "rung", 9000.0), row("lib", "vendor", 30.0), head={
            "what": "x", "group": {"reference": "how by hand works", "n": 4096}, "rung": "naive", "vendor": "lib"})
        self.fast()
        self.declare(DECLARED)

    def declare(self, declared):
        (self.top / "chapters" / "measured.toml").write_text(f'reference = "NVIDIA GPU X"\nway = {toml(declared)}\n')

    def fast(self, *rows, date="2026-01-02"):
        """Chapter 02 with these rows, or with two rungs and two libraries."""
        rows = rows or (row("tree", "rung", 100.0), row("pack", "rung", 20.0, bytes=COPIED), row("old", "vendor", 60.0), row("lib", "vendor", 25.0))
        folder = self.course.chapter("02-fast", {
            "what": "x", "group": {"reference": "how by hand works", "n": 4096}, "rung": "pack", "vendor": "lib"})
        compact_json.write(folder / "results" / "gpu-x.json", results("02-fast", *rows, date=date))

    def way(self):
        return way.Way(self.top, measured(self.top)["way"])

    def drawn(self):
        found = self.way()
        return ElementTree.fromstring(way.drawn(found, found.alt(languages.English(self.top))))

    def of_class(self, svg, name):
        return [element for element in svg.iter() if name in (element.get("class") or "").split()]

    # ---- what is drawn ----

    def test_bars_are_logarithmic_and_those_that_beat_the_library_are_marked(self):
        svg = self.drawn()
        bars = [element for element in svg.iter(SVG + "rect") if element.get("class") in ("rung", "better")][:3]
        self.assertEqual([bar.get("class") for bar in bars], ["rung", "rung", "better"])
        low, scale = 1, (way.RIGHT - way.LEFT) / math.log(9000)  # the limit of 4 µs is above 1
        for bar, time in zip(bars, (9000.0, 100.0, 20.0)):
            self.assertAlmostEqual(float(bar.get("width")), scale * math.log(time / low), delta=0.01)

    def test_the_lines_are_the_fastest_library_and_the_limit(self):
        svg = self.drawn()
        scale = (way.RIGHT - way.LEFT) / math.log(9000)
        for name, time in (("library", 25.0), ("limit", 4.0)):
            places = {element.get("d").partition(" ")[0] for element in self.of_class(svg, name)}
            self.assertEqual(len(places), 1)
            self.assertAlmostEqual(float(places.pop()[1:]), way.LEFT + scale * math.log(time), delta=0.01)

    def test_each_line_is_named_where_it_ends(self):
        svg = self.drawn()
        ends = {}
        for kind, text in (("library", "lib, 25.0 µs"), ("limit", "limit: 16 MB at the rate of a copy, 4.0 µs")):
            ends[kind] = x, y = max((tuple(map(float, element.get("d").partition("L")[2].split())) for element in self.of_class(svg, kind)), key=lambda end: end[1])
            name, = self.of_class(svg, f"{kind}-name")
            self.assertEqual((name.text, float(name.get("x")), float(name.get("y"))), (text, x + 5, y))
        lowest_bar = max(float(bar.get("y")) for bar in svg.iter(SVG + "rect") if bar.get("class") == "better" and float(bar.get("width")) > 14)
        self.assertTrue(lowest_bar < ends["library"][1] < ends["limit"][1])  # the limit's line goes on, left of the library's name
        self.assertLess(ends["limit"][0], ends["library"][0])

    def test_the_words(self):
        self.fast(date="2026-02-03")
        texts = [element.text for element in self.drawn().iter(SVG + "text")]
        for text in ("How fast is the sum of 2¹² floats?", "NVIDIA GPU X, CUDA 13.0", "measured 2026-01-02 to 2026-02-03", "µs, medians, log scale; shorter is faster",
                     "01", "one atomic per element", "9,000.0 µs", "20.0 µs", "faster than lib"):
            self.assertIn(text, texts)

    def test_what_it_says_of_its_bars_is_what_a_ladder_says(self):
        described = self.way().description()
        self.assertEqual([(row["name"], row["time_text"], row["ratio"], row["mark"]) for row in described["groups"][0]["rows"]],
                         [("naive", "9,000.0", "1/360", "rung"), ("tree", "100.0", "1/4", "rung"), ("pack", "20.0", "1.25x", "better")])
        self.assertEqual((described["groups"][0]["line"], described["groups"][0]["line_name"]), (25.0, "lib"))

    def test_every_text_fits_and_covers_no_other(self):
        """In the sample, and in the course."""
        for top in (self.top, way.Path(__file__).resolve().parents[3]):
            found = way.Way(top, measured(top)["way"])
            lines = {}
            for element in ElementTree.fromstring(way.drawn(found, "x")).iter(SVG + "text"):
                style = (element.get("class") or "").split()
                size = 14 if "head" in style else 11 if "small" in style else 12.5
                wide, x = WIDEST * size * len(element.text), float(element.get("x"))
                left = x - (wide if "end" in style else wide / 2 if "middle" in style else 0)
                lines.setdefault(element.get("y"), []).append((left, left + wide, element.text))
            for texts in lines.values():
                places = [(0, 0, ""), *sorted(texts), (way.WIDTH, way.WIDTH, "")]
                for (_, end, text), (begin, _, following) in zip(places, places[1:]):
                    self.assertLessEqual(end, begin, f"'{text}' reaches '{following}'")

    def test_every_colour_has_a_dark_one(self):
        for _, colour in way.COLOURS.values():
            self.assertIn(colour, plot_svg.DARK)
        light, dark = way.style().split("@media (prefers-color-scheme: dark)")
        for selector in way.COLOURS:
            self.assertRegex(dark, rf"{re.escape(selector)} {{")
            self.assertRegex(light, rf"{re.escape(selector)} {{")

    # ---- the page ----

    def written(self):
        with mock.patch("tools.measure.plot_svg.draw", lambda description: plot_svg.signed('<svg viewBox="0 0 1 1">\n</svg>\n', description, "0")):
            self.course.generate()
        self.assertEqual(self.course.problems(), "")
        return self.course.readme.read_text()

    def test_the_page_shows_it_with_its_figures(self):
        self.assertIn(
            "\n![The sum of 2^12 floats on an NVIDIA GPU X: one atomic per element (naive, chapter 01) 9,000.0 µs; a tree (tree, chapter 02) "
            "100.0 µs; 16 bytes per load (pack, chapter 02) 20.0 µs. lib takes 25.0 µs; 16 MB take 4.0 µs at the rate of a copy.]"
            "(common/docs/way-of-the-sum.svg)\n", self.written())
        self.assertEqual(self.drawn().find(SVG + "desc").text, self.way().alt(languages.English(self.top)))

    def test_what_is_out_of_step_is_found(self):
        self.written()
        file = self.top / way.FILE
        good = file.read_text()
        file.write_text(good.replace("20.0 µs", "19.0 µs"))
        self.assertIn("common/docs/way-of-the-sum.svg is out of step", self.course.problems())
        file.write_text(good)
        self.fast(row("tree", "rung", 100.0), row("pack", "rung", 21.0, bytes=COPIED), row("lib", "vendor", 25.0))
        said = self.course.problems()
        self.assertIn("common/docs/way-of-the-sum.svg is out of step", said)
        self.assertIn("the way of the sum in one drawing", said)

    # ---- what is declared wrongly ----

    def test_a_rung_may_not_be_slower_than_the_one_before(self):
        self.declare({**DECLARED, "rungs": [DECLARED["rungs"][index] for index in (1, 0, 2)]})
        with self.assertRaisesRegex(Failed, "measured.toml: 'way': naive is slower than tree, which comes before it"):
            self.way()

    def test_the_last_rung_needs_a_library(self):
        self.fast(row("tree", "rung", 100.0), row("pack", "rung", 20.0))
        with self.assertRaisesRegex(Failed, "the group of pack has no library"):
            self.way()

    def test_a_rung_that_is_not_there_is_named(self):
        self.declare({**DECLARED, "rungs": [*DECLARED["rungs"], {"chapter": "02-fast", "rung": "none", "label": "x"}]})
        with self.assertRaisesRegex(Failed, "'way', none: no row of n = 2\\^12 has a time"):
            self.way()


if __name__ == "__main__":
    unittest.main()
