"""./course run: any CUDA file on the CPU device."""

import contextlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

from tools.learn.build_folder import find_build, nearest, one_of, program_name
from tools.lib.checkout import TOP, seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.machine import cores, memory_for_programs
from tools.lib.names import quoted
from tools.lib.terminal import paint
from tools.run import baseline, report, reports, several
from tools.run.build_program import MADE_BY_MESON, Program, prepare_libraries
from tools.run.compile_commands import CompileCommands
from tools.run.compiler_options import CompilerOptions, split_options
from tools.run.expected import Expected
from tools.run.kinds import NOTE, kinds
from tools.run.outcome import ENDED, FINDINGS, REFUSED, outcome_of
from tools.run.renamed import renamed, source_file
from tools.run.schedules import Input, NoInput
from tools.run.sources import Sources
from tools.run.suppressions import almost_in

PLAIN = (".cpp", ".cc", ".cxx", ".c")  # C++ and C, which nvcc hands to the host's compiler
WARNINGS_SHOWN = 10
OUTPUT_SHOWN = 10  # lines of each of several programs
SEEDS = 4  # as of a check: nearly every race shows in the first one, a wrong order of blocks or warps in the next ones


class Workplace:
    """The build folder of ./course run; it needs no exercises."""

    def __init__(self, asked):
        self.build = find_build(asked or os.environ.get("COURSE_BUILD"))
        if not (self.build / MADE_BY_MESON).exists():
            raise Failed(
                f"{seen_from_the_shell(self.build)} builds for a GPU, for which nvcc compiles any CUDA file. "
                f"./course run needs a folder\nfor the CPU device. {make_one(seen_from_the_shell(TOP / 'build-cpu'))}", 2,
            )


def make_one(folder):
    """How to make a build folder for the CPU device."""
    return (f"Make one, and name it:\n  meson setup {folder} {seen_from_the_shell(TOP)} -Ddevice=cpu\n"
            f"  {program_name()} run --build {folder} ...")


def split_words(words, own):
    """The command line of ./course run: its own words, options for a compiler, and the arguments of the program, those after --.
    `own` has the options of ./course run: {name: True if a value follows}."""
    end = words.index("--") if "--" in words else len(words)
    mine, of_compiler = split_options(words[:end], own)
    options, names = [], []  # argparse takes names in one place only: after all options
    remaining = mine[::-1]
    while remaining:
        word = remaining.pop()
        if word == "-" or not word.startswith("-"):
            names.append(word)
        elif word == "--trace":  # its FILE may be missing, and is no file to compile
            has_file = remaining and not remaining[-1].startswith("-") and not remaining[-1].endswith(".cu")
            options.append(f"--trace={remaining.pop() if has_file else ''}")
        else:
            options += [word, remaining.pop()] if own[word.partition("=")[0]] and "=" not in word and remaining else [word]
    return [*names[:1], *options, *names[1:]], of_compiler, words[end + 1 :]


