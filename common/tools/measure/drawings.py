"""Drawings that are computed, from measured times or from what is given: a chapter.toml declares each as [[drawing]].

    kind    one of KINDS below
    output  the file's name, without the device's: results/h200-OUTPUT.svg
    device  optional: whose results, if not the reference's
    rows    the rows of the results, in the kind's order: rung, n, and what else the kind needs; [] where nothing measured is drawn
    given   what is known and was not measured here, such as the number of threads that a GPU holds

A README shows it at the marker <!-- drawing OUTPUT --> (tools/measure/lesson.py). No matplotlib is needed, so
`common/dev generate --check` draws each one anew.
"""

import math
from collections import namedtuple

from tools.lib import chapter as metadata
from tools.lib.chapter_results import by_device, of_gpu, slug
from tools.lib.failed import Failed
from tools.lib.rows import is_timed, median, number, size
from tools.lib.svg import Sheet, num, one_line
from tools.measure.plots import measured

WIDTH, LEFT, RIGHT = 420, 12, 408  # as narrow as a telephone
SCALE = 1.3  # how much wider than that they are shown where there is room
STYLE = """
svg { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
.page { fill: #ffffff; stroke: #d0d7de; } text { fill: #1f2328; } .soft { fill: #59636e; }
.head { font-size: 14px; font-weight: 600; } .strong { font-weight: 600; } .small { font-size: 10.5px; }
.middle { text-anchor: middle; } .end { text-anchor: end; }
.rule { stroke: #d0d7de; fill: none; } .one { stroke: #bc4c00; fill: none; } .two { stroke: #0969da; fill: none; }
.box { fill: none; stroke: #59636e; } .thin { stroke-width: 2; stroke-dasharray: 5 4; } .thick { stroke-width: 7; }
"""
DARK = """
.page { fill: #0d1117; stroke: #3d444d; } text { fill: #f0f6fc; } .soft { fill: #a2abb5; } .rule { stroke: #3d444d; }
.one { stroke: #f0883e; } .two { stroke: #4493f8; } .box { stroke: #a2abb5; }
"""

# A file, its SVG's text, and the sentence that is its alt text.
Drawing = namedtuple("Drawing", "file text alt")


class Page(Sheet):
    """A sheet of a drawing."""

    def heading(self, title, subtitle):
        self.words(title, "head", 24)
        self.words(subtitle, "small soft", 16)

    def words(self, text, style="", step=15):
        """A line of words, `step` below the one before."""
        self.new_line()
        self.y += step
        self.text(LEFT, self.y, text, style)

    def path(self, d, style, extra=""):
        self.add(f'<path d="{d}" class="{style}"{extra}/>')

    def finished(self, title, alt):
        """The SVG's text."""
        self.y += 12
        head = f"<style>{one_line(STYLE)}\n@media (prefers-color-scheme: dark) {{ {one_line(DARK)} }}</style>"
        return self.document(WIDTH, title, alt, [head], SCALE)


# ---- loads in flight over time -------------------------------------------------------------------


