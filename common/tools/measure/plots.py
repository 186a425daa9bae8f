"""What the plots of a chapter show: its ladder, and every curve. plot_svg.py draws them."""

from tools.lib.chapter_results import slug
from tools.lib.failed import Failed
from tools.measure.results_table import plot_name
from tools.lib.rows import (
    axis_text, curve_of, escaped, groups_of, is_faster, is_timed, median, points_of, ratio, rounded, size,
)  # fmt: skip


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
    return "better" if compared and compared["kind"] == "vendor" and is_faster(row, compared) else "rung"


def ladder_rows(rows, head):
    """The timed rows of a group as they are drawn, and the row that they are compared with, or None."""
    timed = [row for row in rows if is_timed(row)]
    compared = next((row for row in timed if row is head.against), None)
    if compared is None:
        vendors = [row for row in timed if row["kind"] == "vendor"]
        compared = min(vendors, key=median, default=None)
    drawn = [
        {
            "name": row["name"],
            "changed": row["changed"] + (f" (n = {size(row['n'])})" if row["n"] != head.ladder[0][0]["n"] else ""),
            "time": median(row),
            "time_text": f"{median(row):,.1f}",
            "ratio": ratio(row, compared) if compared and row is not compared else "",
            "mark": mark_of(row, compared, head.left_out),
        }
        for row in timed
    ]  # fmt: skip
    return drawn, compared


def line_name(compared, head):
    """The row that the others of its group are compared with, as the plot names it at its line."""
    return compared["name"] if is_vendor(compared) else head.against_name.replace("`", "")


def is_vendor(row):
    """Whether this is a row, and a vendor's."""
    return row is not None and row["kind"] == "vendor"


def legend_of(rows, compared, head):
    """[(mark, what it means)] for the marks that are there."""
    legend = [("better", f"faster than {compared['name']}")] if any(row["mark"] == "better" for row in rows) else []
    whys = dict.fromkeys(head.left_out[row["name"]] for row in rows if row["mark"] == "other")
    legend += [("other", f"not the vendor's whole job: {why}") for why in whys]
    return [*legend, ("vendor", "the vendor's") if is_vendor(compared) else ("rung", "no library does this")]


def finding_of(rows, compared, what):
    """What a group shows in one sentence: the alt text."""
    own = [row for row in rows if row["mark"] != "vendor"]
    best = min((row for row in own if row["mark"] != "other"), key=lambda row: row["time"])
    slowest = max(own, key=lambda row: row["time"])
    if slowest is best:
        finding = f"{what}: {best['name']} takes {best['time_text']} µs"
    else:
        finding = f"{what}: from {slowest['time_text']} µs ({slowest['name']}) to {best['time_text']} µs ({best['name']})"
    return finding + (f"; {compared['name']} takes {median(compared):,.1f} µs" if is_vendor(compared) else "")


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
        "subtitle": f"n = {size(first[0]['n'])} {results['n_means']}; {measured(results)}",
        "axis": f"µs, medians{', log scale' if log else ''}; left is faster",
        "log": log,
        "ratios": "times as fast" if compared else "",
        "groups": [
            {"rows": rows, "line": other and median(other), "line_name": line_name(other, head) if other else ""} for rows, other in drawn
        ],
        "legend": legend_of(all_rows, compared, head),
        "finding": finding_of(*drawn[0], head.what_of(first)),
    }


# ---- curves --------------------------------------------------------------------------------------


def curve(results, rows, declared):
    """The description of a curve's plot; `declared` is [curves] of its chapter.toml."""
    series, unit = curve_of(points_of(rows))
    about = declared.get(rows[0]["name"], {})
    if not {"question", "x"} <= about.keys() <= {"question", "x", "y"} or not about["question"].endswith("?"):
        raise Failed(
            f"chapter.toml: [curves] has for '{rows[0]['name']}' a 'question', the plot's title, which ends with '?', and what the axes count, "
            f"with their units: 'x', and 'y' where that is not '{unit}'"
        )
    title, unit = about["question"], about.get("y", unit)
    for name, line in series.items():
        for x, y in line.items():
            if not isinstance(y, (int, float)) or not 0 < y < float("inf"):
                raise Failed(f"the curve '{rows[0]['name']}' has {y} at {name}, {x:g}: measure the chapter again")
    xs = sorted({x for line in series.values() for x in line})
    same_n = len({row["n"] for row in rows}) == 1
    best = max(((y, name, x) for name, line in series.items() for x, y in line.items()))
    return {
        "kind": "curves",
        "title": title,
        "subtitle": (f"n = {size(rows[0]['n'])}; " if same_n else "") + measured(results),
        "unit": unit,
        "y_axis": f"{unit}, log scale",
        "x_axis": f"{about['x']}, log scale",
        "x_texts": [axis_text(x) for x in xs],
        "series": [{"name": name, "points": sorted(line.items())} for name, line in series.items()],
        "finding": f"{title} At most {rounded(best[0])} {unit} ({best[1]}, at {axis_text(best[2])})",
    }


# ---- the whole -----------------------------------------------------------------------------------


def ladder_name(results):
    """The file of the ladder's plot."""
    return f"{slug(results['device'])}-ladder.svg"


def curves(results, declared):
    """{file name: description} of the curves that a ladder has; `declared` is [curves] of its chapter.toml."""
    return {plot_name(results, rows): curve(results, rows, declared) for rows in groups_of(results) if points_of(rows)}


def descriptions(results, head, declared):
    """{file name: description} of a chapter's plots; `declared` is [curves] of its chapter.toml."""
    return {ladder_name(results): ladder(results, head), **curves(results, declared)}


def embedded(results, plots):
    """The Markdown that shows the ladder's plot."""
    name = ladder_name(results)
    return f"![{escaped(plots[name]['finding'])}](results/{name})"
