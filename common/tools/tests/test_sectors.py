"""The table of sectors: what the CPU device counted next to what ncu did."""

import copy
import os
import sys
import unittest
from tools.tests.test_ncu import HEADER, row
from unittest import mock

from tools.lib.failed import Failed
from tools.measure import sectors
from tools.tests.in_folder import InFolder

READS = ()

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
    "device": "CPU device", "n": 65536,
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


class Table(unittest.TestCase):
    def test_cells(self):
        self.assertEqual(sectors.cell([1024, 4096]), "1,024 × 4")
        self.assertEqual(sectors.cell([3, 16]), "3 × 5.33")
        self.assertEqual(sectors.cell([0, 0]), "0")
        self.assertEqual(sectors.cell([None, 7]), "–")
        self.assertEqual(sectors.cell(None), "–")

    def test_the_table(self):
        text = sectors.table(CPU, None)
        self.assertIn("not counted on a GPU yet", text)
        self.assertIn("| `one` | 2,048 × 4 | – | 2,048 × 4 | – | 0 | – |", text)
        text = sectors.table(CPU, GPU)
        self.assertIn("GPU X, Version 2025.3, 2026-01-02", text)
        self.assertIn("| `one` | 2,048 × 4 | 2,048 × 4 | 2,048 × 4 | 2,048 × 4 | 0 | 0 |", text)
        self.assertIn("| `tile` | 2,048 × 4 | 2,048 × 4 | 8 × 4 | 8 × 4 | 2,048 × 32 | – |", text)

    def test_counts_that_differ_are_bold(self):
        gpu = copy.deepcopy(GPU)
        gpu["rungs"][1]["shared loads"] = [512, 16384]
        self.assertIn("| 2,048 × 32 | **512 × 32** |", sectors.table(CPU, gpu))


class Counting(InFolder):
    def script(self, name, text):
        """A program that replaces another one."""
        file = self.write(name, f"#!{sys.executable}\nimport json, sys\narguments = sys.argv[1:]\n" + text)
        file.chmod(0o755)
        return str(file)

    def ladder(self, device="CPU device"):
        return self.script(
            "ladder",
            "counters = {key: 4 for key in ('global_loads', 'global_stores', 'shared_loads')}\n"
            "counters |= {key: 16 for key in ('global_load_sectors', 'global_store_sectors', 'shared_load_wavefronts')}\n"
            "rows = [{'kind': 'reference', 'name': 'r'}, {'kind': 'rung', 'name': 'a', 'n': 64, 'counters': counters}]\n"
            "assert arguments[:2] == ['--n', '64'], arguments\n"
            f"json.dump({{'chapter': '04', 'device': {device!r}, 'rungs': rows}}, open(arguments[3], 'w'))\n",
        )

    def test_the_cpu_device_counts(self):
        counted = sectors.counted(self.ladder(), 64)
        self.assertEqual(counted["rungs"], [{"name": "a", "n": 64, "loads": [4, 16], "stores": [4, 16], "shared loads": [4, 16]}])
        self.assertEqual((counted["schema"], counted["device"]), ("course.sectors", "CPU device"))
        with self.assertRaisesRegex(Failed, "counts nothing"):
            sectors.counted(self.ladder("GPU X"), 64)

    def test_a_gpu_counts(self):
        ladder = self.ladder()
        self.script("nvidia-smi", "print('GPU X')\n")
        ncu = self.script(
            "ncu",
            "if arguments == ['--version']: print('Copyright\\nVersion 7'); sys.exit()\n"
            f"assert arguments[-5:] == [{ladder!r}, '--only', 'a', '--n', '64'], arguments\n"
            "assert '--launch-count' in arguments and '--csv' in arguments, arguments\n"
            f"open(arguments[arguments.index('--log-file') + 1], 'w').write({CSV!r})\n",
        )
        with mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"}):
            results = sectors.profiled(ladder, {"n": 64, "rungs": [{"name": "a"}]}, ncu)
        self.assertEqual((results["device"], results["ncu"], results["n"]), ("GPU X", "Version 7", 64))
        self.assertEqual(results["rungs"][0]["loads"], [2048, 8192])
        self.assertEqual(results["rungs"][0]["stores"], [None, None])

    def test_a_ladder_that_fails_is_an_error(self):
        with self.assertRaisesRegex(Failed, "no such device"):
            sectors.counted(self.script("ladder", "print('no such device'); sys.exit(3)\n"))


if __name__ == "__main__":
    unittest.main()
