"""./course, as a learner meets it: where they stand, and what a check says. No compiler is needed (test_course_on_build.py)."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from tools.learn import build_folder, progress
from tools.lib import checkout, course_state, result
from tools.tests import screen
from tools.tests import system_python
from tools.tests.in_folder import InFolder
from tools.tests.small_course import Checkout, TOP

READS = ()

system_python.again_if_missing(screen.pexpect)


PASSED = """question = "?"
learn = "?"
exercises = ["word_count", "count_above"]
core = ["count_above"]
[stars]
word_count = 1
count_above = 1
[passed.word_count]
takeaway = "An atomic is one step."
"""


class List(Checkout):
    def test_the_board(self):
        self.answer("RIGHT")
        self.answer("wrong", "ticket")
        code, text, error = self.course("list")
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(
            text,
            "01-first       1 solved, 1 not begun\n"
            "✓ word_count   solved\n"
            " *count_above  not begun\n"
            "02-second      1 begun\n"
            "▶*ticket       not right yet\n"
            "\n"
            "1 of 3 solved.\n"
            "* 0 of 2 on the fast track (--fast).\n"
            "Next: 'A list' of chapters/02-second/README.md\n      exercises/02-second/ticket.cuh\n"
            "      ./course check ticket\n",
        )

    def test_only_what_has_changed_is_checked(self):
        self.answer("RIGHT")
        for _ in range(2):
            self.assertIn("1 of 3 solved", self.course("list")[1])
            self.assertEqual(self.runs(), 1)
        self.answer("wrong")
        self.assertIn("0 of 3 solved", self.course("list")[1])
        self.assertEqual(self.runs(), 2)
        self.write("chapters/01-first/checks/word_count.cu", "// a stricter check\n")
        self.course("list")
        self.assertEqual(self.runs(), 3)

    def test_what_meson_test_found_is_known(self):
        self.answer("RIGHT")
        command = self.tests[0]["cmd"]
        subprocess.run(command, cwd=self.build, env=self.environment, stdout=subprocess.DEVNULL, check=True)
        self.assertIn("✓ word_count   solved", self.course("list")[1])
        self.assertEqual(self.runs(), 1)

    def test_a_run_that_is_not_the_whole_check_does_not_count(self):
        self.answer("RIGHT")
        for partial in ({"COURSE_WRAPPER": "env"}, {"COURSE_EXPECT": "rejection"}, {"SIMT_TRACE": "x"}):
            subprocess.run(self.tests[0]["cmd"], cwd=self.build, env={**self.environment, **partial}, check=True,
                           stdout=subprocess.DEVNULL)
        code, text, _ = self.course("check", "word_count", SIMT_SEED="1")
        self.assertEqual(code, 0)
        self.assertIn("word_count has passed this run; the whole check has not run on the file as it is now.\n", text)
        self.assertFalse((self.build / course_state.FILE).exists())

    def test_a_pass_compares_with_the_solution(self):
        self.write("chapters/01-first/chapter.toml", PASSED + 'counters = ["launches", "barriers", "atomics", "unknown"]\n')
        self.answer("RIGHT")
        alone = self.course("check", "word_count")[1]
        self.assertIn("word_count is solved.\nRemember: An atomic is one step.\ncompare: ", alone)
        counts = {"launches": 21, "barriers": 0, "atomics": 250}
        kept = {"word_count-solution": {"suite": "solutions", "verdict": "passed", "text": "", "counts": counts}}
        self.write("chapters/01-first/results/cpu-device-verdicts.json",
                   json.dumps({"schema": "course.verdicts", "version": 1, "device": "CPU device", "tests": kept}))
        self.assertEqual(self.course("check", "word_count")[1], alone)  # the answer was not counted
        self.answer("RIGHT COUNTED")
        self.assertIn("""word_count is solved.
counted in one run of the check   your answer  the solution
launches of kernels                        20            21
__syncthreads(), once per block             5             0  ↑ the solution has none
single atomics                          1,000           250  ↑ 4 times as many
Warps wait.
Remember: An atomic is one step.
""", self.course("check", "word_count")[1])

    def test_a_pass_on_a_gpu_is_timed_beside_the_solution(self):
        self.write("chapters/01-first/chapter.toml", PASSED)
        self.answer("RIGHT TIMED")
        solution = self.build / "chapters/01-first/word_count-solution"
        self.assertIn("is solved.\nRemember: ", self.course("check", "word_count")[1])  # there is no solution here
        counts = '[{"name": "longest_launch", "what": "longest launch, in ns", "costs": "", "value": 10000}]'
        found = f'{{"schema": "course.result", "version": 1, "verdict": "passed", "counts": {counts}}}'
        solution.parent.mkdir(parents=True, exist_ok=True)
        solution.write_text(f"#!/bin/bash\n[ $COURSE_COUNT_SECONDS = 2 ] && echo '{found}' >$COURSE_RESULT\n")
        solution.chmod(0o755)
        self.assertIn("""word_count is solved.
