"""What a judge makes of an answer, of a machine that fails, and of an answer that makes it look so.

The compiler is a line of the shell, and a check is what that line leaves: each case is in the sandbox of a grading.
"""

import errno
import json
import shlex
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from tools.lib import result
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import answers, grade_submissions, sandbox
from tools.teach.sandbox import GIB, MIB, Limits

READS = ("common/tools/teach/room.py", "exercises/01-global-atomic", "solutions/01-global-atomic")

REASON = sandbox.problem()
CHAPTER, NAME = "01-global-atomic", "ticket"
CHECKS = {"passed": 9, "failed": 0, "skipped": 0, "comparisons": 760}
TRANSCRIPT = "0123456789abcdef"
RIGHT, LINE = "right\n", "all 9 checks passed under 4 schedules"


def sent(verdict="passed", **fields):
    """The shell's line by which a check sends its result."""
    found = {**result.new(verdict, LINE), "checks": CHECKS, "schedules": 4, "transcript": TRANSCRIPT, **fields}
    return f"printf %s {shlex.quote(json.dumps(found))} >&${{COURSE_RESULT#socket:}}"


def leaves(check):
    """The shell's lines of a compiler that leaves this check."""
    return f"printf '%s\\n' '#!/bin/bash' {shlex.quote(check)} >check; chmod +x check"


PASSES = leaves(f"echo {LINE}; {sent()}")


