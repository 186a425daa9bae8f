"""Draws what lanes do with each other: shuffles, atomics, votes, barriers, and lanes that return."""

from tools.lib.svg import num
from tools.trace.places import number_text
from tools.trace.recording import lanes_of, per_lane
from tools.trace.sentences import cost, lanes_text
from tools.trace.svg_style import FLOW, LEFT, PITCH, RIGHT
from tools.trace.svg_text import clip

WIDE_ATOMICS = 10  # up to this many addresses are drawn with their names


def side_by_side(boxes):
    """The middles of `boxes`, (wish, width, ...) from left to right: near their wishes, and none over another."""
    centres, edge = [], LEFT
    for wish, width, *_ in boxes:
        centres.append(max(wish, edge + width / 2 + 2))
        edge = centres[-1] + width / 2
    edge = RIGHT
    for k in range(len(boxes) - 1, -1, -1):
        width = boxes[k][1]
        centres[k] = min(centres[k], edge - width / 2 - 2)
        edge = centres[k] - width / 2
    return centres


def shuffle(canvas, event):
    """Each lane's value, lines to the lanes that receive it, and what they received."""
    given, received = per_lane(event, "given"), per_lane(event, "values")
    canvas.cells(event, given, "give")
    top = canvas.y
    canvas.y += FLOW + 6
    canvas.new_line()
    for lane, source in sorted(per_lane(event, "sources").items()):
        own = "own" if source == lane else f"flow L{source}"
        canvas.flow(canvas.lane_x(source), top, canvas.lane_x(lane), canvas.y - (0 if source == lane else 3), own)
        if source != lane:
            x = canvas.lane_x(lane)
            canvas.add(f'<path d="M{num(x - 2.5)} {num(canvas.y - 4)}h5l-2.5 4z" class="L{source}"/>')
    canvas.cells(event, received, "get")


def meeting_boxes(canvas, groups, labels):
    """Lanes whose lines meet in a box for each group; `groups` is {key: [lane, ...]}."""
    top = canvas.y
    canvas.y += FLOW
    canvas.new_line()
    most = (RIGHT - LEFT) / len(groups)
    boxes = []  # (the middle of its lanes, width, lanes, label), from left to right
    for key, lanes in groups.items():
        width = min(max(len(labels[key]) * 6 + 14, PITCH - 4), most - 4)
        boxes.append((sum(canvas.lane_x(lane) for lane in lanes) / len(lanes), width, lanes, labels[key]))
    boxes.sort(key=lambda box: box[0])
    for (_, width, lanes, label), centre in zip(boxes, side_by_side(boxes)):
        for k, lane in enumerate(lanes):
            shift = (k + 0.5) / len(lanes) - 0.5
            canvas.flow(canvas.lane_x(lane), top, centre + shift * min(width - 6, 40), canvas.y, f"flow L{lane}")
        canvas.rect(centre - width / 2, canvas.y, width, 17, "box", ' rx="3"')
        canvas.text(centre, canvas.y + 12, clip(label, int((width - 2) / 5.4)), "value")
    canvas.y += 17


def atomic(canvas, event):
    """The operands, the addresses on which lanes meet, and what the lanes got back."""
    expected = per_lane(event, "expected")
    if expected:  # compare-and-swap
        canvas.cells(event, expected, "expect")
        canvas.y += 2
    canvas.cells(event, per_lane(event, "values"), "give")
    groups, labels = {}, {}
    for lane, place in per_lane(event, "places").items():
        groups.setdefault(tuple(place), []).append(lane)
    for (array, index), lanes in groups.items():
        number = number_text(index)
        name = canvas.launch["arrays"][array]["name"]
        times = f" × {len(lanes)} lanes" if len(groups) <= 4 and len(lanes) > 1 else ""
        labels[array, index] = f"{name}[{number}]{times}" if len(groups) <= WIDE_ATOMICS else number
    if groups:
        meeting_boxes(canvas, groups, labels)
    old = per_lane(event, "old")
    if old:
        canvas.y += 4
        canvas.cells(event, old, "get back")
    if expected:
        canvas.new_line()
        for lane, stored in per_lane(event, "stored").items():
            if stored:
                canvas.text(canvas.lane_x(lane), canvas.y + 11, "✓", "middle strong")
        canvas.used.add("swap")
        canvas.text(LEFT - 6, canvas.y + 11, "stored", "small soft end")
        canvas.y += 12


def vote(canvas, event):
    """Votes, reductions and matches: what each lane brings, and the results that they share."""
    given = per_lane(event, "given")
    canvas.cells(event, given, "give" if given else "lanes")
    groups = {}
    for lane, value in per_lane(event, "values").items():
        groups.setdefault(value, []).append(lane)
    if not groups:
        return
    labels = {
        value: value if len(groups) > 4 else f"{value} for {lanes_text(hex(sum(1 << lane for lane in lanes)))}"
        for value, lanes in groups.items()
    }
    meeting_boxes(canvas, groups, labels)


def barrier(canvas, event):
    """A bar across the warp: full where the block or the cluster waits, dashed for a warp's barrier and an arrival."""
    y = canvas.y
    text = cost(canvas.launch, event)
    if event["op"] == "barrier" or event["op"] == "cluster_barrier" and not event["name"].endswith("arrive"):
        canvas.new_line()
        canvas.rect(LEFT, y, RIGHT - LEFT, 16, "bar")
        canvas.text((LEFT + RIGHT) / 2, y + 12, text, "on-bar middle small")
    else:
        canvas.cells(event, {}, "lanes")
        canvas.new_line()
        y = canvas.y + 3
        canvas.rect(LEFT, y, RIGHT - LEFT, 14, "part-bar")
        canvas.text((LEFT + RIGHT) / 2, y + 10.5, text, "middle small soft")
        canvas.y = y - 2
    canvas.y += 16


def leave(canvas, event):
    """Lanes that return: a cross, and nothing from there on."""
    leaving = lanes_of(event["lanes"])
    canvas.cells(event, {lane: "×" for lane in leaving}, "return")
    canvas.returned.update(leaving)
