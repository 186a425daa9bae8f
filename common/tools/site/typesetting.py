"""How a page of the site looks where Markdown says less: an extension of Sphinx.

2^24 has a superscript, and no line ends between a number and its unit. The link to the source below a block of code is the block's caption. What a rung costs
(<!-- cost NAME -->), what the front page shows first and a chapter's opening have classes of their own in site.css, and wide
tables a frame. Each cell of a table knows the head of its column, so that a row can be a block of labelled lines where the table is too wide.
"""

import html
import re

from docutils import nodes
from tools.lib.numbers_html import POWER, RAISED, typeset_numbers, with_units_kept
from tools.site import source_pages

FRAMES = {
    "<!-- first-screen:begin -->": '<div class="first-screen">', "<!-- first-screen:end -->": "</div>",
    "<!-- opening:begin -->": '<div class="opening">', "<!-- opening:end -->": "</div>",
}  # fmt: skip
SUMMARY = re.compile(r"<summary>.*?</summary>")
UNTOUCHED = (nodes.literal, nodes.literal_block, nodes.raw, nodes.comment)
COST = "<!-- cost "
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r'<td(?: class="([^"]*)")?>(.*?)</td>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
LONG_NAME = re.compile(r"(<[^>]*>)|[^\s<]{25,}")
SUPERSCRIPT = re.compile(r"<sup>(.*?)</sup>")
OPTION_IN_TEXT = re.compile(r'<span class="pre">(?=-[^<]{1,30}</span>)')
SHELL = re.compile(r'<div class="highlight-sh\b.*?</pre>', re.DOTALL)
OPTION_IN_SHELL = re.compile(r"(?<=[\s>])--?[A-Za-z][^\s<]{0,28}(?=[\s<])")
LINE, PHRASE = 15, 24  # characters: a column with a longer cell may have several lines in a cell; if most are longer than the second, it is text


def raw(text):
    return nodes.raw("", text, format="html")


# ---- numbers -------------------------------------------------------------------------------------


def typeset_text(doctree):
    for node in list(doctree.findall(nodes.Text)):
        text = with_units_kept(node)
        if isinstance(node.parent, UNTOUCHED) or (text == node and not POWER.search(text)):
            continue
        parts, end = [], 0
        for power in POWER.finditer(text):
            parts += [nodes.Text(text[end : power.start()] + power[1]), nodes.superscript("", power[2] or power[3])]
            end = power.end()
        node.parent.replace(node, [*parts, nodes.Text(text[end:])])


# ---- blocks --------------------------------------------------------------------------------------


def after(node):
    """What follows a node in its parent, or None."""
    place = node.parent.index(node) + 1
    return node.parent[place] if place < len(node.parent) else None


def is_source_link(node):
    return (
        isinstance(node, nodes.paragraph) and len(node) == 1 and isinstance(node[0], nodes.reference)
        and node[0].get("refuri", "").startswith(f"{source_pages.SCHEME}:")
    )  # fmt: skip


def caption_code(doctree):
    """The link below a block of code becomes the caption above it."""
    for block in list(doctree.findall(nodes.literal_block)):
        link = after(block)
        if is_source_link(link):
            parent = block.parent
            parent.remove(link)
            parent.replace(block, [raw('<figure class="code"><figcaption>'), link, raw("</figcaption>"), block, raw("</figure>")])


def mark_costs(doctree):
    for comment in doctree.findall(nodes.raw):
        if comment.astext().startswith(COST) and isinstance(quote := after(comment), nodes.block_quote):
            quote["classes"].append("cost")


def frame_tables(doctree):
    """A table that is wider than the page is scrolled inside a frame."""
    for table in list(doctree.findall(nodes.table)):
        table.parent.replace(table, [raw('<div class="wide">'), table, raw("</div>")])


def frame_openings(doctree):
    """What a reader of the front page sees first, which site.css lays out in one screen; what a chapter's opening says."""
    for comment in list(doctree.findall(nodes.raw)):
        if frame := FRAMES.get(comment.astext().strip()):
            comment.parent.replace(comment, raw(frame))


# ---- tables --------------------------------------------------------------------------------------


def text_of(cell):
    """The HTML of a cell as text, with raised digits for superscripts."""
    raised = SUPERSCRIPT.sub(lambda power: power[1].translate(RAISED), cell)
    return " ".join(html.unescape(TAG.sub("", raised)).split())


def with_breaks(cell):
    """The HTML of a cell in which a line may end after a :: of a long name: else its column takes the room of the others."""
    return LONG_NAME.sub(lambda found: found[1] or found[0].replace("::", "::<wbr>"), cell)


def with_labels(table):
    """The HTML of a table whose cells have the head of their column as data-label; those that may have several lines are "phrase" or "prose"."""
    labels = [text_of(head) for head in HEAD.findall(table)]
    rows = [[text_of(cell) for _, cell in CELL.findall(row)] for row in ROW.findall(table)]
    lengths = [[len(row[column]) for row in rows if row] for column in range(len(labels))]
    kinds = ["" if max(those, default=0) <= LINE else "prose" if sum(those) > PHRASE * len(those) else "phrase" for those in lengths]

    def labelled(row):
        columns = iter(range(len(labels)))

        def cell(found):
            column = next(columns)
            classes = " ".join(filter(None, [found[1], kinds[column]]))
            kind = f' class="{classes}"' if classes else ""
            return f'<td{kind} data-label="{html.escape(labels[column])}">{with_breaks(found[2])}</td>'

        return CELL.sub(cell, row[0])

    return ROW.sub(labelled, table)


# ---- options of commands -------------------------------------------------------------------------


def with_options_whole(body):
    """The HTML of a page, in which no line ends at a hyphen of an option; a very long one may need two lines."""
    def marked(shell):
        return OPTION_IN_SHELL.sub(lambda option: f'<span class="option">{option[0]}</span>', shell[0])

    return SHELL.sub(marked, OPTION_IN_TEXT.sub('<span class="pre option">', body))


# ---- a page --------------------------------------------------------------------------------------


def typeset(app, doctree, docname):
    typeset_text(doctree)
    caption_code(doctree)
    mark_costs(doctree)
    frame_tables(doctree)
    frame_openings(doctree)


def typeset_html(app, pagename, templatename, context, doctree):
    """What is no longer a tree, or never was: "On this page" and summaries have the same numbers; code is short."""
    context["toc"] = typeset_numbers(context.get("toc", ""))
    body = source_pages.without_plain_spans(context.get("body", ""))
    body = SUMMARY.sub(lambda summary: typeset_numbers(summary[0]), body)
    context["body"] = with_options_whole(TABLE.sub(lambda table: with_labels(table[0]), body))


def setup(app):
    app.connect("doctree-resolved", typeset, priority=450)  # after the search has read the text, before links to sources are resolved
    app.connect("html-page-context", typeset_html)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
