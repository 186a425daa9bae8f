"""Draws all warps of a block side by side: what each does, and what they hand over in shared memory.

A strip is a warp; a colour says which warp a value comes from. Where only one warp is left, it gets the whole width.
"""

from collections import namedtuple

from tools.lib.failed import Failed
from tools.lib.svg import num
from tools.trace.narrow import LEFT, RIGHT, NarrowSheet
from tools.trace.places import elements_text, space_of
from tools.trace.recording import WARP, lanes_of, per_lane, threads
from tools.trace.sentences import count, lanes_text, sentence

STRIP, BOX, FLOW = 12, 18, 22  # heights
MOST_BOXES = 8

# One instruction of several warps, `times` times in a row: {warp: [event, ...]}.
Step = namedtuple("Step", "key events")


def steps_of(launch, block):
    """The events of a block, those of neighbouring warps that belong together in one Step; shuffles of a loop, too."""
    steps = []
    for event in launch["events"]:
        if event["block"] != block:
            continue
        key = tuple(event[part] for part in ("op", "name", "file", "line"))
        if not steps or steps[-1].key != key or event["warp"] in steps[-1].events:
            steps.append(Step(key, {}))
        steps[-1].events[event["warp"]] = [event]
    joined = []
    for step in steps:
        if joined and step.key[0] == "shuffle" and (step.key, step.events.keys()) == (joined[-1].key, joined[-1].events.keys()):
            for warp, events in step.events.items():
                joined[-1].events[warp].extend(events)
        else:
            joined.append(step)
    while len(joined) > 1 and joined[-1].key[0] == "return":
        joined.pop()
    return joined


def collectors(events):
    """The lanes to which a run of shuffles brings something of every lane that takes part."""
    lanes = lanes_of(events[0]["lanes"])
    reach = {lane: {lane} for lane in lanes}
    for event in events:
        sources = per_lane(event, "sources")
        reach = {lane: reach[lane] | reach.get(sources.get(lane, lane), set()) for lane in lanes}
    return [lane for lane in lanes if len(reach[lane]) == len(lanes)]


class BlockSheet(NarrowSheet):
    """The strips of a block's warps."""

    def __init__(self, launch, warps):
        super().__init__(launch)
        self.all = warps
        self.left = list(warps)  # that have not returned
        self.given = {}  # (array, index) of shared memory: (the warp that stored there, its value)

    def colour(self, warp):
        """The class of what comes from a warp."""
        return f"L{warp * WARP // len(self.all)}"

    def strip(self, warp):
        """(left end, width) of a warp's strip."""
        if self.left == [warp]:
            return LEFT, RIGHT - LEFT
        pitch = (RIGHT - LEFT) / len(self.all)
        return LEFT + self.all.index(warp) * pitch + 2, pitch - 4

    def lane_x(self, warp, lane):
        """The middle of a lane."""
        left, width = self.strip(warp)
        return left + (lane + 0.5) * width / WARP

    def strips(self, step, colour_of=None):
        """The warps of a step: lanes that take part are filled; `colour_of` gives a (warp, lane) another colour."""
        self.new_line()
        for warp, events in step.events.items():
            left, width = self.strip(warp)
            lanes = lanes_of(events[0]["lanes"])
            if len(lanes) < WARP:
                self.rect(left, self.y, width, STRIP, "idle")
            if len(lanes) == WARP and not colour_of:
                self.rect(left, self.y, width, STRIP, f"cell {self.colour(warp)}")
                continue
            for lane in lanes:
                style = colour_of(warp, lane) if colour_of else self.colour(warp)
                self.rect(left + lane * width / WARP, self.y, width / WARP, STRIP, f"full {style}")
        self.y += STRIP

    def boxes(self, elements):
        """Elements of shared memory, each below the strip of the warp that stored it; {element: middle}."""
        self.new_line()
        pitch = (RIGHT - LEFT) / len(self.all)
        middles = {}
        for element in elements:
            warp, value = self.given[element]
            left = LEFT + self.all.index(warp) * pitch + 1
            middles[element] = left + pitch / 2 - 1
            self.rect(left, self.y, pitch - 2, BOX, f"cell {self.colour(warp)}", ' rx="3"')
            self.value(middles[element], self.y + 12.5, value, f"from warp {warp}", width=6)
        self.y += BOX
        return middles


def elements_of(step):
    """{(array, index): (warp, lane, value)} of an access."""
    found = {}
    for warp, (event, *_) in step.events.items():
        for (lane, place), value in zip(per_lane(event, "places").items(), event.get("values") or []):
            found[tuple(place)] = (warp, lane, value)
    return found


