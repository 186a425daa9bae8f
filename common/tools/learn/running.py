"""./course run: any CUDA file on the CPU device."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tools.learn.build_folder import find_build, program_name
from tools.lib.checkout import TOP, seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.terminal import paint
from tools.run import report
from tools.run.build_program import MADE_BY_MESON, Program
from tools.run.schedules import Input, first_difference, run_all

PLAIN = (".cpp", ".cc", ".cxx", ".c")  # C++ and C, which nvcc hands to the host's compiler
FINDINGS = 66
OUT_OF_TIME = 1
WARNINGS_SHOWN = 10
SEEDS = 4  # as of a check: nearly every race shows in the first one, a wrong order of blocks or warps in the next ones


class Workplace:
    """The build folder of ./course run; it needs no exercises."""

    def __init__(self, asked):
        self.build = find_build(asked or os.environ.get("COURSE_BUILD"))
        if not (self.build / MADE_BY_MESON).exists():
            raise Failed(
                f"{seen_from_the_shell(self.build)} builds for a GPU, for which nvcc compiles any CUDA file. "
                "./course run needs a folder\nfor the CPU device. Make one, and name it:\n"
                f"  meson setup {seen_from_the_shell(TOP / 'build-cpu')} {seen_from_the_shell(TOP)} -Ddevice=cpu\n"
                f"  {program_name()} run --build {seen_from_the_shell(TOP / 'build-cpu')} ...", 2,
            )


def split_words(words):
    """The command line of ./course, and the arguments of a program that it runs: those after --."""
    if "run" not in words:
        return words, []
    end = words.index("--") if "--" in words else len(words)
    mine = words[:end]
    for number, word in enumerate(mine[:-1]):
        if word == "--trace" and mine[number + 1].endswith(".cu"):  # no FILE, but the first one to compile
            mine[number] = "--trace="
    return mine, words[end + 1 :]


def say(text):
    """Writes to standard error: standard output is the program's."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def sources_of(names):
    """The files to compile. Raises Failed for what is none."""
    for name in names:
        if not name.endswith((".cu", *PLAIN)):
            raise Failed(f"{name} is neither CUDA (.cu) nor C++ (.cpp, .cc, .cxx) nor C (.c). Arguments of the program come after --.", 2)
        if not Path(name).is_file():
            raise Failed(f"There is no file {name}.", 2)
    if all(name.endswith(PLAIN) for name in names):
        raise Failed(f"There is no .cu file in {', '.join(names)}.", 2)
    return [os.path.abspath(name) for name in names]


def seeds_of(arguments):
    """The schedules to run, in order."""
    one = arguments.schedule if arguments.schedule is not None else os.environ.get("SIMT_SEED")
    return list(range(arguments.seeds or SEEDS)) if one is None or arguments.seeds else [one]


def check_time_limit():
    """Raises Failed for a limit of time that is none."""
    text = os.environ.get("COURSE_CPU_SECONDS", "1")
    try:
        is_limit = 0 < float(text) < float("inf")
    except ValueError:
        is_limit = False
    if not is_limit:
        raise Failed(f"COURSE_CPU_SECONDS must be a number above 0, and is '{text}'.", 2)


def again(arguments, seed):
    """The command that runs one schedule again."""
    words = [program_name(), "run", *arguments.files]
    words += [word for folder in arguments.include for word in ("-I", folder)]
    words += [word for name in arguments.define for word in ("-D", name)]
    words += ["--build", arguments.build] if arguments.build else []
    words += ["--schedule", str(seed)]
    return shlex.join(words + (["--", *arguments.program_arguments] if arguments.program_arguments else []))


def run(place, arguments):
    """compiles CUDA files of your own, runs them on the CPU device, and says what it finds"""
    sources = sources_of(arguments.files)
    flags = [f"-I{os.path.abspath(folder)}" for folder in arguments.include]
    flags += [f"-D{name}" for name in arguments.define]
    program = Program(place.build, sources, flags)
    try:
        program.make()
    except OSError as error:
        raise Failed(f"{error.filename} cannot be written: {error.strerror}. Use a build folder that can.", 2) from error
    say_warnings(program.warnings)
    command = [str(program.file), *arguments.program_arguments]
    check_time_limit()
    settings = {"COURSE_COUNT": "1"} if arguments.count else {}
    trace = Path(arguments.trace or f"{program.file}-trace.json") if arguments.trace is not None else None
    if trace:
        settings["SIMT_TRACE"] = str(trace)
    stdin = Input()
    runs = run_all(command, seeds_of(arguments), settings, stdin)
    code = tell(arguments, runs, lambda: first_difference(command, runs, settings, stdin))
    if arguments.count:
        say("\n" + report.table(runs[0].kernels) if runs[0].kernels else "No kernel has run: there is nothing to count.")
    if trace:
        say("\n" + draw(trace))
    return code


def say_warnings(warnings):
    """Says what the compiler remarked on."""
    for warning in warnings[:WARNINGS_SHOWN]:
        say(warning)
    if len(warnings) > WARNINGS_SHOWN:
        say(f"... and {len(warnings) - WARNINGS_SHOWN} more warnings")


def tell(arguments, runs, find_difference):
    """Says what the runs were like; returns the exit code."""
    last = runs[-1]
    stops = last.findings or last.is_ended()
    if stops and len(runs) > 1:  # only the first run has shown what the program said
        say(f"Schedule {last.seed}, after {report.names_of(runs[:-1])} without a finding:")
        sys.stderr.buffer.write(last.errors)
    if last.findings:
        say("\n" + report.findings(last))
    if last.is_ended():
        say("\n" + report.ending(last))
    found = None if stops else find_difference()
    if found:
        say(report.difference(runs[0], *found))
    notes = [note for run in runs for note in run.notes]
    if stops or found or any(run.code for run in runs):  # clues help with a wrong result; right programs have them, too
        notes += [clue for run in runs for clue in run.clues]
    told = set()
    for note in notes:
        remark = note.partition("\n")[0]  # the place and what is remarked on; threads and values follow, and differ between runs
        if remark not in told:
            told.add(remark)
            say(f"note: {note}")
    if stops:
        say(f"\nagain: {again(arguments, last.seed)}")
        return FINDINGS if last.findings else OUT_OF_TIME if last.is_out_of_time() else last.exit_code()
    say(paint(f"No finding under {report.names_of(runs)}.", "quiet"))
    other = next((run for run in runs if run.code != runs[0].code), None)
    if other:
        sys.stderr.buffer.write(other.errors)
        say(f"The program ends with exit code {other.code} under schedule {other.seed}, and with {runs[0].code} under "
            f"schedule {runs[0].seed}.\nagain: {again(arguments, other.seed)}")
    return runs[0].code or (other.code if other else 0)


def draw(trace):
    """Draws a trace beside it; returns what there is to see."""
    tool = TOP / "common" / "tools" / "trace" / "picture.py"
    svg, html = trace.with_suffix(".svg"), trace.with_suffix(".html")
    done = subprocess.run([sys.executable, str(tool), str(trace), "-o", str(svg), "--html", str(html), "--quiet"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    shown = [*done.stdout.splitlines(), f"trace:   {seen_from_the_shell(trace)}"]
    if done.returncode == 0:
        shown += [f"picture: {seen_from_the_shell(svg)}", f"steps:   {seen_from_the_shell(html)}",
                  f"another launch: {seen_from_the_shell(tool)} {seen_from_the_shell(trace)} --list"]
    return "\n".join(shown)
