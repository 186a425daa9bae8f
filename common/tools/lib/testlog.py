"""Reads the tests of a `meson test` run from Meson's log, meson-logs/testlog*.json."""

import json
import re
from dataclasses import dataclass

from tools.lib.failed import Failed

# "PROJECT:SUITE / NAME" in Meson's log, and "SUITE - PROJECT:NAME" since Meson 1.10; without a suite the
# name alone.
NAMES = (
    re.compile(r"^(?P<project>[^:/]*):(?P<suite>[^/:]*) / (?P<name>.*)$"),
    re.compile(r"^(?P<suite>[^: ]*) - (?P<project>[^:]*):(?P<name>.*)$"),
)


@dataclass
class Test:
    """One test of a run. `result` is Meson's word: OK, FAIL, SKIP, TIMEOUT, ERROR, INTERRUPT ..."""

    project: str
    suite: str
    name: str
    result: str
    output: str

    def last_line(self):
        """What the test said last; empty if it said nothing."""
        lines = self.output.strip().splitlines()
        return lines[-1] if lines else ""


def read(file):
    """The tests in one log, a path. Failed, with the line, if it is no log of Meson's."""
    tests = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            full, result = entry["name"], entry["result"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise Failed(f"{file}:{number}: not a line of Meson's log of tests") from error
        parts = next(filter(None, (pattern.match(full) for pattern in NAMES)), None)
        project, suite, name = parts.group("project", "suite", "name") if parts else ("", "", full)
        output = (entry.get("stdout") or "") + (entry.get("stderr") or "")
        tests.append(Test(project, suite, name, result, output))
    return tests
