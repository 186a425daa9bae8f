"""Results of tests: BUILD_FOLDER/results/TEST.json, course.result version 1 of common/docs/schemas.md.

The program of a lesson or a solution writes one. That of an answer sends it to its runner, which writes it.
"""

import contextlib
import json
import os
from pathlib import Path

SCHEMA, VERSION = "course.result", 1
PASSED, FAILED, SKIPPED, NOT_STARTED = "passed", "failed", "skipped", "not_started"
REJECTED, NOT_REJECTED = "rejected", "not_rejected"  # of known-wrong answers
DOES_NOT_COMPILE, CRASHED, TIMED_OUT, ENDED_EARLY = "does_not_compile", "crashed", "timed_out", "ended_early"
GOOD = (PASSED, REJECTED)  # exit code 0
NO_VERDICT = (SKIPPED, NOT_STARTED)  # exit code 77
VERDICTS = (*GOOD, *NO_VERDICT, FAILED, NOT_REJECTED, DOES_NOT_COMPILE, CRASHED, TIMED_OUT, ENDED_EARLY)
MOST_BYTES = 10_000_000


def exit_code(verdict):
    """A test's exit code, as Meson understands it."""
    return 0 if verdict in GOOD else 77 if verdict in NO_VERDICT else 1


def new(verdict, reason="", **fields):
    """A result of what no program has written one of."""
    empty = {
        "schema": SCHEMA, "version": VERSION, "program": "", "device": "", "verdict": verdict, "reason": reason,
        "seed": None, "schedules": 0, "seconds": 0.0, "proof": "",
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
    """The result in these bytes; None if they hold none, or one that this course does not understand."""
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    known = isinstance(found, dict) and found.get("schema") == SCHEMA and found.get("version") == VERSION
    return {**new(FAILED), **found} if known and found.get("verdict") in VERDICTS else None


def proven(data, word, code):
    """The result in these bytes if it has the word, and the program ended with its exit code; else None: an answer that
    ends the program itself sends no such result."""
    found = parse(data)
    return found if found and found["proof"] == word and exit_code(found["verdict"]) == code else None


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
