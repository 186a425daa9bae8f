"""Profiles of ladders: what is measured, and the table of it."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools.lib.failed import Failed
from tools.measure import ladder_profile

READS = ()

PLAN = {
    "n": 64,
    "rungs": ["one", {"rung": "two", "kernel": "^second", "skip": 48}],
    "counters": [{"name": "loads", "metric": "loads"}, {"name": "sectors per load", "metric": "sectors", "per": "loads"}],
}
RESULTS = {
    "device": "GPU X", "ncu": "Version 2025.3 (build)", "date": "2026-01-02T03:04:05Z", "n": 64,
    "rungs": [
        {"name": "one", "kernel": "one(int)", "metrics": {"loads": 2048, "sectors": 8192}},
        {"name": "two", "kernel": "second(int)", "metrics": {"loads": 0, "sectors": None}},
    ],
}
TABLE = """GPU X, ncu 2025.3, n = 64, 2026-01-02:

| rung | loads | sectors per load |
|---|--:|--:|
| `one` | 2,048 | 4 |
| `two` | 0 | – |
"""


class Profile(unittest.TestCase):
    def test_the_table_and_the_command(self):
        text = ladder_profile.section("01-x", PLAN, RESULTS) + "\n"
        self.assertTrue(text.endswith(TABLE), text)
        self.assertIn("--kernel-name 'regex:^second' --launch-skip 48", text)
        self.assertIn("--metrics \\\nloads,\\\nsectors \\\n", text)
        self.assertIn("build/chapters/01-x/ladder --only two --n 64", text)

    def test_a_rung_may_have_rows_of_another_n(self):
        plan = {**PLAN, "rungs": [{"rung": "one", "rows_n": 16}, PLAN["rungs"][1]]}
        self.assertIn("| `one`, n = 16 | 2,048 | 4 |\n| `two` | 0 |", ladder_profile.section("01-x", plan, RESULTS))

    def test_not_measured_yet(self):
        self.assertIn("Not measured yet.", ladder_profile.section("01-x", PLAN, None))

    def test_what_does_not_fit_is_named(self):
        with self.assertRaisesRegex(Failed, "is of n = 7, chapter.toml asks for 64"):
            ladder_profile.section("01-x", PLAN, {**RESULTS, "n": 7})
        with self.assertRaisesRegex(Failed, "no rung two"):
            ladder_profile.section("01-x", PLAN, {**RESULTS, "rungs": RESULTS["rungs"][:1]})

    def test_measuring(self):
        rows = ['"ID","Kernel Name","Metric Name","Metric Value"', '"0","k(int)","loads","5"', '"0","k(int)","sectors","20"']
        scripts = {
            "nvidia-smi": "print('GPU X')",
            "ncu": "if arguments == ['--version']: print('Version 7'); sys.exit()\n"
            "assert 'loads,sectors' in arguments, arguments\n"
            "assert ('--launch-skip' in arguments) == ('two' in arguments), arguments\n"
            "assert arguments[-5] == '/b/ladder' and arguments[-2:] == ['--n', '64'], arguments\n"
            f"open(arguments[arguments.index('--log-file') + 1], 'w').write({chr(10).join(rows)!r})",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in scripts.items():
                file = Path(folder) / name
                file.write_text(f"#!{sys.executable}\nimport sys\narguments = sys.argv[1:]\n{text}\n")
                file.chmod(0o755)
            with mock.patch.dict(os.environ, {"PATH": folder}):
                results = ladder_profile.measure(PLAN, "/b/ladder")
            with mock.patch.dict(os.environ, {"PATH": folder}), self.assertRaisesRegex(Failed, "^none: ncu profiled no kernel"):
                (Path(folder) / "ncu").write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[sys.argv.index('--log-file') + 1], 'w')\n")
                ladder_profile.measure({**PLAN, "rungs": ["none"]}, "/b/ladder")
        self.assertEqual((results["schema"], results["version"]), ("course.profile", 1))
        self.assertEqual((results["device"], results["ncu"], results["n"]), ("GPU X", "Version 7", 64))
        self.assertEqual([rung["name"] for rung in results["rungs"]], ["one", "two"])
        self.assertEqual(results["rungs"][0]["metrics"], {"loads": 5, "sectors": 20})


if __name__ == "__main__":
    unittest.main()
