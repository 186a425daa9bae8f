"""Draws one warp of one launch as SVG: the 32 lanes side by side, time going down.

The text is the same, byte for byte, for the same trace. It has no script and no outside font, and its
colours follow the reader's light or dark scheme. A lane's colour says nothing that a line, a number
or a pattern does not say as well.
"""

import colorsys
import re
import textwrap
import xml.sax.saxutils

from tools.trace import trace_file
from tools.trace.trace_file import Fold, WARP, lanes_of, per_lane

WIDTH = 900
PITCH = 26  # from lane to lane, and from sector to sector
LEFT = 58  # where lane 0 begins
RIGHT = LEFT + WARP * PITCH
MARGIN = 10
CELL = 18  # height of a lane's cell
VALUE_LINE = 10  # height of a further line in a cell
FLOW = 26  # height of the lines between lanes and memory
MONO_CHAR, SANS_CHAR, SMALL_CHAR = 7.3, 6.7, 5.6  # width of a character, on the wide side: 12 px, 9.5 px
MAX_ROWS = 24
DEEPEST = 112  # height of a column of words in one bank, however many there are
REPORT_LINES = 7
WIDE_ATOMICS = 10  # up to so many addresses are drawn with their names

STYLE = """
svg { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
.page { fill: #ffffff; stroke: #d0d7de; }
text { fill: #1f2328; }
.soft { fill: #59636e; }
.small { font-size: 9.5px; }
.tiny { font-size: 8.5px; }
.mono, .value { font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", Consolas, monospace; }
.value { font-size: 9.5px; text-anchor: middle; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.strong { font-weight: 600; }
.head { font-size: 14px; font-weight: 600; }
.rule { stroke: #d0d7de; }
.cell { fill-opacity: 0.34; stroke-width: 1; }
.idle { fill: url(#hatch); stroke: #afb8c1; }
.hatch { stroke: #afb8c1; stroke-width: 1.2; }
.gone { fill: #818b98; }
.box { fill: none; stroke: #818b98; }
.many { fill: #59636e; stroke: none; }
.full { stroke-width: 0; }
.flow { stroke-width: 1.3; }
.own { fill: none; stroke: #818b98; stroke-dasharray: 2 2; }
.bar { fill: #59636e; }
.on-bar { fill: #ffffff; font-weight: 600; }
.part-bar { fill: none; stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 5 3; }
.finding { fill: #ffebe9; stroke: #cf222e; stroke-width: 1.5; }
.finding-text { fill: #a40e26; font-weight: 600; }
.mark { fill: #cf222e; }
"""
DARK = """
.page { fill: #0d1117; stroke: #3d444d; }
text { fill: #f0f6fc; }
.soft { fill: #a2abb5; }
.rule { stroke: #3d444d; }
.cell { fill-opacity: 0.42; }
.idle { stroke: #565d66; }
.hatch { stroke: #565d66; }
.gone { fill: #7d8590; }
.box { stroke: #7d8590; }
.many { fill: #a2abb5; }
.own { stroke: #7d8590; }
.bar { fill: #a2abb5; }
.on-bar { fill: #0d1117; }
.part-bar { stroke: #a2abb5; }
.finding { fill: #3a1518; stroke: #f85149; }
.finding-text { fill: #ff9492; }
.mark { fill: #f85149; }
"""


def lane_colours():
    """A colour for each lane, from blue over green and orange to violet, readable on light and on dark."""
    colours = []
    for lane in range(WARP):
        hue = (215 - lane * 290 / (WARP - 1)) % 360
        red, green, blue = colorsys.hls_to_rgb(hue / 360, 0.47, 0.62)
        colours.append(f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}")
    return colours


