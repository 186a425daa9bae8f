"""Links from pages to files of the repository: an extension of Sphinx.

A link to a source file leads to a page that shows it, with an anchor for each line as on GitHub (#L30); a link
to a folder to the list of its files. Only what a page links to is shown. A link to what is not there fails.
These pages have a template of their own, source.html: the theme takes ten times as long for a page.
"""

import html
import json
import os
import re
from functools import cache
from pathlib import Path, PurePosixPath

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.util import logging
from tools.lib import hints, repository
from tools.site import pages, share_cards

SCHEME = "source"  # of a link to a file, until Sphinx knows from which page: source:common/x.cuh#L3
PICTURES = {".svg", ".png", ".jpg", ".gif"}
LINK = re.compile(r"\]\((?![a-z]+:|#|/)([^()\s#]+)(#[^()\s]*)?\)")
CODE = re.compile(r"^ *(```+|~~~+)[^\n]*\n.*?^ *\1 *$|(`+)(?!`).+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
PLAIN_CODE = re.compile(r'<span class="(?:w|n|p|o|nn|nl|bp|err)">([^<]*)</span>|<span></span>')  # Pygments' classes that site.css does not colour

SOURCE = (
    '<figure class="code"><figcaption>{lines} lines</figcaption>'
    '<div class="highlight-source"><div class="highlight"><pre tabindex="0" aria-label="source">{code}</pre></div></div></figure>'
)  # fmt: skip

log = logging.getLogger(__name__)


# ---- links ---------------------------------------------------------------------------------------


def with_sources_marked(text, folder, is_page):
    """Markdown whose links to files that are no pages have the scheme above; `folder` is its own, relative to the top."""
    def marked(link):
        path = os.path.normpath(PurePosixPath(folder, link[1]))
        if is_page(path) or PurePosixPath(path).suffix in PICTURES:
            return link[0]
        return f"]({SCHEME}:{path}{link[2] or ''})"

    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(marked, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, LINK.sub(marked, text[end:])])


def mark_sources(app, docname, source):
    def is_page(path):
        return path.endswith(".md") and path[:-3] in app.env.found_docs

    source[0] = with_sources_marked(source[0], PurePosixPath(docname).parent, is_page)


def resolve_sources(app, doctree, docname):
    """Links with the scheme above become links from this page to the file's page."""
    for node in doctree.findall(nodes.reference):
        scheme, _, target = node.get("refuri", "").partition(":")
        if scheme != SCHEME:
            continue
        path, _, anchor = target.partition("#")
        file = Path(app.srcdir, path)
        if not file.exists():
            log.warning("no such file: %s", path, location=node)
            continue
        app.linked_sources.add(path)
        node["refuri"] = app.builder.get_relative_uri(docname, page_of(app, path)) + (f"#{anchor}" if anchor else "")


def page_of(app, path):
    """The page that shows a file or a folder; common/docs/x.md has x.html, so the folder x cannot have it."""
    return f"{path}/index" if Path(app.srcdir, path).is_dir() else path


# ---- pages of sources ----------------------------------------------------------------------------


def without_plain_spans(text):
    """HTML of code without the spans that colour nothing: a third of it."""
    return PLAIN_CODE.sub(r"\1", text)


@cache
def lexer_of(name):
    """The lexer for a file of this name."""
    try:
        return get_lexer_for_filename("x.cu" if name.endswith(".cuh") else name, stripnl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False)


def highlighted(file):
    """The lines of a text file as HTML; each has its number as an anchor and as a link."""
    text = file.read_text(encoding="utf-8", errors="replace")
    kind = file.suffix if file.suffix in (".cu", ".cuh", ".hpp", ".cpp", ".h", ".py") else file.name
    # Pygments ends its spans at the end of each line.
    shown = highlight(text, lexer_of(f"x{kind}" if kind == file.suffix else kind), HtmlFormatter(nowrap=True))
    lines = without_plain_spans(shown).rstrip("\n").split("\n")
    return "".join(
        f'<span class="line" id="L{number}"><a href="#L{number}" aria-label="line {number}">{number}</a>{line}\n</span>'
        for number, line in enumerate(lines, 1)
    )


