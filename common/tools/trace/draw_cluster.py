"""Draws all blocks of a cluster side by side: what their threads do, and whose shared memory they use.

A column is a block of one warp; a colour says which block a value, a thread or an element of shared memory belongs to.
"""

from collections import namedtuple

from tools.lib.failed import Failed
from tools.trace.narrow import LEFT, RIGHT, NarrowSheet
from tools.trace.places import elements_text, number_text, space_of
from tools.trace.recording import WARP, lanes_in_warp, lanes_of, per_lane, short_name, threads
from tools.trace.sentences import count, sentence

CELL, BOX, FLOW, GAP = 17, 18, 34, 8  # heights, and the gap between two blocks
MOST_BLOCKS, MOST_THREADS, MOST_BOXES = 8, 16, 8  # of a cluster, in all its blocks, of a variable

# One instruction of several blocks: {block: event}.
Step = namedtuple("Step", "op name file line events")


def key_of(event):
    """What events of different blocks have in common if they are the same instruction."""
    return tuple(event[part] for part in ("op", "name", "file", "line"))


def steps_of(launch):
    """The events of all blocks; those of different blocks that are the same instruction are one Step.

    Between two barriers the blocks run in any order. So an instruction that other blocks have yet to come to waits
    for them.
    """
    left = {}
    for event in launch["events"]:
        left.setdefault(event["block"], []).append(event)
    for events in left.values():
        while len(events) > 1 and events[-1]["op"] == "return":
            events.pop()
    left = dict(sorted(left.items()))
    steps = []
    while left:
        heads = [key_of(events[0]) for events in left.values()]
        later = {key_of(event) for events in left.values() for event in events[1:]}
        key = next((head for head in heads if head not in later), heads[0])
        steps.append(Step(*key, {block: events.pop(0) for block, events in left.items() if key_of(events[0]) == key}))
        left = {block: events for block, events in left.items() if events}
    return steps


def plain_name(array):
    """The name of a shared variable, without whose it is."""
    return short_name(array["full_name"], 0)


class ClusterSheet(NarrowSheet):
    """The columns of a cluster's blocks."""

    def __init__(self, launch):
        super().__init__(launch)
        self.blocks = threads(launch["cluster"])
        self.lanes = lanes_in_warp(launch, 0)
        self.values = {}  # (array, index) of shared memory: what is there

    def colour(self, block):
        """The class of what belongs to a block."""
        return f"L{block * WARP // self.blocks}"

    def column(self, block):
        """(left end, width) of a block's column."""
        pitch = (RIGHT - LEFT + GAP) / self.blocks
        return LEFT + block * pitch, pitch - GAP

    def lane_x(self, block, lane):
        """The middle of a thread's cell."""
        left, width = self.column(block)
        return left + (lane + 0.5) * width / self.lanes

    def cells(self, step, texts, colour_of=None):
        """A cell for each thread; `texts` is {(block, lane): text}. A block that has no part in the step waits."""
        self.new_line()
        for block in range(self.blocks):
            left, width = self.column(block)
            if block not in step.events:
                self.text(left + width / 2, self.y + 12.5, "waits", "middle small soft")
                continue
            active = lanes_of(step.events[block]["lanes"])
            for lane in range(self.lanes):
                x, pitch = left + lane * width / self.lanes, width / self.lanes
                if lane not in active:
                    self.rect(x + 1, self.y, pitch - 2, CELL, "idle", ' rx="2"')
                    continue
                style = colour_of(block, lane) if colour_of else self.colour(block)
                self.rect(x + 1, self.y, pitch - 2, CELL, f"cell {style}", ' rx="2"')
                self.value(x + pitch / 2, self.y + 12, texts.get((block, lane), ""), f"block {block}, thread {lane}")
        self.y += CELL

    def boxes(self, places, names_below):
        """The elements of the shared variables that are touched, of every block that has one; {place: middle of its box}."""
        variables = {plain_name(self.launch["arrays"][array]) for array, _ in places}
        row, middles = self.y + (0 if names_below else 13), {}
        self.new_line()
        for number, array in enumerate(self.launch["arrays"]):
            if "block" not in array or plain_name(array) not in variables:
                continue
            if array["elements"] > MOST_BOXES:
                raise Failed(f"{plain_name(array)}: more than {MOST_BOXES} elements of shared memory cannot be drawn")
            left, width = self.column(array["block"])
            pitch = width / array["elements"]
            for index in range(array["elements"]):
                middle = middles[number, index] = left + (index + 0.5) * pitch
                self.rect(middle - pitch / 2 + 1, row, pitch - 2, BOX, f"cell {self.colour(array['block'])}", ' rx="5"')
                name = plain_name(array) + ("" if array["elements"] == 1 else f"[{number_text(index)}]")
                self.value(middle, row + 12.5, self.values.get((number, index), ""), f"block {array['block']}'s {name}", width=6)
                self.text(middle, row + BOX + 9 if names_below else row - 4.5, name, "tiny middle")
        self.y = row + BOX + (11 if names_below else 0)
        return middles


def accesses_of(step):
    """{(block, lane): ((array, index), value, old value)} of a load, a store or an atomic."""
    found = {}
    for block, event in step.events.items():
        values, old = per_lane(event, "values"), per_lane(event, "old")
        for lane, place in per_lane(event, "places").items():
            found[block, lane] = (tuple(place), values.get(lane, ""), old.get(lane))
    return found


