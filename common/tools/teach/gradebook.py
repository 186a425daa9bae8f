"""The grade book of a class: scores.csv, scores.json and a feedback file for each learner, in a folder that grows over weeks.

The file learners/NAME/score.json of each learner is what is remembered; all else is written from these. A grading changes the
exercises that it asks for, of the learners that it names, and nothing else.
"""

import contextlib
import datetime
import fcntl
import io
import json
import os
import re
import shlex
import sys
import unicodedata
from collections import defaultdict

from tools.lib import result
from tools.teach import grade
from tools.teach.grade import FOR_A_PERSON, NOT_JUDGED, GradeError, Learner

SCHEMA, VERSION = "course.gradebook", 1
OURS = {"course", "course.ready", "prepare.log", "lock", "problems.log"}  # in a folder that is no grade book yet
REFUSED = "refused"
VERDICTS = {  # of the check's result: that of the gradebook
    result.PASSED: grade.PASSED, result.FAILED: grade.FAILED, result.SKIPPED: grade.SKIPPED,
    result.NOT_STARTED: grade.NOT_STARTED, result.TIMED_OUT: grade.NO_END, result.CRASHED: grade.FAILED,
    result.ENDED_EARLY: grade.FAILED, result.DOES_NOT_COMPILE: grade.FAILED, result.NOT_JUDGED: NOT_JUDGED,
}
WORDS = {  # where nothing else was said
    grade.NOT_STARTED: "It still has its NOT_STARTED line.", grade.NOT_RUN: "It was not handed in.",
    grade.FAILED: "The check did not pass, and printed no reason.", grade.NO_END: "The check did not end in its time.",
    grade.SKIPPED: "The check could not run where it was graded.", REFUSED: "The file was not accepted as it is.",
}
AFTER = {  # what follows the reason
    REFUSED: "A person reads it before it can have points.",
    FOR_A_PERSON: "A person will look at this. It has no points until then.",
    NOT_JUDGED: "That is no fault of this answer. It has no points yet, and will be judged again.",
}
ACCEPTED = "It counts because a person has read it and accepted it."
PLACE = re.compile(r"(?<![\w./:<])/(?:[\w.+-]+/)+[\w.+-]+")  # a path of this machine, or of the compiler
OF_THE_COURSE = re.compile(r"/((?:exercises|chapters|common)/.*)")


def replace(file, text):
    """Writes a file at once: who reads meanwhile finds the old one or the new one, and a machine that goes down leaves one of them."""
    new = file.with_name(file.name + ".new")
    with open(new, "w", encoding="utf-8", newline="") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    os.replace(new, file)


def without_places(text):
    """A text without paths of this machine: the course's files are named as a learner names them, others by their last folder."""
    def short(match):
        inside = OF_THE_COURSE.search(match[0])
        return inside[1] if inside else "/".join(match[0].split("/")[-2:])

    return PLACE.sub(short, text)


def printable(text):
    """A text for a file that is shown: without paths, and without characters that are not printable but ends of lines."""
    return "\n".join(grade.shown(line) for line in without_places(text).splitlines())


