#!/usr/bin/env python3
"""The generated parts of the front page: the results of all chapters and the map of them."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.measure import front_page, plot_svg  # noqa: E402

README = (
    "# x\n<!-- front:begin -->\n<!-- front:end -->\nbetween\n<!-- map:begin -->\n<!-- map:end -->\nafter\n"
)  # fmt: skip
CHAPTER = "# A\n\n**The question.** How | fast\nis it?\n\n**Before it.** {before}\n\n{more}\n"


def row(name, kind, median=None, **more):
    row = {"name": name, "kind": kind, "group": 0, "changed": f"how {name} works", "n": 4096, "bytes": 40_000}
    if median is not None:
        row["microseconds"] = {"p10": median, "median": median, "p90": median, "runs": [0.99 * median, median]}
    return {**row, **more}


def results(chapter, *rows, date="2026-01-02"):
    return {
        "chapter": chapter, "device": "GPU X", "cuda": "13.0", "n": 4096, "n_means": "elements",
        "date": f"{date}T03:04:05Z", "copy_gb_per_s": 4000.0, "rungs": [row("by hand", "reference"), *rows],
    }  # fmt: skip


def declared(**more):
    return {
        "what": "the sum of {n} floats", "group": {"reference": "how by hand works", "n": 4096}, "rung": "ours",
        "vendor": "lib", **more,
    }  # fmt: skip


def drawn_without_matplotlib(description):
    return plot_svg.signed('<svg viewBox="0 0 1 1">\n</svg>\n', description, "0")


class FrontPage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = Path(self.folder.name)
        self.readme = self.top / "README.md"
        self.readme.write_text(README)
        self.chapter("01-slow", results("01-slow", row("ours", "rung", 900.0), row("lib", "vendor", 30.0)))
        self.chapter("02-fast", results("02-fast", row("ours", "rung", 20.0), row("lib", "vendor", 30.0)), before="01.")
        self.chapter("03-even", results("03-even", row("ours", "rung", 30.0), row("lib", "vendor", 30.1)), before="01 and 02.")

    def chapter(self, name, measured=None, head=None, before="Nothing.", more=""):
        folder = self.top / "chapters" / name
        (folder / "results").mkdir(parents=True, exist_ok=True)
        (folder / "README.md").write_text(CHAPTER.format(before=before, more=more))
        if measured:
            (folder / "results" / "h200.json").write_text(json.dumps(measured))
            (folder / "headline.json").write_text(json.dumps(head or declared()))

    def exercise(self, chapter, name):
        file = self.top / "exercises" / chapter / f"{name}.cuh"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")

    def run_it(self, *arguments):
        with (
            mock.patch("sys.argv", ["front_page.py", str(self.top), *arguments]),
            mock.patch("tools.measure.plot_svg.draw", drawn_without_matplotlib),
        ):
            return front_page.main()

    def written(self):
        """README.md's new text; it is in step then."""
        self.assertEqual(self.run_it(), 0)
        self.assertEqual(self.run_it("--check"), 0)
        return self.readme.read_text()

    def row_of(self, text, start):
        return next(line for line in text.splitlines() if line.startswith(start))

    # ---- the results ----

    def test_the_table(self):
        text = self.written()
        self.assertTrue(text.startswith("# x\n") and text.endswith("\nafter\n") and "\nbetween\n" in text)
        self.assertEqual(
            self.row_of(text, "| [02]"),
            "| [02](chapters/02-fast/README.md) | the sum of 2^12 floats: `ours`, how ours works | 20.0 | `lib` | 30.0 | **1.5x** |",
        )
        self.assertIn("| 900.0 | `lib` | 30.0 | 1/30 |", self.row_of(text, "| [01]"))
        self.assertIn("| tie (1x) |", self.row_of(text, "| [03]"))
        self.assertIn("GPU X, CUDA 13.0, measured 2026-01-02; medians.", text)

    def test_the_plot(self):
        text = self.written()
        self.assertIn(
            "![The best rungs are faster than the vendor's library in 1 of 3 chapters: 02 (1.5x); as fast in 03 (1x); "
            "slower in 01 (1/30).](common/docs/best-rungs.svg)",
            text,
        )
        plot = self.top / "common" / "docs" / "best-rungs.svg"
        plot.write_text(plot.read_text().replace("<svg", "<svg "))
        self.assertIn(f"{plot} was changed by hand", self.run_it("--check"))
        plot.unlink()
        said = self.run_it("--check")
        self.assertIn(f"{plot} is missing", said)
        self.assertIn("run: common/tools/measure/front_page.py", said)

    def test_bars_and_marks(self):
        self.chapter(
            "04-own", results("04-own", row("ours", "rung", 20.0), row("plain", "rung", 50.0)),
            declared(vendor=None, instead={"row": "plain", "name": "CUDA's `f`"}, note="It is odd."),
        )  # fmt: skip
        measured = [front_page.headline.load(folder) for folder in front_page.chapters_of(self.top)]
        rows = front_page.plot(measured)["rows"]
        self.assertEqual([row["mark"] for row in rows], ["slower", "better", "tie", "none"])
        self.assertAlmostEqual(rows[0]["ratio"], 1 / 30)
        self.assertEqual(rows[3]["against"], "CUDA's f")
        text = self.written()
        self.assertIn("| no library; CUDA's `f` | 50.0 | 2.5x |", text)
        self.assertIn(" 04: It is odd.\n", text)
        self.assertIn("Without such a library: 04 runs at 2.5x of CUDA's f.]", text)

    def test_wrong_values_are_found(self):
        good = self.written()
        for old, new in (
            ("| 20.0 |", "| 19.0 |"), ("**1.5x**", "**2.5x**"), ("2026-01-02", "2026-01-03"), ("1 of 3", "3 of 3"),
            ("How \\| fast", "How fast"), ("`lib`", "`cub`"), ("| – |", "| 00 |"),
        ):  # fmt: skip
            with self.subTest(old):
                self.assertIn(old, good)
                self.readme.write_text(good.replace(old, new, 1))
                self.assertIn(f"{self.readme}: out of step", self.run_it("--check"))
        self.readme.write_text(good)
        self.assertEqual(self.run_it("--check"), 0)

    def test_a_new_measurement_is_found(self):
        self.written()
        self.chapter("02-fast", results("02-fast", row("ours", "rung", 21.0), row("lib", "vendor", 30.0)), before="01.")
        self.assertIn("best-rungs.svg is out of step", self.run_it("--check"))
        self.assertIn("| 21.0 |", self.written())

    def test_dates(self):
        self.chapter(
            "02-fast", results("02-fast", row("ours", "rung", 21.0), row("lib", "vendor", 30.0), date="2026-02-01"), before="01."
        )
        self.assertIn("measured 2026-01-02 to 2026-02-01", self.written())

    def test_one_more_chapter(self):
        self.written()
        self.chapter("04-more", results("04-more", row("ours", "rung", 20.0), row("lib", "vendor", 20.2)), before="03.")
        self.assertTrue(self.run_it("--check"))
        self.assertIn("[04](chapters/04-more/README.md)", self.written())

    def test_a_chapter_that_is_not_measured(self):
        self.chapter("04-new")
        text = self.written()
        self.assertIn("\nNot measured yet: 04-new.\n", text)
        self.assertNotIn("| [04]", text)
        self.assertIn("| [04-new](chapters/04-new/README.md) |", text)

    def test_nothing_is_measured(self):
        for folder in front_page.chapters_of(self.top):
            (folder / "results" / "h200.json").unlink()
        self.assertIn("Not measured yet: 01-slow, 02-fast, 03-even.", self.written())
        self.assertFalse((self.top / "common" / "docs" / "best-rungs.svg").exists())

    def test_bad_results_are_named(self):
        for rows, problem in (
            ([row("ours", "rung", float("nan")), row("lib", "vendor", 30.0)], "02-fast/headline.json: ours .* has no time, but nan"),
            ([row("ours", "rung", 20.0), row("lib", "vendor")], "headline.json: lib .* has no time, but None"),
            ([row("ours", "rung", 20.0)], "headline.json: the group has no vendor lib"),
        ):  # fmt: skip
            with self.subTest(problem):
                self.chapter("02-fast", results("02-fast", *rows), before="01.")
                self.assertRegex(self.run_it("--check"), problem)
        (self.top / "chapters" / "02-fast" / "headline.json").unlink()
        self.assertIn("02-fast/headline.json: missing", self.run_it("--check"))

    # ---- the map ----

    def test_the_map(self):
        self.exercise("02-fast", "b_sum")
        self.exercise("02-fast", "a_sum")
        readme = self.top / "chapters" / "02-fast" / "README.md"
        readme.write_text(readme.read_text() + "word " * 989 + "\n### b_sum\n### a_sum\n")
        text = self.written()
        links = "[b_sum](chapters/02-fast/README.md#b_sum), [a_sum](chapters/02-fast/README.md#a_sum)"
        self.assertEqual(
            self.row_of(text, "| [02-fast]"),
            "| [02-fast](chapters/02-fast/README.md) | How \\| fast is it? | [01](chapters/01-slow/README.md) | 50 minutes | " + links + " |",
        )
        self.assertIn("| [01](chapters/01-slow/README.md), [02](chapters/02-fast/README.md) | 5 minutes | – |", text)
        self.assertIn("| – | 5 minutes | – |", self.row_of(text, "| [01-slow]"))
        self.assertIn("at 100 words a minute", text)

    def test_a_chapter_states_its_own_time(self):
        self.chapter("00-begin", more="**Time.** 20 minutes: 7 to read (1,050 words),\nthe rest to try.")
        text = self.written()
        self.assertIn("| – | 20 minutes | – |", self.row_of(text, "| [00-begin]"))
        self.assertIn("Time is a rule of thumb", text)

    def test_what_counts_as_a_word(self):
        text = (
            "one two\n| no | no |\n```\nno no\n```\n<details><summary>no</summary>\n\nno\n</details>\n"
            "<!-- results:begin -->\nno\n<!-- results:end -->\nthree `four`\n"
        )
        self.assertEqual(front_page.words(text), 4)

    def test_time_texts(self):
        texts = {1: "5 minutes", 27: "25 minutes", 58: "60 minutes", 77.6: "80 minutes"}
        self.assertEqual({minutes: front_page.time_text(minutes) for minutes in texts}, texts)

    def test_what_a_readme_has_to_say(self):
        readme = self.top / "chapters" / "02-fast" / "README.md"
        good = readme.read_text()
        for old, new, problem in (
            ("**The question.**", "**Question.**", r"02-fast/README.md: needs a paragraph '\*\*The question"),
            ("**Before it.**", "Before:", r"02-fast/README.md: needs a paragraph '\*\*Before it"),
            ("** 01.", "** 09.", r"02-fast/README.md: .* names 09, and there is no such chapter"),
        ):
            with self.subTest(problem):
                readme.write_text(good.replace(old, new))
                self.assertRegex(self.run_it("--check"), problem)

    def test_missing_markers(self):
        self.readme.write_text(README.replace("<!-- map:end -->", ""))
        self.assertIn("<!-- map:end -->", self.run_it())
        self.readme.write_text(README.replace("<!-- front:begin -->\n<!-- front:end -->", "<!-- front:end -->\n<!-- front:begin -->"))
        self.assertIn("below it", self.run_it())


if __name__ == "__main__":
    unittest.main()
