"""What ./course run --report writes for other tools: made from Outcomes that are written down here, without a program.

sarif-2.1.0.json is the schema of SARIF, as the package @microsoft/sarif-multitool 5.7.0 (MIT License) publishes it.
test_run.py has the reports of programs that have run.
"""

import json
import os
import re
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from tools.lib import pages, repository
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.run import annotations, code_quality, json_report, outcome, reports, sarif
from tools.run.build_program import Place
from tools.run.fingerprints import fingerprints_of
from tools.run.outcome import Access, Finding, Note, Outcome, Schedule
from tools.run.sources import Sources
from tools.tests import system_python

READS = ("chapters/*/README.md", "common/docs/course-run.schema.json", "common/simt/README.md", "common/tools/run/kinds.toml",
         "common/tools/tests/sarif-2.1.0.json")

try:
    import jsonschema
except ImportError:
    jsonschema = None

system_python.again_if_missing(jsonschema)

TEXT = """// adds
__global__ void add(int* sum, int* x) {
  *sum += 1;
  x[0] = *sum;
  *sum += 1;
}
"""
RACE = """DATA RACE in kernel add on sum[0]
  read   at a b/k.cu:3 by block 1 thread 0
  write  at a b/k.cu:4 by block 0 thread 0 in kernel add (launched at a b/k.cu:9)
  Reading sum[0], changing the value and writing it back are separate steps: two threads can read
  the same old value."""


def finding(*lines, text=RACE, **more):
    """A race at these lines of a b/k.cu."""
    accesses = tuple(Access(kind, "a b/k.cu", line, str(block), "0", 0) for kind, line, block in zip(("read", "write"), lines, (1, 0)))
    return replace(Finding("data_race", "add", "sum", "a b/k.cu", lines[0], text, accesses, 0, 1), **more)


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / ".git").mkdir()
        (self.root / "here" / "a b").mkdir(parents=True)
        self.file = self.root / "here" / "a b" / "k.cu"
        self.file.write_text(TEXT)
        self.sources = Sources(self.root / "here")

    def outcome(self, verdict=outcome.NOTHING, **more):
        code = outcome.CODE_OF.get(verdict, 7)
        schedule = Schedule(0, 0)
        return Outcome((str(self.file),), verdict, code, 0.5, **{"schedules": (schedule,), "decisive": schedule, **more})

    def every_verdict(self):
        """A program for each."""
        place = Place("a b/k.cu", 3, "not supported on the CPU device: that")
        return [
            self.outcome(notes=(Note("a b/k.cu", 3, "a b/k.cu:3: several threads\n  write it"),), difference="The output depends on it."),
            self.outcome(outcome.FINDINGS, findings=(finding(3, 4), finding(5, 5)), message="CRASH in host code: SIGSEGV"),
            self.outcome(outcome.REFUSED, message="k.cu does not compile:\n\n...", places=(place, replace(place, line=4))),
            self.outcome(outcome.NOT_COMPILED, message="nothing defines f()", schedules=(), decisive=None),
            self.outcome(outcome.OUT_OF_TIME, message="OUT OF TIME in host code", places=(replace(place, text="OUT OF TIME"),)),
            self.outcome(outcome.OUT_OF_MEMORY, message="OUT OF MEMORY: the program was stopped at 9.0 GiB"),
            self.outcome(outcome.CRASHED, message="KILLED from outside."),
            self.outcome(outcome.FAILED, schedules=(Schedule(0, 0), Schedule(1, 7)), decisive=Schedule(1, 7)),
        ]  # fmt: skip


class Paths(Reports):
    def test_paths_are_from_the_top_of_the_repository(self):
        self.assertEqual(self.sources.path("a b/k.cu"), "here/a b/k.cu")
        self.assertEqual(self.sources.path("../x.cu"), "x.cu")
        self.assertEqual(self.sources.path(str(self.file)), "here/a b/k.cu")
        self.assertEqual(self.sources.path("/usr/include/x.h"), "/usr/include/x.h")
        (self.root / ".git").rmdir()
        self.assertEqual(Sources(self.root / "here").path("a b/k.cu"), "a b/k.cu")


