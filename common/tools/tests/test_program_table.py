"""The tables of what runs on the CPU device, from the first lines of programs."""

import tempfile
import unittest
from pathlib import Path

from tools.lib.failed import Failed
from tools.maintain import program_table

PROGRAMS = {
    "right/grid.cu": "// Construct: a_b<T> | c. Expect: runs.",
    "right/two/main.cu": "// Construct: two files. Expect: runs.",
    "right/two/other.cu": "void f();",
    "racy/tree.cu": '// Construct: a tree. Expect: finding "DATA RACE" on s_x.',
    "unsupported/thrust.cu": '// Construct: Thrust. Expect: unsupported "thrust: not supported".',
}


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.page = self.top / "common/docs/any-cuda-file.md"
        self.page.parent.mkdir(parents=True)
        self.page.write_text("before\n<!-- programs:begin -->\n<!-- programs:end -->\nafter\n")
        for name, line in PROGRAMS.items():
            self.write(name, line)

    def write(self, name, line):
        file = self.top / "common/simt/tests/programs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{line}\nint main() {{}}\n")

    def test_every_program_is_in_its_table(self):
        document = program_table.documents(self.top)[0]
        self.assertIn("is out of step, line 3: <!-- programs:begin -->", document.problem())
        document.write()
        self.assertIsNone(document.problem())
        text = self.page.read_text()
        for line in ("### Runs (2)", "| a\\_b\\<T\\> \\| c | [right/grid.cu](../simt/tests/programs/right/grid.cu) |",
                     "| two files | [right/two](../simt/tests/programs/right/two) |",
                     "| a tree | [racy/tree.cu](../simt/tests/programs/racy/tree.cu) | DATA RACE |",
                     "/thrust.cu) | thrust: not supported |"):
            self.assertIn(line, text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))

    def test_a_first_line_that_says_nothing(self):
        self.write("right/silent.cu", "// A program.")
        with self.assertRaisesRegex(Failed, "right/silent.cu: the first line is not"):
            program_table.documents(self.top)


if __name__ == "__main__":
    unittest.main()
