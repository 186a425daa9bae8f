#!/usr/bin/env python3
"""all_mistakes.py: every answer in a namespace with a check of its own, every header in front of them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "all_mistakes.py"
CHECK = """#include "sum.cuh"
#include <catch2/catch_test_macros.hpp>
  #  include "inputs.cuh"
TEST_CASE("sum: n = 0") { REQUIRE(sum() == 0); }
"""


class AllMistakes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name).resolve()
        self.check = self.write("sum.cu", CHECK)
        self.answers = [self.write(f"{name}/sum.cuh", f"#include <{name}_header>\n") for name in ("late", "one_off")]
        output = self.top / "sum-mistakes.cu"
        subprocess.run([sys.executable, str(TOOL), output, self.check, *self.answers], check=True)
        self.lines = output.read_text().splitlines()

    def write(self, name, text):
        file = self.top / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    def test_headers_stand_outside_of_the_namespaces(self):
        head = self.lines[: self.lines.index("namespace mistake_late {")]
        self.assertEqual(
            head,
            ['#include "inputs.cuh"', "#include <catch2/catch_test_macros.hpp>", "#include <late_header>",
             "#include <one_off_header>"],
        )

    def test_every_answer_has_the_check_to_itself(self):
        for answer in self.answers:
            name = answer.parent.name
            begin = self.lines.index(f"namespace mistake_{name} {{")
            end = self.lines.index(f"}}  // namespace mistake_{name}")
            self.assertEqual(self.lines[begin + 3 : end], [f'#include "{answer}"', f'#include "{self.check}"'])

    def test_names_of_test_cases_begin_with_the_answers(self):
        for name in ("late", "one_off"):
            self.assertIn(f'#define TEST_CASE(...) INTERNAL_CATCH_TESTCASE("{name}: " __VA_ARGS__)', self.lines)


if __name__ == "__main__":
    unittest.main()
