"""Findings that are known: ./course run --baseline FILE, and --write-baseline FILE, which writes it."""

import json
import shlex
from pathlib import Path

from tools.lib.failed import Failed
from tools.lib.names import quoted
from tools.run.fingerprints import fingerprints_of

SCHEMA, VERSION = "course.baseline", 1
NEEDED = ("file", "kind", "kernel", "fingerprint")  # of an entry


def read(file):
    """{fingerprint: the entry} of a file. Raises Failed."""
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise Failed(f"The baseline {quoted(file)} cannot be read: {error.strerror}. --write-baseline {shlex.quote(file)} writes it.", 2) from error
    except ValueError as error:
        raise Failed(f"{quoted(file)} is no baseline: it is not JSON.", 2) from error
    if not isinstance(content, dict) or (content.get("schema"), content.get("version")) != (SCHEMA, VERSION):
        raise Failed(f"{quoted(file)} is no baseline: its schema is not {SCHEMA}, version {VERSION}.", 2)
    entries = content.get("findings")
    if not isinstance(entries, list) or not all(map(is_entry, entries)):
        raise Failed(f"{quoted(file)} is no baseline: it has no list of findings, each with {', '.join(NEEDED)}.", 2)
    return {entry["fingerprint"]: entry for entry in entries}


def is_entry(value):
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in NEEDED)


def entries_of(findings, sources):
    """The entries of a program's findings: what is in the file, for a person but for the fingerprint."""
    return [{"file": sources.path(finding.file), "kind": finding.kind, "kernel": finding.kernel, "object": finding.object, "fingerprint": one}
            for finding, one in zip(findings, fingerprints_of(findings, sources)) if finding.suppressed is None]


def write(file, entries):
    """Writes a baseline of these entries: one per line, sorted; returns how many. Raises Failed."""
    lines = sorted({json.dumps(entry, ensure_ascii=False) for entry in entries})
    text = f'{{"schema": "{SCHEMA}", "version": {VERSION}, "findings": [\n' + ",\n".join(lines) + "\n]}\n"
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"The baseline {quoted(file)} cannot be written: {error.strerror}.", 2) from error
    return len(lines)


def gone_from(known, occurred):
    """What to say of the entries that did not occur, given the fingerprints of those that did: lines."""
    return [f"no longer found: {entry['kind']}{' in kernel ' if entry['kernel'] else ''}{entry['kernel']} in {entry['file']}"
            for fingerprint, entry in known.items() if fingerprint not in occurred]
