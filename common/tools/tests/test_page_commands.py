"""Every command of the learner's pages runs on the CPU device in 15 s, and says what its comment promises.

    test_page_commands.py        in a build folder, as Meson starts it; else that of COURSE_TEST_BUILD, or build

The commands are the pages' own: the blocks ```sh. In a comment `needs nvcc`, or whatever else a build for the CPU device has not,
says that the command is not for it; a comment on a line of its own is of all lines of its block up to the next one. What a comment
has in double quotes is in the output. A program that is run without options and promises nothing is a test of its own, and has
only to be one. Commands of a chapter that the folder has not are left out.
"""

import contextlib
import json
import os
import re
import resource
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from tools.lib.checkout import TOP

READS = ("*.md", "chapters", "common/docs", "common/tools", "course")

SECONDS = 15  # of processor time: on a busy machine a command takes longer
MOST_ELAPSED = 100
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"(?:^|\s+)# ?(.*)$")
# What builds, tests, sets up, or waits for the reader; and ./course and its picture.py, which have tests of their own.
NOT_RUN = re.compile(r"(meson|git|common/(tools|dev)\S*|\./course)(\s|$)|.*\b(while|mkdir)\b|file=")
FOREIGN = re.compile(r"\b(nvcc|cuobjdump|ncu|compute-sanitizer|mpirun)\b")
PROGRAM = re.compile(r"build/chapters/([\w-]+)/(\w+)")

HERE = [Path.cwd()] if Path("build.ninja").exists() else []
BUILD = Path(*HERE or [os.environ.get("COURSE_TEST_BUILD") or TOP / "build"]).resolve()


class Command(NamedTuple):
    page: str
    line: int
    text: str
    comment: str
    before: tuple[str, ...]  # the commands of its block that only change the folder

    @property
    def promises(self):
        return re.findall(r'"([^"]+)"', self.comment)

    @property
    def is_foreign(self):
        return re.search(r"\bneeds\b|需要", self.comment) is not None


def lines_of(block):
    """(index, text) of each command of a block: a line, with those that it goes on in."""
    text, first, depth = "", 0, 0
    for index, line in enumerate(block.splitlines()):
        first = first if text else index
        text += ("\n" if text else "") + line
        depth += len(re.findall(r"(?:^|[;&|]\s*)(?:for|while)\s", line)) - len(re.findall(r"\bdone\b", line))
        code = COMMENT.sub("", line).rstrip()
        if depth == 0 and not code.endswith(("\\", "&&", "|")):
            yield first, text
            text = ""


def commands_of(page, text):
    """The commands of a page's blocks."""
    for block in BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(1)) + 1
        heading, folders = "", ()
        for index, whole in lines_of(block.group(1)):
            comments = [found.group(1) for found in map(COMMENT.search, whole.splitlines()) if found]
            code = "\n".join(COMMENT.sub("", line) for line in whole.splitlines()).strip()
            if not code:
                heading = " ".join(comments)
            elif code.startswith("cd "):
                folders = (*folders, code)
            else:
                yield Command(page, start + index, code, " ".join([*comments, heading]), folders)


def to_run(text):
    """What is run of a command: without the parts before && that build."""
    parts = re.split(r"\s*&&\s*", text)
    return " && ".join(part for part in parts if not NOT_RUN.match(part))


def is_left_to_its_test(command):
    """A whole program that is run without options: as it is, it is a test."""
    return PROGRAM.fullmatch(command.text) and not command.promises


def pages():
    learners = [TOP / "README.md", *(TOP / "common/docs" / name for name in ("learning.md", "pictures.md"))]
    return [*sorted(TOP.glob("chapters/*/README*.md")), *TOP.glob("README.zh-CN.md"), *learners]


def all_commands():
    return [command for page in pages()
            for command in commands_of(str(page.relative_to(TOP)), page.read_text(encoding="utf-8"))]


@contextlib.contextmanager
def folder_of_reader():
    """A folder that looks like a checkout in which the reader has built the course; what commands write stays in it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for entry in TOP.iterdir():
            if entry.name != "build" and not entry.name.startswith("."):
                (folder / entry.name).symlink_to(entry)
        (folder / "build/chapters").mkdir(parents=True)
        for chapter in (BUILD / "chapters").iterdir():
            programs = folder / "build/chapters" / chapter.name
            programs.mkdir()
            for program in chapter.iterdir():
                (programs / program.name).symlink_to(program.resolve())
        yield folder


def output_of(command, folder):
    """What a command prints, and what is wrong with how it runs; empty if nothing is."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COURSE_", "SIMT_"))}
    code = "\n".join([*command.before, to_run(command.text)])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            ["bash", "-c", code], cwd=folder, env=environment, timeout=MOST_ELAPSED, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
    except subprocess.TimeoutExpired:
        return "", f"takes more than {MOST_ELAPSED} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime  # of all of its processes
    if seconds > SECONDS:
        return "", f"takes {seconds:.0f} s of processor time"
    if done.returncode != 0:
        return "", f"ends with exit code {done.returncode} (-9 and 137: after {SECONDS} s): {done.stdout[-400:]}"
    return done.stdout, ""


