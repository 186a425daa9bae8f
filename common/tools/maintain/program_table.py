#!/usr/bin/env python3
"""Writes the tables of what runs on the CPU device into common/docs/any-cuda-file.md.

    program_table.py [--check]

A program of common/simt/tests/programs, which may be a folder with a main.cu, says in its first line what it is for, and
what becomes of it; common/simt/tests/test_programs.py holds it to that:

    // Construct: dynamic parallelism. Expect: unsupported "dynamic parallelism".

--check changes nothing, and exits with 1 if the tables are out of step.
"""

import re
import sys
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import markers  # noqa: E402

TOP = Path(__file__).resolve().parents[3]
PROGRAMS = TOP / "common" / "simt" / "tests" / "programs"
PAGE = TOP / "common" / "docs" / "any-cuda-file.md"
HEADER = re.compile(r'// Construct: (?P<construct>.+?)\. Expect: (?P<outcome>runs|finding|unsupported)(?: "(?P<said>[^"]+)")?[^"]*\.$')
# What becomes of a program, in the order of the page: a heading, and the columns' heads.
PARTS = {
    "runs": ("Runs", ("construct", "program")),
    "finding": ("Runs, and its mistake is found", ("mistake", "program", "the finding begins with")),
    "unsupported": ("Is refused, at its line", ("construct", "program", "the error names")),
}
Program = namedtuple("Program", "construct outcome said path")


def read(folder):
    """Every Program of a folder, and the files whose first line does not say what it is for."""
    programs, wrong = [], []
    for file in sorted(folder.rglob("*.cu")):
        if file.name != "main.cu" and (file.parent / "main.cu").exists():
            continue  # a part of that program
        header = HEADER.match(file.read_text(encoding="utf-8").partition("\n")[0])
        path = file.relative_to(folder).as_posix()
        if header:
            programs.append(Program(header["construct"], header["outcome"], header["said"], path.removesuffix("/main.cu")))
        else:
            wrong.append(path)
    return programs, wrong


def as_markdown(text):
    """The text with no character that means something in a table."""
    return re.sub(r"([\\_*<>|`])", r"\\\1", text)


def tables(programs):
    """The programs as Markdown."""
    parts = []
    for outcome, (heading, columns) in PARTS.items():
        mine = sorted((one for one in programs if one.outcome == outcome), key=lambda one: one.construct.lower())
        if not mine:
            continue
        lines = [f"### {heading} ({len(mine)})", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
        for one in mine:
            cells = [as_markdown(one.construct), f"[{one.path}](../simt/tests/programs/{one.path})"]
            cells += [as_markdown(one.said)] if outcome != "runs" else []
            lines.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        return __doc__
    programs, wrong = read(PROGRAMS)
    if wrong:
        return "\n".join(f"common/simt/tests/programs/{name}: the first line is not // Construct: NAME. Expect: ..."
                         for name in wrong)
    text = PAGE.read_text(encoding="utf-8")
    new = markers.replaced(PAGE.name, text, "programs", tables(programs))
    if check and new != text:
        return "common/docs/any-cuda-file.md: its tables are not those of the programs: common/tools/maintain/program_table.py"
    if new != text:
        PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
