"""Runs the test cases of specimen.cu and looks at what a learner gets to see, and at the exit codes.

    test_main.py SPECIMEN NOT_STARTED_SPECIMEN

The second program is specimen.cu compiled with -DSPECIMEN_NOT_STARTED.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

READS = ("common/tests/specimen.cu",)

SPECIMEN = ""
NOT_STARTED = ""


def run(*tests, options=(), program=None, timeout=120, **environment):
    """Runs test cases by name; returns the exit code and the output."""
    names = ",".join(test.replace(",", "\\,") for test in tests)  # a comma means "or"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("COURSE_", "SIMT_"))}
    env["COURSE_GPU_TURNS"] = "1000"  # what waits for a turn says so: gpu_turn_test.cpp tests that
    env.update(environment)
    done = subprocess.run(
        [program or SPECIMEN, *([names] if names else []), *options],
        env=env, timeout=timeout, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def on_gpu():
    return "1 check passed\n" in run("passes")[1]


def shown(name, *tests, **environment):
    """What a lesson's program of this name shows of test cases."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, name)
        program.symlink_to(Path(SPECIMEN).resolve())
        return run(*tests, program=program, **environment)[1]


class Specimen(unittest.TestCase):
    def failing(self, *tests, **how):
        """The output of test cases that fail."""
        code, out = run(*tests, **how)
        self.assertEqual(code, 1)
        return out


class Lesson(Specimen):
    """What a reader of a lesson sees of its programs races, counts and claims."""

    maxDiff = None

    def setUp(self):
        if on_gpu():
            self.skipTest("a GPU counts and finds nothing")

    def test_counts_are_a_table(self):
        self.assertEqual(
            shown("counts", "shows what it counts"),
            "Under schedule 0 of the CPU device:\n\n"
            "shows what it counts\n"
            "  expected: single atomics = 32 * blocks\n"
            "                                 global\n"
            "                                 atomic   single\n"
            "                       blocks  requests  atomics\n"
            "  count_up, n = 64          2         2       64\n"
            "  count_up, n = 1,280      40        40    1,280\n\n"
            "1 check passed under 4 schedules\n")

    def test_a_race_is_shown_without_advice(self):
        self.assertRegex(
            shown("races", "shows what is found", "shows what is claimed"),
            r"shows what is found\n"
            r"  add_racy, n = 64: 2 blocks of 32 threads\n"
            r"    DATA RACE in kernel add_racy on d_sum\[0\]\n"
            r"      (read |write)  at \S*specimen.cu:\d+ by block \d thread \d+\n"
            r"      (read |write)  at \S*specimen.cu:\d+ by block \d thread \d+\n\n"
            r"shows what is claimed\n"
            r"  no race\n")

    def test_each_place_where_threads_wait_begins_a_line(self):
        self.assertRegex(
            shown("races", "shows who waits where"),
            r"\n        16 wait in __shfl_down_sync\(\) with mask 0xffffffff at common/tests/specimen.cu:\d+: threads\s+0,"
            r"[\s\d,]+ 30\n"
            r"        16 wait in __syncthreads\(\) at common/tests/specimen.cu:\d+: threads 1, ")

    def test_claims_have_figures(self):
        self.assertIn(
            "shows what is claimed\n"
            "  sums:         0.5 12,345\n"
            "  sums.back():  12,345 > 1\n"
            "  the last one: 12,345, expected 12,344 +- 1\n\n", shown("claims", "shows what is claimed"))

    def test_what_fails_is_told_as_ever(self):
        self.assertEqual(shown("claims", "fails with a verdict"), "Under schedule 0 of the CPU device:\n\n" + run("fails with a verdict")[1])

    def test_a_schedule_of_the_reader(self):
        self.assertTrue(shown("claims", "shows what is claimed", SIMT_SEED="3").startswith("Under schedule 3 "))

    def test_tests_and_other_programs_are_quiet(self):
        quiet = "1 check passed under 4 schedules\n"
        self.assertEqual(shown("counts", "shows what it counts", COURSE_QUIET="1"), quiet)
        self.assertEqual(shown("selfcheck", "shows what it counts"), quiet)


