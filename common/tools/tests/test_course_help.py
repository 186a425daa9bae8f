"""./course hint, diff, picture and reset."""

import shutil
import sys
import unittest

from tools.lib import course_state
from tools.tests import screen
from tools.tests import system_python
from tools.tests.small_course import Checkout

READS = ()

system_python.again_if_missing(screen.pexpect)


class Hint(Checkout):
    def test_one_at_a_time(self):
        first = "Hint 1 of 2 for word_count\n\n  The first hint, of `word_count`: see the file × 2.\n\n"
        second = "Hint 2 of 2 for word_count\n\n  The second hint of word_count.\n\n"
        code, _, error = self.course("hint", "word_count", "--again")
        self.assertEqual((code, error), (1, "No hint for word_count was shown yet: ./course hint word_count\n"))
        more = "The next one: ./course hint word_count\n"
        self.assertEqual(self.course("hint", "word_count"), (0, first + more, ""))
        self.assertEqual(self.course("hint", "word_count", "--again"), (0, first + more, ""))
        self.assertEqual(self.course("hint", "word_count"), (0, second + "That is the last one.\n", ""))
        again = "All 2 hints for word_count were shown. To see them again: ./course hint word_count --again\n"
        self.assertEqual(self.course("hint", "word_count"), (0, again, ""))
        self.assertEqual(self.course("hint", "word_count", "--again")[1], first + second + "That is the last one.\n")
        self.assertIn("Hint 1 of 2 for ticket", self.course("hint", "ticket")[1])
        self.assertEqual(self.course("hint", "ticket", "--all")[1].count("Hint "), 2)
        self.assertIn("All 2 hints for ticket", self.course("hint", "ticket")[1])

    def test_an_exercise_without_hints(self):
        says = (1, "", "There are no hints in chapters/02-second/hints/ticket.md.\n")
        self.write("chapters/02-second/hints/ticket.md", "# ticket\n\nWhat is it?\n")
        self.assertEqual(self.course("hint", "ticket"), says)
        (self.top / "chapters/02-second/hints/ticket.md").unlink()
        self.assertEqual(self.course("hint", "ticket"), says)

    def test_a_damaged_state_counts_as_none(self):
        self.answer("RIGHT")
        state = self.build / course_state.FILE
        for text in ("", "{", "[]", "7", '{"word_count": 7}', "\0\1", "[" * 100000):
            state.write_text(text)
            self.assertEqual(course_state.load(self.build), {}, text[:50])
        for text in ('{"word_count": {"hints": "x", "checked": 1, "passed": 3}}', '{"word_count": {"hints": -5}}', "["):
            state.write_text(text)
            self.assertIn("Hint 1 of 2", self.course("hint", "word_count")[1], text)
        state.write_bytes(b"\xff\xfe")
        self.assertIn("1 of 3 solved", self.course("list")[1])

    def test_a_read_only_checkout(self):
        more = self.as_reader()
        code, text, error = self.process("hint", "word_count", more=more)
        self.assertEqual(code, 0)
        self.assertIn("Hint 1 of 2", text)
        self.assertIn("(not remembered: Permission denied", error)


SOLUTION = """// What it does.

unsigned blocks = (n + 255) / 256;  // no thread is left out
int a = 1;  // of the answer, too
// All lanes take part
// in the shuffle.
sum += shuffled;
"""
ANSWER = """// What it does.
unsigned blocks = n / 256;
int a = 2;  // of the answer, too
if (i < n) sum += shuffled;
"""


class Diff(Checkout):
    def test_an_earned_solution_is_shown(self):
        self.answer("mine\nRIGHT\n")
        self.course("check", "word_count")
        for path in (self.environment["PATH"], "/nowhere"):  # with Git and without
            tool = str(self.top / "common" / "tools" / "learn/course.py")
            code, text, _ = self.process(tool, "diff", "word_count", program=sys.executable, PATH=path)
            self.assertEqual(code, 0)
            self.assertRegex(text, r"(?m)^--- (a/)?exercises/01-first/word_count.cuh")
            self.assertRegex(text, r"(?m)^\+\+\+ (b/)?solutions/01-first/word_count.cuh")
            self.assertIn("\n-mine\n", text)
            self.assertNotIn("\033", text)

    def test_the_same(self):
        self.answer("// Exercise word_count\nRIGHT\n")
        self.assertIn("the same as the solution", self.course("diff", "word_count", "--yes")[1])

    def test_the_solution_explains_the_lines_that_differ(self):
        self.write("solutions/01-first/word_count.cuh", SOLUTION)
        self.answer(ANSWER)
        said = self.course("diff", "word_count", "--yes")[1].partition("\nWhat the solution says of lines that differ:\n")[2]
        self.assertEqual(said.splitlines(), [
            "solutions/01-first/word_count.cuh:3: no thread is left out", "solutions/01-first/word_count.cuh:7: All lanes take part in the shuffle."])
        self.answer(SOLUTION.replace("// no thread", "// no, no thread"))
        text = self.course("diff", "word_count", "--yes")[1]
        self.assertIn("\nThe code is the same: comments and blanks differ.\n", text)
        self.assertNotIn("What the solution says", text)

    def test_refuses_where_nobody_can_answer(self):
        self.answer("RIGHT")
        self.course("check", "word_count")
        self.answer("RIGHT but changed")
        code, text, error = self.course("diff", "word_count", input="y\n")
        self.assertEqual((code, text), (1, ""))
        self.assertIn("exercises/01-first/word_count.cuh as it is now has not passed its check.", error)
        self.assertIn("the solution was not shown. --yes goes on", error)
        self.assertIn("+RIGHT\n", self.course("diff", "word_count", "--yes")[1])

    def test_asks_at_a_terminal(self):
        for answer, code in (("y\n", 0), ("yes\n", 0), ("n\n", 1), ("\n", 1), ("\x04", 1), ("\x03", 130)):
            screen = self.screen("diff", "word_count")
            screen.wait_for("Show the solution anyway? [y/N] ")
            screen.send(answer)
            ended, text = screen.finish()
            self.assertEqual(ended, code, repr(answer))
            self.assertEqual("RIGHT" in text, code == 0)
            self.assertEqual("The solution was not shown." in text, code == 1)
            self.assertNotIn("Traceback", text)

    def test_what_is_not_there(self):
        self.answer("").unlink()
        self.assertIn("./course reset word_count brings it back", self.course("diff", "word_count", "--yes")[2])
        shutil.rmtree(self.top / "solutions")
        self.assertEqual(self.course("diff", "ticket", "--yes"),
                         (1, "", "This copy of the course has no solution of ticket.\n"))


