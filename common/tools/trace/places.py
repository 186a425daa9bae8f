"""Which bytes, sectors and banks an access of a warp touches, and how its elements are named."""

from collections import namedtuple

from tools.trace.recording import per_lane

SECTOR = 32  # bytes
BANKS, WORD = 32, 4  # shared memory: 32 banks of 4-byte words

# What one lane touches: the array's number, and bytes from `begin` to before `end`. Bytes are counted from
# a multiple of 128 at or before the array's first element, so that they tell sectors and banks.
Touch = namedtuple("Touch", "lane array begin end")


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
    return elements_text(launch, per_lane(event, "places").values(), event.get("bytes"))


def elements_text(launch, places, size):
    """The same of [array, element] pairs, each of them an access of `size` bytes."""
    indices = {}
    for array, index in places:
        indices.setdefault(array, set()).add(index)
    wide = {array: size / launch["arrays"][array]["element_bytes"] for array in indices}  # elements of one access
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
