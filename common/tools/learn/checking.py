"""./course check and watch: run a check, and say what its verdict means."""

import os
import subprocess
import sys
import time

from tools.learn import passing, progress
from tools.learn.asking import content
from tools.lib import terminal
from tools.lib.checkout import seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.terminal import paint

SKIPPED = 77
INTERRUPTED = 130
GONE_SECONDS = 3  # an editor that saves by renaming takes the file away for much less


def check(course, exercise, rerun, **more):
    """Runs an exercise's check, which speaks for itself, with `more` in its environment. Returns its exit code."""
    sys.stdout.flush()
    environment = {**os.environ, **more, "COURSE_RERUN": rerun, "COURSE_PROGRESS": "1", "COURSE_COUNT_SECONDS": str(passing.COUNT_SECONDS)}
    try:
        process = subprocess.Popen(exercise.command, cwd=course.build, env=environment)
    except OSError as error:
        raise Failed(f"The check cannot be started: {error}.") from error
    try:
        code = process.wait()
    except BaseException:  # Ctrl-C
        progress.stop(process)
        raise
    return code if code >= 0 else 128 - code


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
        rows = [(one, course.known_state(one)) for one in course.exercises]
        following = progress.next_of(rows)
        print(f"next:    {seen_from_the_shell(following.file)}" if following else f"All {len(rows)} exercises are solved.")
    elif code != SKIPPED:
        shown, there = course.hints_shown(exercise), len(course.hints(exercise))
        if shown < there:
            print(f"hint:  {course.command('hint', exercise.name)}  ({shown + 1} of {there})")
    sys.stdout.flush()


def show_check(course, arguments):
    """checks one exercise, and says why it is not right yet"""
    exercises = course.of_chapter(arguments.name or "") or [course.find(arguments.name)]
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


def watch(course, arguments):
    """checks an exercise whenever you save it; Ctrl-C ends it"""
    watched = [course.find(arguments.name)] if arguments.name else course.exercises
    what = seen_from_the_shell(watched[0].file) if len(watched) == 1 else f"{len(watched)} exercises"
    seen = {exercise.name: content(exercise.file) for exercise in watched}
    print(f"Watching {what}: save, and the check runs. Ctrl-C ends it.", flush=True)
    following = progress.next_of([(one, course.known_state(one)) for one in watched])
    if following and not arguments.name:
        print(f"next:  {seen_from_the_shell(following.file)}", flush=True)
    try:
        if arguments.name:
            check_and_say(course, watched[0])
        poll(course, watched, seen, arguments.every)
    except KeyboardInterrupt:
        # The terminal has written ^C: the last line is one of its own.
        print("\r" + terminal.paint(f"{clock()}  the watch has ended", "quiet"))
    return INTERRUPTED


def poll(course, watched, seen, seconds):
    """Looks at the files until it is ended. It compares contents: times and inodes differ between file systems."""
    candidates = {}
    gone_since = {}
    while True:
        time.sleep(seconds)
        for exercise in watched:
            name, now = exercise.name, content(exercise.file)
            if now is None:
                since = gone_since.setdefault(name, time.monotonic())
                if since is not None and time.monotonic() - since > GONE_SECONDS:
                    print(f"{clock()}  {seen_from_the_shell(exercise.file)} is gone. "
                          f"{course.command('reset', name)} brings the starter back.", flush=True)
                    gone_since[name] = None  # said
                continue
            gone_since.pop(name, None)
            if now == seen[name]:
                candidates.pop(name, None)
            elif candidates.get(name) != now:
                candidates[name] = now  # an editor may still be writing: look once more
            else:
                del candidates[name]
                seen[name] = now
                check_and_say(course, exercise)


def check_and_say(course, exercise):
    """One check in the watch: a line before it, and the verdict after it."""
    heading = f"── {clock()} {exercise.name} "
    print("\n" + paint(heading + "─" * max(2, min(72, terminal.width()) - len(heading)), "strong"))
    start = time.monotonic()
    code = check(course, exercise, "save the file")
    verdict, style = verdict_of(course, exercise, code)
    print(paint(f"{clock()}  {verdict}", style) + f"  ({time.monotonic() - start:.0f} s)")
    print_what_helps(course, exercise, code)


def clock():
    """The time of day."""
    return time.strftime("%H:%M:%S")
