"""Times PyTorch on the arrays of a ladder, and adds it to the ladder's results as a vendor's row.

A chapter's torch_rows.py has a generator of its rows, `rows(torch, group, inputs)`; see `run`. Timed as the ladder times its rungs: events around the call alone, three calls
to warm up, then the median of 20, and twice the L2's size written before each. Exit code 77, without any change, if
there is no PyTorch or no GPU for it.
"""

import json
import math
import runpy
import statistics

from tools.lib import compact_json

WARM_UP, SAMPLES = 3, 20
SKIPPED = 77


def load_inputs(torch, folder, group):
    """The group's arrays, on the GPU."""
    tensors = {}
    for name, array in group["inputs"].items():
        dtype = getattr(torch, array["type"])
        tensor = torch.from_file(str(folder / array["file"]), size=math.prod(array["shape"]), dtype=dtype)
        tensors[name] = tensor.reshape(array["shape"]).cuda()
    return tensors


def sample_microseconds(torch, launch, reset):
    """The sorted times of `launch`, and what its last call returned."""
    scrub = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
    times = []
    for i in range(-WARM_UP, SAMPLES):
        if reset:
            reset()
        scrub.fill_(i % 256)
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        out = launch()
        stop.record()
        stop.synchronize()
        if i >= 0:
            times.append(1e3 * start.elapsed_time(stop))
    return sorted(times), out


def timed_row(torch, row, group, copy_gb_per_s):
    """A row as the ladder's JSON has them."""
    times, out = sample_microseconds(torch, row["launch"], row.get("reset"))
    tenths = statistics.quantiles(times, n=10, method="inclusive")
    median = statistics.median(times)
    result = row["result"](out) if row.get("result") else None
    gb_per_s = row["bytes"] / median / 1e3 if row.get("bytes") else None
    new = {
        "name": row["name"],
        "kind": "vendor",
        "group": group["group"],
        "changed": f"{row['changed']} {torch.__version__}",
        "n": group["n"],
        "as_declared": True,
        "failure": None,
        "expected": group["expected"],
        "result": result,
        "tolerance": None,
        "error": None if result is None else abs(result - group["expected"]),
        "microseconds": {"p10": tenths[0], "median": median, "p90": tenths[-1], "samples": len(times)},
        "l2": "cold",
        "operations": row.get("operations", 0),
        "per_ns": row["operations"] / median / 1e3 if row.get("operations") else None,
        "bytes": row.get("bytes", 0),
        "gb_per_s": gb_per_s,
        "percent_of_copy": 100 * gb_per_s / copy_gb_per_s if gb_per_s and copy_gb_per_s else None,
    }
    if row.get("errors"):
        new["max_error"], new["mean_error"] = row["errors"](out)
    return new


def index_add_row(torch, inputs, source, operations):
    """The row of torch.index_add_: `source`, single numbers or rows of them, added to a table of zeros at inputs["index"].

    inputs["expected"] is the table that it should become; `operations` is how many additions the ladder counts.
    """
    index, expected = inputs["index"], inputs["expected"]
    table = torch.zeros(expected.shape, dtype=source.dtype, device=source.device)

    def errors(out):
        distance = (out.double() - expected.double()).abs()
        return float(distance.max()), float(distance.mean())

    return {
        "name": "torch.index_add_",
        "changed": "PyTorch",
        "reset": table.zero_,
        "launch": lambda: table.index_add_(0, index, source),
        "result": lambda out: float(out.flatten()[0]),
        "errors": errors,
        "bytes": index.nbytes + source.nbytes + 2 * table.nbytes,
        "operations": operations,
    }


def add_row(results, new):
    """After the last row of its group; instead of an older one of its name."""
    rungs = [r for r in results["rungs"] if (r["group"], r["name"]) != (new["group"], new["name"])]
    last = max(i for i, r in enumerate(rungs) if r["group"] == new["group"])
    results["rungs"] = rungs[: last + 1] + [new] + rungs[last + 1 :]


def run(chapter, inputs, files):
    """Adds the rows of chapter/torch_rows.py to the files that the ladder wrote with --json; every file gets measurements
    of its own. `inputs` is the folder that it wrote with --inputs. Returns the exit code.

    `rows(torch, group, inputs)` yields, for every group of the ladder that has inputs, dictionaries: name; changed;
    launch, the call to be timed; reset (or None), called before each; result(out), the number that the table shows;
    errors(out) -> (max, mean); bytes; operations.
    """
    rows = runpy.run_path(str(chapter / "torch_rows.py"))["rows"]
    groups = json.loads((inputs / "inputs.json").read_text(encoding="utf-8"))["groups"]
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("PyTorch is not installed (pip install torch): its rows are left out")
        return SKIPPED
    if not torch.cuda.is_available():
        print("PyTorch finds no GPU: its rows are left out")
        return SKIPPED
    results_of = {path: json.loads(path.read_text(encoding="utf-8")) for path in files}
    for group in groups:
        for row in rows(torch, group, load_inputs(torch, inputs, group)):
            for results in results_of.values():
                new = timed_row(torch, row, group, results["copy_gb_per_s"])
                add_row(results, new)
                time = new["microseconds"]
                print(f"{new['name']}, n = {new['n']}: {time['median']:.1f} us ({time['p10']:.1f} to {time['p90']:.1f})")
    for path, results in results_of.items():
        compact_json.write(path, results)
    return 0
