"""The page of promises, common/docs/contracts.md, from the comments above the test cases of all checks.

A sentence of an exercise's contract is directly above the test case that proves it, once:

    // Promise: the kernel multiplies each of values[0..n-1] by factor.
    // Promise: threads left over touch nothing (OUT OF BOUNDS or DATA RACE; on a GPU the guard bands
    // show it).
    TEST_CASE("scale: the kernel multiplies every value once") {

It goes on to the next promise or to the test case. Other comments are above the first promise.
"""

import re
from collections import namedtuple

from tools.lib import chapter as chapters
from tools.lib import includes
from tools.lib.chapter_results import chapters_of
from tools.lib.documents import section

PROMISE = "// Promise: "
# A macro of Catch2 that defines test cases, and the name that follows it.
CASE = re.compile(r'^(?:TEST_CASE|TEMPLATE_TEST_CASE|SCENARIO)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
TestCase = namedtuple("TestCase", "line name promises")


def test_cases(text):
    """(the TestCases of a source, the numbers of the lines with a promise that is above none of them)."""
    lines = text.split("\n")
    cases, used = [], set()
    for match in CASE.finditer(text):
        at = text.count("\n", 0, match.start())
        first = at
        while first > 0 and lines[first - 1].startswith("//"):
            first -= 1
        promises = []
        for number in range(first, at):
            if lines[number].startswith(PROMISE):
                promises.append(lines[number].removeprefix(PROMISE).strip())
                used.add(number)
            elif promises:
                promises[-1] += " " + lines[number].removeprefix("//").strip()
        name = re.sub(r"\\(.)", r"\1", "".join(LITERAL.findall(match[1])))
        cases.append(TestCase(at + 1, name, promises))
    lost = [number + 1 for number, line in enumerate(lines) if "// Promise:" in line and number not in used]
    return cases, lost


def short_name(name, exercise):
    """A test case's name without its exercise's."""
    return re.sub(rf"^{re.escape(exercise)}:?\s+", "", name)


def as_cell(text):
    """The text with no character that means something in a table, but for `code`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part.replace("|", r"\|") if part.startswith("`") else re.sub(r"([\\*_<>|])", r"\\\1", part) for part in parts)


def table(chapter, exercise):
    """The promises of an exercise as Markdown; "" without any."""
    cases, _ = test_cases(chapter.check(exercise).read_text(encoding="utf-8"))
    rows = [f"| {as_cell(promise)} | {as_cell(short_name(case.name, exercise))} |" for case in cases for promise in case.promises]
    return "\n".join([f"### {exercise}", "", "| promise | test case |", "|---|---|", *rows]) if rows else ""


def page(top):
    """The tables of all exercises as Markdown."""
    parts = []
    for chapter in map(chapters.load, chapters_of(top)):
        tables = [text for exercise in chapter.exercises if (text := table(chapter, exercise))]
        parts += [f"## {chapter.name}", *tables] if tables else []
    return "\n\n".join(parts)


def documents(top):
    """The Document of the tables."""
    return [section(top / "common" / "docs" / "contracts.md", "promises", "what each test case of a check proves", page(top))]


# ---- what is wrong ----------------------------------------------------------------------------------


def problems_of(top, chapter):
    """Of a chapter: test cases that prove no promise, promises that no test case proves, and headers of one check."""
    return [*problems_of_checks(top, chapter), *problems_of_headers(top, chapter)]


def problems_of_checks(top, chapter):
    """Test cases without a promise, exercises without any, and promises without a test case."""
    problems = []
    for file in sorted((chapter.folder / "checks").glob("*.cu*")):
        cases, lost = test_cases(file.read_text(encoding="utf-8"))
        name = file.relative_to(top)
        problems += [f"{name}:{line}: this promise is above no test case" for line in lost]
        if file.stem in chapter.exercises and not any(case.promises for case in cases):
            problems.append(f"{name}: no test case has a promise, // Promise: ..., above it")
        else:
            problems += [f'{name}:{case.line}: no promise is above "{case.name}"' for case in cases if not case.promises]
    return problems


def problems_of_headers(top, chapter):
    """Headers in checks/ that fewer than two programs read, themselves or through other headers."""
    programs = sorted([*chapter.folder.glob("*.cu"), *chapter.folder.glob("checks/*.cu"), *chapter.folder.glob("scores/*.cu")])
    headers_of = {program: includes.reached(program, [chapter.folder]) for program in programs}
    problems = []
    for header in sorted((chapter.folder / "checks").glob("*.cuh")):
        readers = [program for program in programs if header in headers_of[program]]
        if len(readers) < 2:
            only = f"only {readers[0].relative_to(chapter.folder)} reads this header: it belongs there" if readers else "nothing reads this header"
            problems.append(f"{header.relative_to(top)}: {only}")
    return problems
