"""Which C++ tests the gate runs again: those whose files are not those with which they passed, some in turn, and all in Python."""

import json
import unittest
from unittest import mock

from tools.lib.failed import Failed
from tools.tests.sample_course import Course
from tools.verdicts import due, passed

EVERY = ["course-pack", "simt-cases-of-two", "simt-races", "simt-layers", "tools-due"]
IN_CPP = EVERY[:3]


class Passed(unittest.TestCase):
    """Three tests in C++ that have passed, and two in Python."""

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
        tests = [{"name": name, "suite": [f"course:{'simt' if name.startswith('simt') else 'tools'}"]} for name in EVERY]
        self.write("build/meson-info/intro-tests.json", json.dumps([*tests, {"name": "x-solution", "suite": ["01-x:solutions"]}]))
        self.record(dict.fromkeys(IN_CPP, "OK"))

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
        """Those in C++ that are due. The others always are."""
        chosen, left_out = passed.names(self.top, self.build, wants_all)
        self.assertEqual(sorted([*chosen, *left_out]), sorted(EVERY))
        self.assertEqual(chosen[-2:], EVERY[3:])
        return chosen[:-2]

    def test_nothing_in_cpp_is_due_that_is_as_recorded(self):
        self.assertEqual(self.due(), [])
        self.assertEqual(self.due(wants_all=True), IN_CPP)

    def test_what_a_test_depends_on(self):
        for file, tests in {
            "common/simt/tests/races_test.cu": ["simt-races"],
            "common/simt/tests/inside.hpp": ["simt-races"],
            "common/simt/tests/meson.build": ["simt-cases-of-two", "simt-races"],
            "common/tests/pack_test.cpp": ["course-pack"],
            "common/simt/src/device.cpp": IN_CPP,
            "common/include/course/new.cuh": IN_CPP,
            "common/simt/README.md": [],
        }.items():
            with self.subTest(file):
                old = (self.top / file).read_text() if (self.top / file).exists() else None
                self.write(file, (old or "") + "// another\n")
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
            self.assertEqual(self.due(), IN_CPP)
        due.of_everything.cache_clear()
        with mock.patch("tools.verdicts.passed.version_of_cpp", lambda: "c++ 99"):
            self.assertEqual(self.due(), IN_CPP)

    def test_a_new_test_is_due(self):
        (self.top / passed.RECORD).write_text("")
        self.assertEqual(self.due(), IN_CPP)

    def test_those_whose_turn_it_is_are_due(self):
        with mock.patch("tools.verdicts.due.in_turn", lambda top, names: names[1:2]):
            self.assertEqual(self.due(), ["simt-cases-of-two"])

    def test_only_what_ran_and_passed_is_recorded(self):
        self.write("common/simt/src/device.cpp", "int other;\n")
        with self.assertRaisesRegex(Failed, "these did not: simt-races"):
            self.record({"course-pack": "OK", "simt-races": "FAIL"})
        self.assertEqual(self.due(), IN_CPP)
        self.record({"course-pack": "OK"})
        self.assertEqual(self.due(), IN_CPP[1:])


if __name__ == "__main__":
    unittest.main()
