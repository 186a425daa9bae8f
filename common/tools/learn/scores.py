"""What a challenge's ladder says of an answer: a table, an entry of the history, and the plot of the history.

The ladder's rows are the answer (named as its exercise), the course's best rung, and the vendor's libraries. On a GPU they
are times; the limit is what a copy in the same run would take for the bytes that the task must move. The CPU device
counts: sectors of 32 bytes, of which the task must move a known number, atomics and wavefronts, of which none is needed.
"""

import math

from tools.lib.rows import median, size
from tools.lib.svg import Sheet, num, one_line

SECTOR = 32  # bytes
KEPT = 100  # scores


def groups_of(results):
    """[(reference, rows)] of a ladder's results, a row for each answer that is right."""
    groups = []
    for row in results["rungs"]:
        if row["kind"] == "reference":
            groups.append((row, []))
        elif row["as_declared"]:
            groups[-1][1].append(row)
    return [group for group in groups if group[1]]


def group_name(reference):
    """What tells a group from the others of its task."""
    share = reference["changed"].rpartition("; ")[2] if "%" in reference["changed"] else ""
    return f"n = {size(reference['n'])}" + f", {share}" * bool(share)


def split(rows, name):
    """(the answer's row, the best rung's, the fastest library's); None for each that is not there."""
    yours = next((row for row in rows if row["name"] == name), None)
    best = next((row for row in rows if row["kind"] == "rung" and row["name"] != name), None)
    libraries = [row for row in rows if row["kind"] == "vendor"]
    return yours, best, min(libraries, key=median, default=None)


def sectors(row):
    counters = row["counters"]
    return counters["global_load_sectors"] + counters["global_store_sectors"]


# ---- The table ---------------------------------------------------------------------------------------


def times(results, name):
    """The lines of a GPU's table."""
    lines = [f"{'':<34}{'µs':>9}{'p10 – p90':>20}{'x library':>11}{'% of limit':>12}"]
    for reference, rows in groups_of(results):
        yours, best, library = split(rows, name)
        lines.append(group_name(reference))
        for label, row in ((name, yours), (f"the course: {best and best['name']}", best), (library and library["name"], library)):
            if row is None:
                continue
            spread = f"{row['microseconds']['p10']:,.1f} – {row['microseconds']['p90']:,.1f}"
            ratio = f"{median(library) / median(row):.2f}" if library else "–"
            lines.append(f"  {label:<32}{median(row):>9,.1f}{spread:>20}{ratio:>11}{100 * limit(row, results) / median(row):>12.0f}")
        lines.append(f"  {'the limit of memory':<32}{limit(yours or best, results):>9,.1f}")
    lines.append(f"The limit: the bytes that the task must move, at the {results['copy_gb_per_s']:,.0f} GB/s of a copy in this run.")
    return lines


def limit(row, results):
    """The microseconds that a copy takes for the bytes of a row."""
    return row["bytes"] / results["copy_gb_per_s"] / 1e3


def counts(results, name):
    """The lines of the CPU device's table."""
    lines = [f"{'':<34}{'sectors':>9}{'x least':>9}{'atomics':>10}{'shared atomics':>16}{'wavefronts':>12}"]
    for reference, rows in groups_of(results):
        yours, best, _ = split(rows, name)
        lines.append(group_name(reference))
        for label, row in ((name, yours), (f"the course: {best and best['name']}", best)):
            if row is None:
                continue
            counted = row["counters"]
            wavefronts = counted["shared_load_wavefronts"] + counted["shared_store_wavefronts"]
            lines.append(
                f"  {label:<32}{sectors(row):>9,}{sectors(row) / least(row):>9.2f}{counted['global_atomics']:>10,}"
                f"{counted['shared_atomics']:>16,}{wavefronts:>12,}"
            )
        lines.append(f"  {'the least possible':<32}{least(yours or best):>9,}{1:>9.2f}{0:>10}{0:>16}{0:>12}")
    return [
        *lines,
        "These are counts of the CPU device, and no times: a kernel with fewer of them can be slower. Sectors are the 32-byte",
        "pieces of global memory that loads and stores touch, atomics single ones, wavefronts those of loads and stores in",
        "shared memory. A GPU is needed for a time.",
    ]


def least(row):
    """The sectors that the task must move."""
    return math.ceil(row["bytes"] / SECTOR)


def table(results, name):
    """The lines to print."""
    return counts(results, name) if results["device"] == "CPU device" else times(results, name)


