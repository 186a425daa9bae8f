#!/usr/bin/env python3
"""What an instructor does, with a real build of chapter 01: makes a release. Grading has test_class.py.

    instructors_end_to_end.py          (2 minutes of one core)

In a release README.md's two commands work, with -Dchapters=01-global-atomic, and every page leads to what is there.
Exit code: 0, or 1 with what was different.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.lib.checkout import TOP

CHAPTER = "01-global-atomic"


def run(command, folder):
    """Runs a shell command; ends the program with its output where it fails."""
    done = subprocess.run(["bash", "-ec", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-6000:]}\n{command}: exit code {done.returncode}")
    return done.stdout


def expect(found, expected, what):
    """Ends the program where two values differ."""
    if found != expected:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}")


def try_release(folder):
    """README.md's commands in a release."""
    release = folder / "release"
    run(f"'{TOP}/common/tools/teach/release.py' '{release}'", folder)
    readme = (release / "README.md").read_text(encoding="utf-8")
    commands = [re.search(rf"<!-- command {n} -->\n```sh\n(.*?)```", readme, re.DOTALL).group(1) for n in (1, 2)]
    run(commands[0].replace("meson setup build", f"meson setup build -Ddevice=cpu -Dchapters={CHAPTER}"), release)
    run(commands[1], release)
    results = [json.loads(line) for line in (release / "build/meson-logs/testlog.json").read_text().splitlines()]
    expect(sorted({result["result"] for result in results}), ["OK", "SKIP"], "tests of a release")
    expect([result["name"] for result in results if "solution" in result["name"] or "mistake" in result["name"]], [], "answers")
    run("common/dev lint && git status --porcelain >../status && test ! -s ../status", release)
    print(f"ok  a release: {len(results)} tests")


def main():
    with tempfile.TemporaryDirectory(prefix="instructors-") as folder:
        try_release(Path(folder))


if __name__ == "__main__":
    main()
