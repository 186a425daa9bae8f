"""Results of tests: BUILD_FOLDER/results/TEST.json, course.result version 1 of common/docs/schemas.md.

The program of a lesson or a solution writes one. That of an answer sends it to its runner, which writes it.
"""

import contextlib
import json
import os
from pathlib import Path

SCHEMA, VERSION = "course.result", 1
PASSED, FAILED, SKIPPED, NOT_STARTED = "passed", "failed", "skipped", "not_started"
NOT_JUDGED = "not_judged"  # of an answer, by the judge of a class: the machine or a tool failed; no verdict of a check
REJECTED, NOT_REJECTED = "rejected", "not_rejected"  # of known-wrong answers
DOES_NOT_COMPILE, CRASHED, TIMED_OUT, ENDED_EARLY = "does_not_compile", "crashed", "timed_out", "ended_early"
GOOD = (PASSED, REJECTED)  # exit code 0
NO_VERDICT = (SKIPPED, NOT_STARTED)  # exit code 77
VERDICTS = (*GOOD, *NO_VERDICT, FAILED, NOT_REJECTED, DOES_NOT_COMPILE, CRASHED, TIMED_OUT, ENDED_EARLY)
MOST_BYTES = 10_000_000

MOST_LIST, MOST_NUMBER = 100_000, 2**64  # items; absolute value

TEXT, NUMBER, COUNT, NUMBER_OR_NULL = "text", "number", "count", "number or null"
FINDING = {"kind": TEXT, "kernel": TEXT, "object": TEXT,
           "accesses": [{"kind": TEXT, "file": TEXT, "line": COUNT, "block": TEXT, "thread": TEXT}]}
VALUES = {"name": TEXT, "size": COUNT, "wrong": COUNT, "first": COUNT, "last": COUNT, "expected": TEXT, "found": TEXT,
          "facts": [{"kind": TEXT, "text": TEXT}]}
SHAPE = {  # of each field, as common/docs/schemas.md has it: of an object its fields, of a list its items, of (x,) x or null
    "program": TEXT, "device": TEXT, "reason": TEXT, "seed": NUMBER_OR_NULL, "schedules": COUNT, "seconds": NUMBER, "transcript": TEXT,
    "checks": {"passed": COUNT, "failed": COUNT, "skipped": COUNT, "comparisons": COUNT},
    "failures": [{"test": TEXT, "kind": TEXT, "text": TEXT, "details": TEXT, "file": TEXT, "line": COUNT, "finding": (FINDING,),
                  "values": (VALUES,), "nearest_passed": TEXT}],
    "skips": [{"test": TEXT, "reason": TEXT}], "counts": [{"name": TEXT, "what": TEXT, "costs": TEXT, "value": NUMBER}],
    "edit": TEXT, "rerun": TEXT,
}


def fits(value, shape):
    """True if a value of JSON has this shape; an object may have further fields."""
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(name in value and fits(value[name], inner) for name, inner in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and len(value) <= MOST_LIST and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, tuple):
        return value is None or fits(value, shape[0])
    if shape == TEXT:
        return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if shape == NUMBER_OR_NULL and value is None:
        return True
    types = (int,) if shape == COUNT else (int, float)
    lowest = 0 if shape == COUNT else -MOST_NUMBER
    return isinstance(value, types) and not isinstance(value, bool) and lowest <= value <= MOST_NUMBER  # no NaN, no infinity


def exit_code(verdict):
    """A test's exit code, as Meson understands it."""
    return 0 if verdict in GOOD else 77 if verdict in NO_VERDICT else 1


def new(verdict, reason="", **fields):
    """A result of what no program has written one of."""
    empty = {
        "schema": SCHEMA, "version": VERSION, "program": "", "device": "", "verdict": verdict, "reason": reason,
        "seed": None, "schedules": 0, "seconds": 0.0, "transcript": "",
        "checks": {"passed": 0, "failed": 0, "skipped": 0, "comparisons": 0},
        "failures": [], "skips": [], "counts": [], "edit": "", "rerun": "",
    }
    return {**empty, **fields}


def file_of(build, test):
    """Where the result of a test is."""
    return Path(build) / "results" / f"{test}.json"


def read(file):
    """The result in a file; None if there is none, or one that this course does not understand."""
    file = Path(file)
    if file.is_symlink() or not file.is_file():  # a learner's code may have put something else there
        return None
    try:
        with open(file, "rb") as data:
            return parse(data.read(MOST_BYTES))
    except OSError:
        return None


def parse(data):
    """The result in these bytes; None if they hold none, or one that this course does not understand: a field of another type, a
    number out of its range, a text that is no Unicode."""
    try:
        found = json.loads(data.decode("utf-8"))
        known = isinstance(found, dict) and found.get("schema") == SCHEMA and found.get("version") == VERSION
        if not (known and found.get("verdict") in VERDICTS):
            return None
        found = {**new(FAILED), **found}
        return found if fits(found, SHAPE) else None
    except (ValueError, RecursionError):
        return None


def received(data, code):
    """The result in these bytes if the program ended with its exit code; else None: an answer that ends the program itself
    sends no result."""
    found = parse(data)
    return found if found and exit_code(found["verdict"]) == code else None


def load(build, test):
    """The result of a test's last run; None if there is none."""
    return read(file_of(build, test))


def write(file, result):
    """Writes a result; a program that reads meanwhile finds the old one or the new one."""
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    new_file = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        new_file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(new_file, file)
    finally:
        with contextlib.suppress(OSError):
            new_file.unlink(missing_ok=True)