def loads_in_flight(results, rows, given):
    """For each row one thread of the first block: its rounds of `loads` loads, over the time of the launch."""
    title = "When are the loads of one thread in flight?"
    page = Page()
    page.heading(title, f"n = {size(rows[0][0]['n'])} {results['n_means']}; {measured(results)}")
    longest = max(median(row) for row, _ in rows)
    step = 10 ** math.floor(math.log10(longest))
    scale = (RIGHT - LEFT) / longest
    top = page.y + 14
    said, notes, bars = [], [], Page()
    bars.y = page.y + 8
    for style, (row, declared) in zip(("one", "two"), rows):
        loads, time = declared["loads"], median(row)
        rounds = math.ceil(row["n"] / (given["threads"] * loads))
        each = "1 load" if loads == 1 else f"{loads} loads"
        bars.words(f"{row['name']}: {rounds} rounds of {each}", "strong", 24)
        bars.y += 6
        wide = time / rounds * scale
        dashes = f"h{num(wide - 1)}" + f"m1 0h{num(wide - 1)}" * (rounds - 1)
        for _ in range(loads):
            bars.new_line()
            bars.path(f"M{LEFT} {num(bars.y + 3)}{dashes}", style, ' stroke-width="5"')
            bars.y += 7
        end = LEFT + time * scale
        bars.new_line()
        bars.y += 12
        bars.text(max(end, LEFT + 60), bars.y, f"{number(time)} µs", "end")
        said.append(f"{row['name']} has {each} in flight in each of {rounds} rounds, {number(time)} µs")
        megabytes = given["threads"] * loads * row["bytes"] / row["n"] / 1e6
        notes.append(f"{given['threads']:,} threads with {each}: {megabytes:.1f} MB in flight, {row['gb_per_s']:,.0f} GB/s.")
    page.new_line()
    for tick in range(0, int(longest / step) + 1):
        page.path(f"M{num(LEFT + tick * step * scale)} {num(top)}V{num(bars.y + 6)}", "rule")
    page.lines += bars.lines
    page.y = bars.y + 6
    page.new_line()
    page.y += 12
    for tick in range(0, int(longest / step) + 1):
        label = f"{tick * step:g}" + (" µs" if tick == 0 else "")
        page.text(LEFT + tick * step * scale, page.y, label, "small soft" if tick == 0 else "small soft middle")
    page.words("Computed, not traced: the time of each launch is divided evenly", step=22)
    page.words("among the rounds of a thread of the first block.")
    for note in notes:
        page.words(note)
    alt = f"One thread's loads over time: {'; '.join(said)}. The launch's time is divided evenly among the rounds"
    return title, alt, page


# ---- how an all-reduce combines the vectors of devices -------------------------------------------


def ring_steps(devices):
    """[{(from, to, part)} of a step] of a ring: a vector in as many parts as devices, each device sends to the next one."""
    rounds = range(2 * (devices - 1))  # first the sums go round, then their copies
    return devices, [{(device, (device + 1) % devices, (device - step) % devices) for device in range(devices)} for step in rounds]


def tree_steps(devices):
    """The same of a binary tree: whole vectors go up to device 0, and their sum goes down again."""
    up = [
        {(child, child - distance, 0) for child in range(distance, devices, 2 * distance)}
        for distance in (2**level for level in range((devices - 1).bit_length()))
    ]
    return 1, up + [{(parent, child, part) for child, parent, part in step} for step in reversed(up)]


def all_reduce(results, rows, given):
    """The steps of an all-reduce: what each device sends, and whose values the parts of its vector contain after it."""
    gpus = given["devices"]
    parts, steps = {"ring": ring_steps, "tree": tree_steps}[given["shape"]](gpus)
    held = [[{device} for _ in range(parts)] for device in range(gpus)]
    title = f"Who sends what to whom in a {given['shape']}? {gpus} GPUs, {len(steps)} steps"
    page = Page()
    page.heading(title, "number: how many GPUs' values the part sums; thick frame: just received")
    page.y += 12
    left, pitch = LEFT + 48, (RIGHT - LEFT - 48) / gpus
    wide, high, gap = (pitch - 12) / max(parts, 2), 18, 28

    def middle(device, part):
        return left + device * pitch + (pitch - parts * wide) / 2 + (part + 0.5) * wide

    page.new_line()
    for device in range(gpus):
        page.text(left + (device + 0.5) * pitch, page.y + 8, f"GPU {device}", "middle strong")
    page.y += 16
    sent = [0] * gpus
    for step, transfers in enumerate([set(), *steps]):
        page.new_line()
        if step:
            page.path("".join(f"M{num(middle(a, part))} {num(page.y)}L{num(middle(b, part))} {num(page.y + gap)}" for a, b, part in sorted(transfers)), "one")
            page.y += gap
        arrived = [(b, part, held[a][part] | held[b][part]) for a, b, part in transfers]
        for a, _, _ in transfers:
            sent[a] += 1
        for b, part, whose in arrived:
            held[b][part] = whose
        page.text(LEFT, page.y + 13, f"step {step}" if step else "start", "small soft")
        received = {(b, part) for b, part, _ in arrived}
        for device in range(gpus):
            for part in range(parts):
                style = ("two", ' stroke-width="2.5"') if (device, part) in received else ("box", "")
                page.rect(middle(device, part) - wide / 2, page.y, wide, high, *style)
                whose = held[device][part]
                page.text(middle(device, part), page.y + 13, str(len(whose)), "small middle strong" if len(whose) == gpus else "small middle")
        page.y += high
    if any(len(whose) != gpus for parts_of_one in held for whose in parts_of_one):
        raise ValueError("a part that does not contain the values of all devices")
    most, least = max(sent) / parts, min(sent) / parts
    each = f"{most:g}" if most == least else f"{least:g} to {most:g}"
    page.words(f"Computed. A transfer moves {'a whole vector' if parts == 1 else f'1/{parts} of a vector'};", step=22)
    page.words(f"in all steps together a GPU sends {each} vectors.")
    alt = (
        f"{gpus} GPUs combine their vectors in a {given['shape']}, in {len(steps)} steps; a transfer moves "
        f"{'a whole vector' if parts == 1 else f'a part, 1/{parts} of a vector'}, and in the end every GPU has the sum of all {gpus}"
    )
    return title, alt, page


