#!/usr/bin/env python3
"""Prints the board: which exercises are solved, begun or not started, and which one is next.

    progress.py BUILD_DIR        (meson compile -C BUILD_DIR progress)
"""

import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
from check_exercise import rerun_command, seen_from_the_shell  # noqa: E402

SOLVED, BEGUN, NOT_STARTED, UNKNOWN = "solved", "begun, not right yet", "not started", "cannot run here"


def exercises(build):
    """(chapter, name, file, command) of every exercise, in the order of the course."""
    tests = json.loads((build / "meson-info" / "intro-tests.json").read_text())
    found = []
    for test in tests:
        if any(suite.split(":")[-1] == "exercises" for suite in test["suite"]):
            file = Path(next(argument for argument in test["cmd"] if argument.endswith(".cuh")))
            file = (build / file).resolve()
            found.append((file.parent.name, test["name"], file, test["cmd"]))
    return sorted(found, key=lambda exercise: exercise[0])


def state_of(command, build):
    """Builds and runs one check, as its test does."""
    result = subprocess.run(command, cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 77:
        return NOT_STARTED if result.stdout.startswith(b"Not started") else UNKNOWN
    return SOLVED if result.returncode == 0 else BEGUN


def board(rows, build):
    """The text of the board; rows: (chapter, name, file, state)."""
    lines = []
    chapter = None
    for row_chapter, name, _, state in rows:
        if row_chapter != chapter:
            chapter = row_chapter
            lines.append(chapter)
        lines.append(f"  {name:<24} {state}")
    solved = sum(state == SOLVED for *_, state in rows)
    lines += ["", f"{solved} of {len(rows)} solved."]
    open_ones = [row for row in rows if row[3] == BEGUN] + [row for row in rows if row[3] == NOT_STARTED]
    if open_ones:
        _, name, file, _ = open_ones[0]
        lines.append(f"Next: {seen_from_the_shell(file)}")
        lines.append(f"      {rerun_command(build, name)}")
    return "\n".join(lines)


def main():
    build = Path(sys.argv[1]).resolve()
    rows = [(chapter, name, file, state_of(command, build)) for chapter, name, file, command in exercises(build)]
    print(board(rows, build))


if __name__ == "__main__":
    main()
