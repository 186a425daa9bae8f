"""./course run: any CUDA file on the CPU device."""

import os
import shlex
import sys
from pathlib import Path

from tools.learn.build_folder import Refused, find_build, program_name
from tools.lib.checkout import seen_from_the_shell
from tools.lib.terminal import paint
from tools.run import report
from tools.run.build_program import MADE_BY_MESON, NotBuilt, Program
from tools.run.schedules import ended_in_the_middle, first_difference, run_all

FINDINGS = 66
SEEDS = 4


class Workplace:
    """The build folder of ./course run; it needs no exercises."""

    def __init__(self, asked):
        self.asked = asked
        self.build = find_build(asked or os.environ.get("COURSE_BUILD"))

    def needs_cpu_device(self):
        """Raises Refused for a build folder that runs kernels on a GPU."""
        if not (self.build / MADE_BY_MESON).exists():
            raise Refused(
                f"{seen_from_the_shell(self.build)} builds for a GPU: there nvcc compiles any CUDA file. ./course run uses "
                "the CPU device. Make a folder for it, and name it:\n"
                f"  meson setup build-cpu -Ddevice=cpu && {program_name()} run --build build-cpu ...", 2,
            )


def say(text):
    """Writes to standard error: standard output is the program's."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def sources_of(names):
    """The files to compile. Raises Refused for what is none."""
    for name in names:
        if not name.endswith(".cu"):
            raise Refused(f"{name} is no .cu file.", 2)
        if not Path(name).is_file():
            raise Refused(f"There is no file {name}.", 2)
    return [os.path.abspath(name) for name in names]


def seeds_of(arguments):
    """The schedules to run, in order."""
    one = arguments.schedule if arguments.schedule is not None else os.environ.get("SIMT_SEED")
    return list(range(arguments.seeds or SEEDS)) if one is None else [one]


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
    place.needs_cpu_device()
    sources = sources_of(arguments.files)
    flags = [f"-I{os.path.abspath(folder)}" for folder in arguments.include]
    flags += [f"-D{name}" for name in arguments.define]
    program = Program(place.build, sources, flags)
    try:
        program.make()
    except NotBuilt as problem:
        raise Refused(str(problem), problem.code) from problem
    command = [str(program.file), *arguments.program_arguments]
    seeds = seeds_of(arguments)
    runs = run_all(command, seeds, {})
    return tell(arguments, command, runs)


def tell(arguments, command, runs):
    """Says what the runs were like; returns the exit code."""
    last = runs[-1]
    if last.seed != runs[0].seed and (ended_in_the_middle(last) or last.findings):
        sys.stderr.buffer.write(last.errors)
    if last.findings:
        say("\n" + report.findings(last))
    if ended_in_the_middle(last):
        say("\n" + report.end_in_the_middle(last))
    found = None if last.findings or ended_in_the_middle(last) else first_difference(command, runs, {})
    if found:
        say(report.difference(found))
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    for note in notes:
        say(f"note: {note}")
    if last.findings or ended_in_the_middle(last):
        say(f"\nschedule {last.seed} of {', '.join(str(run.seed) for run in runs)}; again: {again(arguments, last.seed)}"
            if len(runs) > 1 else f"\nagain: {again(arguments, last.seed)}")
        return FINDINGS if last.findings else 1 if last.stop and last.stop["stopped"] == "time" else last.exit_code()
    code = next((run.code for run in runs if run.code != 0), 0)
    which = f"schedule {runs[0].seed}" if len(runs) == 1 else f"{len(runs)} schedules"
    say(paint(f"No finding under {which}.", "quiet"))
    return code
