"""What a shared link shows, 1200 x 630 pixels: an extension of Sphinx.

Each chapter has a card with its title and its number against the library, in all languages; all other pages have the course's.
"""

import textwrap
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib.failed import Failed
from tools.lib.numbers_html import POWER
from tools.measure import headline
from tools.site import pages

FOLDER = "_static/cards"
COURSE = "course"
SIZE = (1200, 630)
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
INK, SOFT, ACCENT, PAGE = "#1f2328", "#59636e", "#0757ba", "#ffffff"


def card_of(pagename):
    """The card of a page: NN-topic, or the course's."""
    chapter = pages.CHAPTER.match(pagename)
    return chapter[1] if chapter else COURSE


def texts_of_chapter(chapter):
    """(title, number, what it is) of a chapter; without a number where it has not been measured."""
    title = pages.title_of(chapter.folder / "README.md")
    loaded = headline.load(chapter.folder)
    if not loaded:
        return title, "", chapter.question
    head = loaded[1]
    return title, head.ratio_text, f"{head.best['name']} against {head.against_name.replace('`', '')}: {head.what_of([head.best])}"


def with_raised_exponents(text):
    """2^24 with the superscripts that a font has."""
    return POWER.sub(lambda power: power[1] + power[3].translate(RAISED) if (power[3] or "").lstrip("-").isdigit() else power[0], text)


def draw(file, course, title, number, what):
    """Writes one card; Failed if a text does not fit."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise Failed(f"no matplotlib to draw {file.name}: common/tools/setup.sh --contributor installs it") from error
    across, down = SIZE
    figure = Figure(figsize=(across / 100, down / 100), dpi=100, facecolor=PAGE)
    canvas = FigureCanvasAgg(figure)
    figure.add_artist(Rectangle((0, 0), 24 / across, 1, color=ACCENT, transform=figure.transFigure))
    texts = [
        figure.text(70 / across, 1 - y / down, textwrap.fill(with_raised_exponents(words), letters), size=size, color=colour, va="top", parse_math=False, **more)
        for y, words, size, colour, letters, more in (
            (55, course, 21, SOFT, 70, {}),
            (115, title, 33, ACCENT, 38, {"weight": "bold", "linespacing": 1.25}),
            (345, number, 78, INK, 20, {"weight": "bold"}),
            (505, what, 19, SOFT, 72, {"linespacing": 1.4}),
        ) if words
    ]  # fmt: skip
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in texts]
    if max(box.x1 for box in boxes) > across - 20 or boxes[-1].y0 < 20 or any(below.y1 > above.y0 for above, below in zip(boxes, boxes[1:])):
        raise Failed(f"{file.name}: '{title}', '{number}' or '{what}' has no room on the card")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Software": None})


def add_to_page(app, pagename, templatename, context, doctree):
    context["share_card"] = f"{app.config.html_baseurl}{FOLDER}/{card_of(pagename)}.png"
    context["share_card_size"] = SIZE


def write(app, error):
    if error is not None or app.builder.name != "html":
        return
    top, folder = Path(app.srcdir), Path(app.outdir, FOLDER)
    chapters = metadata.load_all(top)
    draw(folder / f"{COURSE}.png", app.config.project, pages.title_of(top / "README.md").partition(": ")[2].capitalize(), f"{len(chapters)} chapters",
         f"{sum(len(chapter.exercises) for chapter in chapters)} exercises, with or without a GPU")  # fmt: skip
    for chapter in chapters:
        draw(folder / f"{chapter.name}.png", app.config.project, *texts_of_chapter(chapter))


def setup(app):
    app.connect("html-page-context", add_to_page)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