# ---- links between GPUs --------------------------------------------------------------------------


def per_operation(row):
    """The time of one operation, "1.84 ns" or "1.06 µs"."""
    time = 1 / row["per_ns"]
    return f"{time / 1e3:.2f} µs" if time >= 1e3 else f"{time:.2f} ns"


def links(results, rows, given):
    """GPUs, the links between them and to the host; rows: an all-reduce, a counter of a GPU, one of the host."""
    all_reduce, peer, pinned = (row for row, _ in rows)
    gpus, total = given["devices"], given["links"] * given["gb_per_s_of_a_link"]
    title = f"What connects {gpus} GPUs?"
    page = Page()
    page.heading(title, measured(results))
    page.y += 12
    page.new_line()
    page.rect(LEFT, page.y, RIGHT - LEFT, 28, "box", ' rx="4"')
    page.text(WIDTH / 2, page.y + 18, "host: CPU and pinned memory", "middle strong")
    page.y += 28
    pitch = (RIGHT - LEFT) / gpus
    middles = [LEFT + (gpu + 0.5) * pitch for gpu in range(gpus)]
    page.new_line()
    page.path("".join(f"M{num(middle)} {page.y}v30" for middle in middles), "one thin")
    page.y += 30
    for gpu, middle in enumerate(middles):
        page.new_line()
        page.rect(middle - pitch / 2 + 3, page.y, pitch - 6, 52, "box", ' rx="4"')
        page.text(middle, page.y + 16, f"GPU {gpu}", "middle strong")
        page.text(middle, page.y + 31, "own memory:", "middle small soft")
        page.text(middle, page.y + 45, f"{results['copy_gb_per_s']:,.0f} GB/s", "middle small")
    page.y += 52
    page.new_line()
    page.path("".join(f"M{num(middle)} {page.y}v30" for middle in middles), "two thick")
    page.y += 30
    page.new_line()
    page.rect(LEFT, page.y, RIGHT - LEFT, 28, "box", ' rx="4"')
    page.text(WIDTH / 2, page.y + 18, "NVLink: every GPU reaches every other", "middle strong")
    page.y += 36
    for style, lines in (
        ("one thin", ["PCIe, from each GPU to the host.", f"A counter in host memory, one GPU: {per_operation(pinned)} per addition"]),
        ("two thick", [
            f"NVLink, by NVIDIA's figures {given['links']} × {given['gb_per_s_of_a_link']} = {total} GB/s each way.",
            f"An all-reduce of {all_reduce['n'] * 4 >> 30} GiB uses {all_reduce['gb_per_s']:.0f} GB/s of it.",
            f"A counter in GPU 0's memory, all {gpus}: {per_operation(peer)} per addition",
        ]),
    ):
        page.new_line()
        page.path(f"M{LEFT} {page.y + 11}h28", style)
        for line in lines:
            page.y += 15
            page.text(LEFT + 36, page.y, line)
        page.y += 5
    alt = (
        f"{gpus} GPUs: each has its own memory, {results['copy_gb_per_s']:,.0f} GB/s, {given['links']} NVLinks to the others, "
        f"by NVIDIA's figures {total} GB/s in each direction, and PCIe to the host; an all-reduce uses {all_reduce['gb_per_s']:.0f} GB/s of the "
        f"NVLinks; an addition to one counter takes {per_operation(pinned)} over PCIe and {per_operation(peer)} over NVLink"
    )
    return title, alt, page


