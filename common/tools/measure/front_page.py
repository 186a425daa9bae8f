"""The generated parts of the front page and of the page of results.

In README.md and README.zh-CN.md, between <!-- map:begin --> and <!-- map:end -->: the title of each chapter's page and what its
chapter.toml says, the question, what to read before, how long the chapter takes. Between <!-- size:begin --> and <!-- size:end -->: how many exercises there are, and
how long all of it takes. Between <!-- shown:begin --> and <!-- shown:end -->: what the [[shown]] tables of
chapters/measured.toml name, where one starts and where one ends:

    [[shown]]
    what = "the sum of 2^24 floats"
    start = {chapter = "01-global-atomic", rung = "sum_global_atomic", n = 16_777_216}
    end = {chapter = "05-warp-shuffle", rung = "sum_two_cells", n = 16_777_216}     # in = "words of its group"

The ratio of each device follows: to the library, or to the start where there is none.

In common/docs/instructors.md: the hours of rows that name chapters, such as `| 2 | 03, 04 | 7.2 |`.

In common/docs/results.md, between <!-- front:begin --> and <!-- front:end -->: every chapter's best rung against the
vendor's library, as a table and as the plot best-rungs.svg. The plot is of the reference device; the table has columns for each
device that chapters/measured.toml names as `beside`.
"""

import re
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib import pages
from tools.lib.chapter_results import REFERENCE, beside, chapters_of, of_device, of_gpu, short_name
from tools.lib.failed import Failed
from tools.lib.rows import NONE, escaped, is_faster, is_timed, median, ratio
from tools.measure import cards, headline, languages, lesson

LEAST_WIN = 1.03  # what is faster by less is called a tie
LEGEND = {  # what the marks of the plot mean
    "better": "faster by 3\u00a0% or more than the fastest of the vendor's libraries that do the same job",
    "tie": "as fast as it: within 3\u00a0%, or within what runs differ by",
    "slower": "slower than it by 3\u00a0% or more",
    "none": "no library does the job: against what is named beside it",
}
PLOT = Path("common") / "docs" / "best-rungs.svg"


# ---- the results ---------------------------------------------------------------------------------


def mark_of(head):
    """better or slower than the vendor's library by 3 % or more, tie, or none where there is no such library."""
    if not head.vendor:
        return "none"
    if is_faster(head.best, head.against) and head.ratio >= LEAST_WIN:
        return "better"
    return "slower" if is_faster(head.against, head.best) and head.ratio <= 1 / LEAST_WIN else "tie"


def sentence(measured):
    """Where, when and how all of it was measured."""
    devices = " and ".join(sorted({f"{results['device']}, CUDA {results['cuda']}" for results, _ in measured}))
    dates = sorted({results["date"][:10] for results, _ in measured})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{devices}, measured {when}"


def finding(measured):
    """What the plot shows, in one or two sentences: its alt text."""
    heads = {mark: [head for _, head in measured if mark_of(head) == mark] for mark in ("better", "tie", "slower", "none")}

    def named(mark):
        ratios = [(head.chapter[:2], head.ratio_text.removeprefix("tie (").rstrip(")")) for head in heads[mark]]
        return ", ".join(f"{number} ({ratio})" for number, ratio in ratios)

    text = f"The best rungs are faster than the vendor's library in {len(heads['better'])} of "
    text += f"{len(measured) - len(heads['none'])} chapters" + f": {named('better')}" * bool(heads["better"])
    text += f"; as fast in {named('tie')}" * bool(heads["tie"])
    text += f"; slower in {named('slower')}" * bool(heads["slower"]) + "."
    if heads["none"]:
        others = [f"{head.chapter[:2]} runs at {head.ratio_text} of {head.against_name}" for head in heads["none"]]
        text += f" Without such a library: {'; '.join(others)}.".replace("`", "")
    return text


def plot(measured):
    """The description of the front page's plot."""
    rows = []
    for _, head in measured:
        rows.append({
            "name": f"{head.chapter[:2]}  {head.best['name']}",
            "what": head.what_of(head.rows),
            "ratio": head.ratio,
            "ratio_text": head.ratio_text,
            "against": head.against_name.replace("`", ""),
            "mark": mark_of(head),
        })  # fmt: skip
    return {
        "kind": "ratios",
        "title": "Is the best rung of each chapter faster than the vendor's library?",
        "subtitle": sentence(measured),
        "axis": "times as fast, log scale; right of 1x is faster; //: the bar goes on",
        "rows": rows,
        "legend": [(mark, text) for mark, text in LEGEND.items() if any(row["mark"] == mark for row in rows)],
        "finding": finding(measured),
    }


