"""Which files ./course run --each means, and what comments and baselines say of findings."""

import os
import signal
import tempfile
import time
import unittest
from multiprocessing.util import Finalize
from pathlib import Path

from tools.lib.failed import Failed
from tools.run import baseline
from tools.run.outcome import CRASHED, FAILED, FINDINGS, NOT_COMPILED, NOTHING, OUT_OF_MEMORY, OUT_OF_TIME, REFUSED, Access, Finding, Outcome, Schedule
from tools.run.renamed import renamed, source_file
from tools.run.several import ENDING, ended_by_signals, exit_code_of, files_of, in_parallel, programs_and_parts, table
from tools.run.sources import Sources
from tools.run.suppressions import LIKE, Suppression, almost_in, suppressions_in

READS = ()

CODES = {NOTHING: 0, FINDINGS: 66, REFUSED: 69, NOT_COMPILED: 1, OUT_OF_TIME: 124, OUT_OF_MEMORY: 125, CRASHED: 139, FAILED: 7}


def outcome(verdict, **more):
    return Outcome(("a.cu",), verdict, CODES[verdict], 1.25, schedules=(Schedule(0, 0),), **more)


def finding(line=3, kind="data_race", **more):
    accesses = (Access("write", "a.cu", line, "0", "0", 0), Access("write", "b.cuh", 9, "0", "1", 0))
    return Finding(kind, "k", "x", "a.cu", line, "DATA RACE in kernel k on x[0]", accesses, 0, 1, **more)


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    @staticmethod
    def write(*names, text=""):
        for name in names:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text)


def leaves_a_file(folder):
    """A task of which the process leaves a file when it ends by itself; its process."""
    path = Path(folder, str(os.getpid()))
    Finalize(None, path.touch, exitpriority=1)
    time.sleep(0.1)  # the other process has a task, too
    return os.getpid()


def handlers(_):
    return [signal.getsignal(number) for number in ENDING]


class Processes(unittest.TestCase):
    def test_they_end_by_themselves(self):
        with tempfile.TemporaryDirectory() as folder:
            processes = set(in_parallel(leaves_a_file, [folder] * 4, 2))
            self.assertEqual(set(os.listdir(folder)), set(map(str, processes)))
            self.assertNotIn(os.getpid(), processes)

    def test_a_signal_has_a_handler_during_a_task_alone(self):
        for number in ENDING:
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        during = ended_by_signals(handlers, None)
        for handler in during:
            with self.assertRaises(SystemExit):
                handler(signal.SIGTERM, None)
        self.assertEqual(handlers(None), [signal.SIG_DFL] * len(ENDING))


class Files(InAFolder):
    def test_folders_patterns_and_files(self):
        self.write("z.cu", "src/b.cu", "src/a/c.cu", "src/a/d.cpp", "src/.hidden/e.cu", "src/.f.cu", "src/out/CMakeCache.txt", "src/out/g.cu",
                   "src/CMakeFiles/h.cu", "src/meson/meson-info/i", "src/meson/j.cu")
        self.assertEqual(files_of(["src"]), ["src/a/c.cu", "src/b.cu"])
        self.assertEqual(files_of(["z.cu", "src/"]), ["z.cu", "src/a/c.cu", "src/b.cu"])
        self.assertEqual(files_of(["./src/b.cu", "src/**/*", "src"])[:2], ["./src/b.cu", "src/CMakeFiles/h.cu"])
        self.assertEqual(files_of(["."]), ["src/a/c.cu", "src/b.cu", "z.cu"])
        self.assertEqual(files_of(["src/out"]), ["src/out/g.cu"])  # it is named
        for name in ("none", "none*", "src/a/d.cpp", "src/.hidden/x*"):
            with self.assertRaises(Failed, msg=name):
                files_of([name])


    def test_files_that_are_linked_into_each_program_and_files_that_are_left_out(self):
        self.write("tests/a.cu", "tests/b.cu", "tests/old/c.cu", "src/scan.cu", "src/io.cpp", "src/main.cu", "src/x.h")
        endings = (".cu", ".cpp")
        tests, src = ["tests/a.cu", "tests/b.cu"], ["src/io.cpp", "src/scan.cu"]
        self.assertEqual(programs_and_parts(["tests"], ["src"], ["*/main.cu", "tests/old/*", "*.none"], endings), (tests, src, ["*.none"]))
        self.assertEqual(programs_and_parts(["tests/*.cu", "src/scan.cu"], ["./src/*"], ["*/main.cu"], endings)[:2],
                         (tests, ["./src/io.cpp", "./src/scan.cu"]))
        self.assertEqual(programs_and_parts(["src"], [], [], endings)[:2], (["src/main.cu", "src/scan.cu"], []))
        for parts, excluded in ((["src/x.h"], []), (["none"], []), ([], ["*"]), (["tests"], [])):
            with self.assertRaises(Failed, msg=parts):
                programs_and_parts(["tests"], parts, excluded, endings)


