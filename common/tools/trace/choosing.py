"""Chooses which launch, block and warp of a trace is drawn."""

import re
from collections import namedtuple

from tools.lib.failed import Failed
from tools.trace.recording import MEMORY, WARP, short_kernel, threads

# What the caller asked for, or what was found instead; `reason` says why.
Choice = namedtuple("Choice", "launch block warp reason")


def is_full_access(event):
    """True for an access to memory by all 32 lanes."""
    return event["op"] in MEMORY and int(event["lanes"], 16) == 2**WARP - 1


def warps_of(launch):
    """The (block, warp) pairs that have events, in the order in which they appear."""
    return list(dict.fromkeys((event["block"], event["warp"]) for event in launch["events"]))


def position(text, extents):
    """The number of a block in its grid, or of a thread in its block, from "7" or "(3,1)"; None for ""."""
    coordinates = [int(number) for number in re.findall(r"\d+", text)]
    if not coordinates:
        return None
    number = 0
    for coordinate, extent in reversed(list(zip(coordinates, extents))):
        number = number * extent + coordinate
    return number


def thread_of(launch, access):
    """The (block, thread) of an access that a finding names; None for what is not known."""
    return tuple(position(access[key], launch[extent]) for key, extent in (("block", "grid"), ("thread", "block")))


def warp_of_finding(launch):
    """The first (block, warp) with events that a finding names; None if there is none."""
    there = warps_of(launch)
    for finding in launch["findings"]:
        for access in finding["accesses"]:
            block, thread = thread_of(launch, access)
            pair = (block, thread // WARP) if thread is not None else None
            if pair in there:
                return pair
    return None


def named_places(launch):
    """The (file, line) pairs that the findings of a launch name, each once."""
    accesses = [access for finding in launch["findings"] for access in finding["accesses"]]
    return list(dict.fromkeys((access["file"], access["line"]) for access in accesses if access["file"]))


def describe_launch(launch):
    """kernel<<<grid, block>>>, as a source has it, and the size of its clusters."""

    def extents(dimensions):
        while len(dimensions) > 1 and dimensions[-1] == 1:
            dimensions = dimensions[:-1]
        return str(dimensions[0]) if len(dimensions) == 1 else f"({', '.join(map(str, dimensions))})"

    clusters = f" in clusters of {threads(launch['cluster'])}" if "cluster" in launch else ""
    return f"{launch['kernel']}<<<{extents(launch['grid'])}, {extents(launch['block'])}>>>{clusters}"


def choose(trace, number=None, kernel=None, block=None, warp=None, among=None, findings=True):
    """The Choice of launch, block and warp; `number` counts all launches, from 1. Raises Failed.

    Without a number: the first launch with a finding (unless `findings` is false), else the smallest that
    fills a warp and touches memory, else the first with events. `among` are the numbers to choose from.
    """
    launches = trace["launches"]
    if number is not None and not 1 <= number <= len(launches):
        raise Failed(f"--launch {number}: the trace has the launches 1 to {len(launches)}; --list names them")
    candidates = [
        i for i, launch in enumerate(launches)
        if (i == number - 1 if number is not None else among is None or i + 1 in among)
        and (kernel is None or kernel in (launch["kernel"], short_kernel(launch["kernel"])))
    ]
    if not candidates:
        names = ", ".join(dict.fromkeys(short_kernel(launch["kernel"]) for launch in launches))
        which = f"--kernel {kernel}" if number is None else f"--launch {number} --kernel {kernel}"
        raise Failed(f"{which}: no such launch; the trace has {names}")
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
        raise Failed("no launch has events: did its kernel touch memory at all?")

    launch = launches[chosen]
    pairs = [
        pair for pair in warps_of(launch)
        if (block is None or pair[0] == block) and (warp is None or pair[1] == warp)
    ]
    if not launch["events"] and launch["findings"]:  # it was stopped before anything could be recorded
        return Choice(chosen, block or 0, warp or 0, reason)
    if not pairs:
        there = ", ".join(f"block {b} warp {w}" for b, w in warps_of(launch)[:8]) or "no events at all"
        raise Failed(f"launch {chosen + 1}, {describe_launch(launch)}: no events there; it has {there}")
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
    """`events` without the returns at the end: every kernel ends with them."""
    kept = len(events)
    while kept > 1 and events[kept - 1]["op"] == "return":
        kept -= 1
    return events[:kept]
