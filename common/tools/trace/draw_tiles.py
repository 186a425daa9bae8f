"""Draws a look-back: what the tiles of a launch publish in their words (course/look_back.cuh), and which words each tile reads.

A column is a tile; time goes down, in the order in which the CPU device ran the events.
"""

import re

from tools.lib.failed import Failed
from tools.trace.narrow import ColumnSheet
from tools.trace.recording import MEMORY, float_text, per_lane

WORD_BYTES = 8  # stamp, a bit for prefix, 32 bits of a float
ROW, BOX = 21, 17  # heights
MOST_TILES = 8


def states_of(launch):
    """[(event, word, text)] of the accesses to words of tiles: the text is "A 0.5", "P 0.125", or "" for nothing of this launch."""
    found, stamps = [], set()
    for event in launch["events"]:
        if event["op"] not in MEMORY or event["bytes"] != WORD_BYTES:
            continue
        values = per_lane(event, "values")
        for lane, (array, index) in per_lane(event, "places").items():
            if launch["arrays"][array]["type"] != "unsigned long long":
                continue
            head, bits = divmod(int(values[lane]), 1 << 32)
            if event["op"] == "store":
                stamps.add(head >> 1)
            found.append((event, index, head, f"{'AP'[head & 1]} {float_text(bits)}"))
    if len(stamps) != 1:
        raise Failed("the launch does not publish words of one stamp")
    return [(event, word, text if head >> 1 in stamps else "") for event, word, head, text in found]


def rows_of(launch, tiles):
    """[(event, tile, word's tile, text)] of the first tiles: the first word that a block stores is that of its tile."""
    states = states_of(launch)
    first = min(word for event, word, _ in states if event["op"] == "store")
    tile_of = {}
    for event, word, _ in states:
        if event["op"] == "store":
            tile_of.setdefault(event["block"], word - first)
    rows = [(event, tile_of[event["block"]], word - first, text) for event, word, text in states if tile_of.get(event["block"], tiles) < tiles]
    seen = {}
    kept = []
    for event, tile, *read in rows:  # a tile that looks at the same word again, and finds the same, waits: one row
        if event["op"] == "load" and seen.get(tile) == ("load", *read):
            continue
        seen[tile] = (event["op"], *read)
        kept.append((event, tile, *read))
    return kept


class TileSheet(ColumnSheet):
    """A column for each tile."""

    def life(self, state, tile):
        """Below a word that has been published: a thin line after its aggregate, a thick one after its prefix."""
        width = {"A": 2, "P": 7}[state[0]]
        self.rect(self.middle(tile) - width / 2, self.y, width, ROW, f"full {self.colour(tile)}")


def draw(trace, choice, tiles):
    """The SVG's text for the first `tiles` tiles of a launch. Raises Failed."""
    launch = trace["launches"][choice.launch]
    launch = {**launch, "kernel": re.sub(r"<.*", "", launch["kernel"])}  # its arguments leave no room for the grid
    if not 2 <= tiles <= MOST_TILES:
        raise Failed(f"'tiles' is 2 to {MOST_TILES}")
    sheet, published, words = TileSheet(launch, tiles), {}, []
    sheet.head()
    sheet.name_columns([f"tile {tile}" for tile in range(tiles)], "middle strong", above=15, below=5)
    sheet.rule()
    for event, tile, word, text in rows_of(launch, tiles):
        is_load = event["op"] == "load"
        happens = f"Tile {tile} looks at tile {word}, and finds {text or 'nothing'}" if is_load else f"Tile {tile} publishes {text}"
        words.append(f"{happens}.")
        sheet.new_line()
        for other, state in published.items():
            if is_load or other != word:
                sheet.life(state, other)
        with sheet.step(event, happens):
            if is_load:
                there, here, middle = sheet.middle(word), sheet.middle(tile), sheet.y + 14
                sheet.flow(there + 5, middle, here - 12, middle, f"flow {sheet.colour(word)}")
                sheet.add(f'<path d="M{here - 5:g} {middle:g}l-8 -4v8z" class="{sheet.colour(word)}"/>')
                sheet.text(there + 8, middle - 4, text or "nothing", "small")
            else:
                width = min(66, sheet.pitch - 4)
                sheet.rect(sheet.middle(word) - width / 2, sheet.y + 2, width, BOX, f"cell {sheet.colour(word)}", ' rx="4"')
                sheet.text(sheet.middle(word), sheet.y + 14, text, "value")
                published[word] = text
        sheet.y += ROW
    return sheet.finished(f"the first {tiles} tiles", " ".join(words))
