"""Builds the check of one exercise, and prints its progress."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import time

from tools.check import compile_errors
from tools.lib.checkout import with_short_paths
from tools.lib.failed import Failed

STEP = re.compile(r"\[(\d+)/(\d+)\] ")
PIPE_SECONDS = 5  # between two lines where no terminal is attached


class Progress:
    """How far a build is, on standard error, if that is `wanted`: one line at a terminal, which goes again;
    elsewhere a line now and then."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.rewrites = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        self.said = time.monotonic()
        self.shown = False

    def line(self, line):
        """Takes in a line of ninja's: "[11/34] ..." once the 11th of 34 steps is done."""
        step = STEP.match(line)
        if not step or not self.wanted:
            return
        done, total = map(int, step.groups())
        text = f"building {min(done + 1, total)} of {total} ..."
        if self.rewrites:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
            self.shown = True
        elif time.monotonic() - self.said >= PIPE_SECONDS:
            print(text, file=sys.stderr, flush=True)
            self.said = time.monotonic()

    def end(self):
        """Takes the line away."""
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def find_ninja():
    """The program. Raises Failed where there is none."""
    ninja = os.environ.get("NINJA") or shutil.which("ninja") or shutil.which("ninja-build")
    if not ninja:
        raise Failed("ninja was not found: run common/tools/setup.sh")
    return ninja


def run_ninja(command, shows_progress):
    """Runs ninja; returns its exit code and its output."""
    progress = Progress(shows_progress)
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
            ninja.kill()
            raise
        finally:
            progress.end()
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
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, output = run_ninja(
            [ninja, "-C", str(build), os.path.relpath(program, build)], bool(os.environ.get("COURSE_PROGRESS")),
        )
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


def warnings_file(program):
    """Where the compiler's warnings about a check's exercise stand."""
    return program.with_name(program.name + ".warnings")