def remember(sheet, step, accesses):
    """What a store or an atomic leaves in memory; Failed for an atomic that is not a sum."""
    after = {}
    for place, value, old in accesses.values():
        if step.op == "store":
            after[place] = value
        elif step.name != "atomicAdd" or old is None:
            raise Failed(f"{step.name} of a cluster's threads cannot be drawn")
        else:  # sums in the order in which the lanes were served
            first = float(sheet.values.get(place, old)) if place not in after else float(after[place])
            after[place] = f"{first + float(value):g}"
    sheet.values.update(after)
    return after


def whose_text(sheet, step, accesses):
    """How many threads use the shared memory of another block."""
    arrays = sheet.launch["arrays"]
    others = sum(arrays[array]["block"] != block for (block, _), ((array, _), *_) in accesses.items())
    where = "from" if step.op == "load" else "in"
    if others == 0:
        return f"{step.name} {where} the block's own shared memory"
    return f"{step.name}: {others} of {len(accesses)} {where} another block's shared memory"


def shared(sheet, step, accesses):
    """An access to shared memory: lines from the threads to the elements, or back."""
    sheet.caption(whose_text(sheet, step, accesses))
    places = [place for place, *_ in accesses.values()]
    if step.op == "load":
        middles, top = sheet.boxes(places, names_below=False), sheet.y
        sheet.y += FLOW
        owner = {who: sheet.launch["arrays"][place[0]]["block"] for who, (place, *_) in accesses.items()}
        sheet.new_line()
        for (block, lane), (place, *_) in accesses.items():
            sheet.flow(middles[place], top, sheet.lane_x(block, lane), sheet.y, f"flow {sheet.colour(owner[block, lane])}")
        sheet.cells(step, {who: value for who, (_, value, _) in accesses.items()}, lambda *who: sheet.colour(owner[who]))
        return
    sheet.cells(step, {who: value for who, (_, value, _) in accesses.items()})
    remember(sheet, step, accesses)
    top = sheet.y
    sheet.y += FLOW
    middles = sheet.boxes(places, names_below=True)
    sheet.new_line()
    for (block, lane), (place, *_) in accesses.items():
        sheet.flow(sheet.lane_x(block, lane), top, middles[place], top + FLOW, f"flow {sheet.colour(block)}")


def access(sheet, step):
    """A load, a store or an atomic."""
    accesses = accesses_of(step)
    event = next(iter(step.events.values()))
    if space_of(sheet.launch, event) == "shared":
        shared(sheet, step, accesses)
        return
    where = elements_text(sheet.launch, [place for place, *_ in accesses.values()], event["bytes"])
    if step.op == "atomic":
        sums = remember(sheet, step, accesses)
        where += f", which becomes {', '.join(sums.values())}" if len(sums) == 1 else ""
    sheet.caption(f"{step.name} {'to' if step.op == 'atomic' else 'of'} {where}")
    sheet.cells(step, {who: value for who, (_, value, _) in accesses.items()})


def barrier(sheet, step):
    """A bar across each block, or across the cluster; dashed where no thread waits."""
    sheet.new_line()
    sheet.y += 3
    if step.op == "barrier":
        for block in step.events:
            left, width = sheet.column(block)
            sheet.rect(left, sheet.y, width, 16, "bar")
            sheet.text(left + width / 2, sheet.y + 11.5, step.name, "on-bar middle small")
        sheet.y += 16
        return
    waits = not step.name.endswith("arrive")
    sheet.rect(LEFT, sheet.y, RIGHT - LEFT, 18, "bar" if waits else "part-bar")
    words = f"{step.name}: {count(len(step.events), 'block')} {'wait for each other' if waits else 'arrive'}"
    sheet.text((LEFT + RIGHT) / 2, sheet.y + 13, words, "on-bar middle" if waits else "middle")
    sheet.y += 18


DRAW = {"load": access, "store": access, "atomic": access, "barrier": barrier, "cluster_barrier": barrier}


def words_of(launch, step):
    """A step in a sentence."""
    block, event = next(iter(step.events.items()))
    who = f"block {block}" if len(step.events) == 1 else f"{count(len(step.events), 'block')}, the first"
    return f"{who}: {sentence(launch, event)}"


def draw(trace, choice):
    """The SVG's text for a launch of one cluster. Raises Failed."""
    launch = trace["launches"][choice.launch]
    if launch.get("cluster") != launch["grid"] or threads(launch["block"]) > WARP:
        raise Failed(f"launch {choice.launch + 1} is not one cluster of blocks of up to {WARP} threads")
    sheet = ClusterSheet(launch)
    if sheet.blocks * sheet.lanes > MOST_THREADS:
        raise Failed(f"launch {choice.launch + 1}: more than {MOST_THREADS} threads of a cluster cannot be drawn")
    steps = steps_of(launch)
    sheet.head()
    sheet.y += 15
    with sheet.column_heads():
        for block in range(sheet.blocks):
            left, width = sheet.column(block)
            sheet.text(left + width / 2, sheet.y, f"block {block}", "middle small")
    sheet.y += 4
    for step in steps:
        if step.op not in DRAW:
            raise Failed(f"launch {choice.launch + 1}: {step.name} of a cluster's blocks cannot be drawn")
        event = next(iter(step.events.values()))
        with sheet.step(event, words_of(launch, step)):
            sheet.source(event)
            DRAW[step.op](sheet, step)
        sheet.y += 6
        sheet.new_line()
        sheet.rule()
    return sheet.finished("all blocks of the cluster", " ".join(f"Line {step.line}, {words_of(launch, step)}." for step in steps))
