#!/usr/bin/env python3
"""Draws a chapter's measured results: its ladder, and every curve.

    plots.py CHAPTER_FOLDER [--check]

Takes results/h200.json and headline.json, writes results/h200-ladder.svg and a results/h200-NAME.svg for
every group of rungs that are points of a curve, and puts the ladder between <!-- ladder:begin --> and
<!-- ladder:end --> in README.md. Drawing needs matplotlib (common/tools/setup.sh --contributor). --check
changes nothing, needs no matplotlib, and exits with 1 if a picture or the README is out of step.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import markers  # noqa: E402
from tools.measure import headline, plot_svg, results_table  # noqa: E402
from tools.measure.headline import Failed  # noqa: E402


def measured(results):
    """Where and when, as all plots say it."""
    return f"{results['device']}, CUDA {results['cuda']}, measured {results['date'][:10]}"


# ---- the ladder ----------------------------------------------------------------------------------


def mark_of(row, compared, left_out):
    """How a row is marked: vendor, better (than the vendor), other (not the vendor's job), or rung."""
    if row["kind"] == "vendor":
        return "vendor"
    if row["name"] in left_out:
        return "other"
    return "better" if compared and compared["kind"] == "vendor" and headline.is_faster(row, compared) else "rung"


def ladder_rows(rows, head):
    """The timed rows of a group as they are drawn, and the row that they are compared with, or None."""
    timed = [row for row in rows if headline.is_timed(row)]
    compared = next((row for row in timed if row is head.against), None)
    if compared is None:
        vendors = [row for row in timed if row["kind"] == "vendor"]
        compared = min(vendors, key=headline.median, default=None)
    drawn = [
        {
            "name": row["name"],
            "changed": row["changed"],
            "time": headline.median(row),
            "time_text": f"{headline.median(row):,.1f}",
            "ratio": results_table.ratio(row, compared) if compared and row is not compared else "",
            "mark": mark_of(row, compared, head.left_out),
        }
        for row in timed
    ]  # fmt: skip
    return drawn, compared


def is_vendor(row):
    """Whether this is a row, and a vendor's."""
    return row is not None and row["kind"] == "vendor"


def legend_of(rows, compared, head):
    """[(mark, what it means)] for the marks that are there."""
    legend = [("better", f"faster than {compared['name']}")] if any(row["mark"] == "better" for row in rows) else []
    whys = dict.fromkeys(head.left_out[row["name"]] for row in rows if row["mark"] == "other")
    legend += [("other", f"not the vendor's whole job: {why}") for why in whys]
    if is_vendor(compared):
        return [*legend, ("vendor", f"the vendor's; the dashed line is {compared['name']}")]
    line = f"; the dashed line is {head.against_name.replace('`', '')}" if compared else ""
    return [*legend, ("rung", f"no library does this{line}")]


def finding_of(rows, compared, what):
    """What a group shows in one sentence: the alt text."""
    own = [row for row in rows if row["mark"] != "vendor"]
    best = min((row for row in own if row["mark"] != "other"), key=lambda row: row["time"])
    slowest = max(own, key=lambda row: row["time"])
    if slowest is best:
        finding = f"{what}: {best['name']} takes {best['time_text']} µs"
    else:
        finding = f"{what}: from {slowest['time_text']} µs ({slowest['name']}) to {best['time_text']} µs ({best['name']})"
    return finding + (f"; {compared['name']} takes {headline.median(compared):,.1f} µs" if is_vendor(compared) else "")


def ladder(results, head):
    """The description of the ladder's plot."""
    drawn = [ladder_rows(rows, head) for rows in head.ladder]
    for (rows, _), group in zip(drawn, head.ladder):
        if not rows:
            raise Failed(f"no rung of the group '{group[0]['changed']}' was timed")
    compared = next((other for _, other in drawn if other), None)
    all_rows = [row for rows, _ in drawn for row in rows]
    times = [row["time"] for row in all_rows]
    log = max(times) > 6 * min(times)
    first = head.ladder[0]
    return {
        "kind": "ladder",
        "title": f"Chapter {results['chapter'][:2]}: {head.what_of(first)}",
        "subtitle": f"n = {results_table.size(first[0]['n'])} {results['n_means']}; {measured(results)}",
        "axis": f"µs, medians{', log scale' if log else ''}; left is faster",
        "log": log,
        "ratios": "× vendor" if is_vendor(compared) else "times as fast" if compared else "",
        "groups": [{"rows": rows, "line": other and headline.median(other)} for rows, other in drawn],
        "legend": legend_of(all_rows, compared, head),
        "finding": finding_of(*drawn[0], head.what_of(first)),
    }


# ---- curves --------------------------------------------------------------------------------------


def curve(results, rows):
    """The description of a curve's plot."""
    series, unit = results_table.points(results_table.points_of(rows))
    title = results_table.title_of(rows)
    for name, line in series.items():
        for x, y in line.items():
            if not isinstance(y, (int, float)) or not 0 < y < float("inf"):
                raise Failed(f"the curve '{title}' has {y} at {name}, {x:g}: measure the chapter again")
    xs = sorted({x for line in series.values() for x in line})
    same_n = len({row["n"] for row in rows}) == 1
    best = max(((y, name, x) for name, line in series.items() for x, y in line.items()))
    return {
        "kind": "curves",
        "title": title,
        "subtitle": (f"n = {results_table.size(rows[0]['n'])}; " if same_n else "") + measured(results),
        "unit": unit,
        "x_axis": "both scales are logarithmic",
        "x_texts": [results_table.axis_text(x) for x in xs],
        "series": [{"name": name, "points": sorted(line.items())} for name, line in series.items()],
        "finding": f"{title}: at most {best[0]:.3g} {unit} ({best[1]}, at {results_table.axis_text(best[2])})",
    }


# ---- the whole -----------------------------------------------------------------------------------


def descriptions(results, head):
    """{file name: description} of a chapter's plots."""
    plots = {"h200-ladder.svg": ladder(results, head)}
    for rows in results_table.groups_of(results):
        if results_table.points_of(rows):
            plots[results_table.plot_name(rows)] = curve(results, rows)
    return plots


def write_or_check(plots, check, command):
    """Draws {file: description}, or with `check` raises Failed if a file is out of step."""
    problems = {file: plot_svg.problem(file, description) for file, description in plots.items()}
    if check:
        bad = [f"{file} {what}" for file, what in problems.items() if what]
        if bad:
            raise Failed("\n".join(bad) + f"\nrun: {command}")
        return
    for file, description in plots.items():
        if problems[file] is None:
            continue
        try:
            text = plot_svg.draw(description)
        except ImportError as error:
            raise Failed(
                f"{file} {problems[file]}, and {sys.executable} has no matplotlib to draw it ({error}); "
                "common/tools/setup.sh --contributor installs it for the system's python3"
            ) from error
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapter", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    command = f"common/tools/measure/plots.py {options.chapter}"
    readme = options.chapter / "README.md"
    try:
        loaded = headline.load(options.chapter)
        if loaded is None:
            print(f"{options.chapter}: not measured yet, nothing to draw")
            return 0
        plots = descriptions(*loaded)
        text = readme.read_text(encoding="utf-8")
        finding = results_table.escaped(plots["h200-ladder.svg"]["finding"])
        new = markers.replaced(readme, text, "ladder", f"![{finding}](results/h200-ladder.svg)")
        write_or_check({options.chapter / "results" / name: plot for name, plot in plots.items()}, options.check, command)
        if options.check and new != text:
            raise Failed(f"{readme}: the ladder's plot is out of step\nrun: {command}")
    except (Failed, ValueError) as failed:
        return str(failed)
    if new != text:
        readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
