#!/usr/bin/env python3
"""Turns Meson's JUnit logs into a score for every learner and exercise.

    grade.py [--points FILE] [--csv FILE] [--json FILE] RESULT ...

A RESULT is one learner's: a checkout with its build folder, a folder with testlog.junit.xml, or that
file itself. The learner's name is the folder's: for ada/build/meson-logs/testlog.junit.xml, "ada".

An exercise that passed has its points, and every other verdict none: failed, not finished (a time limit, or
interrupted), not started, skipped, not run. Lessons, solutions and known-wrong answers do not count.
Each exercise is worth 1 point, or what --points says, a JSON file such as
{"01-global-atomic": 2, "05-warp-shuffle/block_argmax": 5, "10-neighbor-list": 0}: a chapter's number is
that of each of its exercises.

Prints a table. --csv and --json write the same with every exercise; "-" is standard output.
Exit code: 0; 1 if a result cannot be read, which is an error of its learner and not a score of 0.
"""

import argparse
import csv
import json
import math
import re
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import result as results  # noqa: E402
from tools.lib.checkout import TOP  # noqa: E402
from tools.teach.regular import GradeError, read_below  # noqa: E402

LOG = "testlog.junit.xml"
SCHEMA, VERSION = "course.scores", 1
MOST_BYTES = 50_000_000  # of a log: a check's output is a few hundred lines

PASSED, FAILED, NO_END = "passed", "failed", "no end"
NOT_STARTED, SKIPPED, NOT_RUN = "not started", "skipped", "not run"
NOT_JUDGED, FOR_A_PERSON = "not judged", "for a person"  # of the grade book: points that are open
OPEN = (NOT_JUDGED, FOR_A_PERSON)
BEST_FIRST = [PASSED, NOT_RUN, NOT_STARTED, SKIPPED, NO_END, FAILED]


@dataclass
class Learner:
    """One row. `verdicts` is {(chapter, exercise): verdict}; an `error` says why there are none, or none of what was handed in last.
    `ident` is the number in the roster, `late` what a late submission is told, `factors` what is left of the points of an
    exercise, and `more` what the JSON file says of it besides."""

    name: str
    verdicts: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    error: str = ""
    ident: str = ""
    late: str = ""
    factors: dict = field(default_factory=dict)
    more: dict = field(default_factory=dict)

    def has_score(self):
        """False for an error alone."""
        return bool(self.verdicts) or not self.error


def exercises_of(top):
    """(chapter, exercise) of every exercise of a checkout, in the order of the course."""
    return sorted((file.parent.name, file.stem) for file in (top / "exercises").glob("*/*.cuh"))


def read_points(file, exercises):
    """{(chapter, exercise): points} that a file names; none without a file. Raises GradeError if the file is wrong."""
    points = {}
    if file is None:
        return points
    try:
        given = json.loads(Path(file).read_text(encoding="utf-8"))
        if not isinstance(given, dict):
            raise ValueError('it must be {"CHAPTER or CHAPTER/EXERCISE": points}')
        for key in sorted(given, key=lambda key: "/" in key):  # an exercise wins over its chapter
            value = given[key]
            meant = [(chapter, name) for chapter, name in exercises if key in (chapter, f"{chapter}/{name}")]
            if not meant:
                raise ValueError(f"there is no chapter and no exercise '{key}'; one is {'/'.join(exercises[0])}")
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
                raise ValueError(f"{key}: {value!r} is not a number of points")
            points.update({exercise: float(value) for exercise in meant})
    except (OSError, ValueError) as error:
        raise GradeError(f"{file}: {error}") from error
    return points


# ---- Meson's log -----------------------------------------------------------------------------------


def verdict_of(case, found):
    """The verdict of one <testcase>; `found` is the test's result, or None: a log alone does not say why it skips."""
    if case.find("failure") is not None:
        return FAILED
    if case.find("error") is not None:  # a time limit, interrupted, or exit code 99
        return NO_END
    if case.find("skipped") is not None:
        return NOT_STARTED if found and found["verdict"] == results.NOT_STARTED else SKIPPED
    return PASSED


def test_name(case):
    """(project, suites, name) of a <testcase>.

    Meson 1.4 to 1.12 write "PROJECT:SUITE+SUITE / NAME", and "NAME" alone where a build has one suite.
    """
    match = re.fullmatch(r"(?:([^:]*):(.*?)(?: / | - ))?(.*)", case.get("name", ""), re.DOTALL)
    project, suites, name = match.groups()
    return project or case.get("classname", ""), (suites or "exercises").split("+"), name


