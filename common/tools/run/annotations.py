"""Outcomes as commands of GitHub's runner: it shows each as an annotation at a line of the change."""

import textwrap

from tools.run.outcome import FAILED, NOT_COMPILED, REFUSED, Finding, exit_text

SHOWN = 10  # of each level, by the runner, in one step


def of_data(text):
    """A message as the runner reads it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def of_property(text):
    """A property's value as the runner reads it."""
    return of_data(text).replace(":", "%3A").replace(",", "%2C")


def annotation(level, file, line, title, message):
    """One command. Line 0 is none: then the annotation is at the file."""
    properties = {"file": file, **({"line": str(line)} if line else {}), "title": title}
    return f"::{level} " + ",".join(f"{name}={of_property(value)}" for name, value in properties.items()) + f"::{of_data(message)}"


def annotations_of(outcome, sources):
    """(level, command) for all that is to be said of a program."""
    for finding in filter(Finding.counts, outcome.findings):
        head, _, rest = finding.text.partition("\n")
        yield "error", annotation("error", sources.path(finding.file), finding.line, head, textwrap.dedent(rest) or head)
    file = sources.path(outcome.sources[0])
    if outcome.verdict == FAILED:
        yield "error", annotation("error", file, 0, outcome.verdict, exit_text(outcome))
    elif outcome.message:
        level = "warning" if outcome.verdict == REFUSED else "error"
        for place in outcome.places:
            message = place.text if outcome.verdict in (REFUSED, NOT_COMPILED) else outcome.message
            yield level, annotation(level, sources.path(place.file), place.line, outcome.verdict, message)
        if not outcome.places:
            yield level, annotation(level, file, 0, outcome.verdict, outcome.message)
    if outcome.difference:
        yield "notice", annotation("notice", file, 0, "output", outcome.difference)
    for note in outcome.notes:
        yield "notice", annotation("notice", sources.path(note.file), note.line, "note", note.remark())


def report(outcomes, sources):
    """The commands, with as many of each level as the runner shows."""
    by_level = {"error": [], "warning": [], "notice": []}
    for outcome in outcomes:
        for level, command in annotations_of(outcome, sources):
            by_level[level].append(command)
    lines, left_out = [], []
    for level, commands in by_level.items():
        room = SHOWN - 1 if level == "warning" else SHOWN  # the last warning is the count
        lines += commands[:room]
        more = len(commands) - room
        left_out += [f"{more} more {level}{'s' if more > 1 else ''}"] if more > 0 else []
    if left_out:
        lines.append(f"::warning title=not shown::{', '.join(left_out)}: GitHub shows {SHOWN} of each level for a step. The log has all.")
    return "\n".join([*lines, ""]) if lines else ""
