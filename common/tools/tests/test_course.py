#!/usr/bin/env python3
"""./course, as a learner meets it: at a terminal of its own, in a checkout of two small chapters.

    test_course.py                               all but the last class: no compiler, a few seconds
    COURSE_TEST_BUILD=build test_course.py EndToEnd      word_count of a real build, and its file

The small checkout has the real tools. Its `ninja` builds nothing, and its checks accept a file with RIGHT in it.
"""

import fcntl
import importlib.util
import io
import json
import os
import pty
import py_compile
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import unittest
from pathlib import Path
from unittest import mock

TOOLS = Path(__file__).resolve().parents[1]
TOP = TOOLS.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS.parent))
from tools.check import check_exercise  # noqa: E402
from tools.learn import course, progress  # noqa: E402
from tools.lib import course_state, result, terminal  # noqa: E402

NOBODY = 65534
NEEDED = (
    "__init__", "learn/course", "learn/progress", "check/check_exercise", "check/compile_errors", "lib/checkout",
    "lib/course_state", "lib/hints", "lib/result", "lib/terminal",
)
STARTER = """// Exercise {name}: what does {name} ask?
//
// Much.
//
// Try it: meson test -C build {name}
NOT_STARTED  // delete this line when you begin
"""
HINTS = """# A chapter

## Exercises

### {name}

What is it?

<details><summary>Hint 1</summary>

The first hint, of `{name}`: see [the file](../x.cuh) × 2.

</details>
<details><summary>Hint 2</summary>

The second hint of {name}.

</details>

"""
CHECK = """#!/bin/sh
end() {{
  printf '{{"schema": "course.result", "version": 1, "verdict": "%s", "proof": "%s"}}' "$2" "$COURSE_PROOF" >"$COURSE_RESULT"
  exit "$1"
}}
echo run >>"$0.runs"
if grep -q SLOW {file}; then echo $$ >"$0.pid"; sleep 60; fi
if grep -q GPU {file}; then echo "skipped: no GPU"; end 77 skipped; fi
if grep -q RIGHT {file}; then echo "all checks passed"; end 0 passed; fi
printf 'FAILED: it\\n\\nedit:  %s\\nrerun: %s\\n' "$COURSE_EDIT" "$COURSE_RERUN"
end 1 failed
"""
CHAPTERS = {"01-first": ["word_count", "count_above"], "02-second": ["ticket"]}


class Screen:
    """A program at a pseudo-terminal that it is the foreground of."""

    def __init__(self, command, columns=80, **options):
        self.text = ""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **options,
        )
        os.close(slave)

    def read(self, seconds):
        """Takes in what is written within some seconds; False when the program has closed the terminal."""
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.text += os.read(self.master, 65536).decode().replace("\r\n", "\n")
            except OSError:
                return False
        return True

    def wait_for(self, text, seconds=20, times=1):
        end = time.monotonic() + seconds
        while self.text.count(text) < times:
            if not self.read(0.1) or time.monotonic() > end:
                raise AssertionError(f"{text!r} did not come, but:\n{self.text}")

    def send(self, text):
        os.write(self.master, text.encode())

    def finish(self, seconds=20):
        """Waits for the end; returns the exit code and all that was written."""
        end = time.monotonic() + seconds
        while self.read(0.1):
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError(f"no end, but:\n{self.text}")
        os.close(self.master)
        return self.process.wait(), self.text


