"""The measured numbers in a page's sentences: each is written from the results, between two comments that no reader sees.

    The sum takes <!-- µs sum_pack -->25.5 µs<!-- / -->, which is <!-- times sum_pack / sum_two_cells -->1.19<!-- / --> times as long.

In the README.md and README.zh-CN.md of a chapter, on the front page and on the pages of common/docs:

    <!-- µs NAME -->          the median time of the rung, or of the vendor's row, NAME, with its unit; also ms, ns and s.
                              `A - B` and `A + B` are a difference and a sum, `copy of NAME` is the time in which a copy moves
                              as many bytes
    <!-- GB/s NAME -->        its bandwidth, with the unit; also TB/s
    <!-- copy NAME -->        the same in percent of the copy bandwidth
    <!-- per-ns NAME -->      its operations per nanosecond, or elements where its row counts no operations, a number alone
    <!-- result NAME -->      what the row has as its result, a whole number alone; also of rungs that are wrong on purpose
    <!-- spread NAME -->      by how many percent the medians of its runs differ
    <!-- ncu NAME: WORDS -->  what the counter whose name begins with these words showed, with % if it counts percent
    <!-- times A / B -->      how many times as long as B A takes, a number alone; a sentence that says "B is as many times as fast as
                              A" has the same. Of counters (`A: WORDS / B: WORDS`) their quotient
    <!-- share A / B -->      the time of A in percent of that of B
    <!-- longer A / B -->     how many percent longer A takes than B
    <!-- shorter A / B -->    how many percent shorter

NAME is `05:NAME` for a rung of another chapter. Options follow, in a table after `\\|`. One with ` / ` in it has a value for each name:

    | n 2^20          the size; by default that of the headline, or the only one for which the rung has a time
    | in WORDS        of the group with these words in its reference
    | row WORDS       of the row with these words in what it changes
    | on 4x-h200      of the results in this file; by default of the reference GPU
    | per COUNT       divided by this number; `per n` divides each time by its row's n
    | digits 2        so many significant digits
    | bare            without the unit, where another number follows that has it

What was measured by hand says when and how, and what was not measured says where it comes from; both are written by a person:

    <!-- measured 2026-11-22: H200, CUDA 13.0, with the headers of CCCL 3.6 -->37 µs<!-- / -->
    <!-- given NVIDIA's data sheet -->4.8 TB/s<!-- / -->

A marker may not begin a line or a point of a list: Markdown would take what follows for HTML.
"""

import functools
import math
import re

from tools.lib import chapter as metadata
from tools.lib import rows
from tools.lib.chapter_results import chapters_of, file_of, of_gpu, read
from tools.lib.failed import Failed
from tools.measure import ladder_profile, lesson

PER_MICROSECOND = {"s": 1e-6, "ms": 1e-3, "µs": 1.0, "ns": 1e3}
PER_GB_PER_S = {"GB/s": 1.0, "TB/s": 1e-3}
OF_TWO = ("times", "share", "longer", "shorter")
KINDS = (*PER_MICROSECOND, *PER_GB_PER_S, "copy", "per-ns", "result", "spread", "ncu", *OF_TWO)
END = "<!-- / -->"
KIND = "|".join(map(re.escape, KINDS))
NUMBER_BEGINS = re.compile(rf"<!-- (?P<kind>{KIND}) (?P<what>(?:(?!-->)[^\n])+) -->")
NUMBER = re.compile(rf"{NUMBER_BEGINS.pattern}(?P<text>(?:(?!<!--)[^\n])*){END}")
BY_HAND = re.compile(rf"<!-- (?P<kind>measured|given) (?P<source>(?:(?!-->)[^\n])+) -->(?P<text>(?:(?!<!--)[^\n])*){END}")
MEASURED_WHEN = re.compile(r"(?:by )?\d{4}-\d\d-\d\d: \S.*")
BEGINS_A_LINE = re.compile(rf"^[ >]*(?:(?:[-*+]|\d+\.) +)?<!-- (?:(?:{KIND}|measured|given) [^\n]*|/ -->)", re.MULTILINE)
OF_EACH = ("n", "in", "row", "on")  # options that may have a value for each name
OPTIONS = (*OF_EACH, "per", "digits", "bare")


