"""./course score: times an answer to a challenge, or counts for it where there is no GPU."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.check.building import build_check
from tools.learn import scores
from tools.lib import checkout, course_state
from tools.lib.checkout import seen_from_the_shell
from tools.lib.failed import Failed

SKIPPED = 77


def score_program(exercise):
    """The ladder of a challenge: beside the program of its check. Raises Failed where an exercise is no challenge."""
    challenges = sorted(file.stem for file in checkout.TOP.glob("chapters/*/scores/*.cu"))
    if exercise.name not in challenges:
        raise Failed(f"{exercise.name} is no challenge, and has no score. Those that have: {', '.join(challenges)}.")
    check = Path(exercise.command[exercise.command.index(next(word for word in exercise.command if word.endswith(".cuh"))) + 1])
    return check.with_name(f"{exercise.name}-score")


def run(command):
    """Runs a program that writes results; returns what it said. Raises Failed where it fails."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode == SKIPPED:
        raise Failed(done.stdout.strip(), SKIPPED)
    if done.returncode != 0:
        raise Failed(f"The answer has no score, because it is not right:\n{done.stdout.strip()}")


def measured(program, chapter, n):
    """The ladder's results, with PyTorch's rows where the chapter has them and there is PyTorch."""
    size = ["--n", n] if n else []
    with tempfile.TemporaryDirectory(prefix="course-") as folder:
        file = Path(folder) / "score.json"
        run([program, *size, "--json", file])
        results = json.loads(file.read_text(encoding="utf-8"))
        has_library = any(row["kind"] == "vendor" for row in results["rungs"])
        if results["device"] != "CPU device" and not has_library and (chapter / "torch_rows.py").exists():
            run([program, *size, "--inputs", Path(folder) / "inputs"])
            command = [sys.executable, str(checkout.TOP / "common/dev"), "measure", "torch", str(chapter)]
            done = subprocess.run([*command, "--inputs", f"{folder}/inputs", "--json", str(file)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            if done.returncode == 0:
                results = json.loads(file.read_text(encoding="utf-8"))
            else:
                print(f"(no row of PyTorch: {(done.stdout.strip().splitlines() or ['it failed'])[-1]})")
    return results


def remember(course, exercise, new):
    """Adds a score to the history; returns all of them."""
    with course_state.change(course.build) as state:
        kept = [*state.get(exercise.name, {}).get("scores", []), new][-scores.KEPT :]
        state.setdefault(exercise.name, {})["scores"] = kept
    return kept


def score(course, arguments):
    """times a challenge's answer beside the library, the course's best rung and the limit of memory"""
    exercise = course.find(arguments.name)
    program = score_program(exercise)
    course.require_file(exercise)
    os.environ["COURSE_PROGRESS"] = "1"
    if problem := build_check(course.build, program, exercise.file):
        raise Failed(f"{exercise.name} does not compile:\n\n{problem}")
    results = measured(program, checkout.TOP / "chapters" / exercise.chapter, arguments.n)
    print(f"{exercise.name} on {results['device']}")
    print("\n".join(scores.table(results, exercise.name)))
    if course.known_state(exercise) != "solved":
        print(f"The whole check has not passed this file: {course.command('check', exercise.name)}")
    try:
        kept = remember(course, exercise, scores.entry(results, exercise.name, course_state.fingerprint(exercise.file)))
        picture = course.build / "scores" / f"{exercise.name}.svg"
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(scores.plot(kept, exercise.name), encoding="utf-8")
    except OSError as error:
        print(f"(not remembered: {error.strerror}: {error.filename})", file=sys.stderr)
    else:
        print(f"history: {len(kept)} {'score' if len(kept) == 1 else 'scores'}, {seen_from_the_shell(picture)}")
    return 0
