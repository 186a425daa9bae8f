"""Outcomes as JSON: the schema course.run, which common/docs/schemas.md describes."""

import json
from dataclasses import asdict

from tools.lib import repository
from tools.lib.checkout import TOP
from tools.run.fingerprints import fingerprints_of

VERSION = 1


def report(outcomes, sources, exit_code):
    """The text of the file."""
    prints = iter(fingerprints_of([finding for outcome in outcomes for finding in outcome.findings], sources))
    content = {
        "schema": "course.run", "version": VERSION, "course": repository.version(TOP), "exit_code": exit_code,
        "programs": [program(outcome, sources, prints) for outcome in outcomes],
    }  # fmt: skip
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def program(outcome, sources, prints):
    """One program; `prints` has the fingerprints of its findings, and of those of further programs."""

    def placed(record):
        return {**asdict(record), "file": sources.path(record.file)}

    findings = [
        {**placed(finding), "accesses": [placed(access) for access in finding.accesses], "fingerprint": next(prints)}
        for finding in outcome.findings
    ]
    return {
        "sources": [sources.path(source) for source in outcome.sources], "verdict": outcome.verdict, "exit_code": outcome.exit_code,
        "seconds": round(outcome.seconds, 3), "message": outcome.message, "places": [placed(place) for place in outcome.places],
        "warnings": list(outcome.warnings), "findings": findings, "notes": [{**placed(note), "text": note.remark()} for note in outcome.notes],
        "schedules": [asdict(schedule) for schedule in outcome.schedules], "difference": outcome.difference,
    }  # fmt: skip
