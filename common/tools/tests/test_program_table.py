#!/usr/bin/env python3
"""The tables of what runs on the CPU device, from the first lines of programs."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.maintain import program_table  # noqa: E402

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
        self.page = self.top / "page.md"
        self.page.write_text("before\n<!-- programs:begin -->\n<!-- programs:end -->\nafter\n")
        for name, line in PROGRAMS.items():
            self.write(name, line)
        for name, value in (("PROGRAMS", self.top / "programs"), ("PAGE", self.page)):
            patch = mock.patch.object(program_table, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name, line):
        file = self.top / "programs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{line}\nint main() {{}}\n")

    def run_it(self, *words):
        with mock.patch.object(sys, "argv", ["program_table.py", *words]):
            return program_table.main()

    def test_every_program_is_in_its_table(self):
        self.assertIn("are not those of the programs", self.run_it("--check"))
        self.assertEqual(self.run_it(), 0)
        self.assertEqual(self.run_it("--check"), 0)
        text = self.page.read_text()
        for line in ("### Runs (2)", "| a\\_b\\<T\\> \\| c | [right/grid.cu](../simt/tests/programs/right/grid.cu) |",
                     "| two files | [right/two](../simt/tests/programs/right/two) |",
                     "| a tree | [racy/tree.cu](../simt/tests/programs/racy/tree.cu) | DATA RACE |",
                     "/thrust.cu) | thrust: not supported |"):
            self.assertIn(line, text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))

    def test_a_first_line_that_says_nothing(self):
        self.write("right/silent.cu", "// A program.")
        self.assertIn("right/silent.cu: the first line is not", self.run_it("--check"))


if __name__ == "__main__":
    unittest.main()
