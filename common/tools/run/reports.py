"""Reports that other programs read: ./course run --report FORMAT[=FILE]."""

import argparse
import os
import sys
from collections import namedtuple
from pathlib import Path

from tools.lib.failed import Failed
from tools.lib.names import quoted
from tools.run import annotations, code_quality, json_report, sarif
from tools.run.sources import Sources

# text: what is printed anyway, on standard error.
FORMATS = ("text", "json", "github", "sarif", "codequality")
Report = namedtuple("Report", "format file")  # file: None for standard output


def asked(word):
    """The Report of an option's value."""
    form, _, file = word.partition("=")
    if form not in FORMATS or word.endswith("="):
        raise argparse.ArgumentTypeError(f"'{word}' is not {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, or one of them with =FILE")
    return Report(form, Path(file) if file else None)


def needs_output(reports):
    """True if a report is to be all that is on standard output."""
    return any(report.file is None and report.format != "text" for report in reports)


def prepare(reports):
    """Removes the reports' files: what is there after a command that was ended is no report of another one. Raises Failed."""
    if sum(needs_output([report]) for report in reports) > 1:
        raise Failed("Only one report can go to standard output: name a file for the others, as in --report sarif=findings.sarif.", 2)
    files = [report.file.resolve() for report in reports if report.file]
    twice = next((file for file in files if files.count(file) > 1), None)
    if twice:
        raise Failed(f"Two reports cannot go to one file, {quoted(os.path.relpath(twice))}.", 2)
    for report in reports:
        if report.file:
            put(report.file, "")
            if not is_stream(report.file):
                report.file.resolve().unlink()


def is_stream(file):
    """True for a pipe, a terminal, or a file that the shell has opened: what is written to it stays."""
    return os.path.abspath(file).startswith(("/dev/", "/proc/")) or file.exists() and not file.is_file()


def put(file, text):
    """Writes a file, which at each moment is whole or as it was. Raises Failed."""
    true = file.resolve()
    new = true.with_name(f"{true.name}.{os.getpid()}.new")
    try:
        if is_stream(file):
            file.write_text(text, encoding="utf-8", errors="replace")
            return
        if true.exists():
            true.open("a").close()  # one that may not be written is not replaced
        try:
            new.write_text(text, encoding="utf-8", errors="replace")
            new.replace(true)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise Failed(f"The report {quoted(str(file))} cannot be written: {error.strerror}.", 2) from error


def write(reports, outcomes, text, exit_code):
    """Writes all reports on these outcomes. `text`: what was printed; `exit_code`: of the command."""
    sources = Sources(os.getcwd())
    for form, file in reports:
        content = {
            "text": lambda: text,
            "json": lambda: json_report.report(outcomes, sources, exit_code),
            "github": lambda: annotations.report(outcomes, sources),
            "sarif": lambda: sarif.report(outcomes, sources, exit_code),
            "codequality": lambda: code_quality.report(outcomes, sources),
        }[form]()
        if file:
            put(file, content)
        elif form != "text":
            sys.stdout.write(content)
            sys.stdout.flush()