def say(text):
    """Writes to standard error: standard output is the program's."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def sources_of(names):
    """The files to compile, each once. Raises Failed for what is none."""
    for name in names:
        if os.path.isdir(name):
            raise Failed(f"{quoted(name)} is a folder. {program_name()} run --each {shlex.quote(name)} runs each program in it.", 2)
        if not name.endswith((".cu", *PLAIN)):
            raise Failed(f"{quoted(name)} is neither CUDA (.cu) nor C++ (.cpp, .cc, .cxx) nor C (.c). Arguments of the program come after --.", 2)
        if not Path(name).is_file():
            raise Failed(f"There is no file {quoted(name)}.", 2)
    if all(name.endswith(PLAIN) for name in names):
        raise Failed(f"There is no .cu file in {', '.join(map(quoted, names))}.", 2)
    sources = {}
    for name in names:
        sources.setdefault(os.path.realpath(name), os.path.abspath(name))
    return list(sources.values())


def options_of(sources, project, typed):
    """{source: its CompilerOptions}: those of the CompileCommands, if there are any, then those that were `typed`; and what to say of
    the first ones, lines. Raises Failed."""
    of, remarks = {}, []
    for source in sources:
        of[source], said = project.options_of(source) if project else (CompilerOptions(), [])
        remarks += [f"note: {os.path.relpath(source)}: {remark}." for remark in said]
        of[source].add(typed)
    return of, remarks


def typed_options(arguments):
    """The CompilerOptions of the command line. Raises Failed for an option that neither ./course nor a compiler has."""
    typed = CompilerOptions()
    typed.read(arguments.compiler_words, os.getcwd())
    for option in typed.stops:
        typed.remarks[option] = "has no effect: the program is linked, and runs all the same"
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


def set_limits(arguments):
    """Sets, in the environment, the processor time of each schedule, which programs read there, and the memory. Raises Failed for a
    limit that is none."""
    if arguments.time_limit:
        os.environ["COURSE_CPU_SECONDS"] = f"{arguments.time_limit:g}"
    if arguments.memory_limit:
        os.environ["COURSE_MEMORY_GIB"] = f"{arguments.memory_limit:g}"
    for name in ("COURSE_CPU_SECONDS", "COURSE_MEMORY_GIB", "COURSE_WAITING_SECONDS"):
        text = os.environ.get(name, "1")
        try:
            is_limit = 0 < float(text) < float("inf")
        except ValueError:
            is_limit = False
        if not is_limit:
            raise Failed(f"{name} must be a number above 0, and is '{text}'.", 2)
    jobs = (arguments.jobs or cores()) if arguments.each else 1
    os.environ.setdefault("COURSE_MEMORY_GIB", f"{memory_for_programs(jobs):g}")


def again(arguments, files, seed):
    """The command that runs one schedule of a program again."""
    words = [program_name(), "run", *files]
    words += arguments.compiler_words
    words += ["-p", arguments.compile_commands] if arguments.compile_commands else []
    words += ["--time-limit", f"{arguments.time_limit:g}"] if arguments.time_limit else []
    words += ["--memory-limit", f"{arguments.memory_limit:g}"] if arguments.memory_limit else []
    words += ["--baseline", arguments.baseline] if arguments.baseline else []
    words += ["--build", arguments.build] if arguments.build else []
    words += ["--schedule", str(seed)]
    return shlex.join(words + (["--", *arguments.program_arguments] if arguments.program_arguments else []))


def run(place, arguments):
    """compiles CUDA files of your own, runs them on the CPU device, and says what it finds"""
    typed = typed_options(arguments)
    project = CompileCommands(arguments.compile_commands) if arguments.compile_commands else None
    set_limits(arguments)
    if arguments.each and arguments.trace is not None:
        raise Failed("--trace records one program: name it without --each.", 2)
    if (arguments.parts or arguments.exclude) and not arguments.each:
        raise Failed("--with and --exclude belong to --each: without it, all files that are named are one program.", 2)
    for option in ("baseline", "write_baseline"):
        if getattr(arguments, option) == "":
            raise Failed(f"--{option.replace('_', '-')} needs the name of a file.", 2)
    known = baseline.read(arguments.baseline) if arguments.baseline else {}
    sources = Sources(os.getcwd())
    expected = Expected(sources, known, takes_all=bool(arguments.write_baseline))
    reports.prepare(arguments.report)
    for option, why in typed.remarks.items():
        say(f"note: {option} {why}.")
    try:
        outcomes, text, almost = (run_each if arguments.each else run_one)(place, arguments, project, typed, expected)
    except OSError as error:
        raise Failed(f"{error.filename} cannot be written: {error.strerror}. ./course run needs a build folder that can be written.\n"
                     f"{make_one('~/course-build')}", 2) from error
    code = several.exit_code_of(outcomes) if arguments.each else outcomes[0].exit_code
    rest = "".join(f"note: {line}\n" for line in almost) + text_of_all(arguments, outcomes, known, sources)
    if rest:
        say(rest.removesuffix("\n"))
    reports.write(arguments.report, [outcome for outcome in outcomes if outcome.has_main or not arguments.each], text + rest, code)
    return code


def run_one(place, arguments, project, typed, expected):
    """Makes and runs a program of all files; returns its Outcome, in a list, what was said of it, and what to say at the end."""
    with contextlib.ExitStack() as stack:
        name = None
        if arguments.files == ["-"]:
            name = stack.enter_context(source_file(sys.stdin.buffer.read(), place.build / "run"))
            typed.folders[0].append(os.getcwd())  # of #include "..."
        sources = [str(name)] if name else sources_of(arguments.files)
        options, remarks = options_of(sources, project, typed)
        for remark in remarks:
            say(renamed(remark, name) if name else remark)
        program = Program(place.build, sources, options, typed.libraries, folder=name and name.parent)
        default = place.build / "run" / "stdin" if name else program.file
        trace = Path(arguments.trace or f"{default}-trace.json") if arguments.trace is not None else None
        settings = {**count_settings(arguments), **({"SIMT_TRACE": str(trace)} if trace else {})}
        shown_on = sys.stderr.buffer if reports.needs_output(arguments.report) else sys.stdout.buffer
        outcome = outcome_of(
            program, seeds_of(arguments), arguments.program_arguments, Input(), settings, shown_on,
            lambda warnings: say_warnings(renamed(warnings, name) if name else warnings), expected)  # fmt: skip
        almost = almost_allowed([outcome])
        outcome, almost = (renamed(one, name) if name else one for one in (outcome, almost))
    text = text_of(arguments, arguments.files, outcome)
    say(text.removesuffix("\n"))
    if arguments.count and outcome.schedules:
        say("\n" + counts_text(outcome))
    if trace and outcome.schedules:
        say("\n" + draw(trace))
    return [outcome], text, almost


def count_settings(arguments):
    return {"COURSE_COUNT": "1"} if arguments.count else {}


def counts_text(outcome):
    return report.table(outcome.kernels) if outcome.kernels else "No kernel has run: there is nothing to count."


def run_each(place, arguments, project, typed, expected):
    """Makes and runs a program of each file; returns their Outcomes, what was said of them, and what to say at the end."""
    files, parts, idle = several.programs_and_parts(arguments.files, arguments.parts, arguments.exclude, (*several.CUDA, *PLAIN))
    for pattern in idle:
        say(f"note: --exclude {quoted(pattern)} matches no file.")
    link = prepare_libraries(place.build)
    tasks, remarks = [], []
    for file in files:
        sources = [os.path.abspath(name) for name in (file, *parts)]
        options, said = options_of(sources, project, typed)
        remarks.append([f"{remark}\n" for remark in said])
        program = Program(place.build, sources, options, typed.libraries, link)
        tasks.append((program, seeds_of(arguments), arguments.program_arguments, count_settings(arguments), expected))
    outcomes, texts = [], []

    def tell(text):
        texts.append(text)
        print(text, end="", flush=True, file=sys.stderr if reports.needs_output(arguments.report) else sys.stdout)

    # The runs come first: zip() asks them for more after the last one, and then their processes end by themselves.
    for outcome, file, said in zip(several.in_parallel(outcome_of_task, tasks, arguments.jobs or cores()), files, remarks):
        outcomes.append(outcome)
        if outcome.has_main:
            tell(section_text(arguments, [file, *parts], outcome, said, is_whole=len(files) == 1))
    tell(several.table(files, outcomes))
    return outcomes, "".join(texts), almost_allowed(outcomes)


def almost_allowed(outcomes):
    """What to say of comments that look like a suppression and are none: lines."""
    files = dict.fromkeys(file for outcome in outcomes for file in outcome.files)
    return [line for file in files for line in almost_in(file, [kind for kind in kinds() if kind != NOTE])]


def outcome_of_task(task):
    """The Outcome of one program of several."""
    program, seeds, words, settings, expected = task
    return outcome_of(program, seeds, words, NoInput(), settings, expected=expected)


def section_text(arguments, files, outcome, remarks, is_whole):
    """What to say of one program of several, which has its name from the first file: its own output, as far as it is shown, then what was found."""
    warnings = [f"{line}\n" for line in warning_lines(outcome.warnings)]
    printed = outcome.output.decode(errors="replace").splitlines()
    if outcome.decisive and outcome.decisive == outcome.schedules[0]:  # else they are shown with the schedule that they are of
        printed += outcome.errors.decode(errors="replace").splitlines()
    shown = printed if is_whole else printed[:OUTPUT_SHOWN]
    more = [f"... and {len(printed) - len(shown)} more lines"] if len(printed) > len(shown) else []
    parts = [f"==== {files[0]}\n", *remarks, *warnings, *(f"{line}\n" for line in [*shown, *more])]
    parts.append(text_of(arguments, files, outcome))
    if arguments.count and outcome.schedules:
        parts.append(f"\n{counts_text(outcome)}\n")
    return "".join(parts) + "\n"


def text_of_all(arguments, outcomes, known, sources):
    """What to say at the end of suppressions and baselines; writes the baseline that is asked for."""
    ended = [outcome for outcome in outcomes if outcome.schedules and not outcome.is_stopped()]
    everything = dict.fromkeys(one for outcome in outcomes for one in outcome.suppressions if outcome.schedules)
    used = {one for outcome in outcomes for one in outcome.suppressions if any(map(one.allows, outcome.findings))}
    lines = [f"note: {one.useless()}" for one in everything if one not in used]
    entries = [entry for outcome in outcomes for entry in baseline.entries_of(outcome.findings, sources)]
    files = {sources.path(file) for outcome in ended for file in outcome.files}
    gone = baseline.gone_from({key: entry for key, entry in known.items() if entry["file"] in files}, {e["fingerprint"] for e in entries})
    if arguments.write_baseline:
        number = baseline.write(arguments.write_baseline, entries)
        lines.append(f"{arguments.write_baseline}: {number} finding{'s' if number != 1 else ''}")
    return "".join(f"{line}\n" for line in [*lines, *gone])


def say_warnings(warnings):
    """Says what the compiler remarked on."""
    for line in warning_lines(warnings):
        say(line)


def warning_lines(warnings):
    more = [f"... and {len(warnings) - WARNINGS_SHOWN} more warnings"] if len(warnings) > WARNINGS_SHOWN else []
    return [*warnings[:WARNINGS_SHOWN], *more]


def text_of(arguments, files, outcome):
    """What to say of the program of these files; its own output has been shown."""
    schedules, decisive = outcome.schedules, outcome.decisive
    errors = outcome.errors.decode(errors="replace")
    new = [finding for finding in outcome.findings if finding.counts()]
    a_finding = "a finding" if len(new) == len(outcome.findings) else "a new finding"
    parts = []
    if outcome.is_stopped() and len(schedules) > 1:  # only the first run has shown what the program said
        parts += [f"Schedule {decisive.seed}, after {report.names_of(schedules[:-1])} without {a_finding}:\n", errors]
    if new:
        parts.append(f"\n{report.text_of(new)}\n")
    if outcome.message:
        parts.append(("\n" if outcome.verdict in (FINDINGS, *ENDED) else "") + f"{outcome.message}\n")
    if outcome.difference:
        parts.append(f"{outcome.difference}\n")
    parts += [f"note: {note.text}\n" for note in outcome.notes]
    parts.append(report.others_text(outcome.findings))
    if outcome.is_stopped():
        parts += [f"\nagain: {again(arguments, files, decisive.seed)}\n"] if outcome.verdict != REFUSED else []
    elif schedules:
        parts.append(paint(f"{a_finding.replace('a', 'No', 1)} under {report.names_of(schedules)}.", "quiet") + "\n")
        first = schedules[0]
        if decisive != first:
            parts += [errors, f"The program ends with exit code {decisive.exit_code} under schedule {decisive.seed}, and with "
                      f"{first.exit_code} under schedule {first.seed}.\nagain: {again(arguments, files, decisive.seed)}\n"]
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
