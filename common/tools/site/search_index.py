"""The search: an extension of Sphinx, in place of Sphinx's own, which finds pages and no sections.

Each section of a page is one entry. A page's language has a file _static/search-LANGUAGE.js with its entries; that of another
language than English also has the English pages that are not translated. A term of the glossary belongs to the section of its
chapter that introduces the term, and counts as a heading of that section.
The browser makes the index from the entries with lunr (Debian's libjs-lunr), which has stems, weights and no server:
theme/static/search.js.
"""

import json
import re
import shutil
from collections import namedtuple
from pathlib import Path, PurePosixPath

from docutils import nodes
from tools.lib.failed import Failed
from tools.site import pages

LUNR = Path("/usr/share/javascript/lunr/lunr.min.js")
GLOSSARY = "common/docs/glossary"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \| \[\d+\]\(\.\./\.\./(chapters/[^/]+)/README\.md\) \|$", re.MULTILINE)
PARTS_OF_A_TERM = re.compile(r"[,()、（）]")
# What a heading has beside its subject: the step's number; the stars and minutes of an exercise.
NO_SUBJECT = re.compile(r"^(?:Step \d+: |第[一二三四五六七八九十]+步：|Now you: |轮到你：)| ★.*$")
LEFT_OUT = (nodes.section, nodes.title, nodes.raw, nodes.comment, nodes.image)

# A section: its address, heading, text, the texts that are emphasised in it, and the terms that it introduces, or emphasises.
Entry = namedtuple("Entry", "uri title text emphasised terms more_terms")
# A row of the glossary: {language: terms}, and the chapter that introduces them.
Term = namedtuple("Term", "names chapter")


# ---- sections ------------------------------------------------------------------------------------


def text_of(node):
    """The text of a node's own parts, without the sections in it and their headings."""
    if isinstance(node, nodes.Text):
        return node.astext()
    parts = [text_of(child) for child in node.children if not isinstance(child, LEFT_OUT)]
    return ("" if isinstance(node, nodes.TextElement) and not isinstance(node, nodes.literal_block) else " ").join(filter(None, parts))


def emphasised_in(section):
    """The emphasised texts of a section, without those of the sections in it."""
    def own(node):
        for child in node.children:
            if isinstance(child, nodes.emphasis):
                yield child.astext()
            elif not isinstance(child, nodes.section):
                yield from own(child)

    return list(own(section))


def entries_of(uri, doctree):
    """The Entries of a page, in its order."""
    return [
        Entry(uri if isinstance(section.parent, nodes.document) else f"{uri}#{section['ids'][0]}", section[0].astext(),
              " ".join(text_of(section).split()), emphasised_in(section), [], [])
        for section in doctree.findall(nodes.section)
    ]  # fmt: skip


# ---- terms ---------------------------------------------------------------------------------------


def terms_of(glossary):
    """The Terms of the glossary's text."""
    def names(text):
        return [part.strip(" *`") for part in PARTS_OF_A_TERM.split(text) if part.strip()]

    return [Term({"en": names(english), "zh-CN": names(chinese)}, chapter) for english, chinese, chapter in ROW.findall(glossary)]


def says(text, name):
    """Whether a text has a term, alone or in the plural."""
    return re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![a-rt-z_])", text, re.IGNORECASE) is not None


def says_one_of(text, names):
    return any(says(text, name) for name in names)


def section_of(entries, names):
    """The Entry of a chapter's page that introduces a term: a step named after it, or the first that has it emphasised, or at all."""
    for where in (lambda entry: entry.title, emphasised, lambda entry: entry.text):
        for entry in entries[1:]:
            if says_one_of(where(entry), names):
                return entry
    return entries[0]


def emphasised(entry):
    return "\n".join(entry.emphasised)


def add_terms(of_pages, glossary):
    """Gives the terms of the glossary to the sections that introduce them, and to those of all lessons that emphasise them."""
    for term in terms_of(glossary):
        said = [*term.names["en"], *term.names["zh-CN"]]
        for docname, entries in of_pages.items():
            if not docname.startswith("chapters/"):
                continue
            names = term.names[pages.language_of(docname)]
            if str(PurePosixPath(docname).parent) == term.chapter:
                section_of(entries, names).terms.extend(said)
            for entry in entries:
                if says_one_of(emphasised(entry), names):
                    entry.more_terms.extend(said)


# ---- files ---------------------------------------------------------------------------------------


def gather(app, doctree, docname):
    app.found_sections[docname] = entries_of(app.builder.get_target_uri(docname), doctree)


def found_in(language, docnames):
    """The pages that are searched in a language: its own, and the English ones that it does not have."""
    own = [name for name in docnames if pages.language_of(name) == language]
    return own + [name for name in docnames if pages.language_of(name) == "en" and language not in {"en", *pages.in_other_languages(name, docnames)}]


def script_of(language, of_pages):
    """The file of a language: each page's title, whether it is a lesson, its language, and its entries."""
    found = [
        {"page": entries[0].title, "lesson": docname.startswith("chapters/"), "language": pages.language_of(docname),
         "sections": [[entry.uri, entry.title, NO_SUBJECT.sub("", entry.title), ", ".join(entry.terms), ", ".join(entry.more_terms), entry.text]
                      for entry in entries]}
        for docname in found_in(language, sorted(of_pages)) if (entries := of_pages[docname])
    ]  # fmt: skip
    return f"const SEARCHED = {json.dumps(found, ensure_ascii=False, separators=(',', ':'))};\n"


def write_index(app, error):
    if error is not None:
        return
    add_terms(app.found_sections, Path(app.srcdir, f"{GLOSSARY}.md").read_text(encoding="utf-8"))
    static = Path(app.outdir, "_static")
    for language in pages.languages_of(app.found_sections):
        (static / f"search-{language}.js").write_text(script_of(language, app.found_sections), encoding="utf-8")
    shutil.copyfile(LUNR, static / LUNR.name)


def prepare(app):
    if not LUNR.exists():
        raise Failed(f"no lunr ({LUNR}): common/tools/setup.sh --contributor installs it")
    app.found_sections = {}


def setup(app):
    app.connect("builder-inited", prepare)
    app.connect("doctree-resolved", gather, priority=400)  # before frames and captions are put in
    app.connect("build-finished", write_index)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