def access(sheet, step):
    """A load or a store; elements of shared memory that warps hand over are boxes."""
    event = next(iter(step.events.values()))[0]
    elements = elements_of(step)
    where = elements_text(sheet.launch, elements, event["bytes"])
    shared = space_of(sheet.launch, event) == "shared" and len(elements) <= MOST_BOXES
    sheet.caption(f"{event['op']} of {where}")
    if shared and event["op"] == "load" and elements.keys() <= sheet.given.keys():
        middles = sheet.boxes(elements)
        top = sheet.y
        sheet.y += FLOW
        sheet.new_line()
        for element, (warp, lane, _) in elements.items():
            sheet.flow(middles[element], top, sheet.lane_x(warp, lane), sheet.y, f"flow {sheet.colour(sheet.given[element][0])}")
        by_lane = {(warp, lane): sheet.given[element][0] for element, (warp, lane, _) in elements.items()}
        sheet.strips(step, lambda warp, lane: sheet.colour(by_lane[warp, lane]))
        return
    sheet.strips(step)
    if shared and event["op"] == "store":
        sheet.given.update({element: (warp, value) for element, (warp, _, value) in elements.items()})
        top = sheet.y
        sheet.y += FLOW / 2
        middles = sheet.boxes(elements)
        sheet.new_line()
        for element, (warp, lane, _) in elements.items():
            sheet.flow(sheet.lane_x(warp, lane), top, middles[element], top + FLOW / 2, f"flow {sheet.colour(warp)}")


def shuffles(sheet, step):
    """All lanes, and below them those in which their values meet."""
    events = next(iter(step.events.values()))
    meet = {warp: collectors(events) for warp, events in step.events.items()}
    into = meet[next(iter(meet))]
    text = f"{len(events)} × {events[0]['name']}" if len(events) > 1 else events[0]["name"]
    if into and all(lanes == into for lanes in meet.values()):
        text += f": the values of all lanes reach {lanes_text(hex(sum(1 << lane for lane in into)))}"
    sheet.caption(text)
    sheet.strips(step)
    sheet.new_line()
    for warp, lanes in meet.items():
        if lanes:
            left, width = sheet.strip(warp)
            first, last = left + lanes[0] * width / WARP, left + (lanes[-1] + 1) * width / WARP
            sheet.add(f'<path d="M{num(left)} {num(sheet.y + 1)}H{num(left + width)}L{num(last)} {num(sheet.y + FLOW)}'
                      f'H{num(first)}z" class="cell {sheet.colour(warp)}"/>')
    sheet.y += FLOW


def atomic(sheet, step):
    """What is added where."""
    event = next(iter(step.events.values()))[0]
    sheet.strips(step)
    sheet.new_line()
    for warp, events in step.events.items():
        for lane, (array, index) in per_lane(events[0], "places").items():
            x = sheet.lane_x(warp, lane)
            sheet.flow(x, sheet.y, x, sheet.y + FLOW / 2, f"flow {sheet.colour(warp)}")
    sheet.y += FLOW / 2
    values, old = per_lane(event, "values"), per_lane(event, "old")
    lane, (array, index) = next(iter(per_lane(event, "places").items()))
    where = elements_text(sheet.launch, [(array, index)], event["bytes"])
    words = f"{event['name']} of {values[lane]} to {where}"
    words += f", which was {old[lane]}" if lane in old else ""
    sheet.rect(LEFT, sheet.y, 14 + 6.2 * len(words), BOX, "box", ' rx="3"')
    sheet.text(LEFT + 7, sheet.y + 13, words)
    sheet.y += BOX


def barrier(sheet, step):
    """A bar across the block."""
    sheet.new_line()
    sheet.y += 3
    sheet.rect(LEFT, sheet.y, RIGHT - LEFT, 18, "bar")
    sheet.text((LEFT + RIGHT) / 2, sheet.y + 13, f"{step.key[1]}: {count(len(step.events), 'warp')} wait here", "on-bar middle")
    sheet.y += 18


def leave(sheet, step):
    """Warps that have returned."""
    gone = sorted(step.events)
    sheet.left = [warp for warp in sheet.left if warp not in gone]
    names = f"warps {gone[0]} to {gone[-1]}" if gone == list(range(gone[0], gone[-1] + 1)) and len(gone) > 1 else "warp " + ", ".join(map(str, gone))
    sheet.caption(f"{names} {'return' if len(gone) > 1 else 'returns'}")


DRAW = {"load": access, "store": access, "atomic": atomic, "shuffle": shuffles, "barrier": barrier, "return": leave}


def words_of(launch, step):
    """A step in a sentence."""
    warp, events = next(iter(step.events.items()))
    who = f"warp {warp}" if len(step.events) == 1 else f"{count(len(step.events), 'warp')}, the first"
    times = f", {len(events)} times" if len(events) > 1 else ""
    return f"{who}: {sentence(launch, events[0])}{times}"


def draw(trace, choice):
    """The SVG's text for all warps of the chosen block. Raises Failed."""
    launch = trace["launches"][choice.launch]
    steps = steps_of(launch, choice.block)
    warps = list(range(-(-threads(launch["block"]) // WARP)))
    sheet = BlockSheet(launch, warps)
    sheet.head()
    sheet.y += 15
    with sheet.column_heads():
        for warp in warps:
            left, width = sheet.strip(warp)
            sheet.text(left + width / 2, sheet.y, f"warp {warp}", "middle small")
    sheet.y += 4
    for step in steps:
        if step.key[0] not in DRAW:
            raise Failed(f"launch {choice.launch + 1}: {step.key[1]} of all warps cannot be drawn")
        event = next(iter(step.events.values()))[0]
        with sheet.step(event, words_of(launch, step)):
            if step.key[0] != "return":
                sheet.source(event)
            DRAW[step.key[0]](sheet, step)
        sheet.y += 6
        sheet.new_line()
        sheet.rule()
    words = " ".join(f"Line {step.key[3]}, {words_of(launch, step)}." for step in steps)
    return sheet.finished(f"block {choice.block}", words)
