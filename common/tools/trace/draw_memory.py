"""Draws the memory that a load or a store touches: sectors of global memory, banks of shared memory."""

from tools.trace import places
from tools.trace.recording import per_lane
from tools.trace.svg_style import FLOW, LEFT, PITCH, RIGHT, SMALL_CHAR
from tools.trace.svg_text import clip

DEEPEST = 112  # height of a column of words in one bank, however many there are


def memory(canvas, event):
    """The cells and the memory of a load or a store: data flows down."""
    touched = places.touches(canvas.launch, event)
    draw = banks if places.space_of(canvas.launch, event) == "shared" else sectors
    values = per_lane(event, "values")
    if not touched:
        canvas.cells(event, values, "lanes")
        return
    if event["op"] == "load":
        canvas.new_line()
        points = draw(canvas, event, touched, up=False)
        top = canvas.y
        canvas.y += FLOW
        canvas.new_line()
        for lane, x, y in points:
            canvas.flow(x, y, canvas.lane_x(lane), top + FLOW, f"flow L{lane}")
        canvas.cells(event, values, "get")
    else:
        canvas.cells(event, values, "give")
        top = canvas.y
        canvas.y += FLOW
        canvas.new_line()
        points = draw(canvas, event, touched, up=True)
        canvas.new_line()
        for lane, x, y in points:
            canvas.flow(canvas.lane_x(lane), top, x, y, f"flow L{lane}")


def strip(canvas, event, touched):
    """Where the sectors of an access are drawn: (sectors, width of one, left end, words, words fit beside it)."""
    found = places.sectors(touched)
    pitch = min(PITCH, (RIGHT - LEFT) / len(found))
    width = len(found) * pitch
    middle = sum(canvas.lane_x(touch.lane) for touch in touched) / len(touched)
    left = min(max(middle - width / 2, LEFT), RIGHT - width)
    used = len({(touch.array, byte) for touch in touched for byte in range(touch.begin, touch.end)})
    where = places.places_text(canvas.launch, event)
    note = clip(f"{where}: {used} of {len(found) * places.SECTOR} bytes used", 140)
    return found, pitch, left, note, len(note) * SMALL_CHAR + 10 <= RIGHT - left - width


def sectors(canvas, event, touched, up):
    """The 32-byte sectors that are touched, side by side: a longer strip costs more.

    Returns (lane, x, y) of each access: where its line ends.
    """
    found, pitch, first, note, beside = strip(canvas, event, touched)
    height = 16
    y = canvas.y if up else canvas.y + (11 if beside else 25)  # numbers stand away from the lanes
    canvas.text(LEFT - 6, y + 12, "memory", "small soft end")
    lanes_of_byte = {}
    for touch in touched:
        for byte in range(touch.begin, touch.end):
            lanes_of_byte.setdefault((touch.array, byte), set()).add(touch.lane)
    points = {}
    last, free = None, LEFT
    scale = (pitch - 2) / places.SECTOR
    for place, ((array, sector), inside) in enumerate(found.items()):
        x = first + place * pitch
        origin = sector * places.SECTOR
        if last != (array, sector - 1):
            byte = max(min(touch.begin for touch in inside), origin)
            number = str(places.element_at(canvas.launch, array, byte))
            at = x + 1 + (byte - origin) * scale
            if at >= free:
                canvas.text(at, (y + height + 9) if up else (y - 3), number, "tiny soft")
                free = at + 5.4 * len(number) + 4
        last = (array, sector)
        drawn = set()
        for touch in inside:
            begin, end = max(touch.begin - origin, 0), min(touch.end - origin, places.SECTOR)
            left, width = x + 1 + begin * scale, (end - begin) * scale
            points.setdefault(touch.lane, (left + width / 2, y if up else y + height))
            if (begin, end) in drawn:
                continue
            drawn.add((begin, end))
            alone = len(lanes_of_byte[array, origin + begin]) == 1
            gap = 0.5 if width > 2 else 0
            canvas.rect(left, y + 1.5, width - gap, height - 3, f"full L{touch.lane}" if alone else "many")
        canvas.rect(x + 0.5, y, pitch - 1, height, "box", ' rx="1.5"')
    canvas.y = y + height + (11 if up else 0)
    if beside:
        canvas.text(first + len(found) * pitch + 8, y + 12, note, "small soft")
    elif up:
        canvas.text(RIGHT, canvas.y + 10, note, "small soft end")
        canvas.y += 14
    else:
        canvas.text(RIGHT, y - 14, note, "small soft end")
    canvas.used.add("sectors")
    return [(lane, *point) for lane, point in sorted(points.items())]


def banks(canvas, event, touched, up):
    """The 32 banks of shared memory, words of one bank on top of each other: one more row, one more pass."""
    found = places.banks(touched)
    deepest = max(len(words) for words in found.values())
    height = max(3.0, min(13.0, DEEPEST / deepest))
    top = canvas.y
    if not up:
        top += 11
    base = top if up else top + deepest * height
    label_y = top + deepest * height + 9 if up else top - 3
    canvas.text(LEFT - 6, (top + 10) if up else (base - 3), "banks", "small soft end")
    for bank in range(places.BANKS):
        canvas.text(LEFT + (bank + 0.5) * PITCH, label_y, str(bank), "tiny soft middle")
    points = {}
    edge = base
    for bank, words in found.items():
        for depth, ((array, word), lanes) in enumerate(words.items()):
            x = LEFT + bank * PITCH + 2
            y = base + depth * height if up else base - (depth + 1) * height
            canvas.rect(x, y, PITCH - 4, height - 1, "cell many" if len(lanes) > 1 else f"cell L{lanes[0]}")
            if height >= 10:
                number = str(places.element_at(canvas.launch, array, word * places.WORD))
                if len(number) <= 4:
                    canvas.text(x + PITCH / 2 - 2, y + 9.2, number, "tiny middle")
            for lane in lanes:
                points.setdefault(lane, (x + PITCH / 2 - 2, edge))
    canvas.rect(LEFT, base - (0.75 if up else 0.25), RIGHT - LEFT, 1, "many")
    canvas.y = top + deepest * height + (11 if up else 1)
    canvas.used.add("banks")
    return [(lane, x, y) for lane, (x, y) in sorted(points.items())]
