"""Makes one set of results out of several runs of the same ladder.

A row's median becomes the median of the runs' medians; "runs" keeps all of them, which is what tells
a difference from noise. p10 and p90 become the lowest and the highest.
"""

import statistics

from tools.lib.failed import Failed


def merge_rows(rows, copy_gb_per_s):
    """The rows of one rung, a row for each run, as one."""
    merged = dict(rows[0])
    if "microseconds" not in merged:
        return merged
    times = [row["microseconds"] for row in rows]
    median = statistics.median(time["median"] for time in times)
    merged["microseconds"] = {
        "p10": min(time["p10"] for time in times),
        "median": median,
        "p90": max(time["p90"] for time in times),
        "samples": sum(time["samples"] for time in times),
        "runs": [time["median"] for time in times],
    }
    if merged["bytes"]:
        merged["gb_per_s"] = merged["bytes"] / median / 1e3
        merged["percent_of_copy"] = 100 * merged["gb_per_s"] / copy_gb_per_s
    if merged["operations"]:
        merged["per_ns"] = merged["operations"] / median / 1e3
    return merged


def merge(runs):
    """The results of all runs as one; Failed if they do not belong together."""

    def identity(run):
        rows = [(row["name"], row["group"], row["n"], row["expected"]) for row in run["rungs"]]
        return run["chapter"], run["device"], run["cuda"], run["n"], rows

    if any(identity(run) != identity(runs[0]) for run in runs):
        raise Failed("these are not runs of one ladder on one device")
    merged = dict(runs[0])
    if merged["copy_gb_per_s"]:
        merged["copy_gb_per_s"] = statistics.median(run["copy_gb_per_s"] for run in runs)
    merged["rungs"] = [
        merge_rows(rows, merged["copy_gb_per_s"]) for rows in zip(*(run["rungs"] for run in runs))
    ]
    return merged
