"""The cards of a chapter's exercises: what `common/dev generate` writes after these lines of a page.

    <!-- exercise NAME -->
    <!-- exercise NAME | of FIRST, SECOND | cut FIRST .. LAST | only FIRST .. LAST -->

A card has the exercise's name, stars and minutes, its task (lib/hints.py), the code that the learner edits, and the commands.
That code is the starter's: the parts that have a TODO(you), without the contract above them. A part is what empty lines
outside of braces separate. `of` names the functions or structs to show instead; `cut` and `only` choose lines, as for a
kernel. The card ends with <!-- exercise:end -->.
"""

import re
from pathlib import Path

from tools.lib import hints
from tools.lib.cpp_text import blank_comments
from tools.lib.failed import Failed
from tools.lib.pages import CARD
from tools.measure.excerpts import chosen, name_and_options

MOST_LINES = 30  # of code on a card
TODO = "TODO(you)"
CONTRACT = re.compile(r"^ *///")


def title(chapter, exercise, words):
    """The heading of a card."""
    return words.card(exercise, "★" * chapter.stars[exercise], chapter.minutes(exercise))


def parts_of(starter):
    """The parts of a starter below its NOT_STARTED line, each as a list of lines."""
    parts, depth = [[]], 0
    body = starter[starter.find("\n", starter.find("NOT_STARTED")) + 1 :]
    for line, code in zip(body.split("\n"), blank_comments(body).split("\n")):
        if not line and depth == 0:
            parts.append([])
        elif not CONTRACT.match(line):
            parts[-1].append(line)
        depth += code.count("{") - code.count("}")
    return [part for part in parts if part]


def defined(part, name):
    """Whether a part defines this function or struct."""
    return re.search(rf"\b{re.escape(name)}\b", blank_comments("\n".join(part)).partition("{")[0]) is not None


def shown_code(starter, options, where):
    """The lines of a starter that its card shows."""
    given, parts = dict(options), parts_of(starter)
    if "of" in given:
        found = []
        for name in given["of"].split(", "):
            fitting = [part for part in parts if defined(part, name)]
            if len(fitting) != 1:
                raise Failed(f"{where}: {len(fitting)} parts of the starter define {name}, and one should")
            found += fitting
    else:
        found = [part for part in parts if any(TODO in line for line in part)]
        if not found:
            raise Failed(f"{where}: the starter has no {TODO}; `of` names what the card shows")
    code = "\n\n".join("\n".join(part) for part in found)
    lines = chosen(code, [option for option in options if option[0] != "of"], where)
    if len(lines) > MOST_LINES:
        raise Failed(f"{where}: {len(lines)} lines of code; {MOST_LINES} at most, `cut` and `only` choose among them")
    return lines


def card(chapter, text, words):
    """The line of a card, and what belongs after it."""
    exercise, options = name_and_options(text)
    where = f"{chapter.folder / words.page}: <!-- exercise {exercise} -->"
    if exercise not in chapter.exercises:
        raise Failed(f"{where}: chapter.toml names no such exercise")
    try:
        task, _ = hints.read(hints.file_of(chapter.folder, exercise, words.page))
    except OSError as error:
        raise Failed(f"{where}: {error.filename}: {error.strerror}") from error
    file = chapter.starter(exercise)
    code = "\n".join(shown_code(file.read_text(encoding="utf-8"), options, where))
    path = file.relative_to(chapter.folder.parents[1]).as_posix()
    return (
        f"<!-- exercise {text} -->\n### {title(chapter, exercise, words)}\n\n{task}\n\n```cuda\n{code}\n```\n"
        f"[{path}]({(Path('../..') / path).as_posix()})\n\n"
        f"```sh\n./course check {exercise}\n./course hint {exercise}    # {words.hints_come}\n```\n<!-- exercise:end -->\n"
    )


def with_generated(chapter, text, words):
    """A page's text with its cards as they should be."""
    return CARD.sub(lambda found: card(chapter, found["marker"], words), text)
