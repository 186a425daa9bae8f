"""Which tests the gate runs again: those whose files are not those with which they passed, some in turn, and those that read the whole
repository. And what a test opens is what it says that it reads."""

import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.maintain import compile_with_nvcc
from tools.tests.in_folder import InFolder
from tools.tests.sample_course import Course
from tools.verdicts import due, passed

READS = ("common/tools/verdicts/opened",)

COMMANDS = {"simt-cases-of-two": [], "course-pack": [], "simt-races": [], "tools-run": ["tools.tests.test_run", "--part"], "simt-layers": ["tools.maintain.simt_layers"],
            "tools-due": ["tools.tests.test_due"]}
EVERY = [*COMMANDS]
IN_CPP, KEPT, ALWAYS = EVERY[:3], EVERY[:4], EVERY[4:]


class Passed(unittest.TestCase):
    """Three tests in C++ and one in Python that have passed, and two that always run."""

    def setUp(self):
        self.course = Course(self)
        self.top = self.course.top
        self.build = self.top / "build"
        self.enterContext(mock.patch("tools.verdicts.due.in_turn", lambda *_: []))
        self.enterContext(mock.patch("tools.verdicts.due.find_compiler", lambda *_: "clang\n16\n/usr/bin/clang++-16"))
        self.write("common/simt/tests/races_test.cu", '#include "testing.hpp"\n')
        self.write("common/simt/tests/testing.hpp", '#include "inside.hpp"\n')
        self.write("common/simt/tests/inside.hpp", "int inside;\n")
        self.write("common/simt/tests/cases_of_two_test.cu", "int cases;\n")
        self.write("common/simt/tests/meson.build", "own_schedules = []\n")
        self.write("common/tests/pack_test.cpp", "int pack;\n")
        self.write("common/simt/src/device.cpp", "int device;\n")
        self.write("common/tools/tests/test_run.py", 'import os\nfrom tools.lib import words\n\nREADS = ("course", "samples", "notes/*/a.md", "common/dev")\n')
        self.write("common/tools/tests/test_due.py", "from tools.lib import words\n")
        self.write("common/tools/lib/words.py", "def late():\n    import build.parts.inside\n")
        self.write("common/build/parts/inside.py", "INSIDE = 1\n")
        self.write("common/tools/learn/main.py", "from tools.learn.list import shown\n")
        self.write("common/tools/learn/list.py", "shown = []\n")
        (self.top / "course").symlink_to("common/tools/learn/main.py")
        self.write("samples/one/a.cu", "int a;\n")
        self.write("notes/one/a.md", "a\n")
        self.write("common/dev", "#!/usr/bin/env python3\nimport tools.maintain.new\n")
        self.write("common/tools/maintain/new.py", "NEW = 1\n")
        self.write("common/tools/__init__.py", "")
        tests = [{"name": name, "cmd": ["python3", "common", *words], "suite": [f"course:{'simt' if name.startswith('simt') else 'tools'}"]}
                 for name, words in COMMANDS.items()]
        self.write("build/meson-info/intro-tests.json", json.dumps([*tests, {"name": "x-solution", "suite": ["01-x:solutions"]}]))
        self.record(dict.fromkeys(KEPT, "OK"))

    def write(self, name, text):
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text)
        due.digest_of_file.cache_clear()
        due.of_everything.cache_clear()
        passed.imported.cache_clear()

    def record(self, results):
        lines = [json.dumps({"name": f"course:simt / {name}", "result": result}) for name, result in results.items()]
        self.write("build/meson-logs/testlog.json", "\n".join(lines))
        passed.record(self.top, self.build)

    def due(self, wants_all=False):
        """Those that are due, but for those that always are."""
        chosen, left_out = passed.names(self.top, self.build, wants_all)
        self.assertEqual(sorted([*chosen, *left_out]), sorted(EVERY))
        self.assertEqual(chosen[-2:], ALWAYS)
        return chosen[:-2]

    def test_nothing_is_due_that_is_as_recorded(self):
        self.assertEqual(self.due(), [])
        self.assertEqual(self.due(wants_all=True), KEPT)

    def test_the_longest_come_first_in_the_turns(self):
        tests = json.loads((self.build / "meson-info/intro-tests.json").read_text())
        next(test for test in tests if test["name"] == "tools-run")["priority"] = 1
        self.write("build/meson-info/intro-tests.json", json.dumps(tests))
        with mock.patch("tools.verdicts.due.in_turn", lambda top, names: names[:1]):
            self.assertEqual(self.due(), ["tools-run"])

    def test_trials_are_apart_and_have_a_log_of_their_own(self):
        tests = json.loads((self.build / "meson-info/intro-tests.json").read_text())
        tests.append({"name": "trial-class", "cmd": ["python3", "common", "tools.tests.test_run"], "suite": ["course:trials"]})
        self.write("build/meson-info/intro-tests.json", json.dumps(tests))
        self.assertEqual(self.due(), [])
        trials = (self.top, self.build, False, passed.TRIALS)
        self.assertEqual(passed.names(*trials), (["trial-class"], []))
        log = self.build / "meson-logs/testlog-trials.json"
        log.write_text(json.dumps({"name": "course:trials / trial-class", "result": "OK"}))
        passed.record(self.top, self.build, log)
        self.assertEqual(passed.names(*trials), ([], ["trial-class"]))
        self.assertEqual(self.due(), [])

    def test_the_record_of_nvcc_has_one_name(self):
        self.assertEqual(Path(passed.RECORD_OF_NVCC), compile_with_nvcc.RECORD)

    def test_what_a_test_depends_on(self):
        for file, tests in {
            "common/simt/tests/races_test.cu": ["simt-races"],
            "common/simt/tests/inside.hpp": ["simt-races"],
            "common/simt/tests/meson.build": ["simt-cases-of-two", "simt-races"],
            "common/tests/pack_test.cpp": ["course-pack"],
            "common/simt/src/device.cpp": KEPT,
            "common/src/own_program.cpp": KEPT,
            "common/build/compiler/front_end.py": ["tools-run"],
            "common/include/course/new.cuh": KEPT,
            "common/simt/README.md": [],
            "common/tools/tests/test_run.py": ["tools-run"],
            "common/tools/tests/meson.build": ["tools-run"],
            "common/tools/lib/words.py": ["tools-run"],
            "common/tools/learn/list.py": ["tools-run"],
            "common/__main__.py": ["tools-run"],
            "samples/one/a.cu": ["tools-run"],
            "samples/two/b.cu": ["tools-run"],
            "samples/one/__pycache__/a.pyc": [],
            "samples/one/results/nvcc.toml": [],
            "samples/one/results/other.toml": ["tools-run"],
            "notes/two/a.md": ["tools-run"],
            "notes/two/b.md": [],
            "common/tools/maintain/new.py": ["tools-run"],
            "common/tools/__init__.py": ["tools-run"],
            "common/tools/tests/test_due.py": [],
            "common/tools/learn/other.py": [],
        }.items():
            with self.subTest(file):
                old = (self.top / file).read_text() if (self.top / file).exists() else None
                self.write(file, (old or "") + ("# another\n" if file.endswith(".py") else "// another\n"))
                self.assertEqual(self.due(), tests)
                if old is None:
                    (self.top / file).unlink()
                else:
                    self.write(file, old)
        self.write("common/simt/src/device.cpp", "int device;\n")
        self.assertEqual(self.due(), [])

    def test_the_version_of_each_compiler_counts(self):
        due.of_everything.cache_clear()
        with mock.patch("tools.verdicts.due.find_compiler", lambda *_: "clang\n99\n/usr/bin/clang++-99"):
            self.assertEqual(self.due(), KEPT)
        due.of_everything.cache_clear()
        with mock.patch("tools.verdicts.passed.version_of_cpp", lambda: "c++ 99"):
            self.assertEqual(self.due(), KEPT)

    def test_what_a_test_says_that_it_reads_is_there(self):
        (self.top / "samples/one/a.cu").unlink()
        (self.top / "samples/one").rmdir()
        (self.top / "samples").rmdir()
        with self.assertRaisesRegex(Failed, "test_run.py: READS has what is not there: .*samples"):
            self.due()

    def test_a_new_test_is_due(self):
        (self.top / passed.RECORD).write_text("")
        self.assertEqual(self.due(), KEPT)

    def test_those_whose_turn_it_is_are_due(self):
        with mock.patch("tools.verdicts.due.in_turn", lambda top, names: names[2:4]):
            self.assertEqual(self.due(), KEPT[2:])

    def test_only_what_ran_and_passed_is_recorded(self):
        self.write("common/simt/src/device.cpp", "int other;\n")
        with self.assertRaisesRegex(Failed, "these did not: simt-races"):
            self.record({"course-pack": "OK", "simt-races": "FAIL"})
        self.assertEqual(self.due(), KEPT)
        self.record({"course-pack": "OK", "tools-run": "OK"})
        self.assertEqual(self.due(), ["simt-cases-of-two", "simt-races"])


