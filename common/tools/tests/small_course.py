"""A small checkout of two chapters with the real tools, for tests of ./course.

Its `ninja` builds nothing, and its checks accept a file with RIGHT in it.
"""

import importlib.util
import json
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import traceback
import unittest
from pathlib import Path

from tools.learn import course
from tools.lib import checkout
from tools.lib.checkout import TOP
from tools.tests.screen import Screen, needs_terminal

TOOLS = TOP / "common/tools"
NOBODY = 65534
NEEDED = (
    "__init__", "check/building", "check/check_exercise", "check/compile_errors", "learn/answers", "learn/asking",
    "learn/build_folder", "learn/checking", "learn/course", "learn/explaining", "learn/exporting", "learn/finding", "learn/passing", "learn/progress", "learn/reading",
    "learn/running", "learn/scores", "learn/scoring", "lib/checkout", "lib/rows", "lib/cpp_text", "lib/svg", "lib/chapter",
    "lib/chapter_results", "lib/compact_json", "lib/course_state", "lib/failed", "lib/hints", "lib/markers", "lib/pages", "lib/result", "lib/terminal",
    "lib/names", "lib/machine", "lib/testlog", "lib/documents", "lib/repository", "learn/watching", "run/annotations", "run/baseline", "run/build_program", "run/code_quality", "run/compile_commands",
    "run/compiler_options", "run/expected", "run/fingerprints", "run/json_report", "run/kinds", "run/outcome", "run/renamed", "run/report",
    "run/reports", "run/sarif", "run/schedules", "run/several", "run/sources", "run/suppressions", "run/watching", "verdicts/record",
)
STARTER = """// Exercise {name}: what does {name} ask?
//
// Much.
//
// Try it: ./course check {name}
NOT_STARTED  // delete this line when you begin
"""
HINTS = """# {name}

What is it?

## Hint 1

The first hint, of `{name}`: see [the file](../x.cuh) × 2.

## Hint 2

The second hint of {name}.
"""
CHECK = """#!/bin/bash
end() {{
  socket=${{COURSE_RESULT#socket:}}
  printf '{{"schema": "course.result", "version": 1, "verdict": "%s", "counts": [%s]}}' "$2" "$3" >&"$socket"
  exit "$1"
}}
echo run >>"$0.runs"
if grep -q SLOW {file}; then echo $$ >"$0.pid"; sleep 60; fi
if grep -q GPU {file}; then echo "skipped: no GPU"; end 77 skipped; fi
if grep -q COUNTED {file}; then end 0 passed '
  {{"name": "launches", "what": "launches of kernels", "costs": "Launches take time.", "value": 20}},
  {{"name": "barriers", "what": "`__syncthreads()`, once per block; a remark", "costs": "Warps wait.", "value": 5}},
  {{"name": "atomics", "what": "single atomics", "costs": "They queue.", "value": 1000}}'; fi
if grep -q TIMED {file}; then end 0 passed '{{"name": "longest_launch", "what": "longest launch, in ns", "costs": "", "value": 26000}}'; fi
if grep -q RIGHT {file}; then echo "all checks passed"; end 0 passed; fi
printf 'FAILED: it\\n\\nedit:  %s\\nrerun: %s\\n' "$COURSE_EDIT" "$COURSE_RERUN"
end 1 failed
"""
CORE = {"01-first": ["count_above"], "02-second": ["ticket"]}
CHAPTERS = {"01-first": ["word_count", "count_above"], "02-second": ["ticket"]}
PAGES = {
    "01-first": "# A chapter\n\n## Step 1: words\n\n<!-- exercise word_count -->\n\n## Step 2: a limit\n\nText.\n\n"
                "## Step 3: counting\n\n<!-- exercise count_above -->\n\n## Sources\n",
    "02-second": "# Another one\n\n## A list\n\n<!-- exercise ticket -->\n",
}


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
            cached = self.CACHE / f"{name.replace('/', '-')}.pyc"  # compiled once for all tests
            if not cached.exists():
                py_compile.compile(tool, cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
            there = Path(importlib.util.cache_from_source(tool))
            there.parent.mkdir(exist_ok=True)
            there.symlink_to(cached)
        (self.top / "course").symlink_to(os.readlink(TOP / "course"))
        self.write("build/build.ninja", "")
        self.tests = []
        for chapter, names in CHAPTERS.items():
            self.write(f"chapters/{chapter}/README.md", PAGES[chapter])
            stars = "".join(f"{name} = 1\n" for name in names)
            self.write(f"chapters/{chapter}/chapter.toml", 'question = "?"\nlearn = "?"\n'
                       f"exercises = {json.dumps(names)}\ncore = {json.dumps(CORE[chapter])}\n[stars]\n{stars}")
            for name in names:
                self.write(f"exercises/{chapter}/{name}.cuh", STARTER.format(name=name))
                self.write(f"solutions/{chapter}/{name}.cuh", f"// Exercise {name}\nRIGHT\n")
                self.write(f"chapters/{chapter}/checks/{name}.cu", "// a check\n")
                self.write(f"chapters/{chapter}/hints/{name}.md", HINTS.format(name=name))
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
        checkout.TOP = self.top
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

    @needs_terminal
    def screen(self, *words, columns=80, **environment):
        screen = Screen(["./course", *words], columns, **self.options(**environment))
        self.addCleanup(screen.close)
        return screen

    def pid_of_check(self, screen):
        """Waits at a terminal until the check of a SLOW word_count runs, and returns its process."""
        file = self.build / "word_count.pid"
        while not file.exists() or not file.read_text():
            self.assertTrue(screen.read(0.05), screen.text)
        return int(file.read_text())

    def ends_by_ctrl_c(self, screen):
        """Presses Ctrl-C; what the terminal shows in all."""
        screen.send("\x03")
        code, text = screen.finish()
        self.assertEqual(code, 130)
        self.assertNotIn("Traceback", text)
        return text

    def as_reader(self):
        """Makes all of the checkout read-only; the options with which no user, not even root, can write."""
        if os.geteuid() == 0:  # root's own Python may be out of reach
            self.program("python3", f'exec {shutil.which("python3", path=os.defpath)} -S "$@"')
        os.chmod(self.folder.name, 0o755)
        subprocess.run(["chmod", "-R", "a+rX,a-w", str(self.top)], check=True)
        self.addCleanup(subprocess.run, ["chmod", "-R", "u+w", str(self.top)])
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