def significant(value, digits):
    """A number with so many significant digits: 0.6 with 2 as "0.60", 29466.1 with 1 as "30,000"."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


class Results:
    """What chapters measured, each read once for a page. `own` is the page's chapter, None on a page of no chapter."""

    def __init__(self, top, own):
        self.own = own
        self.folders = {folder.name[:2]: folder for folder in chapters_of(top)}
        self.of = functools.cache(results_of)
        self.headline = functools.cache(lambda folder: metadata.load(folder).headline or {})

    def chapter_of(self, name, where):
        """(folder, name) of '05:name', or of a name of the page's chapter."""
        number, _, other = name.partition(":")
        if not re.fullmatch(r"\d\d", number):
            if self.own is None:
                raise Failed(f"{where}: a page of no chapter names one: 05:{name}")
            return self.own, name
        if number not in self.folders:
            raise Failed(f"{where}: there is no chapter {number}")
        return self.folders[number], other


def results_of(folder, slug):
    """A chapter's results on the reference GPU, or those in SLUG.json; Failed without them."""
    if slug:
        file = file_of(folder, slug)
        if not file.exists():
            raise Failed(f"{file} is missing")
        return read(file)
    found = of_gpu(folder)
    if found is None:
        raise Failed(f"{folder}: the chapter has no results")
    return found


def usual_size(results, name, headline, is_wanted):
    """The size of the headline, or the only one of the rung's rows that are wanted."""
    size = headline.get("group", {}).get("n", results["n"])
    sizes = {row["n"] for row in results["rungs"] if row["name"] == name and is_wanted(row)}
    return sizes.pop() if size not in sizes and len(sizes) == 1 else size


class Number:
    """The number that a marker stands for."""

    def __init__(self, results, kind, what, where):
        names, options = lesson.name_and_options(what.replace(r"\|", "|"))
        self.results, self.kind, self.where = results, kind, where
        self.options = dict(options)
        if unknown := sorted(self.options.keys() - set(OPTIONS)):
            raise Failed(f"{where}: unknown option '{unknown[0]}'")
        # "A - B" is ["A", "-", "B"]; what two names are compared by is " / ".
        separator = r" (/) " if kind in OF_TWO else r" ([-+]) " if kind in PER_MICROSECOND else r"($.)"
        self.names, self.signs = re.split(separator, names)[::2], re.split(separator, names)[1::2]
        if kind in OF_TWO and len(self.names) != 2:
            raise Failed(f"{where}: needs two names: {kind} A / B")

    def option(self, key, index):
        """The value of an option for one of the names; None if it is not given."""
        values = self.options[key].split(" / ") if key in self.options else [None]
        if len(values) not in (1, len(self.names)):
            raise Failed(f"{self.where}: {len(values)} values of '{key}', and {len(self.names)} names")
        return values[index if len(values) > 1 else 0]

    # ---- rows

    def row(self, index):
        """(results, row) of one of the names."""
        folder, name = self.results.chapter_of(self.names[index].removeprefix("copy of "), self.where)
        results, headline = self.results.of(folder, self.option("on", index)), self.results.headline(folder)
        is_wanted = (lambda row: row.get("result") is not None) if self.kind == "result" else rows.is_timed
        n = self.option("n", index)
        n = lesson.parsed_size(n) if n else usual_size(results, name, headline, is_wanted)
        group, changed = self.option("in", index), self.option("row", index) or ""
        return results, lesson.group_of(results, name, n, group, headline, self.where, changed, is_wanted)[1]

    def amount(self, index):
        """What is added, or divided, of one of the names: microseconds, of one element with `per n`, or a counter."""
        name = self.names[index]
        if ": " in name:
            return self.counter(index)[0]
        results, row = self.row(index)
        time = row["bytes"] / results["copy_gb_per_s"] / 1e3 if name.startswith("copy of ") else rows.median(row)
        return time / row["n"] if self.options.get("per") == "n" else time

    def counter(self, index):
        """(value, whether it is in percent) of the counter after a name's colon."""
        name, _, words = self.names[index].partition(": ")
        folder, name = self.results.chapter_of(name, self.where)
        _, counters, row = lesson.profiled(folder, name, self.where)
        found = [counter for counter in counters if counter["name"].startswith(words)]
        value = ladder_profile.value_of(found[0], row["metrics"]) if len(found) == 1 else None
        if not words or value is None:
            known = ", ".join(counter["name"] for counter in counters)
            raise Failed(f"{self.where}: '{words}' has to begin the name of one counter with a value: {known}")
        return value, "%" in found[0]["name"]

    # ---- the text

    def divided(self, value):
        """A value, divided by the count that `per` says."""
        per = self.options.get("per", "n")
        return value if per == "n" else value / lesson.parsed_size(per.replace(",", ""))

    def shown(self, value, usual):
        """A value with as many digits as the marker asks for, or else in its usual form."""
        digits = self.options.get("digits")
        return significant(value, int(digits)) if digits else usual(value)

    def text(self):
        """The text between the comments."""
        number, unit = self.number_and_unit()
        return number if "bare" in self.options else number + unit

    def number_and_unit(self):
        if self.kind in PER_MICROSECOND:
            value = self.amount(0) + sum(self.amount(i) * (1 if sign == "+" else -1) for i, sign in enumerate(self.signs, 1))
            usual = rows.number if self.kind == "µs" else ladder_profile.shown
            return self.shown(self.divided(value * PER_MICROSECOND[self.kind]), usual), f" {self.kind}"
        if self.kind in OF_TWO:
            return self.compared(self.divided(self.amount(0) / self.amount(1)))
        if self.kind == "ncu":
            value, in_percent = self.counter(0)
            return self.shown(value, ladder_profile.shown), " %" if in_percent else ""
        row = self.row(0)[1]
        if self.kind == "per-ns":
            return self.shown(self.divided(row.get("per_ns") or row["n"] / rows.median(row) / 1e3), ladder_profile.shown), ""
        if self.kind == "result":
            return self.shown(row["result"], lambda result: f"{result:,.0f}"), ""
        if self.kind == "spread":
            return self.shown(100 * rows.spread(row), lambda percent: f"{percent:.0f}"), " %"
        key = "percent_of_copy" if self.kind == "copy" else "gb_per_s"
        value = row.get(key)
        if value is None:
            raise Failed(f"{self.where}: the row has no {key}")
        if self.kind == "copy":
            return self.shown(value, lambda percent: f"{percent:.0f}"), " %"
        usual = (lambda rate: f"{rate:,.0f}") if self.kind == "GB/s" else ladder_profile.shown
        return self.shown(value * PER_GB_PER_S[self.kind], usual), f" {self.kind}"

    def compared(self, quotient):
        """(number, unit) of a comparison, whose first value is `quotient` times the second one."""
        if self.kind == "times":
            return self.shown(quotient, ladder_profile.shown), ""
        percent = 100 * {"share": quotient, "longer": quotient - 1, "shorter": 1 - quotient}[self.kind]
        if percent < 0:
            raise Failed(f"{self.where}: it is not {self.kind}: {self.names[0]} takes {quotient:.3g} times as long as {self.names[1]}")
        return self.shown(percent, lambda value: f"{value:.0f}"), " %"


