"""The rows of a ladder's results: their groups, times and ratios, and how numbers are written."""

import math

from tools.lib.failed import Failed

NONE = "–"
SMALLEST = 0.005  # a smaller difference is a tie, however little the runs differ


# ---- numbers -------------------------------------------------------------------------------------


def number(value, digits=1):
    """1234.5 as "1,234.5"."""
    return NONE if value is None else f"{value:,.{digits}f}"


def significant(value):
    """Up to 9 digits, as the ladder prints results."""
    return NONE if value is None else f"{value:.9g}"


def rounded(value, digits=3):
    """Three significant digits, in full up to a million: 1234.5 as "1,230", 0.012345 as "0.0123"."""
    shown = float(f"{value:.{digits}g}")
    return f"{shown:,.0f}" if 1000 <= shown < 1e6 else f"{value:.{digits}g}"


def error_text(value):
    """An error with two digits; 0 is exact."""
    return NONE if value is None else "0" if value == 0 else rounded(value, 2)


def size(n):
    """A count of elements: 2^20, and 1,000,007."""
    power = n.bit_length() - 1
    return f"2^{power}" if n == 1 << power and n >= 1024 else f"{n:,}"


def axis_text(x):
    """A point on the axis of a curve."""
    return size(int(x)) if x == int(x) else f"{x:g}"


def escaped(text):
    """Text for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


# ---- times ---------------------------------------------------------------------------------------


def median(row):
    """A row's median time in microseconds; Failed if it is no number above 0."""
    value = (row.get("microseconds") or {}).get("median")
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise Failed(f"{row['name']} (n = {row['n']:,}) has no time, but {value}: measure the chapter again")
    return value


def is_timed(row):
    """Whether the ladder timed this row: it leaves out references and what is wrong on purpose."""
    return row["kind"] in ("rung", "vendor") and row.get("microseconds") is not None


def spread(row):
    """How far the medians of the runs lie apart, relative to the median; of one run: p10 to p90."""
    time = row["microseconds"]
    lowest, highest = (min(time["runs"]), max(time["runs"])) if "runs" in time else (time["p10"], time["p90"])
    return (highest - lowest) / time["median"]


def ratio(row, other):
    """How many times as fast as `other`, "1.53x", or the part of its speed, "1/1.53"; a tie if the difference is no larger than the
    spread, or very small. Rows of another n have no ratio."""
    if not other or not row.get("microseconds") or not other.get("microseconds") or row.get("n") != other.get("n"):
        return NONE
    times = other["microseconds"]["median"] / row["microseconds"]["median"]
    if abs(times - 1) <= max(spread(row), spread(other), SMALLEST):
        return f"tie ({times:.3g}x)"
    factor = max(times, 1 / times)
    text = f"{factor:.3g}" if factor < 100 else f"{factor:.0f}"
    return f"{text}x" if times > 1 else f"1/{text}"


def is_faster(row, other):
    """Faster, and no tie."""
    return median(other) > median(row) and not ratio(row, other).startswith("tie")


# ---- groups --------------------------------------------------------------------------------------


def groups_of(results):
    """The rows of each group, in the ladder's order."""
    groups = {}
    for row in results["rungs"]:
        groups.setdefault(row["group"], []).append(row)
    return list(groups.values())


def is_group(rows, declared):
    """Whether these are the rows that a chapter.toml declares: by the reference's words, and n."""
    return (rows[0]["changed"], rows[0]["n"]) == (declared["reference"], declared["n"])


def row_of(rows, name, kind):
    """The row of this name and kind."""
    row = next((row for row in rows if (row["name"], row["kind"]) == (name, kind)), None)
    if row is None:
        raise Failed(f"the group has no {kind} {name}")
    return row


# ---- curves --------------------------------------------------------------------------------------


def points_of(rows):
    """The rows of a group that are points of a curve; none if the group is no curve."""
    timed = [row for row in rows if "microseconds" in row]
    return timed if all(row.get("series") for row in timed) else []


def title_of(rows):
    """What a curve shows."""
    return rows[0]["changed"] or rows[0]["name"]


def curve_of(points):
    """{series: {x: value}} and what the values are."""
    value, unit = ("per_ns", "operations per ns") if points[0].get("per_ns") else ("gb_per_s", "GB/s")
    series = {}
    for row in points:
        series.setdefault(row["series"], {})[row["x"]] = row[value]
    return series, unit
