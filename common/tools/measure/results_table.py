#!/usr/bin/env python3
"""Writes the measured results into a chapter's README, as tables.

    results_table.py CHAPTER_FOLDER [--check]

Takes results/h200.json, which the chapter's ladder wrote with --json on that GPU, and replaces what
stands between <!-- results:begin --> and <!-- results:end --> in README.md. A group of rungs that are
points of a curve becomes a small table below the picture results/h200-NAME.svg, which plots.py draws.
The table of the chapter's headline (headline.json) is open, all others are folded.
--check changes nothing, and exits with 1 if the tables are out of step.
"""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import markers  # noqa: E402

NONE = "–"


def number(value, digits=1):
    return NONE if value is None else f"{value:,.{digits}f}"


def significant(value):
    """Up to 9 digits, as the ladder prints results."""
    return NONE if value is None else f"{value:.9g}"


def error_text(value):
    return NONE if value is None else "0" if value == 0 else f"{value:.2g}"


def size(n):
    power = n.bit_length() - 1
    return f"2^{power}" if n == 1 << power and n >= 1024 else f"{n:,}"


def spread(row):
    """How far the medians of the runs lie apart, relative to the median; of one run: p10 to p90."""
    time = row["microseconds"]
    lowest, highest = (min(time["runs"]), max(time["runs"])) if "runs" in time else (time["p10"], time["p90"])
    return (highest - lowest) / time["median"]


def ratio(row, other):
    """How many times as fast as `other`; a tie if the difference is no larger than the spread."""
    if not other or not row.get("microseconds") or not other.get("microseconds"):
        return NONE
    ratio = other["microseconds"]["median"] / row["microseconds"]["median"]
    if ratio < 0.1:  # much slower
        return f"1/{1 / ratio:.0f}"
    text = f"{ratio:.3g}x" if ratio < 100 else f"{ratio:.0f}x"
    return f"tie ({text})" if abs(ratio - 1) <= max(spread(row), spread(other)) else text


def escaped(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


# ---- a table of rungs --------------------------------------------------------------------------


def rung_table(rows):
    vendors = [row for row in rows if row["kind"] == "vendor" and row.get("microseconds")]
    vendor = min(vendors, key=lambda row: row["microseconds"]["median"], default=None)
    if any("max_error" in row for row in rows):
        errors = {"max error": "max_error", "mean error": "mean_error"}
    else:
        errors = {"error": "error"} if any(row.get("error") for row in rows if row["kind"] == "rung") else {}
    rates = any(row.get("per_ns") for row in rows)
    group_n = rows[0]["n"]
    heads = ["rung", "what changed", "result", "µs", "p10 – p90", "runs differ by", "GB/s", "% of copy"]
    heads += list(errors)
    heads += ["per ns"] * rates + ["× rung before"] + ["× vendor"] * bool(vendor)
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "--:|" * (len(heads) - 2)]
    before = None
    for row in rows:
        time = row.get("microseconds")
        result = row["expected"] if row["kind"] == "reference" else row["result"]
        changed = escaped(row["changed"])
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
            f"{number(time['p10'])} – {number(time['p90'])}" if time else NONE,
            f"{100 * spread(row):.1f} %" if time and "runs" in time else NONE,
            number(row.get("gb_per_s")),
            number(row.get("percent_of_copy")),
        ]
        cells += [error_text(row.get(key, row.get("error"))) for key in errors.values()]
        cells += [NONE if row.get("per_ns") is None else f"{row['per_ns']:.3g}"] * rates
        cells.append(ratio(row, before) if row["kind"] == "rung" else NONE)
        cells += [ratio(row, vendor) if row["kind"] == "rung" else NONE] * bool(vendor)
        lines.append("| " + " | ".join(cells) + " |")
        if row["kind"] == "rung":
            before = row
    return lines


# ---- a curve -----------------------------------------------------------------------------------


def points_of(rows):
    """The points of a curve in this group; empty if it is no curve."""
    timed = [row for row in rows if "microseconds" in row]
    return timed if all(row.get("series") for row in timed) else []


def title_of(rows):
    """What a curve shows."""
    return rows[0]["changed"] or rows[0]["name"]


