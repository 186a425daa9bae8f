#!/usr/bin/env python3
"""Checks one exercise, and says what to do next.

    check_exercise.py EXERCISE_FILE CHECK_PROGRAM [ARGUMENT_OF_THE_PROGRAM ...]

Runs in the build folder, where Meson starts its tests. Skips an exercise whose file still has its
NOT_STARTED line (exit code 77). Else builds the check of this exercise alone, so that what does not
compile fails this test and no other, and runs it. Exit code: the check's own, or 1 if it cannot be
built, crashes, does not terminate, or is ended by the answer, whose exit() would look like a
verdict. Known-wrong answers, and right ones in other styles, are run in the same way: with COURSE_EXPECT, and their
verdicts are not remembered.
The result is written to a file (lib/result.py), and the verdict on an answer is remembered in the build
folder, for ./course (lib/course_state.py).

COURSE_WRAPPER is a command that runs the check, such as "compute-sanitizer --error-exitcode 9".
COURSE_CPU_SECONDS is the processor time that the check may take on the CPU device, 120 s by default: then it ends
itself, and says which test case and launch ran. COURSE_TIMEOUT, 240 by default, is the elapsed time in seconds after
which it is killed. The time in which it waits for its turn on a GPU, or on a processor that others use, does not count.
COURSE_RERUN is the command that a learner is told to run next, in place of Meson's.
COURSE_PROGRESS, if set, makes it show at a terminal how far the build and the check are.
COURSE_PROCESSES is how many processes may run the test cases on the CPU device at the same time, 1 by default.
COURSE_BUILT, if set, says that the check is built and new.
COURSE_ALL, if set, runs all test cases, however long that takes after a failure.
COURSE_RESULT is the file of the result; without it results/EXERCISE.json in the build folder.

The gate starts it a thousand times: modules that not every run needs are imported in functions.
"""

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import result  # noqa: E402
from tools.lib.checkout import is_started, seen_from_the_shell, warnings_file  # noqa: E402

SKIPPED = 77
INTERRUPTED = 130
# With one of these a run is not the whole check, or not of a learner's answer.
PARTIAL_RUNS = ("COURSE_EXPECT", "COURSE_SEEDS", "COURSE_WRAPPER", "SIMT_SEED", "SIMT_TRACE")


def rerun_command(build, name):
    """The command that runs this test again."""
    return f"meson test -C {shlex.quote(seen_from_the_shell(build))} {name}"


def time_limit():
    """COURSE_TIMEOUT in seconds."""
    text = os.environ.get("COURSE_TIMEOUT", "240")
    with contextlib.suppress(ValueError):
        if 0 < float(text) < float("inf"):
            return float(text)
    sys.exit(f"COURSE_TIMEOUT must be a number of seconds above 0, and is '{text}'")


