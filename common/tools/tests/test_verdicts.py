"""Verdicts: what the results of tests say is kept, and what differs or failed is never passed over."""

import json
import unittest
from unittest import mock

from tools.lib import result
from tools.lib.failed import Failed
from tools.tests.sample_course import Course
from tools.tests.sample_results import sample
from tools.verdicts import messages, pages, record

READS = ()

RACE = {"test": "x sums", "text": "DATA RACE in kernel x on y[0]\n  read at x.cuh:7", "finding": {"kind": "data_race"}}
WRONG = {"test": "x", "text": "x: expected 1, found 2", "finding": None}


def passed(checks, skipped=0, **counts):
    counted = [{"name": name, "value": value} for name, value in counts.items()]
    return {"verdict": "passed", "checks": {"passed": checks, "skipped": skipped}, "failures": [], "skips": [], "counts": counted}


def rejected(failure):
    return {"verdict": "rejected", "checks": {"passed": 0, "skipped": 0}, "failures": [failure], "skips": []}


# {the name in Meson's log: (how Meson says that it ended, its result)}
TESTS = {
    "01-x:lessons / 01-x-ladder": ("OK", None),
    "01-x:lessons / 01-x-selfcheck": ("OK", passed(5, 1)),
    "01-x:solutions / x-solution": ("OK", passed(3)),
    "01-x:mistakes / x-mistake-a_b": ("OK", rejected(RACE)),
    "01-x:mistakes / x-mistake-c": ("OK", rejected(WRONG)),
    "01-x:exercises / x": ("SKIP", {"verdict": "not_started"}),
    "course:tools / tools-setup": ("OK", None),
}
SKIPPED = ("SKIP", {"verdict": "skipped", "reason": "luck", "failures": [], "skips": []})


