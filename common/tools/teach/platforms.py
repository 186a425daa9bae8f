#!/usr/bin/env python3
"""Grades one submission for Gradescope or Classroom 50, and writes the file that the platform reads.

    platforms.py gradescope  --submission FOLDER --grades FOLDER --output results.json [OPTION ...]
    platforms.py classroom50 --submission FOLDER --grades FOLDER --output result.json [OPTION ...]

The SUBMISSION has exercises/CHAPTER/EXERCISE.cuh, or the files EXERCISE.cuh themselves. Every other OPTION goes to
grade_submissions.py: --chapters, --exercises, --points, --seconds, --no-sandbox. The folder of the grades is kept: the
course is built there once.
The file is written whatever happens: where the grading itself fails, it says so, and has no score. Exit code: 0, or 1 then.
The formats: common/docs/gradescope.md and common/docs/classroom50.md.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib.checkout import TOP  # noqa: E402
from tools.teach import grade  # noqa: E402
from tools.teach.regular import GradeError, read_below  # noqa: E402
from tools.teach.submissions import MOST_BYTES  # noqa: E402

BROKEN = "The grading itself failed, and that is no fault of this submission. Its instructor finds the reason in the log."
LEARNER = "submission"


def collect(submission, folder):
    """Copies the exercises of a submission to folder/exercises, or the files at its top."""
    for chapter, name in grade.exercises_of(TOP):
        for place in (f"exercises/{chapter}/{name}.cuh", f"{name}.cuh"):
            try:
                data = read_below(submission, place, MOST_BYTES)
            except GradeError as error:
                print(f"{place} is not taken: {error}", file=sys.stderr)
                continue
            if data is not None:
                file = folder / "exercises" / chapter / f"{name}.cuh"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
                break
    (folder / "exercises").mkdir(parents=True, exist_ok=True)


def graded(options, more):
    """The score of the submission, as Gradebook writes it; None if the grading failed."""
    with tempfile.TemporaryDirectory(prefix="submission-") as folder:
        place = Path(folder) / LEARNER
        collect(options.submission, place)
        tool = Path(__file__).with_name("grade_submissions.py")
        done = subprocess.run([sys.executable, str(tool), "--out", str(options.grades), *more, str(place)], check=False,
                              stdout=sys.stderr)
        if done.returncode != 0:
            return None
    return json.loads((options.grades / "learners" / LEARNER / "score.json").read_text(encoding="utf-8"))


def for_gradescope(score):
    """results.json of Gradescope: a test for each exercise, with what its check said."""
    if score is None:
        return {"score": 0, "output": BROKEN, "output_format": "text", "stdout_visibility": "hidden"}
    tests = [{
        "name": f"{each['chapter']}/{each['exercise']}", "score": each["points"], "max_score": each["of"],
        "status": "passed" if each["verdict"] == grade.PASSED else "failed",
        "output": f"{each['verdict']}\n\n{each['text']}", "output_format": "text", "visibility": "visible",
    } for each in score["exercises"]]
    return {"score": score["points"], "output": "\n".join(score["notes"]), "output_format": "text", "visibility": "visible",
            "stdout_visibility": "hidden", "tests": tests}


def for_classroom50(score):
    """result.json of Classroom 50. Its scores are whole numbers, and its runner names the submission."""
    if score is None:
        return None  # the runner itself writes a result with status=error where there is none
    tests = [{
        "test-name": f"{each['chapter']}/{each['exercise']}", "passed": each["verdict"] == grade.PASSED,
        "score": round(each["points"]), "max-score": round(each["of"]), "output": f"{each['verdict']}\n\n{each['text']}",
    } for each in score["exercises"]]
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    name = os.environ.get
    return {
        "schema": "classroom50/result/v1", "classroom": name("CLASSROOM", ""), "assignment": name("ASSIGNMENT", ""),
        "submission": name("SUBMISSION_TAG", ""), "commit": name("COMMIT_URL", ""), "release": name("RELEASE_URL", ""),
        "review": name("REVIEW_URL") or name("COMMIT_URL", ""), "datetime": now,
        "score": sum(test["score"] for test in tests), "max-score": sum(test["max-score"] for test in tests), "tests": tests,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platform", choices=["gradescope", "classroom50"])
    parser.add_argument("--submission", required=True, type=Path, metavar="FOLDER")
    parser.add_argument("--grades", required=True, type=Path, metavar="FOLDER", help="as --out of grade_submissions.py")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="the file that the platform reads")
    options, more = parser.parse_known_args()
    score = graded(options, more)
    written = for_gradescope(score) if options.platform == "gradescope" else for_classroom50(score)
    if written is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return 1 if score is None else 0


if __name__ == "__main__":
    sys.exit(main())
