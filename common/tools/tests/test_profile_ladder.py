#!/usr/bin/env python3
"""Profiles of ladders: what is measured, and the page about it."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
PLAN = {
    "n": 64,
    "rungs": ["one", {"rung": "two", "kernel": "^second", "skip": 48}],
    "counters": [{"name": "loads", "metric": "loads"}, {"name": "sectors a load", "metric": "sectors", "per": "loads"}],
}
RESULTS = {
    "device": "GPU X", "ncu": "Version 2025.3 (build)", "date": "2026-01-02T03:04:05Z", "n": 64,
    "rungs": [
        {"name": "one", "kernel": "one(int)", "metrics": {"loads": 2048, "sectors": 8192}},
        {"name": "two", "kernel": "second(int)", "metrics": {"loads": 0, "sectors": None}},
    ],
}
TABLE = """GPU X, ncu 2025.3, n = 64, 2026-01-02:

| rung | loads | sectors a load |
|---|--:|--:|
| `one` | 2,048 | 4 |
| `two` | 0 | – |
"""


class Page(unittest.TestCase):
    """A course of one chapter, in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        (self.top / "common" / "tools").mkdir(parents=True)
        (self.top / "common" / "docs").mkdir()
        for name in ("measure/profile_ladder.py", "measure/ncu.py", "lib/markers.py"):
            copy = self.top / "common" / "tools" / name
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(TOOLS / name, copy)
        self.chapter = self.top / "chapters" / "01-x"
        (self.chapter / "results").mkdir(parents=True)
        self.page = self.top / "common" / "docs" / "profiling.md"
        self.page.write_text("before\n<!-- profile 01-x:begin -->\nold\n<!-- profile 01-x:end -->\nafter\n")
        self.write("profile.json", PLAN)
        self.write("results/profile_h200.json", RESULTS)

    def write(self, name, content):
        (self.chapter / name).write_text(json.dumps(content))

    def run_it(self, *arguments, code=0, path=None):
        done = subprocess.run(
            [sys.executable, str(self.top / "common" / "tools" / "measure/profile_ladder.py"), *map(str, arguments)],
            capture_output=True, text=True, env={"PATH": str(path)} if path else None,
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_the_table_and_the_command(self):
        self.assertIn("out of step", self.run_it("page", "--check", code=1))
        self.run_it("page")
        self.run_it("page", "--check")
        text = self.page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertIn(TABLE, text)
        self.assertIn("--kernel-name 'regex:^second' --launch-skip 48", text)
        self.assertIn("--metrics loads,\\\nsectors \\\n", text)
        self.assertIn("build/chapters/01-x/ladder --only two --n 64", text)

    def test_a_changed_number_is_out_of_step(self):
        self.run_it("page")
        self.page.write_text(self.page.read_text().replace("2,048", "2,049"))
        self.assertIn("profile_ladder.py page", self.run_it("page", "--check", code=1))

    def test_not_measured_yet(self):
        (self.chapter / "results" / "profile_h200.json").unlink()
        self.run_it("page")
        self.assertIn("Not measured yet.", self.page.read_text())

    def test_what_is_missing_is_named(self):
        self.write("results/profile_h200.json", {**RESULTS, "n": 7})
        self.assertIn("is of n = 7, profile.json asks for 64", self.run_it("page", code=1))
        self.write("results/profile_h200.json", {**RESULTS, "rungs": RESULTS["rungs"][:1]})
        self.assertIn("no rung two", self.run_it("page", code=1))
        (self.chapter / "profile.json").unlink()
        self.assertIn("profile.json is missing", self.run_it("page", code=1))
        self.write("profile.json", PLAN)
        self.write("results/profile_h200.json", RESULTS)
        self.page.write_text("no markers\n")
        self.assertIn("needs one line <!-- profile 01-x:begin -->", self.run_it("page", code=1))

    def test_measuring(self):
        folder = self.top / "bin"
        folder.mkdir()
        rows = ['"ID","Kernel Name","Metric Name","Metric Value"', '"0","k(int)","loads","5"', '"0","k(int)","sectors","20"']
        scripts = {
            "nvidia-smi": "print('GPU X')",
            "ncu": "if arguments == ['--version']: print('Version 7'); sys.exit()\n"
            "assert 'loads,sectors' in arguments, arguments\n"
            "assert ('--launch-skip' in arguments) == ('two' in arguments), arguments\n"
            "assert arguments[-5] == '/b/ladder' and arguments[-2:] == ['--n', '64'], arguments\n"
            f"open(arguments[arguments.index('--log-file') + 1], 'w').write({chr(10).join(rows)!r})",
        }
        for name, text in scripts.items():
            (folder / name).write_text(f"#!{sys.executable}\nimport sys\narguments = sys.argv[1:]\n{text}\n")
            (folder / name).chmod(0o755)
        shutil.rmtree(self.chapter / "results")
        self.run_it("measure", self.chapter, "/b/ladder", path=folder)
        results = json.loads((self.chapter / "results" / "profile_h200.json").read_text())
        self.assertEqual((results["device"], results["ncu"], results["n"]), ("GPU X", "Version 7", 64))
        self.assertEqual([rung["name"] for rung in results["rungs"]], ["one", "two"])
        self.assertEqual(results["rungs"][0]["metrics"], {"loads": 5, "sectors": 20})


if __name__ == "__main__":
    unittest.main()
