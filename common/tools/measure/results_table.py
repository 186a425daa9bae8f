"""The tables of measured results in a chapter's README.

A group of rungs that are points of a curve becomes a small table below the curve's plot. The table of the
chapter's headline is open, all others are folded.
"""

import re

from tools.lib.chapter_results import slug
from tools.lib.rows import (
    NONE, axis_text, curve_of, error_text, escaped, groups_of, is_group, median, number, points_of, ratio,
    rounded, significant, size, spread, title_of,
)  # fmt: skip


def error_columns(rows):
    """The column of a table that tells errors, with the keys of its rows; none where all are exact."""
    if any("max_error" in row for row in rows):
        return {"max error (mean)": ("max_error", "mean_error")}
    return {"error": ("error",)} if any(row.get("error") for row in rows if row["kind"] == "rung") else {}


def with_detail(text, detail=NONE):
    """Two numbers in one cell: each column of its own makes the table wider than a page."""
    return text if NONE in (text, detail) else f"{text} ({detail})"


def percent(value):
    """12.34 as "12.3 %", on one line."""
    return NONE if value is None else f"{number(value)}\u00a0%"


def rung_table(rows):
    """A row for each rung: its time, rates, and how many times as fast as others."""
    vendors = [row for row in rows if row["kind"] == "vendor" and row.get("microseconds")]
    vendor = min(vendors, key=lambda row: row["microseconds"]["median"], default=None)
    errors = error_columns(rows)
    rates = any(row.get("per_ns") for row in rows)
    group_n = rows[0]["n"]
    heads = ["rung", "what changed", "result", "µs", "p10 – p90 (runs differ by)", "GB/s (% of copy)"]
    heads += list(errors)
    heads += ["per ns"] * rates + ["× rung before"] + ["× vendor"] * bool(vendor)
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "--:|" * (len(heads) - 2)]
    before = None
    for row in rows:
        time = row.get("microseconds")
        result = row["expected"] if row["kind"] == "reference" else row["result"]
        changed = re.sub(r"(\w\()(?=\w{12})", r"\1<wbr>", escaped(row["changed"]))  # a line may break there
        if row["n"] != group_n:
            changed += f" (n = {size(row['n'])})"
        if row.get("l2") == "warm":
            changed += "; L2 warm"
        if row["kind"] == "wrong":
            changed += "; **wrong on purpose**"
        cells = [
            f"`{row['name']}`" if row["kind"] in ("rung", "wrong") else row["name"],
            changed,
            significant(result),
            number(time["median"]) if time else NONE,
            with_detail(
                f"{number(time['p10'])}\u00a0– {number(time['p90'])}" if time else NONE,
                percent(100 * spread(row) if time and "runs" in time else None),
            ),
            with_detail(number(row.get("gb_per_s")), percent(row.get("percent_of_copy"))),
        ]
        cells += [with_detail(*(error_text(row.get(key, row.get("error"))) for key in keys)) for keys in errors.values()]
        cells += [NONE if row.get("per_ns") is None else rounded(row["per_ns"])] * rates
        cells.append(ratio(row, before) if row["kind"] == "rung" else NONE)
        cells += [ratio(row, vendor) if row["kind"] == "rung" else NONE] * bool(vendor)
        lines.append("| " + " | ".join(cells) + " |")
        if row["kind"] == "rung":
            before = row
    return lines


def plot_name(results, rows):
    """The file of a curve's plot, which plots.py draws."""
    return f"{slug(results['device'])}-" + re.sub(r"\W+", "-", rows[0]["name"]) + ".svg"


def curve_table(series, unit):
    """The numbers of a curve's plot."""
    lines = ["| x | " + " | ".join(f"{name}, {unit}" for name in series) + " |", "|--:|" + "--:|" * len(series)]
    for x in sorted({x for line in series.values() for x in line}):
        cells = [rounded(line[x]) if x in line else NONE for line in series.values()]
        lines.append(f"| {axis_text(x)} | " + " | ".join(cells) + " |")
    return lines


