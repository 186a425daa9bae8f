"""The grade book that grows, what late answers are worth, wrong input, and what platforms get."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time
import unittest
from datetime import timedelta
from unittest import mock

from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import course_copy, grade, grade_submissions, platforms, progress, submissions
from tools.teach.gradebook import Gradebook, the_only_one, without_places
from tools.teach.regular import GradeError
from tools.teach.roster import LateRule, Roster, Row, moment, read_roster
from tools.tests.in_folder import InFolder

READS = ("exercises", "solutions")

CHAPTER = "01-global-atomic"
NAMES = ["lost_update", "ticket", "word_count"]
EXERCISES = [(CHAPTER, name) for name in NAMES]
LATER = [("03-shared-reduce", "block_max")]
TOOLS = TOP / "common/tools/teach"
MEASURE = {"passed": 9, "failed": 0, "skipped": 0, "comparisons": 760}
TICKET = f"{CHAPTER}/ticket"


class Late(InFolder):
    def test_rules(self):
        deadline = moment("2027-03-01T23:59+01:00", "x")
        rule = LateRule.parse("10/3")
        for late, factor in ((-1, 1), (0, 1), (1, 0.9), (24, 0.9), (25, 0.8), (72, 0.7), (73, 0)):
            self.assertAlmostEqual(rule.judge(deadline + timedelta(hours=late), deadline)[0], factor, msg=late)
        self.assertEqual(LateRule().judge(deadline + timedelta(seconds=1), deadline), (0.0, "1 day late: 0 % of the points count"))
        for text in ("10", "x/3", "101/3", "-1/3", "10/-1"):
            with self.assertRaises(Failed, msg=text):
                LateRule.parse(text)
        for text in ("2027-03-01T23:59", "soon"):
            with self.assertRaises(Failed, msg=text):
                moment(text, "x")

    def test_a_roster(self):
        file = self.write("roster.csv", "\ufefflearner,id,submitted,deadline\nada,007,2027-03-02T00:00Z,2027-03-03T00:00Z\nbob,8,2027-03-02T00:00Z,\neve,9,,\n")
        roster = Roster(read_roster(file), moment("2027-03-01T00:00Z", "x"), LateRule(25, 4))
        self.assertEqual(roster.late("ada"), (1.0, "", ""))  # a deadline of her own
        self.assertEqual(roster.late("bob")[0], 0.75)
        self.assertIn("no time of submission", roster.late("eve")[2])
        self.assertEqual(roster.rows["ada"].ident, "007")
        for text, reason in {
            "learner,id\nada,1\nada,2\n": "csv:3: the learner 'ada' is also in line 2", "learner,id\n,1\n": "csv:2: no learner",
            "learner,id\nada,1\nbob,1\n": "csv:3: bob has the id 1, which ada has in line 2", "id\n1\n": "first line names the columns",
            "": "first line names the columns", "learner,id\n": "names no learner",
        }.items():
            with self.assertRaisesRegex(Failed, reason, msg=text):
                read_roster(self.write("other.csv", text))
        with self.assertRaisesRegex(Failed, "none.csv: No such file"):
            read_roster(self.folder / "none.csv")

    def test_a_roster_as_spreadsheets_save_it(self):
        text = "learner;id;submitted\r\nAda Lovelace;007;2027-03-02T00:00Z\r\n;;\r\nbob;;\r\neve;;\r\n"
        for data in (text.encode("utf-8-sig"), text.encode("utf-16"), text.replace(";", "\t").encode(), text.replace("\r\n", "\r").encode()):
            rows = read_roster(self.write("roster.csv", data))
            self.assertEqual({name: row.ident for name, row in rows.items()}, {"Ada Lovelace": "007", "bob": "", "eve": ""})


def found(verdict, text="said", for_a_person=(), **checks):
    return {"verdict": verdict, "reason": text, "text": text, "checks": {**MEASURE, **checks}, "schedules": 4, "transcript": "",
            "skips": [], "object": None, "for_a_person": list(for_a_person)}


class Book(InFolder):
    def book(self, roster=None, exercises=EXERCISES, points=2.0, **how):
        return Gradebook(self.folder / "out", exercises, {key: points for key in exercises} if points else {}, roster or Roster(),
                         {"course": "c", "device": "cpu", "isolated": True, **how})

    def enter(self, book, name, *verdicts, accepted=(), doubts=(), text="x", **checks):
        keys = book.exercises[:len(verdicts)]
        taken = submissions.Taken(texts={key: text for key in keys}, accepted=set(accepted), digests={key: text for key in keys},
                                  for_a_person={key: list(doubts) for key in keys}, sources={key: f"the text of {key[1]}" for key in keys})
        book.enter(name, taken, {key: found(verdict, **checks) for key, verdict in zip(keys, verdicts)})

    def scores(self):
        with open(self.folder / "out/scores.csv", newline="") as file:
            return {row["learner"]: row for row in csv.DictReader(file)}

    def feedback(self, name):
        return (self.folder / f"out/learners/{name}/feedback.md").read_text()

    def close(self, book, *names):
        out, errors = io.StringIO(), io.StringIO()
        with mock.patch("sys.stdout", out), mock.patch("sys.stderr", errors):
            code = book.close(set(names))
        return code, out.getvalue(), errors.getvalue()

    def test_a_score_is_there_as_soon_as_it_is_known(self):
        book = self.book()
        self.enter(book, "ada", "passed", "failed")
        self.assertEqual(list(self.scores()), ["ada"])
        self.assertEqual(self.scores()["ada"]["points"], "2")
        self.enter(book, "bob", "passed", "passed", "timed_out")
        self.assertEqual(self.scores()["bob"]["points"], "4")
        self.assertIn("**4 of 6 points**", self.feedback("bob"))
        self.assertIn(f"## {CHAPTER}/word_count: no end, 0 of 2\n\n    said\n    \n    edit:  exercises/{CHAPTER}/word_count.cuh\n"
                      "    rerun: ./course check word_count\n", self.feedback("bob"))
        self.assertEqual(list(self.scores()["ada"]), ["learner", "points", "of", "percent", "error", "notes", *map("/".join, EXERCISES)])

    def test_another_list_loses_no_row(self):
        self.enter(self.book(), "ada", "passed", "passed", "passed")
        self.enter(self.book(points=None), "bob", "failed")
        self.assertEqual({name: row["points"] for name, row in self.scores().items()}, {"ada": "6", "bob": "0"})
        self.enter(self.book(points=None), "ada", "passed", "failed", "passed")
        self.assertEqual(self.scores()["ada"]["points"], "4")

    def test_more_exercises_are_more_columns(self):
        book = self.book()
        self.enter(book, "ada", "passed", "passed", "passed")
        self.enter(book, "bob", "passed")
        later = self.book(exercises=LATER, points=None, course="d")
        self.enter(later, "ada", "passed")
        row, other = self.scores()["ada"], self.scores()["bob"]
        self.assertEqual((row["points"], row["of"], row["03-shared-reduce/block_max"]), ("7", "7", "1"))
        self.assertEqual((other["points"], other["of"], other["03-shared-reduce/block_max"]), ("2", "7", ""))
        self.assertIn("not graded yet: 03-shared-reduce/block_max", other["notes"])
        self.assertIn(f"graded with version c of the course: {CHAPTER}/lost_update", row["notes"])
        self.assertIn("Checked with version c and d of the course.", self.feedback("ada"))

    def test_weights_are_those_of_the_columns(self):
        self.enter(self.book(), "ada", "passed", "passed")
        self.book(points=0.5)
        self.assertEqual((self.scores()["ada"]["points"], self.scores()["ada"]["of"]), ("1", "1.5"))
        self.assertIn("**1 of 1.5 points**", self.feedback("ada"))
        self.book(points=None)
        self.assertEqual(self.scores()["ada"]["points"], "1", "a grading that names no points keeps them")

    def test_what_is_known_is_kept(self):
        book = self.book()
        self.enter(book, "ada", "passed", "failed", text="digest")
        again = self.book(course="d")
        self.assertEqual(again.known("ada"), {EXERCISES[0]: "digest", EXERCISES[1]: "digest"})
        again.enter("ada", submissions.Taken(kept=set(EXERCISES[:2]), digests={EXERCISES[2]: "new"}, texts={EXERCISES[2]: "x"}),
                    {EXERCISES[2]: found("passed")})
        self.assertEqual(self.scores()["ada"]["points"], "4")
        entries = again.entries("ada")
        self.assertEqual([entries[key]["course"] for key in EXERCISES], ["c", "c", "d"])

    def test_what_is_not_in_a_later_submission_keeps_its_score(self):
        book = self.book()
        self.enter(book, "ada", "passed", "passed")
        book.enter("ada", submissions.Taken(missing={EXERCISES[0]}, kept={EXERCISES[1]}), {})
        self.assertEqual(self.scores()["ada"]["points"], "4")
        self.assertIn("lost_update is not in what was handed in last", self.scores()["ada"]["notes"])

    def test_a_submission_that_cannot_be_read_takes_no_score(self):
        book = self.book()
        self.enter(book, "ada", "passed")
        book.enter("ada", error="it is broken")
        book.enter("eve", error="it is broken")
        rows = self.scores()
        self.assertEqual((rows["ada"]["points"], rows["ada"]["error"]), ("2", "it is broken"))
        self.assertEqual((rows["eve"]["points"], rows["eve"]["of"], rows["eve"]["error"]), ("", "", "it is broken"))
        code, table, errors = self.close(self.book(), "ada", "eve")
        self.assertEqual(code, 1)
        self.assertIn("eve: it is broken", errors)
        self.assertRegex(table, r"(?m)^eve +ERROR$")

    def test_not_judged_is_no_zero(self):
        book = self.book()
        self.enter(book, "ada", "passed", "not_judged")
        row = self.scores()["ada"]
        self.assertEqual((row["points"], row[f"{CHAPTER}/lost_update"], row[TICKET]), ("2", "2", ""))
        self.assertIn(f"{TICKET} is not judged: said", row["notes"])
        self.assertIn(f"## {TICKET}: not judged, 2 points are open\n\n    said\n    That is no fault of this answer.", self.feedback("ada"))
        self.assertEqual(self.book().known("ada"), {EXERCISES[0]: "x"}, "it is judged again")
        code, _, errors = self.close(self.book(), "ada")
        self.assertEqual(code, 1)
        self.assertIn(f"ada: not judged: {TICKET}. The same command judges again.", errors)

    def test_a_person_looks_at_what_cannot_be_excluded(self):
        book = self.book()
        self.enter(book, "ada", "passed", "failed", doubts=["line 7 writes through a pointer."])
        row = self.scores()["ada"]
        self.assertEqual((row["points"], row[f"{CHAPTER}/lost_update"], row[TICKET]), ("0", "", "0"))
        self.assertIn("    line 7 writes through a pointer.\n    A person will look at this. It has no points until then.", self.feedback("ada"))
        self.assertEqual(row["notes"].split("; ")[0], f"{CHAPTER}/lost_update is for a person: line 7 writes through a pointer.")
        code, table, _ = self.close(book, "ada")
        self.assertEqual(code, 0)
        file = self.folder / f"out/learners/ada/to-read/{CHAPTER}/lost_update.cuh"
        self.assertIn("1 answer waits for a person.", table)
        self.assertIn(f"  --accept ada/{CHAPTER}/lost_update\n      {file}\n", table)
        self.assertEqual(file.read_text(), "the text of lost_update")
        self.enter(book, "bob", "passed", for_a_person=["The check did not end with its line."])
        self.assertIn("    The check did not end with its line.\n    A person will look at this.", self.feedback("bob"))
        self.assertNotIn("accepted", self.feedback("ada") + self.scores()["ada"]["notes"])
        self.enter(book, "ada", "passed", "failed", doubts=["line 7 writes through a pointer."], accepted=[EXERCISES[0]])
        self.assertEqual(self.scores()["ada"]["points"], "2")
        self.assertTrue(self.book().entries("ada")[EXERCISES[0]]["accepted"])
        self.assertIn(f"## {CHAPTER}/lost_update: passed, 2 of 2\n\n    said\n\nIt counts because a person has read it and accepted it.\n", self.feedback("ada"))
        self.assertIn(f"{CHAPTER}/lost_update counts because a person has read it and accepted it", self.scores()["ada"]["notes"])
        self.assertFalse((self.folder / "out/learners/ada/to-read").exists(), "nothing is left to read")
        self.enter(book, "ada", "failed", "failed", accepted=[EXERCISES[0]])
        self.assertNotIn("It counts", self.feedback("ada"))
        self.assertNotIn("--accept", self.close(self.book(), "ada")[1])

    def test_roster_and_late(self):
        rows = {"ada": Row("=7", moment("2027-03-01T01:00Z", "x")), "zoe": Row("8")}
        book = self.book(Roster(rows, moment("2027-03-01T00:00Z", "x"), LateRule(50, 1)))
        self.enter(book, "ada", "passed", "passed", "passed")
        self.enter(book, "eve", "passed")
        self.assertEqual(self.close(book, "ada", "eve")[0], 0)
        rows = self.scores()
        self.assertEqual((rows["ada"]["id"], rows["ada"]["points"], rows["ada"][TICKET]), ("'=7", "3", "1"))
        self.assertEqual(rows["ada"]["late"], "1 day late: 50 % of the points count")
        self.assertIn("not in the roster", rows["eve"]["notes"])
        self.assertEqual((rows["zoe"]["points"], rows["zoe"]["notes"]), ("0", "nothing was handed in"))
        later = self.book(exercises=LATER, points=None)  # in time, another week, and without the roster
        self.enter(later, "ada", "passed")
        ada = self.scores()["ada"]
        self.assertEqual((ada["id"], ada["points"]), ("'=7", "4"))
        self.assertEqual(ada["late"], f"{', '.join(map('/'.join, EXERCISES))}: 1 day late: 50 % of the points count")

    def test_what_a_learner_of_the_roster_has_not_handed_in_this_week_is_named(self):
        roster = Roster({name: Row(name) for name in ("ada", "bob")})
        self.enter(self.book(roster), "ada", "passed", "failed")
        week = [*EXERCISES[1:], *LATER]
        self.close(self.book(roster, exercises=week, points=None))
        self.assertEqual(self.scores()["ada"]["notes"], f"not handed in: {CHAPTER}/word_count, 03-shared-reduce/block_max")
        self.assertEqual(self.scores()["bob"]["notes"].split("; ")[0], "nothing was handed in")
        self.close(self.book(roster, exercises=EXERCISES[:2], points=None))
        self.assertNotIn("not handed in", self.scores()["ada"]["notes"], "both of this list were there")

    def test_one_id_in_two_rows_is_said_and_can_be_mended(self):
        def week(name, exercises):
            book = self.book(Roster({name: Row("007")}), exercises=exercises, points=None)
            self.enter(book, name, "passed")
            return self.close(book, name)

        self.assertEqual(week("ada", EXERCISES[:1])[2], "")
        code, _, errors = week("Ada Lovelace", LATER)
        self.assertEqual(errors, "grade_submissions.py: the id 007 is in 2 rows, 'Ada Lovelace' and 'ada': give this learner one name, as "
                         "common/docs/grading.md says\n")
        self.assertEqual((code, sorted(self.scores())), (0, ["Ada Lovelace", "ada"]))
        shutil.rmtree(self.folder / "out/learners/Ada Lovelace")  # as that page says
        (self.folder / "out/learners/ada").rename(self.folder / "out/learners/Ada Lovelace")
        self.assertEqual(week("Ada Lovelace", LATER)[2], "")
        self.assertEqual({name: row["points"] for name, row in self.scores().items()}, {"Ada Lovelace": "2"})
        self.assertIn("# Ada Lovelace (007)", self.feedback("Ada Lovelace"))

    def test_names_that_look_alike_are_said(self):
        names = ["Zo\u00eb", "Zoe\u0308", "ada", "Ada ", "bob", "bobby"]
        book = self.book()
        for name in names:
            self.enter(book, name, "passed")
        code, _, errors = self.close(book, *names)
        self.assertEqual(code, 0)
        first, second = errors.splitlines()
        self.assertIn("the names 'Ada ' and 'ada' look alike, and each has a row of its own", first)
        self.assertIn("the names 'Zoe\u0308' and 'Zo\u00eb' look alike", second)

    def test_one_and_several(self):
        self.assertEqual([grade.count(value, "point") for value in (0, 0.5, 1.0, 2)], ["0 points", "0.5 points", "1 point", "2 points"])
        book = self.book(exercises=EXERCISES[:1], points=1.0)
        self.enter(book, "ada", "not_judged")
        self.assertIn("**0 of 1 point**", self.feedback("ada"))
        self.assertIn("not judged, 1 point is open", self.feedback("ada"))
        self.assertIn("scores.csv: 1 learner, 1 exercise\n", self.close(book, "ada")[1])

    def test_an_answer_that_has_not_changed_keeps_the_better_mark(self):
        first, second = (moment(f"2027-03-0{day}T00:00Z", "x") for day in (1, 8))

        def grade_again(submitted, deadline, verdicts=()):
            rows = {"ada": Row("7", submitted and moment(submitted, "x"), None)}
            book = self.book(Roster(rows, deadline, LateRule(50, 1)), points=None)
            if verdicts:
                self.enter(book, "ada", *verdicts)
            else:
                book.enter("ada", submissions.Taken(kept={EXERCISES[0]}), {})
            return self.scores()["ada"]["points"]

        self.assertEqual(grade_again(None, None, ["passed"]), "1")
        self.assertEqual(grade_again("2027-03-01T01:00Z", first), "0.5", "the deadline was forgotten")
        self.assertEqual(grade_again(None, None), "0.5", "a grading without a deadline changes no mark")
        self.assertEqual(grade_again("2027-02-28T01:00Z", first), "1", "the time was wrong")
        self.assertEqual(grade_again("2027-03-08T01:00Z", second), "1", "it was there in the first week")
        self.assertEqual(grade_again("2027-03-08T01:00Z", second, ["passed"]), "0.5", "a new answer")
        self.assertEqual(grade_again("2027-03-08T01:00Z", moment("2027-03-09T00:00Z", "x")), "1", "more time was given")

    def test_a_roster_takes_no_score_of_who_is_not_in_this_list(self):
        roster = Roster({"ada": Row("7"), "bob": Row("8")})
        self.enter(self.book(roster), "ada", "passed")
        book = self.book(roster)
        self.enter(book, "bob", "passed")
        self.close(book, "bob")
        self.assertEqual(self.scores()["ada"]["points"], "2")

    def test_feedback_holds_what_a_learner_prints(self):
        book = self.book()
        taken = submissions.Taken(texts={EXERCISES[0]: "x"})
        book.enter("ada", taken, {EXERCISES[0]: found("failed", "```\n# of 100 points\n\x1b[31m")})
        self.assertIn("    ```\n    # of 100 points\n    \\x1b[31m\n", self.feedback("ada"))

    def test_a_name_that_no_one_can_print(self):
        name = "\udcff\n=1"
        book = self.book()
        self.enter(book, name, "passed", doubts=["\ud800"])
        book.enter("ada", error=f"there is {name}")
        code, table, errors = self.close(book, name, "ada")
        (table + errors).encode()
        self.assertIn(r"--accept '\udcff\n=1/", table)
        self.assertEqual(sorted(self.scores()), [r"\udcff\n=1", "ada"])
        self.assertEqual(sorted(self.book().rows), sorted([name, "ada"]))

    def test_feedback_has_a_reason_and_no_path_of_the_machine(self):
        book = self.book()
        book.enter("ada", submissions.Taken(texts={EXERCISES[0]: "x"}), {EXERCISES[0]: found("failed", "")})
        self.assertIn("    The check did not pass, and printed no reason.\n", self.feedback("ada"))
        for text, short in {
            f"/tmp/grade-x1/exercises/{CHAPTER}/ticket.cuh:7: error": f"exercises/{CHAPTER}/ticket.cuh:7: error",
            f"in {TOP}/common/include/course/exercise.cuh": "in common/include/course/exercise.cuh",
            "from /usr/include/c++/12/bits/stl_vector.h:3": "from bits/stl_vector.h:3",
            "see https://example.org/a/b, 1 / 2 / 3, // a/b, a/b/c and <cub/cub.cuh>": "see https://example.org/a/b, 1 / 2 / 3, // a/b, a/b/c and <cub/cub.cuh>",
        }.items():
            self.assertEqual(without_places(text), short)

    def test_a_folder_that_is_no_grade_book(self):
        self.write("full/x", "x")
        with self.assertRaisesRegex(GradeError, "not empty"):
            Gradebook(self.folder / "full", EXERCISES, {}, Roster(), {})
        self.write("old/grading.json", '{"course": "c", "exercises": ["01-global-atomic/ticket"]}')
        with self.assertRaisesRegex(GradeError, "another version of this program"):
            Gradebook(self.folder / "old", EXERCISES, {}, Roster(), {})

    def test_a_file_of_scores_that_is_damaged_is_named_and_kept(self):
        self.enter(self.book(), "ada", "passed")
        file = self.folder / "out/learners/ada/score.json"
        for text in (file.read_text()[:100], "[]"):
            file.write_text(text)
            with self.assertRaisesRegex(GradeError, "learners/ada/score.json holds scores, and cannot be read"):
                self.book()
            self.assertEqual(file.read_text(), text)

    def test_two_gradings_of_one_folder_take_turns(self):
        code = ("import sys, time, pathlib; from tools.teach.gradebook import the_only_one\n"
                "with the_only_one(pathlib.Path(sys.argv[1])): print('in', flush=True); sys.stdin.read()")
        environment = {**os.environ, "PYTHONPATH": str(TOP / "common")}
        first = subprocess.Popen([sys.executable, "-c", code, self.folder / "out"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
        self.addCleanup(first.stdout.close)
        self.assertEqual(first.stdout.readline(), "in\n")
        second = subprocess.Popen([sys.executable, "-c", code, self.folder / "out"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment, text=True)
        self.assertRegex(second.stderr.readline(), rf"another grading \(process {first.pid}, since .*\) writes to .*: waiting for its end")
        self.assertIsNone(second.poll())
        first.stdin.close()
        self.assertEqual((first.wait(), second.communicate()[0]), (0, "in\n"))
        with the_only_one(self.folder / "out"):
            pass


class Arguments(InFolder):
    def test_wrong_ones_are_one_line_each(self):
        for name in ("a/ada", "b/ada"):
            self.write(f"{name}/ticket.cuh", "int one();\n")
        (self.folder / "none").mkdir()
        ada, roster = self.folder / "a/ada", self.write("roster.csv", "name\nada\n")
        points = self.write("points.json", '{"01-global": 1}')
        for arguments, reason in {
            (): "no submission is named",
            (self.folder / "submissions/*",): "there is no such file or folder",
            (ada, self.folder / "b/ada"): "both called 'ada'",
            ("--chapters", "77-x", ada): "there is no chapter 77-x",
            ("--chapters", "01-global-atomics", ada): "Is 01-global-atomic meant?",
            ("--exercises", "tickets", ada): "there is no exercise tickets. Is ticket meant?",
            ("--chapters", "03", "--exercises", "ticket", ada): "no exercise is in both",
            ("--deadline", "tomorrow", ada): "is no time",
            ("--roster", roster, ada): "names the columns",
            ("--points", points, ada): "there is no chapter and no exercise '01-global'",
            ("--jobs", "0", ada): "above 0",
            ("--accept", "ada", ada): "it is LEARNER/CHAPTER/EXERCISE",
            ("--accept", f"eda/{TICKET}", ada): "there is no learner eda. Is ada meant?",
            ("--accept", f"ada/{CHAPTER}/tickt", ada): f"there is no exercise {CHAPTER}/tickt. Is {TICKET} meant?",
            ("--chapters", "03", "--accept", f"ada/{TICKET}", ada): f"there is no exercise {TICKET}",
            ("--regrade", "zoe", ada): "there is no learner zoe",
            ("--regrade", f"{CHAPTER}/tickt", ada): "there is no exercise",
        }.items():
            done = subprocess.run([sys.executable, str(TOOLS / "grade_submissions.py"), "--out", str(self.folder / "out"), *map(str, arguments)],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(reason, done.stderr)
        self.assertFalse((self.folder / "out/scores.csv").exists())

    def test_what_regrade_and_accept_name(self):
        def names(option, *texts):
            return grade_submissions.chosen(texts, option, ["ada", "bob"], EXERCISES)

        self.assertEqual(names("--regrade", "ada", f"bob/{TICKET}", TICKET), [("ada", None), ("bob", EXERCISES[1]), (None, EXERCISES[1])])
        self.assertEqual(names("--accept", f"bob/{TICKET}"), [("bob", EXERCISES[1])])

    def test_chapters_by_number(self):
        self.assertEqual({chapter for chapter, _ in grade_submissions.chosen_exercises(grade_submissions.parse(["--out", "x", "--chapters", "01, 03"]))},
                         {CHAPTER, "03-shared-reduce"})


class Again(InFolder):
    """Which answers are judged, and which keep their score."""

    def grade(self, *arguments, verdict="passed", course="c"):
        options = grade_submissions.parse(["--out", str(self.folder / "out"), *arguments, str(self.folder / "ada")])
        learners = grade_submissions.learners_of(options, EXERCISES)
        book = Gradebook(self.folder / "out", EXERCISES, {}, Roster(), {"course": course, "device": "cpu", "isolated": True})
        self.judged = []

        class Judge(grade_submissions.Judge):
            def judge(judge, chapter, name, text):
                self.judged.append(name)
                judge.file_of(chapter, name, text).parent.mkdir(parents=True, exist_ok=True)
                judge.file_of(chapter, name, text).write_text(json.dumps(found(verdict)))
                return found(verdict)

        judge = Judge(self.folder, self.folder / "out/answers" / course, 60, True)
        with mock.patch.object(submissions, "read_answer", self.read_answer), mock.patch("sys.stderr", io.StringIO()) as errors:
            graded = grade_submissions.Class(options, learners, EXERCISES, judge, book)
            graded.solutions = {}
            self.has_work = graded.has_work()
            graded.run()
        self.said = errors.getvalue()
        return {key[1]: each["verdict"] for key, each in book.entries("ada").items()}

    def setUp(self):
        super().setUp()
        self.reads, self.refused = [], []
        self.write("ada/ticket.cuh", "int one();\n")
        self.write("ada/word_count.cuh", "int two();\n")

    def read_answer(self, chapter, name, text):
        self.reads.append(name)
        return self.refused, []

    def test_each_reason_to_judge(self):
        expected = {"lost_update": "not run", "ticket": "passed", "word_count": "passed"}
        self.assertEqual(self.grade(), expected)
        self.assertEqual((self.judged, self.reads), (["ticket", "word_count"], ["ticket", "word_count"]))
        self.assertIn("\n1 learner, 2 answers to judge, 0 known from before\n", self.said)
        self.assertEqual(self.grade(course="d"), expected)
        self.assertEqual((self.judged, self.has_work, len(self.reads)), ([], False, 2), "another version judges nothing unasked")
        self.assertIn("\n1 learner, 0 answers to judge, 2 known from before\n", self.said)
        self.assertEqual(self.grade("--regrade", TICKET, course="d")["ticket"], "passed")
        self.assertEqual(self.judged, ["ticket"])
        self.assertEqual(self.grade("--regrade", "ada", course="d", verdict="failed"), {**expected, "ticket": "failed", "word_count": "failed"})
        self.assertEqual(sorted(self.judged), ["ticket", "word_count"])
        self.write("ada/ticket.cuh", "int new_one();\n")
        self.assertEqual(self.grade(course="d"), {**expected, "word_count": "failed"})
        self.assertEqual(self.judged, ["ticket"])

    def test_what_was_not_judged_is_judged_again(self):
        self.assertEqual(self.grade(verdict="not_judged")["ticket"], "not judged")
        for file in (self.folder / "out/answers").rglob("*.json"):
            file.unlink()  # nothing of it is kept
        self.assertEqual(self.grade()["ticket"], "passed")

    def test_what_is_accepted_stays_accepted_until_it_changes(self):
        self.refused = ["line 1 uses exit"]
        self.assertEqual(self.grade()["ticket"], "refused")
        self.assertEqual(self.grade("--accept", f"ada/{TICKET}")["ticket"], "passed")
        self.assertEqual((self.grade()["ticket"], self.judged), ("passed", []))
        self.assertEqual(self.grade("--regrade", "ada")["ticket"], "passed")
        self.write("ada/ticket.cuh", "int other();\n")
        self.assertEqual(self.grade()["ticket"], "refused")


class Course(InFolder):
    """The copy of the course is made once for a version, and built further for more chapters."""

    def build(self, commit, *chapters, fails=None):
        course, commands = self.folder / "course", []

        def run(command, folder, log, progress):
            commands.append(" ".join(map(str, command)))
            course.mkdir(exist_ok=True)
            return int(fails is not None and fails in commands[-1])

        with mock.patch.object(course_copy, "run_logged", run), mock.patch("sys.stderr"):
            course_copy.build_course(course, commit, [(chapter, "x") for chapter in chapters], "cpu", self.folder / "log")
        return commands

    def test_only_what_is_new_is_built(self):
        first = self.build("c", "01-a")
        self.assertEqual(len(first), 3)
        self.assertTrue(first[1].endswith("meson setup build -Ddevice=cpu -Dchapters=01-a"), first)
        self.assertEqual(self.build("c", "01-a"), [])
        more = self.build("c", "02-b")
        self.assertEqual(len(more), 2)
        self.assertTrue(more[0].endswith("meson setup --reconfigure build -Ddevice=cpu -Dchapters=01-a,02-b"), more)
        self.assertEqual(self.build("c", "02-b", "01-a"), [])
        (self.folder / "course/old").touch()
        self.assertEqual(len(self.build("d", "01-a")), 3)
        self.assertFalse((self.folder / "course/old").exists(), "another version is made anew")

    def test_what_did_not_build_is_built_again(self):
        with self.assertRaisesRegex(Failed, "the course itself does not build: see .*log"):
            self.build("c", "01-a", fails="ninja")
        self.assertEqual(len(self.build("c", "01-a")), 3)


class Showing(unittest.TestCase):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def test_a_terminal_has_one_line(self):
        out = self.Terminal()
        with mock.patch.object(progress, "TICK_SECONDS", 0.02), mock.patch.dict(os.environ, TERM="xterm", COLUMNS="120"):
            with progress.Progress("judging answers", 8, out) as shown:
                shown.start -= 60
                shown.start_of_steps -= 60
                shown.step(2, "ticket of ada")
                end = time.monotonic() + 5
                while "2 of 8" not in out.getvalue() and time.monotonic() < end:
                    time.sleep(0.02)
        self.assertIn("\r\033[Kjudging answers: 2 of 8 (60 s), about 3 min left: ticket of ada", out.getvalue())
        self.assertTrue(out.getvalue().endswith("\r\033[K"))
        self.assertNotIn("\n", out.getvalue())

    def test_elsewhere_a_line_now_and_then(self):
        out = io.StringIO()
        shown = progress.Progress("judging answers", 8, out)
        for after in (1, 4.9, 5.1, 9, 10.4, 20, 22, 30, 46, 70, 80):
            shown.start = shown.start_of_steps = time.monotonic() - after
            shown.step(2, "ticket of ada")
            shown.show()
        self.assertEqual([line.partition(")")[0] for line in out.getvalue().splitlines()],
                         [f"judging answers: 2 of 8 ({seconds} s" for seconds in (5, 10, 22, 46, 80)])
        self.assertTrue(out.getvalue().splitlines()[0].endswith(": ticket of ada"))

    def test_a_line_comes_also_while_no_step_does(self):
        out = io.StringIO()
        with mock.patch.object(progress, "TICK_SECONDS", 0.02), mock.patch.object(progress, "FIRST_LINE_SECONDS", 0.1):
            with progress.Progress("building the course", out=out):
                end = time.monotonic() + 5
                while out.getvalue().count("\n") < 2 and time.monotonic() < end:
                    time.sleep(0.02)
        self.assertEqual(out.getvalue().splitlines()[:2], ["building the course ...", "building the course (1 s)"])


class Platforms(InFolder):
    SCORE = {"points": 1.0, "of": 3.0, "remarks": ["a note"], "exercises": [
        {"chapter": CHAPTER, "exercise": "ticket", "verdict": grade.PASSED, "points": 1.0, "of": 1.0, "text": "all passed"},
        {"chapter": CHAPTER, "exercise": "word_count", "verdict": grade.FAILED, "points": 0, "of": 2.0, "text": "found 3"}]}

    def with_points(self, *points):
        return {**self.SCORE, "exercises": [{**each, "points": value, "of": value} for each, value in zip(self.SCORE["exercises"], points)]}

    def test_gradescope(self):
        written = platforms.for_gradescope(self.SCORE)
        self.assertEqual((written["score"], written["output"], [(t["score"], t["max_score"], t["status"]) for t in written["tests"]]),
                         (1.0, "a note", [(1.0, 1.0, "passed"), (0, 2.0, "failed")]))
        self.assertIn("found 3", written["tests"][1]["output"])
        self.assertEqual((platforms.for_gradescope(None)["score"], platforms.for_gradescope(None)["output"]), (0, platforms.BROKEN))
        open_one = {**self.SCORE["exercises"][0], "verdict": grade.FOR_A_PERSON, "points": None, "text": "A person will look at this"}
        written = platforms.for_gradescope({**self.SCORE, "exercises": [open_one]})
        self.assertEqual((written["tests"][0]["score"], written["tests"][0]["output"]), (0, "for a person\n\nA person will look at this"))
        unread = platforms.for_gradescope({"of": 3.0, "error": "there is notes.txt", "remarks": []})
        self.assertEqual((unread["score"], unread["tests"][0]["max_score"]), (0, 3.0))
        self.assertIn("there is notes.txt", unread["tests"][0]["output"])

    def classroom(self, score):
        with mock.patch.dict(os.environ, CLASSROOM="c", ASSIGNMENT="a", SUBMISSION_TAG="t", COMMIT_URL="u", RELEASE_URL="r"), mock.patch("sys.stderr"):
            return platforms.for_classroom50(score)

    def test_classroom50(self):
        written = self.classroom(self.SCORE)
        self.assertEqual((written["schema"], written["classroom"], written["assignment"], written["submission"], written["review"]),
                         ("classroom50/result/v1", "c", "a", "t", "u"))
        self.assertEqual((written["score"], written["max-score"]), (1, 3))
        self.assertEqual([(t["test-name"], t["passed"]) for t in written["tests"]],
                         [(f"{CHAPTER}/ticket", True), (f"{CHAPTER}/word_count", False)])
        unread = self.classroom({"of": 3.0, "error": "there is notes.txt", "remarks": []})
        self.assertEqual((unread["score"], unread["max-score"]), (0, 3))

    def test_classroom50_takes_whole_numbers(self):
        for points, expected in {(0.5, 1): [1, 2], (0.25, 0.1): [5, 2], (1, 3): [1, 3]}.items():
            written = self.classroom(self.with_points(*points))
            self.assertEqual([test["max-score"] for test in written["tests"]], expected)
            self.assertEqual((written["score"], written["max-score"]), (sum(expected), sum(expected)))
            self.assertTrue(all(isinstance(test["score"], int) for test in written["tests"]))
        with self.assertRaisesRegex(SystemExit, "takes whole numbers: 0.3333, 1 points"):
            self.classroom(self.with_points(1 / 3, 1))

    def test_what_is_not_judged_is_no_score(self):
        unjudged = {**self.SCORE, "exercises": [{**self.SCORE["exercises"][0], "verdict": grade.NOT_JUDGED, "points": None}]}
        self.assertIsNone(self.classroom(unjudged))
        self.assertFalse(platforms.is_judged(unjudged))
        self.assertTrue(platforms.is_judged(self.SCORE))

    def run_it(self, platform, *more, submission="in"):
        output = self.folder / "results/results.json"
        done = subprocess.run([sys.executable, str(TOOLS / "platforms.py"), platform, "--submission", str(self.folder / submission), "--grades",
                               str(self.folder / "grades"), "--output", str(output), *more], capture_output=True, text=True)
        return done.returncode, json.loads(output.read_text()) if output.exists() else None, done.stderr

    def test_a_grading_that_fails_is_told(self):
        self.write("in/ticket.cuh", "int one();\n")
        code, written, errors = self.run_it("gradescope", "--chapters", "77-x")
        self.assertEqual((code, written["output"]), (1, platforms.BROKEN))
        self.assertIn("no chapter 77-x", errors)

    def test_a_folder_that_does_not_exist(self):
        code, written, errors = self.run_it("classroom50", submission="nowhere")
        self.assertEqual((code, written), (1, None))
        self.assertIn("nowhere: there is no such file or folder", errors)

    def test_dates_are_the_platforms(self):
        self.write("in/ticket.cuh", "int one();\n")
        self.assertIn("--late is not for a platform", self.run_it("gradescope", "--late=10/3")[2])

    def test_bubblewrap_is_used_where_it_starts(self):
        for reason, expected in (("", ["--chapters", "01"]), ("it does not start", ["--chapters", "01", "--no-sandbox"])):
            with mock.patch.object(platforms.sandbox, "problem", return_value=reason), mock.patch("sys.stderr", io.StringIO()) as errors:
                self.assertEqual(platforms.options_for(["--chapters", "01", "--no-sandbox"]), expected)
            self.assertIn("it does not start: answers run without it: they run as" if reason else "answers run in it", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
