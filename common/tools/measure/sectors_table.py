#!/usr/bin/env python3
"""Compares what the CPU device counts with what a GPU counted, in a chapter's README.

    sectors_table.py CHAPTER_FOLDER --count LADDER [--n N]
        runs the ladder of a build for the CPU device, and writes results/sectors_cpu.json
    sectors_table.py CHAPTER_FOLDER --profile LADDER
        runs each of these rungs under ncu (Nsight Compute) on a GPU, at the same n, and writes
        results/ncu_h200.json
    sectors_table.py CHAPTER_FOLDER [--check]
        writes the table of both between <!-- sectors:begin --> and <!-- sectors:end --> in README.md.
        --check changes nothing, and exits with 1 if the table is out of step.

A cell reads "requests × sectors of each"; for shared memory, "requests × passes of each".
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import markers  # noqa: E402
from tools.measure.ncu import Failed, profile, run, where_and_when  # noqa: E402

NONE = "–"
N = 1 << 16

# What is counted: its name here, (requests, pieces) of the ladder's counters and of ncu's metrics.
COUNTS = {
    "loads": (
        ("global_loads", "global_load_sectors"),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    ),
    "stores": (
        ("global_stores", "global_store_sectors"),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    ),
    "shared loads": (
        ("shared_loads", "shared_load_wavefronts"),
        ("smsp__inst_executed_op_shared_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
    ),
}


# ---- counting ------------------------------------------------------------------------------------


def counted(ladder, n):
    """What the ladder of the CPU device counts, rung by rung."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ladder.json"
        run([ladder, "--n", str(n), "--json", str(file)])
        results = json.loads(file.read_text(encoding="utf-8"))
    rungs = []
    for row in results["rungs"]:
        if row["kind"] != "rung" or any(rung["name"] == row["name"] for rung in rungs):
            continue  # a rung may stand in several groups
        if "counters" not in row:
            raise Failed(f"{ladder}: counts nothing; build it with -Ddevice=cpu")
        counts = {name: [row["counters"][key] for key in cpu] for name, (cpu, _) in COUNTS.items()}
        rungs.append({"name": row["name"], "n": row["n"], **counts})
    return {"chapter": results["chapter"], "n": n, "rungs": rungs}


def profiled(ladder, cpu, ncu):
    """What the GPU counts for the rungs in `cpu`: one run for each, and its first launch alone."""
    metrics = [metric for _, names in COUNTS.values() for metric in names]
    rungs = []
    for rung in cpu["rungs"]:
        command = [ladder, "--only", rung["name"], "--n", str(cpu["n"])]
        kernel, values = profile(command, metrics, ncu=ncu)
        counts = {name: [values.get(metric) for metric in names] for name, (_, names) in COUNTS.items()}
        rungs.append({"name": rung["name"], "kernel": kernel, **counts})
    return {**where_and_when(ncu), "n": cpu["n"], "rungs": rungs}


# ---- the table -----------------------------------------------------------------------------------


def cell(count):
    """[1024, 4096] as "1,024 × 4"."""
    if not count or count[0] is None or count[1] is None:
        return NONE
    requests, pieces = count
    return f"{requests:,} × {pieces / requests:.3g}" if requests else "0"


def table(cpu, gpu):
    """The Markdown. Columns that are 0 in every row are left out."""
    shown = [name for name in COUNTS if any(rung[name][0] for rung in cpu["rungs"])]
    of_gpu = {rung["name"]: rung for rung in gpu["rungs"]} if gpu else {}
    if gpu:
        head = f"n = {cpu['n']:,}; {gpu['device']}, {gpu['ncu']}, {gpu['date'][:10]}. Counts that differ are bold."
    else:
        head = f"n = {cpu['n']:,}; not counted on a GPU yet."
    lines = [
        head,
        "",
        "| rung | " + " | ".join(f"{name}, CPU device | GPU" for name in shown) + " |",
        "|---|" + "--:|--:|" * len(shown),
    ]
    for rung in cpu["rungs"]:
        cells = [f"`{rung['name']}`"]
        for name in shown:
            here, there = cell(rung[name]), cell(of_gpu.get(rung["name"], {}).get(name))
            cells += [here, f"**{there}**" if there not in (here, NONE) else there]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_table(chapter, cpu_file, gpu_file, check):
    readme = chapter / "README.md"
    text = readme.read_text(encoding="utf-8")
    if not cpu_file.exists():
        raise Failed(f"{cpu_file}: missing; --count writes it")
    cpu = json.loads(cpu_file.read_text(encoding="utf-8"))
    gpu = json.loads(gpu_file.read_text(encoding="utf-8")) if gpu_file.exists() else None
    if gpu and gpu["n"] != cpu["n"]:
        raise Failed(f"{gpu_file}: n is {gpu['n']}, and {cpu['n']} in {cpu_file.name}")
    try:
        new = markers.replaced(readme, text, "sectors", table(cpu, gpu))
    except ValueError as error:
        raise Failed(str(error)) from error
    if not check:
        readme.write_text(new, encoding="utf-8")
    elif new != text:
        raise Failed(f"{readme}: the table of sectors is out of step with {cpu_file.parent}")


def write_json(file, content):
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapter", type=Path)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--count", metavar="LADDER")
    mode.add_argument("--profile", metavar="LADDER")
    mode.add_argument("--check", action="store_true")
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--ncu", default="ncu", help="the profiler, if it is not on PATH")
    options = parser.parse_args()
    cpu_file = options.chapter / "results" / "sectors_cpu.json"
    gpu_file = options.chapter / "results" / "ncu_h200.json"
    try:
        if options.count:
            write_json(cpu_file, counted(options.count, options.n))
        elif options.profile:
            if not cpu_file.exists():
                raise Failed(f"{cpu_file}: missing; --count writes it")
            cpu = json.loads(cpu_file.read_text(encoding="utf-8"))
            write_json(gpu_file, profiled(options.profile, cpu, options.ncu))
        else:
            write_table(options.chapter, cpu_file, gpu_file, options.check)
    except Failed as failed:
        return str(failed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