def read_log(file, exercises, build=None, learner=None):
    """({(chapter, exercise): verdict}, [note]) of a log and the results of the build folder, both below the folder `learner`, in
    which no link is followed. Raises GradeError."""
    try:
        folder = learner or file.parent
        data = read_below(folder, file.relative_to(folder), MOST_BYTES)
        if data is None:
            raise GradeError("it is not there")
    except GradeError as error:
        raise GradeError(f"{file} cannot be read: {error}") from error
    try:
        text = data.decode("utf-8")
        if "<!DOCTYPE" in text:  # Meson writes none; entities could be made to fill the memory
            raise GradeError(f"{file} was not written by Meson: it has a DOCTYPE")
        if not text.strip():
            raise GradeError(f"{file} is empty: was `meson test` interrupted, or the disk full?")
        cases = list(ElementTree.fromstring(text).iter("testcase"))
    except (UnicodeDecodeError, ElementTree.ParseError) as error:
        raise GradeError(f"{file} is no complete XML ({error}): run `meson test` again") from error

    verdicts, unknown = {}, set()
    for case in cases:
        project, suites, name = test_name(case)
        if "exercises" not in suites:
            continue
        if (project, name) not in exercises:
            if name not in {"", *(known for _, known in exercises)} and ":" in case.get("name", ""):
                unknown.add(name)
            continue
        verdict = verdict_of(case, results.load(build, name) if build else None)
        # `meson test --repeat` runs an exercise several times: the worst verdict counts.
        verdicts[project, name] = max(verdict, verdicts.get((project, name), verdict), key=BEST_FIRST.index)
    if not verdicts:
        raise GradeError(f"{file} has no exercise of this course in its {len(cases)} tests")
    notes = [f"{name} is not an exercise of this course" for name in sorted(unknown)]
    if missing := len(exercises) - len(verdicts):
        notes.append(f"{count(missing, 'exercise')} {'is' if missing == 1 else 'are'} not in the log")
    return verdicts, notes


def log_of(result):
    """(learner's name, log) of an argument. Raises GradeError with the learner's name."""
    path = Path(result).resolve()
    if not path.is_dir():
        folder = path.parent
        if folder.name == "meson-logs":  # CHECKOUT/build/meson-logs
            folder = folder.parent.parent
        return folder.name, path
    logs = [path / LOG] if (path / LOG).exists() else sorted(path.glob(f"build*/meson-logs/{LOG}"))
    if (path / "meson-logs").is_dir():  # a build folder
        return log_of(path / "meson-logs" / LOG)
    if not logs:
        reason = f"no {LOG} in {result} or its build*/meson-logs: run `meson test -C build`"
        raise GradeError(reason, path.name)
    if len(logs) > 1:
        raise GradeError(f"{result} has {len(logs)} logs: name the one to read", path.name)
    return path.name, logs[0]


def read_results(results, exercises):
    """A Learner for each argument; ends the program where two have the same name."""
    learners = []
    origin = {}
    for result in results:
        try:
            name, log = log_of(result)
            learner = Learner(name)
            build = log.parent.parent if log.parent.name == "meson-logs" else log.parent
            handed_in = Path(result).resolve() if Path(result).is_dir() else None
            verdicts, learner.notes = read_log(log, set(exercises), build, handed_in)
            learner.verdicts = {exercise: verdicts.get(exercise, NOT_RUN) for exercise in exercises}
        except GradeError as error:
            learner = Learner(error.learner or name, error=str(error))
        if learner.name in origin:
            both = f"{origin[learner.name]} and {result}"
            sys.exit(f"grade.py: {both} are both called '{shown(learner.name)}': rename one")
        origin[learner.name] = result
        learners.append(learner)
    return learners


# ---- scores ----------------------------------------------------------------------------------------


def shown(text):
    """Text from a learner for a screen: what is not printable, such as a line's end, as its number."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def cell(text):
    """The same for a spreadsheet, which would take a text that begins with = + - @ for a formula."""
    text = shown(text)
    return "'" + text if text.startswith(("=", "+", "-", "@")) else text


def number(value):
    """2 for 2.0, 2.5 for 2.5."""
    return f"{round(value, 4):g}"


def count(value, noun):
    """1 learner, 2 learners, 0.5 points."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def worth(learner, key, points):
    """The points that a learner has for an exercise."""
    return learner.factors.get(key, 1.0) * points[key] if learner.verdicts.get(key) == PASSED else 0


def score(learner, points, chapter=None):
    """The points that a learner has, in all or in one chapter."""
    return sum(worth(learner, key, points) for key in learner.verdicts if chapter in (None, key[0]))


def percent(learner, points):
    """How much of all points that is, in percent with one decimal."""
    return round(100 * score(learner, points) / (sum(points.values()) or 1), 1)


