#!/usr/bin/env python3
"""Times sum_mpi, one process per GPU, and adds it to the ladder's results as a rung.

    mpi_rows.py SUM_MPI --json RESULTS.json [--json RESULTS.json ...] [--ranks N]

SUM_MPI is the program, RESULTS.json what the ladder wrote with --json on the same machine; every file
gets measurements of its own: the sum at each size that the ladder has, and the all-reduce of a vector.
--ranks: how many processes; default: as many as there are GPUs. Exit code 77 if there is no mpirun or
no GPU: nothing is changed then.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from tools.lib import compact_json
from tools.measure.torch_timing import SKIPPED, add_row

SUM, VECTOR = "CPU reference", "all-reduce"  # the references of the groups that get a row
FLOAT = 4  # bytes


def gpus():
    """How many GPUs the driver lists."""
    if shutil.which("nvidia-smi") is None:
        return 0
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout.count("GPU ")


def run(program, ranks, *options):
    """What sum_mpi writes with --json."""
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        command = ["mpirun", *as_root, "-n", str(ranks), program, *options, "--json", str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))


def new_row(reference, times, samples, size, copy_gb_per_s):
    """A row as the ladder's JSON has them. `size` in bytes."""
    gb_per_s = size / times["median_us"] / 1e3
    return {
        "name": "sum_mpi",
        "kind": "rung",
        "group": reference["group"],
        "changed": "one process per device: MPI starts them, NCCL sums",
        "n": reference["n"],
        "as_declared": True,
        "failure": None,
        "expected": reference["expected"],
        "result": None,
        "tolerance": None,
        "error": None,
        "microseconds": {
            "p10": times["p10_us"], "median": times["median_us"], "p90": times["p90_us"], "samples": samples,
        },
        "l2": "warm",
        "operations": 0,
        "per_ns": None,
        "bytes": size,
        "gb_per_s": gb_per_s,
        "percent_of_copy": 100 * gb_per_s / copy_gb_per_s,
    }  # fmt: skip


def rows_of(results, program, ranks):
    """A new row for each group that asks a question which sum_mpi answers, too."""
    curves = {row["group"] for row in results["rungs"] if row.get("series")}
    for reference in [row for row in results["rungs"] if row["kind"] == "reference"]:
        if reference["group"] in curves:
            continue
        n, copy = reference["n"], results["copy_gb_per_s"]
        if reference["name"] == SUM:
            found = run(program, ranks, "--n", str(n))
            yield new_row(reference, found["sum"], found["samples"], n * FLOAT, copy)
        elif reference["name"] == VECTOR:
            found = run(program, ranks, "--n", "1", "--vector", str(n * FLOAT))
            bus_bytes = 2 * n * FLOAT * (ranks - 1) // ranks
            yield new_row(reference, found["vector"], found["samples"], bus_bytes, copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="SUM_MPI")
    parser.add_argument("--json", type=Path, required=True, action="append", metavar="RESULTS.json")
    parser.add_argument("--ranks", type=int, default=gpus(), metavar="N")
    options = parser.parse_args()
    if shutil.which("mpirun") is None or options.ranks == 0:
        print(f"sum_mpi's rows are left out: there is no {'GPU' if options.ranks == 0 else 'mpirun'}")
        return SKIPPED
    for path in options.json:
        results = json.loads(path.read_text(encoding="utf-8"))
        for row in rows_of(results, options.program, options.ranks):
            add_row(results, row)
            print(f"sum_mpi, n = {row['n']}: {row['microseconds']['median']:.1f} us")
        compact_json.write(path, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
