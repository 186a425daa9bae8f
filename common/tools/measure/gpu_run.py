"""Everything that only a machine with a GPU can tell, measured and tested in parts, one after another.

A part that fails, or for which there is no time, hides no other. After each step OUTPUT_FOLDER/results.json has
what is known so far, so that a run that is cut off is worth what it did; summary.md is the same for a reader.
"""

import contextlib
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib import compact_json
from tools.lib.chapter_results import SECTORS, VERSION, of_cpu
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.lib.machine import cores
from tools.measure import ladder_profile, merge_runs, sectors
from tools.measure.summary import SANITIZERS, Summary
from tools.verdicts import record

SCHEMA, RESULTS = "course.measured", "results.json"
PARTS = ("tests", "sanitizers", "ladders", "profile")
RUNS = 3  # of each ladder: what differs between them is noise
SKIPPED = 77  # the exit code of a program that finds no PyTorch or no MPI
CHECK_SECONDS = "240"  # that the check of a known-wrong answer may take beside other tests on the same GPU


def parts_of(text):
    """The parts that a list such as "tests,ladders" names; all without a list. Failed if it names another."""
    names = text.split(",") if text else PARTS
    if unknown := [name for name in names if name not in PARTS]:
        raise Failed(f"--parts: '{unknown[0]}' is none of {', '.join(PARTS)}", 2)
    return [name for name in PARTS if name in names]


def last_line(text):
    """The last line of what a program said."""
    return (text.strip().splitlines() or [""])[-1]


