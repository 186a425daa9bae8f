"""./course diff and reset: compare the learner's file with the solution, and bring the starter back."""

import contextlib
import difflib
import os
import shlex
import subprocess
import sys
import time

from tools.learn import explaining, progress
from tools.learn.asking import confirm, content
from tools.lib import checkout, cpp_text, terminal
from tools.lib.checkout import is_started, seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.terminal import paint


def show_diff(course, arguments):
    """your file against the solution"""
    exercise = course.find(arguments.name)
    solution = checkout.TOP / "solutions" / exercise.chapter / exercise.file.name
    mine = seen_from_the_shell(exercise.file)
    if not solution.is_file():
        raise Failed(f"This copy of the course has no solution of {exercise.name}.")
    course.require_file(exercise)
    if course.known_state(exercise) != progress.SOLVED:
        confirm(
            f"{mine} as it is now has not passed its check.\nShow the solution anyway?", arguments.yes,
            "the solution was not shown",
        )
    sys.stdout.flush()
    if exercise.file.read_bytes() == solution.read_bytes():
        print("Your file is the same as the solution.")
        return 0
    if not git_diff(exercise.file, solution):
        plain_diff(exercise.file, solution)
    explain(exercise.file, solution)
    return 0


def explain(mine, solution):
    """Prints what the solution says of the lines that differ."""
    answer, text = (file.read_text(encoding="utf-8", errors="replace") for file in (mine, solution))
    if cpp_text.same_code(answer, text):
        print("\nThe code is the same: comments and blanks differ.")
    elif found := explaining.explanations(answer, text):
        print("\n" + paint("What the solution says of lines that differ:", "strong"))
        for number, comment in found:
            print(f"{seen_from_the_shell(solution)}:{number}: {comment}")


def git_diff(mine, solution):
    """Prints the difference; False where there is no Git that can."""
    colour = "--color=always" if terminal.has_colour() else "--color=never"
    command = ["git", "--no-pager", "diff", "--no-index", "--no-ext-diff", colour, "--"]
    try:
        files = [os.path.relpath(file, checkout.TOP) for file in (mine, solution)]
        done = subprocess.run([*command, *files], cwd=checkout.TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    if done.returncode != 1 or not done.stdout:
        return False
    print(done.stdout.decode(errors="replace"), end="")
    return True


def plain_diff(mine, solution):
    """Prints the difference without Git's help."""
    texts = [file.read_text(encoding="utf-8", errors="replace").splitlines() for file in (mine, solution)]
    names = [os.path.relpath(file, checkout.TOP) for file in (mine, solution)]
    for line in difflib.unified_diff(*texts, *names, lineterm=""):
        style = {"+": "good", "-": "bad", "@": "quiet"}.get(line[0])
        print(paint(line, style) if style else line)


def reset(course, arguments):
    """brings the starter back; your file is kept under another name"""
    exercise = course.find(arguments.name)
    mine = seen_from_the_shell(exercise.file)
    starter = starter_of(exercise.file)
    answer = content(exercise.file)
    if answer == starter:
        print(f"{mine} is the starter already.")
        return 0
    if answer is not None:
        confirm(f"A copy of your file will be kept in the same folder.\nReplace {mine} with the starter?", arguments.yes, "nothing was changed")
    try:
        backup = keep(exercise.file, answer) if answer is not None else None
        exercise.file.parent.mkdir(exist_ok=True)
        exercise.file.write_bytes(starter)
    except OSError as error:
        raise Failed(f"{mine} was not reset: {error.strerror}: {seen_from_the_shell(error.filename or exercise.file)}") from error
    if course.hints_shown(exercise):
        course.remember_hints(exercise, 0)
    print(f"{mine} is the starter again.")
    if backup:
        kept = seen_from_the_shell(backup)
        print(f"your file: {kept}")
        print(f"undo:      {shlex.join(['cp', kept, mine])}")
    return 0


def starter_of(file):
    """The starter of an exercise: the newest version in Git's history that has its NOT_STARTED line."""
    name = file.relative_to(checkout.TOP).as_posix()

    def git(*words):
        # Without the option Git refuses a checkout that belongs to another user; here it is only read.
        command = ["git", "-c", "safe.directory=*", "-C", str(checkout.TOP), *words]
        try:
            return subprocess.run(command, capture_output=True).stdout
        except OSError:
            return b""

    for commit in git("log", "--format=%H", "--", name).decode().split():
        text = git("show", f"{commit}:./{name}")
        if text and not is_started(text.decode(errors="replace")):
            return text
    raise Failed(
        f"No version of {name} in Git's history has a NOT_STARTED line, so none is known to be the starter.\n"
        "Copy the file from the repository that you got the course from."
    )


def keep(file, answer):
    """Writes an answer into a new file beside the exercise, and returns its path."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        backup = file.with_name(f"{file.stem}.{stamp}{f'-{number}' if number > 1 else ''}.bak")
        with contextlib.suppress(FileExistsError), open(backup, "xb") as new:
            new.write(answer)
            return backup
    raise FileExistsError(0, "no name is free", str(backup))
