"""The verdicts on compute-sanitizer's runs: nothing that it says, or fails to say, passes as clean."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tools.lib.checkout import TOP
from tools.measure import sanitize

READS = ()

SANITIZE = [sys.executable, str(TOP / "common"), "tools.measure.sanitize"]

CLEAN = "========= COMPUTE-SANITIZER\nhello\n========= ERROR SUMMARY: 0 errors\n"
FOUND = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at kernel_a(int *, int)+0x70 in a.cu:7
=========     by thread (64,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
"""
RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at kernel_a(int *)+0x60 in a.cu:13
=========     and Read access at kernel_a(int *)+0x90 in a.cu:14 [192 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
NO_RACE = "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"


class Verdict(unittest.TestCase):
    """Each case: what a stand-in for compute-sanitizer prints, and its exit code."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = Path(self.folder.name)
        (self.build / "bin").mkdir()

    def verdict(self, output, code, *command, tool="memcheck", installed=True):
        """(exit code, text) of a test with this command, the program of a solution by default."""
        (self.build / "output").write_text(output)
        stand_in = self.build / "bin" / "compute-sanitizer"
        stand_in.write_text(
            f'#!/bin/sh\necho "$COURSE_SKIP_LARGE $*" >>{self.build}/calls\n/bin/cat {self.build}/output\nexit {code}\n'
        )
        stand_in.chmod(0o755)
        path = self.build / "bin" if installed else "/nowhere"
        done = subprocess.run(
            [*SANITIZE, tool, *(command or ["/c/01-x/y-solution"])],
            capture_output=True, text=True, cwd=self.build, env=self.environment(path),
        )
        return done.returncode, done.stdout

    def environment(self, path):
        """Nothing of a run that this test itself may be a part of."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("COURSE_")}
        return {**own, "PATH": str(path), "COURSE_RESULT": str(self.build / "result.json")}

    def calls(self):
        return (self.build / "calls").read_text()

    def test_clean(self):
        self.assertEqual(self.verdict(CLEAN, 0), (0, "hello\nmemcheck: clean\n"))
        self.assertEqual(self.calls(), "1 --tool memcheck --error-exitcode 99 /c/01-x/y-solution\n")
        self.assertEqual(self.verdict(NO_RACE, 0, tool="racecheck")[0], 0)
        self.assertIn("hello", (self.build / "meson-logs" / "memcheck" / "01-x-y-solution.log").read_text())

    def test_findings(self):
        code, text = self.verdict(FOUND, 99)
        self.assertEqual(code, 1)
        self.assertIn("Invalid __global__ write of size 4 bytes", text)
        self.assertIn("a.cu:7", text)
        self.assertIn(str(self.build / "meson-logs" / "memcheck" / "01-x-y-solution.log"), text)
        self.assertEqual(self.verdict(RACE, 99, tool="racecheck")[0], 1)

    def test_a_finding_counts_whatever_the_exit_code(self):
        for code in (0, 77):
            self.assertEqual(self.verdict(FOUND, code)[0], 1)
        self.assertEqual(self.verdict(CLEAN, 99)[0], 1)

    def test_a_program_that_fails_is_not_clean(self):
        self.assertEqual(self.verdict(CLEAN, 1)[0], 1)

    def test_a_skipped_program_is_skipped(self):
        self.assertEqual(self.verdict(CLEAN, 77)[0], 77)
        self.assertEqual(self.verdict("skipped: no kernel can run here\n", 77)[0], 77)

    def test_not_available_is_not_clean(self):
        refused = "========= COMPUTE-SANITIZER\n========= Error: Device not supported. Please refer\n"
        broken = CLEAN.replace("hello", "========= Internal Sanitizer Error: the device crashed")
        for output, code in ((refused, 0), (refused, 99), (refused, 77), (broken, 0), ("no summary\n", 0), ("", 127)):
            with self.subTest(output=output, code=code):
                code, text = self.verdict(output, code)
                self.assertEqual(code, 1)
                self.assertIn("not available, which is not clean", text)
        code, text = self.verdict(CLEAN, 0, installed=False)
        self.assertEqual(code, 1)
        self.assertIn("comes with the CUDA Toolkit", text)

    def test_the_planted_error_must_be_found(self):
        probe = "/b/sanitizer_probe"
        self.assertEqual(self.verdict(FOUND, 99, probe)[0], 0)
        self.assertIn("/b/sanitizer_probe memcheck\n", self.calls())
        code, text = self.verdict(CLEAN, 0, probe)
        self.assertEqual(code, 1)
        self.assertIn("overlooks a planted error", text)
        self.assertEqual(self.verdict("no summary\n", 0, probe)[0], 1)

    def test_a_ladder_runs_with_few_elements(self):
        self.assertEqual(self.verdict(CLEAN, 0, "/usr/bin/python3", "/c/common", "tools.check.check_ladder", "/c/01-global-atomic/ladder")[0], 0)
        self.assertIn(" 99 /c/01-global-atomic/ladder --n 65536\n", self.calls())

    def test_an_exercise_is_built_first_and_then_checked_under_the_tool(self):
        runner = self.build / "check_exercise.py"
        runner.write_text('#!/bin/sh\necho "$COURSE_WRAPPER|$COURSE_TIMEOUT|$*"\n')
        runner.chmod(0o755)
        code, text = self.verdict(CLEAN, 0, str(runner), "x.cuh", "/c/01-x/y")
        self.assertEqual((code, text), (0, f"{shlex.join(SANITIZE)} memcheck|290|x.cuh /c/01-x/y\n"))

    def test_the_check_of_an_exercise_has_its_socket(self):
        (self.build / "meson-private").mkdir()
        exercise = self.build / "y.cuh"
        exercise.write_text("int x;\n")
        for name, lines in {
            "ninja": "exit 0",
            "bin/compute-sanitizer": 'shift 4; "$@"; code=$?; echo "========= ERROR SUMMARY: 0 errors"; exit $code',
            "y": 'printf \'{"schema": "course.result", '
                 '"version": 1, "verdict": "passed"}\' >&${COURSE_RESULT#socket:}',
        }.items():
            (self.build / name).write_text(f"#!/bin/bash\n{lines}\n")
            (self.build / name).chmod(0o755)
        path = f"{self.build / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            [*SANITIZE, "memcheck", str(TOP / "common/tools/check/check_exercise.py"), str(exercise), "y"],
            capture_output=True, text=True, cwd=self.build,
            env={**self.environment(path), "NINJA": str(self.build / "ninja")},
        )
        self.assertEqual((done.returncode, done.stdout), (0, "memcheck: clean\n"), done.stderr)
        self.assertEqual(json.loads((self.build / "result.json").read_text())["verdict"], "passed")

    def test_a_test_in_python_is_skipped_and_says_so(self):
        for command in (("/usr/bin/python3", "test_x.py"), ("/t/test_y.py",)):
            code, text = self.verdict(CLEAN, 0, *command)
            self.assertEqual(code, 77)
            self.assertIn("a test in Python", text)

    def test_what_is_wrong_on_purpose_must_be_reported_by_races_and_may_be_by_claims(self):
        for program, expected in (("races", 1), ("claims", 0)):  # chapter.toml of 03 names a kernel
            with self.subTest(program):
                code, text = self.verdict(NO_RACE, 0, f"/c/03-shared-reduce/{program}", tool="racecheck")
                self.assertEqual(code, expected, text)

    def test_a_program_whose_checks_all_skip_themselves_is_not_missing(self):
        for device, skips, expected in (("GPU", [{"test": "a", "reason": "b"}], True), ("", [], False), ("GPU", [], False)):
            with self.subTest(device=device, skips=skips):
                result = {"schema": "course.result", "version": 1, "verdict": "skipped", "device": device, "skips": skips}
                (self.build / "result.json.memcheck").write_text(json.dumps(result))  # of this tool alone
                code, text = self.verdict("skipped: a: b\n", 77)
                self.assertEqual(code, 77)
                self.assertEqual("every one of its checks skips itself" in text, expected, text)

    def test_no_such_tool(self):
        done = subprocess.run([*SANITIZE, "leakcheck", "x"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("one of memcheck, racecheck", done.stderr)


class ExpectedKernels(unittest.TestCase):
    """A rung that is wrong on purpose must be reported, and it alone."""

    def judge(self, output, code, *kernels, **more):
        return sanitize.judge(sanitize.Run(output, code), list(kernels), **more)[0]

    def test_it_must_be_reported(self):
        self.assertEqual(self.judge(RACE, 99, "kernel_a"), 0)
        self.assertEqual(self.judge(NO_RACE, 0, "kernel_a"), 1)

    def test_in_a_lesson_beside_the_ladder_it_may_be_reported(self):
        self.assertEqual(self.judge(NO_RACE, 0, "kernel_a", all_of_them=False), 0)
        self.assertEqual(self.judge(RACE, 99, "kernel_a", all_of_them=False), 0)
        self.assertEqual(self.judge(RACE, 99, "kernel_b", all_of_them=False), 1)
        self.assertEqual(self.judge(NO_RACE, 1, "kernel_a", all_of_them=False), 1)

    def test_others_are_findings(self):
        self.assertEqual(self.judge(RACE, 99, "kernel_b"), 1)
        both = RACE.replace("========= RACECHECK", "========= Error: Race at kernel_b()\n=========\n========= RACECHECK")
        self.assertEqual(self.judge(both, 99, "kernel_a"), 1)


if __name__ == "__main__":
    unittest.main()
