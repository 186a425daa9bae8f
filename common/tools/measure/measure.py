#!/usr/bin/env python3
"""Measures the course on a GPU, and keeps every table, plot and page in step with what was measured.

    measure.py run OUTPUT_FOLDER [--parts tests,ladders] [--minutes N] [meson options, such as -Dchapters=00-start-here]
        on a machine with a GPU: builds with nvcc; runs all tests, known-wrong answers too; runs lessons and solutions
        under compute-sanitizer; runs each ladder three times, with the rows of PyTorch and of MPI where they are
        installed; reads counters with ncu. Writes results.json, the logs, and the table summary.md. Exit code 0 only
        if there was no problem, and each sanitizer worked: one that is missing, refuses the device or
        misses a planted error is not "clean". When the time is over, the rest is left out; summary.md says what ran.
    measure.py import OUTPUT_FOLDER ... [--anyway] [--machine "4x NVIDIA H200"]
        puts these results into chapters/*/results, in files that have the device's name; or the machine's, if it has
        another number of such devices: [[machine]] in a chapter.toml shows both
    measure.py import --build BUILD
        counts again, with a build for the CPU device, what the tables of sectors compare
    measure.py render [CHAPTER_FOLDER ...]
        writes all that is made from the results: tables and plots of the chapters, common/docs/profiling.md, the tally
        in common/docs/verdicts.md, the front page, the hours in common/docs/instructors.md. Plots need matplotlib (common/tools/setup.sh --contributor).
    measure.py check [CHAPTER_FOLDER ...] [--build BUILD]
        changes nothing, needs no matplotlib, and exits with 1 if something is out of step; with --build, also if that
        build for the CPU device counts otherwise
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib.failed import Failed  # noqa: E402
from tools.measure import bring_in, documents, gpu_run  # noqa: E402
from tools.measure.results import TOP  # noqa: E402


def some_parts(text):
    """The parts that a list such as "tests,ladders" names, in the order in which they run."""
    names = text.split(",")
    if unknown := [name for name in names if name not in gpu_run.PARTS]:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(gpu_run.PARTS)}")
    return tuple(part for part in gpu_run.PARTS if part in names)


def parse(arguments):
    """The options; what `run` does not know goes to Meson."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=Path, default=TOP, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("output", type=Path)
    running.add_argument("--parts", type=some_parts, default=gpu_run.PARTS)
    running.add_argument("--minutes", type=float)
    running.add_argument("--build", type=Path, help="by default build-gpu-check at the top")
    importing = commands.add_parser("import")
    importing.add_argument("outputs", type=Path, nargs="*")
    importing.add_argument("--anyway", action="store_true")
    importing.add_argument("--machine")
    importing.add_argument("--build", type=Path)
    for name in ("render", "check"):
        commands.add_parser(name).add_argument("chapters", type=Path, nargs="*")
    commands.choices["check"].add_argument("--build", type=Path)
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "run":
        parser.error(f"unknown: {' '.join(rest)}")
    if options.command == "import" and not options.outputs and not options.build:
        parser.error("import needs a folder that `run` wrote, or --build BUILD")
    return options, rest


def main():
    options, rest = parse(sys.argv[1:])
    top = options.top.resolve()
    try:
        if options.command == "run":
            build = (options.build or top / "build-gpu-check").resolve()
            return gpu_run.run(options.output, build, options.parts, options.minutes, rest, top)
        if options.command == "import":
            files = [file for folder in options.outputs for file in bring_in.of_run(top, folder, options.anyway, options.machine)]
            files += bring_in.counts_of_build(top, options.build.resolve()) if options.build else []
            print(*(file.relative_to(top) for file in files), sep="\n")
            return 0
        chapters = [folder.resolve() for folder in options.chapters]
        if options.command == "render":
            documents.render(top, chapters)
        else:
            count = documents.check(top, chapters, options.build and options.build.resolve())
            print(f"{count} tables, plots and files of results are in step")
    except (Failed, OSError) as failed:
        return str(failed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