class Checkout(unittest.TestCase):
    """A small checkout with a build folder; `course()` and `process()` run without a terminal, `screen()` at one."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.CACHE = Path(folder.name)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = Path(self.folder.name).resolve() / "my course"
        self.build = self.top / "build"
        (self.top / "common" / "tools").mkdir(parents=True)
        for name in NEEDED:
            tool = self.top / "common" / "tools" / f"{name}.py"
            tool.parent.mkdir(exist_ok=True)
            shutil.copy(TOOLS / f"{name}.py", tool)
            cached = self.CACHE / f"{tool.stem}.pyc"  # compiled once for all tests
            if not cached.exists():
                py_compile.compile(tool, cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
            there = Path(importlib.util.cache_from_source(tool))
            there.parent.mkdir(exist_ok=True)
            there.symlink_to(cached)
        (self.top / "course").symlink_to(os.readlink(TOP / "course"))
        self.write("build/build.ninja", "")
        self.tests = []
        for chapter, names in CHAPTERS.items():
            self.write(f"chapters/{chapter}/README.md", "".join(HINTS.format(name=name) for name in names))
            for name in names:
                self.write(f"exercises/{chapter}/{name}.cuh", STARTER.format(name=name))
                self.write(f"solutions/{chapter}/{name}.cuh", f"// Exercise {name}\nRIGHT\n")
                self.write(f"chapters/{chapter}/checks/{name}.cu", "// a check\n")
                file = f"exercises/{chapter}/{name}.cuh"
                self.write(f"build/{name}", CHECK.format(file=f"'{self.top / file}'"))
                (self.build / name).chmod(0o755)
                runner = str(self.top / "common" / "tools" / "check/check_exercise.py")
                self.tests.append({"name": name, "suite": [f"{chapter}:exercises"],
                                   "cmd": [runner, f"../{file}", str(self.build / name)]})
        self.tests.append({"name": "01-first-selfcheck", "suite": ["01-first:lessons"], "cmd": ["selfcheck"]})
        self.set_up(self.build, self.tests)
        self.program("ninja", "exit 0")
        # Without what a machine may add to Python: the standard library is all that is needed.
        self.program("python3", f'exec {sys.executable} -S "$@"')
        self.environment = {
            "PATH": f"{self.top}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8", "TERM": "xterm", "PYTHONWARNINGS": "error",
        }

        self.git("init", "-q")
        self.git("add", "exercises")
        self.git("commit", "-qm", "the course")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, cwd=self.top,
                       stdout=subprocess.DEVNULL)

    def set_up(self, build, tests, source=None):
        """What Meson leaves in a build folder."""
        (build / "meson-private").mkdir(parents=True)
        (build / "meson-info").mkdir()
        (build / "meson-info" / "intro-tests.json").write_text(json.dumps(tests))
        info = {"directories": {"source": str(source or self.top)}}
        (build / "meson-info" / "meson-info.json").write_text(json.dumps(info))

    def write(self, path, text):
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def program(self, name, lines):
        """A shell script on the PATH."""
        self.write(f"bin/{name}", f"#!/bin/sh\n{lines}\n")
        (self.top / "bin" / name).chmod(0o755)

    def answer(self, text, name="word_count"):
        """Writes into an exercise's file as an editor does that saves by renaming."""
        file = next(self.top.glob(f"exercises/*/{name}.cuh"))
        new = file.with_name(".new")
        new.write_text(text)
        os.rename(new, file)
        return file

    def runs(self, name="word_count"):
        """How often a check has run."""
        file = self.build / f"{name}.runs"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def options(self, cwd=None, **environment):
        there = {**self.environment, **environment}
        return {"cwd": cwd or self.top, "env": {name: value for name, value in there.items() if value is not None}}

    def course(self, *words, input="", **environment):
        """Exit code, standard output and standard error of `./course`, from a fork: Python's start takes long."""
        with tempfile.TemporaryFile("w+") as stdin, tempfile.TemporaryFile("w+") as out, \
                tempfile.TemporaryFile("w+") as error:
            stdin.write(input)
            stdin.seek(0)
            child = os.fork()
            if child == 0:
                os._exit(self.in_the_child(words, (stdin, out, error), self.options(**environment)))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            texts = []
            for file in (out, error):
                file.seek(0)
                texts.append(file.read())
        self.assertNotIn("Traceback", texts[1])
        return code, *texts

    def in_the_child(self, words, files, options):
        """Runs main() as a new process would; returns its exit code."""
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww")
        )
        os.chdir(options["cwd"])
        os.environ.clear()
        os.environ.update(options["env"])
        course.TOP = check_exercise.TOP = self.top
        sys.argv = ["./course", *words]
        code = 1
        try:
            code = course.main()
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        return code

    def process(self, *words, program="./course", cwd=None, more=None, **environment):
        """The same from a process of its own."""
        done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              **self.options(cwd, **environment), **(more or {}))
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout, done.stderr

    def screen(self, *words, columns=80, **environment):
        screen = Screen(["./course", *words], columns, **self.options(**environment))
        self.addCleanup(screen.process.kill)
        return screen

    def as_reader(self):
        """Makes all of the checkout read-only; the options with which nobody, not even root, can write."""
        if os.geteuid() == 0:  # root's own Python may be out of reach
            self.program("python3", f'exec {shutil.which("python3", path=os.defpath)} -S "$@"')
        os.chmod(self.folder.name, 0o755)
        subprocess.run(["chmod", "-R", "a+rX,a-w", str(self.top)], check=True)
        self.addCleanup(subprocess.run, ["chmod", "-R", "u+w", str(self.top)])
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


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
            "  count_above  not begun\n"
            "02-second      1 begun\n"
            "▶ ticket       not right yet\n"
            "\n"
            "1 of 3 solved.\n"
            "Next: exercises/02-second/ticket.cuh\n"
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
        self.assertIn("word_count has passed, but not the whole check as the file is now.\n", text)
        self.assertFalse((self.build / course_state.FILE).exists())

    def test_a_file_that_is_gone(self):
        self.answer("").unlink()
        code, text, _ = self.course("list")
        self.assertIn("▶ word_count   file is gone", text)
        self.assertIn("./course reset word_count", self.course("next")[1])

    def test_all_solved(self):
        for name in ("word_count", "count_above", "ticket"):
            self.answer("RIGHT", name)
        self.assertTrue(self.course("list")[1].endswith("3 of 3 solved.\n"))
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
        self.assertIn("Next: exercises/01-first/word_count.cuh\n      ./course check word_count\n", text)


