"""Findings that are known: ./course run --baseline FILE, and --write-baseline FILE, which writes it."""

import json
from pathlib import Path

from tools.lib.failed import Failed
from tools.run.fingerprints import fingerprints_of

SCHEMA, VERSION = "course.baseline", 1


def read(file):
    """{fingerprint: the entry} of a file. Raises Failed."""
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA or content["version"] != VERSION:
            raise ValueError(f"its schema is not {SCHEMA}, version {VERSION}")
        return {entry["fingerprint"]: entry for entry in content["findings"]}
    except OSError as error:
        raise Failed(f"The baseline {file} cannot be read: {error.strerror}. --write-baseline {file} writes it.", 2) from error
    except (ValueError, KeyError, TypeError) as error:
        raise Failed(f"The baseline {file} is none: {type(error).__name__}: {error}.", 2) from error


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
        raise Failed(f"The baseline {file} cannot be written: {error.strerror}.", 2) from error
    return len(lines)


def gone_from(known, occurred):
    """What to say of the entries that did not occur, given the fingerprints of those that did: lines."""
    return [f"no longer found: {entry['kind']}{' in kernel ' if entry['kernel'] else ''}{entry['kernel']} in {entry['file']}"
            for fingerprint, entry in known.items() if fingerprint not in occurred]
