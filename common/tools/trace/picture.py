#!/usr/bin/env python3
"""Draws what the lanes of a warp did: a trace of the CPU device as SVG, and as a page that steps through it.

    picture.py --exercise NAME [--build build]
        builds and runs the check of your exercise, and writes picture-NAME.svg and picture-NAME.html
        into the build folder; works for an answer that is wrong, too
    picture.py TRACE.json [-o FILE.svg] [--html FILE.html]
        draws a trace that any program of the course wrote: SIMT_TRACE=TRACE.json PROGRAM ...
    picture.py TRACE.json --list
        names the launches that were recorded
    picture.py --chapter CHAPTER_FOLDER ... [--build build] [--check]
        draws what CHAPTER_FOLDER/pictures.json declares into CHAPTER_FOLDER/pictures. --check changes
        nothing, and exits with 1 if a drawing, or its place in README.md, is out of step.

--launch, --kernel, --block, --warp, --lines and --rows choose what is drawn. Without them it is the first
launch with a finding, else the smallest that fills a warp and touches memory. For an exercise it is a
launch of its own kernels: of the test that fails the first with a finding, else the last.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.check.check_exercise import seen_from_the_shell  # noqa: E402
from tools.trace import trace_file, trace_svg  # noqa: E402
from tools.trace.trace_file import TOP, TraceError  # noqa: E402

TEMPLATE = Path(__file__).with_name("stepper.html")
EVENTS_OF_A_PAGE = 4000  # of all its launches: some megabytes
NOT_BEGUN = 77


# ---- the page --------------------------------------------------------------------------------------


def is_worth_a_look(launch):
    """False for a launch that did nothing and in which nothing was found."""
    return bool(launch["events"] or launch["findings"])


def launches_of_page(launches, chosen):
    """The numbers of the launches that fit on a page: the chosen one, then as many as fit from the first on."""
    kept, room = {chosen}, EVENTS_OF_A_PAGE - len(launches[chosen]["events"])
    for number, launch in enumerate(launches):
        if number != chosen and is_worth_a_look(launch) and len(launch["events"]) <= room:
            kept.add(number)
            room -= len(launch["events"])
    return sorted(kept)


def page(trace, choice):
    """The HTML of the stepper, which opens at `choice`; everything that it shows stands in it."""
    numbers = launches_of_page(trace["launches"], choice.launch)
    launches, files = [], set()
    for number in numbers:
        launch = trace["launches"][number]
        events = [
            {**event, "sentence": trace_file.sentence(launch, event), "cost": trace_file.cost(launch, event)}
            for event in launch["events"]
        ]
        named = trace_file.named_places(launch)
        files.update([event["file"] for event in events] + [file for file, _ in named])
        title = trace_file.describe_launch(launch)
        launches.append({**launch, "events": events, "number": number + 1, "title": title, "named": named})
    left_out = sum(map(is_worth_a_look, trace["launches"])) - len(numbers) + trace.get("launches_left_out", 0)
    data = {
        "program": trace["program"],
        "omitted": f"{trace_file.count(left_out, 'launch')} of this run left out" if left_out > 0 else "",
        "launches": launches,
        "chosen": {"launch": numbers.index(choice.launch), "block": choice.block, "warp": choice.warp},
        "sources": {file: trace_file.source_lines(file) for file in sorted(files)},
    }
    # No text of a source may end the <script> element that it stands in, nor open a comment there.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
    colours = "\n".join(f".L{lane} {{ --lane: {colour}; }}" for lane, colour in enumerate(trace_svg.lane_colours()))
    title = trace_svg.escape(f"{trace['program']}: {trace_file.describe_launch(trace['launches'][choice.launch])}")
    parts = {"TITLE": title, "LANES": colours, "DATA": text}
    return re.sub("@(TITLE|LANES|DATA)@", lambda found: parts[found[1]], TEMPLATE.read_text(encoding="utf-8"))


# ---- one trace -------------------------------------------------------------------------------------


def list_launches(trace):
    """The text of --list."""
    lines = []
    for number, launch in enumerate(trace["launches"], 1):
        warps = trace_file.warps_of(launch)
        remark = f", test: {launch['test']}" if launch.get("test") else ""
        if launch["findings"]:
            remark += f", {launch['findings'][0].splitlines()[0]}"
        lines.append(
            f"{number:4} {trace_file.describe_launch(launch)}: {trace_file.count(len(launch['events']), 'event')} "
            f"of {trace_file.count(len(warps), 'warp')}{remark}"
        )
    return "\n".join(lines)


def write(file, text):
    """Writes a text file; says so if it cannot."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TraceError(f"{file}: {error.strerror}") from error


