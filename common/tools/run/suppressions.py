"""Findings that a comment in the source allows, at the line of an access or the line above:

    x[0] += 1;  // course: allow data_race: statistics only, a lost update does no harm
    x[1] += 1;  /* course: allow data_race: the same */
"""

import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path

COMMENT = re.compile(r"(//|(?P<block>/\*))\s*course:\s*allow\b(?P<rest>(?(block).*?(?=\*/)|.*))")
LIKE_A_COMMENT = re.compile(r"(//[/!<]*|/\*[*!<]*|^\s*\*)\s*course\s*:\s*(?P<word>[\w-]+)", re.I)
FORM = re.compile(r"\s*(?P<kind>\w+)\s*:\s*(?P<reason>\S.*?)\s*$")
ALIKE = 0.8  # alow, allows and allowed are near "allow", and "all" is not
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
    for number, text in enumerate(lines_of(file), 1):
        comment = COMMENT.search(text)
        form = FORM.match(comment["rest"]) if comment else None
        if comment and not form:
            problems.append((number, f"a suppression has a kind and a reason: {LIKE}"))
        elif comment and form["kind"] not in kinds:
            problems.append((number, f"there is no kind of finding {form['kind']}: it is one of {', '.join(kinds)}"))
        elif comment:
            found.append(Suppression(file, number, form["kind"], form["reason"]))
    return found, problems


def lines_of(file):
    """The lines of a file; none if it cannot be read."""
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def almost_in(file, kinds):
    """What to say of comments that look like a suppression and are none: lines."""
    words = ["allow", *kinds]
    return [f"{file}:{number}: this comment allows nothing. Is it meant to? The form, in one line: {LIKE}"
            for number, text in enumerate(lines_of(file), 1)
            if not COMMENT.search(text) and (like := LIKE_A_COMMENT.search(text))
            and difflib.get_close_matches(like["word"].lower().replace("-", "_"), words, 1, ALIKE)]


def that_allows(suppressions, finding):
    """The first suppression that allows a finding, or None."""
    return next((one for one in suppressions if one.allows(finding)), None)
