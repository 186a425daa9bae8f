"""Draws what threads do with each other: memory in the middle, a thread, or several of one block, at each side.

Time goes down, in the order in which the CPU device ran the events.
"""

from tools.lib.failed import Failed
from tools.trace import choosing
from tools.trace.narrow import LEFT, MARGIN, PHONE, WIDTH, NarrowSheet, columns, source_text
from tools.trace.places import elements_text
from tools.trace.recording import MEMORY, WARP, per_lane
from tools.trace.sentences import sentence
from tools.trace.svg_style import MONO_CHAR

INNER = {WIDTH: 76, PHONE: 56}  # from the middle to where a thread's half begins
ROW = 34  # height of what a row draws
GIVES = {"store": "stores", "load": "", "atomic": "gives"}
KIND = {"store": "write", "load": "read", "atomic": "atomic"}  # what a finding calls an access


def sides_of(threads):
    """The (block, thread) pairs at the left and at the right: two threads, or those of two blocks. Raises Failed."""
    if all(len(thread) == 2 for thread in threads):
        if len(threads) == 2:
            return [threads[:1], threads[1:]]
        blocks = list(dict.fromkeys(block for block, _ in threads))
        if len(blocks) == 2:
            return [[thread for thread in threads if thread[0] == block] for block in blocks]
    raise Failed("'threads' has pairs of a block and a thread, such as [[0, 0], [1, 0]]: two, or more of two blocks")


