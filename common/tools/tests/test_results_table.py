#!/usr/bin/env python3
"""The table of results in a chapter's README."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "measure/results_table.py"


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
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.chapter = Path(self.folder.name)
        (self.chapter / "results").mkdir()
        self.write(RESULTS)
        self.readme = self.chapter / "README.md"
        self.readme.write_text("before\n<!-- results:begin -->\nold\n<!-- results:end -->\nafter\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, results):
        (self.chapter / "results" / "h200.json").write_text(json.dumps(results))

    def run_it(self, *arguments):
        done = subprocess.run(
            [sys.executable, str(TOOL), str(self.chapter), *arguments], capture_output=True, text=True
        )
        return done.returncode

    def test_errors_have_columns_where_a_rung_is_not_exact(self):
        self.run_it()
        self.assertNotIn("max error", self.readme.read_text())
        rungs = [dict(rung) for rung in RESULTS["rungs"]]
        rungs[2] |= {"max_error": 0.125, "mean_error": 0.03125}
        rungs[3] |= {"error": 7.0}
        self.write({**RESULTS, "rungs": rungs})
        self.run_it()
        lines = self.readme.read_text().splitlines()
        self.assertIn("| max error | mean error |", next(line for line in lines if line.startswith("| rung")))
        self.assertIn("| 0.12 | 0.031 |", next(line for line in lines if "`slow`" in line))
        self.assertIn("| 7 | 7 |", next(line for line in lines if "`fast`" in line))

    def test_ratios_are_to_the_fastest_vendor(self):
        self.write({**RESULTS, "rungs": [*RESULTS["rungs"][:5], row("better", "vendor", 25.0)]})
        self.run_it()
        slow = next(line for line in self.readme.read_text().splitlines() if "`slow`" in line)
        self.assertTrue(slow.endswith("| 0.25x |"), slow)

    def test_check_tells_a_table_that_is_out_of_step(self):
        self.assertEqual(self.run_it("--check"), 1)
        self.assertEqual(self.run_it(), 0)
        self.assertEqual(self.run_it("--check"), 0)
        changed = json.loads(json.dumps(RESULTS))
        changed["rungs"][2]["microseconds"]["median"] = 101.0
        self.write(changed)
        self.assertEqual(self.run_it("--check"), 1)

    def test_what_stands_in_it(self):
        self.run_it()
        text = self.readme.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertIn("GPU X, CUDA 13.0, n = 1,000 elements, measured 2026-01-02", text)
        self.assertIn("| `slow` | a \\| b | 5 | 100.0 | 99.0 – 101.0 | – | 12.3 | 0.5 | – | 0.5x |", text)
        self.assertIn("| `fast` | a \\| b (n = 2,000) | 5 | 25.0 | 24.0 – 26.0 | – | 12.3 | 0.5 | 4x | 2x |", text)
        self.assertIn("| `racy` | a \\| b; **wrong on purpose** | 3 | – |", text)
        self.assertEqual(text.count("| rung | what changed |"), 2)

    def results_with(self, *rows):
        self.write({**RESULTS, "rungs": list(rows)})
        self.assertEqual(self.run_it(), 0)
        return self.readme.read_text()

    def test_a_difference_within_the_spread_is_a_tie(self):
        mine, vendor = row("mine", "rung", 100.0), row("cub", "vendor", 102.0)
        mine["microseconds"]["runs"], vendor["microseconds"]["runs"] = [100.0, 100.5], [101.0, 103.1]
        self.assertIn("| 0.5 % | 12.3 | 0.5 | – | tie (1.02x) |", self.results_with(mine, vendor))
        vendor["microseconds"]["runs"] = [101.9, 102.1]
        self.assertIn("| – | 1.02x |", self.results_with(mine, vendor))

    def test_a_group_with_another_size_says_so(self):
        text = self.results_with(row("CPU reference", "reference", n=1 << 20), row("mine", "rung", 9.0, n=1 << 20))
        self.assertIn("\nn = 2^20:\n\n| rung |", text)
        self.assertNotIn("(n =", text)

    def test_the_headlines_table_is_open_and_all_others_are_folded(self):
        rungs = [row("CPU reference", "reference", changed="the sum", group=1), row("mine", "rung", 9.0, group=1)]
        other = [row("CPU reference", "reference", changed="the sum", group=2, n=64), row("mine", "rung", 9.0, group=2, n=64)]
        declared = {"group": {"reference": "the sum", "n": 1000}, "rung": "mine"}
        (self.chapter / "headline.json").write_text(json.dumps(declared))
        text = self.results_with(*rungs, *other)
        self.assertEqual(text.count("<details>"), text.count("</details>"))
        self.assertIn("<details><summary>n = 64: mine (the sum)</summary>\n\n| rung |", text)
        open_part = text[: text.index("<details><summary>n = 64")]
        self.assertIn("\nn = 1,000:\n\n| rung |", open_part)
        (self.chapter / "headline.json").unlink()
        self.assertNotIn("<details>", self.results_with(*rungs, *other))

    def test_a_warm_cache_and_operations_are_shown(self):
        text = self.results_with(row("mine", "rung", 9.0, l2="warm", per_ns=1.234))
        self.assertIn("| per ns |", text)
        self.assertIn("a \\| b; L2 warm", text)
        self.assertIn("| 1.23 |", text)

    def test_curves_become_a_table_below_their_plot(self):
        rows = [row("curve ref", "reference", changed="Atomics & addresses")]
        for x, rate in ((1, 0.5), (1024, 20.0)):
            rows.append(row(f"f{x}", "rung", 9.0, series="float", x=x, per_ns=rate))
        rows.append(row("i1", "rung", 9.0, series="int", x=1, per_ns=30.0))
        text = self.results_with(*rows)
        self.assertIn("![Atomics & addresses](results/h200-curve-ref.svg)", text)
        self.assertIn("| 1 | 0.5 | 30 |\n| 2^10 | 20 | – |", text)
        self.assertEqual(self.run_it("--check"), 0)

    def test_missing_results_or_markers_fail(self):
        (self.chapter / "results" / "h200.json").unlink()
        self.assertEqual(self.run_it("--check"), 1)
        self.readme.write_text("no markers\n")
        self.assertEqual(self.run_it("--check"), 1)


if __name__ == "__main__":
    unittest.main()
