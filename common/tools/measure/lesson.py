"""The generated lines of a lesson: its opening, kernels from the sources, what they cost, the list of rungs, and what comes next.

In a chapter's README.md, and in its README.zh-CN.md (tools/measure/languages.py), each on a line of its own:

    <!-- opening:begin --> and <!-- opening:end -->
        What the lesson is for, what to read before it, and how long it takes, from chapter.toml.
    <!-- next:begin --> and <!-- next:end -->
        The chapter after this one, and its question: the last line of every page but the last chapter's.
    <!-- kernel NAME -->
    <!-- kernel NAME | cut FIRST .. LAST | only FIRST .. LAST -->
        The function or struct NAME (or FILE:NAME, such as hello_sum.cu:main) of the chapter's .cuh and .cu files, or of common/include/course, and a link to
        its line. FIRST and LAST are texts that one line each of the code has. `cut` replaces these lines by
        "...", `only` shows only these; both may occur several times, `.. LAST` may be missing.
    <!-- cost NAME -->
    <!-- cost NAME | n 2^20 | in GROUP | against OTHER | profile -->
        What the rung NAME took on the reference GPU: its name, time, GB/s, and the time of the vendor's row. `n` is that of the
        headline unless given, GROUP words of the group's reference, OTHER a row of the same group to compare
        with; `profile` adds what ncu counted.
    <!-- counters NAME, NAME, ... -->
    <!-- counters LABEL = NAME, ... | time -->
        What ncu counted for these rungs, as a table; with a label the table does not say which rung it is. `time` adds
        the median of the ladder for the same n.
    <!-- drawing OUTPUT -->
        A [[drawing]] of chapter.toml (tools/measure/drawings.py), with what it shows in words.
    <!-- exercise NAME --> and <!-- exercise:end -->
        The card of an exercise (tools/measure/cards.py). The line of the end is generated, too.
    <!-- rungs:begin --> and <!-- rungs:end -->
        A table of all rungs, each with the line of its kernel.

What follows such a line is written by `common/dev generate`. Measured numbers in sentences have markers of their own
(tools/measure/prose_numbers.py).
"""

import re
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib import markers
from tools.lib import pages
from tools.lib import rows
from tools.lib.chapter_results import PROFILE, chapters_of, of_gpu
from tools.lib.failed import Failed
from tools.measure import cards, drawings, ladder_profile
from tools.measure.excerpts import chosen, name_and_options

KERNEL = re.compile(r"^<!-- kernel (.+) -->\n(?:```cuda\n(?:.*\n)*?```\n(?:\[.+\]\(.+#L\d+\)\n)?)?", re.MULTILINE)
COST = re.compile(r"^<!-- cost (.+) -->\n(?:>.*\n)*", re.MULTILINE)
COUNTERS = re.compile(r"^<!-- counters (.+) -->\n(?:\|.*\n)*", re.MULTILINE)
DRAWING = re.compile(r"^<!-- drawing (.+) -->\n(?:!\[.*\]\(.*\)\n)?", re.MULTILINE)
WORDS_A_MINUTE, LINES_A_MINUTE = 200, 10  # of prose, and of code, read with care
# A definition begins at the start of a line; clang-format ends it with a brace there. `} catch (...) {` is not its end.
END = re.compile(r"^\}(?!.*\{$).*$", re.MULTILINE)


# ---- kernels -------------------------------------------------------------------------------------


def sources_of(chapter):
    """The files in which a lesson's kernels are, the chapter's own first."""
    shared = chapter.parents[1] / "common" / "include" / "course"
    return [*sorted(chapter.glob("*.cuh")), *sorted(chapter.glob("*.cu")), *sorted(shared.glob("*.cuh"))]


