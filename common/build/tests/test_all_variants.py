"""all_variants.py: every answer in a namespace with a check of its own, every header before them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

READS = ("common/build/all_variants.py",)

TOOL = [sys.executable, str(Path(__file__).resolve().parents[2]), "build.all_variants"]
CHECK = """#include "sum.cuh"
#include <catch2/catch_test_macros.hpp>
  #  include "inputs.cuh"
TEST_CASE("sum: n = 0") { REQUIRE(sum() == 0); }
"""


class AllVariants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name).resolve()
        self.check = self.write("sum.cu", CHECK)
        self.solution = self.write("solutions/sum.cuh", "#pragma once\nint sum();\n")
        names = ("late", "one_off")
        self.diffs = [
            self.write(f"{name}.diff", f"It is {name}.\n\n@@\n+#include <{name}_header>\n int sum();\n") for name in names
        ]
        self.output = self.top / "build/sum-variants.cu"
        self.output.parent.mkdir()
        self.depfile = self.output.with_suffix(".d")
        self.assertEqual(self.run_it().returncode, 0)
        self.answers = [self.output.parent / "variants" / name / "sum.cuh" for name in names]
        self.lines = self.output.read_text().splitlines()

    def run_it(self):
        return subprocess.run(
            [*TOOL, self.output, self.depfile, self.solution, self.check, *self.diffs],
            capture_output=True,
            text=True,
        )

    def write(self, name, text):
        file = self.top / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    def test_answers_are_made_of_the_solution(self):
        self.assertEqual(self.answers[0].read_text(), "// It is late.\n#pragma once\n#include <late_header>\nint sum();\n")

    def test_a_changed_solution_makes_them_again(self):
        depfile = self.depfile.read_text()
        self.assertTrue(depfile.startswith(f"{self.output}: {self.solution} "), depfile)
        self.assertIn("/build/variants.py", depfile)

    def test_an_answer_that_does_not_fit_ends_the_build(self):
        self.write("solutions/sum.cuh", "int sum(int);\n")
        done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^error: .*/late.diff:3: .*/solutions/sum.cuh does not have this text")

    def test_headers_stand_outside_of_the_namespaces(self):
        head = self.lines[: self.lines.index("namespace variant_late {")]
        self.assertEqual(
            head,
            ['#include "inputs.cuh"', "#include <catch2/catch_test_macros.hpp>", "#include <late_header>",
             "#include <one_off_header>"],
        )

    def test_every_answer_has_the_check_to_itself(self):
        for answer in self.answers:
            name = answer.parent.name
            begin = self.lines.index(f"namespace variant_{name} {{")
            end = self.lines.index(f"}}  // namespace variant_{name}")
            self.assertEqual(self.lines[begin + 3 : end], [f'#include "{answer}"', f'#include "{self.check}"'])

    def test_names_of_test_cases_begin_with_the_answers(self):
        for name in ("late", "one_off"):
            self.assertIn(f'#define TEST_CASE(...) INTERNAL_CATCH_TESTCASE("{name}: " __VA_ARGS__)', self.lines)


if __name__ == "__main__":
    unittest.main()
