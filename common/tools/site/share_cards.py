"""What a shared link shows, 1200 x 630 pixels: an extension of Sphinx.

Each page has a card with its title: a chapter's also has its number against the library, an exercise's its task, all others their
description. The card of a page in Chinese is in English and says so, as the font has no Chinese letters. Slides and the pages of
other sources have their chapter's card.
"""

import textwrap
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib.failed import Failed
from tools.lib.numbers_html import with_raised_exponents
from tools.measure import headline
from tools.site import pages

FOLDER = "_static/cards"
SIZE = (1200, 630)
COLOURS = 64  # of a file: it is a third as large as with all
INK, SOFT, ACCENT, PAGE = "#1f2328", "#59636e", "#0757ba", "#ffffff"


@dataclass(frozen=True)
class Card:
    """What a card says, from top to bottom."""

    course: str  # and where in it the page is
    title: str
    number: str  # "" where there is none
    text: str


def address(base, page):
    """The address of the card of a page, on the site with this address."""
    return f"{base}{FOLDER}/{page}.png"


# ---- cards ---------------------------------------------------------------------------------------


def card_of_front_page(top, course):
    chapters = metadata.load_all(top)
    title = pages.title_of(top / "README.md").partition(": ")[2].capitalize()
    return Card(course, title, f"{len(chapters)} chapters", f"{sum(len(chapter.exercises) for chapter in chapters)} exercises, with or without a GPU")


def card_of_chapter(course, chapter):
    """Without a number where it has not been measured."""
    title = pages.title_of(chapter.folder / "README.md")
    loaded = headline.load(chapter.folder)
    if not loaded:
        return Card(course, title, "", chapter.question)
    head = loaded[1]
    return Card(course, title, head.ratio_text, f"{head.best['name']} against {head.against_name.replace('`', '')}: {head.what_of([head.best])}")


def card_of_exercise(course, chapter, exercise, task):
    """Of the page of the file that a learner edits."""
    return Card(f"{course} – {pages.short_title(pages.title_of(chapter.folder / 'README.md'))}", f"Exercise: {exercise}", "", task)


# ---- drawings ------------------------------------------------------------------------------------


def draw(file, card):
    """Writes one card; Failed if a text does not fit, or has a letter that the font has not."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle
        from PIL import Image, PngImagePlugin
    except ImportError as error:
        raise Failed(f"no matplotlib to draw {file.name}: common/tools/setup.sh --contributor installs it") from error
    across, down = SIZE
    figure = Figure(figsize=(across / 100, down / 100), dpi=100, facecolor=PAGE)
    canvas = FigureCanvasAgg(figure)
    figure.add_artist(Rectangle((0, 0), 24 / across, 1, color=ACCENT, transform=figure.transFigure))
    bold = {"weight": "bold", "linespacing": 1.25}
    rows = [(55, card.course, 21, SOFT, 70, {})]
    if card.number:
        rows += [(115, card.title, 33, ACCENT, 38, bold), (345, card.number, 78, INK, 20, bold), (505, card.text, 19, SOFT, 72, {"linespacing": 1.4})]
    else:
        rows += [(125, card.title, 42, ACCENT, 29, bold), (355, card.text, 23, INK, 60, {"linespacing": 1.45})]
    texts = [
        figure.text(70 / across, 1 - y / down, textwrap.fill(with_raised_exponents(words), letters), size=size, color=colour, va="top", parse_math=False, **more)
        for y, words, size, colour, letters, more in rows
    ]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Glyph")
        try:
            canvas.draw()
        except UserWarning as missing:
            raise Failed(f"{file.name}: '{card.title}' or '{card.text}': {missing}") from missing
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in texts]
    if max(box.x1 for box in boxes) > across - 20 or boxes[-1].y0 < 20 or any(below.y1 > above.y0 for above, below in zip(boxes, boxes[1:])):
        raise Failed(f"{file.name}: '{card.title}', '{card.number}' or '{card.text}' has no room on the card")
    file.parent.mkdir(parents=True, exist_ok=True)
    about = PngImagePlugin.PngInfo()
    about.add_text("Title", card.title)
    picture = Image.frombuffer("RGBA", SIZE, canvas.buffer_rgba()).convert("RGB")
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file, pnginfo=about)


# ---- pages ---------------------------------------------------------------------------------------


def find_chapters(app):
    app.cards = {}  # {page: Card}, of the pages in English
    app.chapters = {chapter.name: chapter for chapter in metadata.load_all(app.srcdir)}


def add_to_page(app, pagename, templatename, context, doctree):
    context["share_card"] = address(app.config.html_baseurl, pagename)
    context["share_card_size"] = SIZE
    if chapter := pages.CHAPTER.match(pagename):
        card = card_of_chapter(app.config.project, app.chapters[chapter[1]])
    elif pages.LANGUAGE.sub("", pagename) == app.config.root_doc:
        card = card_of_front_page(Path(app.srcdir), app.config.project)
    else:
        title = app.env.titles[pagename].astext() if pagename in app.env.titles else context["title"]
        card = Card(app.config.project, title, "", context["description"])
    app.cards[pagename] = card


def write(app, error):
    if error is not None or app.builder.name != "html":
        return
    for page, card in app.cards.items():
        if (language := pages.language_of(page)) != "en":
            card = replace(app.cards[pages.LANGUAGE.sub("", page)], course=f"{card.course} – in {pages.WORDS[language]['in_english']}")
        draw(Path(app.outdir, FOLDER, f"{page}.png"), card)


def setup(app):
    app.connect("builder-inited", find_chapters)
    app.connect("html-page-context", add_to_page)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
