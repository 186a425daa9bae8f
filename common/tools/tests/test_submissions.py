"""What is taken from a submission, and how answers are judged. The grade book has test_gradebook.py."""

import os
import subprocess
import sys
import threading
import unittest
from unittest import mock

from tools.lib import result
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import answers, grade_submissions, handed_in, similar, submissions
from tools.teach.regular import GradeError
from tools.tests.in_folder import InFolder

READS = ("chapters/01-global-atomic", "exercises/01-global-atomic", "solutions/01-global-atomic")

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
        learners, _ = handed_in.find([self.folder / "ada"], EXERCISES)
        taken = submissions.take(learners["ada"], EXERCISES, accepted)
        return {name: reason for (_, name), reason in taken.refused.items()}, taken

    def test_known_regular_files_only(self):
        self.mine("ticket.cuh", "inline int mine() { return 1; }  // mine\n")
        self.mine("lost_update.cuh", "NOT_STARTED\n")
        self.mine("helper.cuh", "int x;\n")
        self.write("ada/exercises/99-new/word_count.cuh", "int x;\n")
        self.write("ada/chapters/01-global-atomic/checks/ticket.cu", "int x;\n")
        refused, taken = self.take()
        self.assertEqual((refused, taken.notes), ({}, ["not read: 01-global-atomic/helper.cuh, 99-new/word_count.cuh"]))
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
        self.assertEqual(self.take()[1].remarks, {(CHAPTER, "ticket"): ["it is the published solution"]})

    def test_without_a_sandbox_it_says_what_does_not_hold(self):
        options = grade_submissions.parse(["--out", "x", "y"])
        with mock.patch.object(grade_submissions.sandbox, "problem", return_value="there is none"), self.assertRaises(SystemExit) as end:
            grade_submissions.is_isolated(options)
        self.assertRegex(str(end.exception), "(?s)there is none.*can read your files.*--no-sandbox")


def found(verdict, text="said", for_a_person=(), **checks):
    return {"verdict": verdict, "reason": text, "text": text, "checks": {**MEASURE, **checks}, "schedules": 4, "transcript": "",
            "skips": [], "object": None, "for_a_person": list(for_a_person)}


class Known(Folder):
    def test_equal_answers_are_judged_once(self):
        judge = answers.Judge(self.folder, self.folder / "answers", 60, True)
        with mock.patch.object(judge, "attempt", return_value=(found("passed"), "")) as run:
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
        judge.judge.return_value = found(result.FAILED, "not here\nand more")
        graded = grade_submissions.Class(grade_submissions.parse(["--out", "x", "y"]), {}, EXERCISES, judge, None)
        graded.solutions = {EXERCISES[0]: "x"}
        with mock.patch("builtins.print"), self.assertRaisesRegex(Failed, "does not pass here: not here$"):
            graded.run()


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
