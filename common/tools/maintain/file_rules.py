"""Rules that hold for every source file: how long it may be, and that the rules between its sections are whole."""

import os
import re
from pathlib import Path

SOURCES = {".build", ".cpp", ".css", ".cu", ".cuh", ".h", ".hpp", ".html", ".js", ".py", ".sh", ".toml"}
TREES = ("chapters", "common", "exercises", "solutions")
# The first that fits counts. Data, pages and the tests of common may be longer. So may checks: a check is one file, from
# its data to its test cases.
LIMITS = (
    (re.compile(r"chapters/[^/]+/checks/"), None),
    (re.compile(r"chapters/"), 400),
    (re.compile(r"common/(.+/)?tests/"), None),
    (re.compile(r"common/"), 500),
)
# A rule between sections is "// ---- reading --------". Where it was broken over two lines, one has dashes first.
BROKEN_RULE = re.compile(r"^\s*(?://|#) -{5,}")


def sources(top):
    """The course's own source files, without those that a link leads to, and without build folders."""
    for tree in TREES:
        for folder, below, names in os.walk(top / tree):
            below[:] = sorted(name for name in below if not (Path(folder) / name / "meson-private").exists())
            for file in (Path(folder) / name for name in sorted(names)):
                if file.suffix in SOURCES and not file.is_symlink():
                    yield file


def problems_of(top):
    """Files that are too long, and rules that the formatter or a hand has broken over two lines."""
    problems = []
    for file in sources(top):
        name = file.relative_to(top).as_posix()
        lines = file.read_text(encoding="utf-8").splitlines()
        limit = next((limit for pattern, limit in LIMITS if pattern.match(name)), None)
        if limit is not None and len(lines) > limit:
            problems.append(f"{name}: {len(lines)} lines; {limit} at most")
        problems += [
            f"{name}:{number}: a rule between sections is one line, such as // ---- title ----"
            for number, line in enumerate(lines, 1) if BROKEN_RULE.match(line)
        ]
    return problems
