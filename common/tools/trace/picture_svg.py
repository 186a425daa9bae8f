"""Draws one warp of one launch as SVG: the 32 lanes side by side, time going down.

The text is the same, byte for byte, for the same trace. It has no script and no outside font, and its
colours follow the reader's light or dark scheme. A lane's colour says nothing that a line, a number
or a pattern does not say as well.
"""

import textwrap

from tools.lib.failed import Failed
from tools.lib.svg import num
from tools.trace import choosing, recording
from tools.trace.canvas import Canvas
from tools.trace.draw_exchange import atomic, barrier, leave, shuffle, vote
from tools.trace.draw_memory import memory
from tools.trace.folding import Fold, folded
from tools.trace.recording import lanes_of, per_lane, source_line
from tools.trace.sentences import cost as cost_of
from tools.trace.sentences import count, sentence
from tools.trace.svg_style import HATCH, LEFT, MARGIN, MONO_CHAR, RIGHT, SANS_CHAR, WIDTH, style_element
from tools.trace.svg_text import clip

MAX_ROWS = 24
REPORT_LINES = 7
DRAW = {
    "load": memory, "store": memory, "atomic": atomic, "shuffle": shuffle, "vote": vote, "reduce": vote, "match": vote,
    "activemask": vote, "barrier": barrier, "cluster_barrier": barrier, "syncwarp": barrier, "fence": barrier, "return": leave,
}


# ---- rows ------------------------------------------------------------------------------------------


def row(canvas, event, named):
    """One event: the source line and the cost, and below it what the lanes do."""
    top = canvas.y
    canvas.y += 16
    cost = cost_of(canvas.launch, event)
    right = event["name"]
    if event["op"] in ("load", "store"):
        names = {canvas.launch["arrays"][array]["name"] for array, _ in per_lane(event, "places").values()}
        right += f" of {', '.join(sorted(names))}" if names else ""
    if cost and event["op"] not in ("barrier", "cluster_barrier", "syncwarp", "fence"):
        right += f": {cost}"
    if named:
        right += ", in the report"
    line = str(event["line"])
    canvas.text(LEFT - 6, canvas.y, line, "mono end soft")
    source = source_line(event["file"], event["line"])
    room = int((RIGHT - LEFT - len(right) * SANS_CHAR - 16) / MONO_CHAR)
    canvas.text(LEFT + 2, canvas.y, clip(source, room), "mono")
    canvas.text(RIGHT, canvas.y, right, "end finding-text" if named else "end strong")
    canvas.y += 8
    DRAW[event["op"]](canvas, event)
    canvas.y += 9
    canvas.new_line()
    if named:
        canvas.rect(MARGIN - 6, top + 4, 4, canvas.y - top - 8, "mark")


def rule(canvas):
    """A line across the page."""
    canvas.add(f'<path d="M{MARGIN} {num(canvas.y + 0.5)}H{WIDTH - MARGIN}" class="rule"/>')
    canvas.y += 1


def remark(canvas, text):
    """A row of words between two rules."""
    canvas.new_line()
    canvas.text(LEFT + 2, canvas.y + 16, text, "soft")
    canvas.y += 24
    rule(canvas)


def report(canvas, finding, whole):
    """A red box with what the check prints, or its first lines."""
    lines, printed = [], finding["text"].strip().splitlines()
    shown = printed if whole else printed[:REPORT_LINES]
    for line in shown:
        lines += textwrap.wrap(line, 118, subsequent_indent="    ", drop_whitespace=False) or [""]
    if len(printed) > len(shown):
        lines.append("…")
    canvas.y += 8
    canvas.new_line()
    canvas.rect(LEFT, canvas.y, RIGHT - LEFT, 16 * len(lines) + 12, "finding", ' rx="4"')
    canvas.text(LEFT - 6, canvas.y + 18, "finding", "small finding-text end")
    for k, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        canvas.text(LEFT + 10 + indent * 6, canvas.y + 18 + 16 * k, line.strip(), "finding-text" if k == 0 else "")
    canvas.y += 16 * len(lines) + 12


def legend(canvas):
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
    words = "; ".join(text for key, text in texts.items() if key in canvas.used)
    if words:
        canvas.y += 6
        canvas.new_line()
        for line in textwrap.wrap(words[0].upper() + words[1:] + ".", 165):
            canvas.text(LEFT, canvas.y + 11, line, "small soft")
            canvas.y += 14


# ---- what is drawn ---------------------------------------------------------------------------------


def is_named(launch, event):
    """True if a finding names the event's line and, for an access, its array."""
    arrays = {launch["arrays"][array]["full_name"] for array, _ in per_lane(event, "places").values()}
    return (event["file"], event["line"]) in choosing.named_places(launch) and (
        not arrays or any(finding["object"] in arrays for finding in launch["findings"])
    )