def definition(text, name):
    """(offset, code) of the function or struct of this name, without the comment above it; None if there is none."""
    head = re.compile(
        rf"^(?:template <.*>\n)?(?:(?:struct|class|union) (?:alignas\([^{{]*\) )?{re.escape(name)}\b[^;(]*\{{|"
        rf"(?!using |return )[A-Za-z_](?:(?!//)[^;{{}}#])*?\b{re.escape(name)}\((?:[^;{{}}]|\{{\}})*\)[^;{{}}]*\{{)", re.MULTILINE)
    found = head.search(text)
    if found is None:
        return None
    if "\n" not in text[found.start() :] or re.search(r"\}[;]?$", text[found.start() : text.find("\n", found.end())]):
        return found.start(), text[found.start() : text.find("\n", found.end())]  # on one line
    end = END.search(text, found.end())
    return (found.start(), text[found.start() : end.end()]) if end else None


def find(chapter, name, page="README.md"):
    """(file, line, code) of the first definition of this name, or of FILE:NAME; Failed if there is none."""
    found = []
    only, _, name = name.rpartition(":")
    for file in sources_of(chapter):
        if only and file.name != only:
            continue
        text = file.read_text(encoding="utf-8")
        place = definition(text, name)
        if place:
            found.append((file, text.count("\n", 0, place[0]) + 1, place[1]))
    if not found:
        raise Failed(f"{chapter / page}: no function or struct {name} in the chapter, nor in course/")
    return found[0]


def kernel_text(chapter, text, words):
    """The marker of a kernel, and the lines that belong after it."""
    name, options = name_and_options(text)
    file, line, code = find(chapter, name, words.page)
    where = f"{chapter / words.page}: <!-- kernel {name} -->"
    code = "\n".join(chosen(code, options, where))
    return f"<!-- kernel {text} -->\n```cuda\n{code}\n```\n{link(chapter, file, line, words)}\n"


def link(chapter, file, line, words):
    """A link from the chapter's page to a line of a file."""
    target = file.relative_to(chapter) if file.is_relative_to(chapter) else Path("../..") / file.relative_to(chapter.parents[1])
    return f"[{words.line(file.name, line)}]({target}#L{line})"


# ---- costs ---------------------------------------------------------------------------------------


def parsed_size(text):
    """2^24 or 1000007 as a number."""
    base, _, power = text.partition("^")
    return int(base) ** int(power or 1)


class NotMeasured(Failed):
    """The results have no time for what a line is about."""


def group_of(results, name, n, reference, headline, where, changed="", is_wanted=rows.is_timed):
    """The rows of the group that has this rung for n, and the rung's row: of the headline's group first, L2 cold first.

    `reference` and `changed` are words of the group's reference, and of what the row changes. A row without a time is none, unless
    `is_wanted` says otherwise.
    """
    groups = rows.groups_of(results)
    if "group" in headline and not reference:
        groups.sort(key=lambda group: not rows.is_group(group, headline["group"]))
    warm = None
    for group in groups:
        if reference and reference not in f"{group[0]['name']}; {group[0]['changed']}":
            continue
        for row in group:
            if (row["name"], row["n"]) == (name, n) and changed in row["changed"] and is_wanted(row):
                if row.get("l2") != "warm":
                    return group, row
                warm = warm or (group, row)
    if warm:
        return warm
    asked = f" in {reference!r}" * bool(reference) + f" and changes {changed!r}" * bool(changed)
    raise NotMeasured(f"{where}: no row of n = {rows.size(n)} has a time{asked}")


def times_text(row, other, words):
    """How a row compares with another one, in words."""
    times = rows.median(other) / rows.median(row)
    if rows.ratio(row, other).startswith("tie"):
        return words.tie(other["name"], rows.number(rows.median(other)))
    return words.faster(other["name"], rows.rounded(times)) if times > 1 else words.slower(other["name"], rows.rounded(1 / times))


def profiled(chapter, name, where):
    """(n, counters, its row) of a rung that ncu looked at; n as in the rung's rows."""
    results, plan = of_gpu(chapter, PROFILE), metadata.load(chapter).profile
    row = next((row for row in results["rungs"] if row["name"] == name), None) if results and plan else None
    if row is None:
        raise Failed(f"{where}: there is no profile of {name}")
    return ladder_profile.rows_n(plan, name), plan["counters"], row


