"""The measured numbers in a page's sentences: what is written between their markers, and which markers are refused."""

import unittest
from unittest import mock

from tools.lib import compact_json, markers
from tools.lib.failed import Failed
from tools.maintain import plain_words, translations
from tools.measure import lesson, plot_svg, prose_numbers
from tools.site import slide_words
from tools.tests.sample_course import Course, declared, results, row
from tools.tests.test_lesson import PROFILE, PROFILED

READS = ()

ROWS = [
    row("ours", "rung", 20.04, per_ns=0.5694, bytes=40_000_000), row("sum_all", "rung", 25.0), row("lib::Sum<float>", "vendor", 30.0),
    row("sum_all", "rung", 5.0, group=1, changed="warm", n=8192), row("sum_all", "rung", 6.0, group=1, changed="pinned", n=8192),
    row("racy", "wrong", result=1234.0), row("still", "rung", 8.0, per_ns=None, gb_per_s=None), row("once", "rung", 1234.56, n=64, group=2),
]  # fmt: skip


class Numbers(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.chapter = self.course.measured("01-x", *ROWS, head=declared(vendor="lib::Sum<float>"), profile={**PROFILE, "counters": [
            {"name": "loads", "metric": "l"}, {"name": "DRAM, % of its peak", "metric": "d"}, {"name": "DRAM, bytes", "metric": "none"},
        ]})  # fmt: skip
        compact_json.write(self.chapter / "results" / "gpu-x-profile.json", PROFILED)
        other = {**results("01-x", row("ours", "rung", 10.0), device="NVIDIA 2x GPU Y")}
        compact_json.write(self.chapter / "results" / "2x-gpu-y.json", other)
        (self.course.top / "chapters" / "measured.toml").write_text('reference = "NVIDIA GPU X"\n')

    def page(self, text, chapter=True):
        """(the page that this text becomes, what is wrong with it)."""
        problems = []
        made = prose_numbers.with_numbers(self.course.top, "README.md", self.chapter if chapter else None, text, problems)
        return made, "\n".join(problems)

    def number(self, marker, chapter=True):
        """What is written after a marker; writing it once more changes nothing."""
        text, problems = self.page(f"It takes <!-- {marker} -->?<!-- / -->.", chapter)
        if problems:
            raise Failed(problems)
        self.assertEqual(self.page(text, chapter), (text, ""))
        return text.removeprefix(f"It takes <!-- {marker} -->").removesuffix("<!-- / -->.")

    def fails(self, marker, words, chapter=True):
        with self.assertRaisesRegex(Failed, words):
            self.number(marker, chapter)

    # ---- kinds

    def test_times(self):
        for marker, text in {
            "µs ours": "20.0 µs", "ns ours": "20,040 ns", "ms ours": "0.02 ms", "ms ours | digits 3": "0.0200 ms", "s once": "0.00123 s",
            "µs lib::Sum<float>": "30.0 µs", "µs ours | bare": "20.0", "µs once": "1,234.6 µs", "µs once | digits 2": "1,200 µs",
            "ns ours | per n": "4.89 ns", "ns ours | per 4,008": "5 ns", "µs sum_all - ours": "5.0 µs", "µs ours + ours - sum_all": "15.1 µs",
            "µs copy of ours": "10.0 µs", "µs ours - copy of ours | digits 1": "10 µs",
        }.items():  # fmt: skip
            with self.subTest(marker):
                self.assertEqual(self.number(marker), text)

    def test_rates(self):
        for marker, text in {
            "GB/s ours": "12 GB/s", "GB/s ours | digits 3": "12.5 GB/s", "TB/s ours": "0.0125 TB/s", "copy ours | digits 1": "0.5 %",
            "copy ours": "0 %", "per-ns ours": "0.569", "per-ns ours | digits 2": "0.57",
            "per-ns ours | per 32": "0.0178", "per-ns still": "0.512",
            "result ours": "5", "result racy": "1,234", "spread ours": "1 %", "spread ours | digits 2": "1.0 %",
        }.items():  # fmt: skip
            with self.subTest(marker):
                self.assertEqual(self.number(marker), text)
        self.fails("µs racy", "no row of n = 2\\^12 has a time")
        self.fails("GB/s still", "the row has no gb_per_s")

    def test_comparisons(self):
        for marker, text in {
            "times sum_all / ours": "1.25", "times ours / sum_all": "0.802", "times once / ours | n 64 / 4096": "61.6",
            "times once / ours | n 64 / 2^12 | digits 1": "60", "times once / ours | n 64 / 2^12 | per 2": "30.8",
            "times once / ours | per n": "3,943",
            "share ours / sum_all": "80 %", "longer sum_all / ours": "25 %", "shorter ours / sum_all": "20 %",
            "longer sum_all / ours | digits 3 | bare": "24.8", "times sum_all: loads / sum_all: DRAM, %": "5,381",
        }.items():  # fmt: skip
            with self.subTest(marker):
                self.assertEqual(self.number(marker), text)

    def test_what_became_shorter_is_not_called_longer(self):
        self.fails("longer ours / sum_all", "it is not longer: ours takes 0.802 times as long as sum_all")
        self.fails("shorter sum_all / ours", "it is not shorter: sum_all takes 1.25 times as long as ours")

    def test_what_ncu_counted(self):
        self.assertEqual(self.number("ncu sum_all: loads"), "65,536")
        self.assertEqual(self.number("ncu sum_all: DRAM, %"), "12.2 %")
        self.assertEqual(self.number("ncu sum_all: DRAM, % | digits 2 | bare"), "12")
        for words in ("DRAM", "stores", "DRAM, bytes"):
            self.fails(f"ncu sum_all: {words}", f"'{words}' has to begin the name of one counter with a value: loads, DRAM, %")
        self.fails("ncu sum_all", "has to begin the name of one counter")
        self.fails("ncu ours: loads", "there is no profile of ours")

    # ---- which row

    def test_the_size_is_that_of_the_headline_or_the_only_one(self):
        self.assertEqual(self.number("µs sum_all"), "25.0 µs")
        self.assertEqual(self.number("µs once"), "1,234.6 µs")
        self.fails("µs once | n 2^20", "no row of n = 2\\^20 has a time")

    def test_words_choose_the_row_its_group_and_the_machine(self):
        self.assertEqual(self.number("µs sum_all | n 2^13"), "5.0 µs")
        self.assertEqual(self.number("µs sum_all | n 2^13 | row pinned"), "6.0 µs")
        self.assertEqual(self.number("times sum_all / sum_all | n 2^13 | row pinned / warm"), "1.2")
        self.assertEqual(self.number("µs ours | in by hand"), "20.0 µs")
        self.assertEqual(self.number("times ours / ours | on gpu-x / 2x-gpu-y"), "2")
        self.fails("µs ours | in another", "has a time in 'another'")
        self.fails("µs ours | row another", "has a time and changes 'another'")
        self.fails("µs ours | on 3x-gpu", "3x-gpu.json is missing")

    def test_rungs_of_other_chapters(self):
        self.course.measured("02-y", row("ours", "rung", 40.0))
        self.assertEqual(self.number("µs 02:ours"), "40.0 µs")
        self.assertEqual(self.number("times 02:ours / ours"), "2")
        self.assertEqual(self.number("µs 01:ours", chapter=False), "20.0 µs")
        self.fails("µs ours", "a page of no chapter names one: 05:ours", chapter=False)
        self.fails("µs 03:ours", "there is no chapter 03")
        self.course.chapter("03-z")
        self.fails("µs 03:ours", "the chapter has no results")

    def test_what_a_marker_cannot_say(self):
        self.fails("µs nothing", "no row of n = 2\\^12 has a time")
        self.fails("µs ours | m 3", "unknown option 'm'")
        self.fails("times ours", "needs two names: times A / B")
        self.fails("times ours / sum_all | n 1 / 2 / 3", "3 values of 'n', and 2 names")

    # ---- markers

    def test_several_in_a_line_and_in_a_cell(self):
        text = "| `a` | <!-- µs ours \\| bare -->1<!-- / --> and <!-- µs sum_all -->2<!-- / --> |\n"
        self.assertEqual(self.page(text), (text.replace("-->1<", "-->20.0<").replace("-->2<", "-->25.0 µs<"), ""))
        self.assertIn("in a table needs \\| for its |", self.page(text.replace("\\|", "|"))[1])

    def test_a_marker_that_would_break_its_paragraph_is_refused(self):
        for head in ("", "  ", "- ", "1. ", "> ", "> - "):
            with self.subTest(head):
                self.assertIn("may not begin a line", self.page(f"{head}<!-- µs ours -->20.0 µs<!-- / --> x")[1])
        self.assertIn("may not begin a line", self.page("<!-- / --> x")[1])
        self.assertIn("may not begin a line", self.page("<!-- given a sheet -->4 TB/s<!-- / -->")[1])

    def test_a_marker_that_is_none_is_refused(self):
        for text in (
            "x <!-- µs ours -->20.0 µs", "x <!-- µs ours -->20.0\nµs<!-- / -->", "x <!-- ps ours -->1<!-- / -->", "x 1<!-- / -->",
            "x <!-- µs ours -->1 <!-- µs ours -->20.0 µs<!-- / -->", "x <!-- measured -->1<!-- / -->", "x <!-- given data -->1",
        ):  # fmt: skip
            with self.subTest(text):
                self.assertIn("is no marker of a number", self.page(text)[1])

    def test_what_was_measured_by_hand_says_when_and_how(self):
        for source in ("2026-11-22: H200, CUDA 13.0", "by 2026-11-22: H200"):
            self.assertEqual(self.page(f"x <!-- measured {source} -->37 µs<!-- / -->")[1], "")
        for source in ("2026-11-22", "2026-11-22: ", "H200", "November: H200"):
            self.assertIn("says when and how", self.page(f"x <!-- measured {source} -->37 µs<!-- / -->")[1])
        self.assertEqual(self.page("x <!-- given the data sheet -->4.8 TB/s<!-- / -->")[1], "")

    # ---- the gate

    def test_pages_that_are_out_of_step_are_named(self):
        patch = mock.patch("tools.measure.plot_svg.draw", lambda said: plot_svg.signed('<svg viewBox="0 0 1 1">\n</svg>\n', said, "0"))
        patch.start()
        self.addCleanup(patch.stop)
        readme, page = self.chapter / "README.md", self.course.top / "common" / "docs" / "learning.md"
        readme.write_text(readme.read_text() + "\nx <!-- µs ours -->19.0 µs<!-- / -->\n")
        page.write_text("x <!-- µs 01:ours -->19.0 µs<!-- / -->\n")
        self.course.readme.write_text(self.course.readme.read_text() + "x <!-- µs 01:nothing -->19.0 µs<!-- / -->\n")
        said = self.course.problems()
        self.assertIn("chapters/01-x/README.md is out of step", said)
        self.assertIn("common/docs/learning.md is out of step, line 1: measured numbers in the page's sentences", said)
        self.assertRegex(said, "README.md: <!-- µs 01:nothing -->: no row of n = 2\\^12 has a time")
        with self.assertRaisesRegex(Failed, "01:nothing"):
            self.course.generate()
        self.assertIn("-->20.0 µs<", readme.read_text())
        self.assertEqual(page.read_text(), "x <!-- µs 01:ours -->20.0 µs<!-- / -->\n")

    # ---- what reads the pages

    def test_readers_of_pages_do_not_see_the_markers(self):
        said, marked = "takes 20.0 µs.", "takes <!-- µs ours -->20.0 µs<!-- / -->."
        self.assertEqual(markers.without_comments(marked), said)
        self.assertEqual(lesson.words(f"It {marked}\n"), 4)
        self.assertEqual(slide_words.sections_of(f"## A\n\nIt {marked}\n")[1].blocks, [f"It {said}"])
        page = self.course.top / "README.zh-CN.md"
        page.write_text("用时 <!-- copy ours, in words -->63 %<!-- / -->，共<!-- µs ours -->20.0 µs<!-- / -->\n")
        self.assertEqual([word for _, word, _ in plain_words.places(page)], ["共2"])

    def test_a_translation_has_the_same_markers_and_follows_no_number(self):
        english, chinese = "# A\n\nx {} {}\n", "# 甲\n\n{} {}\n"
        first, second = "<!-- µs ours -->20.0 µs<!-- / -->", "<!-- copy ours -->1 %<!-- / -->"
        self.assertEqual(translations.differences(english.format(first, second), chinese.format(second, first)), [])
        self.assertIn("the markers are not those", translations.differences(english.format(first, second), chinese.format(first, first))[0])
        self.assertEqual(translations.versions(english.format(first, "")), translations.versions(english.format(first.replace("20", "30"), "")))


if __name__ == "__main__":
    unittest.main()
