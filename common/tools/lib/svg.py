"""Elements of an SVG as text: always the same text for the same drawing, and elements that belong together on one line."""

import re
import xml.sax.saxutils


def num(value):
    """A coordinate with at most two digits after the point, always the same text."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def escape(text):
    """Text for XML, which takes no control characters."""
    return xml.sax.saxutils.escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\ufffd", text))


def attribute(text):
    """A text as the value of an attribute, with its quotes."""
    return '"' + escape(text).replace('"', "&quot;").replace("\n", "&#10;") + '"'


def one_line(rules):
    """Style rules on one line: they are not read in a picture."""
    return " ".join(rules.split())


class Sheet:
    """Collects the elements of an SVG; `y` is how far down it goes so far."""

    def __init__(self):
        self.lines = []  # of the file: elements that belong together share one
        self.y = 0

    def new_line(self):
        """What follows has a line of its own in the file: a row of cells, the lines between two of them."""
        self.lines.append("")

    def add(self, text):
        self.lines[-1] += text

    def text(self, x, y, text, style=""):
        style = f' class="{style}"' if style else ""
        self.add(f'<text x="{num(x)}" y="{num(y)}"{style}>{escape(text)}</text>')

    def rect(self, x, y, width, height, style, extra=""):
        self.add(f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}" class="{style}"{extra}/>')

    def flow(self, x1, y1, x2, y2, style):
        """A line from (x1, y1) to (x2, y2)."""
        self.add(f'<path d="M{num(x1)} {num(y1)}L{num(x2)} {num(y2)}" class="{style}"/>')

    def document(self, width, title, words, head, scale=1):
        """The whole SVG, as high as the sheet is long; `words` say what it shows, `head` is what comes before the page."""
        height = num(self.y)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{num(scale * width)}" '
            f'height="{num(scale * self.y)}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(words)}</desc>',
            *head,
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{num(self.y - 1)}" rx="6" class="page"/>',
            *self.lines,
            "</svg>",
            "",
        ])