# ---- the numbers that a type has -----------------------------------------------------------------


def spacing(results, rows, given):
    """The numbers of a floating-point type beside some powers of two, each row as many units wide as the others."""
    bits, units = given["bits"], given["units"]
    name, plural = given["type"]
    title = f"Where are {plural}? {units} units of each number line"
    page = Page()
    page.heading(title, f"tick: a {name} ({bits} significant bits); ring: a power of two, plus 1")
    said = []
    for power in given["powers"]:
        first = power - units // 2
        scale = (RIGHT - LEFT - 16) / units
        left = LEFT + 8
        below, above = (2.0 ** (math.floor(math.log2(value)) + 1 - bits) for value in (power - 1, power))
        page.words(f"{below:g} apart below {power:,}, {above:g} apart from there on", "strong", 26)
        page.y += 12
        ticks = [first + k * below for k in range(round((power - first) / below))]
        ticks += [power + k * above for k in range(math.floor((first + units - power) / above) + 1)]
        page.new_line()
        page.path(f"M{LEFT} {num(page.y)}H{RIGHT}", "rule")
        page.path("".join(f"M{num(left + (tick - first) * scale)} {num(page.y - 6)}v12" for tick in ticks), "two")
        page.path(f"M{num(left + units / 2 * scale)} {num(page.y - 10)}v20", "two", ' stroke-width="2.5"')
        after = left + (power + 1 - first) * scale
        page.add(f'<circle cx="{num(after)}" cy="{num(page.y)}" r="3.5" class="one" stroke-width="2.5"/>')
        is_there = above <= 1
        page.new_line()
        page.text(left + units / 2 * scale, page.y + 22, f"{power:,}", "small strong middle")
        page.text(after, page.y + 22, f"{power + 1:,} {'is a ' + name if is_there else f'becomes {power:,}'}", "small soft")
        page.y += 24
        said.append(f"{below:g} apart below {power:,}, {above:g} apart above, where {power + 1:,} {'is one' if is_there else 'is none'}")
    page.words("Computed: the distance doubles at each power of two.", step=22)
    return title, f"Number lines with a tick for each {name}: {'; '.join(said)}", page


# ---- all -----------------------------------------------------------------------------------------

KINDS = {"loads in flight": loads_in_flight, "all-reduce": all_reduce, "links": links, "spacing": spacing}


def row_of(results, declared, where):
    """The one timed row that a chapter.toml declares."""
    found = [row for row in results["rungs"] if (row["name"], row["n"]) == (declared["rung"], declared["n"]) and is_timed(row)]
    found = [row for row in found if not row.get("series")]
    groups = {row["group"]: row["changed"] for row in results["rungs"] if row["kind"] == "reference"}
    if "reference" in declared:
        found = [row for row in found if groups[row["group"]] == declared["reference"]]
    if len(found) != 1:
        raise Failed(f"{where}: {len(found)} rows are {declared['rung']} with n = {declared['n']:,}: name the group's 'reference'")
    return found[0]


def drawing_of(chapter, declared):
    """The Drawing of one [[drawing]]; None where the chapter has not been measured."""
    where = f"{chapter / 'chapter.toml'}: 'drawing' {declared['output']}"
    results = by_device(chapter).get(declared["device"]) if "device" in declared else of_gpu(chapter)
    if results is None:
        return None
    if declared["kind"] not in KINDS:
        raise Failed(f"{where}: its kind is none of {', '.join(KINDS)}")
    try:
        rows = [(row_of(results, row, where), row) for row in declared["rows"]]
        title, alt, page = KINDS[declared["kind"]](results, rows, declared["given"])
    except (KeyError, ValueError) as error:
        raise Failed(f"{where}: its rows or what is given do not fit: {error}") from error
    file = chapter / "results" / f"{slug(results['device'])}-{declared['output']}.svg"
    return Drawing(file, page.finished(title, alt), alt)


def of_chapter(chapter):
    """{output: Drawing} of a chapter."""
    found = {declared["output"]: drawing_of(chapter, declared) for declared in metadata.load(chapter).drawings}
    return {output: drawing for output, drawing in found.items() if drawing}