def counters_text(chapter, name, n, where, words):
    """What ncu counted for a rung, as a sentence."""
    profiled_n, counters, row = profiled(chapter, name, where)
    values = [(counter["name"], ladder_profile.value_of(counter, row["metrics"])) for counter in counters]
    said = [(what, ladder_profile.shown(value)) for what, value in values if value is not None]
    kernel = ladder_profile.kernel_name(row)
    of_part = None if kernel.partition("<")[0] == name.partition("<")[0] else kernel
    return words.counted(None if profiled_n == n else rows.size(profiled_n), said, of_part)


def labelled(text):
    """'A = sum, max' as [("A", "sum"), ("`max`", "max")]: what a table calls a rung, and its name."""
    pairs = [part.strip().rpartition(" = ") for part in text.split(",")]
    return [(label or f"`{name}`", name) for label, _, name in pairs]


def profiled_time(chapter, name, where):
    """A rung's median in microseconds, for the n that ncu looked at."""
    n = profiled(chapter, name, where)[0]
    return rows.median(group_of(of_gpu(chapter), name, n, None, metadata.load(chapter).headline or {}, where)[1])


def counters_table(chapter, text, words):
    """The marker of a table of counters, and the table."""
    where = f"{chapter / words.page}: <!-- counters {text} -->"
    names, options = name_and_options(text)
    if unknown := [key for key, _ in options if key != "time"]:
        raise Failed(f"{where}: unknown option '{unknown[0]}'")
    lines = []
    for label, name in labelled(names):
        n, counters, row = profiled(chapter, name, where)
        if not lines:
            heads = ["µs"] * bool(options) + [words.text(counter["name"]) for counter in counters]
            lines.append(f"| ncu, n = {rows.size(n)} | " + " | ".join(heads) + " |")
            lines.append("|---|" + "--:|" * len(heads))
        cells = [rows.number(profiled_time(chapter, name, where))] if options else []
        cells += [ladder_profile.shown(ladder_profile.value_of(counter, row["metrics"])) for counter in counters]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    table = "\n".join(lines)
    return f"<!-- counters {text} -->\n{table}\n"


def cost_text(chapter, text, words):
    """The marker of a cost, and the line that belongs after it."""
    name, options = name_and_options(text)
    where = f"{chapter / words.page}: <!-- cost {name} -->"
    given = dict(options)
    unknown = sorted(given.keys() - {"n", "in", "against", "profile"})
    results = of_gpu(chapter)
    if unknown or results is None:
        raise Failed(f"{where}: unknown option '{unknown[0]}'" if unknown else f"{where}: the chapter has no results")
    headline = metadata.load(chapter).headline or {}
    n = parsed_size(given["n"]) if "n" in given else headline.get("group", {}).get("n", results["n"])
    group, row = group_of(results, name, n, given.get("in"), headline, where)
    # The marker is invisible on a page: the line itself says whose time it is.
    said = [words.took(name, rows.number(rows.median(row)), rows.size(n) if n > 1 else None)]
    if row.get("per_ns"):
        said.append(words.per_ns(ladder_profile.shown(row["per_ns"])))
    if row.get("gb_per_s") and row["percent_of_copy"] >= 0.5:  # less says nothing: memory is idle
        said.append(words.bandwidth(f"{row['gb_per_s']:,.0f}", f"{row['percent_of_copy']:.0f}"))
    if row.get("l2") == "warm":
        said.append(words.l2_warm)
    sentences = [words.cost(said)]
    if "against" in given:
        other = next((other for other in group if other["name"] == given["against"] and rows.is_timed(other)), None)
        if other is None:
            raise NotMeasured(f"{where}: its group has no row {given['against']}")
        sentences.append(times_text(row, other, words))
    vendors = [other for other in group if other["kind"] == "vendor" and rows.is_timed(other)]
    if vendors:
        vendor = min(vendors, key=rows.median)
        sentences.append(words.vendor(vendor["name"], rows.number(rows.median(vendor))))
    if "profile" in given:
        sentences.append(counters_text(chapter, name, n, where, words))
    return f"<!-- cost {text} -->\n> {words.sentences(sentences)}\n"


