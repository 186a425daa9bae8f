#!/usr/bin/env python3
"""Profiles ladders with ncu (Nsight Compute), and writes the page about it.

    profile_ladder.py measure chapters/NN-topic LADDER
        runs the rungs that chapters/NN-topic/profile.json names under ncu, on a GPU, the first launch of
        each, and writes chapters/NN-topic/results/profile_h200.json. LADDER is the program of a build for
        the GPU.
    profile_ladder.py page [--check]
        writes the tables into common/docs/profiling.md, each between <!-- profile NN-topic:begin --> and
        its end. --check changes nothing, and exits with 1 if one is out of step.

profile.json: {"n": 16777216, "rungs": ["sum_shared_tree", ...], "counters": [{"name": "sectors a load",
"metric": "l1tex__t_sectors_...", "per": "l1tex__t_requests_..."}, ...]}. A counter with "per" is the
quotient of two metrics. Where the launch to look at is not the first of its run, a rung is {"rung":
"sum_two_kernels", "kernel": "sum_partials"}, and "skip" is the number of this kernel's launches that come
before it: a group of a ladder launches each rung 24 times.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import markers  # noqa: E402
from tools.measure import ncu  # noqa: E402

TOP = Path(__file__).resolve().parents[3]
PAGE = TOP / "common" / "docs" / "profiling.md"
NONE = "–"


def plan_of(chapter):
    """A chapter's profile.json; ncu.Failed if there is none."""
    file = chapter / "profile.json"
    if not file.exists():
        raise ncu.Failed(f"{file} is missing: it says which rungs to profile, and what to count")
    return json.loads(file.read_text(encoding="utf-8"))


def results_of(chapter):
    file = chapter / "results" / "profile_h200.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def as_rung(rung):
    """(name, kernel, skip) of a rung in profile.json."""
    return (rung, None, 0) if isinstance(rung, str) else (rung["rung"], rung["kernel"], rung.get("skip", 0))


def metrics_of(plan):
    return list(dict.fromkeys(c[key] for c in plan["counters"] for key in ("metric", "per") if key in c))


# ---- measuring -----------------------------------------------------------------------------------


def measure(chapter, ladder, profiler):
    plan = plan_of(chapter)
    rungs = []
    for name, pattern, skip in map(as_rung, plan["rungs"]):
        command = [ladder, "--only", name, "--n", str(plan["n"])]
        kernel, metrics = ncu.profile(command, metrics_of(plan), pattern, skip, profiler)
        rungs.append({"name": name, "kernel": kernel, "metrics": metrics})
        print(f"{name}: {kernel}")
    results = {**ncu.where_and_when(profiler), "n": plan["n"], "rungs": rungs}
    file = chapter / "results" / "profile_h200.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


# ---- the page ------------------------------------------------------------------------------------


def value_of(counter, metrics):
    """The number in a cell; None where ncu had none."""
    value = metrics.get(counter["metric"])
    if value is None or "per" not in counter:
        return value
    divisor = metrics.get(counter["per"])
    return value / divisor if divisor else None


def shown(value):
    if value is None:
        return NONE
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def command_of(chapter, plan):
    """What to type for one rung, the last one."""
    name, kernel, skip = as_rung(plan["rungs"][-1])
    metrics = metrics_of(plan)
    options = [word for word in ncu.options(["METRICS"], kernel, skip) if word != "METRICS"]
    lines = [f"ncu {shlex.join(options)} {metrics[0]}"]
    lines += metrics[1:]
    text = ",\\\n".join(lines)
    return f"{text} \\\n  build/chapters/{chapter.name}/ladder --only {shlex.quote(name)} --n {plan['n']}"


def section(chapter):
    """The command, and the table of what it showed."""
    plan, results = plan_of(chapter), results_of(chapter)
    lines = ["```sh", command_of(chapter, plan), "```", ""]
    if results is None:
        return "\n".join([*lines, "Not measured yet."])
    counters = plan["counters"]
    if results["n"] != plan["n"]:
        raise ncu.Failed(f"{chapter}: results/profile_h200.json is of n = {results['n']}, profile.json asks for {plan['n']}")
    lines += [
        f"{results['device']}, ncu {results['ncu'].removeprefix('Version ').split()[0]}, n = {results['n']:,}, {results['date'][:10]}:",
        "",
        "| rung | " + " | ".join(counter["name"] for counter in counters) + " |",
        "|---|" + "--:|" * len(counters),
    ]
    measured = {rung["name"]: rung for rung in results["rungs"]}
    for name, _, _ in map(as_rung, plan["rungs"]):
        if name not in measured:
            raise ncu.Failed(f"{chapter}: results/profile_h200.json has no rung {name}: measure again")
        cells = [shown(value_of(counter, measured[name]["metrics"])) for counter in counters]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_page(check):
    text = new = PAGE.read_text(encoding="utf-8")
    for chapter in sorted((TOP / "chapters").glob("[0-9][0-9]-*")):
        try:
            new = markers.replaced(PAGE.relative_to(TOP), new, f"profile {chapter.name}", section(chapter))
        except ValueError as error:
            raise ncu.Failed(str(error)) from error
    if not check:
        PAGE.write_text(new, encoding="utf-8")
    elif new != text:
        again = "common/tools/measure/profile_ladder.py page"
        raise ncu.Failed(f"{PAGE.relative_to(TOP)} is out of step with the chapters' results: {again}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("chapter", type=Path)
    measuring.add_argument("ladder")
    measuring.add_argument("--ncu", default="ncu", help="the profiler, if it is not on PATH")
    commands.add_parser("page").add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        if options.command == "measure":
            measure(options.chapter, options.ladder, options.ncu)
        else:
            write_page(options.check)
    except (ncu.Failed, OSError) as failed:
        return str(failed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
