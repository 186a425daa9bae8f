"""The sheet that the picture of a warp is drawn on: the row of 32 lanes."""

from tools.lib.svg import num
from tools.trace.recording import lanes_of
from tools.trace.steps import StepSheet
from tools.trace.svg_style import CELL, LEFT, PITCH, VALUE_LINE
from tools.trace.svg_text import parts_of


class Canvas(StepSheet):
    """A sheet for one warp of a launch."""

    def __init__(self, launch, lane_count):
        super().__init__()
        self.launch = launch
        self.lane_count = lane_count
        self.returned = set()
        self.used = set()  # what the legend has to explain

    def lane_x(self, lane):
        """The middle of a lane's column."""
        return LEFT + (lane + 0.5) * PITCH

    def cells(self, event, values, label):
        """A row of 32 lanes; `values` is {lane: text}. Inactive ones are hatched, returned ones are gone."""
        self.new_line()
        active = set(lanes_of(event["lanes"]))
        y = self.y
        deepest = max((len(parts_of(value)) for value in values.values()), default=1)
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
            if lane in values and self.value(self.lane_x(lane), y + 12.5, values[lane], f"lane {lane}", label, line=VALUE_LINE):
                self.used.add("short")
        self.y += height