def results_part(top):
    """The Markdown between the front markers, and the plot's description; None if nothing is measured."""
    loaded = {folder: headline.load(folder) for folder in chapters_of(top)}
    measured = [found for found in loaded.values() if found]
    missing = [folder.name for folder, found in loaded.items() if not found]
    later = ["", f"Not measured yet: {', '.join(missing)}."] if missing else []
    if not measured:
        return "\n".join(later).strip(), None
    others = {
        device: {head.chapter: headline.elsewhere(top / "chapters" / head.chapter, device, head) for _, head in measured}
        for device in beside(top)
    }
    devices = [measured[0][0]["device"], *others]
    columns = [f"{short_name(device)}: {what}" for device in devices for what in ("best, µs", "against, µs", "ratio")]
    lines = [
        f"![{escaped(finding(measured))}]({PLOT.name})",
        "",
        f"| | the best rung | against | {' | '.join(columns)} |",
        "|---|---|---|" + "--:|" * len(columns),
    ]
    notes = []
    for _, head in measured:
        number = head.chapter[:2]
        if head.note:
            notes.append(f"{number}: {head.note}")
        cells = [
            f"[{number}](../../chapters/{head.chapter}/README.md)",
            f"{head.what_of(head.rows)}: `{head.best['name']}`, {escaped(head.best['changed'])}",
            f"`{head.against_name}`" if head.vendor else f"no library; {head.against_name}",
            *times_of(head),
        ]
        for device, found in others.items():
            there = found[head.chapter] and found[head.chapter][1]
            cells += times_of(there, head.against_name) if there else [NONE] * 3
            if there and there.faster:
                notes.append(f"{number}: on the {short_name(device)} `{there.faster[0]['name']}` is faster, {median(there.faster[0]):,.1f}\u00a0µs.")
        lines.append("| " + " | ".join(cells) + " |")
    when = [measured, *([there for there in found.values() if there] for found in others.values())]
    where = "; ".join(sentence(of_one) for of_one in when if of_one)
    said = f"{where}; medians. The ratio says how many times as fast; **bold** is faster than the library by 3\u00a0% or more."
    dash = f"{NONE}: not measured on this card." if any(None in found.values() for found in others.values()) else ""
    lines += ["", " ".join(filter(None, [said, dash, *notes]))]
    return "\n".join(lines + later), plot(measured)


def times_of(head, expected=None):
    """Three cells of the table: the times of the best rung and of what it is compared with, named if it is not as expected, and the ratio."""
    against = f"{median(head.against):,.1f}" + (f" (`{head.against_name}`)" if expected not in (None, head.against_name) else "")
    return [f"{median(head.best):,.1f}", against, f"**{head.ratio_text}**" if mark_of(head) == "better" else head.ratio_text]


# ---- from the start to the end -------------------------------------------------------------------


def shown_row(top, entry, place, device=None):
    """(row of the rung, rows of its group) that one end of an entry names, on the reference device or on another one."""
    chapter = top / "chapters" / entry["chapter"]
    results = of_device(chapter, device) if device else of_gpu(chapter)
    where = f"{top / REFERENCE}: {place}"
    if results is None:
        raise lesson.NotMeasured(f"{where}: {entry['chapter']} has no results")
    group, row = lesson.group_of(results, entry["rung"], entry["n"], entry.get("in"), {}, where)
    return row, group


def shown_times(top, entry, device=None):
    """(row of the start, row of the end, row of the library or None) of an entry."""
    start, _ = shown_row(top, entry["start"], f"'{entry['what']}', start", device)
    end, group = shown_row(top, entry["end"], f"'{entry['what']}', end", device)
    vendors = [row for row in group if row["kind"] == "vendor" and is_timed(row)]
    return start, end, min(vendors, key=median, default=None)


def shown_ratio(start, end, library, words):
    """How many times as fast as the library the end is; as the start where there is no library."""
    return ratio(end, library) if library else words.of_the_start(ratio(end, start))