def num(value):
    """A coordinate with at most two digits behind the point, always the same text."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def escape(text):
    """Text for XML, which takes no control characters."""
    return xml.sax.saxutils.escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\ufffd", text))


def clip(text, width):
    """`text`, cut off to `width` characters."""
    return text if len(text) <= width else text[: max(0, width - 1)].rstrip() + "…"


def short_value(text, width=4):
    """A value in at most `width` characters; a number loses digits where it has to."""
    text = {"true": "1", "false": "0"}.get(text, text)
    if len(text) <= width:
        return text
    try:
        number = float(text)
    except ValueError:
        return clip(text, width)
    if number != number or abs(number) == float("inf"):
        return clip(text, width)
    for digits in range(width, 0, -1):
        plain = f"{number:.{digits}g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
        plain = re.sub(r"^(-?)0\.", r"\1.", plain)
        if len(plain) <= width:
            return plain
    return clip(text, width)


class Drawing:
    """Collects the parts of an SVG; `y` is how far down it goes so far."""

    def __init__(self, launch, lane_count):
        self.launch = launch
        self.parts = []
        self.y = 0
        self.lane_count = lane_count
        self.returned = set()
        self.used = set()  # what the legend has to explain

    # ---- shapes

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, text, style=""):
        style = f' class="{style}"' if style else ""
        self.add(f'<text x="{num(x)}" y="{num(y)}"{style}>{escape(text)}</text>')

    def rect(self, x, y, width, height, style, extra=""):
        self.add(f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}" class="{style}"{extra}/>')

    def flow(self, x1, y1, x2, y2, style):
        """A line from one place to another."""
        self.add(f'<path d="M{num(x1)} {num(y1)}L{num(x2)} {num(y2)}" class="{style}"/>')

    # ---- lanes

    def lane_x(self, lane):
        """The middle of a lane's column."""
        return LEFT + (lane + 0.5) * PITCH

    def cells(self, event, values, label):
        """A row of 32 lanes; `values` is {lane: text}. Inactive ones are hatched, returned ones are gone."""
        active = set(lanes_of(event["lanes"]))
        y = self.y
        parts = {lane: parts_of(value) for lane, value in values.items()}  # a vector's, one below the other
        deepest = max(map(len, parts.values()), default=1)
        height = CELL + VALUE_LINE * (deepest - 1)
        if deepest > 1:
            self.used.add("parts")
        self.text(LEFT - 6, y + 13, label, "small soft end")
        for lane in range(self.lane_count):
            x = LEFT + lane * PITCH
            if lane in self.returned:
                self.add(f'<circle cx="{num(self.lane_x(lane))}" cy="{num(y + height / 2)}" r="1.5" class="gone"/>')
                self.used.add("gone")
                continue
            if lane not in active:
                self.rect(x + 1, y, PITCH - 2, height, "idle", ' rx="2"')
                self.used.add("idle")
                continue
            self.rect(x + 1, y, PITCH - 2, height, f"cell L{lane}", ' rx="2"')
            for k, value in enumerate(parts.get(lane, [])):
                short = short_value(value)
                if short != value and value not in ("true", "false"):
                    self.used.add("short")
                self.text(self.lane_x(lane), y + 12.5 + VALUE_LINE * k, short, "value")
        self.y += height

    # ---- memory

    def memory(self, event):
        """The cells and the memory of a load or a store: data flows down."""
        touched = trace_file.touches(self.launch, event)
        draw = self.banks if trace_file.space_of(self.launch, event) == "shared" else self.sectors
        values = per_lane(event, "values")
        if not touched:
            self.cells(event, values, "lanes")
            return
        if event["op"] == "load":
            points = draw(event, touched, up=False)
            top = self.y
            self.y += FLOW
            for lane, x, y in points:
                self.flow(x, y, self.lane_x(lane), top + FLOW, f"flow L{lane}")
            self.cells(event, values, "get")
        else:
            self.cells(event, values, "give")
            top = self.y
            self.y += FLOW
            for lane, x, y in draw(event, touched, up=True):
                self.flow(self.lane_x(lane), top, x, y, f"flow L{lane}")

    def strip(self, event, touched):
        """Where the sectors of an access are drawn: (sectors, width of one, left end, words, words fit beside it)."""
        found = trace_file.sectors(touched)
        pitch = min(PITCH, (RIGHT - LEFT) / len(found))
        width = len(found) * pitch
        middle = sum(self.lane_x(touch.lane) for touch in touched) / len(touched)
        left = min(max(middle - width / 2, LEFT), RIGHT - width)
        used = len({(touch.array, byte) for touch in touched for byte in range(touch.begin, touch.end)})
        where = trace_file.places_text(self.launch, event)
        note = clip(f"{where}: {used} of {len(found) * trace_file.SECTOR} bytes used", 140)
        return found, pitch, left, note, len(note) * SMALL_CHAR + 10 <= RIGHT - left - width

    def sectors(self, event, touched, up):
        """The 32-byte sectors that are touched, side by side: a longer strip costs more.

        Returns (lane, x, y) of each access: where its line ends.
        """
        found, pitch, first, note, beside = self.strip(event, touched)
        height = 16
        y = self.y if up else self.y + (11 if beside else 25)  # numbers stand away from the lanes
        self.text(LEFT - 6, y + 12, "memory", "small soft end")
        lanes_of_byte = {}
        for touch in touched:
            for byte in range(touch.begin, touch.end):
                lanes_of_byte.setdefault((touch.array, byte), set()).add(touch.lane)
        points = {}
        last, free = None, LEFT
        scale = (pitch - 2) / trace_file.SECTOR
        for place, ((array, sector), inside) in enumerate(found.items()):
            x = first + place * pitch
            origin = sector * trace_file.SECTOR
            if last != (array, sector - 1):
                byte = max(min(touch.begin for touch in inside), origin)
                number = str(trace_file.element_at(self.launch, array, byte))
                at = x + 1 + (byte - origin) * scale
                if at >= free:
                    self.text(at, (y + height + 9) if up else (y - 3), number, "tiny soft")
                    free = at + 5.4 * len(number) + 4
            last = (array, sector)
            drawn = set()
            for touch in inside:
                begin, end = max(touch.begin - origin, 0), min(touch.end - origin, trace_file.SECTOR)
                left, width = x + 1 + begin * scale, (end - begin) * scale
                points.setdefault(touch.lane, (left + width / 2, y if up else y + height))
                if (begin, end) in drawn:
                    continue
                drawn.add((begin, end))
                alone = len(lanes_of_byte[array, origin + begin]) == 1
                gap = 0.5 if width > 2 else 0
                self.rect(left, y + 1.5, width - gap, height - 3, f"full L{touch.lane}" if alone else "many")
            self.rect(x + 0.5, y, pitch - 1, height, "box", ' rx="1.5"')
        self.y = y + height + (11 if up else 0)
        if beside:
            self.text(first + len(found) * pitch + 8, y + 12, note, "small soft")
        elif up:
            self.text(RIGHT, self.y + 10, note, "small soft end")
            self.y += 14
        else:
            self.text(RIGHT, y - 14, note, "small soft end")
        self.used.add("sectors")
        return [(lane, *point) for lane, point in sorted(points.items())]

    def banks(self, event, touched, up):
        """The 32 banks of shared memory, words of one bank on top of each other: one more row, one more pass."""
        found = trace_file.banks(touched)
        deepest = max(len(words) for words in found.values())
        height = max(3.0, min(13.0, DEEPEST / deepest))
        top = self.y
        if not up:
            top += 11
        base = top if up else top + deepest * height
        label_y = top + deepest * height + 9 if up else top - 3
        self.text(LEFT - 6, (top + 10) if up else (base - 3), "banks", "small soft end")
        for bank in range(trace_file.BANKS):
            self.text(LEFT + (bank + 0.5) * PITCH, label_y, str(bank), "tiny soft middle")
        points = {}
        edge = base
        for bank, words in found.items():
            for depth, ((array, word), lanes) in enumerate(words.items()):
                x = LEFT + bank * PITCH + 2
                y = base + depth * height if up else base - (depth + 1) * height
                self.rect(x, y, PITCH - 4, height - 1, "cell many" if len(lanes) > 1 else f"cell L{lanes[0]}")
                if height >= 10:
                    number = str(trace_file.element_at(self.launch, array, word * trace_file.WORD))
                    if len(number) <= 4:
                        self.text(x + PITCH / 2 - 2, y + 9.2, number, "tiny middle")
                for lane in lanes:
                    points.setdefault(lane, (x + PITCH / 2 - 2, edge))
        self.rect(LEFT, base - (0.75 if up else 0.25), RIGHT - LEFT, 1, "many")
        self.y = top + deepest * height + (11 if up else 1)
        self.used.add("banks")
        return [(lane, x, y) for lane, (x, y) in sorted(points.items())]

    # ---- what lanes do with each other

    def shuffle(self, event):
        """Each lane's value, lines to the lanes that receive it, and what they received."""
        given, received = per_lane(event, "given"), per_lane(event, "values")
        self.cells(event, given, "give")
        top = self.y
        self.y += FLOW + 6
        for lane, source in sorted(per_lane(event, "sources").items()):
            own = "own" if source == lane else f"flow L{source}"
            self.flow(self.lane_x(source), top, self.lane_x(lane), self.y - (0 if source == lane else 3), own)
            if source != lane:
                x = self.lane_x(lane)
                self.add(f'<path d="M{num(x - 2.5)} {num(self.y - 4)}h5l-2.5 4z" class="L{source}"/>')
        self.cells(event, received, "get")

    def groups(self, groups, labels):
        """Lanes whose lines meet in a box for each group; `groups` is {key: [lane, ...]}."""
        top = self.y
        self.y += FLOW
        most = (RIGHT - LEFT) / len(groups)
        boxes = []  # (the middle of its lanes, width, lanes, label), from left to right
        for key, lanes in groups.items():
            width = min(max(len(labels[key]) * 6 + 14, PITCH - 4), most - 4)
            boxes.append((sum(self.lane_x(lane) for lane in lanes) / len(lanes), width, lanes, labels[key]))
        boxes.sort(key=lambda box: box[0])
        for (_, width, lanes, label), centre in zip(boxes, side_by_side(boxes)):
            for k, lane in enumerate(lanes):
                shift = (k + 0.5) / len(lanes) - 0.5
                self.flow(self.lane_x(lane), top, centre + shift * min(width - 6, 40), self.y, f"flow L{lane}")
            self.rect(centre - width / 2, self.y, width, 17, "box", ' rx="3"')
            self.text(centre, self.y + 12, clip(label, int((width - 2) / 5.4)), "value")
        self.y += 17

    def atomic(self, event):
        """The operands, the addresses on which lanes meet, and what the lanes got back."""
        expected = per_lane(event, "expected")
        if expected:  # compare-and-swap
            self.cells(event, expected, "expect")
            self.y += 2
        self.cells(event, per_lane(event, "values"), "give")
        groups, labels = {}, {}
        for lane, place in per_lane(event, "places").items():
            groups.setdefault(tuple(place), []).append(lane)
        for (array, index), lanes in groups.items():
            number = trace_file.number_text(index)
            name = self.launch["arrays"][array]["name"]
            times = f" × {len(lanes)} lanes" if len(groups) <= 4 and len(lanes) > 1 else ""
            labels[array, index] = f"{name}[{number}]{times}" if len(groups) <= WIDE_ATOMICS else number
        if groups:
            self.groups(groups, labels)
        old = per_lane(event, "old")
        if old:
            self.y += 4
            self.cells(event, old, "get back")
        if expected:
            for lane, stored in per_lane(event, "stored").items():
                if stored:
                    self.text(self.lane_x(lane), self.y + 11, "✓", "middle strong")
            self.used.add("swap")
            self.text(LEFT - 6, self.y + 11, "stored", "small soft end")
            self.y += 12

    def vote(self, event):
        """Votes, reductions and matches: what each lane brings, and the results that they share."""
        given = per_lane(event, "given")
        self.cells(event, given, "give" if given else "lanes")
        groups = {}
        for lane, value in per_lane(event, "values").items():
            groups.setdefault(value, []).append(lane)
        if not groups:
            return
        labels = {
            value: value if len(groups) > 4 else f"{value} for {trace_file.lanes_text(mask_of(lanes))}"
            for value, lanes in groups.items()
        }
        self.groups(groups, labels)

    def barrier(self, event):
        """A bar across the warp: full for the block's barrier, dashed for a warp's."""
        y = self.y
        text = trace_file.cost(self.launch, event)
        if event["op"] == "barrier":
            self.rect(LEFT, y, RIGHT - LEFT, 16, "bar")
            self.text((LEFT + RIGHT) / 2, y + 12, text, "on-bar middle small")
        else:
            self.cells(event, {}, "lanes")
            y = self.y + 3
            self.rect(LEFT, y, RIGHT - LEFT, 14, "part-bar")
            self.text((LEFT + RIGHT) / 2, y + 10.5, text, "middle small soft")
            self.y = y - 2
        self.y += 16

    def leave(self, event):
        """Lanes that return: a cross, and nothing from there on."""
        leaving = lanes_of(event["lanes"])
        self.cells(event, {lane: "×" for lane in leaving}, "return")
        self.returned.update(leaving)

    # ---- rows

    def row(self, event, named):
        """One event: the source line and the cost, and below it what the lanes do."""
        top = self.y
        self.add(f"<g><title>{escape(trace_file.sentence(self.launch, event))}</title>")
        self.y += 16
        cost = trace_file.cost(self.launch, event)
        right = event["name"]
        if event["op"] in ("load", "store"):
            names = {self.launch["arrays"][array]["name"] for array, _ in per_lane(event, "places").values()}
            right += f" of {', '.join(sorted(names))}" if names else ""
        if cost and event["op"] not in ("barrier", "syncwarp", "fence"):
            right += f": {cost}"
        if named:
            right += ", in the report"
        line = str(event["line"])
        self.text(LEFT - 6, self.y, line, "mono end soft")
        source = source_line(event["file"], event["line"])
        room = int((RIGHT - LEFT - len(right) * SANS_CHAR - 16) / MONO_CHAR)
        self.text(LEFT + 2, self.y, clip(source, room), "mono")
        self.text(RIGHT, self.y, right, "end finding-text" if named else "end strong")
        self.y += 8
        op = event["op"]
        draw = {
            "load": self.memory, "store": self.memory, "atomic": self.atomic, "shuffle": self.shuffle,
            "vote": self.vote, "reduce": self.vote, "match": self.vote, "activemask": self.vote,
            "barrier": self.barrier, "syncwarp": self.barrier, "fence": self.barrier, "return": self.leave,
        }
        draw[op](event)
        self.y += 9
        if named:
            self.rect(MARGIN - 6, top + 4, 4, self.y - top - 8, "mark")
        self.add("</g>")
        self.rule()

    def rule(self):
        self.add(f'<path d="M{MARGIN} {num(self.y + 0.5)}H{WIDTH - MARGIN}" class="rule"/>')
        self.y += 1

    def remark(self, text):
        """A row of words between two rules."""
        self.text(LEFT + 2, self.y + 16, text, "soft")
        self.y += 24
        self.rule()

    def report(self, finding):
        """A red box with the first lines of what the check prints."""
        lines = []
        for line in finding.strip().splitlines()[:REPORT_LINES]:
            lines += textwrap.wrap(line, 118, subsequent_indent="    ", drop_whitespace=False) or [""]
        if len(finding.strip().splitlines()) > REPORT_LINES:
            lines.append("…")
        self.y += 8
        self.rect(LEFT, self.y, RIGHT - LEFT, 16 * len(lines) + 12, "finding", ' rx="4"')
        self.text(LEFT - 6, self.y + 18, "finding", "small finding-text end")
        for k, line in enumerate(lines):
            indent = len(line) - len(line.lstrip())
            self.text(LEFT + 10 + indent * 6, self.y + 18 + 16 * k, line.strip(), "finding-text" if k == 0 else "")
        self.y += 16 * len(lines) + 12

    def legend(self):
        """What the signs mean, as far as they occur."""
        texts = {
            "idle": "hatched: takes no part",
            "gone": "dot: has returned",
            "sectors": "a box of memory is a sector: 32 bytes, moved whole",
            "banks": "words in one bank take turns",
            "swap": "✓: found what it expected, and stored",
            "parts": "several numbers in a cell: the lowest address above",
            "short": "values are cut to four characters",
        }
        words = "; ".join(text for key, text in texts.items() if key in self.used)
        if words:
            self.y += 6
            for line in textwrap.wrap(words[0].upper() + words[1:] + ".", 165):
                self.text(LEFT, self.y + 11, line, "small soft")
                self.y += 14


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


