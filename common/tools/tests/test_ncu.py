"""What ncu prints is read right, and what it refuses is said."""

import sys
import tempfile
import unittest
from pathlib import Path

from tools.lib.failed import Failed
from tools.measure import ncu

READS = ()

HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    '"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)


def row(identity, kernel, metric, value):
    return (
        f'"{identity}","77","ladder","127.0.0.1","{kernel}","1","7","(256, 1, 1)","(256, 1, 1)","0","9.0",'
        f'"Command line profiler metrics","{metric}","","{value}"'
    )


CSV = "\n".join([
    "==PROF== Connected to process 77 (/build/ladder)",
    '==PROF== Profiling "copy_one" - 0: 0%....50%....100% - 1 pass',
    "==PROF== Disconnected from process 77",
    HEADER,
    row(0, "copy_one(const float *, unsigned long, float *)", "loads.sum", "2,048"),
    row(0, "copy_one(const float *, unsigned long, float *)", "dram.pct", "47.25"),
    row(0, "copy_one(const float *, unsigned long, float *)", "no_such.sum", "n/a"),
    row(1, "another(int)", "loads.sum", "1"),
    "",
])


class Ncu(unittest.TestCase):
    def stand_in(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / "ncu"
        file.write_text(f"#!{sys.executable}\nimport sys\narguments = sys.argv[1:]\n{text}")
        file.chmod(0o755)
        return str(file)

    def test_the_first_kernel_counts(self):
        kernel, metrics = ncu.parse(CSV)
        self.assertEqual(kernel, "copy_one(const float *, unsigned long, float *)")
        self.assertEqual(metrics, {"loads.sum": 2048, "dram.pct": 47.25, "no_such.sum": None})
        self.assertIsInstance(metrics["loads.sum"], int)

    def test_no_kernel_is_an_error_that_quotes_ncu(self):
        said = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU counters"
        with self.assertRaisesRegex(Failed, "ERR_NVGPUCTRPERM"):
            ncu.parse("==PROF== Connected\n" + said)
        with self.assertRaisesRegex(Failed, "empty"):
            ncu.parse(HEADER)

    def test_the_command(self):
        tool = self.stand_in(
            "expected = ['--clock-control', 'none', '--kernel-name', 'regex:^copy', '--launch-skip', '48',\n"
            "            '--launch-count', '1', '--metrics', 'a,b', '--csv', '--print-units', 'base', '--log-file']\n"
            "assert arguments[:-4] == expected and arguments[-3:] == ['ladder', '--n', '7'], arguments\n"
            f"open(arguments[-4], 'w').write({CSV!r})\n"
        )
        self.assertEqual(ncu.profile(["ladder", "--n", "7"], ["a", "b"], "^copy", 48, tool)[1]["loads.sum"], 2048)

    def test_a_program_that_fails_is_an_error(self):
        with self.assertRaisesRegex(Failed, "exit code 3\nno such rung"):
            ncu.profile(["ladder"], ["a"], ncu=self.stand_in("print('no such rung'); sys.exit(3)"))
        with self.assertRaisesRegex(Failed, "No such file"):
            ncu.profile(["ladder"], ["a"], ncu="/nowhere/ncu")


if __name__ == "__main__":
    unittest.main()
