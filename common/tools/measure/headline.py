"""What a chapter's results come down to: its best rung and what that is compared with.

chapters/NN-topic/headline.json declares it; names and numbers come from results/h200.json:

    what        what is computed; {n} stands for the size
    group       which rows of the results: {"reference": what the reference's row says, "n": its size}
    rung        the best rung of them that does the vendor's whole job
    vendor      the fastest row of a vendor's library; null if no library does this. Then there is
    instead     {"row": a rung of the group, or "copy": as many bytes copied, "name": what readers call it}
    left_out    optional: {why: [rungs that do less than the vendor, and may be faster for it]}
    note        optional: a sentence that belongs to the comparison
    ladder      optional: the groups that the plot of the ladder shows, if not the one above

The largest size of the chapter's question is declared, not the one that looks best.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from tools.measure import results_table


class Failed(Exception):
    """What went wrong, for the user."""


@dataclass(frozen=True)
class Headline:
    """A chapter's best rung and what it is compared with. Rows are those of results/h200.json."""

    chapter: str
    what: str  # what is computed; {n} stands for the size
    best: dict
    against: dict  # a row; where no library does the job: what `instead` says
    against_name: str
    vendor: bool  # `against` is a vendor's library
    note: str
    left_out: dict  # {rung: why}
    rows: list  # the group of the best rung
    ladder: list  # groups: lists of rows

    def what_of(self, rows):
        """What this group of rows computes, with its size."""
        return self.what.format(n=results_table.size(rows[0]["n"]))

    @property
    def ratio(self):
        """How many times as fast as `against`."""
        return median(self.against) / median(self.best)

    @property
    def ratio_text(self):
        """The same as the tables of results say it: 1.27x, 1/1071, tie (1.01x)."""
        return results_table.ratio(self.best, self.against)


def median(row):
    """A row's median time in microseconds; Failed if it is no number above 0."""
    value = (row.get("microseconds") or {}).get("median")
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise Failed(f"{row['name']} (n = {row['n']:,}) has no time, but {value}: measure the chapter again")
    return value


def is_timed(row):
    """Whether the ladder timed this row: it leaves out references and what is wrong on purpose."""
    return row["kind"] in ("rung", "vendor") and row.get("microseconds") is not None


def load_results(chapter):
    """results/h200.json of a chapter's folder; None if it has not been measured."""
    file = chapter / "results" / "h200.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def group_of(results, declared, rung=None):
    """The rows of the one group that `declared` names and that holds `rung`."""
    found = [
        rows for rows in results_table.groups_of(results)
        if results_table.is_group(rows, declared) and (rung is None or any(row["name"] == rung for row in rows))
    ]
    if len(found) != 1:
        with_rung = f" and a rung {rung}" if rung else ""
        raise Failed(f"{len(found)} groups have n = {declared['n']:,}, the reference '{declared['reference']}'{with_rung}")
    return found[0]


def row_of(rows, name, kind):
    """The row of this name and kind."""
    row = next((row for row in rows if (row["name"], row["kind"]) == (name, kind)), None)
    if row is None:
        raise Failed(f"the group has no {kind} {name}")
    return row


def is_faster(row, other):
    """Faster by more than the runs differ, and by so much that three digits show it."""
    ratio = median(other) / median(row)
    return ratio >= 1.005 and not results_table.ratio(row, other).startswith("tie")


def compared_with(results, rows, best, declared):
    """The row that the best rung is compared with, and its name."""
    vendors = [row for row in rows if row["kind"] == "vendor" and is_timed(row)]
    if declared["vendor"] is not None:
        against = row_of(rows, declared["vendor"], "vendor")
        for row in vendors:
            if is_faster(row, against):
                raise Failed(f"{row['name']} is faster than the vendor's row {against['name']}: compare with that")
        return against, against["name"]
    if vendors:
        raise Failed(f"vendor is null, but the group has {vendors[0]['name']}")
    instead = declared["instead"]
    if instead["row"] != "copy":
        return row_of(rows, instead["row"], "rung"), instead["name"]
    time = best["bytes"] / results["copy_gb_per_s"] / 1e3
    row = {"name": "copy", "n": best["n"], "microseconds": {"p10": time, "median": time, "p90": time}}
    return row, instead["name"]


def of_results(results, declared):
    """The Headline of results/h200.json and headline.json. Failed if they do not fit together."""
    rows = group_of(results, declared["group"], declared["rung"])
    best = row_of(rows, declared["rung"], "rung")
    left_out = {rung: why for why, rungs in declared.get("left_out", {}).items() for rung in rungs}
    for name in left_out:
        row_of(rows, name, "rung")
    if best["name"] in left_out:
        raise Failed(f"{best['name']} is left out and the best rung")
    for row in rows:
        if row["kind"] == "rung" and is_timed(row) and row["name"] not in left_out and is_faster(row, best):
            raise Failed(f"{row['name']} is faster than {best['name']}: name it as the rung, or why it is left out")
    against, name = compared_with(results, rows, best, declared)
    median(against)
    return Headline(
        chapter=results["chapter"],
        what=declared["what"],
        best=best,
        against=against,
        against_name=name,
        vendor=declared["vendor"] is not None,
        note=declared.get("note", ""),
        left_out=left_out,
        rows=rows,
        ladder=[group_of(results, group) for group in declared["ladder"]] if "ladder" in declared else [rows],
    )


def load(chapter: Path):
    """The results and the Headline of a chapter's folder; None if it has not been measured."""
    results = load_results(chapter)
    if results is None:
        return None
    file = chapter / "headline.json"
    if not file.exists():
        raise Failed(f"{file}: missing; it says which rung is the best and what to compare it with")
    try:
        return results, of_results(results, json.loads(file.read_text(encoding="utf-8")))
    except KeyError as error:
        raise Failed(f"{file}: {error} is missing") from error
    except Failed as failed:
        raise Failed(f"{file}: {failed}") from failed
