#!/usr/bin/env python3
"""Classroom 50 runs this for each submission, in the learner's checkout: it brings the course, grades with it, and leaves
./result.json.

Where it goes: CLASSROOM/autograders/ASSIGNMENT/autograder.py of your repository classroom50. What to change: the three
values below. The page: classroom50.md in common/docs.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

COURSE_REPOSITORY = "https://github.com/OWNER/cuda-atomics-course"
COURSE_REF = "main"  # better: a tag, so that the checks stay as they are
OPTIONS = ["--chapters", "01-global-atomic"]  # for grade_submissions.py


def main():
    submission = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="course-") as folder:
        course = Path(folder) / "course"
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", "--branch", COURSE_REF, COURSE_REPOSITORY, str(course)], check=True)
        subprocess.run([str(course / "common/tools/setup.sh"), "--contributor"], check=True)
        return subprocess.run([
            sys.executable, str(course / "common/tools/teach/platforms.py"), "classroom50", "--submission", str(submission),
            "--grades", str(Path(folder) / "grades"), "--output", str(submission / "result.json"), *OPTIONS,
        ], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
