"""What a page promises of a fresh folder: a chapter alone, kernels compiled by g++, a build for a GPU, two graded learners.

Each builds the libraries of the course anew. Chapter 00 stands for all chapters.
"""

import json
import os
import shutil
import subprocess
import unittest

from build.compiler.choosing import find_compiler
from tools.lib.checkout import TOP
from tools.tests.in_folder import InFolder

READS = (  # common/tools/verdicts/reads.py
    "chapters/*/chapter.toml", "chapters/00-start-here", "chapters/01-global-atomic", "common/build", "common/subprojects",
    "common/tools/lib", "common/tools/teach", "exercises", "meson.build", "meson.options", "solutions",
)
CHAPTER = TOP / "chapters" / "00-start-here"
ANSWER = TOP / "solutions" / "01-global-atomic" / "lost_update.cuh"


def run(*command, **environment):
    """The exit code of a command at the top of the course, and all that it says."""
    done = subprocess.run(command, cwd=TOP, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


@unittest.skipUnless(ANSWER.exists(), "a release has no solutions")
class FromNothing(InFolder):
    """What each of them does."""

    def assert_runs(self, *command, **environment):
        code, said = run(*command, **environment)
        self.assertEqual(code, 0, said)
        return said

    def results(self, build):
        """{a test's name: how it ended} of the last `meson test` of a build."""
        log = (build / "meson-logs" / "testlog.json").read_text(encoding="utf-8")
        return {test["name"].split()[-1]: test["result"] for test in map(json.loads, log.splitlines())}


class AChapter(FromNothing):
    def test_a_chapter_alone(self):
        build = self.folder / "alone"
        clang = find_compiler("", ["c++"]).splitlines()[-1]  # some learners have it as CXX
        self.assert_runs("meson", "setup", build, CHAPTER, "-Ddevice=cpu", "--werror", CXX=clang)
        self.assert_runs("meson", "test", "-C", build)
        found = self.results(build)
        self.assertEqual({name for name, result in found.items() if result == "SKIP"}, {"host_program", "scale"})
        self.assertEqual({result for name, result in found.items() if name not in ("host_program", "scale")}, {"OK"})
        self.assertIn("scale-solution", found)


class Gcc(FromNothing):
    def test_kernels_by_gcc(self):
        build = self.folder / "by-gcc"
        said = self.assert_runs("meson", "setup", build, CHAPTER, "-Ddevice=cpu", "-Dkernel_compiler=g++", CXX="c++")
        self.assertIn("WARNING: kernels are compiled by g++, and the checks will let some wrong answers through", said)
        self.assert_runs("ninja", "-C", build, "common/build/chapter/scale-solution.p/scale.cu.o")


@unittest.skipUnless(shutil.which("nvcc"), "nvcc is not installed")
class Gpu(FromNothing):
    def test_a_build_for_a_gpu(self):
        build = self.folder / "cuda"
        # Nothing has to be fast: not optimised, the course's libraries either.
        self.assert_runs("meson", "setup", build, "-Ddevice=cuda", "-Darch=sm_90", "-Dchapters=00-start-here", "-Dbuildtype=plain", CXXFLAGS="-O0")
        lessons = ("00-start-here-ladder", "00-start-here-selfcheck")
        self.assert_runs("meson", "test", "-C", build, *lessons)
        found = self.results(build)
        self.assertEqual(found.keys(), {*lessons})
        self.assertLessEqual({*found.values()}, {"OK", "SKIP"})  # there need not be a GPU


class Grades(FromNothing):
    def test_two_learners_are_graded(self):
        """The command of common/docs/grading.md: two answers at a time, one with a race that its feedback shows the line of."""
        right = ANSWER.read_text(encoding="utf-8")
        racy = right.replace("atomicMax(peak, reading);", "if (reading > *peak) *peak = reading;")
        self.assertNotEqual(racy, right)
        learners = {"ada": right, "bob": racy}
        folders = [self.write(f"handed-in/{name}/lost_update.cuh", text).parent for name, text in learners.items()]
        grades = self.folder / "grades"
        self.assert_runs("common/tools/teach/grade_submissions.py", "--out", grades, "--exercises", "lost_update", *folders)
        scores = (grades / "scores.csv").read_text(encoding="utf-8")
        self.assertRegex(scores, r"(?m)^ada,1,")
        self.assertRegex(scores, r"(?m)^bob,0,")
        feedback = (grades / "learners" / "bob" / "feedback.md").read_text(encoding="utf-8")
        self.assertRegex(feedback, r"read *at exercises/01-global-atomic/lost_update\.cuh:\d")


if __name__ == "__main__":
    unittest.main()
