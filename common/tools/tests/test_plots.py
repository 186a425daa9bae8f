#!/usr/bin/env python3
"""The plots of a chapter: what they show, and how a picture that is out of step is told."""

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOOLS.parent))
from tools.measure import headline, plot_svg, plots  # noqa: E402


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
DECLARED = {
    "what": "the sum of {n} floats", "group": {"reference": "of floats", "n": 1 << 20}, "rung": "good",
    "vendor": "lib::new", "left_out": {"it adds up only a part": ["part"]},
}  # fmt: skip


def changed_rows(**changes):
    """RESULTS with other rows in the place of those named: good={"kind": "wrong"}; None leaves one out."""
    rows = [{**row, **changes.get(row["name"].replace("::", "_"), {})} for row in ROWS]
    return {**RESULTS, "rungs": rows}


def without(*names):
    return {**RESULTS, "rungs": [row for row in ROWS if row["name"] not in names]}


def drawn_without_matplotlib(description):
    return plot_svg.signed('<svg viewBox="0 0 1 1">\n</svg>\n', description, "0")


class Headline(unittest.TestCase):
    def of(self, results=RESULTS, **declared):
        return headline.of_results(results, {**DECLARED, **declared})

    def test_the_best_rung_and_the_vendor(self):
        head = self.of()
        self.assertEqual((head.best["name"], head.against_name, head.ratio_text), ("good", "lib::new", "1.5x"))
        self.assertEqual(head.what_of(head.rows), "the sum of 2^20 floats")

    def test_a_rung_that_is_faster_has_to_be_explained(self):
        with self.assertRaisesRegex(headline.Failed, "part is faster than good"):
            self.of(left_out={})
        with self.assertRaisesRegex(headline.Failed, "good is faster than slow"):
            self.of(rung="slow")
        with self.assertRaisesRegex(headline.Failed, "left out and the best"):
            self.of(left_out={"why": ["part", "good"]})

    def test_the_vendors_fastest_row_counts(self):
        with self.assertRaisesRegex(headline.Failed, "lib::new is faster than the vendor's row lib::old"):
            self.of(vendor="lib::old")

    def test_a_tie_may_be_declared(self):
        self.assertEqual(self.of(changed_rows(slow=row("slow", "rung", 49.99))).best["name"], "good")

    def test_no_vendor(self):
        instead = {"row": "copy", "name": "a copy"}
        with self.assertRaisesRegex(headline.Failed, "no vendor lib::new"):
            self.of(without("lib::new"))
        with self.assertRaisesRegex(headline.Failed, "vendor is null, but the group has lib::old"):
            self.of(vendor=None, instead=instead)
        head = self.of(without("lib::new", "lib::old"), vendor=None, instead=instead)
        self.assertFalse(head.vendor)
        # 4 MiB at 4000 GB/s are 1.05 µs.
        self.assertEqual(head.ratio_text, "1/48")
        head = self.of(without("lib::new", "lib::old"), vendor=None, instead={**instead, "row": "slow"})
        self.assertEqual(head.ratio_text, "100x")

    def test_times_that_are_none(self):
        for median in (None, float("nan"), 0.0, "fast"):
            for name in ("good", "lib_new", "slow"):
                with self.subTest(median=median, name=name), self.assertRaisesRegex(headline.Failed, "measure the chapter again"):
                    time = {"p10": 1.0, "median": median, "p90": 1.0}
                    self.of(changed_rows(**{name: {"microseconds": time}}))
        with self.assertRaisesRegex(headline.Failed, "good .* has no time"):
            self.of(changed_rows(good={"microseconds": None}))

    def test_groups_and_rungs_that_are_not_there(self):
        for declared, problem in {
            "rung": ("gone", "0 groups"), "group": ({"reference": "of floats", "n": 7}, "0 groups"),
            "vendor": ("gone", "no vendor gone"), "left_out": ({"why": ["gone"]}, "no rung gone"),
        }.items():  # fmt: skip
            with self.subTest(declared), self.assertRaisesRegex(headline.Failed, problem[1]):
                self.of(**{declared: problem[0]})


