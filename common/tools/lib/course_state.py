"""What the course remembers of a learner: BUILD_FOLDER/course-state.json.

    {"word_count": {"checked": "3f0c...", "passed": true, "hints": 2}, "beat_sum": {"scores": [...]}, ...}

`checked` is the fingerprint of the answer to which `passed` refers; `hints` counts those shown; `scores` are those of
a challenge, the oldest first (tools/learn/scores.py). The file is in the build folder, so that nothing outside of the
checkout is read or written, and is deleted with it. Nothing is lost but scores that a check would not find again, so a
damaged file counts as an empty one.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path

FILE = "course-state.json"


def fingerprint(exercise):
    """A digest of an answer and of the check that judges it; None if the answer's file is not there."""
    exercise = Path(exercise)
    check = exercise.parent.parent.parent / "chapters" / exercise.parent.name / "checks" / f"{exercise.stem}.cu"
    digest = hashlib.sha256()
    try:
        digest.update(exercise.read_bytes())
    except OSError:
        return None
    with contextlib.suppress(OSError):  # an answer outside of the course: the file alone counts
        digest.update(b"\0" + check.read_bytes())
    return digest.hexdigest()


def load(build):
    """{exercise: {"checked": text, "passed": bool, "hints": int, "scores": list}}, each key only if it is known."""
    kinds = {"checked": str, "passed": bool, "hints": int, "scores": list}
    try:
        state = json.loads((Path(build) / FILE).read_text(encoding="utf-8"))
        return {
            name: {key: value for key, value in known.items() if key in kinds and type(value) is kinds[key]}
            for name, known in state.items()
        }
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


@contextlib.contextmanager
def change(build):
    """Yields what load() returns, and writes it back. Others who change it meanwhile have to wait.

    Raises OSError where the build folder cannot be written.
    """
    build = Path(build)
    with open(build / "meson-private" / "course-state.lock", "w") as lock:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        state = load(build)
        yield state
        # Whoever reads meanwhile, or after a crash, finds the old file or the new one.
        new = build / f"{FILE}.{os.getpid()}"
        try:
            new.write_text(json.dumps(state, indent=1, sort_keys=True), encoding="utf-8")
            os.replace(new, build / FILE)
        finally:
            new.unlink(missing_ok=True)


def record_verdict(build, exercise, checked, passed):
    """Remembers what the check said of an answer with the fingerprint `checked`."""
    with change(build) as state:
        state.setdefault(Path(exercise).stem, {}).update(checked=checked, passed=passed)


def verdict(build, exercise):
    """True or False if this very answer passed or failed its check, None if it was not checked."""
    known = load(build).get(Path(exercise).stem, {})
    if "checked" not in known or known["checked"] != fingerprint(exercise):
        return None
    return known.get("passed")
