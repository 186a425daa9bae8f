"""The measured rows that the words of a slide are about, as bars: the rungs that the markers of costs and numbers name
(tools/measure/lesson.py, prose_numbers.py), and what the page compares them with.

A rung alone says little: a cost is shown between the rung before it and the vendor's library, one time beside the library's.
"""

import re
from dataclasses import dataclass, replace

from tools.lib import rows
from tools.lib.chapter_results import short_name
from tools.lib.failed import Failed
from tools.measure import lesson
from tools.measure.excerpts import name_and_options
from tools.measure.prose_numbers import NUMBER_BEGINS, OF_TWO, PER_GB_PER_S, PER_MICROSECOND, Number, Results

MOST_BARS = 7
COST = re.compile(r"<!-- cost ((?:(?!-->).)+) -->")
CELL = re.compile(r"(?<!\\)\|")
VALUE = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)(?: (?P<unit>[µmn]?s|[GT]B/s|%|times))?")
MARKUP = re.compile(r"[`*\\]|<!--.*?-->|(?<=\])\([^()]*\)|[\[\]]")


@dataclass(frozen=True)
class Bar:
    """One bar: whose it is, what that changes, its length, the value as it is written, and how it is marked."""

    name: str
    what: str
    value: float
    text: str
    mark: str = "own"  # or "better" (than the vendor), "before", "vendor"


@dataclass(frozen=True)
class Bars:
    """Bars of one quantity: from 1 to MOST_BARS."""

    bars: list
    unit: str  # what the values are
    note: str = ""  # of which size, measured where
    about: tuple = ()  # (name, size) of the rung of the last cost

    @property
    def words(self):
        """What the bars say: the alt text."""
        return f"{self.unit}: " + ", ".join(f"{bar.name} {bar.text}" for bar in self.bars)


# ---- rows ------------------------------------------------------------------------------------------


def quantity(row, kind):
    """(value, text) of a row: its time, its rate, or its operations per nanosecond; None without it."""
    if kind == "µs":
        return rows.median(row), f"{rows.number(rows.median(row))} µs"
    value = row.get("gb_per_s" if kind == "GB/s" else "per_ns")
    return value and (value, f"{rows.rounded(value)} {kind}" if kind != "GB/s" else f"{value:,.0f} GB/s")


def vendor_of(group):
    """The fastest row of a vendor's library in a group; None without one."""
    return min((row for row in group if row["kind"] == "vendor" and rows.is_timed(row)), key=rows.median, default=None)


def above(group, row):
    """The rung above a row in its group; None for the first one."""
    own = [other for other in group if other["kind"] == "rung" and rows.is_timed(other)]
    at = next((k for k, other in enumerate(own) if other is row), 0)
    return own[at - 1] if at else None


def of_rows(results, marked, kind):
    """The Bars of [(row, mark)], each row once, those with another size or of the same name with what tells them apart."""
    there = list({id(row): (row, mark) for row, mark in marked if quantity(row, kind)}.values())[:MOST_BARS]
    sizes = {row["n"] for row, _ in there}
    names = [row["name"] for row, _ in there]
    bars = []
    for row, mark in there:
        what = [f"n = {rows.size(row['n'])}"] * (len(sizes) > 1) + [row["changed"]] * (len(sizes) == 1 or names.count(row["name"]) > 1)
        value, text = quantity(row, kind)
        bars.append(Bar(row["name"], "; ".join(what), value, text, mark))
    size = f"n = {rows.size(sizes.pop())} {results['n_means']}; " if len(sizes) == 1 else ""
    unit = {"µs": "µs, medians", "per ns": "operations per ns"}.get(kind, kind)
    return Bars(bars, unit, f"{size}{short_name(results['device'])}") if bars else None


def mark_of(row, vendor):
    """How a rung is marked beside the vendor's row of its group."""
    return "vendor" if row["kind"] == "vendor" else "better" if vendor and rows.is_faster(row, vendor) else "own"


# ---- a chapter -------------------------------------------------------------------------------------


