"""Draws an array of shared memory from barrier to barrier: what is in its first elements, and where that comes from.

A row is a level: what the threads of one block wrote between two barriers. Lines lead to an element from those that its thread had
read since the barrier before.
"""

from tools.lib.failed import Failed
from tools.trace.narrow import ColumnSheet
from tools.trace.recording import WARP, per_lane
from tools.trace.sentences import count

BOX, FLOW = 20, 26  # heights
MOST_COLUMNS = 8


def levels_of(launch, array):
    """[{element: (value, [elements read], event)}] of the array with this number: what block 0 wrote before each barrier."""
    levels, passed, read = [{}], {}, {}
    for event in launch["events"]:
        warp = event["warp"]
        if event["block"] != 0:
            continue
        if event["op"] == "barrier":
            passed[warp] = passed.get(warp, 0) + 1
            read = {thread: elements for thread, elements in read.items() if thread // WARP != warp}
            levels += [{}] * (passed[warp] + 1 - len(levels))
            levels[passed[warp]] = levels[passed[warp]] or {}
        elif event["op"] in ("load", "store"):
            values = per_lane(event, "values")
            for lane, (number, element) in per_lane(event, "places").items():
                if number != array:
                    continue
                mine = read.setdefault(warp * WARP + lane, [])
                if event["op"] == "load":
                    mine.append(element)
                else:
                    levels[passed.get(warp, 0)][element] = (values[lane], list(mine), event)
    return levels


class LevelSheet(ColumnSheet):
    """A box for each element that is drawn."""

    def boxes(self, values, written):
        """The elements after a level; those that it wrote are filled."""
        self.new_line()
        width = self.pitch - 4
        for column in range(self.columns):
            style = f"cell {self.colour(column)}" if column in written else "box"
            self.rect(self.middle(column) - width / 2, self.y, width, BOX, style, ' rx="3"')
            self.value(self.middle(column), self.y + 13.5, values.get(column, ""), f"[{column}]", width=6)
        self.y += BOX


def draw(trace, choice, name, columns, row_length):
    """The SVG's text for the first `columns` elements of the shared array `name`, whose rows have `row_length` elements. Raises Failed."""
    launch = trace["launches"][choice.launch]
    arrays = [number for number, array in enumerate(launch["arrays"]) if array["name"] == name and array["space"] == "shared"]
    if not arrays:
        raise Failed(f"the launch uses no shared array {name}")
    if not 1 <= columns <= MOST_COLUMNS:
        raise Failed(f"'columns' is 1 to {MOST_COLUMNS}")
    sheet, values, words, skipped = LevelSheet(launch, columns), {}, [], 0
    sheet.head()
    sheet.name_columns([f"{'' if column else name}[{column}]" for column in range(columns)], "small middle soft mono", above=14, below=4)
    for level in levels_of(launch, arrays[0]):
        written = {element % row_length: of for element, of in level.items() if element % row_length < columns}
        if all(values.get(column) == value for column, (value, *_) in written.items()):
            skipped += 1 if level else 0
            continue
        if skipped:
            sheet.caption(f"… {count(skipped, 'level')} without a change of these elements")
        skipped = 0
        value, sources, event = written[max(written)]
        values |= {column: value for column, (value, *_) in written.items()}
        shown = ", ".join(f"[{column}] = {value}" for column, (value, *_) in sorted(written.items()))
        words.append(f"Line {event['line']} writes {shown}.")
        with sheet.step(event, f"writes {shown}"):
            sheet.source(event)
            if any(sources for _, sources, _ in written.values()):
                sheet.new_line()
                for column, (_, sources, _) in sorted(written.items()):
                    for source in (source % row_length for source in sources):
                        sheet.flow(sheet.middle(source), sheet.y, sheet.middle(column), sheet.y + FLOW, f"flow {sheet.colour(source)}")
                sheet.y += FLOW
            sheet.boxes(values, written)
        sheet.y += 4
    if skipped:
        sheet.caption(f"… {count(skipped, 'level')} without a change of these elements")
    return sheet.finished(f"{name}[0] to [{columns - 1}]", " ".join(words))
