"""./course on a real build, that of COURSE_TEST_BUILD: word_count and its file, from the starter to the solution and back."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from tools.lib import checkout, course_state
from tools.lib.checkout import TOP
from tools.tests import screen
from tools.tests import system_python

READS = ("chapters/*/README.md", "chapters/*/chapter.toml", "chapters/01-global-atomic", "common/tools", "course", "exercises", "meson.*", "solutions/01-global-atomic")

system_python.again_if_missing(screen.pexpect)


@unittest.skipUnless(os.environ.get("COURSE_TEST_BUILD"), "COURSE_TEST_BUILD names no build folder with chapter 01")
class WordCount(unittest.TestCase):
    def test_word_count(self):
        build = str(Path(os.environ["COURSE_TEST_BUILD"]).resolve())
        file = TOP / "exercises" / "01-global-atomic" / "word_count.cuh"
        starter = file.read_bytes()
        state = Path(build) / course_state.FILE
        kept = state.read_bytes() if state.exists() else None
        self.assertFalse(checkout.is_started(starter.decode()), "this test begins with the starter: ./course reset word_count")

        def course(*words):
            done = subprocess.run([TOP / "course", *words, "--build", build], cwd=TOP, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return done.returncode, done.stdout

        try:
            self.assertEqual(course("check", "word_count")[0], 77)
            file.write_text(starter.decode().replace("NOT_STARTED ", "//"))
            code, text = course("check", "word_c")
            self.assertEqual(code, 1)
            self.assertIn("FAILED: word_count counts the words of short texts", text)
            self.assertEqual(course("diff", "word_count")[0], 1)
            file.write_text(file.read_text() + "\nint twice(int n) { return 2 * n; }\n__global__ void kernel(int* n) { *n = twice(*n); }\n")
            code, text = course("check", "word_count")
            self.assertEqual(code, 1)
            self.assertIn("error: twice() is a function of the host, and is called in device code", text)
            watched = screen.Screen([TOP / "course", "watch", "word_count", "--build", build], cwd=TOP)
            watched.wait_for("word_count is not right yet", 300)
            shutil.copyfile(TOP / "solutions" / "01-global-atomic" / file.name, file)
            watched.wait_for("word_count is solved", 300)
            watched.send("\x03")
            self.assertEqual(watched.finish()[0], 130)
            self.assertIn("the same as the solution", course("diff", "word_count")[1])
            self.assertRegex(course("list")[1], r"✓.word_count +solved")
            code, text = course("reset", "word_count", "--yes")
            self.assertEqual((code, file.read_bytes()), (0, starter))
            (TOP / re.search(r"your file: (\S+)", text).group(1)).unlink()
        finally:
            file.write_bytes(starter)
            state.write_bytes(kept) if kept is not None else state.unlink(missing_ok=True)


if __name__ == "__main__":
    unittest.main()