class Fingerprints(Reports):
    def of(self, *findings, text=None):
        if text is not None:
            self.file.write_text(text)
        return fingerprints_of(findings, Sources(self.root / "here"))

    def test_moved_lines_are_the_same_finding(self):
        before = self.of(finding(3, 4))
        self.assertEqual(self.of(finding(5, 6), text="// one comment\n// another one\n" + TEXT), before)
        self.assertEqual(self.of(finding(3, 4), text=TEXT.replace("adds", "adds one").replace("\n  ", "\n\t  ")), before)
        self.assertEqual(self.of(finding(4, 3), text=TEXT), before)  # which access comes first depends on the schedule
        self.assertEqual(self.of(finding(3, 4, seed=3, times=2, text="DATA RACE, told otherwise")), before)

    def test_other_findings_have_others(self):
        ones = [finding(3, 4), finding(3, 3), finding(5, 5), finding(4, 4), finding(3, 4, kind="out_of_bounds"),
                finding(3, 4, kernel="f"), finding(3, 4, object="x")]
        self.assertEqual(len({*self.of(*ones)}), len(ones))
        self.assertEqual(self.of(*reversed(ones)), [*reversed(self.of(*ones))])
        self.assertNotEqual(self.of(finding(3, 4), text=TEXT.replace("+= 1", "+= 2")), self.of(finding(3, 4), text=TEXT))

    def test_files_that_are_gone(self):
        self.file.unlink()
        self.assertRegex(self.of(finding(3, 4))[0], "^[0-9a-f]{32}$")


class Files(Reports):
    def setUp(self):
        super().setUp()
        self.report = self.root / "report.txt"

    def asked(self, *words):
        return [reports.asked(word) for word in words]

    def test_a_report_is_whole_or_not_there(self):
        asked = self.asked(f"text={self.report}")
        self.report.write_text("of another command")
        reports.prepare(asked)
        self.assertEqual({file.name for file in self.root.iterdir()}, {".git", "here"})
        reports.write(asked, [], "all", 0)
        self.assertEqual((self.report.read_text(), len(list(self.root.iterdir()))), ("all", 3))

    def test_files_that_cannot_be_written(self):
        for word in (f"text={self.root}/none/r.txt", f"text={self.root}"):
            with self.assertRaisesRegex(Failed, "cannot be written"):
                reports.prepare(self.asked(word))

    def test_two_reports_in_one_file(self):
        (self.root / "link.txt").symlink_to(self.report)
        with self.assertRaisesRegex(Failed, "Two reports"):
            reports.prepare(self.asked(f"text={self.report}", f"json={self.root}/link.txt"))

    def test_a_pipe_is_written_to(self):
        read, write = os.pipe()
        asked = self.asked(f"text=/dev/fd/{write}")
        reports.prepare(asked)
        reports.write(asked, [], "all", 0)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.assertEqual(pipe.read(), "all")

    def test_a_file_that_the_shell_has_opened_stays(self):
        with self.report.open("w") as file:
            reports.prepare(self.asked(f"text=/dev/fd/{file.fileno()}"))
        self.assertTrue(self.report.exists())


class GitHub(Reports):
    def test_what_means_something_to_the_runner_is_written_otherwise(self):
        self.assertEqual(annotations.annotation("error", "a,b:c%.cu", 7, "x: 1, 2", "50 %\r\nof it: a, b"),
                         "::error file=a%2Cb%3Ac%25.cu,line=7,title=x%3A 1%2C 2::50 %25%0D%0Aof it: a, b")

    def test_a_finding(self):
        text = annotations.report([self.outcome(outcome.FINDINGS, findings=(finding(3, 4),))], self.sources)
        self.assertEqual(text, (
            "::error file=here/a b/k.cu,line=3,title=DATA RACE in kernel add on sum[0]::read   at a b/k.cu:3 by block 1 thread 0%0A"
            "write  at a b/k.cu:4 by block 0 thread 0 in kernel add (launched at a b/k.cu:9)%0AReading sum[0], changing the value and "
            "writing it back are separate steps: two threads can read%0Athe same old value.\n"))

    def test_every_verdict(self):
        lines = annotations.report(self.every_verdict(), self.sources).splitlines()
        self.assertEqual([line.partition("::")[2].partition("::")[0] for line in lines], [
            "error file=here/a b/k.cu,line=3,title=DATA RACE in kernel add on sum[0]",
            "error file=here/a b/k.cu,line=5,title=DATA RACE in kernel add on sum[0]",
            "error file=here/a b/k.cu,title=findings",
            "error file=here/a b/k.cu,title=does not compile",
            "error file=here/a b/k.cu,line=3,title=out of time",
            "error file=here/a b/k.cu,title=out of memory",
            "error file=here/a b/k.cu,title=crashed",
            "error file=here/a b/k.cu,title=failed",
            "warning file=here/a b/k.cu,line=3,title=refused",
            "warning file=here/a b/k.cu,line=4,title=refused",
            "notice file=here/a b/k.cu,title=output",
            "notice file=here/a b/k.cu,line=3,title=note",
        ])
        self.assertTrue(lines[7].endswith("::The program ends with exit code 7 under schedule 1."))
        self.assertTrue(lines[8].endswith("::not supported on the CPU device: that"))
        self.assertTrue(lines[-1].endswith("::several threads%0A  write it"))
        self.assertEqual(annotations.report([self.outcome()], self.sources), "")

    def test_more_than_the_runner_shows_are_counted(self):
        ten = self.outcome(outcome.FINDINGS, findings=(finding(3, 4),) * 10)
        self.assertEqual(annotations.report([ten], self.sources).count("\n"), 10)
        lines = annotations.report([ten, ten], self.sources).splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["::error"] * 10 + ["::warning"])
        self.assertIn("::10 more errors: GitHub shows 10 ", lines[-1])
        refused = self.outcome(outcome.REFUSED, message="...", places=(Place("a b/k.cu", 1, "that"),) * 11)
        lines = annotations.report([refused], self.sources).splitlines()
        self.assertEqual((len(lines), lines[-1].count("::2 more warnings: ")), (10, 1))


