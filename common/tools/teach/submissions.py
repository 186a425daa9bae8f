"""What is taken from a submission: the texts of the exercises that the course knows, once they have been read."""

from dataclasses import dataclass, field
from pathlib import Path

from tools.lib import cpp_text
from tools.lib.checkout import TOP, is_started
from tools.teach import reading
from tools.teach.regular import GradeError, read_below

MOST_BYTES = 200_000  # of an exercise file


@dataclass
class Taken:
    """A submission: {exercise: text} of what is to be judged, {exercise: reason} of what is refused, {exercise: sentences} of what is judged
    and gives no points before a person has read it, which exercises are there and not begun, notes, and which exercises are
    judged because a person has read them."""

    texts: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    for_a_person: dict = field(default_factory=dict)
    not_started: set = field(default_factory=set)
    notes: list = field(default_factory=list)
    accepted: set = field(default_factory=set)


def read_if_there(*parts):
    file = TOP.joinpath(*parts)
    return file.read_text(encoding="utf-8") if file.exists() else ""


def read_answer(chapter, name, text):
    """(refused, for_a_person): what reading.py says of an answer to this exercise, sentences that begin with its line."""
    return reading.read_answer(chapter, name, text)


def others(folder, exercises):
    """Files in the chapters' folders of a submission that no exercise has, at most 6; links are not followed."""
    names = set(exercises)
    extra = []
    for chapter in sorted({chapter for chapter, _ in exercises}):
        place = folder / "exercises" / chapter
        if place.is_symlink() or not place.is_dir():
            continue
        extra += [f"{chapter}/{file.name}" for file in sorted(place.iterdir())
                  if not (file.suffix == ".cuh" and (chapter, file.stem) in names)]
    return extra[:6]


def take(submission, exercises, accepted=()):
    """A Taken. Raises GradeError if it is no submission. `accepted` are exercises whose text a person has read."""
    submission = Path(submission)
    folder = submission / "exercises"
    if folder.is_symlink() or not folder.is_dir():
        raise GradeError(f"{submission} has no folder exercises/ (a link is none)")
    taken = Taken(accepted=set(accepted))
    for chapter, name in exercises:
        key = chapter, name
        try:
            data = read_below(submission, f"exercises/{chapter}/{name}.cuh", MOST_BYTES)
            if data is None:
                continue
            text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
            if not is_started(text):
                taken.not_started.add(key)
                continue
            if key not in accepted:
                refused, for_a_person = read_answer(chapter, name, text)
                if refused:
                    raise GradeError("; ".join(refused[:5]))
                if for_a_person:
                    taken.for_a_person[key] = for_a_person
        except GradeError as error:
            taken.refused[key] = str(error)
            continue
        # What is compiled is what was read, and answers that differ in comments are judged once.
        taken.texts[key] = text if key in accepted else reading.as_compiled(text)
        solution = read_if_there("solutions", chapter, f"{name}.cuh")
        if solution and cpp_text.same_code(text, solution):
            taken.notes.append(f"{chapter}/{name} is the published solution")
    if extra := others(submission, exercises):
        taken.notes.append(f"not copied: {', '.join(extra[:5])}{', ...' if len(extra) > 5 else ''}")
    return taken