def rows_of(trace, choice, lines=None, whole=False):
    """The rows that a drawing has if it is not cut: events, and unless it is to be whole, Folds. Raises Failed where
    `lines` leaves none."""
    launch = trace["launches"][choice.launch]
    events = choosing.events_of(launch, choice.block, choice.warp, lines)
    if not events and launch["events"]:
        raise Failed(
            f"launch {choice.launch + 1}: block {choice.block}, warp {choice.warp} "
            f"has no events in lines {lines[0]} to {lines[1]}"
        )
    events = choosing.without_the_end(events)
    return events if whole else folded(events)


def head(canvas, title, where, files):
    """The question that the picture answers, what ran, and the lanes' numbers."""
    question = canvas.launch.get("question")
    canvas.new_line()
    canvas.y = 26
    canvas.text(MARGIN + 4, canvas.y, question or title, "head" if question else "head mono")
    canvas.text(RIGHT, canvas.y, where, "end")
    canvas.y += 10
    canvas.text(MARGIN + 4, canvas.y + 8, clip(", ".join([*[title] * bool(question), *files]), 130), "small soft")
    canvas.y += 26
    with canvas.column_heads():
        canvas.text(LEFT - 6, canvas.y, "lane", "small soft end")
        for lane in range(canvas.lane_count):
            canvas.text(canvas.lane_x(lane), canvas.y, str(lane), "value soft")
    canvas.y += 6
    rule(canvas)


def stopped_at_once(canvas):
    """Instead of rows: the launch was stopped, and where."""
    named = choosing.named_places(canvas.launch)
    remark(canvas, "the launch was stopped before anything was recorded" + (", here:" if named else ""))
    for file, line in named:
        canvas.new_line()
        canvas.text(LEFT - 6, canvas.y + 16, str(line), "mono end soft")
        canvas.text(LEFT + 2, canvas.y + 16, clip(source_line(file, line), 110), "mono")
        canvas.y += 24


def fold_text(fold):
    """The remark instead of rounds that look alike."""
    if fold.events == 1:
        return f"… {count(fold.rounds, 'more row')} like this one"
    return f"… {count(fold.rounds, 'more round')} of the {count(fold.events, 'row')} above"


def description(launch, shown):
    """The picture in sentences, for a reader who does not see it."""
    sentences = []
    for row in shown:
        if isinstance(row, Fold):
            sentences.append(f"Then {count(row.rounds, 'more round')} of the same.")
        else:
            sentences.append(f"Line {row['line']}: {sentence(launch, row)}.")
    return " ".join(sentences + [finding["text"].strip().splitlines()[0] + "." for finding in launch["findings"]])


def draw(trace, choice, lines=None, rows=(1, MAX_ROWS), whole=False):
    """The SVG's text. `lines` is (first, last): only events of these source lines; `rows` is (first, last)
    of the rows that are left then, from 1; a `whole` one has all rounds of loops, and all lines of findings. Raises Failed."""
    launch = trace["launches"][choice.launch]
    all_rows = rows_of(trace, choice, lines, whole)
    shown = all_rows[rows[0] - 1 : rows[1]]
    if all_rows and not shown:
        raise Failed(f"launch {choice.launch + 1}: there are {len(all_rows)} rows, and none from {rows[0]} on")
    events = [row for row in shown if not isinstance(row, Fold)]
    canvas = Canvas(launch, recording.lanes_in_warp(launch, choice.warp))
    for event in choosing.events_of(launch, choice.block, choice.warp):  # who has left before the first row
        if events and event is events[0]:
            break
        if event["op"] == "return":
            canvas.returned.update(lanes_of(event["lanes"]))

    title, where = choosing.describe_launch(launch), f"block {choice.block}, warp {choice.warp}"
    head(canvas, title, where, list(dict.fromkeys(event["file"] for event in events)))
    if not shown:
        stopped_at_once(canvas)
    if rows[0] > 1:
        remark(canvas, f"… {count(rows[0] - 1, 'row')} before")
    for shown_row in shown:
        if isinstance(shown_row, Fold):
            remark(canvas, fold_text(shown_row))
        else:
            with canvas.step(shown_row, sentence(launch, shown_row)):
                row(canvas, shown_row, is_named(launch, shown_row))
            rule(canvas)
    if len(all_rows) > rows[1]:
        remark(canvas, f"… {count(len(all_rows) - rows[1], 'more row')}")
    elif not launch.get("complete", True) and not launch["findings"]:
        remark(canvas, "… the recorder stopped here: the launch did more")
    for finding in launch["findings"]:
        report(canvas, finding, whole)
    legend(canvas)
    canvas.y += 10

    return canvas.document(WIDTH, " ".join(filter(None, [launch.get("question"), f"{title}, {where}"])), description(launch, shown), [style_element(), HATCH])
