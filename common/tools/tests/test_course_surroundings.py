"""./course in other terminals, places and languages, and several at once."""

import io
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from tools.learn import course
from tools.lib import course_state, terminal
from tools.tests import screen
from tools.tests import system_python
from tools.tests.small_course import Checkout, TOOLS

READS = ()

system_python.again_if_missing(screen.pexpect)


class Surroundings(Checkout):
    def test_colours_only_at_a_terminal_that_has_them(self):
        self.answer("RIGHT")
        self.assertNotIn("\033", self.course("list")[1])
        self.assertIn("\033[32msolved\033[0m", self.screen("list").finish()[1])
        for nothing in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
            self.assertNotIn("\033[3", self.screen("list", **nothing).finish()[1])
        coloured = self.screen("diff", "word_count", "--yes").finish()[1]
        self.assertIn("\033[3", coloured)
        self.assertNotIn("\033[3", self.screen("diff", "word_count", "--yes", NO_COLOR="1").finish()[1])

    def test_characters_only_where_the_encoding_has_them(self):
        self.answer("RIGHT")
        plain = {"LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        text = self.process("list", **plain)[1]
        self.assertIn("+ word_count   solved\n>*count_above  not begun\n", text)
        self.assertTrue(self.process("hint", "word_count", **plain)[1].isascii())

    def test_the_window_is_forty_columns_wide(self):
        for words in (["list"], ["hint", "word_count", "--all"], ["next"], ["watch", "--help"]):
            _, text = self.screen(*words, columns=40, NO_COLOR="1").finish()
            sentences = [line for line in text.splitlines() if not line.startswith(("Next", "   ", "edit", "read", "check"))]
            self.assertLessEqual(max(map(len, sentences)), 100 if "--help" in words else 40, text)

    def test_a_home_is_not_needed_and_not_written(self):
        home = self.top / "home"
        home.mkdir()
        self.answer("RIGHT")
        for place in (None, "/nowhere", str(home)):
            for words in (["check", "word"], ["diff", "word_count"]):
                self.assertEqual(self.process(*words, HOME=place)[0], 0, words)
        self.assertEqual(list(home.iterdir()), [])

    def test_a_read_only_checkout_says_so(self):
        self.answer("wrong")
        more = self.as_reader()
        code, text, _ = self.process("check", "word_count", more=more)
        self.assertEqual(code, 1)
        self.assertIn("exercise.lock cannot be written: Permission denied", text)
        for words in (["list"], ["next"]):
            self.assertEqual(self.process(*words, more=more)[0], 0)

    def test_a_closed_pipe_is_silent(self):
        for words in (["list"], ["hint", "word_count", "--all"], ["--help"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(["./course", *words], stdout=writer, stderr=subprocess.PIPE, **self.options())
            os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))

    def test_from_any_folder_and_through_a_link(self):
        within = self.top / "exercises" / "01-first"
        text = self.process("list", program="../../course", cwd=within)[1]
        self.assertIn("README.md\n      word_count.cuh\n      ../../course check word_count\n", text)
        elsewhere = Path(self.folder.name) / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "course").symlink_to(self.top / "course")
        text = self.process("list", cwd=elsewhere, PATH=f"{elsewhere}:{self.environment['PATH']}")[1]
        self.assertIn("      course check word_count\n", text)
        (elsewhere / "here").symlink_to(self.top)
        text = self.process("list", cwd=elsewhere / "here", PWD=str(elsewhere / "here"))[1]
        self.assertIn("README.md\n      exercises/01-first/word_count.cuh\n      ./course check word_count\n", text)

    def test_every_command_has_help_with_an_example(self):
        code, text, _ = self.course()
        self.assertEqual(code, 0)
        commands = re.findall(r"(?m)^    (\w+) ", text)
        self.assertEqual(commands, ["list", "next", "check", "hint", "diff", "watch", "picture", "reset", "score", "export", "run"])
        for command in commands:
            with mock.patch("sys.stdout", io.StringIO()) as text, self.assertRaises(SystemExit) as ended:
                course.parser()[0].parse_args([command, "--help"])
            self.assertEqual(ended.exception.code, 0)
            self.assertIn(f"example:\n  ./course {command}", text.getvalue())

    def test_a_command_that_does_not_exist(self):
        self.assertEqual(self.course("lst"), (2, "", "There is no command lst. Did you mean list?\n"))
        self.assertEqual(self.course("--build", "list", "chekc"), (2, "", "There is no command chekc. Did you mean check?\n"))
        self.assertIn("There is no command zzz. The commands are list, next, ", self.course("zzz")[2])

    def test_the_build_folder_may_stand_before_the_command(self):
        self.build.rename(self.top / "other")
        self.assertEqual(self.course("--build", "other", "check", "word_count"),
                         self.course("check", "word_count", "--build", "other"))
        self.assertEqual(self.course("--build", "nothing", "list", "--build", "other")[0], 0)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_standard_output(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(["./course", "list"], stdout=full, stderr=subprocess.PIPE, text=True, **self.options())
        self.assertEqual((done.returncode, done.stderr), (1, "Standard output cannot be written: No space left on device.\n"))

    def test_two_at_once(self):
        lines = "import sys; from tools.lib import course_state\n" \
                "for i in range(20):\n" \
                " with course_state.change(sys.argv[1]) as state: state.setdefault(sys.argv[2], {})['hints'] = i\n"
        with course_state.change(self.build):  # no other process can change it now
            others = [subprocess.Popen([sys.executable, "-SBc", lines, str(self.build), name],
                                       env={**os.environ, "PYTHONPATH": str(TOOLS.parent)})
                      for name in "abc"]
            time.sleep(1)
            self.assertEqual(course_state.load(self.build), {})
        self.assertEqual([one.wait(60) for one in others], [0] * 3)
        self.assertEqual(course_state.load(self.build), {name: {"hints": 19} for name in "abc"})
        self.assertEqual(list(self.build.glob(f"{course_state.FILE}?*")), [])


class Text(unittest.TestCase):
    def test_markdown_becomes_lines_that_fit(self):
        os.environ["COLUMNS"] = "30"
        self.addCleanup(os.environ.pop, "COLUMNS")
        self.assertEqual(
            terminal.from_markdown(
                "One [link](to/it.md) and\na second line that is long.\n\n- an item that goes on and on\n  and on\n"
                "- another\n\n```cpp\nint code = 1;  // as it is, however long it may be\n```\n", "  "),
            "  One link and a second line\n  that is long.\n\n  - an item that goes on and\n    on and on\n  - another\n\n"
            "    int code = 1;  // as it is, however long it may be",
        )


if __name__ == "__main__":
    unittest.main()
