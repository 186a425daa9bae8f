#!/usr/bin/env python3
"""Grades learners' exercise files in a clean copy of this course, and writes their scores.

    grade_submissions.py --out FOLDER [options] SUBMISSION ...

A SUBMISSION is a learner's checkout: a folder with exercises/; the learner's name is the folder's.
Of all that is in there, only regular files exercises/CHAPTER/EXERCISE.cuh that this course knows are read. Each is
compiled with the check of the last commit here, and run, under bubblewrap: without a network, without a file of yours,
with limits. FOLDER gets scores.csv, scores.json and, for each learner, learners/NAME/feedback.md.

A score is in FOLDER as soon as it is known. The same command goes on where an earlier one was ended. Answers that are
equal but for comments are judged once.

An exercise is refused, has no points and is named with its reason if it is a link or no regular file, or if its text uses
a header or a name that a kernel and its launcher have no use for.
    --accept LEARNER/CHAPTER/EXERCISE   accepts such a file: you have read it

What is safe and what is not: common/docs/grading.md.
Exit code: 0; 1 if a submission has no score, or an answer was not judged: the same command judges it again; 130 if it was interrupted.
"""

import argparse
import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import cpp_text, result  # noqa: E402
from tools.lib.checkout import TOP  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.teach import grade, sandbox, submissions  # noqa: E402
from tools.teach.answers import Judge, build_course, differences  # noqa: E402
from tools.teach.gradebook import Gradebook  # noqa: E402
from tools.teach.roster import LateRule, Roster, moment, read_roster  # noqa: E402

NOT_ISOLATED = """
Without it nothing of this holds: learners' code can read your files and the other submissions, use the network, change
what this grading writes, and go on running afterwards. In a container that has nothing to lose: --no-sandbox.
"""


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("submissions", nargs="+", metavar="SUBMISSION")
    add("--out", required=True, type=Path, metavar="FOLDER", help="where scores go: a new folder, or that of the same grading")
    add("--points", metavar="FILE", help="as for grade.py")
    add("--chapters", metavar="NAMES", help="these only, such as 01-global-atomic,03-shared-reduce")
    add("--exercises", metavar="NAMES", help="these only, such as ticket,block_max")
    add("--roster", metavar="FILE", help="CSV: learner (the folder's name) and id; perhaps submitted and deadline, as times")
    add("--deadline", metavar="TIME", help="such as 2027-03-01T23:59+01:00; the roster says when each was submitted")
    add("--late", metavar="PERCENT/DAYS", default="100/0",
        help="what each day that is begun costs, and for how many days there are points: 10/3; without it late is none")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="answers that are judged at the same time (%(default)s)")
    add("--seconds", type=float, default=60, help="of processor time that a check may take (%(default)s)")
    add("--device", choices=["cpu", "cuda"], default="cpu", help="where kernels run (%(default)s)")
    add("--no-sandbox", action="store_true", help="without bubblewrap: in a container that has nothing to lose")
    add("--accept", action="append", default=[], metavar="LEARNER/CHAPTER/EXERCISE", help="do not refuse this file")
    return parser.parse_args(arguments)


def fail(text):
    sys.exit(f"grade_submissions.py: {text}")


def chosen_exercises(options):
    """(chapter, exercise) of what is graded."""
    exercises = grade.exercises_of(TOP)
    for option, part, what in ((options.chapters, 0, "chapter"), (options.exercises, 1, "exercise")):
        if option:
            wanted = option.split(",")
            if unknown := set(wanted) - {exercise[part] for exercise in exercises}:
                fail(f"there is no {what} {', '.join(sorted(unknown))}")
            exercises = [exercise for exercise in exercises if exercise[part] in wanted]
    return exercises


def folders_of(options):
    """{learner: folder}; ends the program where two have one name."""
    folders = {}
    for submission in options.submissions:
        folder = Path(submission).resolve()
        if folder.name in folders:
            fail(f"two submissions are called '{grade.shown(folder.name)}': rename one")
        folders[folder.name] = folder
    return folders


def roster_of(options):
    """The Roster that the command line describes."""
    try:
        rows = read_roster(options.roster) if options.roster else {}
        deadline = moment(options.deadline, "--deadline") if options.deadline else None
        return Roster(rows, deadline, LateRule.parse(options.late))
    except Failed as error:
        fail(error)


def is_isolated(options):
    """True if answers run under bubblewrap; ends the program where they cannot, and no one said that this is all right."""
    if options.no_sandbox:
        print(f"grade_submissions.py: WITHOUT A SANDBOX, as --no-sandbox says.{NOT_ISOLATED.replace('it', 'one', 1)}", file=sys.stderr)
        return False
    if reason := sandbox.problem():
        fail(f"{reason}{NOT_ISOLATED}")
    return True


