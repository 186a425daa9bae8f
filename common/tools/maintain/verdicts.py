#!/usr/bin/env python3
"""Do the CPU device and a GPU agree? Every lesson, solution, other right answer and known-wrong answer, side by side.

    verdicts.py record BUILD [--check] [--log TESTLOG.json ...]
        writes chapters/NN-topic/results/DEVICE-verdicts.json from the last `meson test --setup all` of a build
        folder: which tests ran, and how they ended, is in Meson's log (by default BUILD/meson-logs/testlog-all.json),
        what they found in BUILD/results. --check changes nothing, and exits with 1 where the tests have other
        verdicts than the files (the numbers in their texts may differ).
    verdicts.py page [CHAPTER_FOLDER ...]
        prints the table of all verdicts as Markdown. The tally in common/docs/verdicts.md is written by
        common/tools/measure/measure.py render.
"""

import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import compact_json, result, testlog  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.measure.results import (  # noqa: E402
    CPU, SCHEMAS, TOP, VERDICTS, VERSION, chapters_of, file_of, of_cpu, of_gpu,
)  # fmt: skip

SUITES = ("lessons", "solutions", "alternatives", "mistakes")
TEXT_SHOWN = 90
AGAIN = "common/tools/maintain/verdicts.py record"


# ---- recording -----------------------------------------------------------------------------------


def first_line(text):
    """The first line of a text, or "" if there is none."""
    return next(iter(text.strip().splitlines()), "")


def verdict(test, found):
    """What one test says, as it is kept: {"suite", "verdict", "text", "finding"}. Failed if it did not end well."""
    if test.result == "SKIP":
        return {"suite": test.suite, "verdict": result.SKIPPED, "text": first_line(found["reason"])}
    if test.result != "OK":
        raise Failed(f"{test.name}: {test.result}: {test.last_line()}\n  Only a run in which nothing failed is recorded.")
    if test.suite == "mistakes":
        failure = next(iter(found["failures"]), None)
        if found["verdict"] != result.REJECTED or failure is None:
            raise Failed(f"{test.name}: passed, but its result does not say what rejected it")
        entry = {"suite": test.suite, "verdict": result.REJECTED, "text": first_line(failure["text"])}
        return {**entry, "finding": failure["finding"]["kind"]} if failure["finding"] else entry
    passed, skipped = (found["checks"][key] for key in ("passed", "skipped"))
    text = f"{passed} checks" if passed else ""
    return {"suite": test.suite, "verdict": result.PASSED, "text": text + (f", {skipped} skipped" if skipped else "")}


def kind(entry):
    """What must agree between runs: the verdict and, of a rejection, whether a finding made it."""
    return entry["verdict"], entry.get("finding")


def of_build(build, logs):
    """(device, {chapter: {test: verdict}}, problems) of the tests of a build folder, as these logs name them."""
    chapters, problems, device = {}, [], None
    for test in (test for log in logs for test in testlog.read(log)):
        if test.suite not in SUITES or not test.project[:2].isdigit():
            continue
        # The test of a ladder, or of another program, writes none.
        found = result.load(build, test.name) or result.new("", test.last_line())
        device = device or found["device"]
        try:
            chapters.setdefault(test.project, {})[test.name] = verdict(test, found)
        except Failed as failed:
            problems.append(str(failed))
    if not chapters:
        raise Failed("\n".join([*problems, "the logs have no test of a chapter"]))
    if not device:
        raise Failed(f"{build / 'results'}: no result of these tests names the device that it comes from")
    return device, chapters, problems


def as_file(device, tests):
    """What a file of verdicts has."""
    ordered = {name: tests[name] for name in sorted(tests)}
    return {"schema": SCHEMAS[VERDICTS], "version": VERSION, "device": device, "tests": ordered}


def kept_of(chapter, device):
    """{test: verdict} as it was recorded for this device; {} if it never was."""
    file = file_of(chapter, device, VERDICTS)
    return json.loads(file.read_text(encoding="utf-8"))["tests"] if file.exists() else {}


def differences(chapter, old, new):
    """Lines that say which verdicts are not those of the file."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        before, now = (kind(tests[name]) if name in tests else None for tests in (old, new))
        if before != now:
            lines.append(f"{chapter}, {name}: recorded {said(before)}, and now {said(now)}")
    return lines


def said(of_kind):
    """A verdict in words."""
    if of_kind is None:
        return "not at all"
    return " by ".join(part for part in of_kind if part)


def record(top, build, logs, check):
    """Writes the verdicts of a build, or compares them."""
    device, chapters, problems = of_build(build, logs)
    if problems:
        raise Failed("\n".join(problems))
    wrong = []
    for name, tests in sorted(chapters.items()):
        chapter = top / "chapters" / name
        wrong += differences(name, kept_of(chapter, device), tests)
        if not check:
            compact_json.write(file_of(chapter, device, VERDICTS), as_file(device, tests))
    if check and wrong:
        raise Failed("\n".join([*wrong, f"If that is right: {AGAIN} {build}"]))


# ---- pages ---------------------------------------------------------------------------------------


def of_devices(top):
    """{chapter: {device: {test: verdict}}} of the CPU device and the reference GPU, and the GPU's name or None."""
    chapters, gpu = {}, None
    for chapter in chapters_of(top):
        found = [results for results in (of_cpu(chapter, VERDICTS), of_gpu(chapter, VERDICTS)) if results]
        chapters[chapter.name] = {results["device"]: results["tests"] for results in found}
        gpu = gpu or next((results["device"] for results in found if results["device"] != CPU), None)
    return chapters, gpu


