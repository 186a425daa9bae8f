#!/usr/bin/env python3
"""Checks one exercise, and says what to do next.

    check_exercise.py EXERCISE_FILE CHECK_PROGRAM [ARGUMENT_OF_THE_PROGRAM ...]

Runs in the build folder, where Meson starts its tests. Skips an exercise whose file still has its
NOT_STARTED line (exit code 77). Else builds the check of this exercise alone, so that what does not
compile fails this test and no other, and runs it. Exit code: the check's own, or 1 if it cannot be
built, crashes, does not come to an end, or is ended by the answer, whose exit() would pass for a
verdict. Known-wrong answers are run in the same way.
The verdict is remembered in the build folder, for ./course (course_state.py).

COURSE_WRAPPER is put in front of the check, such as "compute-sanitizer --error-exitcode 9".
COURSE_TIMEOUT is the number of seconds that the check may take, 60 by default.
COURSE_RERUN is the command that a learner is told to run next, in place of Meson's.
"""

import fcntl
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.check import compile_errors  # noqa: E402
from tools.lib import course_state  # noqa: E402

SKIPPED = 77
INTERRUPTED = 130
# With one of these a run is not the whole check, or not of a learner's answer.
PARTIAL_RUNS = ("COURSE_EXPECT", "COURSE_WRAPPER", "SIMT_SEED", "SIMT_TRACE")
TOP = Path(__file__).resolve().parents[3]


def is_started(text):
    """True once the NOT_STARTED line is gone from an exercise's text."""
    return re.search(r"^\s*NOT_STARTED\b", text, re.MULTILINE) is None


def seen_from_the_shell(path):
    """`path` as the learner would type it: relative to the folder where `meson` was called.

    Where a wrapper around Python has replaced that folder's name by the build folder's, the top of
    the repository is taken.
    """
    here = os.environ.get("PWD", "")
    if not os.path.isdir(here) or (Path(here) / "build.ninja").exists():
        here = TOP
    relative = os.path.relpath(path, here)
    return str(path) if relative.startswith(os.path.join("..", "..", "")) else relative


def rerun_command(build, name):
    """The command that runs this test again."""
    return f"meson test -C {shlex.quote(seen_from_the_shell(build))} {name}"


def with_short_paths(text):
    """The same as a learner would type them."""
    shell_top = seen_from_the_shell(TOP)
    return text.replace(f"{TOP}/", "" if shell_top == "." else shell_top + "/")


def explain_build_failure(output, exercise):
    """What a learner needs of a failed build's output: the first errors, with short paths."""
    return with_short_paths(compile_errors.explain(output, exercise))


def build_check(build, program, exercise):
    """Builds the check; returns None, or the text that explains why it cannot be built.

    Warnings about the exercise stay in PROGRAM.warnings until the program is built again.
    """
    ninja = os.environ.get("NINJA") or shutil.which("ninja") or shutil.which("ninja-build")
    if not ninja:
        return "ninja was not found: run common/tools/setup.sh"
    # One ninja at a time: tests run in parallel, and two would write the same files.
    try:
        lock = open(build / "meson-private" / "exercise.lock", "w")
    except OSError as error:
        return f"{error.filename} cannot be written: {error.strerror}. Use a build folder that can."
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = subprocess.run(
            [ninja, "-C", str(build), os.path.relpath(program, build)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    output = compile_errors.with_full_paths(result.stdout)
    if result.returncode != 0:
        return explain_build_failure(output, exercise)
    if "ninja: no work to do" not in output:
        warnings = with_short_paths(compile_errors.warnings_of(output, exercise))
        warnings_file(program).write_text(warnings, encoding="utf-8")
    return None


def warnings_file(program):
    """Where the compiler's warnings about a check's exercise stand."""
    return program.with_name(program.name + ".warnings")


def run_check(command, edit, rerun):
    """Runs the check; returns its exit code and, where it ended in no ordinary way, a remark."""
    wrapper = shlex.split(os.environ.get("COURSE_WRAPPER", ""))
    seconds = float(os.environ.get("COURSE_TIMEOUT", "60"))
    folder = tempfile.TemporaryDirectory(prefix="course-")
    proof = Path(folder.name) / secrets.token_hex(16)
    environment = {**os.environ, "COURSE_EDIT": edit, "COURSE_RERUN": rerun, "COURSE_PROOF": str(proof)}
    program = Path(command[0])
    warnings = warnings_file(program)
    if warnings.exists() and warnings.stat().st_mtime >= program.stat().st_mtime:
        environment["COURSE_WARNINGS"] = warnings.read_text(encoding="utf-8")
    process = subprocess.Popen([*wrapper, *command], env=environment, start_new_session=True)
    try:
        code = process.wait(seconds)
        proven = proof.exists() and proof.read_text() == str(code)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 1, f"The check did not come to an end within {seconds:g} seconds: does a loop never end?"
    except BaseException:  # meson's own timeout, or Ctrl-C: leave no process behind
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        folder.cleanup()
    if code < 0:
        return 1, f"The check crashed: {signal.Signals(-code).name}."
    if code in (0, SKIPPED) and not proven:
        return 1, f"The check was ended early, with exit code {code}: does your file call exit()?"
    return code, None


def remember(build, exercise, checked, passed):
    """Records what a check said of an answer, if it ran whole and the file is still the same."""
    if any(os.environ.get(name) for name in PARTIAL_RUNS) or course_state.fingerprint(exercise) != checked:
        return
    try:
        course_state.record_verdict(build, exercise, checked, passed)
    except OSError:  # the verdict itself stands, and another check finds it again
        pass


def main():
    exercise, program = (Path(argument).resolve() for argument in sys.argv[1:3])
    build = Path.cwd()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` is no error
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    edit = seen_from_the_shell(exercise)
    rerun = os.environ.get("COURSE_RERUN") or rerun_command(build, exercise.stem)
    checked = course_state.fingerprint(exercise)

    if not is_started(exercise.read_text(encoding="utf-8", errors="replace")):
        print(f"Not started. Open {edit} and delete its NOT_STARTED line when you begin.")
        return SKIPPED

    problem = build_check(build, program, exercise)
    if problem is not None:
        print(f"{exercise.stem} does not compile:\n\n{problem}")
        code = 1
    else:
        sys.stdout.flush()
        code, problem = run_check([str(program), *sys.argv[3:]], edit, rerun)
        if problem is not None:
            print(problem)
    if problem is not None:
        print(f"\nedit:  {edit}\nrerun: {rerun}")
    elif code != SKIPPED:
        remember(build, exercise, checked, passed=code == 0)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