class Class:
    """A class that is graded: what was taken from each learner, and what is still to be judged."""

    def __init__(self, options, folders, exercises, judge, book):
        self.options, self.exercises, self.judge, self.book = options, exercises, judge, book
        self.taken, self.errors = {}, {}
        self.solutions = {}  # {exercise: text}
        self.not_judged = {}  # {(chapter, exercise, text): what is known}: of this run, and not kept
        for key in exercises:
            solution = TOP / "solutions" / key[0] / f"{key[1]}.cuh"
            if solution.exists():
                self.solutions[key] = cpp_text.blank_comments(solution.read_text(encoding="utf-8"))
        for name, folder in folders.items():
            accepted = {tuple(text.split("/")[-2:]) for text in options.accept if text.rsplit("/", 2)[0] == name}
            try:
                self.taken[name] = submissions.take(folder, exercises, accepted)
            except grade.GradeError as error:
                self.errors[name] = str(error)
            except Exception as error:  # pylint: disable=broad-exception-caught
                self.errors[name] = self.judge.problem(f"reading of {name}", error)

    def units(self):
        """{(chapter, exercise, text): None} of what has to be judged, in the order of the learners, solutions first."""
        units = {(*key, text): None for key, text in self.solutions.items()}
        for taken in self.taken.values():
            units.update({(*key, text): None for key, text in taken.texts.items()})
        return units

    def finish(self, name):
        """Writes the score of a learner of whom all is known."""
        if name in self.errors:
            self.book.enter(name, error=self.errors[name])
            return
        taken = self.taken[name]
        self.book.enter(name, taken=taken, found={key: self.found((*key, text)) for key, text in taken.texts.items()})

    def found(self, unit):
        """What is known of an answer that has been judged, beside what is known of the solution."""
        found = self.not_judged.get(unit) or self.judge.known(*unit)
        if found["verdict"] == result.PASSED and unit[:2] in self.solutions:
            measure = self.judge.known(*unit[:2], self.solutions[unit[:2]])
            found["for_a_person"] = differences(found, measure)
        return found

    def finish_alone(self, name):
        """finish(); what goes wrong there is this learner's, unless the machine cannot write."""
        try:
            self.finish(name)
        except OSError as error:
            raise Failed(f"scores cannot be written: {error}") from error
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.errors[name] = self.judge.problem(f"score of {name}", error)
            self.book.enter(name, error=self.errors[name])

    def check_solution(self, key, found):
        """Ends the grading if the course's own answer does not pass: then no one's does."""
        if found["verdict"] not in (result.PASSED, result.SKIPPED):
            said = found["reason"].partition("\n")[0]
            raise Failed(f"the solution of {'/'.join(key)} does not pass here: {said}")

    def run(self):
        """Judges all, and writes each score when it is known."""
        waiting = {}  # {unit: names}
        for unit in self.units():
            waiting[unit] = set()
        missing = {}
        for name in [*self.taken, *self.errors]:
            needs = {(*key, text) for key, text in getattr(self.taken.get(name), "texts", {}).items()}
            needs |= {(*key, self.solutions[key]) for key in getattr(self.taken.get(name), "texts", {}) if key in self.solutions}
            missing[name] = {unit for unit in needs if self.judge.known(*unit) is None}
            for unit in missing[name]:
                waiting[unit].add(name)
        to_judge = [unit for unit in waiting if self.judge.known(*unit) is None]
        print(f"{len(missing)} learners, {len(waiting)} different answers, {len(waiting) - len(to_judge)} of them known already",
              file=sys.stderr)
        for name in [name for name, needs in missing.items() if not needs]:
            self.finish_alone(name)
        pool = concurrent.futures.ThreadPoolExecutor(max(1, self.options.jobs))
        futures = {pool.submit(self.judge.judge, *unit): unit for unit in to_judge}
        try:
            for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
                unit = futures[future]
                found = future.result()
                if found["verdict"] == result.NOT_JUDGED:
                    self.not_judged[unit] = found
                if self.solutions.get(unit[:2]) == unit[2]:
                    self.check_solution(unit[:2], found)
                for name in waiting[unit]:
                    missing[name].discard(unit)
                    if not missing[name]:
                        self.finish_alone(name)
                if number % 20 == 0 or number == len(futures):
                    print(f"{number} of {len(futures)} answers", file=sys.stderr)
        finally:
            self.judge.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def end_on_signals(judge):
    """Ctrl-C and other requests to end stop the answers that are judged, wherever this program is."""
    def interrupt(*_):
        judge.stop.set()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, interrupt)


def main():
    options = parse()
    if not (0 < options.seconds < 100_000 and 0 < options.jobs <= sandbox.MOST_WORKERS):
        fail("--seconds and --jobs are numbers above 0")
    exercises = chosen_exercises(options)
    points = grade.read_points(options.points, exercises)
    folders = folders_of(options)
    roster = roster_of(options)
    isolated = is_isolated(options)
    if not isolated and sandbox.is_root():
        os.umask(0o077)  # what this program writes is not for the users as whom answers run
    commit = subprocess.run(["git", "-C", str(TOP), "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    how = {"course": commit, "exercises": ["/".join(key) for key in exercises], "device": options.device,
           "seconds": options.seconds, "sandbox": isolated}
    try:
        out = options.out.resolve()
        book = Gradebook(out, exercises, points, roster, how)
        build_course(out / "course", exercises, options.device, out / "prepare.log")
        judge = Judge((out / "course").resolve(), out / "answers", options.seconds, isolated)
        end_on_signals(judge)
        Class(options, folders, exercises, judge, book).run()
    except Failed as error:
        fail(error)
    except (KeyboardInterrupt, sandbox.Stopped):
        print("grade_submissions.py: interrupted. The same command goes on from here.", file=sys.stderr)
        return 130
    return book.close(folders)


if __name__ == "__main__":
    threading.stack_size(1 << 20)
    sys.exit(main())