class Codes(unittest.TestCase):
    def test_the_worst_one_decides(self):
        for verdicts, code in (([NOTHING, FAILED, CRASHED, OUT_OF_TIME, NOT_COMPILED, FINDINGS], 66), ([OUT_OF_TIME, NOT_COMPILED, NOTHING], 1),
                               ([CRASHED, OUT_OF_MEMORY, OUT_OF_TIME, FAILED], 124), ([CRASHED, OUT_OF_MEMORY, FAILED], 125),
                               ([NOTHING, REFUSED, CRASHED, FAILED], 139), ([FAILED, CRASHED], 7),
                               ([REFUSED, NOTHING], 0), ([REFUSED, REFUSED], 69), ([NOTHING], 0)):
            self.assertEqual(exit_code_of(list(map(outcome, verdicts))), code, verdicts)
        no_main = outcome(NOT_COMPILED, has_main=False)
        self.assertEqual(exit_code_of([no_main, outcome(REFUSED)]), 69)
        self.assertEqual(exit_code_of([no_main, outcome(NOTHING)]), 0)
        self.assertEqual(exit_code_of([no_main]), 1)

    def test_the_table(self):
        findings = (finding(), finding(suppressed="why"), finding(is_known=True), finding(is_known=True))
        self.assertEqual(table(["a.cu", "folder/b.cu"], [outcome(FINDINGS, findings=findings), outcome(NOTHING)]), """\
file         verdict                     findings   time
--------------------------------------------------------
a.cu         findings       1, 2 known, 1 allowed  1.2 s
folder/b.cu  nothing found                      0  1.2 s

2 programs (nothing found: 1, findings: 1).
""")


class Comments(InAFolder):
    def test_what_a_file_allows(self):
        self.write("a.cu", text="x;  // course: allow data_race: it is a sum: of few\n// course:allow out_of_bounds :  why \n// course: allowed\n")
        self.assertEqual(suppressions_in("a.cu", ["data_race", "out_of_bounds"]), (
            [Suppression("a.cu", 1, "data_race", "it is a sum: of few"), Suppression("a.cu", 2, "out_of_bounds", "why")], []))
        self.write("a.cu", text="// course: allow\n\n// course: allow data_race:\n// course: allow race: why\n")
        found, problems = suppressions_in("a.cu", ["data_race"])
        self.assertEqual((found, [line for line, _ in problems]), ([], [1, 3, 4]))
        self.assertEqual(suppressions_in("none.cu", []), ([], []))
        self.write("a.cu", text="f(/* course: allow data_race: why not */ 1, /* 2 */ x);\n/* course: allow data_race */\n/* course: allow data_race: a\n */")
        found, problems = suppressions_in("a.cu", ["data_race"])
        self.assertEqual((found, [line for line, _ in problems]), ([Suppression("a.cu", 1, "data_race", "why not")], [2]))
        self.assertEqual(almost_in("a.cu", ["data_race"]), [
            f"a.cu:3: this comment allows nothing. Is it meant to? The form, in one line: {LIKE}"])

    def test_comments_that_almost_allow(self):
        def is_almost(text):
            self.write("a.cu", text=text)
            return bool(almost_in("a.cu", ["data_race", "out_of_bounds"]))

        for text in ("x;  // course: alow data_race: x", "// Course: allow data_race - x", "//course : Allow data_race: x", "// course: allowed",
                     "/// course: allows data_race: x", "/* course: alow data_race: x */", " * course: allow data_race: x", "// course: data_race: x",
                     "// COURSE: data-race", "//! course: allow data_race: x"):
            self.assertTrue(is_almost(text), text)
        for text in ("// course: allow data_race: x", "/* course: allow data_race: x */", "// course: allow race", "// course: all blocks write",
                     "// of course: allow", "// course: see the chapter", 'f("course: allow");', "// course", "x = course ? allow : y;"):
            self.assertFalse(is_almost(text), text)

    def test_its_lines(self):
        def allows(line, kind="data_race", file="a.cu"):
            return Suppression(file, line, kind, "why").allows(finding(3))

        self.assertEqual([allows(line) for line in (1, 2, 3, 4)], [False, True, True, False])
        self.assertTrue(allows(8, file="./b.cuh"))  # the other access
        self.assertFalse(allows(3, "out_of_bounds"))
        self.assertFalse(allows(9, file="a.cu"))


class Baselines(InAFolder):
    def test_what_is_written_is_read(self):
        self.write("a.cu", text="1\n2\nx = 3;\ny = 4;\n")
        sources = Sources(".")
        entries = baseline.entries_of([finding(4), finding(3), finding(3, suppressed="why")], sources)
        self.assertEqual(len(entries), 2)
        self.assertEqual(baseline.write("b.json", [*entries, *entries]), 2)
        lines = Path("b.json").read_text().splitlines()
        self.assertEqual((len(lines), sorted(lines[1:3])), (4, lines[1:3]))
        known = baseline.read("b.json")
        self.assertEqual(known, {entry["fingerprint"]: entry for entry in entries})
        self.assertEqual(baseline.gone_from(known, {entries[0]["fingerprint"]}), ["no longer found: data_race in kernel k in a.cu"])
        baseline.write("b.json", [])
        self.assertEqual(baseline.read("b.json"), {})

    def test_files_that_are_none(self):
        for text in ("", "[]", "{}", '{"schema": "course.baseline", "version": 2, "findings": []}',
                     '{"schema": "course.baseline", "version": 1, "findings": [{}]}'):
            self.write("b.json", text=text)
            with self.assertRaisesRegex(Failed, r"^b\.json is no baseline: .*\.$", msg=text):
                baseline.read("b.json")
        with self.assertRaises(Failed):
            baseline.read("none.json")
        with self.assertRaises(Failed):
            baseline.write("none/b.json", [])


class StandardInput(InAFolder):
    def test_its_name_is_in_all_texts(self):
        with source_file(b"text", Path.cwd() / "run") as file:
            self.assertEqual(file.read_text(), "text")
            text = f"{os.path.relpath(file)}:3: error; {file}:4"
            one = renamed(Outcome((str(file),), NOT_COMPILED, 1, 0, text, warnings=(text,)), file)
        expected = "stdin.cu:3: error; stdin.cu:4"
        self.assertEqual((one.sources, one.message, one.warnings), (("stdin.cu",), expected, (expected,)))
        self.assertFalse(file.parent.exists())


if __name__ == "__main__":
    unittest.main()
