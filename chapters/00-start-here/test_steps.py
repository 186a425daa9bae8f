#!/usr/bin/env python3
"""Follows the steps of README.md, and compares what it promises with what the check says.

    test_steps.py BUILD_FOLDER

BUILD_FOLDER is one of the CPU device. Takes each step of the exercise `scale` from README.md itself, after its card: a
function in a C++ block replaces the one of that name, a shell block is the command, and a block without a
language holds the first lines of the verdict. Step 6 takes the solution. The exercise's
file is changed meanwhile and put back at the end; one that a learner has begun is left alone.

Exit code 1 and a text on what differs, or 0.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]

EXERCISE = TOP / "exercises" / HERE.name / "scale.cuh"
SOLUTION = TOP / "solutions" / HERE.name / "scale.cuh"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"^NOT_STARTED\b.*\n", re.MULTILINE)
VERDICT = re.compile(r"^(FAILED: |all \d+ checks passed).*", re.MULTILINE | re.DOTALL)


def steps(readme):
    """(title, blocks) of each step; a block is (language, text). What is between the card and the steps comes first."""
    section = re.search(r"^<!-- exercise scale -->\n.*?^<!-- exercise:end -->\n(.*?)^(?:## |<!-- exercise )", readme, re.MULTILINE | re.DOTALL).group(1)
    parts = re.split(r"^#### (.*)\n", section, flags=re.MULTILINE)
    titles = ["introduction", *parts[1::2]]
    return [(title, BLOCK.findall(text)) for title, text in zip(titles, parts[::2])]


def replace_function(source, function):
    """`source` with `function` instead of the one that has the same first line."""
    first = function.splitlines()[0]
    changed, count = re.subn(rf"^{re.escape(first)}\n.*?^\}}\n", lambda _: function, source,
                             flags=re.MULTILINE | re.DOTALL)
    if count != 1:
        sys.exit(f"{EXERCISE.name}: {count} functions begin with\n  {first}")
    return changed


def verdict(command, build):
    """The exit code of a command of README.md, run with another build folder, and what the check said."""
    done = subprocess.run(command, shell=True, cwd=TOP, env={**os.environ, "COURSE_BUILD": str(build)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    said = VERDICT.search(done.stdout)
    return done.returncode, said.group() if said else done.stdout


def check_step(title, command, expected, passes, build):
    """Runs a step's command; ends the program if the check says something else than README.md."""
    code, said = verdict(command, build)
    if not said.startswith(expected) or (code == 0) != passes:
        said = "\n".join(said.splitlines()[: expected.count("\n")])
        sys.exit(f"README.md, {title}: {command.strip()}\nshould say first\n\n{expected}\n"
                 f"and {'pass' if passes else 'fail'}; it ends with exit code {code}, and says\n\n{said}")
    print(f"ok    {title}")


def go(readme, build):
    """All steps, one after another."""
    (_, [(_, command_of_all)]), *rest = steps(readme)
    text = MARKER.sub("", EXERCISE.read_text(encoding="utf-8"))
    for number, (title, blocks) in enumerate(rest, 1):
        is_last = number == len(rest)
        if is_last:
            text = SOLUTION.read_text(encoding="utf-8")
        command = command_of_all
        for language, block in blocks:
            if language == "cpp":
                text = replace_function(text, block)
            elif language == "sh":
                command = block
            else:
                EXERCISE.write_text(text, encoding="utf-8")
                check_step(title, command, block, is_last, build)


def main():
    build = Path(sys.argv[1]).resolve()
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    starter = EXERCISE.read_text(encoding="utf-8")
    if not MARKER.search(starter):
        return f"{EXERCISE.relative_to(TOP)} has been begun: it is left alone"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        go(readme, build)
    finally:
        EXERCISE.write_text(starter, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
