#!/usr/bin/env python3
"""The table at the end of gpu_check.sh: nothing that failed, or did not happen, passes as good."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "measure/gpu_summary.py"
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


def test(name, result="OK", output=""):
    return {"name": name, "result": result, "stdout": output}


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("steps.txt", "OK NVIDIA H200\nOK built in 60 s\n")
        self.write("01-x.json", "{}")
        self.log(
            "all",
            test("course:tools / course-pack"),
            test("01-x:lessons / 01-x-ladder"),
            test("01-x:solutions / sum-solution"),
            test("01-x:mistakes / sum-mistake-a"),
            test("01-x:mistakes / sum-mistake-b", "SKIP"),
            test("01-x:exercises / sum", "SKIP"),
        )
        for tool in SANITIZERS:
            self.log(
                tool,
                test("course:probe / finds-the-planted-error"),
                test("01-x:lessons / 01-x-ladder"),
                test("01-x:solutions / sum-solution"),
                test("01-x:lessons / 01-x-program", "SKIP", "skipped: a test in Python; ..."),
            )

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def log(self, name, *tests):
        self.write(f"testlog-{name}.json", "".join(json.dumps(entry) + "\n" for entry in tests))

    def summary(self):
        done = subprocess.run([sys.executable, str(TOOL), str(self.folder)], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, (self.folder / "summary.md").read_text())
        return done.returncode, done.stdout

    def assert_bad(self, text):
        code, summary = self.summary()
        self.assertEqual(code, 1)
        self.assertIn("**BAD**:\n", summary)
        self.assertIn(text, summary)

    def test_all_good(self):
        code, text = self.summary()
        self.assertEqual(code, 0)
        self.assertIn(
            "| 01-x | 2 passed | 1 rejected, 1 skipped | clean, 2 | clean, 2 | clean, 2 | clean, 2 | 3 runs |", text
        )
        self.assertIn("- NVIDIA H200\n- built in 60 s\n- tests of the headers and the tools: 1 passed\n", text)
        self.assertNotIn("BAD", text)

    def test_a_step_failed(self):
        self.write("steps.txt", "BAD the build failed\n")
        self.assert_bad("- the build failed")

    def test_a_test_failed(self):
        self.log("all", test("01-x:lessons / 01-x-selfcheck", "FAIL", "one\nat x.cu:7\n"))
        self.assert_bad("- 01-x-selfcheck: FAIL: at x.cu:7")
        self.log("all", test("01-x:mistakes / sum-mistake-a", "TIMEOUT"))
        self.assert_bad("- sum-mistake-a: TIMEOUT")

    def test_a_sanitizer_found_something(self):
        found = [test("course:probe / finds-the-planted-error"), test("01-x:solutions / sum-solution", "FAIL", "1 reported")]
        self.log("racecheck", *found)
        self.assert_bad("| clean, 2 | **BAD** 1 of 1 |")
        self.assert_bad("- racecheck, sum-solution: FAIL: 1 reported")

    def test_a_skipped_program_is_not_clean(self):
        self.log("memcheck", test("course:probe / p"), test("01-x:solutions / sum-solution", "SKIP", "no device"))
        self.assert_bad("- memcheck, sum-solution: SKIP: no device")

    def test_a_sanitizer_looked_at_nothing(self):
        self.log("memcheck", test("course:probe / finds-the-planted-error"))
        self.assert_bad("memcheck: looked at no program of 01-x")

    def test_a_sanitizer_that_overlooks_the_planted_error_is_not_believed(self):
        for probe in ([test("course:probe / p", "FAIL")], [test("course:probe / p", "SKIP")], []):
            self.log("synccheck", *probe, test("01-x:solutions / sum-solution"))
            self.assert_bad("synccheck: has not found the error planted")

    def test_a_log_is_missing(self):
        (self.folder / "testlog-initcheck.json").unlink()
        self.assert_bad("testlog-initcheck.json is missing")

    def test_a_ladder_has_no_results(self):
        (self.folder / "01-x.json").unlink()
        self.assert_bad("01-x.json is missing")

    def test_nothing_ran(self):
        self.log("all")
        self.assert_bad("no chapter was tested")


if __name__ == "__main__":
    unittest.main()
