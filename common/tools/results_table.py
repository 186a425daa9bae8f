#!/usr/bin/env python3
"""Writes the table of measured results into a chapter's README.

    results_table.py CHAPTER_FOLDER [--check]

Takes results/h200.json, which the chapter's ladder wrote with --json on that GPU, and replaces what
stands between <!-- results:begin --> and <!-- results:end --> in README.md. --check changes nothing,
and exits with 1 if the table is out of step.
"""

import json
import sys
from pathlib import Path

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
NONE = "–"


def number(value, digits=1):
    return NONE if value is None else f"{value:,.{digits}f}"


def significant(value):
    """Up to 9 digits, as the ladder prints results."""
    return NONE if value is None else f"{value:.9g}"


def ratio(row, other):
    """How many times as fast as `other`."""
    if not other or not row.get("microseconds") or not other.get("microseconds"):
        return NONE
    ratio = other["microseconds"]["median"] / row["microseconds"]["median"]
    if ratio < 0.1:  # much slower
        return f"1/{1 / ratio:.0f}"
    return f"{ratio:.3g}x" if ratio < 100 else f"{ratio:.0f}x"


def escaped(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(results):
    """The Markdown of all rungs, one table for each question."""
    lines = [
        f"{results['device']}, CUDA {results['cuda']}, n = {results['n']:,} {results['n_means']}"
        + (f", {results['file']['name']}" if results["file"] else "")
        + f", measured {results['date'][:10]}. Medians, with p10 to p90; "
        + f"copy bandwidth of the same run: {number(results['copy_gb_per_s'], 0)} GB/s."
    ]
    groups = {}
    for row in results["rungs"]:
        groups.setdefault(row["group"], []).append(row)
    for rows in groups.values():
        vendor = next((row for row in rows if row["kind"] == "vendor"), None)
        lines += [
            "",
            "| rung | what changed | result | µs | p10 – p90 | GB/s | % of copy | × rung before"
            + (" | × vendor |" if vendor else " |"),
            "|---|---|--:|--:|--:|--:|--:|--:|" + ("--:|" if vendor else ""),
        ]
        before = None
        for row in rows:
            time = row.get("microseconds")
            result = row["expected"] if row["kind"] == "reference" else row["result"]
            name = f"`{row['name']}`" if row["kind"] in ("rung", "wrong") else row["name"]
            changed = escaped(row["changed"])
            if row["n"] != results["n"]:
                changed += f" (n = {row['n']:,})"
            if row["kind"] == "wrong":
                changed += "; **wrong on purpose**"
            cells = [
                name,
                changed,
                significant(result),
                number(time["median"]) if time else NONE,
                f"{number(time['p10'])} – {number(time['p90'])}" if time else NONE,
                number(row.get("gb_per_s")),
                number(row.get("percent_of_copy")),
                ratio(row, before) if row["kind"] == "rung" else NONE,
            ]
            if vendor:
                cells.append(ratio(row, vendor) if row["kind"] == "rung" else NONE)
            lines.append("| " + " | ".join(cells) + " |")
            if row["kind"] == "rung":
                before = row
    return "\n".join(lines)


def main():
    chapter = Path(sys.argv[1])
    readme = chapter / "README.md"
    text = readme.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        return f"{readme}: needs one line {BEGIN} and one line {END}"
    source = chapter / "results" / "h200.json"
    if not source.exists():
        return f"{source}: missing; the ladder writes it with --json"
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    results = json.loads(source.read_text(encoding="utf-8"))
    new = f"{head}{BEGIN}\n\n{table(results)}\n\n{END}{tail}"
    if "--check" in sys.argv[2:]:
        return 0 if new == text else f"{readme}: the table is out of step with {source}"
    readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