def end_group(program):
    """Ends a program and what it has started; it has a process group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


class Run:
    """One run: where it writes, how much time is left, and what is known so far."""

    def __init__(self, out, build, minutes=None, top=TOP):
        self.out, self.build, self.top = out, build, top
        self.begin = time.monotonic()
        self.deadline = self.begin + 60 * minutes if minutes else None
        self.results = {
            "schema": SCHEMA, "version": VERSION, "device": None, "date": now(), "parts": [], "problems": [], "steps": [],
            "ladders": {}, "profiles": {}, "sectors": {}, "verdicts": {},
        }  # fmt: skip

    # ---- steps

    def step(self, state, text):
        """Notes a step: OK, BAD, or NOT RUN."""
        seconds = round(time.monotonic() - self.begin)
        print(f"{seconds} s: {'' if state == 'OK' else state + ' '}{text}", flush=True)
        self.results["steps"].append({"state": state, "text": text, "seconds": seconds})
        self.save()

    def cut_off(self, why, steps, begun):
        """Notes which steps, (name, function), were not run to their end."""
        later = ", ".join(name for name, _ in steps[begun + 1 :]) or "nothing"
        self.step("NOT RUN", f"{why} in {steps[begun][0]}; not begun: {later}")

    def save(self):
        """Writes what is known so far."""
        compact_json.write(self.out / RESULTS, self.results)

    def seconds_left(self):
        """For the next program; None where there is no limit; TimeoutExpired when the time that --minutes gave is over."""
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left < 1:
            raise subprocess.TimeoutExpired("--minutes", left)
        return left

    def call(self, command, log=None, **more):
        """Runs a program to its end, or to the end of the time. Its output goes to the file `log`, or is returned."""
        limit = self.seconds_left()
        with contextlib.ExitStack() as stack:
            output = stack.enter_context(open(log, "a", encoding="utf-8")) if log else subprocess.PIPE
            program = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, text=True,
                errors="replace", start_new_session=True, **more,
            )  # fmt: skip
            try:
                said, _ = program.communicate(timeout=limit)
            except BaseException:
                end_group(program)
                raise
        return program.returncode, said or ""

    # ---- parts

    def check_device(self):
        """Names the GPU and CUDA; Failed where one is missing."""
        if shutil.which("nvcc") is None or shutil.which("nvidia-smi") is None or self.call(["nvidia-smi", "-L"])[0] != 0:
            raise Failed("not available: needs nvcc on PATH and a GPU")
        _, said = self.call(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
        gpus = said.strip().splitlines()
        _, version = self.call(["nvcc", "--version"])
        cuda = re.search(r"release ([0-9.]+)", version)
        self.results["device"] = gpus[0].split(",")[0].strip()
        count = f"{len(gpus)} GPUs, each " if len(gpus) > 1 else ""
        self.step("OK", f"{count}{gpus[0]}, CUDA {cuda[1] if cuda else 'unknown'}")

    def build_all(self, parts, options):
        """Builds what these parts need. What does not compile is a bad step; the rest is built."""
        log = self.out / "build.log"
        log.unlink(missing_ok=True)
        again = ["--reconfigure"] if (self.build / "build.ninja").exists() else []
        code, _ = self.call(["meson", "setup", *again, self.build, self.top, "-Ddevice=cuda", "-Dself_tests=true", *options], log)
        if code != 0:
            raise Failed("`meson setup` failed: see build.log")
        if "tests" in parts or "sanitizers" in parts:
            targets = ["all", "variants"] if "tests" in parts else ["all"]
        else:
            targets = [name for name in self.targets() if re.fullmatch(r"\d\d-[^/]*-(ladder|sum_mpi)", name)]
        code, _ = self.call(["ninja", "-C", self.build, "-k", "0", *targets], log)
        if code == 0:
            self.step("OK", "built")
            return
        self.step("BAD", "not everything was built: see build.log")
        print(*log.read_text(encoding="utf-8").splitlines()[-20:], sep="\n")
        for program in self.missing_programs():
            stand_in(program)

    def missing_programs(self):
        """The programs of tests that were not built, though the tests do not build them: Meson runs no test without."""
        file = self.build / "meson-info" / "intro-tests.json"
        tests = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        built_by_test = ("exercises", "mistakes", "alternatives")
        commands = [
            test["cmd"] for test in tests if not any(suite.split(":")[-1] in built_by_test for suite in test["suite"])
        ]
        paths = {Path(word) for command in commands for word in command if word.startswith(f"{self.build}{os.sep}")}
        return sorted(path for path in paths if not path.exists())

    def targets(self):
        """What ninja can make."""
        _, said = self.call(["ninja", "-C", self.build, "-t", "targets", "all"])
        return [line.split(":")[0] for line in said.splitlines()]

    def tests(self):
        """All tests, known-wrong answers too; what they found becomes the verdicts."""
        log = self.out / "tests.log"
        testlog = self.build / "meson-logs" / "testlog-all.json"
        testlog.unlink(missing_ok=True)
        code, _ = self.call([
            "meson", "test", "-C", self.build, "--no-rebuild", "--setup", "all", "--print-errorlogs",
        ], log, env={"COURSE_TIMEOUT": CHECK_SECONDS, **os.environ})  # fmt: skip
        if not testlog.exists():
            raise Failed(f"`meson test` ran nothing, and ended with exit code {code}: see tests.log")
        shutil.copy(testlog, self.out)
        self.step("OK", "tests ran")
        try:
            device, chapters, _, _ = record.of_build(self.top, self.build, [testlog])
            self.results["verdicts"] = {name: record.as_file(device, tests, {}) for name, tests in chapters.items()}
        except Failed as failed:
            self.step("BAD", f"no verdicts: {failed}")

    def sanitizers(self):
        """Lessons and solutions under each tool of compute-sanitizer, side by side: most of it is work of the CPU."""
        limit = self.seconds_left()
        commands = {
            tool: [
                "meson", "test", "-C", str(self.build), "--no-rebuild", "--setup", tool, "--suite", "lessons",
                "--suite", "solutions", "--suite", "probe", "--num-processes", str(max(1, min(4, cores() // 4))),
            ] for tool in SANITIZERS
        }  # fmt: skip
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running = {tool: subprocess.Popen(command, start_new_session=True, **quiet) for tool, command in commands.items()}
        end = None if limit is None else time.monotonic() + limit
        try:
            for program in running.values():
                program.wait(None if end is None else max(1, end - time.monotonic()))
        except BaseException:
            for program in running.values():
                end_group(program)
            raise
        finally:
            self.collect_sanitizers()
        self.step("OK", "sanitizers ran")

    def collect_sanitizers(self):
        """Meson's log of each tool, and all that the tool said, in one file each."""
        logs = self.build / "meson-logs"
        for tool in SANITIZERS:
            if (logs / f"testlog-{tool}.json").exists():
                shutil.copy(logs / f"testlog-{tool}.json", self.out)
            said = [file.read_text(encoding="utf-8", errors="replace") for file in sorted((logs / tool).glob("*.log"))]
            (self.out / f"{tool}.log").write_text("".join(said), encoding="utf-8")

    def ladders(self):
        """Each ladder, several times, with the rows of PyTorch and of MPI."""
        for ladder in self.built_ladders():
            self.ladder(self.top / "chapters" / ladder.parent.name, ladder)
        self.step("OK", "ladders ran")

    def built_ladders(self):
        """The programs; a ladder that was not built is a bad step."""
        found = [folder / "ladder" for folder in sorted(self.build.glob("chapters/*")) if os.path.lexists(folder / "ladder")]
        for ladder in found:
            if not ladder.exists():  # a link that leads nowhere
                self.step("BAD", f"{ladder.parent.name}: the ladder was not built")
        return [ladder for ladder in found if ladder.exists()]

    def ladder(self, chapter, ladder):
        """One chapter's ladder."""
        runs = [self.build / f"{chapter.name}-{number}.json" for number in range(1, RUNS + 1)]
        for file in runs:
            code, said = self.call([ladder, "--json", file])
            self.log(said)
            if code != 0:
                self.step("BAD", f"{chapter.name}: the ladder ended with exit code {code}: {last_line(said)}")
                return
        if not self.keep_ladder(chapter, runs):
            return
        files = [f"--json={file}" for file in runs]
        if (chapter / "torch_rows.py").exists():
            inputs = self.build / f"{chapter.name}-inputs"
            code, said = self.call([ladder, "--inputs", inputs])
            if code == 0:
                code, said = self.call([sys.executable, TOP / "common/dev", "measure", "torch", chapter, "--inputs", inputs, *files])
            shutil.rmtree(inputs, ignore_errors=True)
            self.rows_step(chapter, "PyTorch", code, said)
        if (chapter / "mpi_rows.py").exists():
            program = ladder.parent / "sum_mpi"
            self.rows_step(chapter, "MPI", *self.call([chapter / "mpi_rows.py", program, *files]))
        self.keep_ladder(chapter, runs)

    def keep_ladder(self, chapter, runs):
        """Merges the runs of one ladder into the results, before the rows of other programs, which take long, and after; True
        if they belong together."""
        try:
            self.results["ladders"][chapter.name] = merge_runs.merge([json.loads(file.read_text(encoding="utf-8")) for file in runs])
            self.save()
            return True
        except Failed as failed:
            self.step("BAD", f"{chapter.name}: {failed}")
            return False

    def rows_step(self, chapter, name, code, said):
        """Notes how a program ended that adds rows to a ladder's."""
        self.log(said)
        if code == SKIPPED:
            self.step("OK", f"{chapter.name}: {name} is not available: {last_line(said)}")
        elif code != 0:
            self.step("BAD", f"{chapter.name}: the rows of {name} failed: see tests.log")
        else:
            self.step("OK", f"{chapter.name}: {name}, {len(said.splitlines())} rows")

    def log(self, text):
        """Adds what a program said to tests.log."""
        with open(self.out / "tests.log", "a", encoding="utf-8") as file:
            file.write(text)

    def profile(self):
        """What ncu counts for the rungs that chapter.toml names, and for the tables of sectors."""
        if shutil.which("ncu") is None:
            self.step("OK", "ncu is not available: no profiles")
            return
        for ladder in self.built_ladders():
            chapter = self.top / "chapters" / ladder.parent.name
            self.seconds_left()
            try:
                if plan := metadata.load(chapter).profile:
                    self.results["profiles"][chapter.name] = ladder_profile.measure(plan, str(ladder))
                if counted := of_cpu(chapter, SECTORS):
                    self.results["sectors"][chapter.name] = sectors.profiled(str(ladder), counted)
            except Failed as failed:
                if "ERR_NVGPUCTRPERM" in str(failed):  # the name of ncu's error: it would refuse the others, too
                    self.step("OK", "ncu may not read the counters here (ERR_NVGPUCTRPERM): no profiles")
                    return
                self.step("BAD", f"{chapter.name}: {failed}")
        self.step("OK", "profiles ran")


