"""The programs in programs/, through ./course run: right ones, wrong ones, and what the CPU device does not support.

    COURSE_TEST_BUILD=build python3 common simt.tests.test_programs [NAME ...]     all of them, or those in whose path a NAME is
    ... --part K/N                                                                 every Nth of them, from the Kth on: a test of Meson's

The first line of a program says what it stands for, and what ./course run must do with it:

    // Construct: WHAT. Expect: runs.                        20 schedules, no finding, exit code 0
    // Construct: WHAT. Expect: finding "TEXT" on OBJECT.    exit code 66; all findings begin with TEXT, and name OBJECT,
                                                             if there is one
    // Construct: WHAT. Expect: missed "WHY".                a mistake that the checker does not see, as its README says: 4
                                                             schedules, no finding, exit code 0
    // Construct: WHAT. Expect: unsupported "TEXT".          one error with TEXT, at the line that ends in "// unsupported"; exit
                                                             code 69, or 1 for what nvcc refuses, too

A folder is a program of several files, whose first line is that of main.cu.
"""

import multiprocessing
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

from build.rewriter.source import is_unsupported
from tools.learn import course
from tools.lib.checkout import TOP
from tools.run.outcome import CODE_OF, NOT_COMPILED, REFUSED

BUILD = Path(os.environ.get("COURSE_TEST_BUILD") or TOP / "build").resolve()
FOLDER = Path(__file__).resolve().parent / "programs"
READS = ("course", "common/simt/tests/programs", "common/tools/run/kinds.toml")  # common/tools/verdicts/reads.py
SKIPPED = 77
FORM = re.compile(r'// Construct: (.+)\. Expect: (runs|finding "([^"]+)"(?: on (\w+))?|missed "[^"]+"|unsupported "([^"]+)")\.')
SEEDS = {"runs": 20, "finding": 8, "missed": 4, "unsupported": 1}


class Program:
    """A program, and what is expected of it."""

    def __init__(self, file):
        self.file = file
        self.name = str((file.parent if file.name == "main.cu" else file).relative_to(FOLDER))
        self.sources = sorted(file.parent.glob("*.c*")) if file.name == "main.cu" else [file]
        self.text = file.read_text(encoding="utf-8")
        first = self.text.partition("\n")[0]
        found = FORM.fullmatch(first)
        if not found:
            raise ValueError(f"{file}: the first line must be '// Construct: WHAT. Expect: ...', not: {first}")
        self.expected = found[2]
        self.outcome = found[2].split()[0]
        self.finding, self.object, self.unsupported = found[3], found[4], found[5]

    def run(self):
        """Exit code and output of ./course run, in a process of its own."""
        words = ["run", "--seeds", str(SEEDS[self.outcome]), *(os.path.relpath(file) for file in self.sources)]
        with tempfile.TemporaryFile() as output:
            for number in (1, 2):
                os.dup2(output.fileno(), number)
            sys.argv = ["./course", *words]
            sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))
            code = course.main()
            sys.stdout.flush()
            sys.stderr.flush()
            output.seek(0)
            return code, output.read().decode(errors="replace")

    def complaint(self, code, output):
        """What is not as expected, or None."""
        return getattr(self, f"complaint_{self.outcome}")(code, output)

    def complaint_runs(self, code, output):
        if "FAILED" in output or code != 0:
            return f"exit code {code}, not 0" if code else "a wrong result"
        return None if f"No finding under {SEEDS[self.outcome]} schedules." in output else "not run under all schedules"

    complaint_missed = complaint_runs

    def complaint_finding(self, code, output):
        if code != 66:
            return f"exit code {code}, not 66"
        heads = [finding for finding in re.split(r"\n(?=\S)|\n\n", output) if is_head(finding)]
        wrong = [head.partition("\n")[0] for head in heads if not head.startswith(self.finding)]
        if wrong or not heads:
            return f"an unexpected finding: {wrong[0]}" if wrong else f'no "{self.finding}"'
        if self.object and not all(re.search(rf"\b{self.object}\b", head) for head in heads):
            return f"the finding does not name {self.object}"
        return None

    def complaint_unsupported(self, code, output):
        errors = re.findall(r"^(.*?):(\d+): error: (.*)$", output, re.MULTILINE)
        if not errors:
            return "no error"
        message = errors[0][2]
        expected = CODE_OF[REFUSED if is_unsupported(message) else NOT_COMPILED]
        if code != expected:
            return f"exit code {code}, not {expected}"
        # A line for each word that the device lacks, of which the first ones are shown.
        marked = [number for number, text in enumerate(self.text.splitlines(), 1) if text.endswith("// unsupported")]
        more = re.search(r"^\.\.\. and (\d+) more errors?$", output, re.MULTILINE)
        lines = [int(line) for _, line, _ in errors]
        is_all = len(lines) + (int(more[1]) if more else 0) == len(marked)
        if {Path(file).name for file, _, _ in errors} != {self.file.name} or lines != marked[: len(lines)] or not is_all:
            return f"the errors are at lines {lines}{' ' + more[0] if more else ''}, not at lines {marked}"
        return None if self.unsupported in message else f'no "{self.unsupported}" in the error'


def is_head(text):
    """True for the text of a finding."""
    return re.match(r"[A-Z_]{2,} [A-Z]{2,}", text) is not None


def outcome_of(program):
    """The program's name, and what is wrong with what ./course run did, as lines."""
    code, output = program.run()
    complaint = program.complaint(code, output)
    lines = [f"{program.name}: {complaint}", f"  expected: {program.expected}", "  printed:", *output.splitlines()[:40]]
    return program.name, "\n    ".join(lines) if complaint else None


class Programs(unittest.TestCase):
    def test_programs(self):
        every = [Program(file) for file in sorted([*FOLDER.glob("*/*.cu"), *FOLDER.glob("*/*/main.cu")])]
        counts = [sum(program.outcome == outcome for program in every) for outcome in SEEDS]
        self.assertTrue(all(count >= least for count, least in zip(counts, (22, 25, 8, 15))), counts)
        wanted = [program for program in every if not NAMES or any(name in str(program.file) for name in NAMES)]
        wanted = wanted[PART[0] - 1::PART[1]]
        self.assertTrue(wanted)
        os.environ["COURSE_BUILD"] = str(BUILD)
        with multiprocessing.get_context("fork").Pool(1 if IS_PART else os.cpu_count(), maxtasksperchild=1) as pool:
            for name, complaint in pool.imap(outcome_of, wanted):
                with self.subTest(program=name):
                    if complaint:
                        self.fail(complaint)
        print(*counts, "programs: right, wrong, wrong and missed, unsupported")


if __name__ == "__main__":
    IS_PART = "--part" in sys.argv[1:2]
    NAMES = [] if IS_PART else sys.argv[1:]
    PART = [int(number) for number in sys.argv[2].split("/")] if IS_PART else (1, 1)
    if not (BUILD / "common/build/device/simtcc.json").exists():
        print(f"{BUILD} is no build folder for the CPU device")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
