"""Runs a test under one tool of compute-sanitizer, and judges what it says.

    python3 common tools.measure.sanitize TOOL COMMAND [ARGUMENT ...]

TOOL is memcheck, racecheck, initcheck or synccheck. Meson puts this before the command of a test
where `meson test --setup TOOL` asks for it, in builds for a GPU. Exit code:
  0   clean: the program terminated, and the tool reported nothing
  1   findings; or the program failed; or the tool is missing, refuses the device, or did not
      terminate, which is not "clean"
  77  the program skipped itself, or is one that a sanitizer cannot check

The complete output of the tool is in meson-logs/TOOL/ of the build folder, a file per program.

A ladder runs with few elements. sanitizer_probe has one error planted for each tool, and passes only if
it is found: if it is not, no report about the others means nothing. An exercise is built
first, by check_exercise.py, which then puts this tool before its check. Tests in Python are skipped.

A kernel that is wrong on purpose may have to be reported. The chapter.toml then names it, [sanitizers]
racecheck = ["kernel", ...]: that tool must report each of these kernels in the chapter's ladder, and may do
so in its other lessons; reports of other kernels are findings.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib import result as results
from tools.lib.checkout import TOP

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
CHECK_LADDER = "tools.check.check_ladder"  # the module that runs a ladder as a test
LESSONS = ("ladder", "selfcheck", "races", "counts", "claims")
MUST_REPORT = ("ladder", "races")  # all that is wrong on purpose; the other lessons may
CLEAN, BAD, SKIPPED = 0, 1, 77
ERROR_EXIT_CODE = 99
SECONDS = "290"  # that an exercise's check may take: all is slower under a sanitizer
NOTHING_TO_LOOK_AT = "[nothing-to-look-at]"  # a test that says this is not missing in the summary
NO_PROGRAM = f"skipped: a test in Python; the kernels that it runs are in the chapter's self-check {NOTHING_TO_LOOK_AT}"
NO_CHECK = f"skipped: on a GPU every one of its checks skips itself, because nothing is counted there {NOTHING_TO_LOOK_AT}"
LINES_SHOWN = 12  # of the first report

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
        elif summary is None and code != SKIPPED:  # a program without a device ends at once
            self.broken = "no summary: the tool has ended early"

    def reports(self):
        """The text of every report: what is between two empty '=========' lines."""
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
            env={**os.environ, "COURSE_SKIP_LARGE": "1"}, close_fds=False,  # one is the socket of an answer's result
        )
    except OSError as error:
        run = Run("", 127)
        run.broken = f"compute-sanitizer: {error.strerror}. It comes with the CUDA Toolkit: is its bin folder on PATH?"
        return run
    return Run(result.stdout, result.returncode)


def judge(run, expected, all_of_them=True):
    """(code, text) of one program's run; `expected` names the kernels that must, or only may, be reported."""
    if run.broken:
        return BAD, f"not available, which is not clean: {run.broken}"
    if run.code == SKIPPED and not run.errors:
        return SKIPPED, "the program skipped itself"
    reports = run.reports()
    missing = [kernel for kernel in expected if not any(kernel in report for report in reports)]
    if missing and all_of_them:
        return BAD, f"should report {', '.join(missing)}, which is wrong on purpose, and does not"
    if expected and (run.errors or all_of_them):
        others = [report for report in reports if not any(kernel in report for kernel in expected)]
        if others:
            return BAD, "FINDINGS: " + shortened(others[0])
        return (CLEAN, "as expected") if run.code in (0, ERROR_EXIT_CODE) else (BAD, f"exit code {run.code}")
    if run.errors or run.code == ERROR_EXIT_CODE:
        return BAD, f"FINDINGS: {run.errors} reported: {shortened(reports[0]) if reports else 'see the log'}"
    if run.code != 0:
        return BAD, f"the program failed, with exit code {run.code}"
    return CLEAN, "clean"


def judge_probe(run):
    """(code, text) of the program with a planted error."""
    if run.broken:
        return BAD, f"not available, which is not clean: {run.broken}"
    if run.code == SKIPPED and not run.errors:
        return SKIPPED, "the program skipped itself"
    if not run.errors or run.code != ERROR_EXIT_CODE:
        return BAD, "it overlooks a planted error: that it reports nothing elsewhere means nothing"
    return CLEAN, "found the planted error"


def has_only_skips(file):
    """Whether this result is of a program that found its GPU, and whose test cases all skipped themselves."""
    found = results.read(file) if file else None
    return found is not None and found["verdict"] == results.SKIPPED and bool(found["device"] and found["skips"])


def shortened(report):
    """The first lines of a report."""
    lines = report.splitlines()
    return "\n  ".join(lines[:LINES_SHOWN] + (["..."] if len(lines) > LINES_SHOWN else []))


def expected_kernels(tool, chapter):
    """The kernels of a chapter that this tool must report."""
    return metadata.load(TOP / "chapters" / chapter).sanitizers.get(tool, [])


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in TOOLS:
        sys.exit(f"usage: python3 common tools.measure.sanitize TOOL COMMAND...; TOOL is one of {', '.join(TOOLS)}")
    tool, command = sys.argv[1], sys.argv[2:]
    script = Path(command[0]).name
    if script == "check_exercise.py":
        os.environ["COURSE_WRAPPER"] = shlex.join([sys.executable, str(TOP / "common"), "tools.measure.sanitize", tool])
        os.environ.setdefault("COURSE_TIMEOUT", SECONDS)
        os.execv(command[0], command)
    if CHECK_LADDER in command:
        command = [command[-1], "--n", "65536"]
    elif script.startswith("python") or script.endswith(".py"):
        print(NO_PROGRAM)
        return SKIPPED
    file = os.environ.get("COURSE_RESULT")
    if file and not file.startswith("socket:"):  # the tools run side by side: each has a result of its own
        os.environ["COURSE_RESULT"] = f"{file}.{tool}"
    program = Path(command[0])
    is_probe = program.name == "sanitizer_probe"
    run = execute(tool, [*command, tool] if is_probe else command)
    chapter = next((part for part in reversed(program.parts) if re.match(r"\d\d-", part)), "")
    log = Path("meson-logs") / tool / f"{chapter or program.parent.name}-{program.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"### {shlex.join(command)}\n{run.output}### exit code {run.code}\n", encoding="utf-8")
    if is_probe:
        code, text = judge_probe(run)
    else:
        expected = expected_kernels(tool, chapter) if chapter and program.name in LESSONS else []
        code, text = judge(run, expected, all_of_them=program.name in MUST_REPORT)
        own = "".join(f"{line}\n" for line in run.output.splitlines() if not line.startswith("========="))
        sys.stdout.write(own)
        if code == SKIPPED and has_only_skips(os.environ.get("COURSE_RESULT")):
            text = NO_CHECK
    print(f"{tool}: {text}")
    if code == BAD:
        print(f"all that it says: {log.resolve()}")
    return code


if __name__ == "__main__":
    sys.exit(main())