def stand_in(program):
    """Replaces a program that was not built by one that says so; old, so that ninja builds it again."""
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\necho 'this program was not built: see build.log'\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    os.utime(program, (0, 0))


def now():
    """The time, as results keep it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def clear(out, parts):
    """Removes what an earlier run left of these parts, and keeps the rest."""
    names = {"tests": ["tests.log", "testlog-all.json"], "ladders": ["tests.log"],
             "sanitizers": [name for tool in SANITIZERS for name in (f"{tool}.log", f"testlog-{tool}.json")]}
    for name in [name for part in parts for name in names.get(part, [])] + ["build.log", "summary.md", RESULTS]:
        (out / name).unlink(missing_ok=True)


def end_by_signal(number, _):
    """A time limit from outside ends this program as Ctrl-C does: programs that it has started end, too."""
    raise SystemExit(128 + number)


def run(out, build, parts, minutes, options, top=TOP):
    """Runs these parts; the exit code, 0 if all was as it should be."""
    out.mkdir(parents=True, exist_ok=True)
    clear(out, parts)
    this = Run(out.resolve(), build, minutes, top)
    signal.signal(signal.SIGTERM, end_by_signal)
    run_of = {"tests": this.tests, "sanitizers": this.sanitizers, "ladders": this.ladders, "profile": this.profile}
    this.results["parts"] = list(parts)
    steps = [("the build", lambda: this.build_all(parts, options)), *((part, run_of[part]) for part in parts)]
    begun = 0
    try:
        this.check_device()
        for begun, (name, step) in enumerate(steps):
            try:
                step()
            except (Failed, OSError) as failed:
                if begun == 0:  # without a build nothing can be run
                    raise
                this.step("BAD", f"{name}: {failed}")
    except subprocess.TimeoutExpired:
        this.cut_off("no time was left", steps, begun)
    except (Failed, OSError) as failed:
        this.step("BAD", str(failed))
    except SystemExit:
        this.cut_off("ended from outside", steps, begun)
        raise
    finally:
        summary = Summary(this.out, this.results)
        text = summary.markdown()
        this.results["problems"] = summary.problems
        this.save()
        (this.out / "summary.md").write_text(text, encoding="utf-8")
        print(text, end="", flush=True)
    print(f"Logs and results: {out}")
    return 1 if summary.problems else 0
