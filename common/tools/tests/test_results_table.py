"""The table of results in a chapter's README."""

import unittest

from tools.lib import rows
from tools.measure import results_table
from tools.measure.headline import Headline

READS = ()


def row(name, kind, median=None, **more):
    row = {"name": name, "kind": kind, "group": 0, "changed": "a | b", "n": 1000, "expected": 5.0, "result": 5.0}
    if median:
        row["microseconds"] = {"p10": median - 1, "median": median, "p90": median + 1, "samples": 20}
        row["gb_per_s"], row["percent_of_copy"] = 12.34, 0.5
    return {**row, **more}


RESULTS = {
    "chapter": "01", "device": "GPU X", "cuda": "13.0", "n": 1000, "n_means": "elements", "file": None,
    "date": "2026-01-02T03:04:05Z", "copy_gb_per_s": 4000.0,
    "rungs": [
        row("CPU reference", "reference"),
        row("racy", "wrong", result=3.0),
        row("slow", "rung", 100.0),
        row("fast", "rung", 25.0, n=2000),
        row("cub", "vendor", 50.0),
        row("CPU reference", "reference", group=1),
    ],
}


class Table(unittest.TestCase):
    def lines(self, *rows, headline=None):
        """The lines of the tables of these rows."""
        return results_table.render({**RESULTS, "rungs": list(rows)}, headline).splitlines()

    def line(self, name, *rows):
        """The line of one rung."""
        return next(line for line in self.lines(*rows) if f"| `{name}`" in line)

    def test_a_very_small_difference_is_a_tie_however_little_the_runs_differ(self):
        def of(median):
            return {**row("f", "rung", median), "microseconds": {"median": median, "runs": [median]}}

        self.assertEqual(rows.ratio(of(1000), of(1004)), "tie (1x)")
        self.assertFalse(rows.is_faster(of(1000), of(1004)))
        self.assertEqual(rows.ratio(of(1000), of(1006)), "1.01x")
        self.assertTrue(rows.is_faster(of(1000), of(1006)))

    def test_errors_have_columns_where_a_rung_is_not_exact(self):
        self.assertNotIn("max error", "\n".join(self.lines(*RESULTS["rungs"])))
        rungs = [dict(rung) for rung in RESULTS["rungs"]]
        rungs[2] |= {"max_error": 0.125, "mean_error": 0.03125}
        rungs[3] |= {"error": 7.0}
        self.assertIn("| max error (mean) |", next(line for line in self.lines(*rungs) if line.startswith("| rung")))
        self.assertIn("| 0.12 (0.031) |", self.line("slow", *rungs))
        self.assertIn("| 7 (7) |", self.line("fast", *rungs))

    def test_numbers_have_three_digits_and_no_exponent_below_a_million(self):
        for value, text in {0.012345: "0.0123", 12.345: "12.3", 999.6: "1,000", 1234.5: "1,230", 654_321: "654,000", 7e7: "7e+07"}.items():
            self.assertEqual(rows.rounded(value), text)

    def test_ratios_are_to_the_fastest_vendor(self):
        slow = self.line("slow", *RESULTS["rungs"][:5], row("better", "vendor", 25.0))
        self.assertTrue(slow.endswith("| 1/4 |"), slow)

    def test_what_it_says(self):
        text = "\n".join(self.lines(*RESULTS["rungs"]))
        self.assertIn("GPU X, CUDA 13.0, n = 1,000 elements, measured 2026-01-02", text)
        self.assertIn("| `slow` | a \\| b | 5 | 100.0 | 99.0\u00a0– 101.0 | 12.3 (0.5\u00a0%) | – | 1/2 |", text)
        self.assertIn("| `fast` | a \\| b (n = 2,000) | 5 | 25.0 | 24.0\u00a0– 26.0 | 12.3 (0.5\u00a0%) | – | – |", text)
        self.assertIn("| `racy` | a \\| b; **wrong on purpose** | 3 | – |", text)
        self.assertEqual(text.count("| rung | what changed |"), 2)

    def test_another_device_has_a_sentence(self):
        fast, cub = row("fast", "rung", 25.0, n=1 << 20), row("cub", "vendor", 50.0, n=1 << 20)
        head = Headline("01", "the sum", fast, cub, "cub", True, "", {}, [fast, cub], [])
        text = results_table.render(RESULTS, elsewhere=[({**RESULTS, "device": "GPU Y"}, head)])
        self.assertIn(
            "\n\nThe tables are of this card alone. On one GPU Y, measured 2026-01-02: `fast` takes 25.0\u00a0µs for n = 2^20, and "
            "`cub` takes 50.0\u00a0µs. The ratio is 2x.\n",
            text,
        )
        self.assertNotIn("this card alone", results_table.render(RESULTS))

    def test_a_difference_within_the_spread_is_a_tie(self):
        mine, vendor = row("mine", "rung", 100.0), row("cub", "vendor", 102.0)
        mine["microseconds"]["runs"], vendor["microseconds"]["runs"] = [100.0, 100.5], [101.0, 103.1]
        self.assertIn(" (0.5\u00a0%) | 12.3 (0.5\u00a0%) | – | tie (1.02x) |", self.line("mine", mine, vendor))
        vendor["microseconds"]["runs"] = [101.9, 102.1]
        self.assertIn("| – | 1.02x |", self.line("mine", mine, vendor))

    def test_a_group_with_another_size_says_so(self):
        lines = self.lines(row("CPU reference", "reference", n=1 << 20), row("mine", "rung", 9.0, n=1 << 20))
        self.assertIn("n = 2^20:", lines)
        self.assertNotIn("(n =", "\n".join(lines))

    def test_the_headlines_table_is_open_and_all_others_are_folded(self):
        rungs = [row("CPU reference", "reference", changed="the sum", group=1), row("mine", "rung", 9.0, group=1)]
        other = [row("CPU reference", "reference", changed="the sum", group=2, n=64), row("mine", "rung", 9.0, group=2, n=64)]
        headline = {"group": {"reference": "the sum", "n": 1000}, "rung": "mine"}
        text = "\n".join(self.lines(*rungs, *other, headline=headline))
        self.assertEqual(text.count("<details>"), text.count("</details>"))
        self.assertIn("<details><summary>n = 64: mine (the sum)</summary>\n\n| rung |", text)
        self.assertIn("\nn = 1,000:\n\n| rung |", text[: text.index("<details><summary>n = 64")])
        self.assertNotIn("<details>", "\n".join(self.lines(*rungs, *other)))

    def test_a_warm_cache_and_operations_are_shown(self):
        rung = row("mine", "rung", 9.0, l2="warm", per_ns=1.234)
        self.assertTrue(any("| per ns |" in line for line in self.lines(rung)))
        self.assertIn("a \\| b; L2 warm", self.line("mine", rung))
        self.assertIn("| 1.23 |", self.line("mine", rung))

    def test_a_column_of_errors_is_explained_where_there_is_one(self):
        exact, rounded = row("mine", "rung", 9.0), row("mine", "rung", 9.0, error=0.25)
        self.assertIn("| error |", "\n".join(self.lines(rounded)))
        self.assertTrue(any(line.startswith("- **error**:") for line in self.lines(rounded)))
        self.assertNotIn("error", "\n".join(self.lines(exact)))
        self.assertFalse(any(line.startswith("- **error**:") for line in self.lines(row("mine", "rung", 9.0, max_error=0.25, mean_error=0.1))))

    def test_a_long_word_may_break_at_its_parenthesis(self):
        self.assertIn("| add(<wbr>__nv_bfloat162*) |", self.line("mine", row("mine", "rung", 9.0, changed="add(__nv_bfloat162*)")))
        self.assertIn("| add(__half2*) |", self.line("mine", row("mine", "rung", 9.0, changed="add(__half2*)")))

    def test_curves_become_a_table_below_their_plot(self):
        rows = [row("curve ref", "reference", changed="Atomics & addresses")]
        for x, rate in ((1, 0.5), (1024, 20.0)):
            rows.append(row(f"f{x}", "rung", 9.0, series="float", x=x, per_ns=rate))
        rows.append(row("i1", "rung", 9.0, series="int", x=1, per_ns=30.0))
        text = "\n".join(self.lines(*rows))
        self.assertIn("![Atomics & addresses](results/gpu-x-curve-ref.svg)", text)
        self.assertIn("| 1 | 0.5 | 30 |\n| 2^10 | 20 | – |", text)


if __name__ == "__main__":
    unittest.main()