class Measured:
    """What a chapter has measured, for the markers of its page."""

    def __init__(self, top, chapter):
        self.chapter, self.known = chapter, Results(top, chapter.folder)
        self.told = [name_and_options(marker)[0] for marker in COST.findall((chapter.folder / "README.md").read_text(encoding="utf-8"))]

    def before(self, group, row):
        """The rung above a row in its group, if the page has told what it costs before; else None."""
        other = above(group, row)
        names = self.told[: self.told.index(row["name"])] if row["name"] in self.told else self.told
        return other if other is not None and other["name"] in names else None

    def of_costs(self, texts):
        """The Bars of the costs whose markers are in these texts, all in the group that most of them are of; None without any."""
        found = {}
        for marker in (marker for text in texts for marker in COST.findall(text)):
            name, options = name_and_options(marker)
            results, headline, given = self.known.of(self.chapter.folder, None), self.chapter.headline or {}, dict(options)
            n = lesson.parsed_size(given["n"]) if "n" in given else headline.get("group", {}).get("n", results["n"])
            group, row = lesson.group_of(results, name, n, given.get("in"), headline, f"<!-- cost {marker} -->")
            against = next((other for other in group if other["name"] == given.get("against") and rows.is_timed(other)), None)
            found.setdefault(id(group[0]), []).append((results, group, row, against))
        if not found:
            return None
        costs = max(found.values(), key=len)
        results, group = costs[0][:2]
        names = [row["name"] for costs in found.values() for _, _, row, _ in costs]
        own = [row for _, _, row, _ in costs]
        own += [row for row in group if row["name"] in names and rows.is_timed(row) and row["name"] not in [other["name"] for other in own]]
        others = [against or self.before(group, row) for _, _, row, against in costs]
        earlier = [row for row in others if row is not None and not any(row is other for other in own)]
        vendor = vendor_of(group)
        room = MOST_BARS - (vendor is not None)
        kept = ([(row, "before") for row in earlier[:1]] + [(row, mark_of(row, vendor)) for row in own])[-room:]
        bars = of_rows(results, kept + [(vendor, "vendor")] * (vendor is not None), "µs")
        return replace(bars, about=(costs[-1][2]["name"], rows.size(costs[-1][2]["n"])))

    def of_numbers(self, texts):
        """The Bars of what the measured numbers in these texts are of; None if they have no rows. Of several quantities it is that of most rows."""
        found = {}
        for marker in (marker for text in texts for marker in NUMBER_BEGINS.finditer(text)):
            number = Number(self.known, marker["kind"], marker["what"], marker[0])
            kind = "µs" if number.kind in (*PER_MICROSECOND, *OF_TWO) else "GB/s" if number.kind in (*PER_GB_PER_S, "copy") else "per ns"
            if "per" in number.options or number.kind in ("result", "spread"):
                continue
            for index, name in enumerate(number.names):
                if ": " in name:
                    value, in_percent = number.counter(index)
                    rung, _, words = name.partition(": ")
                    found.setdefault(words, []).append(Bar(rung, "", value, f"{lesson.ladder_profile.shown(value)}{' %' * in_percent}"))
                elif not name.startswith("copy of "):
                    found.setdefault(kind, []).append(number.row(index))
        kind = max(found, key=lambda kind: len(set(map(str, found[kind]))), default=None)
        if kind not in ("µs", "GB/s", "per ns"):
            return Bars(list(dict.fromkeys(found[kind]))[:MOST_BARS], f"ncu: {kind}") if kind else None
        return self.beside_the_vendor(found[kind], kind)

    def beside_the_vendor(self, measured, kind):
        """The Bars of [(results, row)]; of a single row with the vendor's library, or the rung before it."""
        results = measured[0][0]
        groups = {id(row): group for group in rows.groups_of(results) for row in group}
        marked = [(row, mark_of(row, vendor_of(groups.get(id(row), [])))) for _, row in measured]
        if len({id(row) for row, _ in marked}) == 1 and kind == "µs":
            row, group = marked[0][0], groups.get(id(marked[0][0]), [])
            earlier, vendor = self.before(group, row), vendor_of(group)
            marked = [(earlier, "before")] * (earlier is not None) + marked + [(vendor, "vendor")] * (vendor is not None and vendor is not row)
        bars = of_rows(results, marked, kind)
        if len(bars.bars) == 1 and kind == "GB/s":
            copied = results["copy_gb_per_s"]
            return replace(bars, bars=[*bars.bars, Bar("a copy", "as many bytes, within the device's memory", copied, f"{copied:,.0f} GB/s", "vendor")])
        return bars


# ---- tables ----------------------------------------------------------------------------------------


def of_table(block):
    """The Bars of a table's first column of numbers; None if it has none, or too many rows."""
    lines = [[MARKUP.sub("", cell).strip() for cell in CELL.split(line.strip().strip("|"))] for line in block.split("\n")]
    head, body = lines[0], lines[2:]
    for column in range(1, len(head)):
        values = [VALUE.fullmatch(row[column]) if len(row) == len(head) else None for row in body]
        if not 2 <= len(body) <= MOST_BARS or not all(values) or len({value["unit"] for value in values}) > 1:
            continue
        numbers = [float(value["number"].replace(",", "")) for value in values]
        if min(numbers) > 0 and len(set(numbers)) > 1:
            return Bars([Bar(row[0], "", number, row[column]) for row, number in zip(body, numbers)], head[column], f"by {head[0]}" if head[0] != "rung" else "")
    return None
