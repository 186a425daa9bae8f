"""Findings that a comment in the source allows, at the line of an access or the line above:

    x[0] += 1;  // course: allow data_race: statistics only, a lost update does no harm
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

COMMENT = re.compile(r"//\s*course:\s*allow\b(?P<rest>.*)")
FORM = re.compile(r"\s*(?P<kind>\w+)\s*:\s*(?P<reason>\S.*?)\s*$")
LIKE = "// course: allow data_race: REASON"


@dataclass(frozen=True)
class Suppression:
    """One comment: what it allows, and why."""

    file: str  # as it is shown
    line: int
    kind: str
    reason: str

    def allows(self, finding):
        """True for a finding of its kind that has an access at its line or at the next one."""
        places = [(access.file, access.line) for access in finding.accesses] or [(finding.file, finding.line)]
        return finding.kind == self.kind and any(
            line in (self.line, self.line + 1) and os.path.realpath(file) == os.path.realpath(self.file) for file, line in places)

    def useless(self):
        """What to say if it has suppressed nothing."""
        return f"{self.file}:{self.line}: `course: allow {self.kind}` has suppressed nothing in this run"


def suppressions_in(file, kinds):
    """Those of a file, in order; and (line, text) of what is wrong with others."""
    found, problems = [], []
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        lines = []
    for number, text in enumerate(lines, 1):
        comment = COMMENT.search(text)
        form = FORM.match(comment["rest"]) if comment else None
        if comment and not form:
            problems.append((number, f"a suppression has a kind and a reason: {LIKE}"))
        elif comment and form["kind"] not in kinds:
            problems.append((number, f"there is no kind of finding {form['kind']}: it is one of {', '.join(kinds)}"))
        elif comment:
            found.append(Suppression(file, number, form["kind"], form["reason"]))
    return found, problems


def that_allows(suppressions, finding):
    """The first suppression that allows a finding, or None."""
    return next((one for one in suppressions if one.allows(finding)), None)
