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
import itertools
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
import course_state  # noqa: E402

SKIPPED = 77
INTERRUPTED = 130
# With one of these a run is not the whole check, or not of a learner's answer.
PARTIAL_RUNS = ("COURSE_EXPECT", "COURSE_WRAPPER", "SIMT_SEED", "SIMT_TRACE")
TOP = Path(__file__).resolve().parents[2]
LINES_OF_AN_ERROR = 8  # the message, its source line, the caret, a few notes
ERRORS_SHOWN = 3
WARNINGS_SHOWN = 3
CANDIDATES_SHOWN = 6

# g++, clang and the rewriter: "file:12:3: error: text"; nvcc: "file(12): error: text".
ERROR = re.compile(r"^(?P<file>[^\s:(][^:(]*)(:\d+(:\d+)?|\(\d+\)): (fatal |catastrophic )?error\b")
# Lines that lead up to an error: they belong to the one that follows.
LEAD_IN = re.compile(r"^(In file included from|\s+from |[^\s:]+: In |[^\s:]+: At )")
# The way to an error inside a template: "file:46:29:   required from here".
REQUIRED = re.compile(r"^(?P<place>[^\s:]+:(?P<line>\d+):\d+):\s+(recursively )?required ")
# A warning. Signs that differ are no mistake that a learner should look for.
WARNING = re.compile(r"^[^\s:(][^:(]*(:\d+(:\d+)?|\(\d+\)): warning\b(?!.*\[-Wsign-compare\])")
# A function that the compiler might have taken: ": note: candidate: 'int atomicCAS(int*, int, int)'".
CANDIDATE = re.compile(r": note: candidate( function)?: ['\u2018](?P<signature>.*?)['\u2019]$")
# What is no message: ninja's own lines, the command line that failed, and closing counts.
NOISE = re.compile(
    r"^(ninja: |\[\d+/\d+\] |FAILED: |\d+ errors? (generated|detected)|compilation terminated)"
)
# What a compiler's words mean here: a pattern of the error's lines, and what to write instead.
ADVICE = [
    (re.compile(r"invalid conversion from [^*\n]* to .*\*.*\n.*\batomic\w+\("),
     "An atomic function takes the address of what it changes: atomicAdd(p, 1), not atomicAdd(*p, 1)."),
    (re.compile(r"no (matching|instance of overloaded) function .*?(?P<name>\batomic[A-Z]\w*)"),
     "{name} takes an address first, and knows certain types only: chapter 02's README has a table. Another\n"
     "type takes a loop around atomicCAS on its bits: __float_as_uint(x), or the word around 16 bits."),
    (re.compile(r"(?P<name>__(shfl(_up|_down|_xor)?|any|all|ballot))\b(?!_).* (was not declared|is undefined)|"
                r"undeclared identifier .(?P<name2>__(shfl(_up|_down|_xor)?|any|all|ballot))\b"),
     "It is called {name}_sync since CUDA 9. Its first argument is a mask: which lanes make this call?"),
    (re.compile(r"(call to|constructor) .*DeviceBuffer"),
     "course::DeviceBuffer<T>::from(v) copies a std::vector, ::zeros(n) has n zeros, and (n) has n elements\n"
     "that nobody has set."),
]


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


def with_full_paths(output):
    """The compiler's output with paths from the top, where it has them relative to the build folder."""

    def full(match):
        return os.path.realpath(match.group()) if os.path.exists(match.group()) else match.group()

    return re.sub(r"(?<![^\s'\"‘])\.\./[^\s:,('\"’]+", full, output)


def with_short_paths(text):
    """The same as a learner would type them."""
    shell_top = seen_from_the_shell(TOP)
    return text.replace(f"{TOP}/", "" if shell_top == "." else shell_top + "/")


def warnings_of(output, exercise):
    """The first warnings about the exercise's own file in a build's output, with their source lines."""
    warnings = {}
    lines = output.splitlines()
    for at, line in enumerate(lines):
        if str(exercise) in line and WARNING.match(line):
            source = itertools.takewhile(lambda text: text.startswith(" "), lines[at + 1 : at + 3])
            warnings[line] = "\n".join([line, *source])
    return with_short_paths("\n".join(list(warnings.values())[:WARNINGS_SHOWN]))