def parts_of(value):
    """"(1, 2)" as ["1", "2"]; what is no vector, as one part."""
    return value[1:-1].split(", ") if value.startswith("(") and value.endswith(")") else [value]


def mask_of(lanes):
    """[0, 1] as "0x3"."""
    return hex(sum(1 << lane for lane in lanes))


_files = {}


def source_line(file, line):
    """The text of a source line, without its indentation."""
    if file not in _files:
        _files[file] = trace_file.source_lines(file)
    lines = _files[file]
    return " ".join(lines[line - 1].split()) if 1 <= line <= len(lines) else ""


def is_named(launch, event):
    """True if a finding names the event's line and, for an access, its array."""
    arrays = {launch["arrays"][array]["full_name"] for array, _ in per_lane(event, "places").values()}
    return (event["file"], event["line"]) in trace_file.named_places(launch) and (
        not arrays or any(f"{name}[" in finding for name in arrays for finding in launch["findings"])
    )


def rows_of(trace, choice, lines=None):
    """The rows that a drawing has if it is not cut: events, and Folds. Raises TraceError where `lines` leaves none."""
    launch = trace["launches"][choice.launch]
    events = trace_file.events_of(launch, choice.block, choice.warp, lines)
    if not events and launch["events"]:
        raise trace_file.TraceError(
            f"launch {choice.launch + 1}: block {choice.block}, warp {choice.warp} "
            f"has no events in lines {lines[0]} to {lines[1]}"
        )
    return trace_file.folded(trace_file.without_the_end(events))