@unittest.skipIf(REASON, REASON)
@unittest.skipUnless((TOP / "solutions").is_dir(), "a release has no solutions")
class Judging(unittest.TestCase):
    """`script` compiles answers, `of_solution` the course's own, which is how the machine is asked."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="judge-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "course").mkdir()
        self.folder.chmod(0o755)
        self.judge = self.new_judge()
        self.attempts, self.guards = [], []

    def new_judge(self):
        return answers.Judge(self.folder / "course", self.folder / "grades/answers", 60, True)

    def compiling(self, script, of_solution=PASSES, compiler=None):
        """Answers are compiled by this script from now on; the texts of all attempts are noted."""
        class Script:
            @staticmethod
            def script(folder, guards):
                self.guards.append(guards)
                return f"cd {folder}; GUARD={'1' if guards else ''}; if grep -qx right exercises/{CHAPTER}/{NAME}.cuh; then {script}\nelse {of_solution}\nfi"

        self.judge.commands[CHAPTER, NAME] = Script
        attempt = type(self.judge).attempt

        def noted(chapter, name, text, **more):
            self.attempts.append("answer" if text == RIGHT else "solution")
            return attempt(self.judge, chapter, name, text, **more)

        self.judge.attempt = noted

    def found(self, script, **more):
        self.compiling(script, **more)
        return self.judge.judge(CHAPTER, NAME, RIGHT)

    def kept(self):
        return self.new_judge().known(CHAPTER, NAME, RIGHT)


class Verdicts(Judging):
    def test_a_pass_is_kept(self):
        found = self.found(PASSES)
        self.assertEqual((found["verdict"], found["checks"], self.kept(), self.attempts), ("passed", CHECKS, found, ["answer"]))

    def test_an_ordinary_error_is_the_answers(self):
        found = self.found(f"echo exercises/{CHAPTER}/{NAME}.cuh:1:1: error: no; exit 1")
        self.assertEqual((found["verdict"], self.attempts, self.kept()), ("does_not_compile", ["answer"], found))
        self.assertIn("error: no", found["text"])

    def test_the_compiler_reaches_no_more_than_the_answer(self):
        (self.folder / "secret").write_text("another learner\n")
        found = self.found(f'echo x >{self.folder}/course/x; echo "x.cuh:1:1: error: $(cat {self.folder}/secret 2>&1)"; exit 1')
        self.assertRegex(found["text"], "error: .*No such file")
        self.assertEqual(list((self.folder / "course").iterdir()), [])

    def test_how_a_check_can_end(self):
        for what, (check, verdict, said) in {
            "a failure": (f"{sent('failed')}; exit 1", "failed", LINE),
            "it says passed, and fails": (f"{sent()}; exit 1", "ended_early", "exit code 1"),
            "it ends early": ("exit 0", "ended_early", "does your file end the program"),
            "it skips": ("exit 77", "ended_early", "exit code 77"),
            "it crashes": ("ulimit -c 0; exec python3 -c 'import ctypes; ctypes.string_at(0)'", "crashed", "crashed"),
            "it says nothing": (sent(), "ended_early", "did not say that it passed"),
            "it says it before something else": (f"echo {LINE}; echo {LINE}!; {sent()}", "ended_early", "did not say that it passed"),
            "it has no transcript": (f"echo {LINE}; {sent(transcript='')}", "ended_early", "did not say that it passed"),
            "it prints without an end": ("exec yes", "timed_out", "printed more than"),
        }.items():
            with self.subTest(what):
                self.setUp()
                found = self.found(leaves(check))
                self.assertEqual((found["verdict"], self.attempts), (verdict, ["answer"]))
                self.assertIn(said, found["reason"])
                self.assertEqual(self.kept(), found)

    def test_what_a_guard_ends_is_told_as_at_home(self):
        crash = f"{sent('failed', reason='the program crashed: SIGILL')}; echo FAILED: SIGILL; exit 1"
        for at_home, verdict, said in ((f"{sent('failed', reason='out of bounds')}; exit 1", "failed", "out of bounds"),
                                       (f"echo {LINE}; {sent()}", "failed", "SIGILL")):
            self.setUp()
            found = self.found(f'if [ "$GUARD" ]; then {leaves(crash)}; else {leaves(at_home)}; fi')
            self.assertEqual((found["verdict"], found["reason"].count(said), self.guards), (verdict, 1, [True, False]))

    def test_a_result_of_another_shape_is_none(self):
        whole = json.dumps({**result.new("passed"), "checks": CHECKS})
        for what, data in {
            "nothing of it": "[]", "no JSON": "passed", "half of it": whole[:-9], "two": whole * 2, "a number for checks": whole.replace(json.dumps(CHECKS), "5"),
            "empty checks": whole.replace(json.dumps(CHECKS), "{}"), "a text for a count": whole.replace("760", '"760"'),
            "truth for a count": whole.replace("760", "true"), "a half comparison": whole.replace("760", "0.5"),
            "less than none": whole.replace("760", "-1"), "not finite": whole.replace('"seconds": 0.0', '"seconds": Infinity'),
            "no number": whole.replace('"seconds": 0.0', '"seconds": NaN'), "too large": whole.replace("760", "1" + "0" * 400),
            "half a sign": whole.replace('"reason": ""', '"reason": "\\ud800"'), "a list for the verdict": whole.replace('"passed",', '["passed"],', 1),
            "a list for the reason": whole.replace('"reason": ""', '"reason": []'), "a failure that is a text": whole.replace('"failures": []', '"failures": ["x"]'),
            "no UTF-8": b"\xff" + whole.encode(), "deep": "[" * 100_000, "very deep": '{"a":' * 100_000, "an unknown verdict": whole.replace("passed", "best", 1),
            "a verdict of the judge": whole.replace('"verdict": "passed"', '"verdict": "not_judged"'),
        }.items():
            self.assertIsNone(result.received(data if isinstance(data, bytes) else data.encode(), 0), what)
        self.assertEqual(result.received(whole.encode(), 0)["checks"], CHECKS)
        self.assertIsNone(result.received(whole.encode(), 1))

    def test_what_is_kept_and_damaged_is_judged_again(self):
        self.found(PASSES)
        for text in ("{ half", "5", "{}", "[]", '{"verdict": "passed"}'):
            self.judge.file_of(CHAPTER, NAME, RIGHT).write_text(text)
            self.assertIsNone(self.kept(), text)


class Machine(Judging):
    """Causes of a machine: nothing is kept; the solution is asked; the answer is judged again."""

    def once(self, bad, again=PASSES):
        """A compiler that ends badly the first time: a file outside says so."""
        self.calls = 0
        run = sandbox.Room.run

        def run_first(room, command, limits, **more):
            if not more.get("is_running", True) and RIGHT in room.texts.values():
                self.calls += 1
                command = ["sh", "-c", f"cd {room.folder}; {bad if self.calls == 1 else again}"]
            return run(room, command, limits, **more)

        return mock.patch.object(sandbox.Room, "run", run_first)

    CAUSES = {
        "a full disk": "head -c 999999999 /dev/zero >x; echo x.cu: error: unable to open output file: No space left on device; exit 1",
        "it removes what it wrote": "head -c 999999999 /dev/zero >x; rm x; echo No space left on device; exit 1",
        "too many files": "i=0; while echo >f$i; do i=$((i+1)); done 2>/dev/null; exit 1",
        "the compiler was killed": "kill -9 $$",
        "one of its processes was killed": "sh -c 'kill -9 $$'; exit $?",
        "the compiler crashed": "kill -SEGV $$",
        "it says that it crashed": "echo PLEASE submit a bug report; exit 1",
        "no more processes": "echo 'error: Resource temporarily unavailable'; exit 1",
        "no memory": "echo 'c++: error: Cannot allocate memory'; exit 1",
        "a tool is missing": "nosuchprogram",
        "python fails": "python3 -c 'raise OSError'; exit 1",
    }

    def test_what_happens_once_is_tried_again(self):
        for what, bad in self.CAUSES.items():
            with self.subTest(what):
                self.setUp()
                with self.once(bad):
                    found = self.found(PASSES)
                self.assertEqual((found["verdict"], self.attempts), ("passed", ["answer", "solution", "answer"]))
                self.assertEqual(self.kept(), found)

    def test_what_happens_to_the_solution_too_ends_the_grading(self):
        for what, bad in self.CAUSES.items():
            with self.subTest(what):
                self.setUp()
                with self.assertRaisesRegex(Failed, "^this machine does not judge now: of an answer to 01-global-atomic/ticket, .*; of the course's own, .*$"):
                    self.found(bad, of_solution=bad)
                self.assertEqual((self.kept(), self.attempts), (None, ["answer", "solution"]))

    def test_what_happens_to_the_answer_alone_twice_is_its_own(self):
        for what, said in {"a full disk": "needs more than 256 MiB, or 1000 files", "too many files": "1000 files", "the compiler crashed": "",
                           "no memory": "Cannot allocate memory", "it removes what it wrote": "needs more than 256 MiB"}.items():
            with self.subTest(what):
                self.setUp()
                found = self.found(self.CAUSES[what])
                self.assertEqual((found["verdict"], self.attempts, self.kept()), ("does_not_compile", ["answer", "solution", "answer"], found))
                self.assertIn(said, found["reason"])

    def test_a_compiler_that_is_killed_is_no_verdict_however_often(self):
        found = self.found(self.CAUSES["the compiler was killed"])
        self.assertEqual((found["verdict"], self.kept(), self.attempts), ("not_judged", None, ["answer", "solution", "answer"]))
        self.assertIn("could not judge it: the machine: its compiler was killed", found["reason"])
        for code in (137, 247):  # of a shell, and of a Python program, whose compiler was killed
            self.setUp()
            self.assertEqual(self.found(f"exit {code}")["verdict"], "not_judged")

    def test_what_an_answer_makes_the_compiler_print_is_no_fault_of_the_machine(self):
        for text in ("fatal error: error in backend: out of memory", "LLVM ERROR: out of memory", "PLEASE submit a bug report", "Killed signal terminated program cc1plus",
                     "signal 9", "No space left on device", "Traceback (most recent call last)"):
            for more in ("", " $(od -An -N8 -x /dev/urandom)"):  # the same text, and another one each time
                with self.subTest(text, more=more):
                    self.setUp()
                    found = self.found(f"echo \"exercises/{CHAPTER}/{NAME}.cuh:1:1: error: static assertion failed: {text}{more}\"; exit 1")
                    self.assertEqual((found["verdict"], self.attempts, self.kept()), ("does_not_compile", ["answer", "solution", "answer"], found))

    def test_what_an_answer_makes_its_check_say_is_no_fault_of_the_machine(self):
        check = f"{sent('failed', reason='out of memory @')}; exit 1".replace("@", "'$(od -An -N8 -x /dev/urandom)'")
        found = self.found(leaves(check))
        self.assertEqual((found["verdict"], self.attempts, self.kept()), ("failed", ["answer", "solution", "answer"], found))

    def test_a_compiler_that_is_killed_from_outside(self):
        def kill_it():
            end = time.monotonic() + 20
            while time.monotonic() < end:
                for file in Path("/proc").glob("[0-9]*/cmdline"):
                    try:
                        if file.read_bytes() == b"sleep\x0077.125\x00":
                            import os
                            os.kill(int(file.parent.name), 9)
                            return
                    except OSError:
                        continue
                time.sleep(0.05)

        killer = threading.Thread(target=kill_it)
        killer.start()
        with self.once("exec sleep 77.125"):
            found = self.found(PASSES)
        killer.join()
        self.assertEqual((found["verdict"], self.attempts), ("passed", ["answer", "solution", "answer"]))

    def test_limits_of_a_compiler(self):
        for what, (limits, bad, said) in {
            "time": ({"seconds": 1}, "exec sleep 60", "did not end within 1 seconds"),
            "processor time": ({"cpu_seconds": 1}, "while :; do :; done", "more than 1 s of processor time"),
            "memory": ({"memory": 100 * MIB}, "exec python3 -c 'x = bytearray(999 << 20); input()'", "of memory"),
            "processes": ({"processes": 4}, "(:& :& :& :& :& sleep 1) || { echo error: fork: Resource temporarily unavailable; exit 1; }", ""),
        }.items():
            with self.subTest(what), mock.patch.object(answers, "COMPILE", Limits(**{"seconds": 60, "cpu_seconds": 60, "memory": GIB, "processes": 64, **limits})):
                self.setUp()
                found = self.found(bad if what != "processes" else f"{bad}; exit 1")
                self.assertEqual((found["verdict"], self.attempts, self.kept()), ("does_not_compile", ["answer", "solution", "answer"], found))
                self.assertIn(said, found["reason"])
                self.setUp()
                with self.assertRaises(Failed):
                    self.found(bad if what != "processes" else f"{bad}; exit 1", of_solution=bad if what != "processes" else f"{bad}; exit 1")
                self.assertIsNone(self.kept())

    def test_doubts_of_a_run(self):
        slow = mock.patch.object(answers, "PATIENCE", -0.48)  # 1.2 s of elapsed time
        for what, (check, verdict, said) in {
            "elapsed time": ("exec sleep 60", "timed_out", "did not end within"),
            "it was killed": ("exec python3 -c 'import signal; signal.raise_signal(9)'", "crashed", "crashed"),
            "a result that cannot be read": ("printf '{' >&${COURSE_RESULT#socket:}", "ended_early", "before its result was complete"),
            "it did not start": ("exit 126", "crashed", "did not start"),
            "no memory": (f"{sent('failed', reason='an exception was thrown: std::bad_alloc')}; exit 1", "failed", "bad_alloc"),
        }.items():
            with self.subTest(what), slow:
                self.setUp()
                found = self.found(leaves(check))
                self.assertEqual((found["verdict"], self.attempts, self.kept()), (verdict, ["answer", "solution", "answer"], found))
                self.assertIn(said, found["reason"])
                self.setUp()
                with self.assertRaises(Failed):
                    self.found(leaves(check), of_solution=leaves(check))
                self.assertIsNone(self.kept())

    def test_bubblewrap_that_goes_missing(self):
        whole, times = sandbox.bubblewrap, iter([["/nonexistent/bwrap"]])
        with mock.patch.object(sandbox, "bubblewrap", lambda course: next(times, None) or whole(course)):
            self.assertEqual(self.found(PASSES)["verdict"], "passed")
        self.assertEqual(self.attempts, ["answer", "solution", "answer"])
        self.setUp()
        with mock.patch.object(sandbox, "bubblewrap", lambda course: ["/nonexistent/bwrap"]), self.assertRaisesRegex(Failed, "does not judge now"):
            self.found(PASSES)
        self.assertIsNone(self.kept())

    def test_a_sandbox_that_ends_while_the_answer_runs(self):
        run = sandbox.Room.run

        def run_it(room, command, limits, **more):
            if more.get("is_running", True) and RIGHT in room.texts.values():
                threading.Timer(0.3, room.process.kill).start()
            return run(room, command, limits, **more)

        with mock.patch.object(sandbox.Room, "run", run_it):
            found = self.found(leaves("exec sleep 60"))
        self.assertEqual((found["verdict"], self.attempts), ("crashed", ["answer", "solution", "answer"]))

    def test_a_disk_of_the_grader_that_is_full(self):
        self.judge.first_word()
        with mock.patch.object(result, "write", side_effect=OSError(errno.ENOSPC, "No space left on device")), \
                self.assertRaisesRegex(Failed, "this machine cannot go on: .*No space left on device"):
            self.found(PASSES)
        with mock.patch.object(answers.tempfile, "TemporaryDirectory", side_effect=OSError(errno.EMFILE, "Too many open files")), \
                self.assertRaisesRegex(Failed, "this machine does not judge now"):
            self.found(PASSES)
        self.assertIsNone(self.kept())


class Exceptions(Judging):
    """Whatever goes wrong inside of the grader at one answer concerns that answer."""

    def test_any_exception(self):
        for error in (RecursionError(), TypeError("x"), KeyError("x"), UnicodeEncodeError("utf-8", "\ud800", 0, 1, "x"), OSError(errno.EACCES, "x"), MemoryError()):
            with self.subTest(error=error), mock.patch.object(answers.compile_errors, "warnings_of", side_effect=error):
                found = self.found(PASSES)
                self.assertEqual((found["verdict"], self.kept()), ("not_judged", None))
                self.assertIn(f"failed at it: {type(error).__name__}", found["reason"])
        log = (self.folder / "grades/problems.log").read_text()
        self.assertEqual(log.count("01-global-atomic/ticket\nTraceback"), 6)
        self.assertEqual(self.found(PASSES)["verdict"], "passed")

    def test_others_go_on(self):
        solution = "the solution\n"
        texts = {"ada": "a\n", "bob": "b\n", "eve": "e\n"}
        judge = mock.Mock(stop=threading.Event())
        kept = {}
        judge.known.side_effect = lambda *unit: kept.get(unit)
        judge.problem.side_effect = lambda what, error: f"{what}: {type(error).__name__}"
        passed = {**answers.record(result.new("passed", LINE), LINE), "checks": CHECKS}

        def judged(*unit):
            if unit[2] == "b\n":
                return answers.not_judged("the machine")
            kept[unit] = dict(passed)
            return kept[unit]

        judge.judge.side_effect = judged
        book = mock.Mock()
        book.enter.side_effect = lambda name, **more: (_ for _ in ()).throw(KeyError("x")) if name == "eve" and not more.get("error") else None
        graded = grade_submissions.Class(grade_submissions.parse(["--out", "x", "y"]), {}, [(CHAPTER, NAME)], judge, book)
        graded.solutions = {(CHAPTER, NAME): solution}
        graded.taken = {name: mock.Mock(texts={(CHAPTER, NAME): text}, kept=set()) for name, text in texts.items()}
        with mock.patch("builtins.print"):
            graded.run()
        entered = {call.args[0]: call.kwargs for call in book.enter.call_args_list}
        self.assertEqual(entered["ada"]["found"][CHAPTER, NAME]["verdict"], "passed")
        self.assertEqual(entered["bob"]["found"][CHAPTER, NAME]["verdict"], "not_judged")
        self.assertEqual(entered["eve"]["error"], "score of eve: KeyError")


class Forging(Judging):
    """A pass is compared with the run of the solution."""

    def differences(self, check):
        """What is unusual about the pass of this check."""
        found = self.found(leaves(check))
        self.assertEqual(found["verdict"], "passed")
        measure = {**answers.record(result.new("passed", LINE), f"not tried here: x\n{LINE}"), "checks": CHECKS, "schedules": 4, "transcript": TRANSCRIPT}
        self.setUp()
        return answers.differences(found, measure)

    def test_what_is_unusual(self):
        self.assertEqual(self.differences(f"echo mine; echo {LINE}; {sent()}"), [])
        fewer = sent(checks={**CHECKS, "comparisons": 758})  # with cases that the check leaves out for some answers
        self.assertEqual(self.differences(f"echo {LINE}; {fewer}"), [])
        for what, (check, said) in {
            "other comparisons": (f"echo {LINE}; {sent(checks={**CHECKS, 'comparisons': 1}, transcript='0' * 16)}",
                                  "1 comparisons in 9 test cases under 4 schedules, and 760 in 9"),
            "fewer test cases": (f"echo {LINE}; {sent(checks={**CHECKS, 'passed': 8})}", "in 8 test cases"),
            "one skipped": (f"echo {LINE}; {sent(checks={**CHECKS, 'skipped': 1})}", "The check made"),
            "fewer schedules": (f"echo {LINE}; {sent(schedules=1)}", "under 1 schedules"),
            "another transcript": (f"echo {LINE}; {sent(transcript='1' * 16)}", "or others, or in another order"),
            "another text": (f"echo well done; {sent(reason='well done')}", "The check said 'well done', and 'all 9 checks"),
        }.items():
            with self.subTest(what):
                found = self.differences(check)
                self.assertEqual(len(found), 1)
                self.assertIn(said, found[0])

    def test_cases_that_are_left_out_with_this_answer_alone_are_for_a_person(self):
        def passed(*skips):
            return answers.record(result.new("passed", LINE, skips=[{"test": test, "reason": reason} for test, reason in skips]), LINE)

        large, end, one = ("ticket: large", "too large for the CPU device"), ("ticket: the last", "the end of a grid is not tried"), ("ticket: a", "one case in 9 is tried")
        self.assertEqual(answers.differences(passed(large), passed(large)), [])
        self.assertEqual(answers.differences(passed(), passed(large)), [])
        self.assertEqual(answers.differences(passed(large, end), passed(large)), ["The check left cases out, which it tried with the solution: of 'ticket: the last' (the end of a "
                                                                                  "grid is not tried)."])
        self.assertEqual(answers.differences(passed(one, end), passed()), ["The check left cases out, which it tried with the solution: of 'ticket: a' (one case in 9 is tried), "
                                                                           "and cases of 1 more."])
        found = self.found(leaves(f"echo {LINE}; {sent(skips=[{'test': 'a', 'reason': 'b'}])}"))
        self.assertEqual(self.kept()["skips"], found["skips"])
        self.assertEqual(found["skips"], [{"test": "a", "reason": "b"}])

    def test_what_the_compiler_made_of_an_answer_is_compared(self):
        facts = {"calls": {"_Z1fv": "f()"}, "defines": [], "chosen": [], "sections": [], "starts": 8, "initialisers": 1}
        measure = {**answers.record(result.new("passed", LINE), LINE), "object": facts}
        for more, said in (({}, []), ({"calls": {"system": "system"}}, ["What the compiler made of it: it calls system, which is not among the "
                                                                         "functions that an exercise may use."]),
                           ({"starts": 16}, ["What the compiler made of it: more code runs before or after the check than with the solution."])):
            self.assertEqual(answers.differences({**measure, "object": {**facts, **more}}, measure), said)
        self.assertEqual(answers.differences({**measure, "object": {}}, measure), ["What the compiler made of it could not be read."])

    def for_the_cpu(self):
        """The course is built for the CPU device, after the judge was made."""
        settings = answers.settings_of(self.folder / "course")
        settings.parent.mkdir(parents=True)
        settings.write_text('{"compiler": "clang\\n16"}')

    def test_the_object_is_read_where_it_was_compiled(self):
        self.for_the_cpu()
        made = f"printf 'int main() {{ return system(\"true\"); }}' | c++ -x c++ -include cstdlib - -c -o {NAME}.cu.o"
        self.assertEqual(self.found(f"{made}; {leaves(f'echo {LINE}; {sent()}')}")["object"]["calls"], {"system": "system"})
        self.setUp()
        self.for_the_cpu()
        self.assertEqual(self.found(leaves(f"echo {LINE}; {sent()}"))["object"], {})  # there is none

    def test_the_word_is_one_for_all_answers_of_a_folder(self):
        said = leaves(f"echo \"$COURSE_TRANSCRIPT\"; echo {LINE}; {sent()}")
        word = self.found(said)["text"].split("\n")[0]
        self.assertRegex(word, "^[0-9a-f]{32}$")
        self.judge = self.new_judge()
        self.compiling(PASSES, of_solution=said)
        self.assertEqual(self.judge.judge(CHAPTER, NAME, "another\n")["text"].split("\n")[0], word)


if __name__ == "__main__":
    unittest.main()
