"""What is told of compute-sanitizer and the CPU device: which tool has reported a program, and that a tool that hangs is ended."""

import os
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from tools.lib.failed import Failed
from tools.maintain import beside_sanitizer as beside

READS = ()

SILENT = {"memcheck": "", "racecheck": "", "initcheck": "", "synccheck": ""}


class Measuring(unittest.TestCase):
    def test_a_command_that_hangs_is_ended_with_what_it_started(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(beside, "MOST_SECONDS", 0.5):
            pid = Path(folder) / "pid"
            command = ["sh", "-c", f"sleep 1000 & echo $! >{pid}; wait"]
            start = time.monotonic()
            self.assertIsNone(beside.seconds_of(command))
            self.assertLess(time.monotonic() - start, 10)
            state = Path(f"/proc/{pid.read_text().strip()}/stat")
            deadline = time.monotonic() + 10  # a process that is killed may take a moment to end

            def runs():
                try:
                    return state.read_text().split()[2] != "Z"
                except OSError:
                    return False

            while runs() and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertFalse(runs(), "what it started still runs")

    def test_a_program_that_fails_has_no_time(self):
        with self.assertRaisesRegex(Failed, "exit code 3\nwrong result"):
            beside.seconds_of(["sh", "-c", "echo wrong result; exit 3"])

    def test_what_a_tool_says(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder) / "compute-sanitizer"
            path = f"{folder}:{os.environ['PATH']}"
            for text, said in (
                ("========= Invalid read\n=========     at x\n=========\n========= ERROR SUMMARY: 1 error", "Invalid read"),
                ("========= ERROR SUMMARY: 0 errors", ""),
                ("Segmentation fault", "no result: no summary: the tool has ended early"),
            ):
                tool.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n", encoding="utf-8")
                tool.chmod(0o755)
                with mock.patch.dict(os.environ, PATH=path):
                    self.assertEqual(beside.said_by("memcheck", "program"), said)


class Page(unittest.TestCase):
    def test_programs_are_counted_by_tool(self):
        programs = {
            "racy/a.cu": SILENT | {"racecheck": "Error: Race reported", "memcheck": "no end after 30 s"},
            "racy/b.cu": SILENT | {"synccheck": "no result: not supported on this device"},
            "racy/c.cu": {"nvcc": "uses too much shared data"},
        }
        table = beside.programs_table({"programs": programs})
        self.assertEqual(
            table.splitlines(),
            ["| of 3 programs, reported by | |", "|---|--:|", "| the CPU device | 3 |", "| nvcc, as an error | 1 |", "| memcheck | 0 |",
             "| racecheck | 1 |", "| initcheck | 0 |", "| synccheck | 0 |", "| none of these five | 1 |", "",
             "<details><summary>The 1 that none of the five reports</summary>", "", "[b](../simt/tests/programs/racy/b.cu)", "", "</details>"],
        )  # fmt: skip

    def test_times(self):
        times = {kernel: {str(n): seconds for n, seconds in zip(beside.SIZES, (0.011, 12.34, None))} for kernel in beside.KERNELS}
        line = beside.times_table({"racecheck": times}, {"kernels": times}).splitlines()[2]
        self.assertEqual(line, "| copy | 0.011 | 0.011 | 12.340 | 12.340 | over 60 | over 60 |")


if __name__ == "__main__":
    unittest.main()