class Reads(InFolder):
    """A test in a small checkout, whose READS names a file, a folder and a pattern."""

    TEST = """import os, subprocess, sys, tempfile, unittest
from importlib import import_module
from tools.lib.checkout import TOP
from tools.lib import words

READS = ("a.md", "samples", "notes/*/a.md", "run.py")


class Test(unittest.TestCase):
    def test_it(self):
        own = self.enterContext(tempfile.TemporaryDirectory())
        {lines}


if __name__ == "__main__":
    unittest.main()
"""

    NOTHING_ELSE = """open(TOP / 'a.md').close()
open('samples/deep/a.cu').close()
os.listdir('samples/deep')
[open(file).close() for file in TOP.glob('notes/*/a.md')]
self.assertRaises(OSError, open, 'none.md')
open('build/x/a.md').close()
open('.git/HEAD').close()
open('common/simt/src/a.cpp').close()
open(f'{own}/a', 'w').close()
open(f'{own}/a').close()
os.listdir(own)
words.late()
subprocess.run(['cat', 'a.cu'], cwd='samples/deep', check=True)
subprocess.run([sys.executable, 'run.py', 'a.md'], check=True)
open('0.md', 'a').close()"""
    ALSO = {
        "open('1.md').close()": "1.md",
        "(TOP / 'common/../2.md').read_bytes()": "2.md",
        "os.close(os.open('3.md', os.O_RDONLY))": "3.md",
        "os.chdir('samples'); open('../4.md').close(); os.chdir('..')": "4.md",
        "os.symlink(TOP, f'{own}/link'); open(f'{own}/link/5.md').close()": "5.md",
        "os.fork() or (open('6.md').close(), os._exit(0)); os.wait()": "6.md",
        "subprocess.run(['cat', '7.md', 'a.md'], check=True)": "7.md",
        "subprocess.run(['sh', '-c', sys.executable + ' run.py 8.md'], check=True)": "8.md",
        "subprocess.run(['sh', '-c', sys.executable + ' another.py a.md'], check=True)": "another.py",
        "import_module('tools.lib.' + 'other')": "common/tools/lib/other.py",
        "os.listdir('notes/one')": "notes/one/",
        "[*TOP.glob('*.md')]": "./",
    }

    def setUp(self):
        super().setUp()
        program = TOP / "common/tools/verdicts/passed.py"
        for file in {program, TOP / "common/__main__.py", TOP / "common/tools/verdicts/opened/sitecustomize.py",
                     *passed.modules(TOP / "common", [program])}:
            self.write(str(file.relative_to(TOP)), file.read_bytes())
        for name in ("a.md", *(f"{number}.md" for number in range(9)), "samples/deep/a.cu", "notes/one/a.md", "notes/one/b.md", "build/x/a.md",
                     "common/simt/src/a.cpp", ".git/HEAD", "common/tools/lib/later.py", "common/tools/lib/other.py"):
            self.write(name, "")
        self.write("common/tools/lib/words.py", "def late():\n    from tools.lib import later\n")
        for name in ("run", "another"):
            self.write(f"{name}.py", "import sys\nopen(sys.argv[1])\n")

    def outcome(self, lines, text=TEST):
        """The exit code of a test of these lines, and what it has opened beside what its READS names."""
        self.write("common/tools/tests/test_it.py", text.format(lines="\n        ".join(lines)))
        done = subprocess.run([sys.executable, "common", "tools.tests.test_it"], cwd=self.folder, capture_output=True, text=True)
        before, _, names = done.stderr.partition("common/tools/tests/test_it.py: READS names neither these nor their folders:\n")
        return done.returncode, names.split()

    def test_what_reads_names_may_be_opened(self):
        self.assertEqual(self.outcome(self.NOTHING_ELSE.splitlines()), (0, []))

    def test_what_it_does_not_name_is_an_error(self):
        self.assertEqual(self.outcome(self.ALSO), (1, sorted(self.ALSO.values())))

    def test_one_without_reads_may_open_all(self):
        self.assertEqual(self.outcome(["open('1.md').close()"], self.TEST.replace("READS", "OTHER")), (0, []))

    def test_one_that_fails_still_does(self):
        self.assertEqual(self.outcome(["self.fail()"]), (1, []))


if __name__ == "__main__":
    unittest.main()
