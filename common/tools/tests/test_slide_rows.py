"""The measured rows that the markers of a page name, as bars for its slides."""

import unittest
from unittest import mock

from tools.lib import chapter as metadata
from tools.lib import compact_json
from tools.site import slide_rows
from tools.tests.sample_course import Course, declared, row
from tools.tests.test_lesson import PROFILE, PROFILED

READS = ()

ROWS = [
    row("first", "rung", 90.0), row("second", "rung", 60.0), row("ours", "rung", 20.0, gb_per_s=300.0, per_ns=0.5), row("lib", "vendor", 30.0),
    row("other", "rung", 8.0, group=1, n=64), row("second", "rung", 7.0, group=1, n=64), row("alone", "rung", 5.0, group=2, n=32),
]  # fmt: skip
PAGE = "<!-- cost first -->\n<!-- cost second -->\n<!-- cost ours -->\n"


class Rows(unittest.TestCase):
    def setUp(self):
        course = Course(self)
        folder = course.measured("01-x", *ROWS, head=declared(), profile=PROFILE)
        compact_json.write(folder / "results" / "gpu-x-profile.json", PROFILED)
        (course.top / "chapters" / "measured.toml").write_text('reference = "NVIDIA GPU X"\n')
        (folder / "README.md").write_text(PAGE)
        self.measured = slide_rows.Measured(course.top, metadata.read(folder))

    def shown(self, bars):
        """The names, values and marks of bars, and what they are."""
        return [(bar.name, bar.text, bar.mark) for bar in bars.bars], bars.unit

    def costs(self, *markers):
        return self.shown(self.measured.of_costs([f"<!-- cost {marker} -->" for marker in markers]))[0]

    def numbers(self, *markers):
        return self.measured.of_numbers([f"It takes <!-- {marker} -->1<!-- / -->." for marker in markers])

    def test_a_cost_is_between_the_rung_before_it_and_the_library(self):
        library = ("lib", "30.0 µs", "vendor")
        self.assertEqual(self.costs("ours"), [("second", "60.0 µs", "before"), ("ours", "20.0 µs", "better"), library])
        self.assertEqual(self.costs("ours | against first"), [("first", "90.0 µs", "before"), ("ours", "20.0 µs", "better"), library])
        self.assertEqual(self.costs("first"), [("first", "90.0 µs", "own"), library])
        self.assertEqual(self.measured.of_costs(["none"]), None)

    def test_a_rung_that_the_page_has_not_told_is_not_before_another(self):
        self.measured.told = ["first", "ours", "second"]
        self.assertEqual(self.costs("ours")[0], ("ours", "20.0 µs", "better"))

    def test_costs_of_several_sizes_are_those_of_the_size_that_most_have(self):
        bars = self.measured.of_costs([f"<!-- cost {marker} -->" for marker in ("other | n 64", "first", "second")])
        self.assertEqual([bar.name for bar in bars.bars], ["first", "second", "lib"])
        self.assertEqual((bars.about, bars.note), (("second", "2^12"), "n = 2^12 elements; GPU"))
        bars = self.measured.of_costs([f"<!-- cost {marker} -->" for marker in ("other | n 64", "second")])
        self.assertEqual([bar.name for bar in bars.bars], ["other", "second"], "whose row is in the same group")

    def test_no_more_bars_than_fit(self):
        with mock.patch.object(slide_rows, "MOST_BARS", 3):
            self.assertEqual([name for name, _, _ in self.costs("first", "second", "ours")], ["second", "ours", "lib"])
            self.assertEqual([bar.name for bar in self.numbers("µs first", "µs second", "µs ours", "µs lib").bars], ["first", "second", "ours"])

    def test_numbers_are_of_the_rows_that_they_compare(self):
        bars = self.numbers("times first / ours", "µs second", "µs first")
        self.assertEqual(self.shown(bars), ([("first", "90.0 µs", "own"), ("ours", "20.0 µs", "better"), ("second", "60.0 µs", "own")], "µs, medians"))
        self.assertEqual(bars.words, "µs, medians: first 90.0 µs, ours 20.0 µs, second 60.0 µs")

    def test_one_time_is_beside_the_rung_before_and_the_library(self):
        self.assertEqual([bar.name for bar in self.numbers("µs ours").bars], ["second", "ours", "lib"])
        self.assertEqual([bar.name for bar in self.numbers("µs lib").bars], ["lib"])
        self.assertEqual([bar.name for bar in self.numbers("µs alone | n 32").bars], ["alone"])

    def test_a_rate_is_beside_that_of_a_copy(self):
        self.assertEqual(self.shown(self.numbers("GB/s ours")), ([("ours", "300 GB/s", "better"), ("a copy", "4,000 GB/s", "vendor")], "GB/s"))

    def test_rows_of_several_sizes_say_their_size(self):
        self.assertEqual([bar.what for bar in self.numbers("µs second", "µs second | n 64").bars], ["n = 2^12; how second works", "n = 64; how second works"])

    def test_the_quantity_is_the_one_of_most_rows(self):
        self.assertEqual(self.numbers("GB/s ours", "µs first", "µs second").unit, "µs, medians")
        self.assertEqual(self.shown(self.numbers("per-ns ours")), ([("ours", "0.5 per ns", "better")], "operations per ns"))

    def test_counters_of_ncu(self):
        self.assertEqual(self.shown(self.numbers("ncu sum_all: l")), ([("sum_all", "65,536", "own")], "ncu: l"))

    def test_what_is_no_row_has_no_bars(self):
        for marker in ("result ours", "spread ours", "µs ours | per n", "µs copy of ours"):
            self.assertIsNone(self.numbers(marker), marker)


class Tables(unittest.TestCase):
    def bars(self, *rows):
        bars = slide_rows.of_table("\n".join(("| rung | clusters | atomics |", "|---|---|--:|", *rows)))
        return bars and (bars.unit, [(bar.name, bar.value, bar.text) for bar in bars.bars])

    def test_the_first_column_of_numbers(self):
        self.assertEqual(self.bars("| `a` | – | <!-- µs a \\| n 2 -->1,256<!-- / --> |", "| [b](x.md) | yes | 32 |"), ("atomics", [("a", 1256, "1,256"), ("b", 32, "32")]))
        self.assertEqual(self.bars("| a | 3 µs | 1 |", "| b | 4 µs | 2 |")[0], "clusters")

    def test_what_is_no_quantity_has_no_bars(self):
        for rows in (["| a | 3 µs | x |", "| b | 4 % | y |"], ["| a | 3 | 3 |", "| b | 3 | 3 |"], ["| a | 3 | 1 |"], ["| a | 0 | x |", "| b | 1 | y |"], ["| a | 1 | 2 |"] * 9):
            self.assertIsNone(self.bars(*rows), rows)

    def test_what_the_rows_are_is_said_but_of_rungs(self):
        table = "| stride | sectors |\n|---|--:|\n| 1 | 4 |\n| 2 | 8 |"
        self.assertEqual(slide_rows.of_table(table).note, "by stride")
        self.assertEqual(slide_rows.of_table(table.replace("stride", "rung")).note, "")


if __name__ == "__main__":
    unittest.main()