in one run of the check   your answer  the solution
longest launch, in ns        26,000        10,000  ↑ 2.6 times as long
Remember: An atomic is one step.
""", self.course("check", "word_count")[1])

    def test_a_file_that_is_gone(self):
        self.answer("").unlink()
        code, text, _ = self.course("list")
        self.assertIn("▶ word_count   file is gone", text)
        self.assertIn("./course reset word_count", self.course("next")[1])

    def test_all_solved(self):
        for name in ("word_count", "count_above", "ticket"):
            self.answer("RIGHT", name)
        self.assertTrue(self.course("list")[1].endswith("3 of 3 solved.\n* 2 of 2 on the fast track (--fast).\n"))
        self.assertEqual(self.course("next")[1], "3 of 3 exercises of build are solved.\n")
        self.assertIn("All 3 exercises are solved.\n", self.course("check", "ticket")[1])

    def test_what_cannot_run_here(self):
        for name in ("word_count", "count_above", "ticket"):
            self.answer("RIGHT" if name == "ticket" else "GPU", name)
        self.assertIn("  word_count   cannot run here\n", self.course("list")[1])
        rest = "1 of 3 exercises of build are solved, and the others cannot run here.\n"
        self.assertEqual(self.course("next")[1], rest)
        self.assertEqual(self.course("check", "word_count"), (77, "skipped: no GPU\n", ""))

    def test_meson_calls_it_in_the_build_folder(self):
        tool = str(self.top / "common" / "tools" / "learn/course.py")
        code, text, _ = self.process("list", "--build", str(self.build), program=tool, cwd=self.build, PWD=str(self.top))
        self.assertEqual(code, 0)
        self.assertIn("Next: Step 1 (words) of chapters/01-first/README.md\n      exercises/01-first/word_count.cuh\n      ./course check word_count\n", text)


class States(InFolder):
    def test_they_follow_from_exit_codes_and_results(self):
        def state(code, verdict):
            result.write(result.file_of(self.folder, "x"), result.new(verdict))
            command = [sys.executable, "-c", f"print('words'); exit({code})"]
            return progress.state_after_check(progress.Exercise("01", "x", Path("x"), command), self.folder)

        self.assertEqual(state(0, "passed"), progress.SOLVED)
        self.assertEqual(state(1, "failed"), progress.BEGUN)
        self.assertEqual(state(77, "not_started"), progress.NOT_STARTED)
        self.assertEqual(state(77, "skipped"), progress.UNKNOWN)

    def test_the_board_of_the_longest_name_fits_forty_columns(self):
        os.environ["COLUMNS"] = "40"
        self.addCleanup(os.environ.pop, "COLUMNS")
        states = (progress.UNKNOWN, progress.SOLVED, progress.NOT_STARTED)
        rows = [(progress.Exercise("02-atomic-functions", f"atomic_add_saturating{i}"[:21], Path("x"), []), state)
                for i, state in enumerate(states)]
        lines = progress.board(rows).splitlines()
        self.assertLessEqual(max(map(len, lines)), 40)
        self.assertEqual(lines[:2], ["02-atomic-functions", "  1 solved, 1 begun, 1 not begun"])


class Next(Checkout):
    def test_question_file_and_command(self):
        self.assertEqual(
            self.course("next")[1],
            "word_count of 01-first, not begun\n\n  What does word_count ask?\n\n  Much.\n\n"
            "read:  Step 1 (words) of chapters/01-first/README.md\n"
            "edit:  exercises/01-first/word_count.cuh  (delete its NOT_STARTED line)\n"
            "check: ./course check word_count\n",
        )

    def test_the_fast_way_leaves_out_what_a_chapter_can_do_without(self):
        self.answer("wrong", "word_count")
        self.assertIn("word_count of 01-first, not right yet", self.course("next")[1])
        runs = self.runs()
        self.assertIn("count_above of 01-first, not begun", self.course("next", "--fast")[1])
        self.assertEqual(self.runs(), runs)  # it does not check what it leaves out
        self.answer("RIGHT", "count_above")
        self.answer("wrong", "ticket")
        self.assertIn("ticket of 02-second, not right yet", self.course("next", "--fast")[1])
        self.answer("RIGHT", "ticket")
        self.assertEqual(
            self.course("next", "--fast")[1], "2 of 2 exercises on the fast track are solved.\nAll exercises: ./course next\n")
        self.assertIn("* 2 of 2 on the fast track", self.course("list")[1])

    def test_a_chapter_toml_that_cannot_be_used(self):
        file = self.top / "chapters" / "01-first" / "chapter.toml"
        file.write_text(file.read_text().replace('core = ["count_above"]', 'core = ["ticket"]'))
        code, text, error = self.course("next", "--fast")
        self.assertEqual((code, text), (1, ""))
        self.assertRegex(error, "chapter.toml: 'core' names ticket: there is no such exercise\n$")

    def test_what_is_begun_comes_first(self):
        self.answer("wrong", "ticket")
        self.assertIn("ticket of 02-second, not right yet", self.course("next", EDITOR="touch opened; false")[1])
        self.assertFalse((self.top / "opened").exists())

    def test_the_editor_is_opened_only_where_asked(self):
        self.program("my editor", 'echo open "$@" >opened; exit 3')
        code, text, _ = self.course("next", "--edit", EDITOR="'my editor' -n")
        self.assertEqual(code, 3)
        self.assertIn("check: ./course check word_count", text)
        self.assertEqual((self.top / "opened").read_text(), f"open -n {self.top}/exercises/01-first/word_count.cuh\n")
        self.assertIn("EDITOR is vi ': No closing quotation.", self.course("next", "--edit", EDITOR="vi '")[2])
        self.assertIn("EDITOR is not set", self.course("next", "--edit")[2])
        code, _, error = self.course("next", "--edit", EDITOR="no_such_editor")
        self.assertEqual(code, 1)
        self.assertIn("EDITOR is no_such_editor, which cannot be run", error)


class Check(Checkout):
    def test_exit_codes_and_what_comes_next(self):
        code, text, _ = self.course("check", "word_count")
        self.assertEqual(code, 77)
        self.assertIn("Not started. Open exercises/01-first/word_count.cuh", text)
        self.answer("wrong")
        self.assertEqual(
            self.course("check", "word_count"),
            (1, "FAILED: it\n\nedit:  exercises/01-first/word_count.cuh\nrerun: ./course check word_count\n"
                "hint:  ./course hint word_count  (1 of 2)\n", ""),
        )
        self.answer("RIGHT")
        self.assertEqual(
            self.course("check", "word_count"),
            (0, "all checks passed\nword_count is solved.\ncompare: ./course diff word_count\n"
                "next:    Step 2 (a limit) of chapters/01-first/README.md, then ./course check count_above\n", ""),
        )

    def test_what_to_read_after_a_pass(self):
        def following(name):
            self.answer("RIGHT", name)
            return self.course("check", name)[1].splitlines()[-1]

        # Whoever begins elsewhere is not led back to what comes before, until nothing is left after it.
        self.assertEqual(following("count_above"), "next:    chapters/02-second/README.md, then ./course check ticket")
        self.assertEqual(following("ticket"), "next:    chapters/01-first/README.md, then ./course check word_count")
        self.assertEqual(following("word_count"), "All 3 exercises are solved.")
        self.answer("wrong", "word_count")
        self.assertEqual(
            following("count_above"), "next:    Step 1 (words) of chapters/01-first/README.md, then ./course check word_count")

    def test_what_to_read_where_a_step_without_an_exercise_is_left(self):
        page = self.top / "chapters/01-first/README.md"
        page.write_text(page.read_text(encoding="utf-8") + "\n## Step 3: faster\n\nText.\n\n## What is left\n\nText.\n", encoding="utf-8")
        self.answer("RIGHT", "count_above")
        self.assertEqual(
            self.course("check", "count_above")[1].splitlines()[-1],
            "next:    Step 3 (faster) of chapters/01-first/README.md, then chapters/02-second/README.md, then ./course check ticket")

    def test_what_to_read_where_two_cards_are_in_one_step_or_the_page_is_gone(self):
        page = self.top / "chapters/01-first/README.md"
        page.write_text("# A\n## `One` step\n<!-- exercise word_count -->\n<!-- exercise count_above -->\n")
        self.answer("RIGHT")
        self.assertTrue(self.course("check", "word_count")[1].endswith("\nnext:    ./course check count_above, in the same step\n"))
        self.assertIn("read:  'One step' of chapters/01-first/README.md\n", self.course("next")[1])
        page.unlink()
        self.assertTrue(self.course("check", "word_count")[1].endswith("\nnext:    chapters/01-first/README.md, then ./course check count_above\n"))
        self.assertIn("read:  chapters/01-first/README.md\n", self.course("next")[1])

    def test_a_file_that_is_gone(self):
        (self.top / "exercises" / "01-first" / "word_count.cuh").unlink()
        gone = "exercises/01-first/word_count.cuh is gone: ./course reset word_count brings it back.\n"
        self.assertEqual(self.course("check", "word_count"), (1, "", gone))

    def test_what_does_not_compile(self):
        self.answer("wrong")
        self.program("ninja", 'echo "x.cuh:3:1: error: no"; exit 1')
        code, text, _ = self.course("check", "word_count")
        self.assertEqual(code, 1)
        self.assertIn("word_count does not compile:\n\nx.cuh:3:1: error: no", text)
        self.answer("RIGHT")
        self.course("check", "word_count")
        self.program("ninja", "exit 0")  # it was the machine's fault: no verdict on this answer is remembered
        self.assertIn("1 of 3 solved", self.course("list")[1])

    def test_names(self):
        with mock.patch.object(checkout, "TOP", self.top), mock.patch("sys.argv", ["./course"]):
            here = build_folder.Course(str(self.build))
            for name in ("word_count", "word", "WORD_COUNT", "exercises/01-first/word_count.cuh", "word_count.cuh",
                         "01-first/word", "1/word_count", "01/word_count.cuh"):
                self.assertEqual(here.find(name).name, "word_count")
            for name, answer in {
                "count": "count may be word_count or count_above. Which one?",
                "tikcet": "There is no exercise tikcet. Did you mean ticket?",
                "wrd": "There is no exercise wrd. Did you mean word_count?",
                "02/word": "There is no exercise 02/word. Did you mean word_count?",
                "01/tree": "There is no exercise 01/tree. Did you mean word_count or count_above?",
                "01": "01 is a chapter. Which exercise: word_count or count_above?",
                "01-first": "01-first is a chapter. Which exercise: word_count or count_above?",
                "zzz": "There is no exercise zzz. ./course list",
                "": "There is no exercise . ./course list",
            }.items():
                with self.assertRaises(build_folder.Failed) as refused:
                    here.find(name)
                self.assertTrue(str(refused.exception).startswith(answer), refused.exception)
        self.assertEqual(self.course("check", "word")[0], 77)
        self.assertEqual(self.course("check", "wrd"),
                         (2, "", "There is no exercise wrd. Did you mean word_count?\n"))
        which = "Which exercise? The next one is word_count. ./course list shows all of them.\n"
        self.assertEqual(self.course("check"), (2, "", which))

    def test_the_number_of_a_chapter(self):
        self.assertEqual(self.course("check", "1"), (77, "No exercise of 01-first is begun. The first one: ./course next\n", ""))
        self.answer("RIGHT")
        self.assertIn("word_count is solved.\n", self.course("check", "01-first")[1])
        self.answer("wrong", "count_above")
        code, text, _ = self.course("check", "01")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"\A\n── word_count\n(.*\n)*word_count is solved\.\n(.*\n)*\n── count_above\nFAILED")
        self.assertEqual(self.course("check", "02")[0], 77)
        for folder in ("exercises/01-first/", "chapters/01-first", "01-first/"):
            self.assertRegex(self.course("check", folder)[1], r"\A\n── word_count\n")

    def test_one_schedule_and_all_cases(self):
        (self.build / "word_count").write_text('#!/bin/bash\necho "seed=$SIMT_SEED all=$COURSE_ALL"; exit 1\n')
        self.answer("wrong")
        self.assertIn("seed=7 all=\n", self.course("check", "word_count", "--seed", "7")[1])
        self.assertIn("seed= all=1\n", self.course("check", "word_count", "--all")[1])
        self.assertEqual(self.course("check", "word_count", "--seed", "x")[0], 2)

    def test_a_chapter_that_the_build_folder_leaves_out(self):
        self.set_up(self.top / "build-01", self.tests[:2], self.top / "chapters" / "01-first")
        code, _, error = self.course("check", "ticket", "--build", "build-01")
        self.assertEqual(code, 2)
        self.assertIn("ticket belongs to 02-second, which build-01 leaves out.\n", error)
        self.assertIn("meson setup build-02 chapters/02-second", error)
        self.assertIn("02 is 02-second, which build-01 leaves out.\n", self.course("check", "02", "--build", "build-01")[2])

    def test_how_far_the_build_is(self):
        self.answer("RIGHT")
        self.program("ninja", "echo '[1/34] Compiling x'; sleep 0.8; echo '[34/34] Linking y'")
        code, text = self.screen("check", "word_count", NO_COLOR="1").finish()
        self.assertEqual(code, 0)
        self.assertRegex(text, r"\A(\r\x1b\[Kbuilding 2 of 34 \(\d s\))+(\r\x1b\[Kbuilding 34 of 34 \(\d s\))*\r\x1b\[Kall checks passed\n")
        self.answer("RIGHT, too")
        self.assertEqual(self.course("check", "word_count")[2], "")  # not worth a line

    def test_ctrl_c_leaves_nothing_behind(self):
        self.answer("SLOW")
        screen = self.screen("check", "word_count")
        pid = self.pid_of_check(screen)
        self.ends_by_ctrl_c(screen)
        self.assertFalse(Path(f"/proc/{pid}").exists())
        self.assertFalse((self.build / course_state.FILE).exists())

    def test_ctrl_c_while_the_board_is_made(self):
        self.answer("SLOW")
        screen = self.screen("list")
        screen.wait_for("checking word_count ...")
        self.pid_of_check(screen)
        self.ends_by_ctrl_c(screen)


class BuildFolder(Checkout):
    def test_none(self):
        shutil.rmtree(self.build)
        command = "common/tools/setup.sh && meson setup build\n"
        self.assertEqual(self.course("list"), (2, "", f"There is no build folder yet. Make one:\n  {command}"))
        _, _, error = self.process("list", program="../course", cwd=self.top / "exercises")
        self.assertIn(f"cd '{self.top}' && {command}", error)
        self.assertEqual(
            self.course("list", "--build", "b x"), (2, "", "'b x' is not a build folder. Make it one: meson setup 'b x'\n"))

    def test_option_environment_and_the_only_one(self):
        self.build.rename(self.top / "build-01")
        self.assertIn("./course check word_count\n", self.course("list")[1])
        self.set_up(self.top / "build-02", self.tests[2:3], self.top / "chapters" / "02-second")
        code, _, error = self.course("list")
        self.assertEqual(code, 2)
        self.assertIn("\n  --build build-01\n  --build build-02\n", error)
        self.assertIn("./course check ticket --build build-02\n", self.course("list", "--build", "build-02")[1])
        self.assertIn("./course check ticket\n", self.course("list", COURSE_BUILD="build-02")[1])
        self.assertIn("0 of 3", self.course("list", "--build", "build-01", COURSE_BUILD="build-02")[1])

    def test_of_another_checkout(self):
        shutil.rmtree(self.build)
        self.set_up(self.build, self.tests, "/old/place")
        code, _, error = self.course("list")
        self.assertEqual(code, 2)
        self.assertIn(f"build was set up for /old/place, and this is {self.top}.", error)

    def test_damaged(self):
        for file, text in (("intro-tests.json", "[{"), ("intro-tests.json", '{"a": 1}'), ("meson-info.json", "{}"), ("intro-tests.json", "[]")):
            before = (self.build / "meson-info" / file).read_text()
            (self.build / "meson-info" / file).write_text(text)
            code, _, error = self.course("list")
            self.assertEqual(code, 2)
            self.assertIn("has no exercises" if text == "[]" else "rm -r build && meson setup build", error)
            (self.build / "meson-info" / file).write_text(before)

    def test_a_damaged_one_keeps_its_options_where_meson_knows_them(self):
        (self.build / "meson-info" / "intro-tests.json").write_text("[{")
        private = self.build / "meson-private"
        private.mkdir(exist_ok=True)
        (private / "cmd_line.txt").touch()
        self.assertIn("Set it up again: meson setup --wipe build\n", self.course("list")[2])
        # Where the source is not the folder of the shell, Meson wants to know both.
        error = self.process("list", program="../course", cwd=self.top / "exercises")[2]
        self.assertIn("Set it up again: meson setup --wipe ../build ..\n", error)


if __name__ == "__main__":
    unittest.main()
