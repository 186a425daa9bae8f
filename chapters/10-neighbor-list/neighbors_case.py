"""What the tests of the program `neighbors` share: the program, its last argument, and how it is run."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv[-1])
HERE = Path(__file__).resolve().parent
METHODS = ["cpu", "atomic", "gather", "cells", "cells-cpu"]
FOUR = "0 0\n1.2 0\n0 1.2\n1.2 1.2\n"  # a square: the diagonal is 1.697
LINE = "".join(f"{n} 0\n" for n in range(50_000))


class NeighborsTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="neighbors-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, data, name="xy.txt"):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def run_program(self, *arguments, code=0):
        """The finished process; its exit code has to be `code`. Runs in the test's own folder."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                              timeout=100)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        if code == 0 and "--help" not in arguments:
            self.assertEqual(done.stderr, "")
        return done

    def lists(self, data, *arguments):
        """What the program writes for coordinates, as lines."""
        self.run_program(self.file(data), *arguments)
        return (self.folder / "neighbor.txt").read_text().splitlines()

    def refused(self, *arguments, says, code=2):
        """The program has to refuse, in one line that holds all of `says`, and to leave no new file."""
        before = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        done = self.run_program(*arguments, code=code)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for text in says if isinstance(says, list) else [says]:
            self.assertIn(text, done.stderr)
        after = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(before, after)
        return done.stderr

    def refused_input(self, data, place, says, *arguments):
        """The same for an input; `place` is "line:column"."""
        (self.folder / "neighbor.txt").write_text("an old result\n")
        path = self.file(data)
        self.refused(path, *arguments, says=[f"neighbors: {path}:{place}: ", *([says] if isinstance(says, str) else says)])
