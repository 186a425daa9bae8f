"""Reads a trace that the CPU device wrote (SIMT_TRACE=FILE), and puts its events into words.

picture.py draws with it; the numbers and texts of the drawing and of the HTML page come from here. A
trace is one JSON object; common/simt/README.md, "Traces", says what stands in it.
"""

import json
import re
import struct
from collections import namedtuple
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
WARP = 32
SECTOR = 32  # bytes
BANKS, WORD = 32, 4  # shared memory: 32 banks of 4-byte words
MEMORY = ("load", "store", "atomic")
LONGEST_PERIOD = 12  # events of a loop's round that are looked for when folding

# What the caller asked for, or what was found in its place; `reason` says why.
Choice = namedtuple("Choice", "launch block warp reason")
# A run of rounds of a loop that look alike: `events` is how many one round has.
Fold = namedtuple("Fold", "events rounds")
# What one lane touches: the array's number, and bytes from `begin` to before `end`. Bytes are counted from
# a multiple of 128 at or before the array's first element, so that they tell sectors and banks.
Touch = namedtuple("Touch", "lane array begin end")


class TraceError(Exception):
    """What is wrong with a trace or a choice in it, for the user."""


# ---- words that hold other numbers ------------------------------------------------------------------


def float_text(bits):
    """The shortest text that reads back as the float with these bits."""
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if value != value or struct.pack("<f", float(text)) == struct.pack("<f", value):
            break
    return text


def numbers_in(word, size, element):
    """A word of `size` bytes, an integer, as the numbers of type `element` that it holds: "1.5", "(1.5, 2)" for two."""
    of_type = {
        "float": (4, float_text),
        "double": (8, lambda bits: f"{struct.unpack('<d', struct.pack('<Q', bits))[0]:.17g}"),
        "half": (2, lambda bits: f"{struct.unpack('<e', struct.pack('<H', bits))[0]:g}"),
        "__nv_bfloat16": (2, lambda bits: float_text(bits << 16)),
    }
    element_size, text = of_type[{"half2": "half", "__nv_bfloat162": "__nv_bfloat16"}.get(element, element)]
    count = size // element_size
    texts = [text(word >> 8 * element_size * k & (1 << 8 * element_size) - 1) for k in range(count)]
    return texts[0] if count == 1 else f"({', '.join(texts)})"


def read_swaps(launch):
    """Says for each atomicCAS which lanes stored, and turns its words into the numbers that the array holds.

    atomicCAS compares integers, so a recorded word of a float array is its bits.
    """
    for event in launch["events"]:
        if not event.get("expected"):
            continue
        old = event.get("old") or []
        event["stored"] = [a is not None and a == b for a, b in zip(event["expected"], old)]
        element = next((launch["arrays"][place[0]]["type"] for place in event["places"] if place), None)
        for key in ("expected", "values", "old"):
            words = event.get(key) or []
            try:
                event[key] = [word and numbers_in(int(word), event["bytes"], element) for word in words]
            except (KeyError, ValueError, struct.error):
                pass  # the array holds integers, or something that is not known


# ---- names ------------------------------------------------------------------------------------------


def short_name(name, number):
    """An array's name as it fits into a drawing: without casts; "array 3" for one that is known by its size only."""
    while True:
        inner = re.fullmatch(r"\((.*)\)|(?:reinterpret|static|const)_cast<.*?>\((.*)\)", name)
        if not inner:
            break
        name = inner[1] or inner[2]
    return f"array {number}" if not name or " allocated at " in name else name


# ---- reading ---------------------------------------------------------------------------------------


def load(file):
    """The trace in `file`, a dictionary as the recorder wrote it. Raises TraceError."""
    try:
        trace = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise TraceError(f"{file}: no trace, or one that was cut off: {error}") from error
    if not isinstance(trace, dict) or trace.get("schema") != 1:
        raise TraceError(f"{file}: no trace of schema 1; SIMT_TRACE=FILE makes one")
    if not trace.get("launches"):
        raise TraceError(f"{file}: no launch is recorded in it")
    for launch in trace["launches"]:
        for number, array in enumerate(launch["arrays"], 1):
            array["full_name"], array["name"] = array["name"], short_name(array["name"] or "", number)
            array.setdefault("offset", 0)  # a trace of the first recorder has none
        read_swaps(launch)
    return trace


def lanes_of(mask):
    """The lanes of a mask such as "0x0000ffff", ascending."""
    bits = int(mask, 16)
    return [lane for lane in range(WARP) if bits >> lane & 1]