# ---- The history -------------------------------------------------------------------------------------


def entry(results, name, answer):
    """What is remembered of a run."""
    on_gpu = results["copy_gb_per_s"] is not None
    groups = []
    for reference, rows in groups_of(results):
        found = dict(zip(("yours", "best", "library"), split(rows, name)))
        any_row = found["yours"] or found["best"]
        numbers = {key: row and (median(row) if on_gpu else sectors(row)) for key, row in found.items()}
        groups.append({"name": group_name(reference), **numbers,
                       "limit": limit(any_row, results) if on_gpu else least(any_row)})
    return {"date": results["date"], "device": results["device"], "answer": answer[:12], "groups": groups}


STYLE = """
svg { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
.page { fill: #ffffff; stroke: #d0d7de; } text { fill: #1f2328; } .soft { fill: #59636e; } .end { text-anchor: end; }
.head { font-size: 14px; font-weight: 600; } .line { stroke-width: 2; fill: none; }
.yours { stroke: #0969da; fill: #0969da; } .best { stroke: #1a7f37; fill: #1a7f37; }
.library { stroke: #bc4c00; fill: #bc4c00; } .limit { stroke: #59636e; fill: #59636e; }
@media (prefers-color-scheme: dark) { .page { fill: #0d1117; stroke: #3d444d; } text { fill: #f0f6fc; } .soft { fill: #a2abb5; }
.yours { stroke: #4493f8; fill: #4493f8; } .best { stroke: #3fb950; fill: #3fb950; }
.library { stroke: #f0883e; fill: #f0883e; } .limit { stroke: #a2abb5; fill: #a2abb5; } }
"""
WIDTH, LEFT, RIGHT, HEIGHT = 900, 90, 650, 150
NAMES = {"yours": "your answer", "best": "the course's best rung", "library": "the library", "limit": "the limit of memory"}


def plot(scores, name):
    """The SVG of the scores of one device, the last score's: for each of its groups, your answers from the first to the last."""
    device = scores[-1]["device"]
    scores = [score for score in scores if score["device"] == device]
    unit = "sectors" if device == "CPU device" else "µs"
    sheet = Sheet()
    sheet.new_line()
    sheet.text(LEFT - 70, 28, f"{name} on {device}: {unit}, log scale; less is better", "head")
    top = 60
    for group in (group["name"] for group in scores[-1]["groups"]):
        points = [(k, found) for k, score in enumerate(scores) for found in score["groups"] if found["name"] == group]
        draw_group(sheet, top, group, points, len(scores))
        top += HEIGHT + 50
    sheet.y = top - 20
    words = f"{len(scores)} scores of {name} on {device}, from the first to the last"
    return sheet.document(WIDTH, name, words, [f"<style>{one_line(STYLE)}</style>"])


def draw_group(sheet, top, title, points, count):
    """One group: a line for each of NAMES, over the numbers of the scores; points: [(number, group)]."""
    values = [group[key] for _, group in points for key in NAMES if group[key]]
    low, high = math.log(min(values) / 1.1), math.log(max(values) * 1.1)

    def place(k, value):
        x = LEFT + (RIGHT - LEFT) * (k / (count - 1) if count > 1 else 0.5)
        return x, top + HEIGHT - HEIGHT * (math.log(value) - low) / (high - low)

    sheet.new_line()
    sheet.text(LEFT - 70, top - 6, title, "soft")
    labels = []
    for key, text in NAMES.items():
        line = [place(k, group[key]) for k, group in points if group[key]]
        if not line:
            continue
        ends = [(LEFT, line[0][1]), (RIGHT, line[0][1])] if len(line) == 1 else line
        if key == "yours":
            for x, y in line:
                sheet.add(f'<circle cx="{num(x)}" cy="{num(y)}" r="4" class="yours"/>')
        if key != "yours" or len(line) > 1:
            dashes = "" if key == "yours" else ' stroke-dasharray="6 4"'
            path = "L".join(f"{num(x)} {num(y)}" for x, y in ends)
            sheet.add(f'<path d="M{path}" class="line {key}" style="fill: none"{dashes}/>')
        labels.append((line[-1][1], f"{text}: {points[-1][1][key]:,.1f}" if points[-1][1][key] else text))
    below = top - 14
    for y, text in sorted(labels):
        below = max(y + 4, below + 14)  # no two on each other
        sheet.text(RIGHT + 14, below, text)