class Sarif(Reports):
    def report(self, outcomes, exit_code=66):
        return json.loads(sarif.report(outcomes, self.sources, exit_code))["runs"][0]

    def test_every_kind_of_finding_has_a_rule(self):
        code = (TOP / "common/simt/src/report/reports.cpp").read_text()
        kinds = re.findall(r'case ReportKind::\w+:\s+return \{"[^"]*", "(\w+)"\};', code)
        header = (TOP / "common/simt/include/simt/testing.hpp").read_text()
        names = re.search(r"enum class ReportKind \{(.*?)\n\};", header, re.DOTALL)[1]
        self.assertEqual(len(kinds), len(re.findall(r"^  (\w+)", names, re.MULTILINE)))
        self.assertEqual({*kinds, sarif.NOTE}, {*sarif.kinds()})

    def test_rules_have_texts_and_links_that_lead_somewhere(self):
        for kind, about in sarif.kinds().items():
            with self.subTest(kind):
                rule = sarif.rule(kind, about)
                self.assertLess(len(rule["fullDescription"]["text"]), 1000)  # GitHub shows 1024 characters
                self.assertTrue(about["short"].endswith("."))
                self.assertNotIn("`", rule["help"]["text"])
                self.assertTrue(rule["helpUri"].startswith(f"{repository.address(TOP)}/blob/main/"))
                for _, page in about["pages"]:
                    file, _, anchor = page.partition("#")
                    self.assertTrue(not anchor or anchor in pages.anchors_of((TOP / file).read_text()), page)
                    self.assertTrue((TOP / file).exists(), page)

    def test_a_race_has_both_accesses(self):
        result, = self.report([self.outcome(outcome.FINDINGS, findings=(finding(3, 4),))])["results"]
        artifact = {"uri": "here/a%20b/k.cu", "uriBaseId": "%SRCROOT%"}
        self.assertEqual(result["message"]["text"], (
            "DATA RACE in kernel add on sum[0]: read at [line 3](1) by block 1 thread 0; write at [line 4](2) by block 0 thread 0 in kernel "
            "add (launched at line 9).\n\nReading sum[0], changing the value and writing it back are separate steps: two threads can read "
            "the same old value."))
        self.assertEqual(result["locations"], [{
            "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": 3}},
            "logicalLocations": [{"name": "add", "kind": "function"}]}])
        self.assertEqual([(one["id"], one["message"]["text"], one["physicalLocation"]["region"]["startLine"]) for one in result["relatedLocations"]], [
            (1, "read by block 1 thread 0", 3), (2, "write by block 0 thread 0 in kernel add (launched at line 9)", 4)])
        self.assertEqual((result["ruleId"], result["level"]), ("data_race", "error"))
        self.assertEqual(result["partialFingerprints"], {"courseRun/v1": fingerprints_of([finding(3, 4)], self.sources)[0]})

    def test_one_access_needs_no_link(self):
        text = "KERNEL STOPPED in add: assertion failed: x\n  at a b/k.cu:3 by block 1 thread 0"
        one = finding(3, kind="kernel_stopped", text=text)
        result, = self.report([self.outcome(outcome.FINDINGS, findings=(one,))])["results"]
        self.assertEqual(result["message"]["text"], "KERNEL STOPPED in add: assertion failed: x, at line 3 by block 1 thread 0.")
        self.assertNotIn("relatedLocations", result)

    def test_lines_become_sentences(self):
        self.assertEqual(sarif.unwrapped(["  24 threads have gone: threads 40-63", "  Every thread must come.", "", "  Or none"]),
                         "24 threads have gone: threads 40-63. Every thread must come. Or none")
        wide = "  " + "a" * 70 + " reads"
        self.assertEqual(sarif.unwrapped([wide, "  Block 0 too"]), " ".join(f"{wide} Block 0 too".split()))

    def test_other_verdicts_are_notifications(self):
        run = self.report(self.every_verdict())
        invocation, = run["invocations"]
        said = [(one["descriptor"]["id"], one["level"], one["message"]["text"]) for one in invocation["toolExecutionNotifications"]]
        self.assertEqual(said, [
            ("output-depends-on-schedule", "note", "The output depends on it."),
            ("crashed", "error", "CRASH in host code: SIGSEGV"),
            ("refused", "error", "not supported on the CPU device: that"),
            ("refused", "error", "not supported on the CPU device: that"),
            ("does-not-compile", "error", "nothing defines f()"),
            ("out-of-time", "error", "OUT OF TIME in host code"),
            ("out-of-memory", "error", "OUT OF MEMORY: the program was stopped at 9.0 GiB"),
            ("crashed", "error", "KILLED from outside."),
            ("failed", "warning", "The program ends with exit code 7 under schedule 1."),
        ])
        names = {one["id"] for one in run["tool"]["driver"]["notifications"]}
        self.assertLessEqual({name for name, _, _ in said}, names)
        self.assertEqual((invocation["executionSuccessful"], invocation["exitCode"]), (False, 66))
        self.assertEqual([one["level"] for one in run["results"]], ["error", "error", "note"])
        rules = run["tool"]["driver"]["rules"]
        self.assertTrue(all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"]))
        self.assertEqual(run["results"][2]["message"]["text"], "several threads write it")
        for checked in (self.outcome(), self.outcome(outcome.FINDINGS, findings=(finding(3, 4),)), self.every_verdict()[-1]):
            self.assertTrue(self.report([checked])["invocations"][0]["executionSuccessful"])

    @unittest.skipUnless(jsonschema, "no python3-jsonschema")
    def test_the_schema_of_sarif(self):
        schema = json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text())
        far = finding(1, file="/usr/include/x y.h", accesses=(), kernel="")
        outcomes = [*self.every_verdict(), self.outcome(outcome.FINDINGS, findings=(far,))]
        jsonschema.Draft202012Validator(schema).validate(json.loads(sarif.report(outcomes, self.sources, 66)))
        place = json.loads(sarif.report(outcomes, self.sources, 66))["runs"][0]["results"][2]["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"], {"uri": "file:///usr/include/x%20y.h"})