def files_below(folder):
    """The files of a folder, without what a compiler of Python leaves."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def list_of(app, path):
    """Links to what a folder holds, and the paths that they need."""
    files = [file.relative_to(app.srcdir).as_posix() for file in files_below(Path(app.srcdir, path))]
    items = "".join(
        f'<li><a href="{html.escape(app.builder.get_relative_uri(page_of(app, path), file))}">{html.escape(os.path.relpath(file, path))}</a></li>'
        for file in files
    )
    return f"<ul>{items}</ul>", files


def page_that_leads_back(app, path):
    """The page nearest to a file: its chapter's, or the front page."""
    folders = [folder.as_posix() for folder in PurePosixPath(path).parents]
    chapter = "chapters/" + path.split("/")[1] if "/" in path else ""
    candidates = [f"{folder}/README" for folder in [*folders, chapter]]
    return next((name for name in candidates if name in app.env.found_docs), app.config.root_doc)


def about(app, path, back):
    """(what a search engine or a shared link says of a file or a folder, the page whose card it has); an exercise has a card of its own."""
    name, chapter = PurePosixPath(path).stem, app.chapters.get(PurePosixPath(path).parent.name)
    if path.startswith("exercises/") and chapter and name in chapter.exercises:
        task = pages.plain_text(hints.read(hints.file_of(chapter.folder, name))[0].split("\n\n")[0])
        app.cards[path] = share_cards.card_of_exercise(app.config.project, chapter, name, pages.shortened(task))
        return pages.shortened(f"Exercise {name} of the course {app.config.project}: {task}"), path
    file, title = Path(app.srcdir, path), app.env.titles[back].astext()
    kind = "Files in" if file.is_dir() else f"Source, {len(file.read_bytes().splitlines())} lines,"
    return pages.shortened(f"{kind} {path}, of: {title}"), back


def write_source_pages(app, error):
    """A page of each source file that a page links to."""
    if error is not None:
        return
    template = (Path(__file__).parent / "source.html").read_text(encoding="utf-8")
    todo, done = sorted(app.linked_sources), set()
    words, address = pages.WORDS["en"], repository.address(Path(app.srcdir))
    while todo:
        path = todo.pop(0)
        if path in done:
            continue
        done.add(path)
        file, page = Path(app.srcdir, path), page_of(app, path)
        if file.is_dir():
            body, more = list_of(app, path)
            todo += more
        else:
            body = SOURCE.format(lines=len(file.read_bytes().splitlines()), code=highlighted(file))
        back = page_that_leads_back(app, path)
        description, with_card = about(app, path, back)
        parts = {
            "WORDS": json.dumps(words),
            "TITLE": html.escape(path), "SITE": html.escape(app.config.project), "BODY": body,
            "BACK": html.escape(app.builder.get_relative_uri(page, back)),
            "BACK_TITLE": html.escape(app.env.titles[back].astext()),
            "SEARCH": html.escape(app.builder.get_relative_uri(page, pages.SEARCH)), "SEARCH_WORD": words["search"],
            "SEARCH_COURSE": words["search_course"],
            "DESCRIPTION": html.escape(description), "ADDRESS": html.escape(f"{app.config.html_baseurl}{page}.html"),
            "CARD": html.escape(share_cards.address(app.config.html_baseurl, with_card)),
            "LICENCE": html.escape(app.builder.get_relative_uri(page, pages.LICENCE)), "LICENCE_WORD": words["licence"],
            "REPOSITORY": html.escape(address), "REPOSITORY_WORD": words["source"],
            "REPORT": html.escape(pages.report_of(address)), "REPORT_WORD": words["report"],
            "STATIC": app.builder.get_relative_uri(page, "_static/").removesuffix(".html"),
        }
        target = Path(app.outdir, f"{page}.html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(f"@({'|'.join(parts)})@", lambda found: parts[found[1]], template), encoding="utf-8")


def setup(app):
    app.linked_sources = set()
    app.connect("config-inited", lambda _, config: setattr(config, "myst_url_schemes", ["http", "https", "mailto", SCHEME]))
    app.connect("source-read", mark_sources)
    app.connect("doctree-resolved", resolve_sources)
    app.connect("build-finished", write_source_pages)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
