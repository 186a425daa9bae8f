"""The checkout that the tools belong to: where it is, how its files and those beside its programs are named, which exercises are begun."""

import os
import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]


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


def with_short_paths(text):
    """The same as a learner would type them."""
    shell_top = seen_from_the_shell(TOP)
    return text.replace(f"{TOP}/", "" if shell_top == "." else shell_top + "/")


def warnings_file(program):
    """Where the compiler's warnings about a check's exercise stand."""
    return program.with_name(program.name + ".warnings")
