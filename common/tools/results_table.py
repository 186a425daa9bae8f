#!/usr/bin/env python3
"""Writes the measured results into a chapter's README: tables, and a plot of every curve.

    results_table.py CHAPTER_FOLDER [--check]

Takes results/h200.json, which the chapter's ladder wrote with --json on that GPU, and replaces what
stands between <!-- results:begin --> and <!-- results:end --> in README.md. A group of rungs that are
points of a curve becomes a small table and the picture results/h200-NAME.svg. --check changes
nothing, and exits with 1 if the table or a picture is out of step.
"""

import html
import json
import math
import re
import sys
from pathlib import Path

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
NONE = "–"
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"]


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


def rung_table(rows, results):
    vendors = [row for row in rows if row["kind"] == "vendor" and row.get("microseconds")]
    vendor = min(vendors, key=lambda row: row["microseconds"]["median"], default=None)
    if any("max_error" in row for row in rows):
        errors = {"max error": "max_error", "mean error": "mean_error"}
    else:
        errors = {"error": "error"} if any(row.get("error") for row in rows if row["kind"] == "rung") else {}
    rates = any(row.get("per_ns") for row in rows)
    group_n = rows[0]["n"]
    lines = [""]
    if any(row["n"] != results["n"] and row["kind"] == "reference" for row in results["rungs"]):
        lines += [f"n = {size(group_n)}:", ""]
    heads = ["rung", "what changed", "result", "µs", "p10 – p90", "runs differ by", "GB/s", "% of copy"]
    heads += list(errors)
    heads += ["per ns"] * rates + ["× rung before"] + ["× vendor"] * bool(vendor)
    lines += ["| " + " | ".join(heads) + " |", "|---|---|" + "--:|" * (len(heads) - 2)]
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


def plot(title, series, unit):
    """The curves as SVG: x in powers of 2, y in powers of 10."""
    width, height, left, right, top, bottom = 720, 400, 70, 150, 40, 45
    xs = sorted({x for line in series.values() for x in line})
    ys = [y for line in series.values() for y in line.values()]
    x_low, x_high = math.log2(xs[0]), max(math.log2(xs[-1]), math.log2(xs[0]) + 1)
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    y_high = max(y_high, y_low + 1)

    def at_x(x):
        return left + (math.log2(x) - x_low) / (x_high - x_low) * (width - left - right)

    def at_y(y):
        return height - bottom - (math.log10(y) - y_low) / (y_high - y_low) * (height - top - bottom)

    def label(x, y, text, anchor="middle", colour="#333"):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{html.escape(text)}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        label(width / 2, 20, title),
    ]
    step = max(1, math.ceil(len(xs) / 12))
    for x in xs[::step]:
        parts.append(f'<line x1="{at_x(x):.1f}" y1="{top}" x2="{at_x(x):.1f}" y2="{height - bottom}" stroke="#eee"/>')
        parts.append(label(at_x(x), height - bottom + 18, axis_text(x)))
    for power in range(y_low, y_high + 1):
        y = at_y(10**power)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(label(left - 6, y + 4, f"{10.0**power:g}", "end"))
    parts.append(label(left, top - 6, unit, "start"))
    for index, (name, line) in enumerate(series.items()):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(f"{at_x(x):.1f},{at_y(line[x]):.1f}" for x in sorted(line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(line[x]):.1f}" r="3" fill="{colour}"/>' for x in sorted(line)]
        parts.append(label(width - right + 10, top + 18 * index + 10, name, "start", colour))
    return "\n".join(parts) + "\n</svg>\n"


# ---- the whole -----------------------------------------------------------------------------------


def render(results):
    """The Markdown of all groups, and {file name: SVG} of the plots in it."""
    runs = max((len(row["microseconds"].get("runs", [1])) for row in results["rungs"] if "microseconds" in row), default=1)
    lines = [
        f"{results['device']}, CUDA {results['cuda']}, n = {results['n']:,} {results['n_means']}"
        + (f", {results['file']['name']}" if results["file"] else "")
        + f", measured {results['date'][:10]}. "
        + (f"Medians of {runs} runs" if runs > 1 else "Medians")
        + f", with p10 to p90; copy bandwidth of the same {'runs' if runs > 1 else 'run'}: "
        + f"{number(results['copy_gb_per_s'], 0)} GB/s. L2 cold unless a row says warm."
    ]
    groups = {}
    for row in results["rungs"]:
        groups.setdefault(row["group"], []).append(row)
    plots = {}
    for rows in groups.values():
        timed = [row for row in rows if "microseconds" in row]
        if timed and all(row.get("series") for row in timed):
            title = rows[0]["changed"] or rows[0]["name"]
            name = "h200-" + re.sub(r"\W+", "-", rows[0]["name"]) + ".svg"
            series, unit = points(timed)
            plots[name] = plot(title, series, unit)
            lines += ["", f"{escaped(title)}, n = {size(rows[0]['n'])}:", "", f"![{escaped(title)}](results/{name})", ""]
            lines += curve_table(series, unit)
        else:
            lines += rung_table(rows, results)
    return "\n".join(lines), plots


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
    markdown, plots = render(json.loads(source.read_text(encoding="utf-8")))
    new = {readme: f"{head}{BEGIN}\n\n{markdown}\n\n{END}{tail}"}
    new |= {source.parent / name: svg for name, svg in plots.items()}
    if "--check" in sys.argv[2:]:
        stale = [file for file, content in new.items() if not file.exists() or file.read_text(encoding="utf-8") != content]
        return f"out of step with {source}: {', '.join(map(str, stale))}" if stale else 0
    for file, content in new.items():
        file.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
