"""The rows of PyTorch, timed here on a stand-in for it."""

import json
import os
import subprocess
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

from tools.lib.checkout import TOP
from tools.measure.torch_timing import index_add_row
from tools.tests.in_folder import InFolder

READS = ("common/dev",)

ROWS = """
def rows(torch, group, inputs):
    yield {"name": "torch.dot", "changed": "PyTorch", "launch": lambda: inputs["a"].total(), "result": float,
           "bytes": 6000, "errors": lambda out: (out, out / 2)}
"""

TORCH = """
import math, types
__version__ = "9.9"
float16, uint8 = "float16", "uint8"
class Tensor:
    def __init__(self, data): self.data = data
    def reshape(self, shape): assert math.prod(shape) == len(self.data) // 2; return self
    def cuda(self): return self
    def fill_(self, value): pass
    def total(self): return sum(self.data)
def from_file(path, size, dtype): return Tensor(open(path, "rb").read())
def empty(size, dtype, device): return Tensor(b"")
class Event:
    clock = 0
    def __init__(self, enable_timing): pass
    def record(self): Event.clock += 1; self.time = Event.clock
    def synchronize(self): pass
    def elapsed_time(self, other): return (other.time - self.time) / 1000
cuda = types.SimpleNamespace(is_available=lambda: {available}, Event=Event,
    get_device_properties=lambda device: types.SimpleNamespace(L2_cache_size=8))
"""

INPUTS = {
    "schema": 1,
    "groups": [{"group": 1, "n": 2, "expected": 11, "inputs": {"a": {"file": "1-a.bin", "type": "float16", "shape": [1, 2]}}}],
}
RESULTS = {"copy_gb_per_s": 12.0, "rungs": [{"name": name, "group": group} for name, group in (("x", 1), ("y", 1), ("z", 2))]}


class TorchRows(InFolder):
    def setUp(self):
        super().setUp()
        self.write("inputs.json", json.dumps(INPUTS))
        self.write("1-a.bin", bytes([1, 2, 3, 4]))
        self.results = self.write("results.json", json.dumps(RESULTS))
        self.write("torch_rows.py", ROWS)

    def run_it(self, torch):
        self.write("torch.py", torch)
        command = [sys.executable, str(TOP / "common/dev"), "measure", "torch", str(self.folder)]
        return subprocess.run([*command, "--inputs", str(self.folder), "--json", str(self.results)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(self.folder)})

    def test_adds_a_row_to_its_group(self):
        for _ in range(2):  # the second time instead of the first
            done = self.run_it(TORCH.format(available=True))
            self.assertEqual(done.returncode, 0, done.stderr)
        rungs = json.loads(self.results.read_text())["rungs"]
        self.assertEqual([rung["name"] for rung in rungs], ["x", "y", "torch.dot", "z"])
        row = rungs[2]
        self.assertEqual((row["kind"], row["n"], row["changed"]), ("vendor", 2, "PyTorch 9.9"))
        self.assertEqual((row["result"], row["error"], row["max_error"], row["mean_error"]), (10.0, 1.0, 10, 5.0))
        self.assertEqual(row["microseconds"], {"p10": 1.0, "median": 1.0, "p90": 1.0, "samples": 20})
        self.assertEqual((row["gb_per_s"], row["percent_of_copy"]), (6.0, 50.0))
        self.assertIn("torch.dot, n = 2: 1.0 us", done.stdout)

    def test_the_row_of_index_add(self):
        torch = mock.Mock()
        table = torch.zeros.return_value
        table.nbytes = 1000
        inputs = {"index": SimpleNamespace(nbytes=8), "expected": SimpleNamespace(shape=(4, 64))}
        source = SimpleNamespace(nbytes=256, dtype="float16", device="cuda")
        row = index_add_row(torch, inputs, source, 128)
        torch.zeros.assert_called_once_with((4, 64), dtype="float16", device="cuda")
        self.assertIs(row["launch"](), table.index_add_.return_value)
        table.index_add_.assert_called_once_with(0, inputs["index"], source)
        self.assertEqual((row["name"], row["reset"], row["bytes"], row["operations"]), ("torch.index_add_", table.zero_, 2264, 128))

    def test_says_what_is_missing_and_changes_nothing(self):
        for torch, says in (("raise ImportError", "not installed"), (TORCH.format(available=False), "no GPU")):
            done = self.run_it(torch)
            self.assertEqual(done.returncode, 77)
            self.assertIn(says, done.stdout)
            self.assertEqual(json.loads(self.results.read_text()), RESULTS)


if __name__ == "__main__":
    unittest.main()
