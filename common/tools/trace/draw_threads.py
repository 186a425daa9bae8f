"""Draws what threads of different warps do with each other: memory in the middle, a thread at each side.

Time goes down, in the order in which the CPU device ran the events.
"""

from tools.lib.failed import Failed
from tools.trace import choosing
from tools.trace.narrow import LEFT, MARGIN, RIGHT, WIDTH, NarrowSheet
from tools.trace.places import elements_text
from tools.trace.recording import MEMORY, WARP, per_lane
from tools.trace.sentences import sentence

MIDDLE = WIDTH / 2
INNER = 76  # from the middle to where a thread's half begins
THREADS = 2
ROW = 34  # height of what a row draws
GIVES = {"store": "stores", "load": "", "atomic": "gives"}


def events_of(launch, threads):
    """[(side, lane, event)] of these (block, thread) pairs, in the order of the trace, without returns."""
    found = []
    for event in launch["events"]:
        for side, (block, thread) in enumerate(threads):
            lane = thread % WARP
            if (event["block"], event["warp"]) == (block, thread // WARP) and int(event["lanes"], 16) >> lane & 1:
                found.append((side, lane, event))
    return [entry for entry in found if entry[2]["op"] != "return"]


def arrow(sheet, x1, x2, y, lane):
    """A line with a head at x2."""
    head = 6 if x2 > x1 else -6
    sheet.flow(x1, y, x2 - head, y, f"flow L{lane}")
    sheet.add(f'<path d="M{x2:g} {y:g}l{-head} -4v8z" class="L{lane}"/>')


def access(sheet, side, lane, event, colour):
    """The element in the middle, and what goes there or comes back."""
    array, index = per_lane(event, "places")[lane]
    name = elements_text(sheet.launch, [(array, index)], event["bytes"])
    value, old = (per_lane(event, key).get(lane) for key in ("values", "old"))
    sign = -1 if side == 0 else 1
    outer, inner = MIDDLE + sign * (WIDTH / 2 - MARGIN - 34), MIDDLE + sign * INNER
    words = (outer + inner) / 2
    sheet.rect(MIDDLE - INNER + 6, sheet.y + 3, 2 * INNER - 12, 22, "box", ' rx="4"')
    sheet.text(MIDDLE, sheet.y + 18, name, "middle mono")
    sheet.add(f'<circle cx="{outer:g}" cy="{sheet.y + 14:g}" r="4" class="L{colour}"/>')
    if event["op"] == "load":
        arrow(sheet, inner, outer + (-6 if side else 6), sheet.y + 14, colour)
        sheet.text(words, sheet.y + 9, f"gets {value}", "middle")
        return
    arrow(sheet, outer, inner, sheet.y + 14, colour)
    sheet.text(words, sheet.y + 9, f"{GIVES[event['op']]} {value}", "middle")
    if old is not None:
        sheet.text(words, sheet.y + 27, f"gets {old}", "middle")


def fence(sheet, side):
    """A dashed bar in the thread's half."""
    begin, end = (LEFT, MIDDLE - INNER) if side == 0 else (MIDDLE + INNER, RIGHT)
    sheet.rect(begin, sheet.y + 3, end - begin, 19, "part-bar")
    sheet.text((begin + end) / 2, sheet.y + 16.5, "fence", "middle")


def draw(trace, choice, threads):
    """The SVG's text for two `threads`, (block, thread) pairs, of a launch. Raises Failed."""
    launch = trace["launches"][choice.launch]
    if len(threads) != THREADS or any(len(thread) != 2 for thread in threads):
        raise Failed(f"'threads' has {THREADS} pairs of a block and a thread, such as [[0, 0], [1, 0]]")
    events = events_of(launch, threads)
    if missing := [thread for side, thread in enumerate(threads) if side not in {entry[0] for entry in events}]:
        raise Failed(f"launch {choice.launch + 1}: block {missing[0][0]}, thread {missing[0][1]} has no events")
    sheet = NarrowSheet(launch)
    sheet.head()
    names = [f"block {block}, thread {thread}" for block, thread in threads]
    colours = [2, 24]  # of lanes that differ on every screen
    sheet.new_line()
    sheet.y += 17
    sheet.text(LEFT, sheet.y, names[0], "strong")
    sheet.text(MIDDLE, sheet.y, "memory", "middle soft")
    sheet.text(RIGHT, sheet.y, names[1], "end strong")
    sheet.y += 6
    sheet.rule()
    for side, lane, event in events:
        sheet.source(event, LEFT if side == 0 else RIGHT)
        if event["op"] in MEMORY:
            access(sheet, side, lane, event, colours[side])
        elif event["op"] == "fence":
            fence(sheet, side)
        else:
            raise Failed(f"{choosing.describe_launch(launch)}: {event['name']} of single threads cannot be drawn")
        sheet.y += ROW - 4
        sheet.rule()
    words = " ".join(f"{names[side]}, line {event['line']}: {sentence(launch, event)}." for side, _, event in events)
    return sheet.finished(" and ".join(names), words)