class States(unittest.TestCase):
    def test_they_follow_from_exit_codes_and_results(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)

        def state(code, verdict):
            result.write(result.file_of(folder.name, "x"), result.new(verdict))
            command = [sys.executable, "-c", f"print('words'); exit({code})"]
            return progress.state_after_check(progress.Exercise("01", "x", Path("x"), command), folder.name)

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
            "read:  chapters/01-first/README.md\n"
            "edit:  exercises/01-first/word_count.cuh  (delete its NOT_STARTED line)\n"
            "check: ./course check word_count\n",
        )

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
        self.assertIn("EDITOR names no editor", self.course("next", "--edit")[2])
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
                "next:    exercises/01-first/count_above.cuh\n", ""),
        )

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
        with mock.patch.object(course, "TOP", self.top), mock.patch("sys.argv", ["./course"]):
            here = course.Course(str(self.build))
            for name in ("word_count", "word", "WORD_COUNT", "exercises/01-first/word_count.cuh", "word_count.cuh"):
                self.assertEqual(here.find(name).name, "word_count")
            for name, answer in {
                "count": "count may be word_count or count_above. Which one?",
                "tikcet": "There is no exercise tikcet. Did you mean ticket?",
                "wrd": "There is no exercise wrd. Did you mean word_count?",
                "zzz": "There is no exercise zzz. ./course list",
                "": "There is no exercise . ./course list",
            }.items():
                with self.assertRaises(course.Refused) as refused:
                    here.find(name)
                self.assertTrue(str(refused.exception).startswith(answer), refused.exception)
        self.assertEqual(self.course("check", "word")[0], 77)
        self.assertEqual(self.course("check", "wrd"),
                         (2, "", "There is no exercise wrd. Did you mean word_count?\n"))
        which = "Which exercise? The next one is word_count. ./course list shows all of them.\n"
        self.assertEqual(self.course("check"), (2, "", which))

    def test_a_chapter_that_the_build_folder_leaves_out(self):
        self.set_up(self.top / "build-01", self.tests[:2], self.top / "chapters" / "01-first")
        code, _, error = self.course("check", "ticket", "--build", "build-01")
        self.assertEqual(code, 2)
        self.assertIn("ticket belongs to 02-second, which build-01 leaves out.\n", error)
        self.assertIn("meson setup build-02 chapters/02-second", error)

    def test_ctrl_c_leaves_nothing_behind(self):
        self.answer("SLOW")
        screen = self.screen("check", "word_count")
        pid = self.build / "word_count.pid"
        while not pid.exists() or not pid.read_text():
            screen.read(0.05)
        screen.send("\x03")
        code, text = screen.finish()
        self.assertEqual(code, 130)
        self.assertNotIn("Traceback", text)
        self.assertFalse(Path(f"/proc/{pid.read_text().strip()}").exists())
        self.assertFalse((self.build / course_state.FILE).exists())

    def test_ctrl_c_while_the_board_is_made(self):
        self.answer("SLOW")
        screen = self.screen("list")
        screen.wait_for("checking word_count ...")
        while not (self.build / "word_count.pid").exists():
            screen.read(0.05)
        screen.send("\x03")
        code, text = screen.finish()
        self.assertEqual(code, 130)
        self.assertNotIn("Traceback", text)


