"""The plots of a chapter: what they show, and how a picture that is out of step is told."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.measure import headline, plot_svg, plots

READS = ()

COMMON = TOP / "common"


def row(name, kind, median=None, **more):
    row = {"name": name, "kind": kind, "group": 0, "changed": f"how {name} does it", "n": 1 << 20, "bytes": 4 << 20}
    if median is not None:
        row["microseconds"] = {"p10": 0.99 * median, "median": median, "p90": 1.01 * median, "runs": [median, median]}
        row["gb_per_s"] = 12.5
    return {**row, **more}


REFERENCE = row("by hand", "reference", changed="of floats")
ROWS = [
    REFERENCE, row("racy", "wrong", 1.0), row("slow", "rung", 5000.0), row("part", "rung", 10.0), row("good", "rung", 50.0),
    row("untimed", "rung"), row("lib::old", "vendor", 90.0), row("lib::new", "vendor", 75.0),
    row("curve", "reference", group=1, changed="rates & addresses"),
    row("f1", "rung", 9.0, group=1, series="float", x=1.0), row("f8", "rung", 9.0, group=1, series="float", x=8.0),
    row("i1", "rung", 9.0, group=1, series="int", x=1.0),
]  # fmt: skip
RESULTS = {
    "chapter": "01-x", "device": "GPU X", "cuda": "13.0", "n": 1 << 20, "n_means": "elements",
    "date": "2026-01-02T03:04:05Z", "copy_gb_per_s": 4000.0, "rungs": ROWS,
}  # fmt: skip
CURVES = {"curve": {"question": "Which rates & addresses?", "x": "addresses"}}
DECLARED = {
    "what": "the sum of {n} floats", "group": {"reference": "of floats", "n": 1 << 20}, "rung": "good",
    "vendor": "lib::new", "left_out": {"it sums only a part": ["part"]},
}  # fmt: skip


def with_changes(declared):
    """DECLARED with other values; None leaves a key out."""
    return {key: value for key, value in {**DECLARED, **declared}.items() if value is not None}


def changed_rows(**changes):
    """RESULTS with other rows instead of those named: good={"kind": "wrong"}; None leaves one out."""
    rows = [{**row, **changes.get(row["name"].replace("::", "_"), {})} for row in ROWS]
    return {**RESULTS, "rungs": rows}


def without(*names):
    return {**RESULTS, "rungs": [row for row in ROWS if row["name"] not in names]}


class Headline(unittest.TestCase):
    def of(self, results=RESULTS, **declared):
        return headline.of_results(results, with_changes(declared))

    def test_the_best_rung_and_the_vendor(self):
        head = self.of()
        self.assertEqual((head.best["name"], head.against_name, head.ratio_text), ("good", "lib::new", "1.5x"))
        self.assertEqual(head.what_of(head.rows), "the sum of 2^20 floats")

    def test_a_rung_that_is_faster_has_to_be_explained(self):
        with self.assertRaisesRegex(Failed, "part is faster than good"):
            self.of(left_out={})
        with self.assertRaisesRegex(Failed, "good is faster than slow"):
            self.of(rung="slow")
        with self.assertRaisesRegex(Failed, "left out and the best"):
            self.of(left_out={"why": ["part", "good"]})

    def test_the_vendors_fastest_row_counts(self):
        with self.assertRaisesRegex(Failed, "lib::new is faster than the vendor's row lib::old"):
            self.of(vendor="lib::old")

    def test_a_tie_may_be_declared(self):
        self.assertEqual(self.of(changed_rows(slow=row("slow", "rung", 49.99))).best["name"], "good")

    def test_no_vendor(self):
        instead = {"row": "copy", "name": "a copy"}
        with self.assertRaisesRegex(Failed, "no vendor lib::new"):
            self.of(without("lib::new"))
        with self.assertRaisesRegex(Failed, "no vendor is named, but the group has lib::old"):
            self.of(vendor=None, instead=instead)
        head = self.of(without("lib::new", "lib::old"), vendor=None, instead=instead)
        self.assertFalse(head.vendor)
        # 4 MiB at 4000 GB/s are 1.05 µs.
        self.assertEqual(head.ratio_text, "1/47.7")
        head = self.of(without("lib::new", "lib::old"), vendor=None, instead={**instead, "row": "slow"})
        self.assertEqual(head.ratio_text, "100x")

    def test_times_that_are_none(self):
        for median in (None, float("nan"), 0.0, "fast"):
            for name in ("good", "lib_new", "slow"):
                with self.subTest(median=median, name=name), self.assertRaisesRegex(Failed, "measure the chapter again"):
                    time = {"p10": 1.0, "median": median, "p90": 1.0}
                    self.of(changed_rows(**{name: {"microseconds": time}}))
        with self.assertRaisesRegex(Failed, "good .* has no time"):
            self.of(changed_rows(good={"microseconds": None}))

    def test_groups_and_rungs_that_are_not_there(self):
        for declared, problem in {
            "rung": ("gone", "0 groups"), "group": ({"reference": "of floats", "n": 7}, "0 groups"),
            "vendor": ("gone", "no vendor gone"), "left_out": ({"why": ["gone"]}, "no rung gone"),
        }.items():  # fmt: skip
            with self.subTest(declared), self.assertRaisesRegex(Failed, problem[1]):
                self.of(**{declared: problem[0]})


class Descriptions(unittest.TestCase):
    def ladder(self, results=RESULTS, **declared):
        return plots.ladder(results, headline.of_results(results, with_changes(declared)))

    def test_what_the_ladder_shows(self):
        ladder = self.ladder()
        (group,) = ladder["groups"]
        shown = {row["name"]: (row["mark"], row["ratio"]) for row in group["rows"]}
        self.assertEqual(shown, {
            "slow": ("rung", "1/66.7"), "part": ("other", "7.5x"), "good": ("better", "1.5x"),
            "lib::old": ("vendor", "1/1.2"), "lib::new": ("vendor", ""),
        })  # fmt: skip
        self.assertEqual((group["line"], group["line_name"]), (75.0, "lib::new"))
        self.assertEqual(ladder["title"], "Chapter 01: the sum of 2^20 floats")
        self.assertIn("n = 2^20 elements; GPU X, CUDA 13.0, measured 2026-01-02", ladder["subtitle"])
        self.assertIn("µs, medians, log scale", ladder["axis"])
        self.assertEqual(ladder["legend"], [
            ("better", "faster than lib::new"), ("other", "not the vendor's whole job: it sums only a part"),
            ("vendor", "the vendor's"),
        ])  # fmt: skip
        self.assertEqual(
            ladder["finding"], "the sum of 2^20 floats: from 5,000.0 µs (slow) to 50.0 µs (good); lib::new takes 75.0 µs"
        )

    def test_a_tie_is_not_marked_as_faster(self):
        results = changed_rows(lib_new=row("lib::new", "vendor", 50.01))
        good = next(row for row in self.ladder(results)["groups"][0]["rows"] if row["name"] == "good")
        self.assertEqual(good["mark"], "rung")

    def test_a_ladder_of_other_groups(self):
        rows = [row("others", "reference", group=7, changed="of ints", n=64), row("alone", "rung", 3.0, group=7, n=64)]
        both = [{"reference": "of ints", "n": 64}, DECLARED["group"]]
        ladder = self.ladder({**RESULTS, "rungs": ROWS + rows}, ladder=both)
        self.assertEqual([group["line"] for group in ladder["groups"]], [None, 75.0])
        changed = {row["name"]: row["changed"] for group in ladder["groups"] for row in group["rows"]}
        self.assertEqual((changed["alone"], changed["good"]), ("how alone does it", "how good does it (n = 2^20)"))
        self.assertEqual(ladder["finding"], "the sum of 64 floats: alone takes 3.0 µs")  # of the first group alone
        with self.assertRaisesRegex(Failed, "no rung of the group 'of ints' was timed"):
            self.ladder({**RESULTS, "rungs": ROWS + rows[:1]}, ladder=both)

    def test_curves(self):
        described = plots.descriptions(RESULTS, headline.of_results(RESULTS, DECLARED), CURVES)
        self.assertEqual(sorted(described), ["gpu-x-curve.svg", "gpu-x-ladder.svg"])
        curve = described["gpu-x-curve.svg"]
        self.assertEqual(curve["series"][0], {"name": "float", "points": [(1.0, 12.5), (8.0, 12.5)]})
        self.assertEqual((curve["unit"], curve["x_texts"]), ("GB/s", ["1", "8"]))
        self.assertEqual((curve["x_axis"], curve["y_axis"]), ("addresses, log scale", "GB/s, log scale"))
        self.assertEqual((curve["title"], curve["finding"]), ("Which rates & addresses?", "Which rates & addresses? At most 12.5 GB/s (int, at 1)"))
        for wrong in ({}, {"curve": {"x": "addresses"}}, {"curve": {"question": "Which?"}}, {"curve": {"question": "Rates", "x": "addresses"}},
                      {"curve": {"question": "Which?", "x": "addresses", "z": "?"}}):
            with self.subTest(wrong), self.assertRaisesRegex(Failed, r"\[curves\] has for 'curve' a 'question', .* 'y' where that is not 'GB/s'"):
                plots.descriptions(RESULTS, headline.of_results(RESULTS, DECLARED), wrong)

    def test_what_the_y_axis_counts_may_be_said(self):
        declared = {"curve": {**CURVES["curve"], "y": "atoms per ns"}}
        curve = plots.descriptions(RESULTS, headline.of_results(RESULTS, DECLARED), declared)["gpu-x-curve.svg"]
        self.assertEqual((curve["unit"], curve["y_axis"]), ("atoms per ns", "atoms per ns, log scale"))
        self.assertIn("At most 12.5 atoms per ns (int, at 1)", curve["finding"])

    def test_a_curve_with_a_wrong_value_is_found(self):
        with self.assertRaisesRegex(Failed, "the curve 'curve' has nan at float, 8"):
            rows = changed_rows(f8={"gb_per_s": float("nan")})
            plots.descriptions(rows, headline.of_results(rows, DECLARED), CURVES)


def python_that_draws():
    """An interpreter that has matplotlib, or None: the system's may, and the one that runs this may not."""
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
                return python
    return None