def look(name):
    """What is equal for names that look alike: they differ in case, in spaces at an end, or in how an accent is encoded."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def indented(text):
    return "\n".join("    " + line for line in text.splitlines())


def in_course_order(exercises):
    return {key: exercises[key] for key in sorted(exercises)}


class Gradebook:
    """The folder of a class's grades. Each entry is written when it comes. `exercises` are those of this grading, `points` the
    weights that it names, and `how` is what each of its scores says of itself: the version of the course, the device, and whether
    answers were isolated."""

    def __init__(self, out, exercises, points, roster, how):
        self.out, self.exercises, self.roster, self.how = out, exercises, roster, how
        out.mkdir(parents=True, exist_ok=True)
        self.file = out / "grading.json"
        if not self.file.exists():
            if {file.name for file in out.iterdir()} - OURS:
                raise GradeError(f"{out} is not empty, and no folder of grades: name another one")
            self.content = {"schema": SCHEMA, "version": VERSION, "points": {}}
        else:
            self.content = self.load(self.file)
            if (self.content.get("schema"), self.content.get("version")) != (SCHEMA, VERSION):
                raise GradeError(f"{out} is the folder of grades of another version of this program: name a new one")
        self.rows, self.learners = {}, {}
        for file in sorted((out / "learners").glob("*/score.json")):
            self.rows[file.parent.name] = self.load(file)
        old = self.points()
        named = {"/".join(key): value for key, value in points.items()}
        for key in map("/".join, exercises):
            self.content["points"][key] = named.get(key, self.content["points"].get(key, 1.0))
        self.content["points"].update({key: value for key, value in named.items() if key in self.content["points"]})
        replace(self.file, json.dumps(self.content, indent=1) + "\n")
        if any(self.points()[key] != value for key, value in old.items()):
            for name in self.rows:
                self.write_row(name)
        if self.rows:
            self.write()

    def load(self, file):
        """The object in one of the grade book's files."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(content, dict) or not isinstance(content.get("exercises", []), list):
                raise ValueError("it is not what this program writes")
            return content
        except (OSError, ValueError) as error:
            raise GradeError(f"{file} holds scores, and cannot be read ({error}): restore it, or move it away and grade again") from error

    def points(self):
        """{(chapter, exercise): weight} of all columns, in the order of the course."""
        return in_course_order({tuple(key.split("/")): value for key, value in self.content["points"].items()})

    def entries(self, name):
        """{(chapter, exercise): what is known} of a learner."""
        return {(each["chapter"], each["exercise"]): each for each in self.rows.get(name, {}).get("exercises", [])}

    def known(self, name):
        """{(chapter, exercise): digest} of the answers of a learner that have a score which lasts."""
        return {key: each["answer"] for key, each in self.entries(name).items() if each.get("answer") and each["verdict"] != NOT_JUDGED}

    def judged(self, found, doubts, accepted):
        """(verdict, text) of an answer. A pass with something that cannot be excluded waits for a person."""
        verdict, text = VERDICTS.get(found["verdict"], grade.FAILED), found["text"]
        if verdict == grade.PASSED and not accepted:
            if doubts := [text.rstrip(".") for text in (*doubts, *found["for_a_person"])]:
                return FOR_A_PERSON, f"{'; '.join(doubts)}."
        return verdict, found["reason"] if verdict == NOT_JUDGED else text

    def enter(self, name, taken=None, found=None, error=""):
        """Writes the score and the feedback of a learner; with an `error` nothing that was handed in could be read."""
        entries, remarks = self.entries(name), []
        factor, late, note = self.roster.late(name)
        for key in self.exercises if taken else ():
            if key in taken.missing:
                remarks.append(f"{'/'.join(key)} is not in what was handed in last: the score of the earlier answer stays")
                continue
            if key in taken.kept:
                each = entries[key]
            else:
                verdict, text = grade.NOT_RUN, ""
                if key in taken.refused:
                    verdict, text = REFUSED, taken.refused[key]
                elif key in taken.not_started:
                    verdict = grade.NOT_STARTED
                elif key in found:
                    accepted = key in taken.accepted
                    verdict, text = self.judged(found[key], taken.for_a_person.get(key, ()), accepted)
                each = self.entry(key, verdict, text)
                if key in taken.digests:
                    each.update({"answer": taken.digests[key], "accepted": key in taken.accepted, "remarks": taken.remarks.get(key, []),
                                 "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), **self.how})
            if each["verdict"] != grade.NOT_RUN:
                self.mark_late(each, self.roster.deadline_of(name), late, round(factor, 4), key in taken.kept)
            entries[key] = each
        remarks += taken.notes if taken else []
        remarks += [note] if note else []
        row = self.roster.rows.get(name)
        if self.roster.rows and row is None:
            remarks.append("not in the roster")
        self.keep(name, row.ident if row else self.rows.get(name, {}).get("id", ""), entries, remarks, error)
        self.show_sources(name, taken)
        self.write()

    @staticmethod
    def mark_late(each, deadline, late, factor, is_kept):
        """Notes what is left of an answer's points. An answer that was graded under another deadline, and has not changed since, keeps
        the better mark: it was there then."""
        before = each.get("deadline", "")
        if is_kept and (not deadline or before not in ("", deadline) and each["factor"] >= factor):
            return
        each.update({"deadline": deadline, "late": late, "factor": factor})

    def source(self, name, key):
        """Where an answer is that a person has to read."""
        return self.out / "learners" / name / "to-read" / key[0] / f"{key[1]}.cuh"

    def show_sources(self, name, taken):
        """Writes the answers that a person has to read, and takes away those that no one has to read any more."""
        for key, each in self.entries(name).items():
            file = self.source(name, key)
            if not self.is_to_read(each):
                file.unlink(missing_ok=True)
                for folder in (file.parent, file.parent.parent):
                    with contextlib.suppress(OSError):  # it is not there, or another answer is in it
                        folder.rmdir()
            elif taken and key in taken.sources:
                file.parent.mkdir(parents=True, exist_ok=True)
                replace(file, taken.sources[key].encode("utf-8", "replace").decode())

    @staticmethod
    def is_to_read(each):
        """True for an answer that counts as soon as a person has read it, and accepts it."""
        return each["verdict"] in (REFUSED, FOR_A_PERSON) and bool(each.get("answer"))

    @staticmethod
    def counts_as_accepted(each):
        """True for an answer that has its points because a person has accepted it."""
        return each["verdict"] == grade.PASSED and bool(each.get("accepted"))

    def entry(self, key, verdict, text=""):
        """What is known of an answer."""
        words = printable(text).strip() or WORDS.get(verdict, "")
        if verdict in (grade.FAILED, grade.NO_END) and "\nrerun: " not in words:  # as ./course check says it
            words += f"\n\nedit:  exercises/{'/'.join(key)}.cuh\nrerun: ./course check {key[1]}"
        return {"chapter": key[0], "exercise": key[1], "verdict": verdict, "text": words + (f"\n{AFTER[verdict]}" if verdict in AFTER else "")}

    def keep(self, name, ident, entries, remarks, error=""):
        """Remembers what is known of a learner."""
        self.learners.pop(name, None)
        self.rows[name] = {"id": ident, "error": printable(error), "remarks": remarks, "exercises": list(in_course_order(entries).values())}
        self.write_row(name)

    def learner(self, name):
        """The Learner that tables are made of."""
        if name not in self.learners:
            self.learners[name] = self.new_learner(name)
        return self.learners[name]

    def new_learner(self, name):
        row, entries = self.rows[name], self.entries(name)
        learner = Learner(name, {key: each["verdict"] for key, each in entries.items()}, error=row.get("error", ""), ident=row.get("id", ""))
        learner.factors = {key: each.get("factor", 1.0) for key, each in entries.items()}
        lates = {}
        for (chapter, exercise), each in entries.items():
            if each.get("late"):
                lates.setdefault(each["late"], []).append(f"{chapter}/{exercise}")
        learner.late = "; ".join(text if len(keys) == sum(bool(each.get("answer")) for each in entries.values()) else f"{', '.join(keys)}: {text}" for text, keys in lates.items())
        learner.notes = [f"{'/'.join(key)} is {each['verdict']}: {each['text'].splitlines()[0]}" for key, each in entries.items()
                         if each["verdict"] in (REFUSED, *grade.OPEN)]
        learner.notes += [f"{'/'.join(key)} counts because a person has read it and accepted it" for key, each in entries.items()
                          if self.counts_as_accepted(each)]
        learner.notes += [f"{'/'.join(key)}: {remark}" for key, each in entries.items() for remark in each.get("remarks", ())]
        learner.notes += row.get("remarks", [])
        if entries and (missing := [key for key in self.points() if key not in entries]):
            learner.notes.append(f"not graded yet: {', '.join(map('/'.join, missing))}")
        others = {each["course"] for each in entries.values() if each.get("course")} - {self.how.get("course")}
        for course in sorted(others):
            those = ["/".join(key) for key, each in entries.items() if each.get("course") == course]
            learner.notes.append(f"graded with version {course[:12]} of the course: {', '.join(those)}")
        learner.more = {key: {name: value for name, value in each.items() if name in ("factor", "late", "course", "date", "device", "isolated", "accepted")}
                        for key, each in entries.items()}
        return learner

    def write_row(self, name):
        """score.json and feedback.md of a learner."""
        folder = self.out / "learners" / name
        folder.mkdir(parents=True, exist_ok=True)
        learner, entries, points = self.learner(name), self.entries(name), self.points()
        score = {"schema": grade.SCHEMA, "version": grade.VERSION, "of": sum(points.values()), **grade.row_of(learner, points)}
        for each in score.get("exercises", []):
            each.update(entries[each["chapter"], each["exercise"]])
        replace(folder / "feedback.md", self.feedback(learner, entries, points))
        replace(folder / "score.json", json.dumps({**score, "remarks": self.rows[name]["remarks"]}, indent=1) + "\n")

    def feedback(self, learner, entries, points):
        """The text of a learner's feedback file."""
        parts = [f"# {grade.shown(learner.name)}{f' ({grade.shown(learner.ident)})' if learner.ident else ''}"]
        if learner.error:
            parts += ["What was handed in last could not be read:", indented(learner.error)]
        if not learner.has_score():
            return "\n\n".join([*parts, "There is no score."]) + "\n"
        graded = sum(points[key] for key in entries)
        parts.append(f"**{grade.number(grade.score(learner, points))} of {grade.count(graded, 'point')}**"
                     + (f" ({learner.late})" if learner.late else ""))
        for key, each in entries.items():
            if each["verdict"] in grade.OPEN:
                score = f"{grade.count(points[key], 'point')} {'is' if points[key] == 1 else 'are'} open"
            else:
                score = f"{grade.number(grade.worth(learner, key, points))} of {grade.number(points[key])}"
            parts += [f"## {'/'.join(key)}: {each['verdict']}, {score}", indented(each["text"])]
            parts += [ACCEPTED] if self.counts_as_accepted(each) else []
        if versions := sorted({each["course"][:12] for each in entries.values() if each.get("course")}):
            parts.append(f"Checked with version {' and '.join(versions)} of the course.")
        return "\n\n".join(parts) + "\n"

    def write(self):
        """scores.csv and scores.json of all who have a score by now."""
        learners, points = [self.learner(name) for name in sorted(self.rows)], self.points()
        table = io.StringIO()
        grade.write_csv(table, learners, points)
        replace(self.out / "scores.csv", table.getvalue())
        replace(self.out / "scores.json", grade.as_json(learners, points))

    def close(self, handed_in):
        """Enters those of the roster of whom there is nothing, prints the table of this grading, and returns the exit code."""
        absent = [name for name in self.roster.rows if name not in handed_in]
        for name in absent:
            entries = self.entries(name)
            missing = [key for key in self.exercises if entries.get(key, {}).get("verdict", grade.NOT_RUN) == grade.NOT_RUN]
            if all(each["verdict"] == grade.NOT_RUN for each in entries.values()):
                remarks = ["nothing was handed in"]
            else:
                remarks = [f"not handed in: {', '.join(map('/'.join, missing))}"] if missing else []
            entries = {**{key: self.entry(key, grade.NOT_RUN) for key in self.exercises}, **entries}
            self.keep(name, self.roster.rows[name].ident, entries, remarks)
        self.write()
        learners = [self.learner(name) for name in sorted({*handed_in, *absent})]
        points = self.points()
        print(grade.table(learners, points))
        to_read = [(learner.name, key) for learner in learners for key, each in self.entries(learner.name).items() if self.is_to_read(each)]
        if to_read:
            print(f"\n{len(to_read)} answer{'s wait' if len(to_read) > 1 else ' waits'} for a person. Read the file; if it is right, accept it with "
                  "the same command and")
        for name, key in to_read:
            print(grade.shown(f"  --accept {shlex.quote(f'{name}/' + '/'.join(key))}"))
            print(grade.shown(f"      {self.source(name, key)}"))
        print(f"\n{self.out}/scores.csv: {grade.count(len(self.rows), 'learner')}, {grade.count(len(points), 'exercise')}")
        for text in self.doubtful_names():
            print(f"grade_submissions.py: {text}", file=sys.stderr)
        return self.problems(learners)

    def doubtful_names(self):
        """Sentences that name the rows which may be one learner's: those with one id of the school, and those whose names look alike."""
        of_id, of_look = defaultdict(list), defaultdict(list)
        for name, row in sorted(self.rows.items()):
            shown = f"'{grade.shown(name)}'"
            if row.get("id"):
                of_id[row["id"]].append(shown)
            of_look[look(name)].append(shown)
        return [*(f"the id {grade.shown(ident)} is in {len(names)} rows, {' and '.join(names)}: give this learner one name, as common/docs/grading.md says"
                  for ident, names in of_id.items() if len(names) > 1),
                *(f"the names {' and '.join(names)} look alike, and each has a row of its own: they differ in case, in spaces at an end, or in how an "
                  "accent is encoded" for names in of_look.values() if len(names) > 1)]

    def problems(self, learners):
        """Says what has no score; the exit code."""
        code = 0
        for learner in learners:
            if learner.error:
                code = 1
                print(f"grade_submissions.py: {grade.shown(learner.name)}: {grade.shown(learner.error)}", file=sys.stderr)
            if unjudged := ["/".join(key) for key, verdict in learner.verdicts.items() if verdict == NOT_JUDGED]:
                code = 1
                print(f"grade_submissions.py: {grade.shown(learner.name)}: not judged: {', '.join(unjudged)}. The same command judges again.",
                      file=sys.stderr)
        return code


@contextlib.contextmanager
def the_only_one(out):
    """Waits until no other grading writes to this folder, and says so."""
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "lock", "a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            print(f"grade_submissions.py: another grading ({lock.read().strip() or 'it has just begun'}) writes to {out}: waiting for its end",
                  file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(f"process {os.getpid()}, since {datetime.datetime.now():%H:%M}")
        lock.flush()
        yield
