"""./course run: any CUDA file on the CPU device."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tools.learn.build_folder import find_build, nearest, one_of, program_name
from tools.lib.checkout import TOP, seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.terminal import paint
from tools.run import report, reports
from tools.run.build_program import MADE_BY_MESON, Program
from tools.run.compile_commands import CompileCommands
from tools.run.compiler_options import CompilerOptions, split_options
from tools.run.outcome import CRASHED, FINDINGS, OUT_OF_TIME, REFUSED, outcome_of
from tools.run.schedules import Input

PLAIN = (".cpp", ".cc", ".cxx")  # C++, which nvcc hands to the host's compiler
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


def split_words(words, own):
    """The command line of ./course run: its own words, options for a compiler, and the arguments of the program, those after --.
    `own` has the options of ./course run: {name: True if a value follows}."""
    end = words.index("--") if "--" in words else len(words)
    mine, of_compiler = split_options(words[:end], own)
    for number, word in enumerate(mine[:-1]):
        if word == "--trace" and mine[number + 1].endswith(".cu"):  # no FILE, but the first one to compile
            mine[number] = "--trace="
    return mine, of_compiler, words[end + 1 :]


def say(text):
    """Writes to standard error: standard output is the program's."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def sources_of(names):
    """The files to compile. Raises Failed for what is none."""
    for name in names:
        if not name.endswith((".cu", *PLAIN)):
            raise Failed(f"{name} is neither CUDA (.cu) nor C++ (.cpp, .cc, .cxx). Arguments of the program come after --.", 2)
        if not Path(name).is_file():
            raise Failed(f"There is no file {name}.", 2)
    if all(name.endswith(PLAIN) for name in names):
        raise Failed(f"There is no .cu file in {', '.join(names)}.", 2)
    return [os.path.abspath(name) for name in names]


def options_of(sources, arguments, typed):
    """{source: its CompilerOptions}: those of compile_commands.json, then those that were `typed`; and what to say of them, lines.
    Raises Failed."""
    project = CompileCommands(arguments.compile_commands) if arguments.compile_commands else None
    of, remarks = {}, []
    for source in sources:
        of[source], said = project.options_of(source) if project else (CompilerOptions(), [])
        remarks += [f"{os.path.relpath(source)}: {remark}." for remark in said]
        of[source].read(arguments.compiler_words, os.getcwd())
    return of, [*remarks, *(f"{option} {why}." for option, why in typed.remarks.items())]


def typed_options(arguments):
    """The CompilerOptions of the command line. Raises Failed for an option that neither ./course nor a compiler has."""
    typed = CompilerOptions()
    typed.read(arguments.compiler_words, os.getcwd())
    for option in typed.unknown:
        near = nearest(option.partition("=")[0], arguments.own_options)
        way_out = f"Did you mean {one_of(near)}?" if near else "Arguments of the program come after --."
        raise Failed(f"{option} is no option of ./course run, nvcc or clang. {way_out}", 2)
    return typed


def seeds_of(arguments):
    """The schedules to run, in order."""
    one = arguments.schedule if arguments.schedule is not None else os.environ.get("SIMT_SEED")
    if one is None or arguments.seeds:
        return list(range(arguments.seeds or SEEDS))
    if not str(one).isdecimal():
        raise Failed(f"SIMT_SEED must be a number from 0 on, and is '{one}'.", 2)
    return [int(one)]


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
    words += arguments.compiler_words
    words += ["-p", arguments.compile_commands] if arguments.compile_commands else []
    words += ["--build", arguments.build] if arguments.build else []
    words += ["--schedule", str(seed)]
    return shlex.join(words + (["--", *arguments.program_arguments] if arguments.program_arguments else []))


def run(place, arguments):
    """compiles CUDA files of your own, runs them on the CPU device, and says what it finds"""
    typed = typed_options(arguments)
    sources = sources_of(arguments.files)
    check_time_limit()
    options, remarks = options_of(sources, arguments, typed)
    for remark in dict.fromkeys(remarks):
        say(f"note: {remark}")
    program = Program(place.build, sources, options, typed.libraries)
    trace = Path(arguments.trace or f"{program.file}-trace.json") if arguments.trace is not None else None
    settings = {**({"COURSE_COUNT": "1"} if arguments.count else {}), **({"SIMT_TRACE": str(trace)} if trace else {})}
    reports.prepare(arguments.report)
    shown_on = sys.stderr.buffer if reports.needs_output(arguments.report) else sys.stdout.buffer
    try:
        outcome = outcome_of(program, seeds_of(arguments), arguments.program_arguments, Input(), settings, shown_on, say_warnings)
    except OSError as error:
        raise Failed(f"{error.filename} cannot be written: {error.strerror}. Use a build folder that can.", 2) from error
    text = text_of(arguments, outcome)
    say(text.removesuffix("\n"))
    if arguments.count and outcome.schedules:
        say("\n" + report.table(outcome.kernels) if outcome.kernels else "No kernel has run: there is nothing to count.")
    if trace and outcome.schedules:
        say("\n" + draw(trace))
    reports.write(arguments.report, [outcome], text, outcome.exit_code)
    return outcome.exit_code


def say_warnings(warnings):
    """Says what the compiler remarked on."""
    for warning in warnings[:WARNINGS_SHOWN]:
        say(warning)
    if len(warnings) > WARNINGS_SHOWN:
        say(f"... and {len(warnings) - WARNINGS_SHOWN} more warnings")


def text_of(arguments, outcome):
    """What to say of the program; its own output has been shown."""
    schedules, decisive = outcome.schedules, outcome.decisive
    errors = outcome.errors.decode(errors="replace")
    parts = []
    if outcome.is_stopped() and len(schedules) > 1:  # only the first run has shown what the program said
        parts += [f"Schedule {decisive.seed}, after {report.names_of(schedules[:-1])} without a finding:\n", errors]
    if outcome.findings:
        parts.append(f"\n{report.text_of(outcome.findings)}\n")
    if outcome.message:
        parts.append(("\n" if outcome.verdict in (FINDINGS, OUT_OF_TIME, CRASHED) else "") + f"{outcome.message}\n")
    if outcome.difference:
        parts.append(f"{outcome.difference}\n")
    parts += [f"note: {note.text}\n" for note in outcome.notes]
    if outcome.is_stopped():
        parts += [f"\nagain: {again(arguments, decisive.seed)}\n"] if outcome.verdict != REFUSED else []
    elif schedules:
        parts.append(paint(f"No finding under {report.names_of(schedules)}.", "quiet") + "\n")
        first = schedules[0]
        if decisive != first:
            parts += [errors, f"The program ends with exit code {decisive.exit_code} under schedule {decisive.seed}, and with "
                      f"{first.exit_code} under schedule {first.seed}.\nagain: {again(arguments, decisive.seed)}\n"]
    return "".join(parts)


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