def folded(summary, lines):
    """Lines that are there for those who ask for them."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def summary_of(rows):
    """What a folded group is about: its size, its rungs, what they compute."""
    names = list(dict.fromkeys(row["name"] for row in rows if row["kind"] in ("rung", "wrong")))
    shown = " to ".join(escaped(name) for name in dict.fromkeys((names[0], names[-1]))) if names else ""
    return f"n = {size(rows[0]['n'])}: {shown} ({escaped(rows[0]['changed'] or rows[0]['name'])})"


def is_open(rows, headline):
    """Whether a group's table is shown at once: the headline's, or all where there is no headline."""
    return headline is None or (is_group(rows, headline["group"]) and any(row["name"] == headline["rung"] for row in rows))


def legend(results):
    """What the columns and words of the tables mean."""
    timed = [row for row in results["rungs"] if row["kind"] in ("rung", "vendor") and "microseconds" in row]
    has_runs = any("runs" in row["microseconds"] for row in timed)
    lines = ["How to read the tables:", ""]
    lines.append("- **result**: a number of the output; the first row is the reference, which the others are compared with.")
    if any("error" in error_columns(rows) for rows in groups_of(results) if not points_of(rows)):
        lines.append("- **error**: how far the result is from the reference.")
    lines.append("- **µs**: the median time of one launch. 80 % of the launches took a time in **p10 – p90**.")
    if has_runs:
        lines.append("- **runs differ by**: the spread of the runs' medians; ignore smaller differences between rungs.")
    lines += [
        "- **GB/s**: the bytes that the task must read and write, divided by the time. **% of copy**: that rate relative to a",
        "  device-to-device copy, which reads and writes alternately; a kernel that only reads can exceed 100 %.",
    ]
    if any(row.get("per_ns") for row in timed):
        lines.append("- **per ns**: operations per nanosecond.")
    lines += [
        "- **× rung before**, **× vendor**: speed relative to the rung above, and to the fastest library call in the table.",
        "  **tie**: the difference is no larger than between runs, or below 0.5 %. **1/34**: 34 times slower.",
        "- **L2 cold**: other data fills the L2 cache before each launch, so the launch also pays for writing some of it back.",
        "  **L2 warm**: the launch before read the same data.",
    ]
    return lines


def beside_sentence(results, head):
    """What the best rung takes on another device, whose tables the page does not have."""
    against = f"`{head.against_name}`" if head.vendor else head.against_name
    return (
        f"The tables are of this card alone. On one {results['device']}, measured {results['date'][:10]}: `{head.best['name']}` takes "
        f"{number(median(head.best))}\u00a0µs for n = {size(head.best['n'])}, and {against} takes {number(median(head.against))}\u00a0µs. The ratio is {head.ratio_text}."
    )


def render(results, headline=None, with_legend=True, elsewhere=()):
    """The Markdown of all groups; those that are not the headline's are folded. `elsewhere`: (results, Headline) of other devices."""
    runs = max((len(row["microseconds"].get("runs", [1])) for row in results["rungs"] if "microseconds" in row), default=1)
    lines = [
        f"{results['device']}, CUDA {results['cuda']}, n = {results['n']:,} {results['n_means']}"
        + (f", {results['file']['name']}" if results["file"] else "")
        + f", measured {results['date'][:10]}. "
        + (f"Medians of {runs} runs" if runs > 1 else "Medians")
        + f", with p10 to p90; copy bandwidth of the same {'runs' if runs > 1 else 'run'}: "
        + f"{number(results['copy_gb_per_s'], 0)} GB/s. L2 cold unless a row says warm.",
        *(line for there in elsewhere for line in ("", beside_sentence(*there))),
        *(["", *legend(results)] if with_legend else []),
    ]
    for rows in groups_of(results):
        if points_of(rows):
            title = escaped(title_of(rows))
            lines += ["", f"{title}, n = {size(rows[0]['n'])}:", "", f"![{title}](results/{plot_name(results, rows)})", ""]
            lines += folded("The numbers of this plot", curve_table(*curve_of(points_of(rows))))
        elif is_open(rows, headline):
            lines += ["", f"n = {size(rows[0]['n'])}:", "", *rung_table(rows)]
        else:
            lines += ["", *folded(summary_of(rows), rung_table(rows))]
    return "\n".join(lines)