def draw(trace, choice, lines, rows, svg, html):
    """Writes the files that are asked for, and says what was drawn."""
    launch = trace["launches"][choice.launch]
    if svg:
        write(svg, trace_svg.draw(trace, choice, lines, rows))
        all_rows = len(trace_svg.rows_of(trace, choice, lines))
    if html:
        write(html, page(trace, choice))
    print(
        f"Launch {choice.launch + 1} of {len(trace['launches'])}, {trace_file.describe_launch(launch)}, "
        f"block {choice.block}, warp {choice.warp}: {choice.reason}."
    )
    if svg and all_rows > rows[1]:
        print(f"{trace_file.count(all_rows - rows[1], 'more row')}: add --rows {rows[1] + 1}-{all_rows}.")
    if left_out := trace.get("launches_left_out"):
        print(f"{trace_file.count(left_out, 'later launch')} not recorded: the trace was full.")


def a_range(text):
    """"27-33" as (27, 33)."""
    found = re.fullmatch(r"(\d+)-(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is no range such as 27-33")
    return int(found[1]), int(found[2])


def run(command, folder, environment):
    """Runs a program with a recorder; its stdout is all that it said."""
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )


# ---- an exercise -----------------------------------------------------------------------------------


def introspected(build, name):
    """What Meson wrote about a build folder: "tests", "targets"."""
    file = build / "meson-info" / f"intro-{name}.json"
    if not file.exists():
        raise TraceError(
            f"{seen_from_the_shell(build)} is no build folder. Make one with: meson setup build\n"
            "or name yours: --build FOLDER"
        )
    return json.loads(file.read_text(encoding="utf-8"))


def needs_cpu_device(build):
    """Raises TraceError for a folder whose kernels run on a GPU, which records nothing."""
    if not any(target["name"] == "simt" for target in introspected(build, "targets")):
        raise TraceError(
            f"{seen_from_the_shell(build)} builds for a GPU, and a GPU records no traces. "
            "Set up a folder for the CPU device beside it:\n"
            "  meson setup build-cpu -Ddevice=cpu\n"
            "and add --build build-cpu"
        )


def check_of(build, name):
    """The command that checks an exercise, as its test has it, and the exercise's file as traces name it."""
    exercises = {
        test["name"]: test["cmd"] for test in introspected(build, "tests")
        if any(suite.split(":")[-1] == "exercises" for suite in test["suite"])
    }
    if name not in exercises:
        raise TraceError(f"No exercise '{name}' in {seen_from_the_shell(build)}; it has {', '.join(sorted(exercises))}")
    file = next(argument for argument in exercises[name] if argument.endswith(".cuh"))
    return exercises[name], os.path.relpath((build / file).resolve(), TOP)


def choose_of_exercise(trace, file, said, options):
    """The Choice for an exercise in `file`, whose check failed and `said` why; `said` is None if it passed."""
    launches = dict(enumerate(trace["launches"], 1))
    own = [  # a check may have kernels of its own
        number for number, launch in launches.items()
        if any(event["file"] == file for event in launch["events"])
        or any(file in finding for finding in launch["findings"])
    ] or list(launches)
    where = {"kernel": options.kernel, "block": options.block, "warp": options.warp}
    if options.launch is not None or options.kernel is not None or said is None:
        return trace_file.choose(trace, options.launch, **where, among=None if options.kernel else own,
                                 findings=said is not None)
    failed = re.search(r"^FAILED: (.*)$", said, re.MULTILINE)
    of_test = [
        number for number in own if failed and launches[number]["test"] and launches[number]["test"] in failed[1]
    ]
    if of_test and not any(launches[number]["findings"] for number in of_test):
        return trace_file.choose(trace, of_test[-1], **where)._replace(reason="the last of the test that fails")
    return trace_file.choose(trace, None, **where, among=of_test or own)


