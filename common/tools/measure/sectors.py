"""Compares what the CPU device counts with what a GPU counted, in a chapter's README.

A cell reads "requests × sectors of each"; for shared memory, "requests × wavefronts of each".
"""

import json
import tempfile
from pathlib import Path

from tools.lib.chapter_results import CPU, SCHEMAS, SECTORS, VERSION
from tools.lib.failed import Failed
from tools.lib.rows import NONE
from tools.measure import ncu

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


def counted(ladder, n=N):
    """What the ladder of the CPU device counts, rung by rung."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ladder.json"
        ncu.run([ladder, "--n", str(n), "--json", str(file)])
        results = json.loads(file.read_text(encoding="utf-8"))
    rungs = []
    for row in results["rungs"]:
        if row["kind"] != "rung" or any(rung["name"] == row["name"] for rung in rungs):
            continue  # a rung may be in several groups
        if results["device"] != CPU or "counters" not in row:
            raise Failed(f"{ladder}: counts nothing; build it with -Ddevice=cpu")
        counts = {name: [row["counters"][key] for key in cpu] for name, (cpu, _) in COUNTS.items()}
        rungs.append({"name": row["name"], "n": row["n"], **counts})
    return {"schema": SCHEMAS[SECTORS], "version": VERSION, "device": results["device"], "n": n, "rungs": rungs}


def profiled(ladder, cpu, profiler="ncu"):
    """What the GPU counts for the rungs in `cpu`: one run for each, and its first launch alone."""
    metrics = [metric for _, names in COUNTS.values() for metric in names]
    rungs = []
    for rung in cpu["rungs"]:
        command = [ladder, "--only", rung["name"], "--n", str(cpu["n"])]
        kernel, values = ncu.profile(command, metrics, ncu=profiler)
        counts = {name: [values.get(metric) for metric in names] for name, (_, names) in COUNTS.items()}
        rungs.append({"name": rung["name"], "kernel": kernel, **counts})
    return {"schema": SCHEMAS[SECTORS], "version": VERSION, **ncu.where_and_when(profiler), "n": cpu["n"], "rungs": rungs}


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
