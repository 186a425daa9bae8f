#!/usr/bin/env python3
"""Grades one submission for Gradescope or Classroom 50, and writes the file that the platform reads.

    platforms.py gradescope  --submission FOLDER --grades FOLDER --output results.json [OPTION ...]
    platforms.py classroom50 --submission FOLDER --grades FOLDER --output result.json [OPTION ...]

The SUBMISSION is what grade_submissions.py takes: exercises/CHAPTER/EXERCISE.cuh, files EXERCISE.cuh, or a zip file of these. Every
other OPTION goes to it: --chapters, --exercises, --points, --seconds, --no-sandbox. It judges as everywhere, with bubblewrap
where that starts: --no-sandbox says that answers may run without it where it does not, and then a line says what is missing. Due
dates are the platform's own. The folder of the grades is kept: the course is built there once.
The file is written whatever happens: where the grading itself fails, or does not judge an answer, it says so. Exit code: 0, or 1 then.
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
from tools.teach import grade, sandbox  # noqa: E402

BROKEN = "The grading itself failed, and that is no fault of this submission. Its instructor finds the reason in the log."
LEARNER = "submission"
OF_THE_PLATFORM = ("--out", "--roster", "--deadline", "--late")
SCALES = (1, 2, 4, 5, 10, 20, 50, 100, 1000)  # that make whole numbers of points


def options_for(more):
    """The options for grade_submissions.py; ends the program where one is not for a platform."""
    for option in more:
        if option.split("=")[0] in OF_THE_PLATFORM:
            sys.exit(f"platforms.py: {option.split('=')[0]} is not for a platform, which has folders, dates and late marks of its own")
    if "--no-sandbox" not in more:
        return more
    if reason := sandbox.problem():
        files = "run as another user, who reads neither the course nor the grades" if sandbox.is_root() else \
            "run as you, and can read and change your files, the solutions and checks among them"
        print(f"platforms.py: {reason}: answers run without it: they {files}, see other processes, and have no limit of bytes and files on the disk",
              file=sys.stderr)
        return more
    print("platforms.py: bubblewrap starts here: answers run in it", file=sys.stderr)
    return [option for option in more if option != "--no-sandbox"]


def graded(options, more):
    """The score of the submission, as Gradebook writes it; None if the grading failed."""
    file = options.grades / "learners" / LEARNER / "score.json"
    file.unlink(missing_ok=True)  # the score of an earlier submission is none of this one
    with tempfile.TemporaryDirectory(prefix="submission-") as folder:
        place = Path(folder) / LEARNER
        place.symlink_to(options.submission.resolve())
        tool = Path(__file__).with_name("grade_submissions.py")
        subprocess.run([sys.executable, str(tool), "--out", str(options.grades), *options_for(more), str(place)], check=False, stdout=sys.stderr)
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_judged(score):
    """True if each exercise has a score, or waits for a person."""
    return score is not None and all(each["verdict"] != grade.NOT_JUDGED for each in score.get("exercises", []))


def exercises_of(score):
    """What each exercise of a score says; of a submission that could not be read, one row that says why."""
    if "exercises" in score:
        return score["exercises"]
    return [{"chapter": "all", "exercise": "submission", "verdict": grade.FAILED, "points": 0, "of": score["of"], "text": score["error"]}]


def outcome(each):
    """What a learner reads of an exercise."""
    return f"{each['verdict']}\n\n{each['text']}"


def for_gradescope(score):
    """results.json of Gradescope: a test for each exercise, with what its check said."""
    if score is None:
        return {"score": 0, "output": BROKEN, "output_format": "text", "stdout_visibility": "hidden"}
    tests = [{
        "name": f"{each['chapter']}/{each['exercise']}", "score": each["points"] or 0, "max_score": each["of"],
        "status": "passed" if each["verdict"] == grade.PASSED else "failed",
        "output": outcome(each), "output_format": "text", "visibility": "visible",
    } for each in exercises_of(score)]
    return {"score": score.get("points", 0), "output": "\n".join(score["remarks"]), "output_format": "text", "visibility": "visible",
            "stdout_visibility": "hidden", "tests": tests}


def scale_for(points):
    """The number that makes each of these points a whole number; ends the program where none does."""
    for scale in SCALES:
        if all(abs(value * scale - round(value * scale)) < 1e-6 for value in points):
            return scale
    sys.exit(f"platforms.py: Classroom 50 takes whole numbers: {', '.join(map(grade.number, points))} points cannot be made whole")


def for_classroom50(score):
    """result.json of Classroom 50. Its scores are whole numbers, and its runner names the submission."""
    if not is_judged(score):
        return None  # the runner itself writes a result with status=error where there is none
    exercises = exercises_of(score)
    scale = scale_for([each["of"] for each in exercises])
    if scale != 1:
        print(f"platforms.py: Classroom 50 takes whole numbers: each point is written as {scale}", file=sys.stderr)
    tests = [{
        "test-name": f"{each['chapter']}/{each['exercise']}", "passed": each["verdict"] == grade.PASSED,
        "score": round((each["points"] or 0) * scale), "max-score": round(each["of"] * scale), "output": outcome(each),
    } for each in exercises]
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
    if not options.submission.exists():
        print(f"platforms.py: {options.submission}: there is no such file or folder", file=sys.stderr)
    score = graded(options, more) if options.submission.exists() else None
    written = for_gradescope(score) if options.platform == "gradescope" else for_classroom50(score)
    if written is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return 0 if is_judged(score) else 1


if __name__ == "__main__":
    sys.exit(main())