class BuildFolder(Checkout):
    def test_none(self):
        shutil.rmtree(self.build)
        command = "common/tools/setup.sh && meson setup build\n"
        self.assertEqual(self.course("list"), (2, "", f"There is no build folder yet. Make one:\n  {command}"))
        _, _, error = self.process("list", program="../course", cwd=self.top / "exercises")
        self.assertIn(f"cd '{self.top}' && {command}", error)
        self.assertEqual(
            self.course("list", "--build", "b x"), (2, "", "'b x' is no build folder. Make it one: meson setup 'b x'\n"))

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
            self.assertIn("has no exercises" if text == "[]" else "meson setup --wipe build", error)
            (self.build / "meson-info" / file).write_text(before)


class Hint(Checkout):
    def test_one_at_a_time(self):
        first = "Hint 1 of 2 for word_count\n\n  The first hint, of `word_count`: see the file × 2.\n\n"
        second = "Hint 2 of 2 for word_count\n\n  The second hint of word_count.\n\n"
        code, _, error = self.course("hint", "word_count", "--again")
        self.assertEqual((code, error), (1, "No hint for word_count was shown yet: ./course hint word_count\n"))
        more = "The next one: ./course hint word_count\n"
        self.assertEqual(self.course("hint", "word_count"), (0, first + more, ""))
        self.assertEqual(self.course("hint", "word_count", "--again"), (0, first + more, ""))
        self.assertEqual(self.course("hint", "word_count"), (0, second + "That is the last one.\n", ""))
        again = "All 2 hints for word_count were shown. Once more: ./course hint word_count --again\n"
        self.assertEqual(self.course("hint", "word_count"), (0, again, ""))
        self.assertEqual(self.course("hint", "word_count", "--again")[1], first + second + "That is the last one.\n")
        self.assertIn("Hint 1 of 2 for ticket", self.course("hint", "ticket")[1])
        self.assertEqual(self.course("hint", "ticket", "--all")[1].count("Hint "), 2)
        self.assertIn("All 2 hints for ticket", self.course("hint", "ticket")[1])

    def test_an_exercise_without_hints(self):
        self.write("chapters/02-second/README.md", "# Nothing\n")
        self.assertEqual(
            self.course("hint", "ticket"), (1, "", "chapters/02-second/README.md has no hints for ticket.\n"))

    def test_a_damaged_state_counts_as_none(self):
        self.answer("RIGHT")
        state = self.build / course_state.FILE
        for text in ("", "{", "[]", "7", '{"word_count": 7}', "\0\1", "[" * 100000):
            state.write_text(text)
            self.assertEqual(course_state.load(self.build), {}, text[:50])
        for text in ('{"word_count": {"hints": "x", "checked": 1, "passed": 3}}', '{"word_count": {"hints": -5}}', "["):
            state.write_text(text)
            self.assertIn("Hint 1 of 2", self.course("hint", "word_count")[1], text)
        state.write_bytes(b"\xff\xfe")
        self.assertIn("1 of 3 solved", self.course("list")[1])

    def test_a_read_only_checkout(self):
        more = self.as_reader()
        code, text, error = self.process("hint", "word_count", more=more)
        self.assertEqual(code, 0)
        self.assertIn("Hint 1 of 2", text)
        self.assertIn("(not remembered: Permission denied", error)


