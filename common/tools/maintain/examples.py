#!/usr/bin/env python3
"""Puts the examples of common/tests/examples_test.cu into the headers of common/include/course.

    examples.py [--check]

A header's first comment ends with the line "// Example (common/tests/examples_test.cu):"; below it is what
the test has between "// [NAME.cuh]" and "// [end]", so that every example compiles and does what it says.
--check changes nothing, and exits with 1 if a header is out of step, has no example, or has one that no test has.
exercise.cuh needs none: each exercise shows its one line.
"""

import re
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
HEADERS = TOP / "common" / "include" / "course"
TESTS = TOP / "common" / "tests" / "examples_test.cu"
WITHOUT = {"exercise.cuh"}
MARK = "// Example (common/tests/examples_test.cu):"
EXAMPLE = re.compile(rf"^{re.escape(MARK)}\n(?://(?: {{3}}.*)?\n)*", re.MULTILINE)
IN_TEST = re.compile(r"^ *// \[(?P<name>\w+\.cuh)\]\n(?P<code>.*?)^ *// \[end\]$", re.MULTILINE | re.DOTALL)


def examples():
    """{header: the lines of its example, as the test has them}."""
    found = {}
    for match in IN_TEST.finditer(TESTS.read_text(encoding="utf-8")):
        lines = textwrap.dedent(match["code"]).rstrip("\n").split("\n")
        found[match["name"]] = lines
    return found


def with_example(text, lines):
    """The header's text with this example; None if it has no mark for one."""
    comment = [MARK, "//", *(f"//   {line}".rstrip() for line in lines)]
    new, count = EXAMPLE.subn(lambda _: "\n".join(comment) + "\n", text)
    return new if count == 1 else None


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        return __doc__
    wrong, found = [], examples()
    for header in sorted(HEADERS.glob("*.cuh")):
        name = f"common/include/course/{header.name}"
        lines = found.pop(header.name, None)
        if header.name in WITHOUT:
            continue
        if lines is None:
            wrong.append(f"{name}: common/tests/examples_test.cu has no // [{header.name}]")
            continue
        text = header.read_text(encoding="utf-8")
        new = with_example(text, lines)
        if new is None:
            wrong.append(f"{name}: its first comment has not exactly one line \"{MARK}\"")
        elif new != text and check:
            wrong.append(f"{name}: its example is not the test's: common/tools/maintain/examples.py copies it")
        elif new != text:
            header.write_text(new, encoding="utf-8")
    wrong += [f"common/tests/examples_test.cu: there is no header {name}" for name in found]
    return "\n".join(wrong) if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
