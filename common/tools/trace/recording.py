"""Reads a trace that the CPU device wrote (SIMT_TRACE=FILE).

A trace is one JSON object; common/simt/README.md, "Traces", says what is in it.
"""

import functools
import json
import re
import struct
from pathlib import Path

from tools.lib.checkout import TOP
from tools.lib.failed import Failed

SCHEMA, VERSION = "simt.trace", 2
WARP = 32
MEMORY = ("load", "store", "atomic")


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


def split_words(trace):
    """Shows integers of 64 bits that hold two of 32 bits as these two, in the order of their addresses: "(7, 3)"."""
    for launch in trace["launches"]:
        for event in launch["events"]:
            if event.get("bytes") != 8:
                continue
            for key in ("expected", "values", "old"):
                event[key] = [word and str(struct.unpack("<ii", struct.pack("<Q", int(word)))) for word in event.get(key) or []]


# ---- reading ---------------------------------------------------------------------------------------


def short_name(name, number):
    """An array's name as it fits into a drawing: without casts; "array 3" for one that is known by its size only."""
    while True:
        inner = re.fullmatch(r"\((.*)\)|(?:reinterpret|static|const)_cast<.*?>\((.*)\)", name)
        if not inner:
            break
        name = inner[1] or inner[2]
    return f"array {number}" if not name or " allocated at " in name else name


def load(file):
    """The trace in `file`, a dictionary as the recorder wrote it. Raises Failed."""
    try:
        trace = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise Failed(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise Failed(f"{file}: no trace, or one that was cut off: {error}") from error
    if not isinstance(trace, dict) or (trace.get("schema"), trace.get("version")) != (SCHEMA, VERSION):
        raise Failed(f"{file}: no trace of schema {SCHEMA}, version {VERSION}; SIMT_TRACE=FILE makes one")
    if not trace.get("launches"):
        raise Failed(f"{file}: no launch is recorded in it")
    for launch in trace["launches"]:
        for number, array in enumerate(launch["arrays"], 1):
            array["full_name"], array["name"] = array["name"], short_name(array["name"] or "", number)
            if "block" in array:  # of a launch with clusters, whose blocks reach each other's shared memory
                array["name"] = f"block {array['block']}'s {array['name']}"
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
    """The number of threads in a block, or of blocks in a grid, of size [x, y, z]."""
    product = 1
    for extent in dimensions:
        product *= extent
    return product


def lanes_in_warp(launch, warp):
    """How many lanes of this warp exist: the last one of a block may be cut off."""
    return max(0, min(WARP, threads(launch["block"]) - WARP * warp))


def source_lines(file):
    """The lines of a source file that a trace names; none if it cannot be read.

    Programs of the course name it from the repository's top, those of ./course run from where they ran.
    """
    for folder in (TOP, Path.cwd()):
        try:
            return (folder / file).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            pass
    return []


cached_lines = functools.cache(source_lines)


def source_line(file, line):
    """The text of a source line, without its indentation."""
    lines = cached_lines(file)
    return " ".join(lines[line - 1].split()) if 1 <= line <= len(lines) else ""


def short_kernel(name):
    """A template's name without its arguments: sum<float> is sum."""
    return name.split("<")[0].split("(")[0].strip()
