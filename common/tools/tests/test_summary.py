"""The table at the end of a run on a GPU: nothing that failed, or did not happen, passes as good."""

import json
import unittest

from tools.measure import summary
from tools.measure.sanitize import NO_CHECK, NO_PROGRAM
from tools.tests.in_folder import InFolder

READS = ()

SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


def test(name, result="OK", output=""):
    return {"name": name, "result": result, "stdout": output}


class Summary(InFolder):
    def setUp(self):
        super().setUp()
        self.results = {
            "parts": ["tests", "sanitizers", "ladders", "profile"], "ladders": {"01-x": {}}, "profiles": {},
            "steps": [{"state": "OK", "text": "GPU X"}, {"state": "OK", "text": "built"}],
        }  # fmt: skip
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
                test("01-x:lessons / 01-x-program", "SKIP", NO_PROGRAM),
                test("01-x:lessons / 01-x-counts", "SKIP", f"memcheck: {NO_CHECK}"),
            )

    def log(self, name, *tests):
        self.write(f"testlog-{name}.json", "".join(json.dumps(entry) + "\n" for entry in tests))

    def summary(self):
        """The problems, and the text."""
        made = summary.Summary(self.folder, self.results)
        text = made.markdown()
        return made.problems, text

    def assert_bad(self, text):
        problems, summary = self.summary()
        self.assertTrue(problems)
        self.assertIn("**BAD**:\n", summary)
        self.assertIn(text, summary)

    def test_all_good(self):
        problems, text = self.summary()
        self.assertEqual(problems, [])
        self.assertIn(
            "| 01-x | 2 passed | 1 rejected, 1 skipped | clean, 2 | clean, 2 | clean, 2 | clean, 2 | 3 runs | no |", text
        )
        self.assertIn("- GPU X\n- built\n- tests of the headers and the tools: 1 passed\n", text)
        self.assertNotIn("BAD", text)

    def test_a_step_failed(self):
        self.results["steps"].append({"state": "BAD", "text": "the build failed"})
        self.assert_bad("- BAD: the build failed")
        self.assert_bad("**BAD**:\n\n- the build failed")

    def test_a_part_that_was_not_run_to_its_end(self):
        self.results["steps"].append({"state": "NOT RUN", "text": "no time was left in ladders"})
        self.assert_bad("- NOT RUN: no time was left in ladders")

    def test_parts_that_were_not_asked_for_are_no_problem(self):
        self.results["parts"] = ["ladders"]
        for file in self.folder.glob("testlog-*.json"):
            file.unlink()
        problems, text = self.summary()
        self.assertEqual(problems, [])
        self.assertIn("| 01-x | not run | not run | not run | not run | not run | not run | 3 runs | no |", text)

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
        self.results["ladders"] = {}
        self.assert_bad("01-x: its ladder has no results")

    def test_nothing_ran(self):
        for name in ("all", *SANITIZERS):
            self.log(name)
        self.results["ladders"] = {}
        self.assert_bad("no chapter was looked at")


if __name__ == "__main__":
    unittest.main()