def picture_of_exercise(name, build, options):
    """Runs the check of an exercise with a recorder, and draws; returns the exit code."""
    needs_cpu_device(build)
    command, file = check_of(build, name)
    trace_path, svg, html = (build / f"picture-{name}.{ending}" for ending in ("json", "svg", "html"))
    for old in (trace_path, svg, html):  # of an earlier run, and perhaps of another answer
        old.unlink(missing_ok=True)
    environment = {"SIMT_TRACE": str(trace_path)}
    if options.kernel:
        environment["SIMT_TRACE_KERNEL"] = options.kernel
    done = run(command, build, environment)
    said = done.stdout.strip()
    if done.returncode == NOT_BEGUN or not trace_path.exists():
        print(said)
        if done.returncode != NOT_BEGUN:
            print("\nNo picture: the check recorded nothing.")
        return 1
    trace = trace_file.load(trace_path)
    if done.returncode != 0:
        print(f"{said}\n")
    else:
        seed = os.environ.get("SIMT_SEED", "0")
        print(
            f"The check passes under schedule {seed}. "
            f"Where it fails under another one, say which: SIMT_SEED=2 {sys.argv[0]} ..."
        )
    choice = choose_of_exercise(trace, file, said if done.returncode != 0 else None, options)
    draw(trace, choice, options.lines, options.rows, svg, html)
    print(
        "Another one: add --launch K, --block B, --warp W. All launches: "
        f"{seen_from_the_shell(Path(__file__).resolve())} {seen_from_the_shell(trace_path)} --list\n"
        f"picture: {seen_from_the_shell(svg)}\n"
        f"steps:   {seen_from_the_shell(html)}"
    )
    return 0


# ---- a chapter's drawings --------------------------------------------------------------------------


def read_declared(chapter):
    """The entries of pictures.json, each checked for what it has to have."""
    file = chapter / "pictures.json"
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise TraceError(f"{file}: {error}") from error
    needed, known = {"program", "kernel", "output", "alt"}, {"arguments", "launch", "block", "warp", "lines", "rows"}
    for entry in entries:
        if missing := needed - set(entry):
            raise TraceError(f"{file}: an entry lacks {', '.join(sorted(missing))}: {entry.get('output', entry)}")
        if strange := set(entry) - needed - known:
            raise TraceError(f"{file}: {entry['output']}: unknown {', '.join(sorted(strange))}")
    return entries