class Descriptions(unittest.TestCase):
    def ladder(self, results=RESULTS, **declared):
        return plots.ladder(results, headline.of_results(results, {**DECLARED, **declared}))

    def test_what_the_ladder_shows(self):
        ladder = self.ladder()
        (group,) = ladder["groups"]
        shown = {row["name"]: (row["mark"], row["ratio"]) for row in group["rows"]}
        self.assertEqual(shown, {
            "slow": ("rung", "1/67"), "part": ("other", "7.5x"), "good": ("better", "1.5x"),
            "lib::old": ("vendor", "0.833x"), "lib::new": ("vendor", ""),
        })  # fmt: skip
        self.assertEqual(group["line"], 75.0)
        self.assertEqual(ladder["title"], "Chapter 01: the sum of 2^20 floats")
        self.assertIn("n = 2^20 elements; GPU X, CUDA 13.0, measured 2026-01-02", ladder["subtitle"])
        self.assertIn("µs, medians, log scale", ladder["axis"])
        self.assertEqual(ladder["legend"], [
            ("better", "faster than lib::new"), ("other", "not the vendor's whole job: it adds up only a part"),
            ("vendor", "the vendor's; the dashed line is lib::new"),
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
        self.assertEqual(ladder["finding"], "the sum of 64 floats: alone takes 3.0 µs")  # of the first group alone
        with self.assertRaisesRegex(headline.Failed, "no rung of the group 'of ints' was timed"):
            self.ladder({**RESULTS, "rungs": ROWS + rows[:1]}, ladder=both)

    def test_curves(self):
        described = plots.descriptions(RESULTS, headline.of_results(RESULTS, DECLARED))
        self.assertEqual(sorted(described), ["h200-curve.svg", "h200-ladder.svg"])
        curve = described["h200-curve.svg"]
        self.assertEqual(curve["series"][0], {"name": "float", "points": [(1.0, 12.5), (8.0, 12.5)]})
        self.assertEqual((curve["unit"], curve["x_texts"]), ("GB/s", ["1", "8"]))
        with self.assertRaisesRegex(headline.Failed, "rates & addresses' has nan at float, 8"):
            rows = changed_rows(f8={"gb_per_s": float("nan")})
            plots.descriptions(rows, headline.of_results(rows, DECLARED))


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.chapter = Path(self.folder.name) / "01-x"
        (self.chapter / "results").mkdir(parents=True)
        self.readme = self.chapter / "README.md"
        self.readme.write_text("before\n<!-- ladder:begin -->\n<!-- ladder:end -->\nafter\n")
        self.write()

    def write(self, results=RESULTS, declared=DECLARED):
        (self.chapter / "results" / "h200.json").write_text(json.dumps(results))
        (self.chapter / "headline.json").write_text(json.dumps(declared))

    def run_it(self, *arguments):
        """What main() returns, on a machine that draws a picture without matplotlib."""
        with (
            mock.patch("sys.argv", ["plots.py", str(self.chapter), *arguments]),
            mock.patch("tools.measure.plot_svg.draw", drawn_without_matplotlib),
            contextlib.redirect_stdout(io.StringIO()) as self.printed,
        ):
            return plots.main()

    def test_a_picture_that_is_out_of_step_is_named(self):
        self.assertIn("h200-ladder.svg is missing", self.run_it("--check"))
        self.assertEqual(self.run_it(), 0)
        self.assertEqual(self.run_it("--check"), 0)
        text = self.readme.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertIn("![the sum of 2^20 floats: from 5,000.0", text)
        for name in ("h200-ladder.svg", "h200-curve.svg"):
            picture = self.chapter / "results" / name
            drawn = picture.read_text()
            for content, problem in (
                (drawn.replace("viewBox", "viewbox"), "was changed by hand"),
                ("<svg></svg>", "was not drawn by this tool"),
            ):
                with self.subTest(name, problem=problem):
                    picture.write_text(content)
                    said = self.run_it("--check")
                    self.assertIn(f"{picture} {problem}", said)
                    self.assertIn(f"run: common/tools/measure/plots.py {self.chapter}", said)
            picture.unlink()
            self.assertIn(f"{picture} is missing", self.run_it("--check"))
            self.assertEqual(self.run_it(), 0)

    def test_a_number_that_changed(self):
        self.run_it()
        self.write(changed_rows(slow=row("slow", "rung", 5001.0)))
        self.assertIn("h200-ladder.svg is out of step with its data", self.run_it("--check"))
        self.assertNotIn("h200-curve.svg", self.run_it("--check"))

    def test_the_readme(self):
        self.run_it()
        self.readme.write_text(self.readme.read_text().replace("50.0 µs", "49.0 µs"))
        self.assertIn(f"{self.readme}: the ladder's plot is out of step", self.run_it("--check"))
        self.readme.write_text("no markers\n")
        self.assertIn("needs one line <!-- ladder:begin -->", self.run_it("--check"))

    def test_a_chapter_that_is_not_measured(self):
        (self.chapter / "results" / "h200.json").unlink()
        self.assertEqual(self.run_it("--check"), 0)
        self.assertIn("not measured yet", self.printed.getvalue())

    def test_declarations(self):
        self.write(declared={key: value for key, value in DECLARED.items() if key != "vendor"})
        self.assertIn("headline.json: 'vendor' is missing", self.run_it("--check"))
        (self.chapter / "headline.json").unlink()
        self.assertIn("headline.json: missing", self.run_it("--check"))

    def test_another_way_to_draw_is_another_picture(self):
        self.run_it()
        tools = Path(self.folder.name) / "tools"
        shutil.copytree(TOOLS, tools, ignore=shutil.ignore_patterns("tests", "__pycache__"))
        command = [sys.executable, str(tools / "measure/plots.py"), str(self.chapter), "--check"]
        self.assertEqual(subprocess.run(command).returncode, 0)
        with (tools / "measure/plot_svg.py").open("a") as file:
            file.write("WIDTH = 900\n")
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("with the code that draws it", done.stderr)

    def test_without_matplotlib(self):
        """--check does its work; drawing says what is missing."""
        self.run_it()
        blocked = Path(self.folder.name) / "blocked"
        blocked.mkdir()
        (blocked / "matplotlib.py").write_text("raise ImportError('blocked')\n")
        command = [sys.executable, str(TOOLS / "measure/plots.py"), str(self.chapter)]
        environment = {"PYTHONPATH": str(blocked)}
        self.assertEqual(subprocess.run([*command, "--check"], env=environment).returncode, 0)
        (self.chapter / "results" / "h200-ladder.svg").unlink()
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("setup.sh --contributor", done.stderr)


def python_that_draws():
    """An interpreter that has matplotlib, or None: the system's may, and the one that runs this may not."""
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
                return python
    return None


class Drawing(unittest.TestCase):
    """Real pictures."""

    DRAW = "import json, sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1]); from tools.measure import plot_svg\n" + (
        "for description in json.load(sys.stdin): print(plot_svg.draw(description), end='\\0')"
    )

    @classmethod
    def setUpClass(cls):
        cls.python = python_that_draws()
        if not cls.python:
            raise unittest.SkipTest("no matplotlib here")
        ratios = {
            "kind": "ratios", "title": "Best", "subtitle": "now", "axis": "times as fast", "finding": "A < B & C",
            "legend": [[True, "library"], [False, "none"]],
            "rows": [
                {
                    "name": name, "what": "w", "ratio": ratio, "ratio_text": f"{ratio}x", "against": "lib", "mark": mark,
                    "vendor": mark != "none",
                }
                for name, ratio, mark in (("a", 0.001, "slower"), ("b", 1, "tie"), ("c", 2.5, "better"), ("d", 5, "none"))
            ],
        }  # fmt: skip
        head = headline.of_results(RESULTS, DECLARED)
        cls.described = [*plots.descriptions(RESULTS, head).values(), ratios]
        cls.drawn = cls.draw_all(cls)

    def draw_all(self):
        done = subprocess.run(
            [self.python, "-c", self.DRAW, str(TOOLS.parent)], input=json.dumps(self.described), capture_output=True, text=True,
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

    def test_every_colour_has_a_dark_one(self):
        for description, svg in zip(self.described, self.drawn):
            with self.subTest(description["kind"]):
                used = set(re.findall(r"(?:fill|stroke): (#\w+)", svg.split("</style>", 1)[1]))
                self.assertTrue(used and used <= set(plot_svg.DARK), used - set(plot_svg.DARK))
                self.assertIn("@media (prefers-color-scheme: dark)", svg)

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


if __name__ == "__main__":
    unittest.main()