class Verdicts(unittest.TestCase):
    """A course of one chapter, and the results of its tests."""

    def setUp(self):
        self.course = Course(self)
        self.results = self.course.chapter("01-x") / "results"
        self.build = self.course.top / "build"

    def record(self, changes=None, device="CPU device", check=False):
        """Records TESTS with changes: {name: None} leaves one out."""
        (self.build / "results").mkdir(parents=True, exist_ok=True)
        log = []
        for name, entry in {**TESTS, **(changes or {})}.items():
            file = self.build / "results" / f"{name.split()[-1].split(':')[-1]}.json"
            file.unlink(missing_ok=True)
            if entry is None:
                continue
            log.append(json.dumps({"name": name, "result": entry[0], "stdout": "the last line\n"}))
            if entry[1] is not None:
                file.write_text(json.dumps(sample(device=device, **entry[1])))
        (self.build / "testlog.json").write_text("\n".join(log) + "\n")
        record.record(self.course.top, self.build, [self.build / "testlog.json"], check)

    def kept(self, name="cpu-device-verdicts.json"):
        return json.loads((self.results / name).read_text())

    def assert_failed(self, words, *arguments, **more):
        with self.assertRaisesRegex(Failed, words):
            self.record(*arguments, **more)

    def test_what_is_kept(self):
        self.record()
        kept = self.kept()
        self.assertEqual((kept["schema"], kept["version"], kept["device"]), ("course.verdicts", 1, "CPU device"))
        tests = kept["tests"]
        self.assertEqual(sorted(tests), ["01-x-ladder", "01-x-selfcheck", "x-mistake-a_b", "x-mistake-c", "x-solution"])
        self.assertEqual(tests["01-x-ladder"], {"suite": "lessons", "verdict": "passed", "text": ""})
        self.assertEqual(tests["01-x-selfcheck"], {"suite": "lessons", "verdict": "passed", "text": "5 checks, 1 skipped"})
        self.assertEqual(tests["x-solution"]["text"], "3 checks")
        self.assertEqual(
            tests["x-mistake-a_b"],
            {"suite": "mistakes", "verdict": "rejected", "text": "DATA RACE in kernel x on y[0]", "finding": "data_race"},
        )
        self.assertEqual(tests["x-mistake-c"], {"suite": "mistakes", "verdict": "rejected", "text": "x: expected 1, found 2"})

    def test_what_a_gpu_has_not_run_is_no_slip(self):
        self.record({"01-x:mistakes / x-mistake-d": ("OK", rejected(RACE))})
        self.record({"01-x:mistakes / x-mistake-c": SKIPPED}, device="NVIDIA GPU X")
        tally = pages.tally(self.course.top)
        self.assertIn("a GPU may let through: not run there | 1 |", tally)
        self.assertIn("| that the CPU device rejects, and the GPU X has not run yet | 1 |", tally)

    def test_a_device_has_a_file_of_its_own(self):
        self.record(device="NVIDIA GPU X")
        self.assertEqual(self.kept("gpu-x-verdicts.json")["device"], "NVIDIA GPU X")

    def test_names_as_newer_mesons_write_them(self):
        self.record({**dict.fromkeys(TESTS), "mistakes - 01-x:x-mistake-a_b": ("OK", rejected(RACE))})
        self.assertEqual(list(self.kept()["tests"]), ["x-mistake-a_b"])

    def test_the_check(self):
        c = "01-x:mistakes / x-mistake-c"
        self.record()
        self.record(check=True)
        self.record({c: ("OK", rejected({**WRONG, "text": "x: expected 1, found 3"}))}, check=True)
        self.assert_failed("x-mistake-c: recorded rejected, and now rejected by data_race", {c: ("OK", rejected(RACE))}, check=True)
        self.assert_failed("recorded rejected, and now skipped", {c: SKIPPED}, check=True)
        self.assert_failed("x-mistake-c: recorded rejected, and now not at all", {c: None}, check=True)
        more = {"01-x:mistakes / x-mistake-d": ("OK", rejected(RACE))}
        self.assert_failed("x-mistake-d: recorded not at all", more, check=True)

    def test_the_counts_of_a_solution(self):
        self.course.chapter("01-x", exercises=["x"], compared=["barriers"])
        solution, counted, other = (f"01-x:{name}" for name in ("solutions / x-solution", "counted / x-solution-counted", "alternatives / x-alternative-e"))
        self.record({counted: ("OK", passed(3, barriers=100, launches=7)), other: ("OK", passed(3, barriers=9))})
        self.assertEqual(self.kept()["tests"]["x-solution"]["counts"], {"barriers": 100})
        self.assertNotIn("x-solution-counted", self.kept()["tests"])
        self.assertNotIn("counts", self.kept()["tests"]["x-alternative-e"])
        same = {other: ("OK", passed(3))}
        self.record({**same, counted: ("OK", passed(3, barriers=110))}, check=True)
        for counts in ({"barriers": 111}, {"barriers": 89}, {}):
            self.assert_failed("x-solution: recorded with {'barriers': 100}, and now with",
                               {**same, counted: ("OK", passed(3, **counts))}, check=True)
        content = self.kept()["content"]["x"]
        with mock.patch("tools.verdicts.due.content", lambda *_: "another"):
            self.record({**same, solution: ("OK", passed(4))})  # which was not counted
            self.assertEqual(self.kept()["tests"]["x-solution"], {"suite": "solutions", "verdict": "passed", "text": "4 checks", "counts": {"barriers": 100}})
            self.assertEqual(self.kept()["content"]["x"], content)
            self.record({**same, counted: ("OK", passed(3, barriers=100))})
            self.assertEqual(self.kept()["content"]["x"], "another")

    def test_a_test_that_did_not_run_keeps_its_verdict_and_one_that_is_gone_does_not(self):
        self.record()
        a_b, c = "01-x:mistakes / x-mistake-a_b", "01-x:mistakes / x-mistake-c"
        (self.build / "meson-info").mkdir()
        (self.build / "meson-info" / "intro-tests.json").write_text(json.dumps([{"name": "x-mistake-a_b", "suite": ["01-x:mistakes"]}]))
        self.record({a_b: None, c: None})
        self.assertIn("x-mistake-a_b", self.kept()["tests"])
        self.assertNotIn("x-mistake-c", self.kept()["tests"])

    def test_a_run_in_which_something_failed_is_not_recorded(self):
        c = "01-x:mistakes / x-mistake-c"
        self.assert_failed("x-mistake-c: FAIL: the last line", {c: ("FAIL", {"verdict": "not_rejected"})})
        self.assert_failed("x-mistake-c: passed, but its result", {c: ("OK", None)})
        self.assert_failed("x-mistake-c: passed, but its result", {c: ("OK", passed(3))})
        self.assert_failed("no test of a chapter", {name: None for name in TESTS if "course:" not in name})
        self.assert_failed("names the device", device=None)
        self.assertEqual(list(self.results.iterdir()), [])
        (self.build / "testlog.json").write_text("no log\n")
        with self.assertRaisesRegex(Failed, "testlog.json:1"):
            record.record(self.course.top, self.build, [self.build / "testlog.json"], False)

    def test_tally_and_page(self):
        self.record()
        self.record({"01-x:mistakes / x-mistake-c": SKIPPED}, device="NVIDIA GPU X")
        tally = pages.tally(self.course.top)
        self.assertIn("| known-wrong answers that both reject | 1 |", tally)
        self.assertIn("| that the CPU device rejects, and a GPU may let through: not run there | 1 |", tally)
        self.assertIn("| that the CPU device rejects, and the GPU X has not run yet | 0 |", tally)
        self.assertIn("| that neither rejects | 0 |", tally)
        self.assertIn("| lessons, solutions and other right answers that pass on the CPU device | 3 |", tally)
        self.assertIn("| that pass on the GPU X | 3 |", tally)
        text = pages.page(self.course.top, set())
        self.assertIn("| | CPU device | GPU X |", text)
        self.assertIn("| `x`: a b | **rejected**: DATA RACE in kernel x on y[0] | **rejected**: DATA RACE", text)
        self.assertIn("| `x`: c | **rejected**: x: expected 1, found 2 | skipped: luck |", text)
        self.assertLess(text.index("selfcheck"), text.index("x-solution"))
        self.assertEqual(pages.page(self.course.top, {"02-y"}), "")

    def test_what_was_not_run_says_so(self):
        self.record()
        self.assertIn("| **rejected**: x: expected 1, found 2 | not run yet |", pages.page(self.course.top, set()))


