#!/usr/bin/env python3
"""Puts a check and all of an exercise's known-wrong answers into one file, each in a namespace.

    all_mistakes.py OUTPUT.cu CHECK.cu ANSWER.cuh ...

Most of the time that a check takes to build goes into headers and templates, which are the same for
every answer: eleven answers in one program build three times as fast as eleven programs. An answer is
named by its folder; its test cases are called "FOLDER: ...", so that the program runs one answer's
checks with the argument "FOLDER: *".
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"][^>\"]+[>\"])", re.MULTILINE)


def headers_of(files):
    """What the files include: "name" or <name>."""
    return {header for file in files for header in INCLUDE.findall(file.read_text(encoding="utf-8"))}


def unit(check, answers):
    """The text of the file. All headers come first, outside of the namespaces."""
    own = f'"{answers[0].name}"'  # the check includes its answer, which stands in front of it here
    lines = [f"#include {header}" for header in sorted(headers_of([check, *answers]) - {own})]
    for answer in answers:
        name = answer.parent.name
        lines += [
            f"namespace mistake_{name} {{",
            "#undef TEST_CASE",
            f'#define TEST_CASE(...) INTERNAL_CATCH_TESTCASE("{name}: " __VA_ARGS__)',
            f'#include "{answer}"',
            f'#include "{check}"',
            f"}}  // namespace mistake_{name}",
        ]
    return "\n".join(lines) + "\n"


def main():
    output, check, *answers = (Path(argument).resolve() for argument in sys.argv[1:])
    output.write_text(unit(check, answers), encoding="utf-8")


if __name__ == "__main__":
    main()