class Diff(Checkout):
    def test_an_earned_solution_is_shown(self):
        self.answer("mine\nRIGHT\n")
        self.course("check", "word_count")
        for path in (self.environment["PATH"], "/nowhere"):  # with Git and without
            tool = str(self.top / "common" / "tools" / "learn/course.py")
            code, text, _ = self.process(tool, "diff", "word_count", program=sys.executable, PATH=path)
            self.assertEqual(code, 0)
            self.assertRegex(text, r"(?m)^--- (a/)?exercises/01-first/word_count.cuh")
            self.assertRegex(text, r"(?m)^\+\+\+ (b/)?solutions/01-first/word_count.cuh")
            self.assertIn("\n-mine\n", text)
            self.assertNotIn("\033", text)

    def test_the_same(self):
        self.answer("// Exercise word_count\nRIGHT\n")
        self.assertIn("the same as the solution", self.course("diff", "word_count", "--yes")[1])

    def test_refuses_where_nobody_can_answer(self):
        self.answer("RIGHT")
        self.course("check", "word_count")
        self.answer("RIGHT but changed")
        code, text, error = self.course("diff", "word_count", input="y\n")
        self.assertEqual((code, text), (1, ""))
        self.assertIn("The check has not passed exercises/01-first/word_count.cuh as it is now.", error)
        self.assertIn("the solution was not shown. --yes goes on", error)
        self.assertIn("+RIGHT\n", self.course("diff", "word_count", "--yes")[1])

    def test_asks_at_a_terminal(self):
        for answer, code in (("y\n", 0), ("yes\n", 0), ("n\n", 1), ("\n", 1), ("\x04", 1), ("\x03", 130)):
            screen = self.screen("diff", "word_count")
            screen.wait_for("Show the solution anyway? [y/N] ")
            screen.send(answer)
            ended, text = screen.finish()
            self.assertEqual(ended, code, repr(answer))
            self.assertEqual("RIGHT" in text, code == 0)
            self.assertEqual("The solution was not shown." in text, code == 1)
            self.assertNotIn("Traceback", text)

    def test_what_is_not_there(self):
        self.answer("").unlink()
        self.assertIn("./course reset word_count brings it back", self.course("diff", "word_count", "--yes")[2])
        shutil.rmtree(self.top / "solutions")
        self.assertEqual(self.course("diff", "ticket", "--yes"),
                         (1, "", "This copy of the course has no solution of ticket.\n"))


class Watch(Checkout):
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
        screen.wait_for("next:    exercises/01-first/count_above.cuh\n")
        self.answer("wrong", "ticket")
        screen.wait_for("ticket is not right yet")
        screen.wait_for("hint:  ./course hint ticket  (1 of 2)\n")
        screen.send("\x03")
        code, text = screen.finish()
        self.assertEqual(code, 130)
        self.assertRegex(text.splitlines()[-1], r"\d\d:\d\d:\d\d  the watch has ended")
        self.assertNotIn("Traceback", text)
        self.assertEqual(set(re.findall(r"\033\[[0-9;]*([A-Za-z])", text)), {"m"})  # colours, and nothing is cleared
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
        screen.send("\x03")
        self.assertEqual(screen.finish()[0], 130)
        self.assertEqual(self.runs("ticket"), 0)

    def test_ctrl_c_in_a_check(self):
        self.answer("SLOW")
        screen = self.screen("watch", "word")
        pid = self.build / "word_count.pid"
        while not pid.exists() or not pid.read_text():
            screen.read(0.05)
        screen.send("\x03")
        code, text = screen.finish()
        self.assertEqual(code, 130)
        self.assertIn("the watch has ended", text)
        self.assertNotIn("Traceback", text)
        self.assertFalse(Path(f"/proc/{pid.read_text().strip()}").exists())

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


class Picture(Checkout):
    def test_the_tool_is_called(self):
        self.write("common/tools/trace/picture.py", "import sys\nprint(sys.argv[1:])\nsys.exit(5)\n")
        code, text, _ = self.course("picture", "word")
        self.assertEqual((code, text), (5, f"{['--exercise', 'word_count', '--build', str(self.build)]}\n"))


    def test_ctrl_c(self):
        pid = self.top / "pid"
        self.write("common/tools/trace/picture.py",
                   f"import os, pathlib, time\npathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\ntime.sleep(60)\n")
        screen = self.screen("picture", "word")
        while not pid.exists() or not pid.read_text():
            screen.read(0.05)
        screen.send("\x03")
        code, text = screen.finish()
        self.assertEqual((code, text.replace("^C", "").strip()), (130, ""))
        self.assertFalse(Path(f"/proc/{pid.read_text()}").exists())