def wide(text):
    """How many columns of a terminal the text takes."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def table(learners, points):
    """The text for people: a row for each learner, a column for each chapter; every exercise for one learner."""
    chapters = sorted({chapter for chapter, _ in points})
    rows = [["learner", *(chapter[:2] for chapter in chapters), "points", "of", "%"]]
    for learner in learners:
        numbers = [score(learner, points, chapter) for chapter in chapters]
        numbers += [score(learner, points), sum(points.values()), percent(learner, points)]
        rows.append([shown(learner.name), *(map(number, numbers) if learner.has_score() else ["ERROR"])])
    widths = [max(wide(row[i]) for row in rows if i < len(row)) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        texts = [" " * (width - wide(text)) + text for width, text in zip(widths[1:], row[1:])]
        lines.append("  ".join([row[0] + " " * (widths[0] - wide(row[0])), *texts]))
    if len(learners) == 1 and learners[0].has_score():
        lines.append("")
        for key, verdict in learners[0].verdicts.items():
            lines.append(f"{'/'.join(key):<44} {verdict:<12} {'' if verdict in OPEN else number(worth(learners[0], key, points))}".rstrip())
    remarks = [f"{shown(learner.name)}: {shown(text)}" for learner in learners
               for text in ([f"ERROR: {learner.error}"] if learner.error else []) + learner.notes]
    return "\n".join(lines + ([""] + remarks if remarks else []))


def row_of(learner, points):
    """A learner in the JSON file."""
    who = {"name": shown(learner.name), **({"id": shown(learner.ident)} if learner.ident else {}),
           **({"error": shown(learner.error)} if learner.error else {})}
    if not learner.has_score():
        return who
    return {
        **who,
        **({"late": learner.late} if learner.late else {}),
        "points": score(learner, points),
        "percent": percent(learner, points),
        "notes": [shown(note) for note in learner.notes],
        "exercises": [
            {"chapter": key[0], "exercise": key[1], "verdict": verdict, "points": None if verdict in OPEN else worth(learner, key, points),
             "of": points[key], **learner.more.get(key, {})}
            for key, verdict in learner.verdicts.items()
        ],
    }


def as_json(learners, points):
    """The text of the JSON file."""
    content = {"schema": SCHEMA, "version": VERSION, "of": sum(points.values()), "learners": [row_of(learner, points) for learner in learners]}
    return json.dumps(content, indent=1) + "\n"


def write_csv(out, learners, points):
    """One row for each learner; a column for each exercise has its points, and is empty where they are open or an error took them."""
    writer = csv.writer(out, lineterminator="\n")
    has_roster = any(learner.ident or learner.late for learner in learners)  # two more columns
    writer.writerow(["learner", *(["id", "late"] if has_roster else []), "points", "of", "percent", "error", "notes", *map("/".join, points)])
    for learner in learners:
        who = [cell(learner.name), *([cell(learner.ident), cell(learner.late)] if has_roster else [])]
        if not learner.has_score():
            writer.writerow([*who, "", "", "", cell(learner.error), "", *[""] * len(points)])
            continue
        each = ["" if learner.verdicts.get(key, NOT_JUDGED) in OPEN else number(worth(learner, key, points)) for key in points]
        total = [number(value) for value in (score(learner, points), sum(points.values()), percent(learner, points))]
        writer.writerow([*who, *total, cell(learner.error), cell("; ".join(learner.notes)), *each])


def report(learners, points, csv_file=None, json_file=None):
    """Writes what was asked for; returns the exit code."""
    def write(file, action):
        if file == "-":
            action(sys.stdout)
        elif file:
            with open(file, "w", encoding="utf-8", newline="") as out:
                action(out)

    write(csv_file, lambda out: write_csv(out, learners, points))
    write(json_file, lambda out: out.write(as_json(learners, points)))
    if "-" not in (csv_file, json_file):
        print(table(learners, points))
    for learner in learners:
        if learner.error:
            print(f"grade.py: {shown(learner.name)} has no score: {shown(learner.error)}", file=sys.stderr)
    return 1 if any(learner.error for learner in learners) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--points", metavar="FILE", help="JSON: points of chapters and exercises; 1 each by default")
    parser.add_argument("--csv", metavar="FILE", help="a row for each learner, a column for each exercise")
    parser.add_argument("--json", metavar="FILE", help="the same with verdicts")
    options = parser.parse_args()
    exercises = exercises_of(TOP)
    try:
        points = {exercise: 1.0 for exercise in exercises} | read_points(options.points, exercises)
    except GradeError as error:
        sys.exit(f"grade.py: {error}")
    return report(read_results(options.results, exercises), points, options.csv, options.json)


if __name__ == "__main__":
    sys.exit(main())
