"""The generated parts of the front page: the results of all chapters and the map of them."""

import unittest
from unittest import mock

from tools.lib import compact_json
from tools.lib.chapter_results import chapters_of
from tools.measure import front_page, headline, plot_svg
from tools.tests.sample_course import README, Course, declared, results, row

READS = ()

OTHER = "NVIDIA Y7 80GB"


def drawn_without_matplotlib(description):
    return plot_svg.signed('<svg viewBox="0 0 1 1">\n</svg>\n', description, "0")


class FrontPage(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.top, self.readme = self.course.top, self.course.readme
        self.course.measured("01-slow", row("ours", "rung", 900.0), row("lib", "vendor", 30.0))
        self.fast(20.0)
        self.course.measured("03-even", row("ours", "rung", 30.0), row("lib", "vendor", 30.1), before=["01", "02"])

    def fast(self, time, **more):
        """Chapter 02, whose best rung takes this long."""
        return self.course.measured("02-fast", row("ours", "rung", time), row("lib", "vendor", 30.0), before=["01"], **more)

    def written(self):
        """The new text of README.md and of results.md; all is in step then."""
        with mock.patch("tools.measure.plot_svg.draw", drawn_without_matplotlib):
            self.course.generate()
        self.assertEqual(self.course.problems(), "")
        return self.readme.read_text() + self.course.results.read_text()

    def row_of(self, text, start):
        return next(line for line in text.splitlines() if line.startswith(start))

    # ---- the results ----

    def test_the_table(self):
        text = self.written()
        self.assertTrue(text.startswith("# x\nbetween\n") and text.endswith("\nbehind\n"))
        self.assertEqual(
            self.row_of(text, "| [02]"),
            "| [02](../../chapters/02-fast/README.md) | the sum of 2^12 floats: `ours`, how ours works | `lib` | 20.0 | 30.0 | **1.5x** |",
        )
        self.assertIn("| `lib` | 900.0 | 30.0 | 1/30 |", self.row_of(text, "| [01]"))
        self.assertIn("| tie (1x) |", self.row_of(text, "| [03]"))
        self.assertIn("GPU X, CUDA 13.0, measured 2026-01-02; medians.", text)

    def test_the_plot(self):
        text = self.written()
        self.assertIn(
            "![The best rungs are faster than the vendor's library in 1 of 3 chapters: 02 (1.5x); as fast in 03 (1x); "
            "slower in 01 (1/30).](best-rungs.svg)",
            text,
        )
        plot = self.top / "common" / "docs" / "best-rungs.svg"
        plot.write_text(plot.read_text().replace("<svg", "<svg "))
        self.assertIn("common/docs/best-rungs.svg was changed by hand", self.course.problems())
        plot.unlink()
        said = self.course.problems()
        self.assertIn("common/docs/best-rungs.svg is missing", said)
        self.assertIn("run: common/dev generate", said)

    def test_bars_and_marks(self):
        head = declared(vendor=None, instead={"row": "plain", "name": "CUDA's `f`"}, note="It is odd.")
        self.course.measured("04-own", row("ours", "rung", 20.0), row("plain", "rung", 50.0), head=head)
        measured = [headline.load(folder) for folder in chapters_of(self.top)]
        rows = front_page.plot(measured)["rows"]
        self.assertEqual([row["mark"] for row in rows], ["slower", "better", "tie", "none"])
        self.assertAlmostEqual(rows[0]["ratio"], 1 / 30)
        self.assertEqual(rows[3]["against"], "CUDA's f")
        text = self.written()
        self.assertIn("| no library; CUDA's `f` | 20.0 | 50.0 | 2.5x |", text)
        self.assertIn(" 04: It is odd.\n", text)
        self.assertIn("Without such a library: 04 runs at 2.5x of CUDA's f.]", text)

    def test_wrong_values_are_found(self):
        self.written()
        for file, old, new in (
            (self.course.results, "| 20.0 |", "| 19.0 |"), (self.course.results, "**1.5x**", "**2.5x**"),
            (self.course.results, "2026-01-02", "2026-01-03"), (self.course.results, "1 of 3", "3 of 3"),
            (self.course.results, "`lib`", "`cub`"), (self.readme, "How \\| fast", "How fast"), (self.readme, "| – |", "| 00 |"),
        ):  # fmt: skip
            with self.subTest(old):
                good = file.read_text()
                self.assertIn(old, good)
                file.write_text(good.replace(old, new, 1))
                self.assertIn(f"{file.name} is out of step", self.course.problems())
                file.write_text(good)
        self.assertEqual(self.course.problems(), "")

    def test_where_one_starts_and_ends(self):
        self.readme.write_text(README + "<!-- shown:begin -->\n<!-- shown:end -->\n")
        shown = self.top / "chapters" / "measured.toml"
        text = """reference = "NVIDIA GPU X"
[[shown]]
what = "the sum"
start = {chapter = "01-slow", rung = "ours", n = 4096}
end = {chapter = "02-fast", rung = "ours", n = 4096}
"""
        shown.write_text(text)
        said = self.written()
        self.assertIn("| the sum | 900.0\u00a0µs | **20.0\u00a0µs** | 30.0\u00a0µs (lib) | 1.5x |\n\nMeasured on one NVIDIA GPU X. The ratio", said)
        for old, new, problem in (
            ('"01-slow"', '"09-none"', "'the sum', start: 09-none has no results"),
            ('n = 4096}\nend', 'n = 64}\nend', "'the sum', start: no row of n = 64 has a time"),
        ):
            shown.write_text(text.replace(old, new))
            self.assertIn(problem, self.course.problems())

    # ---- a device beside the reference ----

    def beside(self, **chapters):
        """Results on another device for these chapters: c02=[row, ...]."""
        (self.top / "chapters" / "measured.toml").write_text(f'reference = "NVIDIA GPU X"\nbeside = ["{OTHER}"]\n')
        for folder in chapters_of(self.top):
            if rows := chapters.get(f"c{folder.name[:2]}"):
                content = results(folder.name, *rows, device=OTHER, date="2026-03-04")
                compact_json.write(folder / "results" / "y7-80gb.json", {**content, "copy_gb_per_s": 2000.0})

    def test_the_table_has_the_other_device_beside(self):
        self.beside(c01=[row("ours", "rung", 950.0), row("lib", "vendor", 38.0)], c02=[row("ours", "rung", 40.0), row("lib", "vendor", 36.0)])
        text = self.written()
        self.assertIn("| GPU: ratio | Y7: best, µs | Y7: against, µs | Y7: ratio |", text)
        self.assertTrue(self.row_of(text, "| [01]").endswith("| 900.0 | 30.0 | 1/30 | 950.0 | 38.0 | 1/25 |"))
        self.assertTrue(self.row_of(text, "| [02]").endswith("| **1.5x** | 40.0 | 36.0 | 1/1.11 |"))
        self.assertTrue(self.row_of(text, "| [03]").endswith("| tie (1x) | – | – | – |"))
        self.assertIn("measured 2026-01-02; NVIDIA Y7 80GB, CUDA 13.0, measured 2026-03-04; medians. ", text)
        self.assertIn(" –: not measured on this card.", text)
        self.assertIn("faster than the vendor's library in 1 of 3 chapters", text)  # the picture is that of the reference

    def test_no_dash_is_explained_where_there_is_none(self):
        self.beside(**{f"c0{number}": [row("ours", "rung", 20.0), row("lib", "vendor", 36.0)] for number in (1, 2, 3)})
        self.assertNotIn("not measured", self.written())

    def test_another_rung_or_library_is_the_fastest_there(self):
        slower = [row("ours", "rung", 20.0), row("early", "rung", 25.0), row("lib", "vendor", 30.0), row("old", "vendor", 33.0)]
        self.course.measured("02-fast", *slower, before=["01"])
        self.beside(c02=[row("ours", "rung", 40.0), row("early", "rung", 32.0), row("lib", "vendor", 50.0), row("old", "vendor", 44.0)])
        text = self.written()
        self.assertTrue(self.row_of(text, "| [02]").endswith("| 40.0 | 44.0 (`old`) | **1.1x** |"))
        self.assertIn(" 02: on the Y7 `early` is faster, 32.0\u00a0µs.", text)

    def test_what_an_older_ladder_lacks_is_a_dash(self):
        for rows in ([row("lib", "vendor", 30.0)], [row("ours", "rung", 20.0)], [row("ours", "rung"), row("lib", "vendor", 30.0)]):
            with self.subTest(rows):
                self.beside(c02=rows)
                self.assertTrue(self.row_of(self.written(), "| [02]").endswith("| **1.5x** | – | – | – |"))

    def test_no_library_on_the_other_device(self):
        instead = declared(vendor=None, instead={"row": "copy", "name": "a copy"})
        self.course.measured("02-fast", row("ours", "rung", 20.0, bytes=40_000_000), head=instead)
        self.course.measured("03-even", row("ours", "rung", 20.0), row("plain", "rung", 50.0), head=declared(vendor=None, instead={"row": "plain", "name": "`f`"}))
        self.beside(c02=[row("ours", "rung", 40.0, bytes=40_000_000)], c03=[row("ours", "rung", 40.0), row("plain", "rung", 120.0)])
        text = self.written()
        self.assertTrue(self.row_of(text, "| [02]").endswith("| 20.0 | 10.0 | 1/2 | 40.0 | 20.0 | 1/2 |"))
        self.assertTrue(self.row_of(text, "| [03]").endswith("| 20.0 | 50.0 | 2.5x | 40.0 | 120.0 | 3x |"))

    def test_the_chapters_page_names_the_other_device(self):
        self.beside(c02=[row("ours", "rung", 40.0), row("lib", "vendor", 36.0)])
        self.written()
        said = "On one NVIDIA Y7 80GB, measured 2026-03-04: `ours` takes 40.0\u00a0µs for n = 2^12, and `lib` takes 36.0\u00a0µs. The ratio is 1/1.11."
        self.assertIn(said, (self.top / "chapters/02-fast/README.md").read_text())
        self.assertNotIn("Y7", (self.top / "chapters/01-slow/README.md").read_text())

    def test_where_one_starts_and_ends_on_the_other_device(self):
        self.readme.write_text(README + "<!-- shown:begin -->\n<!-- shown:end -->\n")
        self.course.measured("03-even", row("ours", "rung", 20.0), row("plain", "rung", 50.0), head=declared(vendor=None, instead={"row": "plain", "name": "`f`"}))
        self.beside(c01=[row("ours", "rung", 950.0), row("lib", "vendor", 38.0)], c03=[row("ours", "rung", 40.0), row("plain", "rung", 120.0)])
        ends = (("the sum", "01-slow", "ours", "02-fast"), ("the slow sum", "01-slow", "ours", "01-slow"), ("a task", "03-even", "plain", "03-even"))
        shown = self.top / "chapters" / "measured.toml"
        shown.write_text(shown.read_text() + "".join(
            f'[[shown]]\nwhat = "{what}"\nstart = {{chapter = "{start}", rung = "{rung}", n = 4096}}\nend = {{chapter = "{end}", rung = "ours", n = 4096}}\n'
            for what, start, rung, end in ends))
        text = self.written()
        self.assertIn("| ratio, GPU | ratio, Y7 |", text)
        self.assertTrue(self.row_of(text, "| the sum").endswith("| 1.5x | – |"))
        self.assertTrue(self.row_of(text, "| the slow sum").endswith("| 1/30 | 1/25 |"))
        self.assertTrue(self.row_of(text, "| a task").endswith("| – | 2.5x the start | 3x the start |"))
        self.assertIn("Measured on one NVIDIA GPU X; the other ratios are of one NVIDIA Y7 80GB. ", text)

    # ---- more of the results ----

    def test_less_than_three_percent_is_no_win(self):
        self.fast(29.2)
        self.assertIn("| `lib` | 29.2 | 30.0 | 1.03x |", self.written())
        self.fast(29.1)
        self.assertIn("| `lib` | 29.1 | 30.0 | **1.03x** |", self.written())

    def test_a_new_measurement_is_found(self):
        self.written()
        self.fast(21.0)
        self.assertIn("best-rungs.svg is out of step", self.course.problems())
        self.assertIn("| 21.0 |", self.written())

    def test_dates(self):
        file = self.top / "chapters" / "02-fast" / "results" / "gpu-x.json"
        file.write_text(file.read_text().replace("2026-01-02", "2026-02-01"))
        self.assertIn("measured 2026-01-02 to 2026-02-01", self.written())

    def test_one_more_chapter(self):
        self.written()
        self.course.measured("04-more", row("ours", "rung", 20.0), row("lib", "vendor", 20.2), before=["03"])
        self.assertIn("README.md is out of step", self.course.problems())
        self.assertIn("[04](../../chapters/04-more/README.md)", self.written())

    def test_a_chapter_that_is_not_measured(self):
        self.course.chapter("04-new")
        text = self.written()
        self.assertIn("\nNot measured yet: 04-new.\n", text)
        self.assertNotIn("| [04]", text)
        self.assertIn("| [04-new](chapters/04-new/README.md) |", text)

    def test_nothing_is_measured(self):
        for folder in chapters_of(self.top):
            (folder / "results" / "gpu-x.json").unlink()
        self.assertIn("Not measured yet: 01-slow, 02-fast, 03-even.", self.written())
        self.assertFalse((self.top / "common" / "docs" / "best-rungs.svg").exists())

    def test_bad_results_are_named(self):
        for rows, problem in (
            ([row("ours", "rung", float("nan")), row("lib", "vendor", 30.0)], "02-fast/chapter.toml: ours .* has no time, but nan"),
            ([row("ours", "rung", 20.0), row("lib", "vendor")], "chapter.toml: lib .* has no time, but None"),
            ([row("ours", "rung", 20.0)], "chapter.toml: the group has no vendor lib"),
        ):  # fmt: skip
            with self.subTest(problem):
                self.course.measured("02-fast", *rows, before=["01"])
                self.assertRegex(self.course.problems(), problem)
        self.course.chapter("02-fast")
        self.assertIn("02-fast/chapter.toml: needs [headline]", self.course.problems())

    # ---- the map ----

    def test_the_map(self):
        self.fast(20.0, exercises=["b_sum", "a_sum"], prose="word " * 998)
        text = self.written()
        links = ", ".join([
            "**[b_sum](chapters/02-fast/README.md#now-you-b_sum--30-min)** ★★", "[a_sum](chapters/02-fast/README.md#now-you-a_sum--30-min) ★★",
        ])
        self.assertEqual(
            self.row_of(text, "| [02-fast]"),
            "| [02-fast](chapters/02-fast/README.md) | How \\| fast is it? | [01](chapters/01-slow/README.md) | 1\u00a0h\u00a05\u00a0min | " + links + " |",
        )
        self.assertIn("| [01](chapters/01-slow/README.md), [02](chapters/02-fast/README.md) | 5\u00a0min | – |", text)
        self.assertIn("| – | 5\u00a0min | – |", self.row_of(text, "| [01-slow]"))
        self.assertIn(
            "**Time:** about 1\u00a0h for all pages and all 2 exercises, one chapter at a time. The fast track, `./course next --fast`, has "
            "all pages and the 1 exercises that their chapters cannot do without: about 1\u00a0h.\n", text)
        self.assertIn("prose at 200 words and code at 10 lines per minute, and 20, 30, 45, 60, 90 minutes for an exercise", text)

    def test_the_map_has_the_titles_of_the_pages(self):
        page = self.top / "chapters" / "02-fast" / "README.md"
        page.write_text("```sh\n# no title\n```\n# 02 Fast sums: registers\n" + page.read_text() + "# Another\n")
        self.assertIn("\n| [02 Fast sums](chapters/02-fast/README.md) | How", self.written())

    def test_the_hours_of_the_syllabus(self):
        self.fast(20.0, exercises=["b_sum", "a_sum"], prose="word " * 998)
        page = self.top / "common" / "docs" / "instructors.md"
        page.write_text("| 1 | 01, 02 | 9.9 | fast |\n| 2 | 02, 07 | 9.9 | not all are there |\n| 3 | 02 | a_sum |\n")
        self.assertIn("instructors.md is out of step, line 1: the hours of the syllabus", self.course.problems())
        self.written()
        self.assertEqual(page.read_text(), "| 1 | 01, 02 | 1.2 | fast |\n| 2 | 02, 07 | 9.9 | not all are there |\n| 3 | 02 | a_sum |\n")

    def test_a_chapter_before_that_is_not_there(self):
        self.course.chapter("04-new", before=["09"])
        self.assertRegex(self.course.problems(), r"04-new/chapter.toml: .*09")

    def test_missing_markers(self):
        self.written()
        self.readme.write_text(README.replace("<!-- map:end -->", ""))
        self.assertIn("<!-- map:end -->", self.course.problems())
        self.readme.write_text(README.replace("<!-- map:begin -->\n<!-- map:end -->", "<!-- map:end -->\n<!-- map:begin -->"))
        self.assertIn("below it", self.course.problems())


if __name__ == "__main__":
    unittest.main()