def drawings_shown(chapter, text, words):
    """A README's text with the declared drawings at their markers; those that have not been measured stay as they are."""
    declared = [drawing["output"] for drawing in metadata.load(chapter).drawings]
    shown = [match[1] for match in DRAWING.finditer(text)]
    if sorted(declared) != sorted(shown):
        raise Failed(f"{chapter / words.page}: has the drawings {shown}, and chapter.toml {declared}")
    there = drawings.of_chapter(chapter)

    def embedded(match):
        drawing = there.get(match[1])
        return f"<!-- drawing {match[1]} -->\n![{words.text(drawing.alt)}](results/{drawing.file.name})\n" if drawing else match[0]

    return DRAWING.sub(embedded, text)


# ---- the list of rungs ---------------------------------------------------------------------------


def place_of(chapter, name, words):
    """A link to the line of a rung: its kernel's, main() of the program of this name, or that of the text that makes its name."""
    for word in sorted(re.findall(r"\w+", name), key=len, reverse=True):
        for file in sources_of(chapter):
            place = definition(file.read_text(encoding="utf-8"), word) if file.is_relative_to(chapter) else None
            if place:
                return link(chapter, file, file.read_text(encoding="utf-8").count("\n", 0, place[0]) + 1, words)
    program = next((program for program in metadata.load(chapter).programs if program.name == name), None)
    for file in [chapter / path for path in program.sources] if program else []:
        text = file.read_text(encoding="utf-8")
        place = definition(text, "main")
        if place:
            return link(chapter, file, text.count("\n", 0, place[0]) + 1, words)
    for end in range(len(name), 3, -1):  # a name that the source makes of parts, such as "copy_words_" and 1
        for file in filter(Path.exists, (chapter / "rungs.cuh", chapter / "ladder.cu")):
            for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
                if f'"{name[:end]}"' in line:  # a whole text: another rung's name may begin alike
                    return link(chapter, file, number, words)
    raise Failed(f"{chapter / words.page}: no kernel, and no text in rungs.cuh or ladder.cu, is called {name}")


def what_changed(points):
    """What a rung changes: what its rows all say, of "one atomic per warp; 10 % kept" and "...; 50 % kept" the first part."""
    parts = [row["changed"].split("; ") for row in points]
    return "; ".join(part for part in parts[0] if all(part in other for other in parts)) or points[0]["changed"]


def listed_rungs(rows_of):
    """The rows of each rung of a ladder, in its order: a name once, and the points of a curve together."""
    shown = {}  # a name, or that of a curve's first point: the rows
    curves = {}  # (group, series): the name of its first point
    for row in rows_of:
        if row["kind"] in ("rung", "wrong"):
            name = curves.setdefault((row["group"], row["series"]), row["name"]) if row.get("series") else row["name"]
            shown.setdefault(name, []).append(row)
    return list(shown.values())


def rungs_table(chapter, words):
    """All rungs of a ladder, in its order, each once; the points of a curve have one row."""
    lines = [words.rungs_head, "|---|---|---|"]
    for points in listed_rungs(of_gpu(chapter)["rungs"]):
        first, last = points[0], points[-1]
        is_curve = first["name"] != last["name"]
        name = words.curve(first["name"], last["name"]) if is_curve else f"`{first['name']}`"
        wrong = words.wrong if first["kind"] == "wrong" else ""
        changed = words.text(what_changed(points))
        lines.append(f"| {name} | {rows.escaped(changed)}{wrong} | {place_of(chapter, first['name'], words)} |")
    return "\n".join(lines)


# ---- the opening ---------------------------------------------------------------------------------