class Drawing(unittest.TestCase):
    """Real pictures."""

    DRAW = "import json, sys; from tools.measure import plot_svg\n" + (
        "for description in json.load(sys.stdin): print(plot_svg.draw(description), end='\\0')"
    )

    @classmethod
    def setUpClass(cls):
        cls.python = python_that_draws()
        if not cls.python:
            raise unittest.SkipTest("no matplotlib here")
        ratios = {
            "kind": "ratios", "title": "Best", "subtitle": "now", "axis": "times as fast", "finding": "A < B & C",
            "legend": [["better", "faster"], ["tie", "as fast"], ["slower", "slower"], ["none", "no library"]],
            "rows": [
                {"name": name, "what": "w", "ratio": ratio, "ratio_text": f"{ratio}x", "against": "lib", "mark": mark}
                for name, ratio, mark in (("a", 0.001, "slower"), ("b", 1.01, "tie"), ("c", 2.5, "better"), ("d", 225, "none"))
            ],
        }  # fmt: skip
        head = headline.of_results(RESULTS, DECLARED)
        cls.described = [*plots.descriptions(RESULTS, head, CURVES).values(), ratios]
        cls.drawn = cls.draw_all(cls)

    def draw_all(self):
        done = subprocess.run(
            [self.python, "-Bc", self.DRAW], env={**os.environ, "PYTHONPATH": str(COMMON)}, input=json.dumps(self.described), capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return done.stdout.split("\0")[:-1]

    def test_every_run_draws_the_same_bytes(self):
        self.assertEqual(self.drawn, self.draw_all())
        self.assertEqual(len(self.drawn), 3)

    def test_the_digests_fit(self):
        with tempfile.TemporaryDirectory() as folder:
            for description, svg in zip(self.described, self.drawn):
                file = Path(folder) / "plot.svg"
                file.write_text(svg)
                self.assertIsNone(plot_svg.problem(file, description))

    def test_a_picture_is_compact_and_the_same(self):
        svg = '<?xml?>\n<svg>\n <g id="a">\n  <path d="M 0 0 \nL 1 1 \n"/>\n  <g id="b">\n   <text x="1">two  words</text>\n  </g>\n </g>\n</svg>\n'
        compact = plot_svg.compact(svg)
        self.assertEqual(
            compact, '<?xml?>\n<svg>\n<g id="a"><path d="M 0 0 L 1 1 "/>\n<g id="b"><text x="1">two  words</text></g></g>\n</svg>\n'
        )
        self.assertEqual(plot_svg.compact(compact), compact)
        for drawn in self.drawn:
            self.assertLess(drawn.count("\n"), 80)

    def test_every_colour_has_a_dark_one(self):
        for description, svg in zip(self.described, self.drawn):
            with self.subTest(description["kind"]):
                used = set(re.findall(r"(?:fill|stroke): (#\w+)", svg.split("</style>", 1)[1]))
                self.assertTrue(used and used <= set(plot_svg.DARK), used - set(plot_svg.DARK))
                self.assertIn("@media (prefers-color-scheme: dark)", svg)

    def test_long_names_of_curves_have_lines(self):
        for name, lines in {
            "a warp": ["a warp"],
            "cub::DeviceReduce::Sum": ["cub::DeviceReduce::Sum"],
            "the team that the length asks for": ["the team that the length", "asks for"],
            "cub::DeviceSegmentedReduce::Sum": ["cub::", "DeviceSegmentedReduce::", "Sum"],
        }.items():
            self.assertEqual(plot_svg.wrapped(name).split("\n"), lines)

    def test_texts_are_texts_and_the_finding_is_the_title(self):
        svg = "{http://www.w3.org/2000/svg}"
        for description, drawn in zip(self.described, self.drawn):
            root = xml.etree.ElementTree.fromstring(drawn)
            texts = {text.text for text in root.iter(svg + "text")}
            self.assertEqual(root.find(svg + "title").text, description["finding"])
            self.assertIn(description["title"], texts)
        ladder = {text.text for text in xml.etree.ElementTree.fromstring(self.drawn[0]).iter(svg + "text")}
        self.assertTrue({"slow", "part", "good", "lib::new", "5,000.0", "1.5x"} <= ladder, ladder)
        self.assertNotIn("racy", ladder)

    def test_bars_show_a_per_cent_and_have_a_break_where_they_go_on(self):
        bars = [[float(x) for x in re.findall(r"[ML] ([\d.]+) ", path)] for path in re.findall(
            r'<path d="([^"]*)"[^>]*style="fill: (?!none)[^"]*stroke:', self.drawn[2])][:4]  # fmt: skip
        slower, tie, better, none = (max(bar) - min(bar) for bar in bars)
        self.assertGreater(tie, 1)
        self.assertLess(tie, better)
        self.assertLess(better, none)
        self.assertEqual([max(bar) for bar in bars[1:]], sorted(max(bar) for bar in bars[1:]))
        self.assertEqual(self.drawn[2].count(f"stroke: {plot_svg.INK}; stroke-width: 1.6"), 5)  # two breaks of two lines, and the line at 1x

    def test_the_legend_has_a_bar_of_each_colour(self):
        bars = re.findall(r'<path d="[^"]*"[^>]*style="fill: ((?!none)[^;"]*)[^"]*stroke: (#\w+)', self.drawn[2])
        rows, legend = bars[:4], bars[4:8]  # a row has the mark of one line of the legend
        self.assertEqual([legend[k] for k in (2, 1, 0)], rows[:3])
        self.assertEqual([colour for _, colour in legend], [plot_svg.BETTER, plot_svg.OURS, plot_svg.VENDOR, plot_svg.OURS])
        self.assertTrue(legend[3][0].startswith("url(") and rows[3][0].startswith("url("), bars)


if __name__ == "__main__":
    unittest.main()
