#!/usr/bin/env python3
"""The table of results in a chapter's README."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "results_table.py"


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
        self.assertIn("| `slow` | a \\| b | 5 | 100.0 | 99.0 – 101.0 | 12.3 | 0.5 | – | 0.5x |", text)
        self.assertIn("| `fast` | a \\| b (n = 2,000) | 5 | 25.0 | 24.0 – 26.0 | 12.3 | 0.5 | 4x | 2x |", text)
        self.assertIn("| `racy` | a \\| b; **wrong on purpose** | 3 | – |", text)
        self.assertEqual(text.count("| rung | what changed |"), 2)

    def test_missing_results_or_markers_fail(self):
        (self.chapter / "results" / "h200.json").unlink()
        self.assertEqual(self.run_it("--check"), 1)
        self.readme.write_text("no markers\n")
        self.assertEqual(self.run_it("--check"), 1)


if __name__ == "__main__":
    unittest.main()
