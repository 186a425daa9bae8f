"""./course check: runs a check, and says what its verdict means."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from tools.learn import passing, progress, reading
from tools.lib.checkout import seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.machine import cores, memory_for_programs
from tools.lib.terminal import paint

SKIPPED = 77
INTERRUPTED = 130
GIB_OF_A_CHECK = 4


def processes():
    """How many processes may run a check: one for each core, as far as the memory allows."""
    return max(1, int(min(cores(), memory_for_programs(1) / GIB_OF_A_CHECK)))


def check(course, exercise, rerun, is_outdated=lambda: False, every=None, **more):
    """Runs an exercise's check, which speaks for itself, with `more` in its environment. Returns its exit code.

    Asks `every` so many seconds whether the check is outdated: then ends it, and returns None.
    """
    sys.stdout.flush()
    environment = {
        **os.environ, **more, "COURSE_RERUN": rerun, "COURSE_PROGRESS": "1",
        "COURSE_PROCESSES": str(processes()), "COURSE_COUNT_SECONDS": str(passing.COUNT_SECONDS),
    }  # fmt: skip
    try:
        process = subprocess.Popen(exercise.command, cwd=course.build, env=environment)
    except OSError as error:
        raise Failed(f"The check cannot be started: {error}.") from error
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(every)
                return code if code >= 0 else 128 - code
            if is_outdated():
                process.terminate()
                process.wait()
                return None
    except BaseException:  # Ctrl-C
        progress.stop(process)
        raise


def verdict_of(course, exercise, code):
    """What the exit code of a check means, and its style."""
    if code == 0 and course.known_state(exercise) == progress.SOLVED:
        return f"{exercise.name} is solved", "good"
    if code == 0:  # one schedule only, or saved while it was checked
        return f"{exercise.name} has passed this run; the whole check has not run on the file as it is now", "open"
    if code == SKIPPED:
        begun = course.known_state(exercise) != progress.NOT_STARTED
        return f"{exercise.name} {'cannot be checked here' if begun else 'is not begun'}", "quiet"
    return f"{exercise.name} is not right yet", "open"


def print_what_helps(course, exercise, code):
    """After a verdict: the commands that may come next."""
    if code == 0:
        if course.known_state(exercise) == progress.SOLVED:
            for line in passing.lines(course.build, exercise):
                print(line)
        print(f"compare: {course.command('diff', exercise.name)}")
        at = course.exercises.index(exercise)
        rows = [(one, course.known_state(one)) for one in [*course.exercises[at + 1 :], *course.exercises[: at + 1]]]
        following = progress.next_of(rows)
        if following is None:
            print(f"All {len(rows)} exercises are solved.")
        else:
            print(f"next:    {reading.after(exercise, following, course.command('check', following.name))}")
    elif code != SKIPPED:
        shown, there = course.hints_shown(exercise), len(course.hints(exercise))
        if shown < there:
            print(f"hint:  {course.command('hint', exercise.name)}  ({shown + 1} of {there})")
    sys.stdout.flush()


def show_check(course, arguments):
    """checks one exercise, and says why it is not right yet"""
    exercises = course.of_chapter(Path(arguments.name or "").name) or [course.find(arguments.name)]
    begun = [one for one in exercises if course.known_state(one) != progress.NOT_STARTED]
    if not begun and len(exercises) > 1:
        print(f"No exercise of {exercises[0].chapter} is begun. The first one: {course.command('next')}")
        return SKIPPED
    if len(begun) > 1:
        codes = [check_in_turn(course, one, arguments) for one in begun]
        return next((code for code in codes if code not in (0, SKIPPED)), max(codes))
    return check_one(course, (begun or exercises)[0], arguments)


def check_in_turn(course, exercise, arguments):
    """One of several checks: a line before it."""
    print(paint(f"\n── {exercise.name}", "strong"))
    return check_one(course, exercise, arguments)


def check_one(course, exercise, arguments):
    """Checks one exercise; returns the exit code of its check."""
    course.require_file(exercise)
    more = {"COURSE_ALL": "1"} if arguments.all else {}
    if arguments.seed is not None:
        more["SIMT_SEED"] = str(arguments.seed)
    code = check(course, exercise, course.command("check", exercise.name), **more)
    if code == 0:
        verdict, style = verdict_of(course, exercise, code)
        print(paint(f"{verdict}.", style))
    print_what_helps(course, exercise, code)
    return code
