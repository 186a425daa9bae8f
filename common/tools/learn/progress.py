"""A learner's progress: the exercises of a build folder, which are solved, and the board that shows it."""

import json
import subprocess
from collections import namedtuple
from pathlib import Path

from tools.lib import course_state, result, terminal
from tools.lib.checkout import is_started

SOLVED, BEGUN, NOT_STARTED, UNKNOWN = "solved", "not right yet", "not begun", "cannot run here"
MISSING = "file is gone"
STYLE_OF = {SOLVED: "good", BEGUN: "open", MISSING: "bad", NOT_STARTED: "quiet", UNKNOWN: "quiet"}


# An exercise of a build folder: chapter is 01-global-atomic; file is the learner's; command is what its test
# runs in the build folder.
Exercise = namedtuple("Exercise", "chapter name file command")


def exercises(build):
    """Every Exercise of a build folder, in the order of the course. Raises OSError if it is none."""
    tests = json.loads((build / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    found = []
    for test in tests:
        if any(suite.split(":")[-1] == "exercises" for suite in test["suite"]):
            file = Path(next(argument for argument in test["cmd"] if argument.endswith(".cuh")))
            file = (build / file).resolve()
            found.append(Exercise(file.parent.name, test["name"], file, test["cmd"]))
    return sorted(found, key=lambda exercise: exercise.chapter)


def state_at_rest(exercise, build):
    """The state of an exercise as far as it is known without a check, or None."""
    try:
        text = exercise.file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return MISSING
    if not is_started(text):
        return NOT_STARTED
    passed = course_state.verdict(build, exercise.file)
    return None if passed is None else SOLVED if passed else BEGUN


def stop(check):
    """Waits for a check that is to end: Ctrl-C has reached it as well, and it ends what it has started."""
    try:
        check.wait(1)
    except subprocess.TimeoutExpired:  # only this program was told to end
        check.terminate()
        check.wait()


def state_after_check(exercise, build):
    """Builds and runs the check, as the exercise's test does, and returns the state."""
    with subprocess.Popen(exercise.command, cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as check:
        try:
            check.communicate()
        except BaseException:  # Ctrl-C
            stop(check)
            raise
    if check.returncode == 77:
        found = result.load(build, exercise.name)
        return NOT_STARTED if found and found["verdict"] == result.NOT_STARTED else UNKNOWN
    return SOLVED if check.returncode == 0 else BEGUN


def next_of(rows):
    """The exercise to go on with: the first that is begun, else the first that is not; None if all are solved."""
    for wanted in (BEGUN, MISSING, NOT_STARTED):
        for exercise, state in rows:
            if state == wanted:
                return exercise
    return None


def counts(states):
    """How many are solved, begun, not begun; what there are none of is left out."""
    begun = sum(state in (BEGUN, UNKNOWN, MISSING) for state in states)
    parts = [(states.count(SOLVED), "solved"), (begun, "begun"), (states.count(NOT_STARTED), "not begun")]
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def board(rows, fast=frozenset()):
    """The text of the board; rows: (Exercise, state). The next exercise has an arrow, those named in `fast` a star."""
    lines = []
    following = next_of(rows)
    longest = max((len(exercise.name) for exercise, _ in rows), default=0)
    for chapter in dict.fromkeys(exercise.chapter for exercise, _ in rows):
        its_rows = [row for row in rows if row[0].chapter == chapter]
        summary = counts([state for _, state in its_rows])
        gap = longest + 4 - len(chapter)
        if max(gap, 2) + len(chapter) + len(summary) > terminal.width():
            lines += [terminal.paint(chapter, "strong"), f"  {summary}"]
        else:
            lines.append(terminal.paint(chapter, "strong") + " " * max(gap, 2) + summary)
        for exercise, state in its_rows:
            mark = "▶" if exercise is following else "✓" if state == SOLVED else " "
            star = "*" if exercise.name in fast else " "
            lines.append(f"{mark}{star}{exercise.name:<{longest}}  {terminal.paint(state, STYLE_OF[state])}")
    solved = sum(state == SOLVED for _, state in rows)
    lines += ["", f"{solved} of {len(rows)} solved."]
    if starred := [state for exercise, state in rows if exercise.name in fast]:
        lines.append(f"* {starred.count(SOLVED)} of {len(starred)} on the fast track (--fast).")
    return "\n".join(lines)
