#!/usr/bin/env python3
"""Do the CPU device and a GPU agree? Every lesson, solution and known-wrong answer, side by side.

    verdicts.py record WHERE TESTLOG.json [TESTLOG.json ...] [--check]
        writes chapters/NN-topic/results/verdicts_WHERE.json from logs of `meson test --setup all`, such as
        build/meson-logs/testlog-all.json; WHERE is cpu or h200. --check changes nothing, and exits with 1
        where the logs have other verdicts than the files (the numbers in their texts may differ).
    verdicts.py page [--check]
        writes common/docs/verdicts.md from these files. --check changes nothing, and exits with 1 if the
        page is out of step.
"""

import argparse
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import testlog  # noqa: E402

TOP = Path(__file__).resolve().parents[3]
PAGE = TOP / "common" / "docs" / "verdicts.md"
WHERE = {"cpu": "CPU device", "h200": "H200"}
SUITES = ("lessons", "solutions", "mistakes")
PASSED, REJECTED, SKIPPED = "passed", "rejected", "skipped"
TEXT_SHOWN = 90

# What a rejected answer's test prints: the test case that rejected it, and its first words.
REJECTION = re.compile(r"^rejected by '(?P<test>.*)': (?P<text>.*)$", re.MULTILINE)
# A finding of the CPU device begins with its name: "DATA RACE in kernel ...".
FINDING = re.compile(r"^[A-Z]{3,}( [A-Z]+)*\b")
COUNTED = re.compile(r"^(?:all )?(\d+) checks? passed", re.MULTILINE)


class Failed(Exception):
    """What went wrong, for the user."""


# ---- recording -----------------------------------------------------------------------------------


def verdict(test):
    """What one test says, as it is kept: {"suite", "verdict", "text"}. Failed if it did not end well."""
    lines = test.output.strip().splitlines()
    if test.result == "SKIP":
        return {"suite": test.suite, "verdict": SKIPPED, "text": test.last_line().removeprefix("Skipped on a GPU: ")}
    if test.result != "OK":
        raise Failed(f"{test.name}: {test.result}: {test.last_line()}\n  Only a run in which nothing failed is recorded.")
    if test.suite == "mistakes":
        found = REJECTION.search(test.output)
        if not found:
            raise Failed(f"{test.name}: passed, but has no line \"rejected by '...'\"")
        return {"suite": test.suite, "verdict": REJECTED, "text": found.group("text")}
    skips = sum(line.startswith("skipped: ") for line in lines)
    counted = COUNTED.search(test.output)
    text = f"{counted.group(1)} checks" if counted else ""
    return {"suite": test.suite, "verdict": PASSED, "text": text + (f", {skips} skipped" if skips else "")}


def kind(entry):
    """What must agree between runs: the verdict and, of a rejection, whether a finding made it."""
    finding = FINDING.match(entry["text"]) if entry["verdict"] == REJECTED else None
    return entry["verdict"], finding.group(0) if finding else None


def read_logs(logs):
    """{chapter: {test: verdict}} of these logs."""
    chapters = {}
    for log in logs:
        for test in testlog.read(log):
            if test.suite in SUITES and test.project[:2].isdigit():
                chapters.setdefault(test.project, {})[test.name] = verdict(test)
    if not chapters:
        raise Failed("the logs have no test of a chapter")
    return chapters


def file_of(chapter, where):
    return TOP / "chapters" / chapter / "results" / f"verdicts_{where}.json"


