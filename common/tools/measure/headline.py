"""What a chapter's results come down to: its best rung and what that is compared with.

The table [headline] of chapter.toml declares it; times come from the results of the ladder:

    what        what is computed; {n} stands for the size
    group       which rows of the results: {reference = "what the reference's row says", n = its size}
    rung        the best rung of them that does the vendor's whole job
    vendor      the fastest row of a vendor's library; left out if no library does this. Then there is
    instead     {row = a rung of the group, or "copy": as many bytes copied, name = what readers call it}
    left_out    optional: {"why" = [rungs that do less than the vendor, and may be faster for it]}
    note        optional: a sentence that belongs to the comparison
    ladder      optional: the groups that the plot of the ladder shows, if not the one above

The largest size of the chapter's question is declared, not the one that looks best. The declaration is of the reference device.
On another device the same rung is compared with the library's row that is the fastest there, and other rungs may be faster.
"""

from dataclasses import dataclass, replace

from tools.lib import chapter as metadata
from tools.lib import chapter_results as measured
from tools.lib.failed import Failed
from tools.lib.rows import groups_of, is_faster, is_group, is_timed, median, ratio, row_of, size


@dataclass(frozen=True)
class Headline:
    """A chapter's best rung and what it is compared with. Rows are those of the ladder."""

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
        return self.what.format(n=size(rows[0]["n"]))

    @property
    def faster(self):
        """The rungs that are faster than `best`, the fastest first: on the reference device there are none."""
        own = [row for row in self.rows if row["kind"] == "rung" and is_timed(row) and row["name"] not in self.left_out]
        return sorted((row for row in own if is_faster(row, self.best)), key=median)

    @property
    def ratio(self):
        """How many times as fast as `against`."""
        return median(self.against) / median(self.best)

    @property
    def ratio_text(self):
        """The same as the tables of results say it: 1.27x, 1/1071, tie (1.01x)."""
        return ratio(self.best, self.against)


def group_of(results, declared, rung=None):
    """The rows of the one group that `declared` names and that holds `rung`."""
    found = [
        rows for rows in groups_of(results)
        if is_group(rows, declared) and (rung is None or any(row["name"] == rung for row in rows))
    ]
    if len(found) != 1:
        with_rung = f" and a rung {rung}" if rung else ""
        raise Failed(f"{len(found)} groups have n = {declared['n']:,}, the reference '{declared['reference']}'{with_rung}")
    return found[0]


def compared_with(results, rows, best, declared):
    """The row that the best rung is compared with, and its name."""
    vendors = [row for row in rows if row["kind"] == "vendor" and is_timed(row)]
    if "vendor" in declared:
        against = row_of(rows, declared["vendor"], "vendor")
        for row in vendors:
            if is_faster(row, against):
                raise Failed(f"{row['name']} is faster than the vendor's row {against['name']}: compare with that")
        return against, against["name"]
    if vendors:
        raise Failed(f"no vendor is named, but the group has {vendors[0]['name']}")
    instead = declared["instead"]
    if instead["row"] != "copy":
        return row_of(rows, instead["row"], "rung"), instead["name"]
    return copied(results, best), instead["name"]


def copied(results, best):
    """As a row: how long it takes to copy as many bytes as the best rung moves."""
    time = best["bytes"] / results["copy_gb_per_s"] / 1e3
    return {"name": "copy", "n": best["n"], "microseconds": {"p10": time, "median": time, "p90": time}}


def of_results(results, declared):
    """The Headline of a ladder's results, as declared. Failed if they do not fit together."""
    rows = group_of(results, declared["group"], declared["rung"])
    best = row_of(rows, declared["rung"], "rung")
    left_out = {rung: why for why, rungs in declared.get("left_out", {}).items() for rung in rungs}
    for name in left_out:
        row_of(rows, name, "rung")
    if best["name"] in left_out:
        raise Failed(f"{best['name']} is left out and the best rung")
    against, name = compared_with(results, rows, best, declared)
    median(best), median(against)  # times
    head = Headline(
        chapter=results["chapter"],
        what=declared["what"],
        best=best,
        against=against,
        against_name=name,
        vendor="vendor" in declared,
        note=declared.get("note", ""),
        left_out=left_out,
        rows=rows,
        ladder=[group_of(results, group) for group in declared["ladder"]] if "ladder" in declared else [rows],
    )
    if head.faster:
        raise Failed(f"{head.faster[0]['name']} is faster than {best['name']}: name it as the rung, or why it is left out")
    return head


def load(chapter):
    """The results and the Headline of a chapter's folder; None if it has not been measured."""
    results = measured.of_gpu(chapter)
    if results is None:
        return None
    declared = metadata.load(chapter).headline
    file = chapter / "chapter.toml"
    if not declared:
        raise Failed(f"{file}: needs [headline]: which rung is the best, and what to compare it with")
    try:
        return results, of_results(results, declared)
    except KeyError as error:
        raise Failed(f"{file}: [headline] has no {error}") from error
    except Failed as failed:
        raise Failed(f"{file}: {failed}") from failed


def elsewhere(chapter, device, head):
    """The same on another device, whose Headline is that of the reference with other rows; None if it lacks one of them.

    A device may have run an older ladder, or one without PyTorch.
    """
    results = measured.of_device(chapter, device)
    declared = {"reference": head.rows[0]["changed"], "n": head.rows[0]["n"]}
    for rows in groups_of(results) if results else ():
        timed = {row["name"]: row for row in rows if is_group(rows, declared) and is_timed(row)}
        best = timed.get(head.best["name"])
        if best is None:
            continue
        if head.vendor:
            against = min((row for row in timed.values() if row["kind"] == "vendor"), key=median, default=None)
        else:
            against = copied(results, best) if head.against["name"] == "copy" else timed.get(head.against["name"])
        if against:
            name = against["name"] if head.vendor else head.against_name
            return results, replace(head, best=best, against=against, against_name=name, rows=rows)
    return None
