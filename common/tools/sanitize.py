#!/usr/bin/env python3
"""Runs the programs of lessons and solutions under one tool of compute-sanitizer.

    sanitize.py TOOL BUILD_DIR LOG [PROBE]

TOOL is memcheck, racecheck, initcheck or synccheck. PROBE is the program made from
sanitizer_probe.cu: it has one error that each tool must find, else the tool's silence means
nothing. Prints one verdict and exits with
  0  clean: the tool found the planted error, ran every program to its end, and reported nothing
  1  findings, or a program failed
  3  not available: the tool is missing, refuses the device, fails itself, or overlooks the planted error

A kernel that is wrong on purpose may have to be reported. The chapter then has a file
sanitizer_expected.json, {"racecheck": ["kernel", ...]}: that tool must report each of these kernels in
the chapter's ladder and in its selfcheck, and reports of other kernels are findings as ever.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
CLEAN, FINDINGS, NOT_AVAILABLE = 0, 1, 3
ERROR_EXIT_CODE = 99
SECONDS = 300
AT_ONCE = 4  # programs; most of a run is the tool's own work on one core

# The last line of every run that came to its end.
SUMMARY = re.compile(
    r"^=+ (?:ERROR SUMMARY: (\d+) errors?|RACECHECK SUMMARY: (\d+) hazards? displayed)", re.MULTILINE
)
# What compute-sanitizer says when it is itself at fault, or cannot work here.
BROKEN = re.compile(
    r"^=+ .*(internal (sanitizer )?error|device not supported|not supported on this device"
    r"|unable to |failed to (initialize|load|launch|start)|insufficient|target application terminated before)",
    re.MULTILINE | re.IGNORECASE,
)


class Run:
    """One program's run under a tool: its output, and what follows from it."""

    def __init__(self, output, code):
        self.output = output
        self.code = code
        self.broken = None
        summary = SUMMARY.search(output)
        self.errors = int(summary.group(1) or summary.group(2)) if summary else 0
        broken = BROKEN.search(output)
        if broken:
            self.broken = broken.group(0).lstrip("= ")
        elif summary is None:
            self.broken = "no summary: the tool did not come to its end"

    def reports(self):
        """The text of every report: what stands between two empty '=========' lines."""
        blocks, block = [], []
        for line in self.output.splitlines():
            if not line.startswith("========="):
                continue
            text = line.lstrip("=").strip()
            if text and "SUMMARY:" not in text and text != "COMPUTE-SANITIZER":
                block.append(text)
            elif block:
                blocks.append("\n".join(block))
                block = []
        return blocks + (["\n".join(block)] if block else [])


def execute(tool, command):
    """Runs a command under the tool."""
    full = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(ERROR_EXIT_CODE), *command]
    try:
        result = subprocess.run(
            full, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=SECONDS, env={**os.environ, "COURSE_SKIP_LARGE": "1"},
        )
    except FileNotFoundError:
        run = Run("", 127)
        run.broken = "compute-sanitizer is not on PATH"
        return run
    except subprocess.TimeoutExpired as stopped:
        output = stopped.stdout or b""
        run = Run(output.decode(errors="replace") if isinstance(output, bytes) else output, 124)
        run.broken = f"did not come to its end within {SECONDS} seconds"
        return run
    return Run(result.stdout, result.returncode)


def programs(build):
    """(name, command, chapter's folder) of every program to run, from Meson's list of tests.

    A chapter's own program is left out: a test in Python runs it, and its kernels are in selfcheck.
    """
    found = []
    for test in json.loads((build / "meson-info" / "intro-tests.json").read_text()):
        suites = {suite.split(":")[-1] for suite in test["suite"]}
        program = test["cmd"][-1]
        if "solutions" in suites or ("lessons" in suites and Path(program).name in ("ladder", "selfcheck")):
            arguments = ["--n", "65536"] if Path(program).name == "ladder" else []
            found.append((test["name"], [program, *arguments], Path(program).parent.name))
    return found


def judge(run, expected):
    """(code, text) of one program's run; `expected` names the kernels that must be reported."""
    if run.broken:
        return NOT_AVAILABLE, run.broken
    reports = run.reports()
    missing = [kernel for kernel in expected if not any(kernel in report for report in reports)]
    if missing:
        return FINDINGS, f"should report {', '.join(missing)}, and does not"
    if expected:
        others = [report for report in reports if not any(kernel in report for kernel in expected)]
        if others:
            return FINDINGS, others[0].splitlines()[0]
        return (CLEAN, "as expected") if run.code in (0, ERROR_EXIT_CODE) else (FINDINGS, f"exit code {run.code}")
    if run.errors or run.code == ERROR_EXIT_CODE:
        first = reports[0].splitlines()[0] if reports else "see the log"
        return FINDINGS, f"{run.errors} reported: {first}"
    if run.code == 77:
        return NOT_AVAILABLE, "the program skipped itself"
    if run.code != 0:
        return FINDINGS, f"the program failed, with exit code {run.code}"
    return CLEAN, "clean"


def expected_kernels(tool, chapter):
    """The kernels of a chapter that this tool must report."""
    top = Path(__file__).resolve().parents[2]
    file = top / "chapters" / chapter / "sanitizer_expected.json"
    return json.loads(file.read_text()).get(tool, []) if file.exists() else []


def main():
    tool, build, log = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if tool not in TOOLS:
        sys.exit(f"sanitize.py: no tool '{tool}': one of {', '.join(TOOLS)}")

    with log.open("w") as file:

        def logged(name, command, run):
            file.write(f"### {name}: {' '.join(command)}\n{run.output}### exit code {run.code}\n\n")
            return run

        if len(sys.argv) > 4:
            probe = [sys.argv[4], tool]
            run = logged("planted error", probe, execute(tool, probe))
            if run.broken or not run.errors or run.code != ERROR_EXIT_CODE:
                print(f"not available: {run.broken or 'it overlooks a planted error'}")
                return NOT_AVAILABLE
        worst, count = CLEAN, 0
        problems = []
        found = programs(build)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            runs = pool.map(lambda program: execute(tool, program[1]), found)
        for (name, command, chapter), run in zip(found, runs):
            is_lesson = name.endswith(("-ladder", "-selfcheck"))
            expected = expected_kernels(tool, chapter) if is_lesson else []
            code, text = judge(logged(name, command, run), expected)
            count += 1
            if code != CLEAN:
                problems.append(f"{name}: {text}")
                # A finding counts more than a program that could not be looked at.
                worst = FINDINGS if FINDINGS in (code, worst) else code
    if count == 0:
        print("not available: no programs to run")
        return NOT_AVAILABLE
    if worst == CLEAN:
        print(f"clean: {count} programs, after it found a planted error")
    else:
        word = "FINDINGS" if worst == FINDINGS else "not available"
        print(f"{word}: " + "; ".join(problems))
    return worst


if __name__ == "__main__":
    sys.exit(main())