def complaint(command, folder, outputs):
    """What is wrong with a command; empty if nothing is. It runs once for all pages: `outputs` keeps what it said."""
    key = (command.before, to_run(command.text))
    if key not in outputs:
        outputs[key] = output_of(command, folder)
    output, problem = outputs[key]
    said = " ".join(output.split())
    missing = [promise for promise in command.promises if promise not in said]
    return problem or (f"does not say what its comment promises: {missing}" if missing else "")


class Reading(unittest.TestCase):
    """What is taken from a page."""

    PAGE = (
        "Text\n```sh\nmeson setup build && build/chapters/00-a/ladder   # all: \"one\" and \"two\"\n# needs nvcc:\nnvcc a.cu |\n"
        "  grep x\n# here:\nfor i in 1 2; do\n  echo $i\ndone\ncd build\n./a --n 2^16    # short\n```\n```cpp\nint a;\n```\n")

    def setUp(self):
        self.commands = list(commands_of("page", self.PAGE))

    def test_lines_and_comments(self):
        self.assertEqual([(c.line, c.text) for c in self.commands], [
            (3, "meson setup build && build/chapters/00-a/ladder"), (5, "nvcc a.cu |\n  grep x"),
            (8, "for i in 1 2; do\n  echo $i\ndone"), (12, "./a --n 2^16")])
        self.assertEqual(self.commands[0].promises, ["one", "two"])
        self.assertEqual([c.is_foreign for c in self.commands], [False, True, False, False])
        self.assertEqual(self.commands[3].before, ("cd build",))

    def test_what_builds_is_not_run(self):
        self.assertEqual(to_run(self.commands[0].text), "build/chapters/00-a/ladder")
        self.assertEqual(to_run("meson test -C build"), "")
        self.assertEqual(to_run("common/tools/setup.sh && meson setup build"), "")


class Complaints(unittest.TestCase):
    """What is wrong with a command."""

    def of(self, text, comment=""):
        with tempfile.TemporaryDirectory() as folder:
            return complaint(Command("page", 1, text, comment, ()), folder, {})

    def test_each(self):
        self.assertEqual(self.of("echo one  two", 'says "one two"'), "")
        self.assertIn("['three']", self.of("echo one", 'says "three"'))
        self.assertIn("exit code 3", self.of("exit 3"))
        self.assertIn("exit code 127", self.of("build/nothing"))
        with mock.patch.dict(globals(), SECONDS=1):
            self.assertRegex(self.of("for i in 1 2; do bash -c 'until false; do :; done'; done; true"), "takes 2 s of processor time")


class Pages(unittest.TestCase):
    def test_what_needs_more_than_the_cpu_device_says_so(self):
        self.assertEqual([], [f"{c.page}:{c.line}: {c.text}" for c in all_commands()
                              if FOREIGN.search(c.text) and not c.is_foreign])

    @unittest.skipUnless((BUILD / "common/build/device/simtcc.json").exists(), "no build for the CPU device")
    def test_every_command_does_what_its_comment_promises(self):
        listed = subprocess.run(["meson", "introspect", BUILD, "--tests"], stdout=subprocess.PIPE, text=True, check=True)
        tests = {test["name"] for test in json.loads(listed.stdout)}
        wrong, run, outputs = [], set(), {}
        with folder_of_reader() as folder:
            for command in all_commands():
                names = PROGRAM.findall(command.text + "".join(command.before) + "/x")
                is_here = all((BUILD / "chapters" / chapter).is_dir() for chapter, _ in names)
                text = to_run(command.text)
                if command.is_foreign or not text or not is_here or (text, command.comment) in run:
                    continue
                run.add((text, command.comment))
                if is_left_to_its_test(command):
                    chapter, name = PROGRAM.fullmatch(command.text).groups()
                    said = "" if f"{chapter}-{name}" in tests else "is no test"
                else:
                    said = complaint(command, folder, outputs)
                if said:
                    wrong.append(f"{command.page}:{command.line}: {shlex.quote(text)} {said}")
        self.assertEqual([], wrong)
        if len(list((BUILD / "chapters").iterdir())) == len(list(TOP.glob("chapters/*/chapter.toml"))):
            self.assertGreater(len(run), 60)


if __name__ == "__main__":
    unittest.main()
