"""What a grading writes: scores.csv, scores.json, and a feedback file for each learner."""

import json
import os

from tools.lib import result
from tools.teach import grade
from tools.teach.grade import FOR_A_PERSON, NOT_JUDGED, GradeError, Learner

REFUSED = "refused"
VERDICTS = {  # of the check's result: that of the gradebook
    result.PASSED: grade.PASSED, result.FAILED: grade.FAILED, result.SKIPPED: grade.SKIPPED,
    result.NOT_STARTED: grade.NOT_STARTED, result.TIMED_OUT: grade.NO_END, result.CRASHED: grade.FAILED,
    result.ENDED_EARLY: grade.FAILED, result.DOES_NOT_COMPILE: grade.FAILED, result.NOT_JUDGED: NOT_JUDGED,
}
NO_WORDS = {grade.NOT_STARTED: "It still has its NOT_STARTED line.", grade.NOT_RUN: "It was not handed in."}


def replace(file, text):
    """Writes a file at once: who reads meanwhile finds the old one or the new one."""
    new = file.with_name(file.name + ".new")
    new.write_text(text, encoding="utf-8", newline="")
    os.replace(new, file)


def lines_of(text):
    """A learner's or a check's text for a file that is shown: indented, without characters that are not printable."""
    return "\n".join("    " + grade.shown(line) for line in text.splitlines())


class Gradebook:
    """The folder of a grading. Each entry is written when it comes."""

    def __init__(self, out, exercises, points, roster, how):
        self.out, self.exercises, self.points, self.roster = out, exercises, points, roster
        self.learners = {}
        out.mkdir(parents=True, exist_ok=True)
        record = out / "grading.json"
        if not record.exists():
            if {file.name for file in out.iterdir()} - {"course", "course.ready"}:
                raise GradeError(f"{out} is not empty, and not the folder of a grading")
            replace(record, json.dumps(how, indent=1) + "\n")
        before = json.loads(record.read_text(encoding="utf-8"))
        if different := [key for key in how if before.get(key) != how[key]]:
            raise GradeError(f"{out} is the folder of a grading with another {', '.join(different)}: name a new one")

    def judged(self, found, accepted):
        """(verdict, text) of an answer. A pass with something that cannot be excluded waits for a person."""
        verdict, text = VERDICTS.get(found["verdict"], grade.FAILED), found["text"]
        if verdict == grade.PASSED and found["for_a_person"] and not accepted:
            return FOR_A_PERSON, " ".join(found["for_a_person"])
        return verdict, text

    def enter(self, name, taken=None, found=None, error=""):
        """Writes the score and the feedback of a learner; with an `error` there is no score."""
        factor, late, note = self.roster.late(name)
        row = self.roster.rows.get(name)
        learner = Learner(name, error=error, ident=row.ident if row else "", late=late, factor=factor)
        words = {}
        if not error:
            for key in self.exercises:
                if key in taken.refused:
                    learner.verdicts[key], words[key] = REFUSED, taken.refused[key]
                elif key in taken.not_started:
                    learner.verdicts[key] = grade.NOT_STARTED
                elif key in found:
                    learner.verdicts[key], words[key] = self.judged(found[key], key in taken.accepted)
                else:
                    learner.verdicts[key] = grade.NOT_RUN
            learner.notes = [f"{'/'.join(key)} is {verdict}: {words[key]}" for key, verdict in learner.verdicts.items()
                             if verdict in (REFUSED, FOR_A_PERSON, NOT_JUDGED)]
            learner.notes += taken.notes
        learner.notes += [note] if note else []
        if self.roster.rows and row is None:
            learner.notes.append("not in the roster")
        self.learners[name] = learner
        folder = self.out / "learners" / name
        folder.mkdir(parents=True, exist_ok=True)
        replace(folder / "feedback.md", self.feedback(learner, words))
        replace(folder / "score.json", self.score(learner, words))
        self.write()

    def feedback(self, learner, words):
        """The text of a learner's feedback file."""
        title = f"# {grade.shown(learner.name)}{f' ({grade.shown(learner.ident)})' if learner.ident else ''}"
        if learner.error:
            return f"{title}\n\nThere is no score:\n\n{lines_of(learner.error)}\n"
        total = f"**{grade.number(grade.score(learner, self.points))} of {grade.number(sum(self.points.values()))} points**"
        parts = [title, total + (f" ({learner.late})" if learner.late else "")]
        for key, verdict in learner.verdicts.items():
            worth = self.points[key] if verdict == grade.PASSED else 0
            parts.append(f"## {'/'.join(key)}: {verdict}, {grade.number(learner.factor * worth)} of {grade.number(self.points[key])}")
            text = words.get(key) or NO_WORDS.get(verdict, "")
            if verdict in (REFUSED, FOR_A_PERSON):
                text += "\nA person reads it before it can have points."
            parts.append(lines_of(text))
        return "\n\n".join(parts) + "\n"

    def score(self, learner, words):
        """The text of a learner's score.json: as in scores.json, with what the checks said."""
        score = json.loads(grade.as_json([learner], self.points))["learners"][0]
        for each in score.get("exercises", []):
            key = each["chapter"], each["exercise"]
            each["text"] = "\n".join(grade.shown(line) for line in (words.get(key) or NO_WORDS.get(each["verdict"], "")).splitlines())
        return json.dumps(score, indent=1) + "\n"

    def write(self):
        """scores.csv and scores.json of those who have a score by now."""
        learners = [self.learners[name] for name in sorted(self.learners)]
        new = self.out / "scores.csv.new"
        with open(new, "w", encoding="utf-8", newline="") as out:
            grade.write_csv(out, learners, self.points)
        os.replace(new, self.out / "scores.csv")
        replace(self.out / "scores.json", grade.as_json(learners, self.points))

    def close(self, handed_in):
        """Enters those of the roster of whom there is nothing, prints the table, and returns the exit code."""
        for name in self.roster.rows:
            if name not in handed_in:
                learner = Learner(name, {key: grade.NOT_RUN for key in self.exercises}, ["nothing was handed in"],
                                  ident=self.roster.rows[name].ident)
                self.learners[name] = learner
        self.write()
        code = grade.report([self.learners[name] for name in sorted(self.learners)], self.points)
        return 1 if any(NOT_JUDGED in learner.verdicts.values() for learner in self.learners.values()) else code
