"""Runs a program under several schedules, and compares what it does."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.run.watching import Watch, output_of

CPU_SECONDS = "300"  # of one schedule; a check has 120
COMPARED_BYTES = 1 << 24  # of the output


class Run:
    """What a program did under one schedule: its exit code, what it wrote, and what the CPU device said of it."""

    def __init__(self, seed, code, output, errors, records, stop=None):
        self.seed = seed
        self.code = code  # negative: a signal's number
        self.output = output
        self.errors = errors
        self.findings = [record for record in records if "finding" in record]
        self.notes = [record for record in records if "note" in record]  # clues, too
        self.kernels = [record for record in records if "kernel_counts" in record]
        stops = [record for record in records if "stopped" in record]  # why, and, if there was time, also where
        self.stop = stops[-1] if stops else None
        if stop:  # by this tool, which knows why; the program knows where
            self.stop = {**(self.stop or {}), **stop}
        self.refusal = next((record for record in records if "refused" in record), None)

    def is_out_of_time(self):
        """True if the program has had its time, or waited for too long."""
        return self.stop is not None and self.stop["stopped"] in ("time", "waiting")

    def is_out_of_memory(self):
        """True if the program held too much memory."""
        return self.stop is not None and self.stop["stopped"] == "memory"

    def is_ended(self):
        """True if the program has not ended by itself."""
        return self.code < 0 or self.is_out_of_time() or self.is_out_of_memory()

    def exit_code(self):
        """The exit code as a shell has it."""
        return self.code if self.code >= 0 else 128 - self.code


class Input:
    """Standard input, the same for every run: a file is read again, a pipe is read to its end first. At a terminal only
    the first run reads."""

    def __init__(self):
        self.spool = None
        self.start = 0
        try:
            self.number = sys.stdin.fileno()
            self.start = os.lseek(self.number, 0, os.SEEK_CUR)
            self.is_read_again = True
        except (OSError, ValueError, AttributeError):
            self.number = 0
            self.is_read_again = False

    def of_run(self, number, of):
        """What the run with this number, from 0, of so many reads."""
        if self.is_read_again:
            os.lseek(self.number, self.start, os.SEEK_SET)
            return self.number
        if os.isatty(self.number) or of == 1:
            return self.number if number == 0 else subprocess.DEVNULL
        if self.spool is None:
            self.spool = tempfile.TemporaryFile()
            with contextlib.suppress(OSError), open(self.number, "rb", closefd=False) as pipe:
                shutil.copyfileobj(pipe, self.spool)
        self.spool.seek(0)
        return self.spool


class NoInput:
    """Standard input that is empty."""

    @staticmethod
    def of_run(_number, _of):
        return subprocess.DEVNULL


def run_once(command, seed, stdin, settings, shown_on=None):
    """Runs a program under a schedule. What it writes to standard output goes to `shown_on` at once, and its standard error is
    the tool's own; without `shown_on` the reader sees neither."""
    with tempfile.TemporaryDirectory(prefix="course-") as folder, tempfile.TemporaryFile() as errors:
        file = Path(folder) / "records"
        environment = {
            **os.environ, "COURSE_CPU_SECONDS": os.environ.get("COURSE_CPU_SECONDS", CPU_SECONDS),
            "SIMT_SEED": str(seed), "COURSE_RUN": str(file), **settings,
        }
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors if shown_on is None else None,
                                   env=environment)
        output, watch = bytearray(), Watch(process, stdin)
        try:
            for piece in output_of(process, watch.look):
                watch.hear()
                if shown_on:
                    shown_on.write(piece)
                    shown_on.flush()
                output += piece[: COMPARED_BYTES - len(output)]
        except BaseException:  # Ctrl-C
            process.kill()
            process.wait()
            raise
        finally:
            process.stdout.close()
        errors.seek(0)
        return Run(seed, process.returncode, bytes(output), errors.read(), records_in(file), watch.stop)


def records_in(file):
    """What the program's file tells; a line that was cut off is left out."""
    records = []
    with contextlib.suppress(OSError):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                records.append(json.loads(line))
    return records


def run_all(command, seeds, settings, stdin, shown_on, is_decided):
    """Runs the program under these schedules until a run is refused, ends in the middle, or `is_decided` by its findings. `settings`
    are variables for the first run, which is the one that is shown. Returns all runs."""
    runs = []
    for number, seed in enumerate(seeds):
        first = number == 0
        run = run_once(command, seed, stdin.of_run(number, len(seeds)), settings if first else {},
                       shown_on if first else None)
        runs.append(run)
        if is_decided(run) or run.refusal or run.is_ended():
            break
    return runs


def first_difference(command, runs, settings, stdin):
    """The first line of the output that depends on the schedule: (the run, the line's number, its text under the first
    schedule, its text in this run), or None.

    What differs from one run to the next of the same schedule, as a time does, is not compared.
    """
    first = runs[0]
    if all(run.output == first.output for run in runs):
        return None
    again = run_once(command, first.seed, stdin.of_run(len(runs), len(runs) + 1), settings)
    expected, repeated = (text.decode(errors="replace").splitlines() for text in (first.output, again.output))
    for run in runs[1:]:
        lines = run.output.decode(errors="replace").splitlines()
        for number in range(max(len(expected), len(lines))):
            mine, theirs, same = (text[number] if number < len(text) else None for text in (lines, expected, repeated))
            if mine != theirs and same == theirs:
                return run, number + 1, theirs, mine
    return None


def signal_name(number):
    """SIGSEGV"""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