def per_lane(event, key):
    """{lane: entry} of one of the lists that an event has for its lanes; entries that are null are left out."""
    entries = event.get(key) or []
    return {lane: entry for lane, entry in zip(lanes_of(event["lanes"]), entries) if entry is not None}


def threads(dimensions):
    """How many threads a block, or blocks a grid, [x, y, z] has."""
    product = 1
    for extent in dimensions:
        product *= extent
    return product


def lanes_in_warp(launch, warp):
    """How many lanes of this warp exist: the last one of a block may be cut off."""
    return max(0, min(WARP, threads(launch["block"]) - WARP * warp))


def source_lines(file):
    """The lines of a source file that a trace names; none if it cannot be read."""
    try:
        return (TOP / file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def short_kernel(name):
    """A template's name without its arguments: sum<float> is sum."""
    return name.split("<")[0].split("(")[0].strip()


# ---- choosing --------------------------------------------------------------------------------------


def is_full_access(event):
    """True for an access to memory by all 32 lanes."""
    return event["op"] in MEMORY and int(event["lanes"], 16) == 2**WARP - 1


def warps_of(launch):
    """The (block, warp) pairs that have events, in the order in which they appear."""
    return list(dict.fromkeys((event["block"], event["warp"]) for event in launch["events"]))


def warp_of_finding(launch):
    """The first (block, warp) with events that a finding names; None if there is none."""
    there = warps_of(launch)
    for finding in launch["findings"]:
        for block, thread in re.findall(r"\bblock (\d+) thread (\d+)", finding):
            pair = (int(block), int(thread) // WARP)
            if pair in there:
                return pair
    return None


def named_places(launch):
    """The (file, line) pairs that the findings of a launch name, each once."""
    found = re.findall(r"\bat (\S+):(\d+)", "\n".join(launch["findings"]))
    return list(dict.fromkeys((file, int(line)) for file, line in found))


def describe_launch(launch):
    """kernel<<<grid, block>>>, as it stands in a source."""

    def extents(dimensions):
        while len(dimensions) > 1 and dimensions[-1] == 1:
            dimensions = dimensions[:-1]
        return str(dimensions[0]) if len(dimensions) == 1 else f"({', '.join(map(str, dimensions))})"

    return f"{launch['kernel']}<<<{extents(launch['grid'])}, {extents(launch['block'])}>>>"


def choose(trace, number=None, kernel=None, block=None, warp=None, among=None, findings=True):
    """The Choice of launch, block and warp; `number` counts all launches, from 1. Raises TraceError.

    Without a number: the first launch with a finding (unless `findings` is false), else the smallest that
    fills a warp and touches memory, else the first with events. `among` are the numbers to choose from.
    """
    launches = trace["launches"]
    if number is not None and not 1 <= number <= len(launches):
        raise TraceError(f"--launch {number}: the trace has the launches 1 to {len(launches)}; --list names them")
    candidates = [
        i for i, launch in enumerate(launches)
        if (i == number - 1 if number is not None else among is None or i + 1 in among)
        and (kernel is None or kernel in (launch["kernel"], short_kernel(launch["kernel"])))
    ]
    if not candidates:
        names = ", ".join(dict.fromkeys(short_kernel(launch["kernel"]) for launch in launches))
        which = f"--kernel {kernel}" if number is None else f"--launch {number} --kernel {kernel}"
        raise TraceError(f"{which}: no such launch; the trace has {names}")
    found = [i for i in candidates if findings and launches[i]["findings"]]
    full = [i for i in candidates if any(is_full_access(event) for event in launches[i]["events"])]
    some = [i for i in candidates if launches[i]["events"]]
    if number is not None:
        chosen, reason = number - 1, "as asked"
    elif found:
        chosen, reason = found[0], "the first with a finding"
    elif full:
        size = {i: threads(launches[i]["grid"]) * threads(launches[i]["block"]) for i in full}
        chosen, reason = min(full, key=lambda i: size[i]), "the smallest that fills a warp and touches memory"
    elif some:
        chosen, reason = some[0], "the first that did something; none fills a warp"
    else:
        raise TraceError("no launch has events: did its kernel touch memory at all?")

    launch = launches[chosen]
    pairs = [
        pair for pair in warps_of(launch)
        if (block is None or pair[0] == block) and (warp is None or pair[1] == warp)
    ]
    if not launch["events"] and launch["findings"]:  # it was stopped before anything could be recorded
        return Choice(chosen, block or 0, warp or 0, reason)
    if not pairs:
        there = ", ".join(f"block {b} warp {w}" for b, w in warps_of(launch)[:8]) or "no events at all"
        raise TraceError(f"launch {chosen + 1}, {describe_launch(launch)}: no events there; it has {there}")
    named = warp_of_finding(launch)
    full_pairs = {(event["block"], event["warp"]) for event in launch["events"] if is_full_access(event)}
    pair = named if named in pairs else next((pair for pair in pairs if pair in full_pairs), pairs[0])
    return Choice(chosen, *pair, reason)


def events_of(launch, block, warp, lines=None):
    """The events of one warp; `lines` is (first, last) of the source lines to keep."""
    return [
        event for event in launch["events"]
        if (event["block"], event["warp"]) == (block, warp)
        and (lines is None or lines[0] <= event["line"] <= lines[1])
    ]


def without_the_end(events):
    """`events` without the returns behind all else: every kernel ends with them."""
    kept = len(events)
    while kept > 1 and events[kept - 1]["op"] == "return":
        kept -= 1
    return events[:kept]


# ---- places in memory ------------------------------------------------------------------------------


def touches(launch, event):
    """What each lane of a load, a store or an atomic touches; lanes without a known place are left out."""
    found = []
    for lane, (array, index) in per_lane(event, "places").items():
        begin = launch["arrays"][array]["offset"] + round(index * launch["arrays"][array]["element_bytes"])
        found.append(Touch(lane, array, begin, begin + event["bytes"]))
    return found


def sectors(touched):
    """{(array, sector): [Touch, ...]} of the 32-byte sectors that are touched, in memory's order."""
    found = {}
    for touch in touched:
        for sector in range(touch.begin // SECTOR, (touch.end - 1) // SECTOR + 1):
            found.setdefault((touch.array, sector), []).append(touch)
    return dict(sorted(found.items()))


def banks(touched):
    """{bank: {(array, word): [lane, ...]}} of shared memory."""
    found = {}
    for touch in touched:
        for word in range(touch.begin // WORD, (touch.end - 1) // WORD + 1):
            found.setdefault(word % BANKS, {}).setdefault((touch.array, word), []).append(touch.lane)
    return {bank: dict(sorted(words.items())) for bank, words in sorted(found.items())}


def element_at(launch, array, byte):
    """The number of the element that a Touch's byte belongs to."""
    array = launch["arrays"][array]
    return (byte - array["offset"]) // array["element_bytes"]


def space_of(launch, event):
    """"global" or "shared": where an access goes; None if no place is known."""
    for array, _ in per_lane(event, "places").values():
        return launch["arrays"][array]["space"]
    return None


def number_text(index):
    """An element's number: 3, and 3.5 between two elements."""
    return f"{index:g}" if isinstance(index, float) and not index.is_integer() else str(int(index))


def places_text(launch, event):
    """Which elements an access touches: "d_x[0] to d_x[31]", "d_y[0]", "d_x[0], d_x[32] to d_x[992], every 32nd"."""
    indices = {}
    for array, index in per_lane(event, "places").values():
        indices.setdefault(array, set()).add(index)
    wide = {
        array: event["bytes"] / launch["arrays"][array]["element_bytes"] for array in indices
    }  # elements of one access
    texts = []
    for array, found in sorted(indices.items()):
        name = launch["arrays"][array]["name"]
        found = sorted(found)
        steps = {b - a for a, b in zip(found, found[1:])}
        step = steps.pop() if len(steps) == 1 else None
        width = max(1, wide[array])
        last = found[-1] + width - 1
        if len(found) == 1 and width == 1:
            texts.append(f"{name}[{number_text(found[0])}]")
        elif len(found) <= 3 and width == 1 and step != 1:
            texts.append(", ".join(f"{name}[{number_text(index)}]" for index in found))
        else:
            text = f"{name}[{number_text(found[0])}] to [{number_text(last)}]"
            if step is not None and step > width:
                text += f", every {ordinal(step)}"
            elif step is None and len(found) > 1:
                text += ", with gaps" if any(b - a > width for a, b in zip(found, found[1:])) else ""
            texts.append(text)
    return "; ".join(texts)


def ordinal(number):
    """2nd, 3rd, 32nd; 1.5th does not occur among elements, and is written as it is."""
    if number != int(number):
        return f"{number:g}th"
    number = int(number)
    ending = "th" if number % 100 // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


# ---- words -----------------------------------------------------------------------------------------


def count(number, what):
    """"1 sector", "4 sectors", "2 addresses"."""
    if number == 1:
        return f"1 {what}"
    return f"{number} {what}{'es' if what.endswith(('s', 'ch')) else 's'}"


def lanes_text(mask):
    """"all 32 lanes", "lane 0", "lanes 0 to 15", "16 lanes"."""
    lanes = lanes_of(mask)
    if len(lanes) == WARP:
        return "all 32 lanes"
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if lanes and lanes[-1] - lanes[0] + 1 == len(lanes):
        return f"lanes {lanes[0]} to {lanes[-1]}"
    return count(len(lanes), "lane")


def shuffle_text(event):
    """Who gets what: "from 16 lanes further on", "pairs 1 apart swap", "all take lane 0's"."""
    sources = per_lane(event, "sources")
    moved = {lane: source for lane, source in sources.items() if lane != source}
    if not sources:
        return ""
    if not moved:
        return "every lane keeps its own"
    if len(set(sources.values())) == 1 and len(sources) > 1:
        return f"all take lane {next(iter(sources.values()))}'s"
    if len({lane ^ source for lane, source in sources.items()}) == 1:
        lane, source = next(iter(sources.items()))
        return f"partners: lane number xor {lane ^ source}"
    steps = {source - lane for lane, source in moved.items()}
    if len(steps) == 1:
        step = steps.pop()
        return f"from {count(abs(step), 'lane')} {'further on' if step > 0 else 'further back'}"
    return f"from {count(len(set(sources.values())), 'lane')}"


def cost(launch, event):
    """What an event costs, in the hardware's own units; "" for what has no count."""
    op = event["op"]
    if op in ("load", "store") and "wavefronts" in event:
        passes = event["wavefronts"]
        fewest = -(-len(lanes_of(event["lanes"])) * event["bytes"] // (BANKS * WORD))
        return count(passes, "wavefront") + (": bank conflict" if passes > fewest else "")
    if op in ("load", "store") and "sectors" in event:
        return count(event["sectors"], "sector")
    if op == "atomic" and "addresses" in event:
        return f"{count(event['addresses'], 'address')}, {count(len(lanes_of(event['lanes'])), 'lane')}"
    if op == "shuffle":
        return shuffle_text(event)
    if op == "barrier":
        return "the whole block waits here"
    if op == "syncwarp":
        return "the lanes of the mask wait here"
    if op == "fence":
        return "what was written before is seen before what is written after"
    if op == "return":
        return f"{lanes_text(event['lanes'])} {'leaves' if len(lanes_of(event['lanes'])) == 1 else 'leave'}"
    return ""


def sentence(launch, event):
    """One event in words, for a reader who does not see the drawing."""
    who = lanes_text(event["lanes"])
    text = f"{event['name']} by {who}"
    if event["op"] in MEMORY and (where := places_text(launch, event)):
        text = f"{event['name']} of {where} by {who}"
    if event["op"] in ("vote", "reduce", "match", "activemask"):
        results = list(dict.fromkeys(per_lane(event, "values").values()))
        if len(results) == 1:
            text += f": {results[0]}"
        elif results:
            text += f": {count(len(results), 'different result')}"
    if what := cost(launch, event):
        text = f"{event['name']}: {what}" if event["op"] in ("barrier", "return") else f"{text}: {what}"
    return text


# ---- folding ---------------------------------------------------------------------------------------


def looks(event):
    """What of an event makes a row look as it does, without values and without the elements' numbers."""
    keys = ("op", "name", "file", "line", "lanes", "mask", "bytes", "sectors", "wavefronts", "addresses")
    return tuple(event.get(key) for key in keys) + (tuple(event.get("sources") or ()),)


def folded(events):
    """`events` with later rounds of a loop replaced by a Fold, where they look like the first round."""
    signs = [looks(event) for event in events]
    rows, i = [], 0
    while i < len(events):
        for period in range(1, LONGEST_PERIOD + 1):
            rounds = 1
            while signs[i + rounds * period : i + (rounds + 1) * period] == signs[i : i + period]:
                rounds += 1
            if rounds > 2 or (rounds == 2 and period > 1):
                rows += events[i : i + period]
                rows.append(Fold(period, rounds - 1))
                i += rounds * period
                break
        else:
            rows.append(events[i])
            i += 1
    return rows