class Picture(Checkout):
    def test_the_tool_is_called(self):
        self.write("common/tools/trace/picture.py", "import sys\nprint(sys.argv[1:])\nsys.exit(5)\n")
        code, text, _ = self.course("picture", "word")
        self.assertEqual((code, text), (5, f"{['--exercise', 'word_count', '--build', str(self.build)]}\n"))
        self.assertIn("'--open'", self.course("picture", "word", "--open")[1])


class Reset(Checkout):
    def setUp(self):
        super().setUp()
        self.file = self.top / "exercises" / "01-first" / "word_count.cuh"
        self.starter = self.file.read_text()

    def backups(self):
        return sorted(self.file.parent.glob("word_count.*.bak"))

    def test_the_starter_comes_back_and_the_answer_is_kept(self):
        self.assertIn("Hint 1 of 2", self.course("hint", "word_count")[1])
        self.assertEqual(course_state.load(self.build), {"word_count": {"hints": 1}})
        self.answer("mine")
        code, text, _ = self.course("reset", "word_count", "--yes")
        self.assertEqual((code, self.file.read_text()), (0, self.starter))
        (backup,) = self.backups()
        self.assertEqual(backup.read_text(), "mine")
        kept = f"exercises/01-first/{backup.name}"
        self.assertEqual(text, f"exercises/01-first/word_count.cuh is the starter again.\nyour file: {kept}\n"
                               f"undo:      cp {kept} exercises/01-first/word_count.cuh\n")
        self.assertIn("Hint 1 of 2", self.course("hint", "word_count")[1])
        for answer in ("yours", "theirs"):  # in the same second
            self.answer(answer)
            self.course("reset", "word_count", "--yes")
        self.assertEqual({file.read_text() for file in self.backups()}, {"mine", "yours", "theirs"})
        self.assertIn("is the starter already", self.course("reset", "word_count")[1])
        self.assertEqual(len(self.backups()), 3)

    def test_what_a_learner_has_committed_does_not_count(self):
        self.answer("mine, NOT_STARTED\n")
        self.git("commit", "-qam", "my answer")
        self.course("reset", "word_count", "--yes")
        self.assertEqual(self.file.read_text(), self.starter)

    def test_asks(self):
        self.answer("mine")
        code, _, error = self.course("reset", "word_count")
        self.assertEqual(code, 1)
        self.assertIn("This is not interactive: nothing was changed. --yes goes on", error)
        for answer, code in (("n\n", 1), ("\x03", 130), ("y\n", 0)):
            self.assertEqual((self.file.read_text(), self.backups()), ("mine", []))
            screen = self.screen("reset", "word_count")
            screen.wait_for("Replace exercises/01-first/word_count.cuh with the starter? [y/N] ")
            screen.send(answer)
            self.assertEqual(screen.finish()[0], code)
        self.assertEqual((self.file.read_text(), len(self.backups())), (self.starter, 1))

    def test_a_file_that_is_gone(self):
        shutil.rmtree(self.file.parent)
        self.assertEqual(self.course("reset", "word_count")[0], 0)
        self.assertEqual((self.file.read_text(), self.backups()), (self.starter, []))

    def test_what_cannot_be_done(self):
        self.answer("mine")
        more = self.as_reader()
        code, _, error = self.process("reset", "word_count", "--yes", more=more)
        self.assertEqual(code, 1)
        self.assertIn("exercises/01-first/word_count.cuh was not reset: Permission denied", error)
        self.assertEqual((self.file.read_text(), self.backups()), ("mine", []))

    def test_no_history_has_the_starter(self):
        shutil.rmtree(self.top / ".git")
        for squashed in (False, True):
            if squashed:
                self.answer("mine")
                self.git("init", "-q")
                self.git("add", "exercises")
                self.git("commit", "-qm", "all in one, the answer too")
            code, _, error = self.course("reset", "word_count", "--yes")
            self.assertEqual(code, 1)
            self.assertIn("No version of exercises/01-first/word_count.cuh in Git's history has a NOT_STARTED line", error)


if __name__ == "__main__":
    unittest.main()
