"""Runs programs of a build with the CPU device's recorder: the check of an exercise, and a chapter's pictures."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib import result
from tools.lib.checkout import TOP, seen_from_the_shell
from tools.lib.failed import Failed
from tools.trace import draw_block, draw_cluster, draw_levels, draw_threads, draw_tiles, picture_svg
from tools.trace.choosing import choose
from tools.trace.recording import load, split_words

NOT_BEGUN = result.exit_code(result.NOT_STARTED)
DESCRIPTION = re.compile(r'<desc id="desc">([^<]*)')


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
        raise Failed(
            f"{seen_from_the_shell(build)} is not a build folder. Make one with: meson setup build\n"
            "or name yours: --build FOLDER"
        )
    return json.loads(file.read_text(encoding="utf-8"))


def needs_cpu_device(build):
    """Raises Failed for a folder whose kernels run on a GPU, which records nothing."""
    if not any(target["name"] == "simt" for target in introspected(build, "targets")):
        raise Failed(
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
        raise Failed(f"No exercise '{name}' in {seen_from_the_shell(build)}; it has {', '.join(sorted(exercises))}")
    file = next(argument for argument in exercises[name] if argument.endswith(".cuh"))
    return exercises[name], os.path.relpath((build / file).resolve(), TOP)


def touches_file(launch, file):
    """Whether a launch ran code of this file, or a finding names it."""
    findings = [access["file"] for finding in launch["findings"] for access in finding["accesses"]]
    return any(event["file"] == file for event in launch["events"]) or file in findings


def choose_of_exercise(trace, file, failed, options):
    """The Choice for an exercise in `file`. `failed` names the test that fails: None if the check passed, "" if
    it ended in another way."""
    launches = dict(enumerate(trace["launches"], 1))
    # A check may have kernels of its own.
    own = [number for number, launch in launches.items() if touches_file(launch, file)] or list(launches)
    where = {"kernel": options.kernel, "block": options.block, "warp": options.warp}
    if options.launch is not None or options.kernel is not None or failed is None:
        among = None if options.kernel else own
        return choose(trace, options.launch, **where, among=among, findings=failed is not None)
    of_test = [number for number in own if launches[number]["test"] and launches[number]["test"] in failed]
    if of_test and not any(launches[number]["findings"] for number in of_test):
        return choose(trace, of_test[-1], **where)._replace(reason="the last of the test that fails")
    return choose(trace, None, **where, among=of_test or own)


def check_recorded(name, build, options):
    """Runs the check of an exercise; (trace, Choice, the trace's file), or None if it recorded nothing."""
    needs_cpu_device(build)
    command, file = check_of(build, name)
    trace_file = build / f"picture-{name}.json"
    trace_file.unlink(missing_ok=True)
    environment = {"SIMT_TRACE": str(trace_file)}
    if options.kernel:
        environment["SIMT_TRACE_KERNEL"] = options.kernel
    done = run(command, build, environment)
    said = done.stdout.strip()
    if done.returncode == NOT_BEGUN or not trace_file.exists():
        print(said)
        if done.returncode != NOT_BEGUN:
            print("\nNo picture: the check recorded nothing.")
        return None
    failed = None
    if done.returncode != 0:
        found = result.load(build, name)
        failed = found["failures"][0]["test"] if found and found["failures"] else ""
        print(f"{said}\n")
    else:
        seed = os.environ.get("SIMT_SEED", "0")
        print(
            f"The check passes under schedule {seed}. "
            f"Where it fails under another one, say which: SIMT_SEED=2 {sys.argv[0]} ..."
        )
    trace = load(trace_file)
    return trace, choose_of_exercise(trace, file, failed, options), trace_file


# ---- a chapter's drawings --------------------------------------------------------------------------


def run_of(entry, chapter, build, file):
    """Runs the program of one [[picture]] of chapter.toml, which records or draws into `file`; Failed if it does not."""
    candidates = [build / "chapters" / chapter.name / entry["program"], build / entry["program"]]
    program = next((candidate for candidate in candidates if candidate.exists()), None)
    if program is None:
        raise Failed(
            f"{entry['output']}: {candidates[0]} is not built: meson compile -C {seen_from_the_shell(build)}"
        )
    environment = {"SIMT_SEED": str(entry.get("seed", 0))}
    if "kernel" in entry:
        environment |= {"SIMT_TRACE": str(file), "SIMT_TRACE_KERNEL": entry["kernel"]}
    if entry.get("whole_cluster"):
        environment["SIMT_TRACE_BLOCKS"] = str(draw_cluster.MOST_BLOCKS)
    elif "tiles" in entry:  # under another schedule the first tiles belong to other blocks
        environment["SIMT_TRACE_BLOCKS"] = str(draw_tiles.MOST_TILES)
    elif "threads" in entry:
        environment["SIMT_TRACE_BLOCKS"] = str(1 + max(block for block, *_ in entry["threads"]))
    command = [str(program), *(argument.replace(metadata.PICTURE_FILE, str(file)) for argument in entry.get("arguments", []))]
    done = run(command, TOP, environment)
    if not file.exists():
        did = "recorded" if "kernel" in entry else "drew"
        raise Failed(f"{entry['output']}: {' '.join(command)} {did} nothing\n{done.stdout}")


def recorded(entry, chapter, build):
    """(trace, Choice) of a [[picture]] with a kernel; Failed without its program, or if it recorded nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "written"
        run_of(entry, chapter, build, file)
        trace = load(file)
    if entry.get("split_words"):
        split_words(trace)
    try:
        choice = choose(trace, entry.get("launch"), entry["kernel"], entry.get("block"), entry.get("warp"))
        trace["launches"][choice.launch]["question"] = entry["question"]
        return trace, choice
    except Failed as error:
        raise Failed(f"{entry['output']}: {error}") from error


def drawn_from(entry, chapter, build):
    """The SVG that one [[picture]] of chapter.toml asks for: runs its program with a recorder. Failed if it does not show what it is to show."""
    svg = drawn_anew(entry, chapter, build)
    told = DESCRIPTION.search(svg)
    at = 0
    for event in entry.get("shows", []):
        at = told[1].find(event, at) + 1 if told else 0
        if at == 0:
            raise Failed(f"{entry['output']}: the picture does not show '{event}' after what `shows` names before it: its alt text and its page "
                         "tell of another run. Choose another `seed`, or change them")
    return svg


def drawn_anew(entry, chapter, build):
    """The SVG of one [[picture]], whatever it shows."""
    if "kernel" not in entry:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "written"
            run_of(entry, chapter, build, file)
            return file.read_text(encoding="utf-8")
    trace, choice = recorded(entry, chapter, build)
    try:
        if "threads" in entry:
            return draw_threads.draw(trace, choice, entry["threads"], entry.get("elements", ()))
        if "levels_of" in entry:
            return draw_levels.draw(trace, choice, entry["levels_of"], entry.get("columns", draw_levels.MOST_COLUMNS), entry["row_length"])
        if "tiles" in entry:
            return draw_tiles.draw(trace, choice, entry["tiles"])
        if entry.get("whole_cluster"):
            return draw_cluster.draw(trace, choice)
        if entry.get("all_warps"):
            return draw_block.draw(trace, choice)
        return picture_svg.draw(trace, choice, entry.get("lines"), entry.get("rows", (1, picture_svg.MAX_ROWS)))
    except Failed as error:
        raise Failed(f"{entry['output']}: {error}") from error
