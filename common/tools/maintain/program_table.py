"""The tables of what runs on the CPU device, in common/docs/cuda-programs.md.

A program of common/simt/tests/programs, which may be a folder with a main.cu, says in its first line what it is for, and
what becomes of it; common/simt/tests/test_programs.py holds it to that:

    // Construct: dynamic parallelism. Expect: unsupported "dynamic parallelism".
"""

import re
from collections import namedtuple

from tools.lib.documents import section
from tools.lib.failed import Failed

HEADER = re.compile(r'// Construct: (?P<construct>.+?)\. Expect: (?P<outcome>runs|finding|missed|unsupported)(?: "(?P<said>[^"]+)")?[^"]*\.$')
# What becomes of a program, in the order of the page: a heading, and the columns' heads.
PARTS = {
    "runs": ("Runs", ("construct", "program")),
    "finding": ("Runs, and its mistake is found", ("mistake", "program", "the finding begins with")),
    "missed": ("Runs, and its mistake is not found", ("mistake", "program", "why")),
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


def documents(top):
    """The Document of the tables; Failed if a program's first line does not say what it is for."""
    programs, wrong = read(top / "common" / "simt" / "tests" / "programs")
    if wrong:
        raise Failed("\n".join(f"common/simt/tests/programs/{name}: the first line is not // Construct: NAME. Expect: ..." for name in wrong))
    page = top / "common" / "docs" / "cuda-programs.md"
    return [section(page, "programs", "what becomes of each test program", tables(programs))]