def drawn_from(entry, chapter, build):
    """The SVG that one entry of pictures.json asks for: runs its program with a recorder."""
    candidates = [build / "chapters" / chapter.name / entry["program"], build / entry["program"]]
    program = next((file for file in candidates if file.exists()), None)
    if program is None:
        raise TraceError(
            f"{entry['output']}: {candidates[0]} is not built: meson compile -C {seen_from_the_shell(build)}"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        environment = {"SIMT_TRACE": str(file), "SIMT_TRACE_KERNEL": entry["kernel"], "SIMT_SEED": "0"}
        command = [str(program), *map(str, entry.get("arguments", []))]
        done = run(command, TOP, environment)
        if not file.exists():
            raise TraceError(f"{entry['output']}: {' '.join(command)} recorded nothing\n{done.stdout}")
        trace = trace_file.load(file)
    try:
        choice = trace_file.choose(trace, entry.get("launch"), entry["kernel"], entry.get("block"), entry.get("warp"))
        return trace_svg.draw(trace, choice, entry.get("lines"), entry.get("rows", (1, trace_svg.MAX_ROWS)))
    except TraceError as error:
        raise TraceError(f"{entry['output']}: {error}") from error


def pictures_of_chapter(chapter, build, check):
    """Draws, or compares, the pictures of a chapter; returns the exit code."""
    entries = read_declared(chapter)
    readme = (chapter / "README.md").read_text(encoding="utf-8")
    folder = chapter / "pictures"
    again = f"common/tools/trace/picture.py --chapter {seen_from_the_shell(chapter)} --build {seen_from_the_shell(build)}"
    problems = []
    for entry in entries:
        file = folder / entry["output"]
        text = drawn_from(entry, chapter, build)
        there = file.read_text(encoding="utf-8") if file.exists() else None
        if not check:
            write(file, text)
            print(f"wrote {seen_from_the_shell(file)}")
        elif there != text:
            state = "is missing" if there is None else "is out of step with the program"
            problems.append(f"{seen_from_the_shell(file)} {state}; run: {again}")
        embedded = f"![{entry['alt']}](pictures/{entry['output']})"
        if embedded not in readme:
            problems.append(f"{seen_from_the_shell(chapter / 'README.md')} does not have: {embedded}")
    declared = {entry["output"] for entry in entries}
    for file in sorted(folder.glob("*")):
        if file.name not in declared:
            problems.append(f"{seen_from_the_shell(file)} is not declared in pictures.json")
    as_declared = f"{chapter.name}: {trace_file.count(len(entries), 'picture')} as declared"
    print("\n".join(problems) if problems else as_declared)
    return 1 if problems else 0


# ---- the command -----------------------------------------------------------------------------------


def parse(arguments):
    """The options; wrong combinations end the program with a message."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?", type=Path, metavar="TRACE.json")
    parser.add_argument("--exercise", metavar="NAME")
    parser.add_argument("--chapter", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="build folder; by default build")
    parser.add_argument("--check", action="store_true", help="with --chapter: compare, and change nothing")
    parser.add_argument("--list", action="store_true", help="name the launches of a trace")
    parser.add_argument("--launch", type=int, metavar="K", help="the K-th launch of the trace, from 1")
    parser.add_argument("--kernel", metavar="NAME", help="only launches of this kernel")
    parser.add_argument("--block", type=int, metavar="B")
    parser.add_argument("--warp", type=int, metavar="W", help="of the block")
    parser.add_argument("--lines", type=a_range, metavar="FROM-TO", help="only events of these source lines")
    parser.add_argument("--rows", type=a_range, default=(1, trace_svg.MAX_ROWS), metavar="FROM-TO",
                        help=f"only these rows of the drawing; by default the first {trace_svg.MAX_ROWS}")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE.svg", help="by default TRACE.svg")
    parser.add_argument("--html", type=Path, metavar="FILE.html", help="write the page with the steps, too")
    options = parser.parse_args(arguments)
    if sum(what is not None for what in (options.trace, options.exercise, options.chapter)) != 1:
        parser.error("give one of TRACE.json, --exercise NAME and --chapter FOLDER")
    if options.check and not options.chapter:
        parser.error("--check belongs to --chapter")
    return options


def main():
    options = parse(sys.argv[1:])
    build = (options.build or TOP / "build").resolve()
    try:
        if options.exercise:
            return picture_of_exercise(options.exercise, build, options)
        if options.chapter:
            needs_cpu_device(build)
            return max([pictures_of_chapter(chapter.resolve(), build, options.check) for chapter in options.chapter])
        trace = trace_file.load(options.trace)
        if options.list:
            print(list_launches(trace))
            return 0
        choice = trace_file.choose(trace, options.launch, options.kernel, options.block, options.warp)
        svg = options.output or (None if options.html else options.trace.with_suffix(".svg"))
        draw(trace, choice, options.lines, options.rows, svg, options.html)
        print("Another one: --launch K, --block B, --warp W; --list names the launches.")
        for file in filter(None, (svg, options.html)):
            print(f"wrote {file}")
        return 0
    except TraceError as error:
        sys.exit(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