# ---- a page --------------------------------------------------------------------------------------


def has_markers(text):
    """Whether a page has numbers that are written from results, or says of some where they come from."""
    return re.search(rf"<!-- (?:{KIND}|measured|given|/) ", text) is not None


def wrong_markers(page, text):
    """A line for each marker that is none, or that Markdown would not take for a part of a sentence."""
    found = [f"{page}: a marker may not begin a line, write a word before it: {match[0].strip()}" for match in BEGINS_A_LINE.finditer(text)]
    for line in re.findall(r"^ *\|.*", text, re.MULTILINE):
        found += [f"{page}: a marker in a table needs \\| for its |, which would end the cell: {match[0]}"
                  for match in NUMBER_BEGINS.finditer(line) if re.search(r"(?<!\\)\|", match["what"])]
    for match in BY_HAND.finditer(text):
        if match["kind"] == "measured" and not MEASURED_WHEN.fullmatch(match["source"]):
            found.append(f"{page}: says when and how, such as <!-- measured 2026-11-22: H200, CUDA 13.0 -->: {match[0]}")
    rest = BY_HAND.sub("", NUMBER.sub("", text))
    for match in re.finditer(rf"<!-- (?:{KIND}|measured|given) [^\n]*|[^\n]*{END}", rest):
        found.append(f"{page}: is no marker of a number with its end {END} on the same line: {match[0].strip()}")
    return found


def with_numbers(top, page, folder, text, problems):
    """A page's text with its numbers as the results have them. What cannot be made stays as it is, and adds to `problems`."""
    problems += wrong_markers(page, text)
    results = Results(top, folder)

    def made(match):
        marker = f"<!-- {match['kind']} {match['what']} -->"
        try:
            return f"{marker}{Number(results, match['kind'], match['what'], f'{page}: {marker}').text()}{END}"
        except Failed as failed:
            problems.append(str(failed))
            return match[0]

    return NUMBER.sub(made, text)
