"""Builds the check of one exercise, and prints its progress."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from tools.check import compile_errors
from tools.lib.checkout import warnings_file, with_short_paths
from tools.lib.failed import Failed

STEP = re.compile(r"\[(\d+)/(\d+)\] ")
FIRST_TICK_SECONDS, TICK_SECONDS = 0.2, 0.5


class Progress:
    """What is waited for, on one line of standard error at a terminal: soon, and every half second anew.
    Nothing if it is not `wanted`, or no terminal is there. A context manager, which takes the line away at its end."""

    def __init__(self, wanted):
        self.wanted = wanted and sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        self.start, self.shown, self.over = time.monotonic(), False, threading.Event()
        self.say("building")

    def say(self, text):
        """What is waited for from now on."""
        self.text = text

    def announce(self, text):
        """Says what takes long, once, where no terminal is there."""
        if not self.wanted:
            print(text, file=sys.stderr, flush=True)

    def line(self, line):
        """Takes in a line of ninja's: "[11/34] ..." once the 11th of 34 steps is done."""
        if step := STEP.match(line):
            done, total = map(int, step.groups())
            self.say(f"building {min(done + 1, total)} of {total}")

    def tick(self):
        """Shows the line until the end."""
        while not self.over.wait(TICK_SECONDS if self.shown else FIRST_TICK_SECONDS):
            print(f"\r\033[K{self.text} ({time.monotonic() - self.start:.0f} s)", end="", file=sys.stderr, flush=True)
            self.shown = True

    def __enter__(self):
        self.thread = threading.Thread(target=self.tick, daemon=True)
        if self.wanted:
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        if self.wanted:
            self.thread.join()
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def wait_for(lock, progress, build=None):
    """Locks an open file, which one ninja at a time may have. Meson's own ninja has not: one that runs in `build` goes first."""
    progress.say("waiting: another check is building in this folder")
    fcntl.flock(lock, fcntl.LOCK_EX)
    progress.say("waiting: Meson is building in this folder")
    while build and ninjas_in(build):
        time.sleep(TICK_SECONDS / 5)
    progress.say("building")


def ninjas_in(folder):
    """Whether a ninja runs in this folder that has not started this program. Only Linux tells."""
    starters, pid = set(), os.getpid()
    with contextlib.suppress(OSError, IndexError, ValueError):  # /proc/PID/stat: "pid (name) state parent ..."
        while pid > 1:
            pid = int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            starters.add(pid)
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if (process / "comm").read_text(errors="replace") == "ninja\n" and os.path.samefile(process / "cwd", folder):
                if int(process.name) not in starters:
                    return True
    return False


def find_ninja():
    """The program. Raises Failed where there is none."""
    ninja = os.environ.get("NINJA") or shutil.which("ninja") or shutil.which("ninja-build")
    if not ninja:
        raise Failed("ninja was not found: run common/tools/setup.sh")
    return ninja


def run_ninja(command, progress):
    """Runs ninja; returns its exit code and its output."""
    lines = []
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] "}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment,
    ) as ninja:
        try:
            for line in ninja.stdout:
                lines.append(line)
                progress.line(line)
        except BaseException:  # Meson's time limit, or Ctrl-C
            ninja.terminate()  # and it ends its compilers
            raise
    return ninja.returncode, "".join(lines)


def build_check(build, program, exercise):
    """Builds the check; returns None, or the text that explains why it cannot be built.

    Warnings about the exercise stay in PROGRAM.warnings until the program is built again.
    """
    try:
        ninja = find_ninja()
    except Failed as failed:
        return str(failed)
    # One ninja at a time: tests run in parallel, and two would write the same files.
    try:
        lock = open(build / "meson-private" / "exercise.lock", "w")
    except OSError as error:
        return f"{error.filename} cannot be written: {error.strerror}. Use a build folder that can."
    with lock, Progress(bool(os.environ.get("COURSE_PROGRESS"))) as progress:
        wait_for(lock, progress, build)
        code, output = run_ninja([ninja, "-C", str(build), os.path.relpath(program, build)], progress)
    output = compile_errors.with_full_paths(output)
    if code != 0:
        return explain_build_failure(output, exercise)
    if "ninja: no work to do" not in output:
        warnings = with_short_paths(compile_errors.warnings_of(output, exercise))
        warnings_file(program).write_text(warnings, encoding="utf-8")
    return None


def explain_build_failure(output, exercise):
    """What a learner needs of a failed build's output: the first errors, with short paths."""
    return with_short_paths(compile_errors.explain(output, exercise))
