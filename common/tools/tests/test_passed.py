"""Which tests the gate runs again: those whose files are not those with which they passed, some in turn, and those that read the whole repository."""

import json
import unittest
from unittest import mock

from tools.lib.failed import Failed
from tools.tests.sample_course import Course
from tools.verdicts import due, passed

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
        turns = mock.patch("tools.verdicts.due.in_turn", lambda *_: [])
        turns.start()
        self.addCleanup(turns.stop)
        self.write("common/simt/tests/races_test.cu", '#include "testing.hpp"\n')
        self.write("common/simt/tests/testing.hpp", '#include "inside.hpp"\n')
        self.write("common/simt/tests/inside.hpp", "int inside;\n")
        self.write("common/simt/tests/cases_of_two_test.cu", "int cases;\n")
        self.write("common/simt/tests/meson.build", "own_schedules = []\n")
        self.write("common/tests/pack_test.cpp", "int pack;\n")
        self.write("common/simt/src/device.cpp", "int device;\n")
        self.write("common/tools/tests/test_run.py", 'import os\nfrom tools.lib import words\n\nREADS = ("course", "samples")\n')
        self.write("common/tools/tests/test_due.py", "from tools.lib import words\n")
        self.write("common/tools/lib/words.py", "def late():\n    import build.parts.inside\n")
        self.write("common/build/parts/inside.py", "INSIDE = 1\n")
        self.write("common/tools/learn/main.py", "from tools.learn.list import shown\n")
        self.write("common/tools/learn/list.py", "shown = []\n")
        (self.top / "course").symlink_to("common/tools/learn/main.py")
        self.write("samples/one/a.cu", "int a;\n")
        tests = [{"name": name, "cmd": ["python3", "common", *words], "suite": [f"course:{'simt' if name.startswith('simt') else 'tools'}"]}
                 for name, words in COMMANDS.items()]
        self.write("build/meson-info/intro-tests.json", json.dumps([*tests, {"name": "x-solution", "suite": ["01-x:solutions"]}]))
        self.record(dict.fromkeys(KEPT, "OK"))

    def write(self, name, text):
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text)
        due.digest_of_file.cache_clear()
        due.of_everything.cache_clear()

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

    def test_what_a_test_depends_on(self):
        for file, tests in {
            "common/simt/tests/races_test.cu": ["simt-races"],
            "common/simt/tests/inside.hpp": ["simt-races"],
            "common/simt/tests/meson.build": ["simt-cases-of-two", "simt-races"],
            "common/tests/pack_test.cpp": ["course-pack"],
            "common/simt/src/device.cpp": KEPT,
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


if __name__ == "__main__":
    unittest.main()