def events_of(launch, sides, elements):
    """[(side, thread, event)] of these threads, in the order of the trace, without returns; of accesses only those to `elements`."""
    found = []
    for event in launch["events"]:
        for side, threads in enumerate(sides):
            for block, thread in threads:
                if (event["block"], event["warp"]) != (block, thread // WARP) or not int(event["lanes"], 16) >> thread % WARP & 1:
                    continue
                if event["op"] == "return" or (elements and event["op"] in MEMORY and element_of(launch, thread, event) not in elements):
                    continue
                is_same_barrier = event["op"] == "barrier" and found and found[-1][0] == side and found[-1][2]["op"] == "barrier"
                if not is_same_barrier:  # a bar is of all threads of its side
                    found.append((side, thread, event))
    return found


def element_of(launch, thread, event):
    """The element that a thread accesses, as the picture names it."""
    array, index = per_lane(event, "places")[thread % WARP]
    return elements_text(launch, [(array, index)], event["bytes"])


def words_of(launch, thread, event):
    """What one thread does in an event, for a reader who does not see the drawing."""
    if event["op"] not in MEMORY:
        return sentence(launch, event)
    name = element_of(launch, thread, event)
    value, old = (per_lane(event, key).get(thread % WARP) for key in ("values", "old"))
    if event["op"] == "load":
        return f"load of {name} gets {value}"
    return f"{event['name']} of {value} to {name}" + (f" gets {old}" if old is not None else "")


def is_reported(launch, block, thread, event):
    """True if a finding names this access of a thread."""
    return any(
        choosing.thread_of(launch, access) == (block, thread) and access["kind"].endswith(KIND.get(event["op"], "none"))
        and (access["file"], access["line"]) == (event["file"], event["line"])
        for finding in launch["findings"] for access in finding["accesses"]
    )  # fmt: skip


def fits_a_telephone(launch, sides, events):
    """True if two threads' lines of the program, and the names of their elements, have room in a drawing that is so narrow."""
    names = [element_of(launch, thread, event) for _, thread, event in events if event["op"] in MEMORY]
    return (
        all(len(threads) == 1 for threads in sides)
        and all(len(source_text(event)) <= columns(PHONE) for *_, event in events)
        and all(len(name) * MONO_CHAR <= 2 * INNER[PHONE] - 12 for name in names)
    )


class ThreadSheet(NarrowSheet):
    """Memory in the middle, a half at each side."""

    def __init__(self, launch, sides, events):
        super().__init__(launch, PHONE if fits_a_telephone(launch, sides, events) else WIDTH)
        self.middle, self.inner = self.width / 2, INNER[self.width]


def arrow(sheet, x1, x2, y, lane):
    """A line with a head at x2."""
    head = 6 if x2 > x1 else -6
    sheet.flow(x1, y, x2 - head, y, f"flow L{lane}")
    sheet.add(f'<path d="M{x2:g} {y:g}l{-head} -4v8z" class="L{lane}"/>')


def access(sheet, side, thread, event, colour):
    """The element in the middle, and what goes there or comes back."""
    lane = thread % WARP
    name = element_of(sheet.launch, thread, event)
    value, old = (per_lane(event, key).get(lane) for key in ("values", "old"))
    sign = -1 if side == 0 else 1
    outer, inner = sheet.middle + sign * (sheet.middle - MARGIN - 34), sheet.middle + sign * sheet.inner
    words = (outer + inner) / 2
    sheet.rect(sheet.middle - sheet.inner + 6, sheet.y + 3, 2 * sheet.inner - 12, 22, "box", ' rx="4"')
    sheet.text(sheet.middle, sheet.y + 18, name, "middle mono")
    sheet.add(f'<circle cx="{outer:g}" cy="{sheet.y + 14:g}" r="4" class="L{colour}"/>')
    if event["op"] == "load":
        arrow(sheet, inner, outer + (-6 if side else 6), sheet.y + 14, colour)
        sheet.text(words, sheet.y + 9, f"gets {value}", "middle")
        return
    arrow(sheet, outer, inner, sheet.y + 14, colour)
    sheet.text(words, sheet.y + 9, f"{GIVES[event['op']]} {value}", "middle")
    if old is not None:
        sheet.text(words, sheet.y + 27, f"gets {old}", "middle")


def bar(sheet, side, text, kind):
    """A bar in the half of a side."""
    begin, end = (LEFT, sheet.middle - sheet.inner) if side == 0 else (sheet.middle + sheet.inner, sheet.right)
    sheet.rect(begin, sheet.y + 3, end - begin, 19, kind)
    sheet.text((begin + end) / 2, sheet.y + 16.5, text, "on-bar middle" if kind == "bar" else "middle")


def names_of(threads):
    """The threads of one side in words."""
    return f"block {threads[0][0]}, thread{'s' * (len(threads) > 1)} {', '.join(str(thread) for _, thread in threads)}"


def draw(trace, choice, threads, elements=()):
    """The SVG's text for `threads`, (block, thread) pairs, of a launch; with `elements`, only the accesses to these. Raises Failed."""
    launch = trace["launches"][choice.launch]
    sides = sides_of(threads)
    events = events_of(launch, sides, elements)
    for block, thread in threads:
        side = next(side for side, members in enumerate(sides) if [block, thread] in [list(member) for member in members])
        if (side, thread) not in {entry[:2] for entry in events}:
            raise Failed(f"launch {choice.launch + 1}: block {block}, thread {thread} has no events")
    sheet = ThreadSheet(launch, sides, events)
    sheet.head()
    names = [names_of(members) for members in sides]
    colours = [2, 24]  # of lanes that differ on every screen
    sheet.y += 17
    with sheet.column_heads():
        sheet.text(LEFT, sheet.y, names[0], "strong")
        sheet.text(sheet.middle, sheet.y, "memory", "middle soft")
        sheet.text(sheet.right, sheet.y, names[1], "end strong")
    sheet.y += 6
    sheet.rule()
    words = []
    for side, thread, event in events:
        at, block = (LEFT, "soft") if side == 0 else (sheet.right, "end soft"), sides[side][0][0]
        who = f"block {block}" if event["op"] == "barrier" else f"block {block}, thread {thread}"
        does = words_of(launch, thread, event)
        words.append(f"{who}, line {event['line']}: {does}.")
        with sheet.step(event, f"{who}: {does}"):
            top = sheet.y
            sheet.source(event, at[0])
            if is_reported(launch, sides[side][0][0], thread, event):
                sheet.rect(LEFT - 6 if side == 0 else sheet.right + 2, top + 4, 4, sheet.y + ROW - 12 - top, "mark")
            whose = f"thread {thread}" if len(sides[side]) > 1 else ""
            if event["op"] in MEMORY:
                access(sheet, side, thread, event, colours[side])
                if whose:
                    sheet.text(at[0], sheet.y + 27, whose, at[1])
            elif event["op"] == "fence":
                bar(sheet, side, f"{whose}: fence" if whose else "fence", "part-bar")
            elif event["op"] == "barrier":
                bar(sheet, side, event["name"], "bar")
            else:
                raise Failed(f"{choosing.describe_launch(launch)}: {event['name']} of single threads cannot be drawn")
        sheet.y += ROW - 4
        sheet.rule()
    return sheet.finished(" and ".join(names), " ".join(words))
