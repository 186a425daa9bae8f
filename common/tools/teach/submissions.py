"""What is taken from a submission: the texts of the exercises that the course knows, once they have been read."""

import hashlib
from dataclasses import dataclass, field

from tools.lib import cpp_text
from tools.lib.checkout import TOP, is_started
from tools.teach import reading
from tools.teach.regular import GradeError


@dataclass
class Taken:
    """A submission: {exercise: text} of what is to be judged, {exercise: reason} of what is refused, {exercise: reasons} of what
    a person has to look at if it passes, which exercises are there and not begun, which are judged because a person has read
    them, which have the score that they had, and which had one and are not there now; {exercise: digest} and
    {exercise: text} of what was handed in, {exercise: remarks}, and remarks on the whole."""

    texts: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    for_a_person: dict = field(default_factory=dict)
    not_started: set = field(default_factory=set)
    accepted: set = field(default_factory=set)
    sources: dict = field(default_factory=dict)
    kept: set = field(default_factory=set)
    missing: set = field(default_factory=set)
    digests: dict = field(default_factory=dict)
    remarks: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)


def read_if_there(*parts):
    file = TOP.joinpath(*parts)
    return file.read_text(encoding="utf-8") if file.exists() else ""


def read_answer(chapter, name, text):
    """(refused, for_a_person): what reading.py says of an answer to this exercise, sentences that begin with its line."""
    return reading.read_answer(chapter, name, text)


def take(handed, exercises, accepted=(), known=None):
    """A Taken of a HandedIn. `accepted` are exercises whose text a person has read; {exercise: digest} in `known` are those that have
    a score, which is kept if the text is the same. Raises GradeError if nothing could be read."""
    if handed.error:
        raise GradeError(handed.error)
    taken = Taken(accepted=set(accepted), notes=list(handed.notes))
    for key in exercises:
        try:
            text = handed.text(key)
            if text is None:
                taken.missing |= {key} & set(known or ())
                continue
            taken.sources[key] = text
            taken.digests[key] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            if (known or {}).get(key) == taken.digests[key]:
                taken.kept.add(key)
                continue
            if not is_started(text):
                taken.not_started.add(key)
                continue
            if key not in accepted:
                refused, taken.for_a_person[key] = read_answer(*key, text)
                if refused:
                    raise GradeError("; ".join(refused[:5]))
        except GradeError as error:
            taken.refused[key] = str(error)
            continue
        # What is compiled is what was read, and answers that differ in comments are judged once.
        taken.texts[key] = text if key in accepted else reading.as_compiled(text)
        solution = read_if_there("solutions", key[0], f"{key[1]}.cuh")
        if solution and cpp_text.same_code(text, solution):
            taken.remarks[key] = ["it is the published solution"]
    return taken
