"""The tables of what runs on the CPU device, from the first lines of programs."""

import unittest

from tools.lib.failed import Failed
from tools.maintain import program_table
from tools.tests.in_folder import InFolder

READS = ()

PROGRAMS = {
    "right/grid.cu": "// Construct: a_b<T> | c. Expect: runs.",
    "right/two/main.cu": "// Construct: two files. Expect: runs.",
    "right/two/other.cu": "void f();",
    "racy/tree.cu": '// Construct: a tree. Expect: finding "DATA RACE" on s_x.',
    "missed/local.cu": '// Construct: a local array. Expect: missed "it has no guards".',
    "unsupported/thrust.cu": '// Construct: Thrust. Expect: unsupported "thrust: not supported".',
}


class Tables(InFolder):
    def setUp(self):
        super().setUp()
        self.page = self.write("common/docs/cuda-programs.md", "before\n<!-- programs:begin -->\n<!-- programs:end -->\nafter\n")
        for name, line in PROGRAMS.items():
            self.program(name, line)

    def program(self, name, line):
        self.write(f"common/simt/tests/programs/{name}", f"{line}\nint main() {{}}\n")

    def test_every_program_is_in_its_table(self):
        document = program_table.documents(self.folder)[0]
        self.assertIn("is out of step, line 3: <!-- programs:begin -->", document.problem())
        document.write()
        self.assertIsNone(document.problem())
        text = self.page.read_text()
        for line in ("### Runs (2)", "| a\\_b\\<T\\> \\| c | [right/grid.cu](../simt/tests/programs/right/grid.cu) |",
                     "| two files | [right/two](../simt/tests/programs/right/two) |",
                     "| a tree | [racy/tree.cu](../simt/tests/programs/racy/tree.cu) | DATA RACE |",
                     "| a local array | [missed/local.cu](../simt/tests/programs/missed/local.cu) | it has no guards |",
                     "/thrust.cu) | thrust: not supported |"):
            self.assertIn(line, text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))

    def test_a_first_line_that_says_nothing(self):
        self.program("right/silent.cu", "// A program.")
        with self.assertRaisesRegex(Failed, "right/silent.cu: the first line is not"):
            program_table.documents(self.folder)


if __name__ == "__main__":
    unittest.main()
