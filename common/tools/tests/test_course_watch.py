"""./course watch, at a terminal."""

import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from tools.tests import screen
from tools.tests import system_python
from tools.tests.small_course import Checkout

READS = ()

system_python.again_if_missing(screen.pexpect)


class Watch(Checkout):
    def setUp(self):
        super().setUp()
        # Ctrl-C may come in the middle of Path.read_bytes(), which then leaves its file to the garbage collector.
        self.environment["PYTHONWARNINGS"] = "error,ignore::ResourceWarning"

    def test_a_session(self):
        screen = self.screen("watch", "--every", "0.05")
        screen.wait_for("Watching 3 exercises: save, and the check runs. Ctrl-C ends it.\n")
        screen.wait_for("next:  exercises/01-first/word_count.cuh\n")
        file = self.answer("wrong")  # saved by renaming
        screen.wait_for("word_count is not right yet")
        screen.wait_for("hint:  ./course hint word_count  (1 of 2)\n")
        self.assertIn("rerun: save the file\n", screen.text)
        os.utime(file)  # saved, and not changed
        file.unlink()  # gone for a moment
        time.sleep(0.3)
        file.write_text("wrong")
        time.sleep(0.3)
        self.assertEqual(self.runs(), 1)
        file.write_text("RIGHT")
        screen.wait_for("word_count is solved")
        screen.wait_for("next:    Step 2 (a limit) of chapters/01-first/README.md, then ./course check count_above\n")
        self.answer("wrong", "ticket")
        screen.wait_for("ticket is not right yet")
        screen.wait_for("hint:  ./course hint ticket  (1 of 2)\n")
        text = self.ends_by_ctrl_c(screen)
        self.assertRegex(text.splitlines()[-1], r"\d\d:\d\d:\d\d  the watch has ended")
        # Colours, and the last line is written anew: nothing else is cleared.
        self.assertEqual(set(re.findall(r"\033\[[0-9;]*([A-Za-z])", text)), {"m", "K"})
        self.assertEqual((self.runs(), self.runs("count_above"), self.runs("ticket")), (2, 0, 1))

    def test_one_exercise_is_checked_at_once(self):
        screen = self.screen("watch", "word", "--every", "0.05")
        screen.wait_for("Not started. Open exercises/01-first/word_count.cuh")
        screen.wait_for("word_count is not begun")
        self.answer("RIGHT")
        screen.wait_for("word_count is solved")
        self.answer("wrong", "ticket")
        self.answer("wrong")
        screen.wait_for("word_count is not right yet")
        self.ends_by_ctrl_c(screen)
        self.assertEqual(self.runs("ticket"), 0)

    def test_a_save_during_a_check_begins_it_anew(self):
        self.answer("SLOW")
        screen = self.screen("watch", "word", "--every", "0.05")
        pid = self.pid_of_check(screen)
        self.answer("wrong", "ticket")  # is not watched
        self.answer("RIGHT")
        screen.wait_for("saved again: the check begins anew")
        screen.wait_for("word_count is solved")
        self.assertFalse(Path(f"/proc/{pid}").exists())
        self.assertEqual(self.runs(), 2)
        self.ends_by_ctrl_c(screen)

    def test_what_else_was_saved_during_a_check_comes_after_it(self):
        screen = self.screen("watch", "--every", "0.05")
        screen.wait_for("next:")
        self.answer("SLOW")
        self.pid_of_check(screen)
        self.answer("RIGHT", "ticket")
        time.sleep(0.3)
        self.answer("wrong")
        screen.wait_for("ticket is solved")
        self.assertLess(screen.text.index("word_count is not right yet"), screen.text.index("ticket is solved"))
        self.ends_by_ctrl_c(screen)

    def test_keys(self):
        screen = self.screen("watch", "word", "--every", "0.05")
        screen.wait_for("keys: h hint, d diff, p picture, n next, s solution, q quit\n")
        self.answer("wrong")
        screen.wait_for("now: word_count is not right yet; 0 of 2 solved in 01-first")
        screen.send("h")
        screen.wait_for("Hint 1 of 2 for word_count")
        screen.send("h")
        screen.wait_for("Hint 2 of 2 for word_count")
        screen.send("d")
        screen.wait_for("[y/N] ")
        screen.send("n\n")
        screen.send("s")
        screen.wait_for("Show the solution of word_count? [y/N] ")
        screen.send("y\n")
        screen.wait_for("// Exercise word_count\nRIGHT\n")
        screen.send("x")
        screen.wait_for("keys: h hint", times=2)
        self.answer("RIGHT")
        screen.wait_for("now: word_count is solved; 1 of 2 solved in 01-first")
        screen.send("n")
        screen.wait_for("check: ./course check count_above\n")
        self.answer("wrong", "count_above")
        screen.wait_for("count_above is not right yet")
        screen.send("q")
        code, text = screen.finish()
        self.assertEqual(code, 0)
        self.assertTrue(text.splitlines()[-1].endswith("the watch has ended\033[0m"), text[-200:])

    def test_ctrl_c_in_a_check(self):
        self.answer("SLOW")
        screen = self.screen("watch", "word")
        pid = self.pid_of_check(screen)
        self.assertIn("the watch has ended", self.ends_by_ctrl_c(screen))
        self.assertFalse(Path(f"/proc/{pid}").exists())

    def test_a_file_that_stays_away_is_named_once(self):
        file = self.answer("wrong")
        screen = self.screen("watch", "word", "--every", "0.05")
        screen.wait_for("hint:")
        file.unlink()
        screen.wait_for("is gone. ./course reset word_count brings the starter back.")
        time.sleep(0.3)
        file.write_text("RIGHT")
        screen.wait_for("word_count is solved")
        screen.send("\x03")
        self.assertEqual(screen.finish()[1].count("is gone"), 1)

    def test_without_a_terminal(self):
        watch = subprocess.Popen(["./course", "watch"], stdout=subprocess.PIPE, text=True, **self.options())
        self.assertIn("Watching 3", watch.stdout.readline())
        watch.send_signal(signal.SIGINT)
        text, _ = watch.communicate(timeout=20)
        self.assertEqual(watch.returncode, 130)
        self.assertNotIn("\033", text)
        self.assertNotIn("\r", text)

    def test_an_interval_that_is_none(self):
        for text in ("0", "nan"):
            self.assertEqual(self.course("watch", f"--every={text}")[0], 2, text)


if __name__ == "__main__":
    unittest.main()
