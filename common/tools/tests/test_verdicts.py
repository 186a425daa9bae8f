#!/usr/bin/env python3
"""The page of verdicts: what a log says is kept, and what differs or failed is never passed over."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
REJECTED = "rejected by 'b: x adds up': DATA RACE in kernel x on y[0]\n"


def test(name, output="", result="OK"):
    return {"name": name, "result": result, "stdout": output}


LOG = [
    test("01-x:lessons / 01-x-selfcheck", "skipped: sectors: a GPU counts nothing\nall 5 checks passed\n"),
    test("01-x:solutions / x-solution", "all 3 checks passed under 4 schedules\n"),
    test("01-x:mistakes / x-mistake-a_b", REJECTED),
    test("01-x:mistakes / x-mistake-c", "rejected by 'c: x': x: expected 1, found 2\n"),
    test("01-x:exercises / x", "Not started.\n", "SKIP"),
    test("course:tools / tools-setup"),
]


class Verdicts(unittest.TestCase):
    """A course of one chapter, in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        (self.top / "common" / "tools").mkdir(parents=True)
        for name in ("maintain/verdicts.py", "lib/testlog.py"):
            copy = self.top / "common" / "tools" / name
            copy.parent.mkdir()
            shutil.copy(TOOLS / name, copy)
        (self.top / "chapters" / "01-x").mkdir(parents=True)
        self.results = self.top / "chapters" / "01-x" / "results"
        self.page = self.top / "common" / "docs" / "verdicts.md"

    def run_it(self, *arguments, code=0):
        done = subprocess.run(
            [sys.executable, str(self.top / "common" / "tools" / "maintain/verdicts.py"), *map(str, arguments)],
            capture_output=True, text=True,
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def record(self, tests, *options, where="cpu", code=0):
        log = self.top / "testlog.json"
        log.write_text("".join(json.dumps(entry) + "\n" for entry in tests))
        return self.run_it("record", where, log, *options, code=code)

    def changed(self, name, **change):
        return [{**entry, **change} if entry["name"].endswith(name) else entry for entry in LOG]

    def test_what_is_kept(self):
        self.record(LOG)
        kept = json.loads((self.results / "verdicts_cpu.json").read_text())
        self.assertEqual(sorted(kept), ["01-x-selfcheck", "x-mistake-a_b", "x-mistake-c", "x-solution"])
        self.assertEqual(kept["01-x-selfcheck"], {"suite": "lessons", "verdict": "passed", "text": "5 checks, 1 skipped"})
        self.assertEqual(kept["x-solution"]["text"], "3 checks")
        self.assertEqual(kept["x-mistake-a_b"]["text"], "DATA RACE in kernel x on y[0]")

    def test_names_as_newer_mesons_write_them(self):
        newer = [test("mistakes - 01-x:x-mistake-a_b", REJECTED)]
        self.record(newer)
        self.assertEqual(list(json.loads((self.results / "verdicts_cpu.json").read_text())), ["x-mistake-a_b"])

    def test_the_check(self):
        self.record(LOG)
        self.record(LOG, "--check")
        other_number = self.changed("mistake-c", stdout="rejected by 'c: x': x: expected 1, found 3\n")
        self.record(other_number, "--check")
        other_kind = self.changed("mistake-c", stdout=REJECTED)
        self.assertIn("x-mistake-c: recorded rejected, and now rejected by DATA RACE", self.record(other_kind, "--check", code=1))
        skipped = self.changed("mistake-c", stdout="Skipped on a GPU: luck\n", result="SKIP")
        self.assertIn("recorded rejected, and now skipped", self.record(skipped, "--check", code=1))
        self.assertIn("x-mistake-c: recorded rejected, and now not at all", self.record(LOG[:3], "--check", code=1))
        self.assertIn("x-mistake-d: recorded not at all", self.record([*LOG, test("01-x:mistakes / x-mistake-d", REJECTED)], "--check", code=1))

    def test_a_run_in_which_something_failed_is_not_recorded(self):
        self.assertIn("x-mistake-c: FAIL: not rejected", self.record(self.changed("mistake-c", stdout="not rejected: 3\n", result="FAIL"), code=1))
        self.assertIn("x-mistake-c: passed, but has no line", self.record(self.changed("mistake-c", stdout=""), code=1))
        self.assertIn("no test of a chapter", self.record(LOG[-1:], code=1))
        self.assertFalse(self.results.exists())
        (self.top / "testlog.json").write_text("no log\n")
        self.assertIn("testlog.json:1", self.run_it("record", "cpu", self.top / "testlog.json", code=1))

    def test_the_page(self):
        self.record(LOG)
        self.record(self.changed("mistake-c", stdout="Skipped on a GPU: luck\n", result="SKIP"), where="h200")
        self.assertIn("out of step", self.run_it("page", "--check", code=1))
        self.run_it("page")
        self.run_it("page", "--check")
        text = self.page.read_text()
        self.assertIn("| known-wrong answers that both reject | 1 |", text)
        self.assertIn("| that the CPU device rejects, and a GPU may let through: not run there | 1 |", text)
        self.assertIn("| that neither rejects | 0 |", text)
        self.assertIn("| lessons and solutions that pass on the CPU device | 2 |", text)
        self.assertIn("| `x`: a b | **rejected**: DATA RACE in kernel x on y[0] | **rejected**: DATA RACE", text)
        self.assertIn("| `x`: c | **rejected**: x: expected 1, found 2 | skipped: luck |", text)
        self.assertLess(text.index("selfcheck"), text.index("x-solution"))
        self.page.write_text(text.replace("found 2", "found 7"))
        self.assertIn("verdicts.py page", self.run_it("page", "--check", code=1))

    def test_what_was_not_run_says_so(self):
        self.record(LOG)
        self.run_it("page")
        self.assertIn("| **rejected**: x: expected 1, found 2 | not run yet |", self.page.read_text())


if __name__ == "__main__":
    unittest.main()
