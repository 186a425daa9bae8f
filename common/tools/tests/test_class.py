"""A class is graded, with a real build of chapter 01: interrupted once, resumed, and each has the right score.

    test_class.py                       in Meson's tests: a class of 12, on the build folder COURSE_TEST_BUILD
    test_class.py --class N             a class of N; without COURSE_TEST_BUILD from nothing; prints how long it took
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from tools.lib.checkout import TOP
from tools.teach import sandbox
from tools.tests import class_of

READS = ("chapters/*/chapter.toml", "chapters/01-global-atomic", "common/tools", "course", "exercises/01-global-atomic", "exercises/*/lost_*.cuh", "meson.*", "solutions/01-global-atomic")

TOOL = TOP / "common/tools/teach/grade_submissions.py"
BUILD = os.environ.get("COURSE_TEST_BUILD")


def processes_with(mark):
    """Command lines of processes that have this mark."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = file.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in text and int(file.parent.name) != os.getpid():
            found.append(text)
    return found


class Class:
    """A class in a folder of its own."""

    def __init__(self, folder, count, build=None, **more):
        self.folder = Path(folder)
        os.chmod(folder, 0o755)
        self.expected, accepts = class_of.make(self.folder / "submissions", count, **more)
        self.out = self.folder / "grades"
        if build:  # that of this checkout, instead of one from nothing
            self.out.mkdir()
            (self.out / "course").symlink_to(TOP)
            (self.out / "course.ready").touch()
        (self.folder / "temporary").mkdir()
        submissions = sorted(map(str, (self.folder / "submissions").iterdir()))
        names = ",".join(class_of.EXERCISES)
        self.command = [sys.executable, str(TOOL), "--out", str(self.out), "--exercises", names, *accepts, *submissions]
        self.environment = {**os.environ, "TMPDIR": str(self.folder / "temporary")}

    def start(self):
        return subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def judged(self):
        return len(list((self.out / "answers").rglob("*.json")))

    def interrupt(self, after, number):
        """Begins to grade, and sends a signal when so many answers are judged; returns the exit code and the output."""
        grading = self.start()
        while self.judged() < after and grading.poll() is None:
            time.sleep(0.05)
        grading.send_signal(number)
        output = grading.communicate(timeout=120)[0]
        return grading.returncode, output

    def verdicts(self):
        scores = json.loads((self.out / "scores.json").read_text(encoding="utf-8"))
        return {row["name"]: {each["exercise"]: each["verdict"] for each in row["exercises"]} for row in scores["learners"]}

    def rows(self):
        return (self.out / "scores.csv").read_text(encoding="utf-8").splitlines()

    def points(self):
        scores = json.loads((self.out / "scores.json").read_text(encoding="utf-8"))
        return {row["name"]: row["points"] for row in scores["learners"]}

    def left_running(self):
        end = time.monotonic() + 10
        while (found := processes_with(str(TOP / "common/tools/teach/room.py"))) and time.monotonic() < end:
            time.sleep(0.1)
        return found


@unittest.skipUnless((TOP / "solutions").is_dir(), "a release has no solutions")
@unittest.skipUnless(BUILD, "COURSE_TEST_BUILD names no build folder")
@unittest.skipIf(sandbox.problem(), sandbox.problem())
class EndToEnd(unittest.TestCase):
    maxDiff = None

    def test_a_class_of_12(self):
        self.assertEqual(Path(BUILD).resolve(), TOP / "build", "commands are taken from the folder build")
        with tempfile.TemporaryDirectory(prefix="class-") as folder:
            small = Class(folder, 8, BUILD, attackers=8)  # all kinds of them are in a large class
            code, output = small.interrupt(after=3, number=signal.SIGTERM)
            self.assertEqual(code, 130, output)
            self.assertIn("interrupted. The same command goes on", output)
            self.assertEqual(small.left_running(), [])
            before = small.judged()
            self.assertTrue((small.out / "scores.csv").exists(), "scores are there before the end")
            again = small.start()
            output = again.communicate(timeout=300)[0]
            self.assertEqual(again.returncode, 0, output)
            to_judge = int(re.search(r"(\d+) answers? to judge, \d+ known from before", output)[1])
            self.assertEqual(to_judge, small.judged() - before, "nothing is judged twice")
            self.assertEqual(small.verdicts(), small.expected)
            passed = {name: sum(verdict == "passed" for verdict in verdicts.values()) for name, verdicts in small.expected.items()}
            self.assertEqual(small.points(), passed)
            self.assertEqual(small.left_running(), [])
            for number, (_, _, said) in enumerate(list(class_of.attacks.RUN.values())[:8]):
                self.assertIn(said, (small.out / f"learners/attacker{number}/feedback.md").read_text(encoding="utf-8"))


def grade_a_class(count):
    """The trial of a large class with one attacker for four learners, killed in the middle; then of the same class without
    attackers: the rows of the others are equal. Exit code."""
    with tempfile.TemporaryDirectory(prefix="class-") as folder, tempfile.TemporaryDirectory(prefix="class-") as other:
        large = Class(folder, count - count // 5, BUILD, attackers=count // 5)
        start = time.monotonic()
        code, output = large.interrupt(after=40, number=signal.SIGKILL)
        print(output[-400:], f"killed after {time.monotonic() - start:.0f} s: exit code {code}, {large.judged()} answers judged,"
              f" {len(large.left_running())} processes left")
        resumed = large.start()
        output = resumed.communicate()[0]
        print(output[:300], f"...\nended after {time.monotonic() - start:.0f} s: exit code {resumed.returncode}")
        found = large.verdicts()
        wrong = [name for name in large.expected if found.get(name) != large.expected[name]]
        for name in wrong[:10]:
            print(name, "expected", large.expected[name], "found", found.get(name))
        left = large.left_running()
        print(f"{len(large.expected)} learners, {large.judged()} answers judged, {len(wrong)} wrong scores, {len(left)} processes left")
        alone = Class(other, count - count // 5, BUILD, attackers=0)
        alone.start().communicate()
        differ = [row for row in alone.rows() if row not in set(large.rows())]
        print(f"without attackers: {len(differ)} rows differ")
        return 1 if wrong or left or differ or code != -signal.SIGKILL else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--class"]:
        sys.exit(grade_a_class(int(sys.argv[2])))
    unittest.main()
