"""What the gate proves again: exercises and lessons whose files are not the recorded ones, and some in turn."""

import json
import subprocess
import unittest
from unittest import mock

from tools.lib.checkout import TOP
from tools.tests.sample_course import Course
from tools.tests.sample_results import sample
from tools.verdicts import due, record

READS = ("chapters/15-row-reductions", "chapters/16-beat-the-library", "exercises/16-beat-the-library", "solutions/16-beat-the-library")

# The tests of the build below, by their suites; those that are counted run apart.
TESTS = {
    "lessons": ["01-x-ladder", "01-x-selfcheck"],
    "devices": ["01-x-selfcheck-2-devices", "b-solution-2-devices"],
    "solutions": ["a-solution", "b-solution"],
    "mistakes": ["a-mistake-wrong", "b-mistake-wrong"],
    "counted": ["a-solution-counted", "b-solution-counted"],
}
ALL = [name for suite, names in TESTS.items() if suite != "devices" for name in names]


class Due(unittest.TestCase):
    """A chapter with two exercises, whose verdicts are recorded."""

    def setUp(self):
        self.enterContext(mock.patch("tools.verdicts.due.find_compiler", lambda *_: "clang\n16\n/usr/bin/clang++-16"))
        self.course = Course(self)
        self.top = self.course.top
        self.chapter = self.course.chapter("01-x", exercises=["a", "b"])
        self.write("chapters/01-x/checks/a.cu", '#include "a.cuh"\n#include "../cases.cuh"\n')
        self.write("chapters/01-x/cases.cuh", "int cases;\n")
        for exercise in ("a", "b"):
            self.write(f"solutions/01-x/{exercise}.cuh", "int right;\n")
            self.write(f"chapters/01-x/mistakes/{exercise}/wrong.diff", "-right\n+wrong\n")
        self.write("chapters/01-x/selfcheck.cu", '#include "cases.cuh"\n')
        self.write("common/simt/src/device.cpp", "int device;\n")
        self.record(*ALL)

    def write(self, name, text):
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text)
        due.digest_of_file.cache_clear()
        due.of_everything.cache_clear()

    def record(self, *names):
        """Records that these tests ran, of those that the build has."""
        build = self.top / "build"
        every = [{"name": name, "suite": [f"01-x:{suite}"]} for suite, found in TESTS.items() for name in found]
        for folder in ("results", "meson-info"):
            (build / folder).mkdir(parents=True, exist_ok=True)
        (build / "meson-info" / "intro-tests.json").write_text(json.dumps(every))
        rejected = {"verdict": "rejected", "checks": {"passed": 0, "skipped": 0}, "failures": [{"text": "no", "finding": None}]}
        passed = {"verdict": "passed", "checks": {"passed": 1, "skipped": 0}, "failures": []}
        log = []
        for name in names:
            found = {**(rejected if "mistake" in name else passed), "skips": [], "counts": []}
            content = sample(device="CPU device", **found)
            (build / "results" / f"{name}.json").write_text(json.dumps(content))
            suite = next(suite for suite, found in TESTS.items() if name in found)
            log.append(json.dumps({"name": f"01-x:{suite} / {name}", "result": "OK"}))
        (build / "log.json").write_text("\n".join(log))
        record.record(self.top, build, [build / "log.json"], False)

    def test_nothing_is_due_that_is_as_recorded(self):
        self.assertEqual(due.changed(self.top), [])

    def test_what_a_verdict_depends_on(self):
        lessons = ["01-x"]
        for file, (exercises, chapters) in {
            "solutions/01-x/b.cuh": (["b"], []),
            "chapters/01-x/mistakes/a/wrong.diff": (["a"], []),
            "chapters/01-x/mistakes/a/another.diff": (["a"], []),
            "chapters/01-x/checks/a.cu": (["a"], []),
            "chapters/01-x/cases.cuh": (["a"], lessons),
            "chapters/01-x/selfcheck.cu": ([], lessons),
            "chapters/01-x/chapter.toml": ([], lessons),
            "chapters/01-x/program/new.cpp": ([], lessons),
            "common/simt/src/device.cpp": (["a", "b"], lessons),
            "common/simt/src/new.cpp": (["a", "b"], lessons),
            "common/tools/lib/result.py": (["a", "b"], lessons),
            "common/src/own_program.cpp": ([], []),
            "common/build/compiler/front_end.py": ([], []),
            "common/simt/README.md": ([], []),
            "chapters/01-x/README.md": ([], []),
            "chapters/01-x/results/run.json": ([], []),
        }.items():
            with self.subTest(file):
                old = (self.top / file).read_text() if (self.top / file).exists() else None
                self.write(file, (old or "") + ("# another\n" if file.endswith(".toml") else "// another\n"))
                self.assertEqual((due.changed(self.top), due.changed_lessons(self.top)), (exercises, chapters))
                if old is None:
                    (self.top / file).unlink()
                else:
                    self.write(file, old)

    def test_the_version_of_the_compiler_counts(self):
        due.of_everything.cache_clear()
        with mock.patch("tools.verdicts.due.find_compiler", lambda *_: "clang\n99\n/usr/bin/clang++-99"):
            self.assertEqual(due.changed(self.top), ["a", "b"])
        due.of_everything.cache_clear()

    def test_of_what_did_not_run_the_content_is_not_recorded(self):
        self.write("common/simt/src/device.cpp", "int other;\n")
        self.record("a-solution", "a-solution-counted", "a-mistake-wrong", "b-solution", "01-x-selfcheck")
        self.assertEqual(due.changed(self.top), ["b"])
        self.assertEqual(due.changed_lessons(self.top), ["01-x"])

    def test_a_variant_that_the_build_does_not_know_yet_is_due(self):
        self.write("chapters/01-x/mistakes/a/new.diff", "-right\n+new\n")
        self.record(*ALL)
        self.assertEqual(due.changed(self.top), ["a"])

    def test_every_exercise_has_its_turn(self):
        git = ["git", "-C", self.top, "-c", "user.name=x", "-c", "user.email=x"]
        subprocess.run(["git", "init", "-q", self.top], check=True)
        seen = []
        for _ in range(due.TURNS):
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
            seen += due.names(self.top, False)
        self.assertEqual(sorted(seen), ["a", "b"])
        self.assertEqual(due.names(self.top, True), ["a", "b"])

    def test_tests_of_lessons_and_solutions(self):
        lessons = [*TESTS["lessons"], *TESTS["solutions"], *TESTS["devices"]]
        with mock.patch("tools.verdicts.due.in_turn", lambda *_: []):
            self.assertEqual(due.tests(self.top, self.top / "build", False), ([], lessons))
            self.assertEqual(due.tests(self.top, self.top / "build", True), (lessons, []))
            self.write("chapters/01-x/selfcheck.cu", "int another;\n")
            self.assertEqual(due.tests(self.top, self.top / "build", False)[0], [*TESTS["lessons"], "01-x-selfcheck-2-devices"])
            self.record(*TESTS["lessons"])
            self.write("solutions/01-x/b.cuh", "int another;\n")
            self.assertEqual(due.tests(self.top, self.top / "build", False)[0], ["b-solution", "b-solution-2-devices"])
        with mock.patch("tools.verdicts.due.in_turn", lambda _, names: names[:1]):
            self.assertEqual(due.tests(self.top, self.top / "build", False)[1], [])

    def test_a_message_that_a_page_shows_is_that_of_a_run(self):
        self.course.readme.write_text("<!-- message b-mistake-wrong -->\n")
        self.assertEqual(due.shown(self.top), ["b"])

    def test_headers_of_other_chapters_count(self):
        files = {file.relative_to(TOP).as_posix() for file in due.files_of(TOP, "16-beat-the-library", "beat_softmax")}
        self.assertIn("chapters/15-row-reductions/softmax.cuh", files)


if __name__ == "__main__":
    unittest.main()
