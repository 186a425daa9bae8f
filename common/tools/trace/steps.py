"""The sheet of a drawing that a reader can step through (stepper.py): each of its rows is a step."""

import contextlib

from tools.lib.svg import Sheet, attribute, escape
from tools.trace.svg_text import parts_of, short_value


class StepSheet(Sheet):
    """A sheet whose steps know the line of code that they come from, what happens in words, and their values uncut."""

    def __init__(self):
        super().__init__()
        self.whole = {}  # of the step that is drawn: {who: [what of him the drawing has]}
        self.is_cut = False  # whether the step's drawing cuts one of them

    @contextlib.contextmanager
    def step(self, event, words):
        """What is drawn inside is the step of an event; `words` say what happens in it."""
        self.whole, self.is_cut = {}, False
        self.new_line()
        opening = len(self.lines) - 1
        yield
        self.add("</g>")
        values = "\n".join(f"{who}: {', '.join(texts)}" for who, texts in self.whole.items()) if self.is_cut else ""
        values = f" data-values={attribute(values)}" if values else ""
        at = attribute(f"{event['file']}:{event['line']}")
        self.lines[opening] = f'<g class="step" data-at={at}{values}><title>{escape(words)}</title>{self.lines[opening]}'

    @contextlib.contextmanager
    def column_heads(self):
        """What is drawn inside names the columns of all steps."""
        self.new_line()
        self.add('<g class="columns">')
        yield
        self.add("</g>")

    def value(self, x, y, text, who, label="", width=4, line=0):
        """A value in at most `width` characters; the parts of a vector one below the other, `line` apart. True if it is cut."""
        cut = False
        for k, part in enumerate(parts_of(text) if line else [text]):
            short = short_value(part, width)
            cut |= short != part and part not in ("true", "false")
            self.text(x, y + line * k, short, "value")
        if text:
            self.whole.setdefault(who, []).append(f"{label} {text}".strip())
        self.is_cut |= cut
        return cut