class Screen(Specimen):
    """What is on the screen after an ordinary run."""

    maxDiff = None

    def test_a_pass_is_one_line(self):
        schedules = "" if on_gpu() else " under 4 schedules"
        self.assertEqual(run("passes"), (0, f"1 check passed{schedules}\n"))

    def test_one_schedule(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        self.assertEqual(run("passes", SIMT_SEED="3"), (0, "1 check passed\n"))

    def test_some_schedules(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        self.assertEqual(run("passes", COURSE_SEEDS="0,2"), (0, "1 check passed under 2 schedules\n"))
        self.assertEqual(run("depends on the order", COURSE_SEEDS="0")[0], 0)
        self.assertEqual(run("depends on the order", COURSE_SEEDS="0,1")[0], 1)
        self.assertEqual(run("passes", COURSE_SEEDS="0,"), (1, "COURSE_SEEDS must be seeds such as 0,2\n"))

    def test_a_bad_seed(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        self.assertEqual(
            run("passes", SIMT_SEED="x"),
            (1, "simt: SIMT_SEED must be a number from 0 on, and is 'x': try SIMT_SEED=3, or unset SIMT_SEED\n"),
        )

    def test_a_verdict_stands_without_its_expression(self):
        out = self.failing("fails with a verdict")
        self.assertRegex(
            out,
            r"^FAILED: fails with a verdict\n"
            r"  y\[256\]: expected 1, found 0; the other 299 elements are right\n"
            r"  n = 300\n"
            r"  at .*specimen\.cu:\d+\n$",
        )

    def test_an_expression_is_shown_with_its_values(self):
        out = self.failing("fails with an expression")
        self.assertIn("FAILED: fails with an expression / in a section\n", out)
        self.assertIn("  expected: sum == 4\n  found:    3 == 4\n", out)

    def test_a_message(self):
        out = self.failing("fails with a message")
        self.assertIn("  the reason\n", out)

    def test_an_exception(self):
        out = self.failing("throws")
        self.assertIn("  an exception was thrown: out of ideas\n", out)

    def test_a_missing_exception(self):
        out = self.failing("throws nothing")
        self.assertIn("  an exception was expected from std::abs(1)\n", out)

    def test_a_bad_launch(self):
        out = self.failing("makes a bad launch")
        self.assertIn("the kernel launch before this line failed: cudaErrorInvalid", out)
        self.assertIn("Check <<<grid, block, shared bytes>>>" if on_gpu() else "The block has 2000 threads, and 1024 is the most.", out)

    def test_the_first_failure_is_shown_and_the_others_are_named(self):
        out = self.failing("fails with*", "throws")
        self.assertEqual(out.count("FAILED: "), 1)
        self.assertIn('also failed, the case "fails with an expression / in a section"\n', out)
        self.assertNotIn("never shown", out)

    def test_two_seconds_after_a_failure_it_ends(self):
        what = dict(COURSE_EDIT="a/b.cuh", COURSE_RERUN="again")
        begin = time.monotonic()
        out = self.failing("fails with a message", "hangs", "throws", timeout=20, **what)
        self.assertLess(time.monotonic() - begin, 4)
        self.assertTrue(out.startswith("FAILED: fails with a message\n"), out)
        self.assertTrue(out.endswith(
            "\n1 of 3 cases had not ended 2 s after the failure; ./course check specimen --all runs all of them\n"
            "\nedit:  a/b.cuh\nrerun: again\n"), out)
        with self.assertRaises(subprocess.TimeoutExpired):
            run("fails with a message", "hangs", timeout=4, COURSE_ALL="1", **what)
        with self.assertRaises(subprocess.TimeoutExpired):  # no learner waits
            run("fails with a message", "hangs", timeout=4)

    def seen(self, test, **environment):
        """What a test case shows at a terminal."""
        ours, theirs = os.openpty()
        with os.fdopen(ours, "rb", buffering=0) as screen:
            program = subprocess.Popen([SPECIMEN, test], env={**os.environ, "TERM": "xterm", **environment}, stdout=theirs, stderr=theirs)
            os.close(theirs)
            text = b""
            with contextlib.suppress(OSError):  # the terminal's other end is closed
                while part := screen.read(1000):
                    text += part
            program.wait()
            return text.decode()

    def test_a_line_at_a_terminal_says_how_far_it_is(self):
        line = r"(\r\x1b\[Kchecking: case 1 of 1, schedule [0-3] \(\d s\)\r)+\r\x1b\[K1 check passed"
        self.assertRegex(self.seen("takes a second", COURSE_PROGRESS="1"), line)
        self.assertNotIn("checking", self.seen("takes a second"))
        self.assertNotIn("checking", self.seen("passes", COURSE_PROGRESS="1"))
        self.assertNotIn("checking", self.seen("takes a second", COURSE_PROGRESS="1", TERM="dumb"))
        self.assertNotIn("checking", run("takes a second", COURSE_PROGRESS="1", TERM="xterm")[1])

    def test_a_line_at_a_terminal_says_that_it_counts(self):
        if on_gpu():
            self.skipTest("a GPU counts nothing")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "result.json"
            text = self.seen("takes a second", COURSE_PROGRESS="1", COURSE_COUNT_SECONDS="20", COURSE_RESULT=str(file))
            self.assertRegex(text, r"1 check passed under 4 schedules\r\n(\r\x1b\[Kcounting what the kernels do \(\d s\)\r)+\r\x1b\[K$")
            self.assertTrue(json.loads(file.read_text())["counts"])

    def test_the_first_failure_has_its_own_messages(self):
        out = self.failing("fails twice")
        self.assertIn("expected: sum == 4", out)
        self.assertNotIn("second failure", out)

    def test_what_to_do_next(self):
        out = self.failing("fails with a message", COURSE_EDIT="a/b.cuh", COURSE_RERUN="meson test b")
        self.assertTrue(out.endswith("\n\nedit:  a/b.cuh\nrerun: meson test b\n"), out)
        self.assertNotIn("edit:", run("passes", COURSE_EDIT="a/b.cuh")[1])

    def test_the_compilers_warnings_stand_below_a_failure(self):
        code, out = run("fails with a message", COURSE_WARNINGS="b.cuh:3:1: warning: x")
        self.assertIn("\nThe compiler also printed a warning:\n  b.cuh:3:1: warning: x\n", out)
        self.assertNotIn("warning", run("fails with a message", COURSE_WARNINGS="")[1])
        self.assertNotIn("warning", run("passes", COURSE_WARNINGS="b.cuh:3:1: warning: x")[1])

    def test_a_skip_says_why(self):
        self.assertEqual(run("is skipped"), (77, "skipped: is skipped: no reason\n"))
        code, out = run("is skipped", "passes")
        self.assertEqual(code, 0)
        self.assertIn("not tried here: is skipped: no reason\n1 check passed", out)
        _, out = run("is skipped", "is skipped, too", "passes")
        self.assertIn("not tried here: is skipped; is skipped, too: no reason\n1 check passed", out)

    def test_a_check_that_compares_nothing_fails(self):
        self.assertEqual(run("compares nothing"), (1, "FAILED: 1 checks ran, and compared nothing\n"))
        self.assertEqual(run("compares nothing", "passes")[0], 0)

    def test_skips_hide_no_failure(self):
        self.assertEqual(run("is skipped", "fails with a message")[0], 1)

    def test_a_race_is_reported_instead_of_its_consequences(self):
        if on_gpu():
            self.skipTest("a GPU has no race checker")
        out = self.failing("races")
        self.assertRegex(out, r"^FAILED: races\n  DATA RACE in kernel add_racy on d_sum")
        self.assertIn("  two blocks\n", out)
        self.assertNotIn("main.cpp", out)
        self.assertNotIn("expected 63", out)

    def test_the_first_launch_that_races_is_shown(self):
        if on_gpu():
            self.skipTest("a GPU has no race checker")
        out = self.failing("races in every launch")
        self.assertIn("  the first launch\n", out)
        self.assertNotIn("second", out)

    def test_a_race_that_nobody_waits_for(self):
        if on_gpu():
            self.skipTest("a GPU has no race checker")
        out = self.failing("races, and does not wait")
        self.assertIn("FAILED: races, and does not wait\n  DATA RACE in kernel add_racy", out)

    def test_an_illegal_access(self):
        code, out = run("leaves its array", "passes")
        if on_gpu():
            self.skipTest("whether 4 bytes past the end of an allocation trap is up to the GPU")
        self.assertEqual(code, 1)
        self.assertIn("OUT OF BOUNDS in kernel write_at", out)
        self.assertNotIn("also failed", out)

    def test_a_failing_schedule_can_be_replayed(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        out = self.failing("depends on the order")
        self.assertIn("Only a shuffled schedule shows this; SIMT_SEED=1 replays it.\n", out)
        replayed = out.replace("Only a shuffled schedule shows this; SIMT_SEED=1 replays it.",
                               "This is the shuffled schedule of SIMT_SEED=1.")
        self.assertEqual(run("depends on the order", SIMT_SEED="1"), (1, replayed))
        self.assertEqual(run("depends on the order", "races*", SIMT_SEED="1")[0], 1)
        self.assertEqual(run("depends on the order", SIMT_SEED="0")[0], 0)

    def test_cases_that_are_others_under_each_schedule(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        out = self.failing("tries other numbers under each schedule")
        self.assertIn("\nThis test tries other cases under each schedule; SIMT_SEED=2 replays it.\n", out)
        out = self.failing("depends on the order", "tries other numbers under each schedule", COURSE_RERUN="again")
        self.assertIn("\nOnly a shuffled schedule shows this; to replay it: ./course check specimen --seed 1\n", out)

    def test_the_schedule_that_found_something_last_time_goes_first(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        out = self.failing("depends on the order", COURSE_FIRST_SEED="3")
        self.assertIn("\nA shuffled schedule shows this; SIMT_SEED=3 replays it.\n", out)
        out = self.failing("depends on the order", COURSE_FIRST_SEED="3", COURSE_RERUN="again")
        self.assertIn("\nA shuffled schedule shows this; to replay it: ./course check specimen --seed 3\n", out)
        for seed in ("", "0", "7", "x"):  # none of those that may go first
            self.assertIn("SIMT_SEED=1 replays it", self.failing("depends on the order", COURSE_FIRST_SEED=seed))
        self.assertEqual(run("passes", COURSE_FIRST_SEED="2"), (0, "1 check passed under 4 schedules\n"))


class ExitCodes(Specimen):
    def test_a_note_stands_with_the_failure(self):
        if on_gpu():
            self.skipTest("a GPU takes no notes")
        out = self.failing("uses lanes that take no part")
        self.assertIn("largest: expected 4, found", out)
        self.assertRegex(out, r"note: common/tests/specimen\.cu:\d+: block 0 thread 0 \(lane 0\) gets an undefined value from this shuffle: lane 16 does not exist")
        code, out = run("reads lanes that take no part, and uses none")
        self.assertEqual((code, out), (0, "1 check passed under 4 schedules\n"))

    def test_a_note_of_a_case_that_passed_is_not_told_with_the_next_one(self):
        if on_gpu():
            self.skipTest("a GPU takes no notes")
        out = self.failing("fails in a case after one with a note")
        self.assertIn("largest: expected 4, found 8\n", out)
        self.assertIn("the second case", out)
        self.assertNotIn("note:", out)

    def test_nothing_selected_is_no_pass(self):
        self.assertEqual(run("no such test")[0], 1)

    def test_an_unknown_option(self):
        self.assertEqual(run(options=["--no-such-option"])[0], 1)

    def test_a_crash_is_a_signal_or_a_failure(self):
        code, out = run("crashes")
        self.assertNotIn(code, (0, 77))
        self.assertIn("the program crashed: SIGSEGV", out)

    def test_a_crash_in_host_code_names_the_line(self):
        code, out = run("uses a null pointer in host code")
        self.assertNotIn(code, (0, 77))
        self.assertIn("the program crashed: SIGSEGV", out)
        if not on_gpu():
            self.assertRegex(out, r"at common/tests/specimen\.cu:\d+, in host code\n    Is a pointer null or invalid there")

    def test_what_takes_too_long_is_ended_and_named(self):
        if on_gpu():
            self.skipTest("a GPU's time is not this process's")
        out = self.failing("takes too long in host code", COURSE_CPU_SECONDS="1")
        self.assertRegex(out, r"^FAILED: takes too long in host code\n"
                              r"  the check takes too long: after 1 s of processor time it was in host code,\n"
                              r"    at common/tests/specimen\.cu:\d+\n")
        out = self.failing("takes too long in a launch", COURSE_CPU_SECONDS="1", COURSE_EDIT="a.cuh")
        self.assertIn("it was in the launch count_slowly<<<dim3(1, 2), 32>>>,\n    at common/tests/specimen.cu:", out)
        self.assertTrue(out.endswith("\nedit:  a.cuh\n"), out)
        self.assertEqual(run("passes", COURSE_CPU_SECONDS="0.5")[0], 0)
        self.assertIn("COURSE_CPU_SECONDS must be a number above 0", run("passes", COURSE_CPU_SECONDS="x")[1])

    def test_catch2_options_still_work(self):
        self.assertEqual(run(options=["--list-tests"])[0], 0)
        code, out = run("passes", options=["-r", "console", "-s"])
        self.assertEqual(code, 0)
        self.assertIn("All tests passed", out)
        self.assertEqual(run("fails with a message", options=["-r", "compact"])[0], 1)

    def test_other_reporters_show_reports_too(self):
        if on_gpu():
            self.skipTest("a GPU has no race checker")
        out = self.failing("races", options=["-r", "compact"])
        self.assertIn("DATA RACE in kernel add_racy", out)

    def test_an_exercise_that_is_not_started(self):
        code, out = run(program=NOT_STARTED)
        self.assertEqual(code, 77)
        self.assertIn("delete its NOT_STARTED line", out)


class Result(unittest.TestCase):
    """The socket or file that COURSE_RESULT names."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "results" / "x.json"

    def result(self, *tests, code, **environment):
        self.assertEqual(run(*tests, COURSE_RESULT=str(self.file), **environment)[0], code)
        return json.loads(self.file.read_text())

    def sent(self, *tests, code, **environment):
        """(result, output) of a check whose runner holds a socket."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            environment = {**os.environ, "COURSE_RESULT": f"socket:{theirs.fileno()}", **environment}
            with tempfile.TemporaryFile("w+") as out:
                program = subprocess.Popen([SPECIMEN, *tests], env=environment, stdout=out, stderr=out, pass_fds=[theirs.fileno()])
                theirs.close()
                data = b""
                while part := ours.recv(65536):
                    data += part
                self.assertEqual(program.wait(), code)
                out.seek(0)
                return json.loads(data), out.read()

    def test_the_exit_code_is_that_of_the_verdict(self):
        for test, code, verdict in (
            ("passes", 0, "passed"), ("is skipped", 77, "skipped"), ("fails with a message", 1, "failed"),
        ):
            self.assertEqual(self.sent(test, code=code)[0]["verdict"], verdict)
        for test, code, verdict in (("fails with a message", 0, "rejected"), ("passes", 1, "not_rejected")):
            self.assertEqual(self.sent(test, code=code, COURSE_EXPECT="rejection")[0]["verdict"], verdict)

    def test_two_seconds_after_a_failure_it_ends_in_a_kernel_too(self):
        if on_gpu():
            self.skipTest("a GPU's kernel is not interrupted")
        found, out = self.sent("fails with a message,takes too long in a launch", code=1, COURSE_RERUN="again")
        self.assertEqual(len(found["failures"]), 1)
        self.assertEqual(out.count("rerun: again\n"), 1)

    def test_a_pass(self):
        found = self.result("passes", "is skipped", code=0, COURSE_EDIT="a.cuh", COURSE_RERUN="again")
        self.assertEqual((found["schema"], found["version"], found["program"]), ("course.result", 1, Path(SPECIMEN).name))
        self.assertEqual(found["checks"], {"passed": 1, "failed": 0, "skipped": 1, "comparisons": 2})
        self.assertEqual(found["skips"], [{"test": "is skipped", "reason": "no reason"}])
        self.assertEqual((found["failures"], found["edit"], found["rerun"]), ([], "a.cuh", "again"))
        self.assertIn("1 check passed", found["reason"])
        self.assertGreater(found["seconds"], 0)
        if not on_gpu():
            self.assertEqual((found["device"], found["seed"], found["schedules"]), ("CPU device", 3, 4))

    def test_what_the_answer_has_launched_in_this_case(self):
        if on_gpu():
            self.skipTest("a GPU does not tell")
        launched = "  launched: count_up<<<1, 2>>>, count_up<<<(2, 2), 32>>>\n"
        self.assertIn("  n = 2\n" + launched, self.sent("fails after launches", code=1, COURSE_EDIT="common/tests/specimen.cu")[1])
        self.assertNotIn("launched", self.sent("fails after launches", code=1, COURSE_EDIT="exercises/x.cuh")[1])

    def test_what_no_kernel_has_read(self):
        if on_gpu():
            self.skipTest("a GPU does not tell")
        self.assertIn(
            "  no kernel has read every 2nd element from [1] on of x, which has 10 elements\n"
            "  no kernel has read [1] to [2] of last, which has 3 elements\n",
            self.sent("reads a part", code=1)[1],
        )

    def test_more_processes_say_the_same(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        for tests, code in (
            ("passes,is skipped", 0), ("is skipped", 77), ("compares nothing", 1), ("fails with a verdict,fails twice", 1),
            ("depends on the order", 1), ("tries other numbers under each schedule", 1), ("launches twice,passes", 0),
        ):
            with self.subTest(tests):
                expected = self.sent(tests, code=code, COURSE_COUNT_SECONDS="60")
                for processes in ("2", "3", "9"):
                    found = self.sent(tests, code=code, COURSE_COUNT_SECONDS="60", COURSE_PROCESSES=processes)
                    for result, _ in (expected, found):
                        result.update(seconds=0, transcript="")
                    self.assertEqual(found, expected)

    def test_more_processes_end_a_check_that_has_failed_in_the_same_way(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        for tests, left in (("passes,fails with a message,hangs", 1), ("fails with a message,takes a second,hangs", 2), ("fails twice,throws", 0)):
            with self.subTest(tests):
                (_, alone), (_, helped) = (self.sent(tests, code=1, COURSE_RERUN="again", **more) for more in ({}, {"COURSE_PROCESSES": "2"}))
                self.assertEqual("cases had not ended" in helped, left > 0)
                self.assertEqual(helped.replace("1 of 3 cases", "2 of 3 cases"), alone.replace("1 of 3 cases", "2 of 3 cases"))

    def test_what_ends_another_process_early_is_no_pass(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        for processes in ("1", "2", "4"):
            self.assertEqual(run("ends the program under schedule 2", COURSE_PROCESSES=processes), (0, ""))
            code, out = run("is killed under schedule 3", COURSE_PROCESSES=processes)
            self.assertEqual((code, out), (-9, ""))

    def test_test_cases_run_at_the_same_time(self):
        if on_gpu():
            self.skipTest("one process runs what needs a GPU")
        start = time.monotonic()
        self.assertEqual(run("takes a second", "takes a second, too", COURSE_PROCESSES="2"), (0, "all 2 checks passed under 4 schedules\n"))
        self.assertLess(time.monotonic() - start, 4.5)  # 5.6 s, one after another

    def test_a_pass_is_counted_if_that_is_wanted(self):
        if on_gpu():
            self.skipTest("a GPU counts nothing")
        self.assertEqual(self.result("launches twice", code=0)["counts"], [])
        counts = self.result("launches twice", code=0, COURSE_COUNT_SECONDS="60")["counts"]
        values = {count["name"]: count["value"] for count in counts}
        self.assertEqual((values["launches"], values["global_stores"], values["barriers"]), (2, 2, 0))
        self.assertTrue(all(count["what"] and count["costs"] for count in counts))
        self.assertEqual(self.result("fails with a message", code=1, COURSE_COUNT_SECONDS="60")["counts"], [])

    def test_the_verdict_stands_whatever_the_counted_run_does(self):
        if on_gpu():
            self.skipTest("a GPU counts nothing")
        for what in ("hangs", "crashes", "fails"):
            code, text = run(f"{what} when it is counted", COURSE_COUNT_SECONDS="0.5", COURSE_RESULT=str(self.file))
            self.assertEqual((code, text), (0, "1 check passed under 4 schedules\n"))
            self.assertEqual(json.loads(self.file.read_text())["counts"], [])

    def test_a_check_that_ends_after_a_failure_has_a_result(self):
        found, _ = self.sent("passes,fails with a message,hangs", code=1, COURSE_RERUN="again")
        self.assertEqual(found["verdict"], "failed")
        self.assertEqual([failure["test"] for failure in found["failures"]], ["fails with a message"])
        self.assertEqual((found["checks"]["passed"], found["checks"]["failed"]), (1, 1))

    def test_a_failure_has_its_place(self):
        found = self.result("fails with a verdict", code=1)
        first = found["failures"][0]
        self.assertEqual((first["test"], first["kind"]), ("fails with a verdict", "check"))
        self.assertEqual(first["text"], "y[256]: expected 1, found 0; the other 299 elements are right")
        self.assertEqual(found["reason"], first["text"])
        self.assertEqual((first["details"], first["finding"]), ("n = 300\n", None))
        self.assertEqual(first["values"], {"name": "y", "size": 300, "wrong": 1, "first": 256, "last": 256, "expected": "1",
                                           "found": "0", "facts": []})
        self.assertTrue(first["file"].endswith("common/tests/specimen.cu"), first["file"])
        self.assertGreater(first["line"], 0)
        thrown = self.result("throws", code=1)["failures"][0]
        self.assertEqual((thrown["kind"], thrown["values"]), ("exception", None))

    def test_the_nearest_case_that_passed(self):
        _, done = run("fails for one size")
        sentence = 'The case with "n = 32" passed; this one has "n = 33".'
        self.assertIn(f"  done: expected 1, found 0\n  n = 33: all zero\n  {sentence}\n  at ", done)
        self.assertEqual(self.result("fails for one size", code=1)["failures"][0]["nearest_passed"], sentence)
        self.assertEqual(self.result("fails with a verdict", code=1)["failures"][0]["nearest_passed"], "")

    def test_other_launches_in_which_the_same_case_is_right(self):
        if on_gpu():
            self.skipTest("a GPU's process cannot be doubled")
        sentence = "The same case is right with <<<1, 32>>>, <<<1, 64>>>, <<<1, 128>>>, <<<2, 128>>>; it is wrong with <<<1, 256>>>, too."
        for test in ("fails in some launches", "races in some launches", "is stopped in some launches"):
            with self.subTest(test):
                self.assertEqual(self.result(test, code=1)["failures"][0]["nearest_passed"], sentence)
                self.assertIn(f"  {sentence}\n", run(test)[1])
        self.assertEqual(self.result("throws in every launch", code=1)["failures"][0]["nearest_passed"], "")

    def test_a_finding(self):
        if on_gpu():
            self.skipTest("a GPU has no race checker")
        first = self.result("races", code=1)["failures"][0]
        self.assertEqual((first["kind"], first["finding"]["kernel"]), ("finding", "add_racy"))

    def test_a_check_that_takes_too_long(self):
        if on_gpu():
            self.skipTest("a GPU's time is not this process's")
        found = self.result("takes too long in a launch", code=1, COURSE_CPU_SECONDS="1")
        first = found["failures"][0]
        self.assertEqual((first["test"], first["kind"]), ("takes too long in a launch", "time_out"))
        self.assertIn("count_slowly<<<dim3(1, 2), 32>>>", first["text"])

    def test_the_schedule_that_shows_it(self):
        if on_gpu():
            self.skipTest("a GPU has no schedules")
        found = self.result("depends on the order", code=1)
        self.assertEqual((found["seed"], found["schedules"]), (1, 2))

    def test_no_verdict_leaves_no_older_result(self):
        self.result("passes", code=0)
        run("crashes", COURSE_RESULT=str(self.file))
        self.assertFalse(self.file.exists())

    def test_an_answer_does_not_find_the_socket(self):
        _, out = self.sent("tells its environment", code=1, COURSE_TRANSCRIPT="a word")
        self.assertIn("FAILED: tells its environment", out)
        self.assertNotIn("socket:", out)
        self.assertNotIn("a word", out)
        self.assertNotIn(str(self.file), run("tells its environment", COURSE_RESULT=str(self.file))[1])

    def test_the_transcript_follows_from_the_comparisons(self):
        def transcript(*tests, word="a word", **environment):
            return self.sent(",".join(tests), code=0, COURSE_TRANSCRIPT=word, **environment)[0]["transcript"]

        self.assertRegex(transcript("passes"), "^[0-9a-f]{16}$")
        self.assertEqual(transcript("passes"), transcript("passes"))
        seen = [transcript("passes"), transcript("passes", word="another"), transcript("passes", "is skipped"),
                transcript("launches twice"), transcript("compares nothing", "passes", word="a")]
        seen += [] if on_gpu() else [transcript("passes", COURSE_SEEDS="0,1")]
        self.assertEqual(len(set(seen)), len(seen))

    def test_cases_that_not_every_answer_gets_are_not_in_the_transcript(self):
        def transcript(**environment):
            return self.sent("tries more cases of some answers", code=0, **environment)[0]["transcript"]

        self.assertNotEqual(transcript(), transcript(TEST_ONE_MORE="1"))
        self.assertEqual(transcript(), transcript(TEST_ONE_MORE="1", TEST_LEAVES_OUT="1"))


class Rejection(unittest.TestCase):
    """COURSE_EXPECT=rejection, for answers that are known to be wrong."""

    def judge(self, *tests, **environment):
        return run(*tests, COURSE_EXPECT="rejection", **environment)

    def test_a_verdict_rejects(self):
        self.assertEqual(
            self.judge("fails with a verdict"),
            (0, "rejected by 'fails with a verdict': "
                "y[256]: expected 1, found 0; the other 299 elements are right\n"),
        )

    def test_an_assertion_rejects(self):
        for test in ("fails with an expression", "fails with a message", "throws nothing"):
            self.assertEqual(self.judge(test)[0], 0, test)

    def test_reports_reject(self):
        if on_gpu():
            self.skipTest("a GPU has no checker")
        for test in ("races", "races, and does not wait", "leaves its array"):
            code, out = self.judge(test)
            self.assertEqual(code, 0, test)
            self.assertIn("rejected by", out)
        self.assertEqual(self.judge("depends on the order")[0], 0)

    def test_a_launch_that_cannot_be_rejects(self):
        code, out = self.judge("makes a bad launch")
        self.assertEqual(code, 0)
        self.assertIn("rejected by 'makes a bad launch': an exception was thrown: ", out)

    def test_a_right_answer_is_not_rejected(self):
        code, out = self.judge("passes")
        self.assertEqual(code, 1)
        self.assertIn("not rejected: 1 checks passed", out)

    def test_no_verdict_is_no_rejection(self):
        for test in ("throws", "crashes", "is skipped", "no such test"):
            self.assertNotIn(self.judge(test)[0], (0, 77), test)

    def test_only_the_first_failure_counts(self):
        # In the order of specimen.cu: the exception comes between the two.
        self.assertEqual(self.judge("fails with a message", "throws")[0], 0)
        self.assertEqual(self.judge("throws", "throws nothing")[0], 1)

    def test_a_hang_is_no_rejection(self):
        with self.assertRaises(subprocess.TimeoutExpired):
            run("hangs", timeout=3, COURSE_EXPECT="rejection")

    def test_nothing_runs_after_the_first_failure(self):
        self.assertEqual(self.judge("fails with a verdict", "hangs")[0], 0)

    def test_an_exercise_that_is_not_started_is_no_rejection(self):
        self.assertEqual(run(program=NOT_STARTED, COURSE_EXPECT="rejection")[0], 1)


if __name__ == "__main__":
    SPECIMEN, NOT_STARTED = sys.argv[1:3]
    if run("passes")[0] == 77:
        print("skipped: no kernel can run here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
