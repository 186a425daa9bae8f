"""What is taken from a submission, what late answers are worth, and what a grading writes."""

import csv
import json
import os
import subprocess
import sys
import threading
import unittest
from datetime import timedelta
from unittest import mock

from tools.lib import result
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import answers, grade, grade_submissions, platforms, similar, submissions
from tools.teach.gradebook import Gradebook
from tools.teach.regular import GradeError
from tools.teach.roster import LateRule, Roster, Row, moment, read_roster
from tools.tests.in_folder import InFolder

CHAPTER = "01-global-atomic"
NAMES = ["lost_update", "ticket", "word_count"]
EXERCISES = [(CHAPTER, name) for name in NAMES]
TOOLS = TOP / "common/tools/teach"
MEASURE = {"passed": 9, "failed": 0, "skipped": 0, "comparisons": 760}


class Folder(InFolder):
    def mine(self, name, text):
        return self.write(f"ada/exercises/{CHAPTER}/{name}", text)


class Taking(Folder):
    def take(self, accepted=()):
        taken = submissions.take(self.folder / "ada", EXERCISES, accepted)
        return {name: reason for (_, name), reason in taken.refused.items()}, taken

    def test_known_regular_files_only(self):
        self.mine("ticket.cuh", "inline int mine() { return 1; }  // mine\n")
        self.mine("lost_update.cuh", "NOT_STARTED\n")
        self.mine("helper.cuh", "int x;\n")
        self.write("ada/exercises/99-new/word_count.cuh", "int x;\n")
        self.write("ada/chapters/01-global-atomic/checks/ticket.cu", "int x;\n")
        refused, taken = self.take()
        self.assertEqual((refused, taken.notes), ({}, [f"not copied: {CHAPTER}/helper.cuh"]))
        self.assertEqual(taken.texts, {(CHAPTER, "ticket"): "inline int mine() { return 1; }         \n"})
        self.assertEqual(taken.not_started, {(CHAPTER, "lost_update")})

    def test_links_and_other_kinds_are_refused(self):
        self.mine("x", "")
        folder = self.folder / "ada/exercises" / CHAPTER
        other = self.write(f"bob/exercises/{CHAPTER}/ticket.cuh", "int right;\n")
        (folder / "ticket.cuh").symlink_to(other)
        os.mkfifo(folder / "word_count.cuh")
        self.mine("lost_update.cuh", b"x" * 300_000)
        refused, taken = self.take()
        self.assertEqual(refused["ticket"], "it is a link")
        self.assertEqual(refused["word_count"], "it is no regular file")
        self.assertIn("300000 bytes", refused["lost_update"])
        self.assertEqual(taken.texts, {})
        (folder / "ticket.cuh").unlink()
        (folder / "ticket.cuh").symlink_to("/dev/zero")
        self.assertEqual(self.take()[0]["ticket"], "it is a link")
        (folder / "ticket.cuh").unlink()
        (folder / "ticket.cuh").mkdir()
        self.assertEqual(self.take()[0]["ticket"], "it is no regular file")

    def test_folders_that_are_links_are_refused(self):
        self.write(f"elsewhere/{CHAPTER}/ticket.cuh", "int x;\n")
        (self.folder / "ada/exercises").mkdir(parents=True)
        (self.folder / "ada/exercises" / CHAPTER).symlink_to(self.folder / "elsewhere" / CHAPTER)
        self.assertEqual(set(self.take()[0].values()), {f"its folder {CHAPTER} is a link"})
        (self.folder / "ada/exercises" / CHAPTER).unlink()
        (self.folder / "ada/exercises").rmdir()
        (self.folder / "ada/exercises").symlink_to(self.folder / "elsewhere")
        with self.assertRaises(GradeError):
            self.take()

    def test_a_suspicious_file_is_refused_until_it_is_accepted(self):
        text = "inline void f() { exit(0); }  // read\n"
        self.mine("ticket.cuh", text)
        refused, taken = self.take()
        self.assertEqual((refused, taken.texts), ({"ticket": "line 1: exit: this function of the system is not among those that an exercise may use"}, {}))
        refused, taken = self.take({(CHAPTER, "ticket")})
        self.assertEqual((refused, taken.texts), ({}, {(CHAPTER, "ticket"): text}))

    @unittest.skipUnless((TOP / "solutions").is_dir(), "a release has no solutions")
    def test_the_published_solution_is_noted(self):
        text = (TOP / "solutions" / CHAPTER / "ticket.cuh").read_text()
        self.mine("ticket.cuh", "// my own work\n" + text.replace("  ", "\t"))
        self.assertEqual(self.take()[1].notes, [f"{CHAPTER}/ticket is the published solution"])

    def test_arguments(self):
        for name in ("a/ada", "b/ada"):
            (self.folder / name).mkdir(parents=True)
        roster = self.write("roster.csv", "name\nada\n")
        for arguments, reason in {
            (self.folder / "a/ada", self.folder / "b/ada"): "called 'ada'",
            ("--chapters", "77-x", self.folder / "a/ada"): "no chapter 77-x",
            ("--exercises", "tickets", self.folder / "a/ada"): "no exercise tickets",
            ("--deadline", "tomorrow", self.folder / "a/ada"): "is no time",
            ("--roster", roster, self.folder / "a/ada"): "names the columns",
            ("--jobs", "0", self.folder / "a/ada"): "above 0",
        }.items():
            done = subprocess.run([sys.executable, str(TOOLS / "grade_submissions.py"), "--out", str(self.folder / "out"), *map(str, arguments)],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_without_a_sandbox_it_says_what_does_not_hold(self):
        options = grade_submissions.parse(["--out", "x", "y"])
        with mock.patch.object(grade_submissions.sandbox, "problem", return_value="there is none"), self.assertRaises(SystemExit) as end:
            grade_submissions.is_isolated(options)
        self.assertRegex(str(end.exception), "(?s)there is none.*can read your files.*--no-sandbox")


class Late(Folder):
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
        for text in ("learner,id\nada,1\nada,2\n", "learner,id\n,1\n", "id\n1\n", ""):
            with self.assertRaises(Failed, msg=text):
                read_roster(self.write("other.csv", text))


def found(verdict, text="said", **checks):
    return {"verdict": verdict, "reason": text, "text": text, "checks": {**MEASURE, **checks}, "schedules": 4}


class Book(Folder):
    def book(self, roster=None, **how):
        return Gradebook(self.folder / "out", EXERCISES, {key: 2.0 for key in EXERCISES}, roster or Roster(), {"course": "c", **how})

    def enter(self, book, name, *verdicts, accepted=(), **checks):
        keys = EXERCISES[:len(verdicts)]
        taken = submissions.Taken(texts={key: "x" for key in keys}, accepted=set(accepted))
        book.enter(name, taken, {key: found(verdict, **checks) for key, verdict in zip(keys, verdicts)},
                   {key: found("passed") for key in keys})

    def scores(self):
        with open(self.folder / "out/scores.csv", newline="") as file:
            return {row["learner"]: row for row in csv.DictReader(file)}

    def test_a_score_is_there_as_soon_as_it_is_known(self):
        book = self.book()
        self.enter(book, "ada", "passed", "failed")
        self.assertEqual(list(self.scores()), ["ada"])
        self.assertEqual(self.scores()["ada"]["points"], "2")
        self.enter(book, "bob", "passed", "passed", "timed_out")
        self.assertEqual(self.scores()["bob"]["points"], "4")
        feedback = (self.folder / "out/learners/bob/feedback.md").read_text()
        self.assertIn("**4 of 6 points**", feedback)
        self.assertIn(f"## {CHAPTER}/word_count: no end, 0 of 2\n\n    said\n", feedback)

    def test_fewer_comparisons_than_the_solution_makes_are_no_pass(self):
        book = self.book()
        for checks in ({"comparisons": 1}, {"passed": 8}, {"skipped": 1}):
            self.enter(book, "ada", "passed", **checks)
            self.assertEqual(self.scores()["ada"]["points"], "0", checks)
            self.assertIn("is refused: The check made", self.scores()["ada"]["notes"])
        self.enter(book, "ada", "passed", accepted=[EXERCISES[0]], comparisons=1)
        self.assertEqual(self.scores()["ada"]["points"], "2")

    def test_roster_and_late(self):
        rows = {"ada": Row("=7", moment("2027-03-01T01:00Z", "x")), "zoe": Row("8")}
        book = self.book(Roster(rows, moment("2027-03-01T00:00Z", "x"), LateRule(50, 1)))
        self.enter(book, "ada", "passed", "passed", "passed")
        self.enter(book, "eve", "passed")
        with mock.patch("builtins.print"):
            self.assertEqual(book.close({"ada", "eve"}), 0)
        rows = self.scores()
        self.assertEqual((rows["ada"]["id"], rows["ada"]["points"], rows["ada"][f"{CHAPTER}/ticket"]), ("'=7", "3", "1"))
        self.assertEqual(rows["ada"]["late"], "1 day late: 50 % of the points count")
        self.assertIn("not in the roster", rows["eve"]["notes"])
        self.assertEqual((rows["zoe"]["points"], rows["zoe"]["notes"]), ("0", "nothing was handed in"))

    def test_feedback_holds_what_a_learner_prints(self):
        book = self.book()
        taken = submissions.Taken(texts={EXERCISES[0]: "x"})
        book.enter("ada", taken, {EXERCISES[0]: found("failed", "```\n# of 100 points\n\x1b[31m")}, {})
        text = (self.folder / "out/learners/ada/feedback.md").read_text()
        self.assertIn("    ```\n    # of 100 points\n    \\x1b[31m\n", text)

    def test_another_grading_needs_another_folder(self):
        self.book()
        self.book()
        with self.assertRaisesRegex(GradeError, "another course"):
            self.book(course="d")
        self.write("full/x", "x")
        with self.assertRaisesRegex(GradeError, "not empty"):
            Gradebook(self.folder / "full", EXERCISES, {}, Roster(), {})


class Known(Folder):
    def test_equal_answers_are_judged_once(self):
        judge = answers.Judge(self.folder, self.folder / "answers", 60, True)
        judge.commands[EXERCISES[0]] = None
        with mock.patch.object(judge, "compile_and_run", return_value=found("passed")) as run:
            for text in ("a", "b", "a"):
                self.assertEqual(judge.judge(*EXERCISES[0], text)["verdict"], "passed")
        self.assertEqual(run.call_count, 2)
        again = answers.Judge(self.folder, self.folder / "answers", 60, True)  # after an interruption
        self.assertEqual(again.known(*EXERCISES[0], "b")["verdict"], "passed")
        self.assertIsNone(again.known(*EXERCISES[1], "b"))
        self.write(f"answers/{CHAPTER}/ticket/{again.file_of(*EXERCISES[1], 'c').name}", "{ half")
        self.assertIsNone(again.known(*EXERCISES[1], "c"))

    def test_a_class_stops_if_the_solution_does_not_pass(self):
        judge = mock.Mock(stop=threading.Event())
        judge.known.return_value = None
        judge.judge.return_value = found(result.FAILED)
        graded = grade_submissions.Class(grade_submissions.parse(["--out", "x", "y"]), {}, EXERCISES, judge, None)
        graded.solutions = {EXERCISES[0]: "x"}
        with mock.patch("builtins.print"), self.assertRaisesRegex(Failed, "does not pass here"):
            graded.run()


class Platforms(Folder):
    SCORE = {"points": 1.0, "notes": ["a note"], "exercises": [
        {"chapter": CHAPTER, "exercise": "ticket", "verdict": grade.PASSED, "points": 1.0, "of": 1.0, "text": "all passed"},
        {"chapter": CHAPTER, "exercise": "word_count", "verdict": grade.FAILED, "points": 0, "of": 2.0, "text": "found 3"}]}

    def test_gradescope(self):
        written = platforms.for_gradescope(self.SCORE)
        self.assertEqual((written["score"], [(t["score"], t["max_score"], t["status"]) for t in written["tests"]]),
                         (1.0, [(1.0, 1.0, "passed"), (0, 2.0, "failed")]))
        self.assertIn("found 3", written["tests"][1]["output"])
        self.assertEqual((platforms.for_gradescope(None)["score"], platforms.for_gradescope(None)["output"]), (0, platforms.BROKEN))

    def test_classroom50(self):
        with mock.patch.dict(os.environ, CLASSROOM="c", ASSIGNMENT="a", SUBMISSION_TAG="t", COMMIT_URL="u", RELEASE_URL="r"):
            written = platforms.for_classroom50(self.SCORE)
        self.assertEqual((written["schema"], written["classroom"], written["assignment"], written["submission"], written["review"]),
                         ("classroom50/result/v1", "c", "a", "t", "u"))
        self.assertEqual((written["score"], written["max-score"]), (1, 3))
        self.assertEqual([(t["test-name"], t["passed"]) for t in written["tests"]],
                         [(f"{CHAPTER}/ticket", True), (f"{CHAPTER}/word_count", False)])

    def test_files_at_the_top_are_found_and_links_are_not_followed(self):
        self.write("in/ticket.cuh", "int a;\n")
        self.write(f"in/exercises/{CHAPTER}/word_count.cuh", "int b;\n")
        (self.folder / "in/lost_update.cuh").symlink_to("/etc/passwd")
        with mock.patch("builtins.print"):
            platforms.collect(self.folder / "in", self.folder / "out")
        files = sorted(str(file.relative_to(self.folder / "out")) for file in (self.folder / "out").rglob("*.cuh"))
        self.assertEqual(files, [f"exercises/{CHAPTER}/ticket.cuh", f"exercises/{CHAPTER}/word_count.cuh"])

    def test_a_grading_that_fails_is_told(self):
        output = self.folder / "results/results.json"
        (self.folder / "in").mkdir()
        done = subprocess.run([sys.executable, str(TOOLS / "platforms.py"), "gradescope", "--submission", str(self.folder / "in"), "--grades",
                               str(self.folder / "grades"), "--output", str(output), "--chapters", "77-x"], capture_output=True, text=True)
        self.assertEqual((done.returncode, json.loads(output.read_text())["output"]), (1, platforms.BROKEN))
        self.assertIn("no chapter 77-x", done.stderr)


class Similar(unittest.TestCase):
    ONE = "".join(f"  total[{i}] = first[{i}] * weight + offset[{i}] - {i};\n" for i in range(9))

    @unittest.skipUnless(similar.shutil.which("sim_c++"), "there is no sim_c++")
    def test_other_names_are_the_same_answer(self):
        two = self.ONE.replace("total", "sum").replace("weight", "w").replace(" = ", "=")
        other = "".join(f"  while (a{i} < b{i}) {{ if (a{i}++ == {i}) break; call(a{i}, b{i}); }}\n" for i in range(9))
        pairs = similar.pairs_of({"ada": self.ONE, "bob": two, "eve": other}, 80)
        self.assertEqual([pair[1:] for pair in pairs], [("ada", "bob")])

    def test_the_starters_lines_do_not_count(self):
        self.assertEqual(similar.own_lines("int a;\n  int b;  // mine\n", "int a;  // the task\n"), "  int b;\n")

    def test_the_page_is_text(self):
        text = similar.page([("01/x", 90, "<ada>", "bob", "a < b;\nc;", "a<b;\nd;")])
        self.assertIn("&lt;ada&gt;", text)
        self.assertIn("<mark>a &lt; b;</mark>", text)
        self.assertNotIn("<mark>c", text)


if __name__ == "__main__":
    unittest.main()