def short(device):
    """A GPU's name as tables have it."""
    return device.removeprefix("NVIDIA ") if device else "GPU"


def cell(entry):
    """A verdict as a cell of a table."""
    if entry is None:
        return "not run yet"
    text = entry["text"].replace("|", "\\|").replace("<", "&lt;")
    text = text if len(text) <= TEXT_SHOWN else text[: TEXT_SHOWN - 1].rstrip() + "…"
    if entry["verdict"] == result.PASSED:
        return f"passed: {text}" if text else "passed"
    if entry["verdict"] == result.REJECTED:
        return f"**rejected**: {text}"
    return f"{entry['verdict']}: {text}"


def shown_name(name, suite):
    """A test's name as a cell of a table."""
    for of_suite, word in (("mistakes", "-mistake-"), ("alternatives", "-alternative-")):
        if suite == of_suite:
            exercise, variant = name.split(word)
            return f"`{exercise}`: {variant.replace('_', ' ')}"
    return f"`{name}`"


def section(chapter, tests, gpu):
    """The table of one chapter."""
    lines = [f"## {chapter}", "", f"| | {CPU} | {short(gpu)} |", "|---|---|---|"]
    suite_of = {name: entry["suite"] for of in tests.values() for name, entry in of.items()}
    for name in sorted(suite_of, key=lambda name: (SUITES.index(suite_of[name]), name)):
        cells = " | ".join(cell(tests.get(device, {}).get(name)) for device in (CPU, gpu))
        lines.append(f"| {shown_name(name, suite_of[name])} | {cells} |")
    return lines


def page(top, chosen):
    """The tables of the chosen chapters, or of all."""
    chapters, gpu = of_devices(top)
    shown = {name: tests for name, tests in chapters.items() if not chosen or name in chosen}
    return "\n\n".join("\n".join(section(name, tests, gpu)) for name, tests in shown.items())


def tally(top):
    """In how many do both agree? The table in common/docs/verdicts.md."""
    chapters, gpu = of_devices(top)
    counts = {"both": 0, CPU: 0, "not run": 0, gpu: 0, "neither": 0}
    good = {CPU: 0, gpu: 0}
    for tests in chapters.values():
        for name in {name for of in tests.values() for name in of}:
            entries = {device: tests.get(device, {}).get(name) for device in (CPU, gpu)}
            suite = next(entry["suite"] for entry in entries.values() if entry)
            if suite != "mistakes":
                for device, entry in entries.items():
                    good[device] += bool(entry and entry["verdict"] == result.PASSED)
                continue
            rejected = [device for device, entry in entries.items() if entry and entry["verdict"] == result.REJECTED]
            kind_of = "both" if len(rejected) == 2 else rejected[0] if rejected else "neither"
            counts["not run" if kind_of == CPU and entries[gpu] is None else kind_of] += 1
    return "\n".join([
        "| | |",
        "|---|--:|",
        f"| lessons, solutions and other right answers that pass on the {CPU} | {good[CPU]} |",
        f"| that pass on the {short(gpu)} | {good[gpu]} |",
        f"| known-wrong answers that both reject | {counts['both']} |",
        f"| that the {CPU} rejects, and a GPU may let through: not run there | {counts[CPU]} |",
        f"| that the {CPU} rejects, and the {short(gpu)} has not run yet | {counts['not run']} |",
        f"| that the {short(gpu)} alone rejects | {counts[gpu]} |",
        f"| that neither rejects | {counts['neither']} |",
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("build", type=Path)
    recording.add_argument("--log", type=Path, action="append", default=[])
    recording.add_argument("--check", action="store_true")
    commands.add_parser("page").add_argument("chapters", nargs="*", type=Path)
    options = parser.parse_args()
    try:
        if options.command == "record":
            logs = options.log or [options.build / "meson-logs" / "testlog-all.json"]
            record(TOP, options.build, logs, options.check)
        else:
            print(page(TOP, {folder.resolve().name for folder in options.chapters}))
    except (Failed, OSError, ValueError) as failed:
        return str(failed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