def reading_minutes(text):
    """How long a README takes to read: its prose, and the code that it shows. A card's time is that of its exercise."""
    text = pages.CARD.sub("", text)
    code = "\n".join(re.findall(r"^```(?:cuda|cpp)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE))
    return words(text) / WORDS_A_MINUTE + code.count("\n") / LINES_A_MINUTE


def words(text):
    """Words of prose: without tables, code, pictures, what is folded, and generated parts."""
    text = markers.ANSWERS.sub(lambda part: part[1], text)
    text = re.sub(r"<!-- (\w+):begin -->.*?<!-- \1:end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = pages.FOLD.sub("", text)
    text = markers.without_comments(text)
    text = re.sub(r"!\[.*?\]\([^)]*\)", "", text)
    return sum(len(line.split()) for line in text.splitlines() if not line.lstrip().startswith("|"))


def minutes_of(chapter, text=None, only_core=False):
    """(minutes to read, minutes for all exercises, or for those of the fast track) of a chapter, rounded to 5; `text` is its README's."""
    about = metadata.load(chapter)
    reading = reading_minutes(text or (chapter / "README.md").read_text(encoding="utf-8"))
    exercises = sum(about.minutes(exercise) for exercise in (about.core if only_core else about.exercises))
    return 5 * max(1, round(reading / 5)), exercises


def opening(chapter, text, words):
    """The first lines of a lesson; `text` is its README.md's, as the time is that of the page in English."""
    about = metadata.load(chapter)
    folders = {folder.name[:2]: folder for folder in chapters_of(chapter.parents[1])}
    missing = [number for number in about.before if number not in folders]
    if missing:
        raise Failed(f"{about.file}: 'before' names {missing[0]}, and there is no such chapter")
    before = [f"[{number}](../{folders[number].name}/{words.readme_of(folders[number])})" for number in about.before]
    reading, practice = minutes_of(chapter, text)
    exercises = [(name, pages.anchor_of(cards.title(about, name, words)), "★" * about.stars[name], about.minutes(name)) for name in about.exercises]
    return words.opening(about.learn, before, words.time(reading + practice), words.time(reading), exercises)


def next_chapter(chapter, words):
    """The last line of a lesson: the chapter after it, and its question."""
    folders = chapters_of(chapter.parents[1])
    if chapter == folders[-1]:
        raise Failed(f"{chapter / words.page}: <!-- next:begin --> in the last chapter")
    later = folders[folders.index(chapter) + 1]
    return words.next_chapter(later.name[:2], f"../{later.name}/{words.readme_of(later)}", metadata.load(later).question)


# ---- a page --------------------------------------------------------------------------------------


def has_markers(text):
    """Whether a README has generated lines."""
    return any(mark in text for mark in ("<!-- opening:begin -->", "<!-- kernel ", "<!-- cost ", "<!-- counters ", "<!-- drawing ", "<!-- exercise ", "<!-- rungs:begin -->"))


def with_generated(chapter, text, problems, words):
    """A page's text with its generated lines as they should be. What has not been measured stays as it is, and adds to `problems`."""

    def measured(make):
        def made(match):
            try:
                return make(chapter, match[1], words)
            except NotMeasured as failed:
                problems.append(str(failed))
                return match[0]

        return made

    text = KERNEL.sub(lambda match: kernel_text(chapter, match[1], words), text)
    text = COST.sub(measured(cost_text), text)
    text = COUNTERS.sub(measured(counters_table), text)
    text = drawings_shown(chapter, text, words)
    text = cards.with_generated(metadata.load(chapter), text, words)
    english = text if words.page == "README.md" else None
    for name, make in (("rungs", lambda: rungs_table(chapter, words)), ("opening", lambda: opening(chapter, english, words)), ("next", lambda: next_chapter(chapter, words))):
        if f"<!-- {name}:begin -->" in text:
            text = markers.replaced(chapter / words.page, text, name, make())
    return text
