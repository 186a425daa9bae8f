#!/usr/bin/env python3
"""Runs a chapter's ladder as a reader would, and reads back the results it writes.

    check_ladder.py LADDER_PROGRAM

Exit code 77 where the ladder finds no GPU.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    ladder = sys.argv[1]
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


if __name__ == "__main__":
    sys.exit(main())
