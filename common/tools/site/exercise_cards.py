"""The cards of exercises on the site: an extension of Sphinx.

A card is a block of its own, which ends with the hints of the exercise, folded. Each of its commands has a block, so that a
button copies it alone. site.js lets the reader mark an exercise as done, and shows in the navigation which chapters are.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from tools.lib import chapter as metadata
from tools.lib import hints
from tools.lib.pages import CARD
from tools.site import pages, typesetting

BEGINS, ENDS = "<!-- exercise ", "<!-- card:end -->"
COMMANDS = re.compile(r"^```sh\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def named(chapter, exercise):
    """An exercise as site.js names it."""
    return f"{chapter}/{exercise}"


# ---- text ----------------------------------------------------------------------------------------


def with_single_commands(card):
    return COMMANDS.sub(lambda block: "\n".join(f"```sh\n{line}\n```\n" for line in block[1].splitlines()), card)


def with_hints(card, file):
    """The text of a card with its hints; it ends with a marker."""
    word = pages.WORDS[pages.language_of(file.stem)]["hint"]
    folded = (
        f"\n<details><summary>{word} {number}</summary>\n\n{text}\n\n</details>\n" for number, text in enumerate(hints.read(file)[1], 1)
    )
    return f"{with_single_commands(card[0])}{''.join(folded)}\n{ENDS}\n\n"


def complete_cards(app, docname, source):
    if chapter := pages.CHAPTER.match(docname):
        folder, page = Path(app.srcdir, "chapters", chapter[1]), f"{Path(docname).name}.md"
        source[0] = CARD.sub(lambda card: with_hints(card, hints.file_of(folder, card["name"], page)), source[0])


# ---- the page ------------------------------------------------------------------------------------


def frame_cards(app, doctree, docname):
    """The frame of a card begins before the heading that follows its marker."""
    name = None
    for node in list(doctree.findall(lambda node: isinstance(node, (nodes.raw, nodes.section)))):
        if isinstance(node, nodes.raw) and node.astext().startswith(BEGINS):
            name = named(pages.CHAPTER.match(docname)[1], node.astext().split()[2])
        elif isinstance(node, nodes.section) and name is not None:
            end = next(child for child in node if isinstance(child, nodes.raw) and child.astext().strip() == ENDS)
            node.replace(end, typesetting.raw("</div>"))
            node.insert(0, typesetting.raw(f'<div class="card" data-exercise="{html.escape(name)}">'))
            name = None


def find_exercises(app):
    """{a chapter's page: its exercises}, for the navigation."""
    app.exercises = {
        f"chapters/{chapter.name}/{file.stem}": [named(chapter.name, exercise) for exercise in chapter.exercises]
        for chapter in metadata.load_all(app.srcdir) for file in chapter.folder.glob("README*.md")
    }  # fmt: skip


def setup(app):
    app.connect("builder-inited", find_exercises)
    app.connect("source-read", complete_cards)
    app.connect("doctree-resolved", frame_cards, priority=450)  # after the search has read the text
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