class Reset(Checkout):
    def setUp(self):
        super().setUp()
        self.file = self.top / "exercises" / "01-first" / "word_count.cuh"
        self.starter = self.file.read_text()

    def backups(self):
        return sorted(self.file.parent.glob("word_count.*.bak"))

    def test_the_starter_comes_back_and_the_answer_is_kept(self):
        self.assertIn("Hint 1 of 2", self.course("hint", "word_count")[1])
        self.assertEqual(course_state.load(self.build), {"word_count": {"hints": 1}})
        self.answer("mine")
        code, text, _ = self.course("reset", "word_count", "--yes")
        self.assertEqual((code, self.file.read_text()), (0, self.starter))
        (backup,) = self.backups()
        self.assertEqual(backup.read_text(), "mine")
        kept = f"exercises/01-first/{backup.name}"
        self.assertEqual(text, f"exercises/01-first/word_count.cuh is the starter again.\nyour file: {kept}\n"
                               f"undo:      cp {kept} exercises/01-first/word_count.cuh\n")
        self.assertIn("Hint 1 of 2", self.course("hint", "word_count")[1])
        for answer in ("yours", "theirs"):  # in the same second
            self.answer(answer)
            self.course("reset", "word_count", "--yes")
        self.assertEqual({file.read_text() for file in self.backups()}, {"mine", "yours", "theirs"})
        self.assertIn("is the starter already", self.course("reset", "word_count")[1])
        self.assertEqual(len(self.backups()), 3)

    def test_what_a_learner_has_committed_does_not_count(self):
        self.answer("mine, NOT_STARTED\n")
        self.git("commit", "-qam", "my answer")
        self.course("reset", "word_count", "--yes")
        self.assertEqual(self.file.read_text(), self.starter)

    def test_asks(self):
        self.answer("mine")
        code, _, error = self.course("reset", "word_count")
        self.assertEqual(code, 1)
        self.assertIn("Nobody is here to answer: nothing was changed. --yes goes on", error)
        for answer, code in (("n\n", 1), ("\x03", 130), ("y\n", 0)):
            self.assertEqual((self.file.read_text(), self.backups()), ("mine", []))
            screen = self.screen("reset", "word_count")
            screen.wait_for("Replace exercises/01-first/word_count.cuh by the starter? [y/N] ")
            screen.send(answer)
            self.assertEqual(screen.finish()[0], code)
        self.assertEqual((self.file.read_text(), len(self.backups())), (self.starter, 1))

    def test_a_file_that_is_gone(self):
        shutil.rmtree(self.file.parent)
        self.assertEqual(self.course("reset", "word_count")[0], 0)
        self.assertEqual((self.file.read_text(), self.backups()), (self.starter, []))

    def test_what_cannot_be_done(self):
        self.answer("mine")
        more = self.as_reader()
        code, _, error = self.process("reset", "word_count", "--yes", more=more)
        self.assertEqual(code, 1)
        self.assertIn("exercises/01-first/word_count.cuh was not reset: Permission denied", error)
        self.assertEqual((self.file.read_text(), self.backups()), ("mine", []))

    def test_no_history_has_the_starter(self):
        shutil.rmtree(self.top / ".git")
        for squashed in (False, True):
            if squashed:
                self.answer("mine")
                self.git("init", "-q")
                self.git("add", "exercises")
                self.git("commit", "-qm", "all in one, the answer too")
            code, _, error = self.course("reset", "word_count", "--yes")
            self.assertEqual(code, 1)
            self.assertIn("No version of exercises/01-first/word_count.cuh in Git's history has a NOT_STARTED line", error)


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
        self.assertIn("+ word_count   solved\n> count_above  not begun\n", text)
        self.assertTrue(self.process("hint", "word_count", **plain)[1].isascii())

    def test_the_window_is_forty_columns_wide(self):
        for words in (["list"], ["hint", "word_count", "--all"], ["next"], ["watch", "--help"]):
            _, text = self.screen(*words, columns=40, NO_COLOR="1").finish()
            sentences = [line for line in text.splitlines() if not line.startswith(("Next", "   ", "edit", "read", "check"))]
            self.assertLessEqual(max(map(len, sentences)), 100 if "--help" in words else 40, text)

    def test_a_home_is_not_needed_and_not_written(self):
        home = self.top / "home"
        home.mkdir()
        before = set((self.top / "common" / "tools").glob("__pycache__/*"))
        self.answer("RIGHT")
        for place in (None, "/nowhere", str(home)):
            for words in (["check", "word"], ["diff", "word_count"]):
                self.assertEqual(self.process(*words, HOME=place)[0], 0, words)
        self.assertEqual(list(home.iterdir()), [])
        self.assertEqual(set((self.top / "common" / "tools").glob("__pycache__/*")), before)

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
        self.assertIn("Next: word_count.cuh\n      ../../course check word_count\n", text)
        elsewhere = Path(self.folder.name) / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "course").symlink_to(self.top / "course")
        text = self.process("list", cwd=elsewhere, PATH=f"{elsewhere}:{self.environment['PATH']}")[1]
        self.assertIn("      course check word_count\n", text)
        (elsewhere / "here").symlink_to(self.top)
        text = self.process("list", cwd=elsewhere / "here", PWD=str(elsewhere / "here"))[1]
        self.assertIn("Next: exercises/01-first/word_count.cuh\n      ./course check word_count\n", text)

    def test_every_command_has_help_with_an_example(self):
        code, text, _ = self.course()
        self.assertEqual(code, 0)
        commands = re.findall(r"(?m)^    (\w+) ", text)
        self.assertEqual(commands, ["list", "next", "check", "hint", "diff", "watch", "picture", "reset"])
        for command in commands:
            with mock.patch("sys.stdout", io.StringIO()) as text, self.assertRaises(SystemExit) as ended:
                course.parser().parse_args([command, "--help"])
            self.assertEqual(ended.exception.code, 0)
            self.assertIn(f"example:\n  ./course {command}", text.getvalue())
        self.assertEqual(self.course("chekc")[0], 2)

    def test_two_at_once(self):
        lines = "import sys; sys.path.insert(0, sys.argv[1]); from tools.lib import course_state\n" \
                "for i in range(20):\n" \
                " with course_state.change(sys.argv[2]) as state: state.setdefault(sys.argv[3], {})['hints'] = i\n"
        with course_state.change(self.build):  # nobody else can change it now
            others = [subprocess.Popen([sys.executable, "-SBc", lines, str(TOOLS.parent), str(self.build), name])
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


@unittest.skipUnless(os.environ.get("COURSE_TEST_BUILD"), "COURSE_TEST_BUILD names no build folder with chapter 01")
class EndToEnd(unittest.TestCase):
    """A learner's way through word_count on a real build, from the starter to the solution and back."""

    def test_word_count(self):
        build = str(Path(os.environ["COURSE_TEST_BUILD"]).resolve())
        file = TOP / "exercises" / "01-global-atomic" / "word_count.cuh"
        starter = file.read_bytes()
        state = Path(build) / course_state.FILE
        kept = state.read_bytes() if state.exists() else None
        self.assertFalse(check_exercise.is_started(starter.decode()), "this test begins with the starter: ./course reset word_count")

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
            screen = Screen([TOP / "course", "watch", "word_count", "--build", build], cwd=TOP)
            screen.wait_for("word_count is not right yet", 300)
            shutil.copyfile(TOP / "solutions" / "01-global-atomic" / file.name, file)
            screen.wait_for("word_count is solved", 300)
            screen.send("\x03")
            self.assertEqual(screen.finish()[0], 130)
            self.assertIn("the same as the solution", course("diff", "word_count")[1])
            self.assertRegex(course("list")[1], r"✓ word_count +solved")
            code, text = course("reset", "word_count", "--yes")
            self.assertEqual((code, file.read_bytes()), (0, starter))
            (TOP / re.search(r"your file: (\S+)", text).group(1)).unlink()
        finally:
            file.write_bytes(starter)
            state.write_bytes(kept) if kept is not None else state.unlink(missing_ok=True)


if __name__ == "__main__":
    unittest.main()
