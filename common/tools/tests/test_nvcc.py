"""Which folders the gate's nvcc compiles again: those whose files are not the recorded ones, and some in turn. Nvcc is a stand-in."""

import contextlib
import io
import os
import subprocess
import unittest
from unittest import mock

from tools.maintain import compile_with_nvcc
from tools.maintain.compile_with_nvcc import OWN, RECORD, compile_folders
from tools.tests.sample_course import Course
from tools.verdicts import due

READS = ()

# Refuses a source of which a file has the word "broken", as the preprocessor finds it.
NVCC = """#!/bin/sh
case $1 in
  --version) cat "$(dirname "$0")/release"; exit ;;
  --help) exit ;;
esac
for last; do :; done
g++ -E -P -x c++ "-I$(dirname "$0")/../common/include" "$last" >"$(dirname "$0")/compiled" || exit 1
! grep -q broken "$(dirname "$0")/compiled"
"""


class Due(unittest.TestCase):
    """Two chapters and the tests of the headers, all recorded."""

    FOLDERS = ("common/tests", "chapters/01-x", "chapters/02-y")

    def setUp(self):
        self.course = Course(self)
        self.top = self.course.top.resolve()
        for chapter, exercise in {"01-x": "a", "02-y": "b"}.items():
            self.course.chapter(chapter, exercises=[exercise])
            self.write(f"chapters/{chapter}/ladder.cu", '#include <course/used.cuh>\n#include "rungs.cuh"\n')
            self.write(f"chapters/{chapter}/rungs.cuh", f"#pragma once\nint rungs_of_{exercise};\n")
            self.write(f"solutions/{chapter}/{exercise}.cuh", "#pragma once\nint right;\n")
            self.write(f"chapters/{chapter}/checks/{exercise}.cu", f'#include "{exercise}.cuh"\n')
            self.write(f"chapters/{chapter}/mistakes/{exercise}/wrong.diff", "It is wrong.\n\n@@\n-int right;\n+int wrong;\n")
        self.write("common/include/course/used.cuh", '#pragma once\n#include "inside.cuh"\n')
        self.write("common/include/course/inside.cuh", "#pragma once\nint inside;\n")
        self.write("common/include/course/by_variant.cuh", "#pragma once\nint by_variant;\n")
        self.write("common/tests/examples_test.cu", "int example;\n")
        for name in OWN:
            self.write(f"common/{name}", "made of it\n")
        self.write("bin/release", "13.0\n")
        self.write("bin/nvcc", NVCC)
        (self.top / "bin" / "nvcc").chmod(0o755)
        path = mock.patch.dict(os.environ, {"PATH": f"{self.top / 'bin'}:{os.environ['PATH']}"})
        path.start()
        self.addCleanup(path.stop)
        turns = mock.patch("tools.verdicts.due.in_turn", lambda *_: [])
        turns.start()
        self.addCleanup(turns.stop)
        self.assertEqual(self.compiled(keeps=True), list(self.FOLDERS))

    def write(self, name, text):
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text)
        due.digest_of_file.cache_clear()
        compile_with_nvcc.nvcc_says.cache_clear()

    def compiled(self, due_only=False, keeps=False, code=0, arguments=("-arch=sm_90",)):
        """The folders that were compiled."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(compile_folders(self.top, self.FOLDERS, [*arguments], due_only, keeps), code)
        lines = said.getvalue().splitlines()
        compiled = [line.partition(":")[0] for line in lines if "lessons and answers" in line]
        left_out = " ".join(folder for folder in self.FOLDERS if folder not in compiled)
        self.assertEqual([line for line in lines if line.startswith("not due: ")], [f"not due: {left_out}"] if left_out else [])
        return compiled

    def due(self):
        return self.compiled(due_only=True)

    def test_nothing_is_due_that_is_as_recorded(self):
        self.assertEqual(self.due(), [])
        self.assertEqual(self.compiled(), list(self.FOLDERS))

    def test_what_is_compiled_depends_on(self):
        chapters = ["chapters/01-x", "chapters/02-y"]
        for file, folders in {
            "chapters/01-x/ladder.cu": ["chapters/01-x"],
            "chapters/01-x/rungs.cuh": ["chapters/01-x"],
            "chapters/02-y/checks/b.cu": ["chapters/02-y"],
            "chapters/02-y/mistakes/b/wrong.diff": ["chapters/02-y"],
            "exercises/01-x/a.cuh": ["chapters/01-x"],
            "solutions/02-y/b.cuh": ["chapters/02-y"],
            "common/tests/examples_test.cu": ["common/tests"],
            "common/include/course/used.cuh": chapters,
            "common/include/course/inside.cuh": chapters,
            "common/include/course/by_variant.cuh": [],
            "chapters/01-x/README.md": [],
            "common/simt/src/device.cpp": [],
            "bin/release": list(self.FOLDERS),
            OWN[0]: list(self.FOLDERS),
        }.items():
            with self.subTest(file):
                name = f"common/{file}" if file in OWN else file
                old = (self.top / name).read_text() if (self.top / name).exists() else ""
                self.write(name, old + "\n")
                self.assertEqual(self.due(), folders)
                self.write(name, old)
        self.assertEqual(self.due(), [])

    def test_a_new_file_and_a_header_that_a_variant_includes_count(self):
        self.write("chapters/01-x/counts.cu", "int counts;\n")
        self.write("chapters/02-y/alternatives/b/other.diff", "Another one.\n\n@@\n+#include <course/by_variant.cuh>\n int right;\n")
        self.assertEqual(self.compiled(due_only=True, keeps=True), ["chapters/01-x", "chapters/02-y"])
        self.assertEqual(self.due(), [])
        self.write("common/include/course/by_variant.cuh", "#pragma once\nint another;\n")
        self.assertEqual(self.due(), ["chapters/02-y"])

    def test_the_arguments_count(self):
        self.assertEqual(self.compiled(due_only=True, arguments=["-arch=sm_80"]), list(self.FOLDERS))

    def test_only_what_passed_is_recorded(self):
        old = (self.top / "chapters/02-y" / RECORD).read_text()
        self.write("chapters/01-x/rungs.cuh", "#pragma once\nint other;\n")
        self.write("solutions/02-y/b.cuh", "#pragma once\nint right;\nint broken;\n")
        self.assertEqual(self.compiled(due_only=True, keeps=True, code=1), ["chapters/01-x", "chapters/02-y"])
        self.assertEqual((self.top / "chapters/02-y" / RECORD).read_text(), old)
        self.assertEqual(self.compiled(due_only=True, code=1), ["chapters/02-y"])

    def test_a_compile_that_is_not_asked_to_records_nothing(self):
        self.write("chapters/01-x/rungs.cuh", "#pragma once\nint other;\n")
        self.assertEqual(self.due(), ["chapters/01-x"])
        self.assertEqual(self.due(), ["chapters/01-x"])

    def test_variants_are_compiled(self):  # chapter 02-y was the last
        self.assertIn("int wrong;", (self.top / "bin/compiled").read_text())


class InTurn(unittest.TestCase):
    def test_every_folder_has_its_turn(self):
        course = Course(self)
        git = ["git", "-C", course.top, "-c", "user.name=x", "-c", "user.email=x"]
        subprocess.run(["git", "init", "-q", course.top], check=True)
        names, seen = [str(number) for number in range(18)], []
        for _ in range(due.TURNS):
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
            seen += due.in_turn(course.top, names)
        self.assertEqual(sorted(seen), sorted(names))


if __name__ == "__main__":
    unittest.main()
