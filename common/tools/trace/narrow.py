"""Pictures that are as narrow as a telephone: several warps of a launch, or single threads, with time going down."""

import textwrap

from tools.trace.choosing import describe_launch
from tools.trace.recording import WARP, source_line
from tools.trace.steps import StepSheet
from tools.trace.svg_style import HATCH, style_element
from tools.trace.svg_text import clip

WIDTH, MARGIN = 420, 10
LEFT, RIGHT = MARGIN, WIDTH - MARGIN
QUESTION_WIDTH = 50  # characters of a line
SCALE = 1.3  # how much wider than that they are shown where there is room
SOURCE_SIZE, SOURCE_CHAR = 10.5, 6.4  # a line of the program: size, and width of a character


class NarrowSheet(StepSheet):
    """A sheet for the events of one launch."""

    def __init__(self, launch):
        super().__init__()
        self.launch = launch

    def head(self):
        """The question that the picture answers, and what ran."""
        question = self.launch.get("question")
        self.new_line()
        self.y = 7
        for line in textwrap.wrap(question or "", QUESTION_WIDTH):
            self.y += 17
            self.text(LEFT, self.y, line, "head")
        self.y += 17
        self.text(LEFT, self.y, clip(describe_launch(self.launch), 46), "mono soft" if question else "head mono")
        self.y += 10
        self.rule()

    def rule(self):
        """A line across the page."""
        self.add(f'<path d="M{LEFT} {self.y + 0.5:g}H{RIGHT}" class="rule"/>')
        self.y += 1

    def source(self, event, at=LEFT):
        """The line of the program that an event is from, without its comment; it begins at `at`, or further left."""
        code = source_line(event["file"], event["line"]).split("//")[0].strip()
        text = clip(f"{event['line']} {code}", int((RIGHT - LEFT) / SOURCE_CHAR))
        at = max(LEFT, min(at, RIGHT - len(text) * SOURCE_CHAR))
        self.new_line()
        self.y += 16
        self.add(f'<g style="font-size:{SOURCE_SIZE}px">')
        self.text(at, self.y, text, "mono")
        self.add("</g>")
        self.y += 5

    def caption(self, text):
        """A line of words."""
        self.new_line()
        self.y += 11
        self.text(LEFT, self.y, text, "soft")
        self.y += 6

    def finished(self, where, words):
        """The SVG's text."""
        self.y += 10
        title = " ".join(filter(None, [self.launch.get("question"), f"{describe_launch(self.launch)}, {where}"]))
        return self.document(WIDTH, title, words, [style_element(), HATCH], SCALE)


class ColumnSheet(NarrowSheet):
    """A sheet with columns of equal width, each of its own colour."""

    def __init__(self, launch, columns):
        super().__init__(launch)
        self.columns = columns
        self.pitch = (RIGHT - LEFT) / columns

    def middle(self, column):
        """The middle of a column; of one that is not drawn, the right edge."""
        return LEFT + (column + 0.5) * self.pitch if column < self.columns else RIGHT

    def colour(self, column):
        """The class of what belongs to a column; past the last one, the last colour."""
        return f"L{min(column, self.columns - 1) * (WARP - 1) // max(1, self.columns - 1)}"

    def name_columns(self, names, style, above, below):
        """What stands over the columns, with so much room above and below it."""
        self.y += above
        with self.column_heads():
            for column, name in enumerate(names):
                self.text(self.middle(column), self.y, name, style)
        self.y += below
