"""Questions to the learner, and what only reads or writes a file."""

import select
import sys

from tools.lib.failed import Failed




def ask(question):
    """True for a yes, False for a no, and None where it is not interactive."""
    if not sys.stdin.isatty():
        return None
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    # A Ctrl-C that comes right before a wait is only seen after it: no wait is long.
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        pass
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):  # Ctrl-D
        print(file=sys.stderr)
    return answer.strip().lower() in ("y", "yes")


def confirm(question, yes, undone):
    """Returns after a yes; raises Failed, which says what was not done, after anything else."""
    answer = True if yes else ask(question)
    if answer is None:
        raise Failed(f"{question}\nThis is not interactive: {undone}. --yes goes on without asking.")
    if not answer:
        raise Failed(f"{undone[0].upper()}{undone[1:]}.")


def content(file):
    """A file's bytes; None while it is not there."""
    try:
        return file.read_bytes()
    except OSError:
        return None
