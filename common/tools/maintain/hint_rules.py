"""Rules for the task and the hints of an exercise, in English and, where the chapter has a page in Chinese, in Chinese.

The task is one paragraph without a link: a card shows it above a link to the file. An exercise has three hints. The first has a question, which the learner can answer before writing code. None has what can be
pasted instead of being thought of: a block of code, a line of the solution, or an expression of it. What the starter has is
no secret, and neither is a name, or a call without arguments.
"""

import re

from tools.lib import hints as texts
from tools.lib.cpp_text import blank_comments

HINTS = 3
SHORTEST = 12  # characters of a line or an expression, without spaces: a shorter one gives nothing away
PAGES = ("README.md", "README.zh-CN.md")
CODE = re.compile(r"`+([^`]+)`+")
BLOCK = re.compile(r"^ *(?:```|~~~)|^(?: {4}|\t) *\S", re.MULTILINE)
QUESTION = re.compile(r"\?(?=[\s)*_\"'”]|$)|？")  # not the ? of an address
NAME = re.compile(r"[\w:.]+(?:<[\w:, ]*>)?(?:\(\))?")


def squeezed(text):
    return "".join(text.split())


def gives_away(code, starter):
    """True if a piece of the solution, without spaces, is worth hiding."""
    return len(code) >= SHORTEST and not NAME.fullmatch(code) and code not in starter


def lines_of(solution):
    """The solution's lines without comments, spaces, and what only begins or ends a statement."""
    return [squeezed(line).lstrip("}").rstrip("{;") for line in blank_comments(solution).splitlines()]


def pasted(hint, starter, solution):
    """What a hint has of the solution: lines that are anywhere in it, and expressions that it writes as code."""
    starter, text = squeezed(blank_comments(starter)), squeezed(hint).replace("`", "")
    lines = [line for line in lines_of(solution) if gives_away(line, starter) and line in text]
    solution = squeezed(blank_comments(solution))
    expressions = [squeezed(code).rstrip("{;") for code in CODE.findall(hint)]
    expressions = [code for code in expressions if gives_away(code, starter) and code in solution]
    return [*lines, *(code for code in expressions if not any(line in code for line in lines))]


def problems_of(top, chapter, exercise):
    """What is wrong with the hints of one exercise; without a solution, as in a release, nothing is compared with it."""
    starter = chapter.starter(exercise).read_text(encoding="utf-8")
    solution = chapter.solution(exercise)
    solution = solution.read_text(encoding="utf-8") if solution.exists() else ""
    problems = []
    for page in (chapter.folder / name for name in PAGES):
        if not page.exists():
            continue
        file = texts.file_of(chapter.folder, exercise, page.name)
        name = file.relative_to(top)
        if not file.exists():
            problems.append(f"{name} is missing: the task and the hints of {exercise}")
            continue
        task, hints = texts.read(file)
        if not task or "\n\n" in task or "](" in task:
            problems.append(f"{name}: the task is one paragraph below the heading, without a link")
        if len(hints) != HINTS:
            problems.append(f"{name}: {len(hints)} hints, not {HINTS}")
        if hints and not QUESTION.search(CODE.sub("`", hints[0])):
            problems.append(f"{name}: hint 1 asks no question")
        for number, hint in enumerate(hints, 1):
            if BLOCK.search(hint):
                problems.append(f"{name}: hint {number} has a block of code")
            problems += [f"{name}: hint {number} has code of the solution: {code}" for code in pasted(hint, starter, solution)]
    return problems
