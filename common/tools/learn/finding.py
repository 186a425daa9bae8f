"""./course list, next, hint and picture: the state of the exercises, and what helps."""

import os
import re
import shlex
import signal
import subprocess
import sys

from tools.learn import progress, reading
from tools.lib import checkout, terminal
from tools.lib.checkout import seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.terminal import paint


def show_list(course, _):
    """the board: what is solved, begun, not begun, and what comes next"""
    rows = list(course.states())
    print(progress.board(rows, course.fast()))
    following = progress.next_of(rows)
    if following:
        print(f"Next: {reading.place(following)}")
        print(f"      {seen_from_the_shell(following.file)}")
        print(f"      {course.command('check', following.name)}")
    return 0


def question_of(text):
    """What an exercise asks: the comment that its file begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//") or line.startswith("// Try it:"):
            break
        lines.append(line[2:].removeprefix(" "))
    text = re.sub(r"\AExercise \w+: ", "", "\n".join(lines)).strip()
    return text[:1].upper() + text[1:]


def show_next(course, arguments):
    """the exercise to go on with: its question, its step and its file, the command that checks it"""
    rows = []
    for row in course.states(course.fast() if arguments.fast else None):
        rows.append(row)
        if row[1] == progress.BEGUN:
            break
    exercise = progress.next_of(rows)
    if exercise is None:
        solved = sum(state == progress.SOLVED for _, state in rows)
        where = f"exercises {'on the fast track' if arguments.fast else 'of ' + seen_from_the_shell(course.build)} are solved"
        rest = "." if solved == len(rows) else ", and the others cannot run here."
        print(f"{solved} of {len(rows)} {where}{rest}")
        if arguments.fast:
            print(f"All exercises: {course.command('next')}")
        return 0
    state = dict((one.name, state) for one, state in rows)[exercise.name]
    print(f"{paint(exercise.name, 'strong')} of {exercise.chapter}, {state}")
    if state == progress.MISSING:
        print(f"\nIts file is gone: {course.command('reset', exercise.name)} brings it back.")
        return 0
    print()
    question = question_of(exercise.file.read_text(encoding="utf-8", errors="replace"))
    print(terminal.from_markdown(question, "  "))
    print(f"\nread:  {reading.place(exercise)}")
    remark = "" if state == progress.BEGUN else "  (delete its NOT_STARTED line)"
    print(f"edit:  {seen_from_the_shell(exercise.file)}{remark}")
    print(f"check: {course.command('check', exercise.name)}")
    if arguments.edit:
        edit(exercise.file)
    return 0


def edit(file):
    """Becomes the editor that $EDITOR names. Raises Failed where it names none that runs."""
    try:
        words = shlex.split(os.environ.get("EDITOR", ""))
    except ValueError as error:
        raise Failed(f"EDITOR is {os.environ['EDITOR']}: {error}.") from error
    if not words:
        raise Failed("EDITOR is not set. Put EDITOR=nano, for example, before the command.")
    sys.stdout.flush()
    try:
        os.execvp(words[0], [*words, str(file)])
    except OSError as error:
        raise Failed(f"EDITOR is {words[0]}, which cannot be run: {error.strerror}.") from error


def show_hint(course, arguments):
    """the next hint for an exercise, one at a time"""
    exercise = course.find(arguments.name)
    hints = course.hints(exercise)
    if not hints:
        raise Failed(f"There are no hints in {seen_from_the_shell(course.file_of_hints(exercise))}.")
    shown = min(course.hints_shown(exercise), len(hints))
    if arguments.all:
        numbers = range(1, len(hints) + 1)
    elif arguments.again:
        if shown == 0:
            raise Failed(f"No hint for {exercise.name} was shown yet: {course.command('hint', exercise.name)}")
        numbers = range(1, shown + 1)
    elif shown == len(hints):
        again = course.command("hint", exercise.name, "--again")
        print(f"All {len(hints)} hints for {exercise.name} were shown. To see them again: {again}")
        return 0
    else:
        numbers = [shown + 1]
    for number in numbers:
        print(paint(f"Hint {number} of {len(hints)} for {exercise.name}", "strong") + "\n")
        print(terminal.from_markdown(hints[number - 1], "  ") + "\n")
    if not arguments.again and numbers[-1] > shown:
        course.remember_hints(exercise, numbers[-1])
    if numbers[-1] < len(hints):
        print(f"The next one: {course.command('hint', exercise.name)}")
    else:
        print("That is the last one.")
    return 0


def picture(course, arguments):
    """a drawing of what your kernel did, lane by lane"""
    exercise = course.find(arguments.name)
    tool = checkout.TOP / "common" / "tools" / "trace" / "picture.py"
    sys.stdout.flush()
    command = [sys.executable, str(tool), "--exercise", exercise.name, "--build", str(course.build)]
    if arguments.open:
        command.append("--open")
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait()
    except BaseException:  # Ctrl-C has not reached it: it and what it has started end without a word
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