class Json(Reports):
    @unittest.skipUnless(jsonschema, "no python3-jsonschema")
    def test_the_schema_of_course_run(self):
        schema = json.loads((TOP / "common/docs/course-run.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        report = json.loads(json_report.report(self.every_verdict(), self.sources, 66))
        jsonschema.Draft7Validator(schema).validate(report)
        self.assertEqual({one["verdict"] for one in report["programs"]}, {*outcome.VERDICTS})
        self.assertEqual(schema["properties"]["programs"]["items"]["properties"]["verdict"]["enum"], [*outcome.VERDICTS])

    def test_a_finding(self):
        report = json.loads(json_report.report([self.outcome(outcome.FINDINGS, findings=(finding(3, 4),))], self.sources, 66))
        program, = report["programs"]
        self.assertEqual((report["schema"], report["version"], report["course"], report["exit_code"]),
                         ("course.run", 1, repository.version(TOP), 66))
        self.assertEqual((program["sources"], program["verdict"], program["exit_code"]), (["here/a b/k.cu"], "findings", 66))
        one, = program["findings"]
        self.assertEqual([(access["file"], access["line"]) for access in one["accesses"]], [("here/a b/k.cu", 3), ("here/a b/k.cu", 4)])
        self.assertEqual((one["text"], one["fingerprint"]), (RACE, fingerprints_of([finding(3, 4)], self.sources)[0]))


class ForGitLab(Reports):
    def test_findings_that_count_are_issues(self):
        outcomes = [self.outcome(outcome.FINDINGS, findings=(finding(3, 4), finding(5, 5, suppressed="a reason"), finding(4, 4, is_known=True)))]
        issues = json.loads(code_quality.report(outcomes, self.sources))
        self.assertEqual([(one["check_name"], one["severity"], one["location"]) for one in issues],
                         [("data_race", "critical", {"path": "here/a b/k.cu", "lines": {"begin": 3}})])  # fmt: skip
        self.assertEqual(issues[0]["description"], (
            "DATA RACE in kernel add on sum[0]: read at a b/k.cu:3 by block 1 thread 0; "
            "write at a b/k.cu:4 by block 0 thread 0 in kernel add (launched at a b/k.cu:9)"))
        self.assertRegex(issues[0]["fingerprint"], "^[0-9a-f]{32}$")
        self.assertEqual(json.loads(code_quality.report([self.outcome()], self.sources)), [])


if __name__ == "__main__":
    unittest.main()
