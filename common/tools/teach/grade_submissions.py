#!/usr/bin/env python3
"""Grades learners' exercise files in a clean copy of this course, and keeps a grade book.

    grade_submissions.py --out FOLDER [options] [--download FILE ...] SUBMISSION ...

A SUBMISSION is one learner's, whatever is inside: a checkout, or a folder or zip file with files such as ticket.cuh. The learner's name
is that of the folder or zip file. What Moodle or Canvas gave you for a whole class is named with --download; there the platform says
whose a file is.
Only regular files EXERCISE.cuh that this course knows are read. Each is compiled with the check of the last commit here, and
run, under bubblewrap: without a network, without a file of yours, with limits.

FOLDER is the grade book: scores.csv, scores.json and, for each learner, learners/NAME/feedback.md. It grows: more learners, more
exercises and a newer version of the course go into the same folder. A score is in FOLDER as soon as it is known, and the same command
goes on where an earlier one was ended. An answer that has a score keeps it until it changes, or until you ask:
    --regrade NAME      judges again: a learner, LEARNER/CHAPTER/EXERCISE, or CHAPTER/EXERCISE of all; the submissions are named too

An exercise has no points before a person has read it if its text uses what a kernel and its launcher have no use for (refused), or
if it passes and something cannot be excluded (for a person).
    --accept LEARNER/CHAPTER/EXERCISE   you have read this file, and it counts

What is safe and what is not: common/docs/grading.md.
Exit code: 0; 1 if something is wrong with the command, or a submission could not be read, or an answer was not judged; 130 if it was
interrupted.
"""

import argparse
import concurrent.futures
import difflib
import os
import signal
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import cpp_text, result, terminal  # noqa: E402
from tools.lib.checkout import TOP  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.teach import course_copy, grade, handed_in, sandbox, submissions  # noqa: E402
from tools.teach.answers import Judge, differences  # noqa: E402
from tools.teach.gradebook import Gradebook, the_only_one  # noqa: E402
from tools.teach.progress import Progress  # noqa: E402
from tools.teach.roster import LateRule, Roster, moment, read_roster  # noqa: E402

NOT_ISOLATED = """
Learners' code that runs without bubblewrap can read your files and the other submissions, use the network, change what this grading
writes, and go on running afterwards."""


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("submissions", nargs="*", metavar="SUBMISSION")
    add("--download", action="append", default=[], metavar="FILE", help="the zip file of a whole class, from Moodle or Canvas, or with a folder for each learner")
    add("--out", required=True, type=Path, metavar="FOLDER", help="the grade book: a new folder, or the one of before")
    add("--points", metavar="FILE", help='JSON: the points of chapters and exercises, such as {"01-global-atomic": 2, "05-warp-shuffle/block_argmax": 5}: a '
        "chapter's number is that of each of its exercises; 1 each by default; the grade book remembers them")
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
    add("--accept", action="append", default=[], metavar="LEARNER/CHAPTER/EXERCISE", help="a person has read this file: it counts")
    add("--regrade", action="append", default=[], metavar="NAME",
        help="judge again: LEARNER, LEARNER/CHAPTER/EXERCISE, or CHAPTER/EXERCISE of all")
    return parser.parse_args(arguments)


def fail(text):
    sys.exit("grade_submissions.py: " + "\n".join(grade.shown(line) for line in str(text).splitlines()))


def chosen_exercises(options):
    """(chapter, exercise) of what is graded. A chapter may be named by its number alone."""
    everything = exercises = grade.exercises_of(TOP)
    for option, part, what in ((options.chapters, 0, "chapter"), (options.exercises, 1, "exercise")):
        if option is not None:
            names = {exercise[part] for exercise in everything}
            by_number = {name[:2]: name for name in names} if what == "chapter" else {}
            wanted = [by_number.get(name.strip(), name.strip()) for name in option.split(",")]
            for name in wanted:
                one_of(name, sorted(names), f"--{what}s {option}", what)
            exercises = [exercise for exercise in exercises if exercise[part] in wanted]
    if not exercises:
        fail(f"--chapters {options.chapters} --exercises {options.exercises}: no exercise is in both")
    return exercises


def learners_of(options, exercises):
    """{learner: HandedIn} of what was handed in; ends the program where that cannot be told."""
    try:
        learners, warnings = handed_in.find(options.submissions, exercises, options.download)
    except Failed as error:
        fail(error)
    for text in warnings:
        print(f"grade_submissions.py: {grade.shown(text)}", file=sys.stderr)
    return learners


def one_of(text, names, option, what):
    """Ends the program if `text` is none of these names, and says which one may be meant."""
    if text not in names:
        near = difflib.get_close_matches(text, names, 1)
        fail(f"{option}: there is no {what} {text}{f'. Is {near[0]} meant?' if near else ' in this grading'}")


def chosen(texts, option, learners, exercises):
    """[(learner or None, exercise or None)] that --accept or --regrade names; ends the program if one of them is not there."""
    keys, found = {"/".join(key): key for key in exercises}, []
    for text in texts:
        parts = text.rsplit("/", 2)
        learner = parts[0] if len(parts) != 2 else None
        exercise = "/".join(parts[-2:]) if len(parts) > 1 else None
        if option == "--accept" and len(parts) != 3:
            fail(f"--accept {text}: it is LEARNER/CHAPTER/EXERCISE, such as ada/{next(iter(keys))}")
        if learner is not None:
            one_of(learner, list(learners), f"{option} {text}", "learner")
        if exercise is not None:
            one_of(exercise, list(keys), f"{option} {text}", "exercise")
        found.append((learner, keys.get(exercise)))
    return found


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
        print(f"grade_submissions.py: without a sandbox, as --no-sandbox says.{NOT_ISOLATED}", file=sys.stderr)
        return False
    if reason := sandbox.problem():
        fail(f"{reason}{NOT_ISOLATED}\nIn a container that has nothing to lose: --no-sandbox.")
    return True


