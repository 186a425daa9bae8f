#!/usr/bin/env python3
"""Draws what the lanes of a warp did: a trace of the CPU device as SVG, and as a page that steps through it.

    picture.py --exercise NAME [--build build] [--open]
        builds and runs the check of your exercise, and writes picture-NAME.svg and picture-NAME.html
        into the build folder; works for an answer that is wrong, too; --open shows the page in the browser
    picture.py TRACE.json [-o FILE.svg] [--html FILE.html]
        draws a trace that any program of the course wrote: SIMT_TRACE=TRACE.json PROGRAM ...
    picture.py TRACE.json --list
        names the launches that were recorded

--launch, --kernel, --block, --warp, --lines and --rows choose what is drawn. Without them it is the first
launch with a finding, else the smallest that fills a warp and touches memory. For an exercise it is a
launch of its own kernels: of the test that fails the first with a finding, else the last.
"""

import argparse
import os
import re
import sys
import webbrowser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib.checkout import TOP, seen_from_the_shell  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.trace import picture_svg  # noqa: E402
from tools.trace.choosing import choose, describe_launch, warps_of  # noqa: E402
from tools.trace.picture_svg import MAX_ROWS  # noqa: E402
from tools.trace.recording import load  # noqa: E402
from tools.trace.run_recorded import check_recorded  # noqa: E402
from tools.trace.sentences import count  # noqa: E402
from tools.trace.stepper import page  # noqa: E402


# ---- one trace -------------------------------------------------------------------------------------


def list_launches(trace):
    """The text of --list."""
    lines = []
    for number, launch in enumerate(trace["launches"], 1):
        warps = warps_of(launch)
        remark = f", test: {launch['test']}" if launch.get("test") else ""
        if launch["findings"]:
            remark += f", {launch['findings'][0]['text'].splitlines()[0]}"
        lines.append(
            f"{number:4} {describe_launch(launch)}: {count(len(launch['events']), 'event')} "
            f"of {count(len(warps), 'warp')}{remark}"
        )
    return "\n".join(lines)


def write(file, text):
    """Writes a text file; says so if it cannot."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"{file}: {error.strerror}") from error


def draw(trace, choice, lines, rows, svg, html):
    """Writes the files that are asked for, and says what was drawn."""
    launch = trace["launches"][choice.launch]
    if svg:
        write(svg, picture_svg.draw(trace, choice, lines, rows))
        all_rows = len(picture_svg.rows_of(trace, choice, lines))
    if html:
        write(html, page(trace, choice))
    print(
        f"Launch {choice.launch + 1} of {len(trace['launches'])}, {describe_launch(launch)}, "
        f"block {choice.block}, warp {choice.warp}: {choice.reason}."
    )
    if svg and all_rows > rows[1]:
        print(f"{count(all_rows - rows[1], 'more row')}: add --rows {rows[1] + 1}-{all_rows}.")
    if left_out := trace.get("launches_left_out"):
        print(f"{count(left_out, 'later launch')} not recorded: the trace was full.")


# ---- an exercise -----------------------------------------------------------------------------------


def draw_exercise(options, build):
    """Draws what the check of an exercise recorded; returns the exit code."""
    name = options.exercise
    svg, html = (build / f"picture-{name}.{ending}" for ending in ("svg", "html"))
    for old in (svg, html):  # of an earlier run, and perhaps of another answer
        old.unlink(missing_ok=True)
    recorded = check_recorded(name, build, options)
    if recorded is None:
        return 1
    trace, choice, file = recorded
    draw(trace, choice, options.lines, options.rows, svg, html)
    print(
        "Another one: add --launch K, --block B, --warp W. All launches: "
        f"{seen_from_the_shell(Path(__file__).resolve())} {seen_from_the_shell(file)} --list\n"
        f"picture: {seen_from_the_shell(svg)}\n"
        f"steps:   {seen_from_the_shell(html)}"
    )
    if options.open and not webbrowser.open(html.as_uri()):
        print("No browser was found to open it.")
    return 0


# ---- the command -----------------------------------------------------------------------------------


def a_range(text):
    """"27-33" as (27, 33)."""
    found = re.fullmatch(r"(\d+)-(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not a range such as 27-33")
    return int(found[1]), int(found[2])


def parse(arguments):
    """The options; wrong combinations end the program with a message."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?", type=Path, metavar="TRACE.json")
    parser.add_argument("--exercise", metavar="NAME")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="build folder; by default build")
    parser.add_argument("--list", action="store_true", help="name the launches of a trace")
    parser.add_argument("--launch", type=int, metavar="K", help="the K-th launch of the trace, from 1")
    parser.add_argument("--kernel", metavar="NAME", help="only launches of this kernel")
    parser.add_argument("--block", type=int, metavar="B")
    parser.add_argument("--warp", type=int, metavar="W", help="of the block")
    parser.add_argument("--lines", type=a_range, metavar="FROM-TO", help="only events of these source lines")
    parser.add_argument("--rows", type=a_range, default=(1, MAX_ROWS), metavar="FROM-TO",
                        help=f"only these rows of the drawing; by default the first {MAX_ROWS}")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE.svg", help="by default TRACE.svg")
    parser.add_argument("--html", type=Path, metavar="FILE.html", help="write the page with the steps, too")
    parser.add_argument("--open", action="store_true", help="of an exercise: show the page with the steps in the browser")
    parser.add_argument("--quiet", action="store_true", help="of a trace: say what was drawn, and not which files or how to draw another")
    options = parser.parse_args(arguments)
    if (options.trace is None) == (options.exercise is None):
        parser.error("give one of TRACE.json and --exercise NAME")
    if options.open and options.trace:
        parser.error("--open is for --exercise NAME")
    return options


def main():
    options = parse(sys.argv[1:])
    build = (options.build or TOP / "build").resolve()
    try:
        if options.exercise:
            return draw_exercise(options, build)
        trace = load(options.trace)
        if options.list:
            print(list_launches(trace))
            return 0
        choice = choose(trace, options.launch, options.kernel, options.block, options.warp)
        svg = options.output or (None if options.html else options.trace.with_suffix(".svg"))
        draw(trace, choice, options.lines, options.rows, svg, options.html)
        if not options.quiet:
            print("Another one: --launch K, --block B, --warp W; --list names the launches.")
            for file in filter(None, (svg, options.html)):
                print(f"wrote {file}")
        return 0
    except Failed as error:
        sys.exit(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
