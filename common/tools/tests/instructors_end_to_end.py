#!/usr/bin/env python3
"""What an instructor does, with real builds of chapter 01: makes a release and grades submissions with it.

    instructors_end_to_end.py          (4 to 5 minutes of one core)

1. In a release README.md's two commands work, with -Dchapters=01-global-atomic, and every page leads to
   what is there.
2. Right answers score. Six ways to look right do not, neither refused by their text nor, with --accept,
   before the checks themselves.
Exit code: 0, or 1 with what was different.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
CHAPTER = "01-global-atomic"

CHEATS = {  # {learner: {exercise: what its file has instead of an answer}}
    "early": {
        "word_count": "#include <cstdlib>\nstatic const int early = (std::exit(0), 0);\n",
        "ticket": "#include <unistd.h>\nstatic const int early = (_exit(77), 0);\n",
        "lost_update": "#include <cstdio>\n#include <cstdlib>\n"
                       'static const int early = (std::puts("all 6 checks passed"), std::fflush(stdout), std::quick_exit(0), 0);\n',
    },
    "other": {
        "word_count": f'#include "../../solutions/{CHAPTER}/word_count.cuh"\n',
        "ticket": "static const bool skip = (course::exercise_not_started = true);\n",
        "lost_update": "#undef REQUIRE\n#define REQUIRE(...)\n#undef CHECK\n#define CHECK(...)\n",
    },
}


def run(command, folder):
    """Runs a shell command; ends the program with its output where it fails."""
    done = subprocess.run(["bash", "-ec", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-6000:]}\n{command}: exit code {done.returncode}")
    return done.stdout


def expect(found, expected, what):
    """Ends the program where two values differ."""
    if found != expected:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}")


def try_release(folder):
    """README.md's commands in a release."""
    release = folder / "release"
    run(f"'{TOP}/common/tools/teach/release.py' '{release}'", folder)
    readme = (release / "README.md").read_text(encoding="utf-8")
    commands = [re.search(rf"<!-- command {n} -->\n```sh\n(.*?)```", readme, re.DOTALL).group(1) for n in (1, 2)]
    run(commands[0].replace("meson setup build", f"meson setup build -Ddevice=cpu -Dchapters={CHAPTER}"), release)
    run(commands[1], release)
    results = [json.loads(line) for line in (release / "build/meson-logs/testlog.json").read_text().splitlines()]
    expect(sorted({result["result"] for result in results}), ["OK", "SKIP"], "tests of a release")
    expect([result["name"] for result in results if "solution" in result["name"] or "mistake" in result["name"]], [], "answers")
    run("common/tools/maintain/course_lint.py && git status --porcelain >../status && test ! -s ../status", release)
    print(f"ok  a release: {len(results)} tests")


def submit(folder, learner, answers):
    """A submission: the starters, and these texts after the starter, whose NOT_STARTED line is gone."""
    place = folder / "submissions" / learner / "exercises" / CHAPTER
    shutil.copytree(TOP / "exercises" / CHAPTER, place)
    for name, text in answers.items():
        file = place / f"{name}.cuh"
        starter = re.sub(r"^NOT_STARTED.*\n", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        # An answer that includes another file would define everything twice.
        file.write_text(text if "solutions/" in text else starter + text, encoding="utf-8")


def try_grading(folder):
    """Scores of right answers, and of what only looks right."""
    submit(folder, "ada", {})
    for name in ("word_count", "ticket"):
        shutil.copy(TOP / "solutions" / CHAPTER / f"{name}.cuh", folder / "submissions/ada/exercises" / CHAPTER)
    for learner, answers in CHEATS.items():
        submit(folder, learner, answers)
        submit(folder, f"{learner}-accepted", answers)
    accept = " ".join(f"--accept {learner}-accepted/{CHAPTER}/{name}" for learner, names in CHEATS.items() for name in names)
    print(run(f"'{TOP}/common/tools/teach/grade_submissions.py' --out grades --chapters {CHAPTER} {accept} submissions/*", folder))
    scores = json.loads((folder / "grades/scores.json").read_text())
    verdicts = {row["name"]: {e["exercise"]: e["verdict"] for e in row["exercises"]} for row in scores["learners"]}
    points = {row["name"]: row["points"] for row in scores["learners"]}
    expect(points, {"ada": 2, "early": 0, "early-accepted": 0, "other": 0, "other-accepted": 0}, "points")
    expect(verdicts["ada"], {"lost_update": "not started", "ticket": "passed", "word_count": "passed"}, "ada")
    logs = sorted(file.parent.name for file in (folder / "grades/learners").glob("*/testlog.junit.xml"))
    expect(logs, sorted(points), "logs")
    for learner in CHEATS:
        expect(set(verdicts[learner].values()), {"refused"}, learner)
    expect(set(verdicts["early-accepted"].values()), {"failed"}, "early-accepted")
    expect(verdicts["other-accepted"], {"lost_update": "failed", "ticket": "skipped", "word_count": "failed"}, "other-accepted")
    print("ok  right answers score, and nothing else does")


def main():
    with tempfile.TemporaryDirectory(prefix="instructors-") as folder:
        try_release(Path(folder))
        try_grading(Path(folder))


if __name__ == "__main__":
    main()
