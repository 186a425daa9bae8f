"""Pictures that are about as narrow as a telephone: several warps of a launch, or single threads, with time going down."""

import textwrap
from pathlib import PurePath

from tools.trace.choosing import describe_launch
from tools.trace.recording import WARP, source_line
from tools.trace.steps import StepSheet
from tools.trace.svg_style import HATCH, style_element
from tools.trace.svg_text import clip

WIDTH, MARGIN = 420, 10
PHONE = 356  # wide at most: what a telephone of 390 pixels does not scroll
LEFT, RIGHT = MARGIN, WIDTH - MARGIN
HEAD_CHAR, KERNEL_CHAR, REPORT_CHAR = 8, 8.6, 6.2  # width of a character of the question, of what ran, and of a report
SCALE = 1.3  # how much wider than that they are shown where there is room
SOURCE_SIZE, SOURCE_CHAR = 10.5, 6.4  # a line of the program: size, and width of a character


def source_text(event):
    """The line of the program that an event is from, with its number, without its comment."""
    code = source_line(event["file"], event["line"]).split("//")[0].strip()
    return f"{event['line']} {code}"


def columns(width):
    """How many characters of the program a drawing of this width has room for."""
    return int((width - LEFT - MARGIN) / SOURCE_CHAR)


class NarrowSheet(StepSheet):
    """A sheet for the events of one launch."""

    def __init__(self, launch, width=WIDTH):
        super().__init__()
        self.launch = launch
        self.width, self.right = width, width - MARGIN

    def head(self):
        """The question that the picture answers, and what ran."""
        question = self.launch.get("question")
        self.new_line()
        self.y = 7
        for line in textwrap.wrap(question or "", int((self.right - LEFT) / HEAD_CHAR)):
            self.y += 17
            self.text(LEFT, self.y, line, "head")
        self.y += 17
        self.text(LEFT, self.y, clip(describe_launch(self.launch), int((self.right - LEFT) / KERNEL_CHAR)), "mono soft" if question else "head mono")
        self.y += 10
        self.rule()

    def rule(self):
        """A line across the page."""
        self.add(f'<path d="M{LEFT} {self.y + 0.5:g}H{self.right}" class="rule"/>')
        self.y += 1

    def source(self, event, at=LEFT):
        """The line of the program that an event is from; it begins at `at`, or further left."""
        text = clip(source_text(event), columns(self.width))
        at = max(LEFT, min(at, self.right - len(text) * SOURCE_CHAR))
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

    def report(self, finding):
        """A red box with what a finding is, and whose accesses it names."""
        what, *accesses = finding["text"].strip().splitlines()[: 1 + len(finding["accesses"])]
        lines = [(0, what)]
        for line, access in zip(accesses, finding["accesses"]):
            text = " ".join(line.replace(access["file"], PurePath(access["file"]).name).split())
            first, *others = textwrap.wrap(text, int((self.right - LEFT - 32) / REPORT_CHAR))
            lines += [(12, first), *((24, other) for other in others)]
        height = 16 * len(lines) + 12
        self.y += 8
        self.new_line()
        self.rect(LEFT, self.y, self.right - LEFT, height, "finding", ' rx="4"')
        for k, (indent, line) in enumerate(lines):
            self.text(LEFT + 10 + indent, self.y + 18 + 16 * k, line, "" if k else "finding-text")
        self.y += height

    def finished(self, where, words):
        """The SVG's text."""
        for finding in self.launch["findings"]:
            self.report(finding)
        self.y += 10
        title = " ".join(filter(None, [self.launch.get("question"), f"{describe_launch(self.launch)}, {where}"]))
        words = " ".join([words, *(f"{finding['text'].strip().splitlines()[0]}." for finding in self.launch["findings"])])
        return self.document(self.width, title, words, [style_element(), HATCH], SCALE)


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