def shown_part(top, entries, words):
    """The Markdown between the shown markers: where one starts, where one ends, what the library takes, and the ratio on each device."""
    devices = sorted({of_gpu(top / "chapters" / entry["end"]["chapter"])["device"] for entry in entries})
    others = beside(top)
    lines = [words.shown_head([short_name(device) for device in [*devices, *others]]), "|---|--:|--:|--:|" + "--:|" * (1 + len(others))]
    for entry in entries:
        start, end, library = shown_times(top, entry)
        cells = [
            words.text(entry["what"]), f"{median(start):,.1f}\u00a0µs", f"**{median(end):,.1f}\u00a0µs**",
            f"{median(library):,.1f}\u00a0µs ({library['name']})" if library else NONE, shown_ratio(start, end, library, words),
        ]
        for device in others:
            try:
                cells.append(shown_ratio(*shown_times(top, entry, device), words))
            except lesson.NotMeasured:
                cells.append(NONE)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", words.measured_on(devices, others)])


# ---- how much it is ------------------------------------------------------------------------------


def size_part(top, words):
    """The Markdown between the size markers: how many exercises there are, and how long all and the fast track take."""
    folders = chapters_of(top)
    chapters = [metadata.load(folder) for folder in folders]
    hours, fast_hours = (
        round(sum(sum(lesson.minutes_of(folder, only_core=only_core)) for folder in folders) / 60) for only_core in (False, True)
    )
    exercises, core = (sum(len(names) for names in lists) for lists in zip(*((about.exercises, about.core) for about in chapters)))
    return words.size(hours, exercises, fast_hours, core)


# ---- the map -------------------------------------------------------------------------------------


def links_before(about, folders, words):
    """Links to the chapters to read before this one; Failed if there is no such chapter."""
    links = []
    for number in about.before:
        before = next((folder for folder in folders if folder.name.startswith(f"{number}-")), None)
        if before is None:
            raise Failed(f"{about.file}: 'before' names {number}, and there is no such chapter")
        links.append(f"[{number}](chapters/{before.name}/{words.readme_of(before)})")
    return ", ".join(links) or "–"


def title_of(page):
    """The title of a chapter's page up to its colon; the folder's name where it has none."""
    titles = [title for level, title in pages.HEADING.findall(pages.without_fences(page.read_text(encoding="utf-8"))) if level == "#"]
    return re.split("[:：]", titles[0])[0] if titles else page.parent.name


def map_part(top, words):
    """The Markdown between the map markers. The exercises of the fast track are bold."""
    folders = chapters_of(top)
    lines = [words.map_head, "|---|---|---|--:|---|"]
    for folder in folders:
        about = metadata.load(folder)
        own = f"chapters/{folder.name}/{words.readme_of(folder)}"
        its_words = words if words.readme_of(folder) == words.page else languages.English(top)
        links = []
        for name in about.exercises:
            link = f"[{name}]({own}#{pages.anchor_of(cards.title(about, name, its_words))})"
            links.append(f"{f'**{link}**' if name in about.core else link} {'★' * about.stars[name]}")
        cells = [
            f"[{title_of(top / own)}]({own})",
            escaped(words.text(about.question)),
            links_before(about, folders, words),
            words.time(sum(lesson.minutes_of(folder))).replace(" ", "\u00a0"),
            ", ".join(links) or "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    times = ", ".join(f"{minutes}" for minutes in metadata.MINUTES_OF_STARS.values())
    return "\n".join([*lines, "", words.map_note(lesson.WORDS_A_MINUTE, lesson.LINES_A_MINUTE, times)])


# ---- the syllabus --------------------------------------------------------------------------------


def with_hours(top, text):
    """A page with the hours of the map in the rows that name chapters; a row with a chapter that is not there stays as it is."""
    minutes = {folder.name[:2]: sum(lesson.minutes_of(folder)) for folder in chapters_of(top)}

    def row(match):
        numbers = match["chapters"].split(", ")
        if not minutes.keys() >= set(numbers):
            return match[0]
        return f"{match['head']}{sum(minutes[number] for number in numbers) / 60:.1f} |"

    return re.sub(r"^(?P<head>\|[^|]*\| (?P<chapters>\d\d(?:, \d\d)*) \| )\d+\.\d \|", row, text, flags=re.MULTILINE)
