#!/usr/bin/env python3
"""The table of sectors: what the CPU device counted next to what ncu did."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "measure/sectors_table.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOL.parents[2]))
from tools.measure import sectors_table  # noqa: E402
from test_ncu import HEADER, row  # noqa: E402

LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
CSV = "\n".join([
    "==PROF== Connected to process 77 (/build/ladder)",
    '==PROF== Profiling "copy_one" - 0: 0%....50%....100% - 1 pass',
    "==PROF== Disconnected from process 77",
    HEADER,
    row(0, "copy_one(const float *, unsigned long, float *)", LOADS, "2,048"),
    row(0, "copy_one(const float *, unsigned long, float *)", LOAD_SECTORS, "8,192"),
    row(0, "copy_one(const float *, unsigned long, float *)", "smsp__inst_executed_op_shared_ld.sum", "n/a"),
    row(1, "another(int)", LOADS, "1"),
    "",
])

CPU = {
    "chapter": "04", "n": 65536,
    "rungs": [
        {"name": "one", "n": 65536, "loads": [2048, 8192], "stores": [2048, 8192], "shared loads": [0, 0]},
        {"name": "tile", "n": 65536, "loads": [2048, 8192], "stores": [8, 32], "shared loads": [2048, 65536]},
    ],
}
GPU = {
    "device": "GPU X", "ncu": "Version 2025.3", "date": "2026-01-02T03:04:05Z", "n": 65536,
    "rungs": [
        {"name": "one", "kernel": "one()", "loads": [2048, 8192], "stores": [2048, 8190], "shared loads": [0, 0]},
        {"name": "tile", "kernel": "tile()", "loads": [2048, 8192], "stores": [8, 32], "shared loads": [None, 5]},
    ],
}


class Cells(unittest.TestCase):
    def test_cells(self):
        self.assertEqual(sectors_table.cell([1024, 4096]), "1,024 × 4")
        self.assertEqual(sectors_table.cell([3, 16]), "3 × 5.33")
        self.assertEqual(sectors_table.cell([0, 0]), "0")
        self.assertEqual(sectors_table.cell([None, 7]), "–")
        self.assertEqual(sectors_table.cell(None), "–")


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.chapter = Path(self.folder.name) / "04"
        (self.chapter / "results").mkdir(parents=True)
        self.cpu = self.chapter / "results" / "sectors_cpu.json"
        self.gpu = self.chapter / "results" / "ncu_h200.json"
        self.readme = self.chapter / "README.md"
        self.readme.write_text("before\n<!-- sectors:begin -->\nold\n<!-- sectors:end -->\nafter\n")

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *arguments, path=None):
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
        return subprocess.run(
            [sys.executable, str(TOOL), str(self.chapter), *arguments], capture_output=True, text=True, env=environment
        )

    def script(self, name, text):
        """A program that stands in for another one."""
        file = Path(self.folder.name) / name
        file.write_text(f"#!{sys.executable}\nimport json, sys\narguments = sys.argv[1:]\n" + text)
        file.chmod(0o755)
        return str(file)

    def test_the_table(self):
        self.cpu.write_text(json.dumps(CPU))
        self.assertEqual(self.run_it().returncode, 0)
        text = self.readme.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertIn("not counted on a GPU yet", text)
        self.assertIn("| `one` | 2,048 × 4 | – | 2,048 × 4 | – | 0 | – |", text)
        self.gpu.write_text(json.dumps(GPU))
        self.assertEqual(self.run_it("--check").returncode, 1)
        self.assertEqual(self.run_it().returncode, 0)
        self.assertEqual(self.run_it("--check").returncode, 0)
        text = self.readme.read_text()
        self.assertIn("GPU X, Version 2025.3, 2026-01-02", text)
        self.assertIn("| `one` | 2,048 × 4 | 2,048 × 4 | 2,048 × 4 | 2,048 × 4 | 0 | 0 |", text)
        self.assertIn("| `tile` | 2,048 × 4 | 2,048 × 4 | 8 × 4 | 8 × 4 | 2,048 × 32 | – |", text)

    def test_counts_that_differ_are_bold(self):
        gpu = json.loads(json.dumps(GPU))
        gpu["rungs"][1]["shared loads"] = [512, 16384]
        text = sectors_table.table(CPU, gpu)
        self.assertIn("| 2,048 × 32 | **512 × 32** |", text)

    def test_what_is_missing_is_named(self):
        self.assertIn("--count writes it", self.run_it().stderr)
        self.cpu.write_text(json.dumps(CPU))
        self.gpu.write_text(json.dumps({**GPU, "n": 7}))
        self.assertIn("n is 7", self.run_it("--check").stderr)
        self.gpu.unlink()
        self.readme.write_text("no markers\n")
        self.assertIn("needs one line", self.run_it().stderr)

    def test_counting_and_profiling(self):
        ladder = self.script(
            "ladder",
            "counters = {key: 4 for key in ('global_loads', 'global_stores', 'shared_loads')}\n"
            "counters |= {key: 16 for key in ('global_load_sectors', 'global_store_sectors', 'shared_load_wavefronts')}\n"
            "rows = [{'kind': 'reference', 'name': 'r'}, {'kind': 'rung', 'name': 'a', 'n': 64, 'counters': counters}]\n"
            "assert arguments[:2] == ['--n', '64'], arguments\n"
            "json.dump({'chapter': '04', 'rungs': rows}, open(arguments[3], 'w'))\n",
        )
        self.assertEqual(self.run_it("--count", ladder, "--n", "64").stderr, "")
        rungs = json.loads(self.cpu.read_text())["rungs"]
        self.assertEqual(rungs, [{"name": "a", "n": 64, "loads": [4, 16], "stores": [4, 16], "shared loads": [4, 16]}])

        self.script("nvidia-smi", "print('GPU X')\n")
        ncu = self.script(
            "ncu",
            "if arguments == ['--version']: print('Copyright\\nVersion 7'); sys.exit()\n"
            f"assert arguments[-5:] == [{ladder!r}, '--only', 'a', '--n', '64'], arguments\n"
            "assert '--launch-count' in arguments and '--csv' in arguments, arguments\n"
            f"open(arguments[arguments.index('--log-file') + 1], 'w').write({CSV!r})\n",
        )
        done = self.run_it("--profile", ladder, "--ncu", ncu, path=self.folder.name)
        self.assertEqual(done.stderr, "")
        results = json.loads(self.gpu.read_text())
        self.assertEqual((results["device"], results["ncu"], results["n"]), ("GPU X", "Version 7", 64))
        self.assertEqual(results["rungs"][0]["loads"], [2048, 8192])
        self.assertEqual(results["rungs"][0]["stores"], [None, None])

    def test_a_ladder_that_fails_is_an_error(self):
        ladder = self.script("ladder", "print('no such device'); sys.exit(3)\n")
        done = self.run_it("--count", ladder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such device", done.stderr)


if __name__ == "__main__":
    unittest.main()