def processor_seconds(pid):
    """The processor time that a process has taken until now; 0 if it has ended."""
    with contextlib.suppress(OSError):
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def wait(process, seconds, waiting):
    """The exit code of the check; TimeoutExpired after this many seconds in which the file `waiting` did not exist.

    Of a second in which the check computes, its processor time counts, at least a quarter: other programs may have had the rest.
    """
    left, used = seconds, 0.0
    while left > 0:
        step = min(left, 1.0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(step)
        before, used = used, processor_seconds(process.pid)
        computed = used - before
        if not waiting.exists():
            left -= min(step, max(computed, step / 4)) if computed > step / 50 else step
    raise subprocess.TimeoutExpired(process.args, seconds)


class Receiver:
    """Takes what a check sends while it runs."""

    def __init__(self, ours):
        self.ours, self.data = ours, bytearray()
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

    def receive(self):
        while part := self.ours.recv(1 << 16):
            self.data += part[:max(0, result.MOST_BYTES - len(self.data))]

    def end(self):
        """All that was sent. It does not wait for what the answer has started and left running."""
        with contextlib.suppress(OSError):
            self.ours.shutdown(socket.SHUT_RD)
        self.thread.join()
        return bytes(self.data)


def seed_of_last_time(found):
    """For the check's environment: the shuffled schedule under which the last run failed, which is tried first now."""
    if not found or found["verdict"] != result.FAILED or not found["seed"] or any(os.environ.get(name) for name in PARTIAL_RUNS):
        return {}
    return {"COURSE_FIRST_SEED": str(found["seed"])}


def run_check(command, edit, rerun, more):
    """Runs the check with `more` in its environment; returns its result, its exit code, and a remark where it ended in no ordinary way.

    The result comes through a socket: an answer that ends the program itself sends none.
    """
    wrapper = shlex.split(os.environ.get("COURSE_WRAPPER", ""))
    seconds = time_limit()
    waiting = Path(os.environ.get("TMPDIR") or "/tmp", f"course-waiting-{os.urandom(16).hex()}")
    ours, theirs = socket.socketpair()
    environment = {
        **os.environ, **more, "COURSE_EDIT": edit, "COURSE_RERUN": rerun, "COURSE_RESULT": f"socket:{theirs.fileno()}",
        "COURSE_WAITING": str(waiting), "COURSE_CPU_SECONDS": os.environ.get("COURSE_CPU_SECONDS", "120"),
    }
    if wrapper:
        environment["COURSE_ALL"] = "1"
    program = Path(command[0])
    warnings = warnings_file(program)
    if warnings.exists() and warnings.stat().st_mtime >= program.stat().st_mtime:
        environment["COURSE_WARNINGS"] = warnings.read_text(encoding="utf-8")
    process = subprocess.Popen([*wrapper, *command], env=environment, start_new_session=True, pass_fds=[theirs.fileno()])
    try:
        theirs.close()
        receiver = Receiver(ours)
        code = wait(process, seconds, waiting)
        found = result.received(receiver.end(), code)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        remark = f"The check did not end within {seconds:g} seconds: does a loop never end?"
        return result.new(result.TIMED_OUT, remark), 1, remark
    except BaseException:  # meson's own timeout, or Ctrl-C: leave no process running
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        ours.close()
        waiting.unlink(missing_ok=True)
    if code < 0:
        remark = f"The check crashed: {signal.Signals(-code).name}."
        return result.new(result.CRASHED, remark), 1, remark
    if found:
        return found, code, None
    if code in (0, SKIPPED):
        remark = f"The check was ended early, with exit code {code}: does your file call exit()?"
        return result.new(result.ENDED_EARLY, remark), 1, remark
    return result.new(result.FAILED, f"exit code {code}"), code, None


def fingerprint(exercise):
    """That of an answer whose verdict is remembered, if the file is still the same after its run; None of any other."""
    if any(os.environ.get(name) for name in PARTIAL_RUNS):
        return None
    from tools.lib import course_state

    return course_state.fingerprint(exercise)


def remember(build, exercise, checked, passed):
    """Records what a check said of an answer with the fingerprint `checked`, if it ran whole and the file is still the same."""
    if checked is None or fingerprint(exercise) != checked:
        return
    from tools.lib import course_state

    try:
        course_state.record_verdict(build, exercise, checked, passed)
    except OSError:  # the verdict itself stands, and another check finds it again
        pass


def check(exercise, command, build, edit, rerun, before):
    """The result of an exercise's check, its exit code, and what to print of it, or None.

    `before`: the result of the last run, or None.
    """
    if not exercise.is_file():
        remark = f"{edit} is gone. Get it back: ./course reset {exercise.stem}"
        return result.new(result.FAILED, remark), 1, remark
    if not is_started(exercise.read_text(encoding="utf-8", errors="replace")):
        remark = f"Not started. Open {edit} and delete its NOT_STARTED line when you begin."
        return result.new(result.NOT_STARTED, remark), SKIPPED, remark
    if not os.environ.get("COURSE_BUILT"):
        from tools.check.building import build_check

        problem = build_check(build, Path(command[0]), exercise)
        if problem is not None:
            return result.new(result.DOES_NOT_COMPILE, problem), 1, f"{exercise.stem} does not compile:\n\n{problem}"
    sys.stdout.flush()
    return run_check(command, edit, rerun, seed_of_last_time(before))


def main():
    exercise, program = (Path(argument).resolve() for argument in sys.argv[1:3])
    build = Path.cwd()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` is no error
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    edit = seen_from_the_shell(exercise)
    rerun = os.environ.get("COURSE_RERUN") or rerun_command(build, exercise.stem)
    checked = fingerprint(exercise)
    file = Path(os.environ.get("COURSE_RESULT") or result.file_of(build, exercise.stem))
    before = result.read(file)
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)

    found, code, remark = check(exercise, [str(program), *sys.argv[3:]], build, edit, rerun, before)
    if remark is not None:
        print(remark)
        if code != SKIPPED:
            print(f"\nedit:  {edit}\nrerun: {rerun}")
    if found["verdict"] in (result.PASSED, result.FAILED):
        remember(build, exercise, checked, passed=found["verdict"] == result.PASSED)
    with contextlib.suppress(OSError):  # a build folder that cannot be written: what was printed stands
        result.write(file, {**found, "program": program.name, "edit": edit, "rerun": rerun})
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