FOUND = sample(
    "rejected", edit="chapters/01-x/mistakes/sum/no_barrier.diff",
    failures=[{"test": "no_barrier: sum of one block", "text": "DATA RACE\n  read   at build/variants/no_barrier/sum.cuh:7", "details": "n = 7\n"}],
)
PAGE = "before\n<!-- message sum-mistake-no_barrier -->\n```\nold\n```\nafter\n"


class Messages(unittest.TestCase):
    def setUp(self):
        self.top = Course(self).top
        self.old, self.new = self.top / "old", self.top / "new"
        for build in (self.old, self.new):
            self.say(build, "sum-mistake-no_barrier", FOUND)

    def say(self, build, test, found):
        result.write(build / "results" / f"{test}.json", found)

    def test_what_is_the_same(self):
        self.say(self.new, "sum-mistake-no_barrier", json.loads(json.dumps(FOUND).replace("build/variants", "elsewhere/variants")))
        self.assertEqual(messages.differences(self.old, self.new), [])

    def test_what_differs_is_shown_line_by_line(self):
        self.say(self.new, "sum-mistake-no_barrier", json.loads(json.dumps(FOUND).replace("n = 7", "n = 8")))
        self.say(self.new, "sum-mistake-new", FOUND)
        lines = messages.differences(self.old, self.new)
        for line in ("sum-mistake-no_barrier", "-n = 7", "+n = 8", f"{self.new} alone has results of sum-mistake-new"):
            self.assertIn(line, lines)
        self.assertEqual(messages.differences(self.new, self.old)[-1], lines[-1])

    def test_builds_without_results(self):
        with self.assertRaisesRegex(Failed, "has no results of tests"):
            messages.differences(self.old, self.top)

    def test_a_sample_on_a_page(self):
        page = self.top / "common" / "docs" / "page.md"
        page.write_text(PAGE)
        document, = messages.documents(self.top, self.old)
        self.assertEqual(document.problem(), "is out of step, line 4: <!-- message sum-mistake-no_barrier -->")
        document.write()
        self.assertEqual(page.read_text(), PAGE.replace(
            "old\n", "FAILED: sum of one block\n  DATA RACE\n    read   at exercises/01-x/sum.cuh:7\n  n = 7\n"))
        self.assertIsNone(document.problem())
        self.say(self.old, "sum-mistake-no_barrier", {**FOUND, "failures": []})
        with self.assertRaisesRegex(Failed, "has no message of sum-mistake-no_barrier"):
            document.problem()


if __name__ == "__main__":
    unittest.main()