def draw(trace, choice, lines=None, rows=(1, MAX_ROWS)):
    """The SVG's text. `lines` is (first, last): only events of these source lines; `rows` is (first, last)
    of the rows that are left then, from 1. Raises TraceError."""
    launch = trace["launches"][choice.launch]
    all_rows = rows_of(trace, choice, lines)
    shown = all_rows[rows[0] - 1 : rows[1]]
    if all_rows and not shown:
        raise trace_file.TraceError(
            f"launch {choice.launch + 1}: there are {len(all_rows)} rows, and none from {rows[0]} on"
        )
    events = [row for row in shown if not isinstance(row, Fold)]
    drawing = Drawing(launch, trace_file.lanes_in_warp(launch, choice.warp))
    for event in trace_file.events_of(launch, choice.block, choice.warp):  # who has left before the first row
        if events and event is events[0]:
            break
        if event["op"] == "return":
            drawing.returned.update(lanes_of(event["lanes"]))

    # The head: what ran, the lanes' numbers.
    drawing.y = 26
    where = f"block {choice.block}, warp {choice.warp}"
    drawing.text(MARGIN + 4, drawing.y, trace_file.describe_launch(launch), "head mono")
    drawing.text(RIGHT, drawing.y, where, "end")
    drawing.y += 10
    files = list(dict.fromkeys(event["file"] for event in events))
    drawing.text(MARGIN + 4, drawing.y + 8, clip(", ".join(files), 130), "small soft")
    drawing.y += 26
    drawing.text(LEFT - 6, drawing.y, "lane", "small soft end")
    for lane in range(drawing.lane_count):
        drawing.text(drawing.lane_x(lane), drawing.y, str(lane), "value soft")
    drawing.y += 6
    drawing.rule()

    if not shown:
        named = trace_file.named_places(launch)
        drawing.remark("the launch was stopped before anything was recorded" + (", here:" if named else ""))
        for file, line in named:
            drawing.text(LEFT - 6, drawing.y + 16, str(line), "mono end soft")
            drawing.text(LEFT + 2, drawing.y + 16, clip(source_line(file, line), 110), "mono")
            drawing.y += 24
    if rows[0] > 1:
        drawing.remark(f"… {trace_file.count(rows[0] - 1, 'row')} before")
    for row in shown:
        if isinstance(row, Fold):
            drawing.remark(
                f"… {trace_file.count(row.rounds, 'more round')} of the {trace_file.count(row.events, 'row')} above"
                if row.events > 1 else f"… {trace_file.count(row.rounds, 'more row')} like this one"
            )
        else:
            drawing.row(row, is_named(launch, row))
    if len(all_rows) > rows[1]:
        drawing.remark(f"… {trace_file.count(len(all_rows) - rows[1], 'more row')}")
    elif not launch.get("complete", True) and not launch["findings"]:
        drawing.remark("… the recorder stopped here: the launch did more")
    for finding in launch["findings"]:
        drawing.report(finding)
    drawing.legend()
    drawing.y += 10

    title = f"{trace_file.describe_launch(launch)}, {where}"
    sentences = []
    for row in shown:
        if isinstance(row, Fold):
            sentences.append(f"Then {trace_file.count(row.rounds, 'more round')} of the same.")
        else:
            sentences.append(f"Line {row['line']}: {trace_file.sentence(launch, row)}.")
    sentences += [finding.strip().splitlines()[0] + "." for finding in launch["findings"]]
    height = num(drawing.y)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="title desc">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(" ".join(sentences))}</desc>',
        f"<style>{STYLE}",
        *(f".L{lane} {{ fill: {colour}; stroke: {colour}; }}" for lane, colour in enumerate(lane_colours())),
        ".flow { fill: none; }",
        f"@media (prefers-color-scheme: dark) {{{DARK}}}",
        "</style>",
        '<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<path d="M0 0V5" class="hatch"/></pattern></defs>',
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{num(drawing.y - 1)}" rx="6" class="page"/>',
        *drawing.parts,
        "</svg>",
        "",
    ])