def plot_name(rows):
    """The file of a curve's plot, which plots.py draws."""
    return "h200-" + re.sub(r"\W+", "-", rows[0]["name"]) + ".svg"


def points(rows):
    """{series: {x: value}} and what the values are."""
    value, unit = ("per_ns", "operations per ns") if rows[0].get("per_ns") else ("gb_per_s", "GB/s")
    series = {}
    for row in rows:
        series.setdefault(row["series"], {})[row["x"]] = row[value]
    return series, unit


def axis_text(x):
    return size(int(x)) if x == int(x) else f"{x:g}"


def curve_table(series, unit):
    lines = ["| x | " + " | ".join(f"{name}, {unit}" for name in series) + " |", "|--:|" + "--:|" * len(series)]
    for x in sorted({x for line in series.values() for x in line}):
        cells = [f"{line[x]:.3g}" if x in line else NONE for line in series.values()]
        lines.append(f"| {axis_text(x)} | " + " | ".join(cells) + " |")
    return lines


# ---- the whole -----------------------------------------------------------------------------------


def groups_of(results):
    """The rows of each group, in the ladder's order."""
    groups = {}
    for row in results["rungs"]:
        groups.setdefault(row["group"], []).append(row)
    return list(groups.values())


def folded(summary, lines):
    """Lines that are there for those who ask for them."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def summary_of(rows):
    """What a folded group is about: its size, its rungs, what they compute."""
    names = list(dict.fromkeys(row["name"] for row in rows if row["kind"] in ("rung", "wrong")))
    shown = " to ".join(escaped(name) for name in dict.fromkeys((names[0], names[-1]))) if names else ""
    return f"n = {size(rows[0]['n'])}: {shown} ({escaped(rows[0]['changed'] or rows[0]['name'])})"


def is_group(rows, declared):
    """Whether these are the rows that a headline.json declares: by the reference's words, and n."""
    return (rows[0]["changed"], rows[0]["n"]) == (declared["reference"], declared["n"])


def is_open(rows, headline):
    """Whether a group's table is shown at once: the headline's, or all where there is no headline."""
    return headline is None or (is_group(rows, headline["group"]) and any(row["name"] == headline["rung"] for row in rows))


def render(results, headline=None):
    """The Markdown of all groups; those that are not the headline's are folded."""
    runs = max((len(row["microseconds"].get("runs", [1])) for row in results["rungs"] if "microseconds" in row), default=1)
    lines = [
        f"{results['device']}, CUDA {results['cuda']}, n = {results['n']:,} {results['n_means']}"
        + (f", {results['file']['name']}" if results["file"] else "")
        + f", measured {results['date'][:10]}. "
        + (f"Medians of {runs} runs" if runs > 1 else "Medians")
        + f", with p10 to p90; copy bandwidth of the same {'runs' if runs > 1 else 'run'}: "
        + f"{number(results['copy_gb_per_s'], 0)} GB/s. L2 cold unless a row says warm."
    ]
    for rows in groups_of(results):
        if points_of(rows):
            title = escaped(title_of(rows))
            lines += ["", f"{title}, n = {size(rows[0]['n'])}:", "", f"![{title}](results/{plot_name(rows)})", ""]
            lines += folded("The numbers of this plot", curve_table(*points(points_of(rows))))
        elif is_open(rows, headline):
            lines += ["", f"n = {size(rows[0]['n'])}:", "", *rung_table(rows)]
        else:
            lines += ["", *folded(summary_of(rows), rung_table(rows))]
    return "\n".join(lines)


def main():
    chapter = Path(sys.argv[1])
    readme = chapter / "README.md"
    text = readme.read_text(encoding="utf-8")
    source = chapter / "results" / "h200.json"
    if not source.exists():
        return f"{source}: missing; the ladder writes it with --json"
    try:
        declared = chapter / "headline.json"
        headline = json.loads(declared.read_text(encoding="utf-8")) if declared.exists() else None
        results = json.loads(source.read_text(encoding="utf-8"))
        new = markers.replaced(readme, text, "results", render(results, headline))
    except ValueError as error:
        return str(error)
    if "--check" not in sys.argv[2:]:
        readme.write_text(new, encoding="utf-8")
    elif new != text:
        return f"{readme}: out of step with {source}\nrun: common/tools/measure/results_table.py {chapter}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
