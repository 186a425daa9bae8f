"""Which Markdown files are pages of the site, their order, and their languages: an extension of Sphinx.

A page is each Markdown file that PATTERNS name, found when the site is built. README.zh-CN.md is the Chinese
version of the README.md beside it, and its text links to it; Chinese pages have their own part of the navigation.
"""

import re
import shutil
from pathlib import Path

from docutils import nodes

from tools.lib import hints
from tools.lib.pages import CARD

PATTERNS = ["*.md", "chapters/*/README*.md", "common/docs/**.md", "common/simt/README*.md"]
NO_PAGES = [".git", ".github", "chapters/*/common", "exercises", "solutions"]  # the link to common has the same pages again
CHAPTER = re.compile(r"chapters/([^/]+)/README")
LANGUAGE = re.compile(r"\.([a-z]{2}(?:-[A-Z]{2})?)$")
NAMES = {"zh-CN": "中文"}  # the heading of the pages in this language
SEARCH = "search"  # the page, in other languages with their name
# What the site itself says, in each language; `{}` is a number.
WORDS = {
    "en": {
        "hint": "Hint", "search": "Search", "search_course": "Search the course",
        "ask": "Type words of the text, or a name of the code.", "found": "{} sections found", "needs_script": "The search needs JavaScript.",
    },
    "zh-CN": {
        "hint": "提示", "search": "搜索", "search_course": "搜索本课程",
        "ask": "请输入正文中的词，或代码里的名字。", "found": "找到 {} 节", "needs_script": "搜索需要 JavaScript。",
    },
}  # fmt: skip


def title_of(file):
    """The first heading of a Markdown file, as text."""
    found = re.search(r"^# (.+)$", Path(file).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].replace("`", "") if found else Path(file).stem


def build_folders(top):
    """Build folders inside the course, relative to its top: nothing of theirs is a page."""
    return sorted(file.parent.relative_to(top).as_posix() for file in Path(top).glob("*/meson-private"))


# ---- languages -----------------------------------------------------------------------------------


def language_of(docname):
    """Such as "zh-CN"; "en" without a language in the name."""
    found = LANGUAGE.search(docname)
    return found[1] if found else "en"


def in_other_languages(docname, docnames):
    """{language: docname} of the same page in other languages."""
    base = LANGUAGE.sub("", docname)
    return {language_of(name): name for name in sorted(docnames) if LANGUAGE.sub("", name) == base and name != docname}


def languages_of(docnames):
    """The languages of the pages, English first."""
    return sorted({language_of(name) for name in docnames}, key=lambda language: (language != "en", language))


def search_page(language):
    return SEARCH if language == "en" else f"{SEARCH}.{language}"


def search_pages(top):
    """{page: template} of the search pages: one for each language that the front page is in."""
    return {search_page(language_of(file.stem)): f"{SEARCH}.html" for file in Path(top).glob("README*.md")}


# ---- navigation ----------------------------------------------------------------------------------


def navigation(docnames):
    """[(heading, docnames)]: the chapters, the pages beside them, and each other language."""
    def order(name):
        return LANGUAGE.sub("", name) != "README", not name.startswith("chapters/"), name

    parts = {"Chapters": [], "More pages": []}
    for name in sorted(set(docnames) - {"README"}, key=order):
        language = language_of(name)
        heading = NAMES.get(language, language) if language != "en" else "Chapters" if name.startswith("chapters/") else "More pages"
        parts.setdefault(heading, []).append(name)
    return [(heading, names) for heading, names in parts.items() if names]


def add_navigation(app, docname, source):
    """The front page leads to all others; nothing of that is visible on it."""
    if docname == "README":
        source[0] += "".join(
            f"\n\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n" + "\n".join(f"/{name}" for name in names) + "\n```\n"
            for heading, names in navigation(app.env.found_docs)
        )


# ---- exercises -----------------------------------------------------------------------------------


def add_hints(app, docname, source):
    """A page of the site has the hints of an exercise at the end of its card, folded."""
    if chapter := CHAPTER.match(docname):
        folder, page = Path(app.srcdir, "chapters", chapter[1]), f"{Path(docname).name}.md"
        source[0] = CARD.sub(lambda card: with_hints(card, hints.file_of(folder, card["name"], page)), source[0])


def with_hints(card, file):
    """The text of a card, and its hints."""
    word = WORDS[language_of(file.stem)]["hint"]
    return card.group() + "".join(
        f"\n<details><summary>{word} {number}</summary>\n\n{text}\n\n</details>\n" for number, text in enumerate(hints.read(file)[1], 1)
    )


# ---- a page --------------------------------------------------------------------------------------


def add_github_anchors(app, doctree):
    """Headings have the anchors that GitHub gives them, as docutils turns word_count to word-count, and Chinese to a number."""
    for section in doctree.findall(nodes.section):
        slug = section.get("slug") or section.get("myst-anchor", "").partition("#")[2]  # MyST 1 and newer, or older
        if slug:
            section["ids"] = [slug, *(name for name in section["ids"] if name != slug)]


def frame_tables(app, doctree, docname):
    """A table that is wider than the page is scrolled inside a frame."""
    for table in list(doctree.findall(nodes.table)):
        begin, end = (nodes.raw("", text, format="html") for text in ('<div class="wide">', "</div>"))
        table.parent.insert(table.parent.index(table), begin)
        table.parent.insert(table.parent.index(table) + 1, end)


def fill_template(app, pagename, templatename, context, doctree):
    """What layout.html has beside the text: the page's language, the same in others, the slides, the navigation."""
    context["language"] = language = language_of(pagename)
    context["words"] = WORDS[language]
    context["search"] = app.builder.get_relative_uri(pagename, search_page(language))
    context["languages"] = [
        {"uri": app.builder.get_relative_uri(pagename, name), "lang": language}
        for language, name in in_other_languages(pagename, app.env.found_docs).items()
    ]
    chapter = CHAPTER.fullmatch(pagename)
    context["slides"] = app.builder.get_relative_uri(pagename, f"slides/{chapter[1]}") if chapter else None
    context["navigation"] = [
        {"heading": heading, "pages": [
            {"uri": app.builder.get_relative_uri(pagename, name), "title": app.env.titles[name].astext(),
             "lang": language_of(name), "current": name == pagename} for name in names
        ]} for heading, names in navigation(app.env.found_docs)
    ]  # fmt: skip


def without_sphinx_search(app):
    """search_index.py has another one."""
    app.builder.search = False


def add_front_page(app, error):
    """index.html is what a server shows for the site's address."""
    if error is None and app.builder.name == "html":
        shutil.copyfile(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app):
    app.connect("builder-inited", without_sphinx_search)
    app.connect("source-read", add_navigation)
    app.connect("source-read", add_hints)
    app.connect("doctree-read", add_github_anchors, priority=400)  # before Sphinx gathers the headings
    app.connect("doctree-resolved", frame_tables)
    app.connect("html-page-context", fill_template)
    app.connect("build-finished", add_front_page)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