def load(chapter, where):
    file = file_of(chapter, where)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def save(chapter, where, tests):
    lines = [f"  {json.dumps(name)}: {json.dumps(tests[name], ensure_ascii=False)}" for name in sorted(tests)]
    file = file_of(chapter, where)
    file.parent.mkdir(exist_ok=True)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def differences(chapter, old, new):
    """Lines that say which verdicts are not those of the file."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        before, now = (kind(tests[name]) if name in tests else None for tests in (old, new))
        if before != now:
            lines.append(f"{chapter}, {name}: recorded {said(before)}, and now {said(now)}")
    return lines


def said(of_kind):
    if of_kind is None:
        return "not at all"
    return " by ".join(part for part in of_kind if part)


def record(where, logs, check):
    wrong = []
    for chapter, tests in sorted(read_logs(logs).items()):
        wrong += differences(chapter, load(chapter, where), tests)
        if not check:
            save(chapter, where, tests)
    if check and wrong:
        again = f"common/tools/maintain/verdicts.py record {where} ..., then common/tools/maintain/verdicts.py page"
        raise Failed("\n".join([*wrong, f"If that is as it should be: {again}"]))


# ---- the page ------------------------------------------------------------------------------------


def cell(entry):
    if entry is None:
        return "not run yet"
    text = entry["text"].replace("|", "\\|").replace("<", "&lt;")
    text = text if len(text) <= TEXT_SHOWN else text[: TEXT_SHOWN - 1].rstrip() + "…"
    if entry["verdict"] == PASSED:
        return f"passed: {text}" if text else "passed"
    if entry["verdict"] == REJECTED:
        return f"**rejected**: {text}"
    return f"{entry['verdict']}: {text}"


def shown_name(name, suite):
    if suite == "mistakes":
        exercise, mistake = name.split("-mistake-")
        return f"`{exercise}`: {mistake.replace('_', ' ')}"
    return f"`{name}`"


def section(chapter, tests):
    lines = [f"## {chapter}", "", "| | " + " | ".join(WHERE.values()) + " |", "|---" * (len(WHERE) + 1) + "|"]
    names = sorted({name for of in tests.values() for name in of})
    suite_of = {name: of[name]["suite"] for of in tests.values() for name in of}
    for name in sorted(names, key=lambda name: (SUITES.index(suite_of[name]), name)):
        cells = " | ".join(cell(tests[where].get(name)) for where in WHERE)
        lines.append(f"| {shown_name(name, suite_of[name])} | {cells} |")
    return lines


def tally(all_tests):
    """The table at the top: in how many do both agree?"""
    counts = {"both": 0, "cpu": 0, "h200": 0, "neither": 0}
    good = {where: 0 for where in WHERE}
    for tests in all_tests.values():
        for name in {name for of in tests.values() for name in of}:
            entries = {where: tests[where].get(name) for where in WHERE}
            suite = next(entry["suite"] for entry in entries.values() if entry)
            if suite != "mistakes":
                for where, entry in entries.items():
                    good[where] += bool(entry and entry["verdict"] == PASSED)
                continue
            rejected = [where for where, entry in entries.items() if entry and entry["verdict"] == REJECTED]
            counts["both" if len(rejected) == 2 else rejected[0] if rejected else "neither"] += 1
    return [
        "| | |",
        "|---|--:|",
        f"| lessons and solutions that pass on the CPU device | {good['cpu']} |",
        f"| that pass on the H200 | {good['h200']} |",
        f"| known-wrong answers that both reject | {counts['both']} |",
        f"| that the CPU device rejects, and a GPU may let through: not run there | {counts['cpu']} |",
        f"| that the H200 alone rejects | {counts['h200']} |",
        f"| that neither rejects | {counts['neither']} |",
    ]


def page():
    chapters = sorted(folder.name for folder in (TOP / "chapters").glob("[0-9][0-9]-*"))
    all_tests = {chapter: {where: load(chapter, where) for where in WHERE} for chapter in chapters}
    lines = [
        "# Do the CPU device and a GPU agree?",
        "",
        "Every lesson, every solution and every known-wrong answer of the course, judged by the same check on the",
        "CPU device and on an NVIDIA H200. Generated by `common/tools/maintain/verdicts.py page` from `results/verdicts_*.json`",
        "of the chapters; those come from `meson test --setup all`.",
        "",
        *tally(all_tests),
        "",
        "Where a GPU may let a wrong answer through, the file of that answer says why, and the test is skipped there:",
        "mostly because only the CPU device counts (loads, sectors, atomics), or because a race happens to end well on",
        "that hardware. \"12 checks, 3 skipped\": three test cases need counters, or more memory than there was.",
    ]
    for chapter in chapters:
        lines += ["", *section(chapter, all_tests[chapter])]
    return "\n".join(lines) + "\n"


def write_page(check):
    new = page()
    if not check:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(new, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new:
        raise Failed(f"{PAGE.relative_to(TOP)} is out of step with the chapters' results: common/tools/maintain/verdicts.py page")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("where", choices=WHERE)
    recording.add_argument("logs", nargs="+", type=Path)
    recording.add_argument("--check", action="store_true")
    commands.add_parser("page").add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        if options.command == "record":
            record(options.where, options.logs, options.check)
        else:
            write_page(options.check)
    except (Failed, OSError, ValueError) as failed:
        return str(failed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
