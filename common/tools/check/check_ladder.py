"""Runs a chapter's ladder as a reader would, and reads back the results it writes.

    python3 common tools.check.check_ladder LADDER_PROGRAM

Exit code 77 where the ladder finds no GPU. Writes the result into the file that COURSE_RESULT names, if there is one.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.lib import result


def check(ladder):
    """0; the ladder's own exit code; or what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        code = subprocess.run([ladder, "--json", str(file)]).returncode
        if code != 0:
            return code
        results = json.loads(file.read_text(encoding="utf-8"))
    for key in ("chapter", "device", "rungs"):
        if not results.get(key):
            return f"--json: the results have no '{key}'"
    for rung in results["rungs"]:
        if not rung.get("name"):
            return f"--json: a rung without a name: {rung}"
    if subprocess.run([ladder, "--no-such-option"], capture_output=True).returncode != 2:
        return "an option that does not exist must end the ladder with exit code 2"
    return 0


def main():
    problem = check(sys.argv[1])
    verdict = {0: result.PASSED, 77: result.SKIPPED}.get(problem, result.FAILED)
    if os.environ.get("COURSE_RESULT"):
        reason = "the ladder found no GPU" if problem == 77 else problem if isinstance(problem, str) else ""
        result.write(os.environ["COURSE_RESULT"], result.new(verdict, reason, program=Path(sys.argv[1]).name))
    return problem


if __name__ == "__main__":
    sys.exit(main())