class Class:
    """A class that is graded: what was taken from each learner, and what is still to be judged."""

    def __init__(self, options, learners, exercises, judge, book):
        self.options, self.exercises, self.judge, self.book = options, exercises, judge, book
        self.taken, self.errors = {}, {}
        self.solutions = {}  # {exercise: text}
        self.not_judged = {}  # {(chapter, exercise, text): what is known}: of this run, and not kept
        accepts = chosen(options.accept, "--accept", learners, exercises)
        regrades = chosen(options.regrade, "--regrade", learners, exercises)
        with Progress("reading what was handed in", len(learners)) as progress, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            def take(name):
                again = {key for key in exercises if any(who in (name, None) and what in (key, None) for who, what in regrades)}
                self.take(name, learners[name], {key for who, key in accepts if who == name}, again)
                progress.step(progress.done + 1, grade.shown(name))

            list(pool.map(take, learners))
        for key in exercises:
            solution = TOP / "solutions" / key[0] / f"{key[1]}.cuh"
            if solution.exists() and any(key in taken.texts for taken in self.taken.values()):
                self.solutions[key] = cpp_text.blank_comments(solution.read_text(encoding="utf-8"))

    def take(self, name, handed, accepted, again):
        """Reads what a learner handed in. The exercises `again` are judged although they have a score."""
        entries = self.book.entries(name)
        accepted |= {key for key in again if entries.get(key, {}).get("accepted")}
        new = again | {key for key in accepted if not entries.get(key, {}).get("accepted")}
        known = {key: digest for key, digest in self.book.known(name).items() if key not in new}
        try:
            self.taken[name] = submissions.take(handed, self.exercises, accepted, known)
        except grade.GradeError as error:
            self.errors[name] = str(error)
            return
        except Failed:
            raise
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.errors[name] = self.judge.problem(f"reading of {name}", error)
            return
        for key in again & set(self.taken[name].texts):
            self.judge.file_of(*key, self.taken[name].texts[key]).unlink(missing_ok=True)

    def units(self):
        """{(chapter, exercise, text): None} of what has to be judged, in the order of the learners, solutions first."""
        units = {(*key, text): None for key, text in self.solutions.items()}
        for taken in self.taken.values():
            units.update({(*key, text): None for key, text in taken.texts.items()})
        return units

    def has_work(self):
        """True if an answer is not known yet."""
        return any(self.judge.known(*unit) is None for unit in self.units())

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
        known = len(waiting) - len(to_judge) + sum(len(taken.kept) for taken in self.taken.values())
        print(f"{grade.count(len(missing), 'learner')}, {grade.count(len(to_judge), 'answer')} to judge, {known} known from before", file=sys.stderr)
        for name in [name for name, needs in missing.items() if not needs]:
            self.finish_alone(name)
        pool = concurrent.futures.ThreadPoolExecutor(max(1, self.options.jobs))
        futures = {pool.submit(self.judge.judge, *unit): unit for unit in to_judge}
        try:
            with Progress("judging answers", len(futures)) as progress:
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
                    whose = min(waiting[unit], default="the solution")
                    done = sum(not needs for needs in missing.values())
                    progress.step(number, f"{unit[1]} of {grade.shown(whose)}, {grade.count(done, 'learner')} of {len(missing)} done")
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


def answers_folder(out, commit, options, isolated):
    """Where what is known of answers is kept: what another version of the course or other limits found is not taken for this one's."""
    return out / "answers" / f"{commit[:12] or 'course'}-{options.device}-{options.seconds:g}s{'' if isolated else '-no-sandbox'}"


def main():
    terminal.prepare()
    options = parse()
    if not (0 < options.seconds < 100_000 and 0 < options.jobs <= sandbox.MOST_WORKERS):
        fail("--seconds and --jobs are numbers above 0")
    everything = grade.exercises_of(TOP)
    exercises = chosen_exercises(options)
    learners = learners_of(options, everything)
    roster = roster_of(options)
    for option in ("--accept", "--regrade"):
        chosen(getattr(options, option[2:]), option, learners, exercises)
    commit = course_copy.version()
    try:
        points = grade.read_points(options.points, everything)
        isolated = is_isolated(options)
        if not isolated and sandbox.is_root():
            os.umask(0o077)  # what this program writes is not for the users as whom answers run
        out = options.out.resolve()
        with the_only_one(out):
            book = Gradebook(out, exercises, points, roster, {"course": commit, "device": options.device, "isolated": isolated})
            judge = Judge((out / "course").resolve(), answers_folder(out, commit, options, isolated), options.seconds, isolated)
            end_on_signals(judge)
            graded = Class(options, learners, exercises, judge, book)
            if graded.has_work():
                course_copy.build_course(out / "course", commit, exercises, options.device, out / "prepare.log")
            graded.run()
            return book.close(learners)
    except Failed as error:
        fail(error)
    except OSError as error:
        fail(f"{error.filename or ''}: {error.strerror}")
    except (KeyboardInterrupt, sandbox.Stopped):
        print("grade_submissions.py: interrupted. The same command goes on from here.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    threading.stack_size(1 << 20)
    sys.exit(main())
