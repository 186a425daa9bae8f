"""What is generated of ./course run: the table of its exit codes."""

from tools.lib.documents import section
from tools.run.outcome import EXIT_CODES


def documents(top):
    """The Documents of the pages."""
    rows = [f"| {code} | {verdict or ''} | {meaning} |" for code, verdict, meaning in EXIT_CODES]
    table = "\n".join(["| exit code | verdict | |", "|--:|---|---|", *rows])
    return [section(top / "common" / "docs" / "course-run.md", "exit-codes", "the exit codes of ./course run", table)]
