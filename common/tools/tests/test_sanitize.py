#!/usr/bin/env python3
"""The verdicts on compute-sanitizer's runs: nothing that it says, or fails to say, passes as clean."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "sanitize.py"

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
    """Each case: what a stand-in for compute-sanitizer prints for the probe and for the programs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = Path(self.folder.name)
        (self.build / "bin").mkdir()
        (self.build / "meson-info").mkdir()
        tests = [
            {"name": "x-ladder", "suite": ["x:lessons"], "cmd": ["check_ladder.py", "/c/01-x/ladder"]},
            {"name": "y-solution", "suite": ["x:solutions"], "cmd": ["/c/01-x/y-solution"]},
            {"name": "y-mistake-z", "suite": ["x:mistakes"], "cmd": ["/c/01-x/y-mistakes", "z: *"]},
            {"name": "x-program", "suite": ["x:lessons"], "cmd": ["test_program.py", "/c/01-x/program"]},
        ]
        (self.build / "meson-info" / "intro-tests.json").write_text(json.dumps(tests))

    def tearDown(self):
        self.folder.cleanup()

    def verdict(self, tool="memcheck", probe=(FOUND, 99), program=(CLEAN, 0), installed=True):
        for name, (text, _) in {"probe": probe, "program": program}.items():
            (self.build / name).write_text(text)
        stand_in = self.build / "bin" / "compute-sanitizer"
        stand_in.write_text(
            f'#!/bin/sh\necho "$*" >>{self.build}/calls\ncase "$*" in\n'
            f"*/the_probe*) /bin/cat {self.build}/probe; exit {probe[1]} ;;\n"
            f"*) /bin/cat {self.build}/program; exit {program[1]} ;;\nesac\n"
        )
        stand_in.chmod(0o755)
        done = subprocess.run(
            [sys.executable, str(TOOL), tool, str(self.build), str(self.build / "log"), "/c/the_probe"],
            capture_output=True, text=True,
            env={**os.environ, "PATH": str(self.build / "bin") if installed else "/nowhere"},
        )
        return done.returncode, done.stdout

    def test_clean(self):
        code, text = self.verdict()
        self.assertEqual((code, text), (0, "clean: 2 programs, after it found a planted error\n"))
        calls = (self.build / "calls").read_text()
        self.assertIn("--error-exitcode 99 /c/01-x/ladder --n 65536", calls)
        self.assertNotIn("mistake", calls)
        self.assertNotIn("program", calls)
        self.assertEqual(self.verdict("racecheck", probe=(RACE, 99), program=(NO_RACE, 0))[0], 0)

    def test_findings(self):
        code, text = self.verdict(program=(FOUND, 99))
        self.assertEqual(code, 1)
        self.assertIn("Invalid __global__ write of size 4 bytes", text)
        self.assertEqual(self.verdict("racecheck", probe=(RACE, 99), program=(RACE, 99))[0], 1)

    def test_a_finding_counts_whatever_the_exit_code(self):
        self.assertEqual(self.verdict(program=(FOUND, 0))[0], 1)
        self.assertEqual(self.verdict(program=(CLEAN, 99))[0], 1)

    def test_a_program_that_fails_is_not_clean(self):
        self.assertEqual(self.verdict(program=(CLEAN, 1))[0], 1)

    def test_a_skipped_program_is_not_clean(self):
        self.assertEqual(self.verdict(program=(CLEAN, 77))[0], 3)

    def test_not_available(self):
        refused = "========= COMPUTE-SANITIZER\n========= Error: Device not supported. Please refer\n"
        broken = CLEAN.replace("hello", "========= Internal Sanitizer Error: the device crashed")
        for text, code in ((refused, 0), (refused, 99), (broken, 0), ("no summary\n", 0), ("", 127)):
            with self.subTest(text=text, code=code):
                self.assertEqual(self.verdict(program=(text, code))[0], 3)
                self.assertEqual(self.verdict(probe=(text, code))[0], 3)
        self.assertEqual(self.verdict(installed=False)[0], 3)

    def test_a_tool_that_overlooks_the_planted_error_is_not_believed(self):
        code, text = self.verdict(probe=(CLEAN, 0))
        self.assertEqual(code, 3)
        self.assertIn("overlooks a planted error", text)

    def test_no_programs_is_not_clean(self):
        (self.build / "meson-info" / "intro-tests.json").write_text("[]")
        self.assertEqual(self.verdict()[0], 3)


class ExpectedKernels(unittest.TestCase):
    """A rung that is wrong on purpose must be reported, and it alone."""

    def judge(self, output, code, *kernels):
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(TOOL.parent))
        import sanitize

        return sanitize.judge(sanitize.Run(output, code), list(kernels))[0]

    def test_it_must_be_reported(self):
        self.assertEqual(self.judge(RACE, 99, "kernel_a"), 0)
        self.assertEqual(self.judge(NO_RACE, 0, "kernel_a"), 1)

    def test_others_are_findings(self):
        self.assertEqual(self.judge(RACE, 99, "kernel_b"), 1)
        both = RACE.replace("========= RACECHECK", "========= Error: Race at kernel_b()\n=========\n========= RACECHECK")
        self.assertEqual(self.judge(both, 99, "kernel_a"), 1)


if __name__ == "__main__":
    unittest.main()