def errors_of(output, exercise):
    """The errors in a failed build's output, each a list of lines; the exercise's own come first.

    Of an error inside a template, which the exercise's line was the cause of, that line comes first;
    further errors with the same cause are left out.
    """
    errors = []
    lead_in = []
    after_failed = False
    for line in output.splitlines():
        if after_failed:  # the command line that failed
            after_failed = False
            continue
        if line.startswith("FAILED: "):
            after_failed = True
        if NOISE.match(line):
            continue
        if ERROR.match(line):
            errors.append([*lead_in, line])
            lead_in = []
        elif LEAD_IN.match(line) or REQUIRED.match(line):
            lead_in.append(line)
        elif re.match(r"^\S+(:\d+(:\d+)?|\(\d+\)): (warning|note)\b", line) and " warning" in line[:300]:
            lead_in = []
            errors.append(None)  # the lines of a warning belong to no error
        elif errors and errors[-1] is not None:
            errors[-1].append(line)
    mine = str(exercise)
    shown = []
    causes = set()
    for error in errors:
        if error is None:
            continue
        way = [match for match in map(REQUIRED.match, error) if match and mine in match["place"]]
        if way:
            place, number = way[0]["place"], int(way[0]["line"])
            if place in causes:
                continue
            causes.add(place)
            first = [bool(ERROR.match(line)) for line in error].index(True)
            source = source_line(exercise, number)
            error = [f"{place}: this line is the cause:", *source, *error[first:]]
        shown.append(error)
    shown.sort(key=lambda error: not any(mine in line for line in error))
    return shown


def source_line(exercise, number):
    """A line of the exercise as compilers show it, in a list; an empty list if there is none."""
    lines = exercise.read_text(encoding="utf-8", errors="replace").splitlines()
    return [f"{number:>5} | {text}" for text in lines[number - 1 : number]]


def shorten(error):
    """The first lines of an error, and one line for each function that the compiler might have taken."""
    candidates = dict.fromkeys(
        match["signature"] for match in map(CANDIDATE.search, error) if match is not None
    )
    if not candidates:
        return error[:LINES_OF_AN_ERROR]
    first = [bool(ERROR.match(line)) for line in error].index(True)
    notes = [": note: " in line or LEAD_IN.match(line) is not None for line in error[first:]]
    lines = error[: first + notes.index(True)] + ["  there is:"]
    lines += [f"    {signature}" for signature in list(candidates)[:CANDIDATES_SHOWN]]
    more = len(candidates) - CANDIDATES_SHOWN
    return lines + ([f"    ... and {more} more"] if more > 0 else [])


def advice_on(error):
    """What to write instead, for an error that is one of the usual ones; lines, or none."""
    text = "\n".join(error)
    for pattern, words in ADVICE:
        found = pattern.search(text)
        if found:
            names = found.groupdict()
            return words.format(name=names.get("name") or names.get("name2")).splitlines()
    return []


def explain_build_failure(output, exercise):
    """What a learner needs of a failed build's output: the first errors, with short paths."""
    errors = errors_of(output, exercise)
    lines = []
    for error in errors[:ERRORS_SHOWN]:
        while error and not error[-1].strip():
            error.pop()
        advice = advice_on(error)
        if advice:  # in the place of notes on what the headers hold
            notes = [i for i, line in enumerate(error) if re.search(r"\bnote:", line)]
            lines += error[: min([*notes, LINES_OF_AN_ERROR])] + advice
        else:
            lines += shorten(error)
    if len(errors) > ERRORS_SHOWN:
        lines.append(f"... and {len(errors) - ERRORS_SHOWN} more errors")
    if not errors:  # a linker's message, or none that is known
        lines = [line for line in output.splitlines() if not NOISE.match(line)][-20:]
    return with_short_paths("\n".join(lines))


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
    output = with_full_paths(result.stdout)
    if result.returncode != 0:
        return explain_build_failure(output, exercise)
    if "ninja: no work to do" not in output:
        warnings_file(program).write_text(warnings_of(output, exercise), encoding="utf-8")
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
