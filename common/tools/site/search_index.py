"""The search: an extension of Sphinx, in place of Sphinx's own, which finds pages and no sections.

Each section of a page is one entry. A page's language has a file _static/search-LANGUAGE.js with its entries; that of another
language than English also has the English pages that are not translated.

What has several names is a meaning: a term of the glossary with its other names, its Chinese ones and the functions that do it, a
command such as `./course hint`, or a row of search_words.toml. A reader who types one of the names finds all of them. A term belongs
to the section of its chapter that introduces it, a command to the first section that names it.

The browser makes the index from the entries with lunr (Debian's libjs-lunr), which has stems, weights and no server:
theme/static/search.js.
"""

import json
import re
import shutil
import tomllib
from collections import namedtuple
from operator import attrgetter
from pathlib import Path, PurePosixPath

from docutils import nodes
from tools.lib.failed import Failed
from tools.site import pages, slide_choice, slide_words

LUNR = Path("/usr/share/javascript/lunr/lunr.min.js")
GLOSSARY = "common/docs/glossary"
SAME = Path(__file__).with_name("search_words.toml")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| \[\d+\]\(\.\./\.\./(chapters/[^/]+)/README\.md\) \|$", re.MULTILINE)
PARENTHESES = re.compile(r"[(（]([^()（）]*)[)）]")
PARTS = re.compile(r"[,、；]")
CODE = re.compile(r"`([\w:]+)(?:\(\))?`")
COMMAND = re.compile(r"\./course ([a-z]+)\b")
# What a heading has beside its subject: the number of the chapter or step; the stars and minutes of an exercise.
NO_SUBJECT = re.compile(r"^(?:\d\d |Step \d+: |第 ?[一二三四五六七八九十\d]+ ?步：|Now you: |轮到你：)| ★.*$")
TITLE, TEXT = attrgetter("title"), attrgetter("text")
LEFT_OUT = (nodes.section, nodes.title, nodes.raw, nodes.comment, nodes.image)
OPENING_EMPHASIS = (nodes.emphasis, nodes.strong)  # elsewhere what is bold is a mark, such as "Why?"
WORD = re.compile(r"[^\W\d_]{3}|[\u3400-\u9fff]")
# How much a page counts, by whom it is for, and its sections about the lesson itself (tables, sources) and exercises.
FIRST, LAST, LEARN, OTHER, OWN_LANGUAGE, ASIDE, EXERCISE = 3, 2, 1, 0.75, 1.25, 0.3, 0.5

# A section: its address, heading, text, the texts that are emphasised in it, the commands in its code, and the numbers of the meanings
# that it introduces.
Entry = namedtuple("Entry", "uri title text emphasised commands terms")
# A term of the glossary: its names, those in parentheses (which are another term's, if that has the same), all names of its row, and
# its chapter.
Term = namedtuple("Term", "names also row chapter")


# ---- sections ------------------------------------------------------------------------------------


def text_of(node):
    """The text of a node's own parts, without the sections in it, their headings, and the numbers of tables."""
    if isinstance(node, nodes.Text):
        return node.astext()
    parts = [text_of(child) for child in node.children if not isinstance(child, LEFT_OUT)]
    text = ("" if isinstance(node, nodes.TextElement) and not isinstance(node, nodes.literal_block) else " ").join(filter(None, parts))
    return "" if isinstance(node, nodes.entry) and not WORD.search(text) else text


def texts_in(section, kind):
    """The texts of a kind of node in a section, without those of the sections in it."""
    def own(node):
        for child in node.children:
            if isinstance(child, kind):
                yield child.astext()
            elif not isinstance(child, nodes.section):
                yield from own(child)

    return list(own(section))


def commands_in(section):
    """The commands that the code of a section names, such as hint for `./course hint`: in blocks, and in its text."""
    return [[name for text in texts_in(section, kind) for name in COMMAND.findall(text)] for kind in (nodes.literal_block, nodes.literal)]


def entries_of(uri, doctree):
    """The Entries of a page, in its order."""
    return [
        Entry(uri if (is_opening := isinstance(section.parent, nodes.document)) else f"{uri}#{section['ids'][0]}", section[0].astext(),
              " ".join(text_of(section).split()), texts_in(section, OPENING_EMPHASIS if is_opening else nodes.emphasis), commands_in(section), [])
        for section in doctree.findall(nodes.section)
    ]  # fmt: skip


def is_aside(title):
    """Whether an English heading is that of a section about its page, such as its tables and its sources; slides leave these out, too."""
    return slide_words.NO_SLIDES.match(title) is not None or title in (*slide_choice.SUMMARIES, "Credits")


def asides_of(docname, of_pages):
    """For each section of a page whether it is an aside; a translated page has the sections of the English one, in their order."""
    return [is_aside(entry.title) for entry in of_pages[pages.in_language(docname, of_pages, "en")]]


# ---- meanings ------------------------------------------------------------------------------------


def terms_of(glossary):
    """The Terms of the glossary's text. A row of several terms, each with its Chinese one, is as many Terms."""
    def names(text):
        return [name for part in PARTS.split(text) if (name := part.strip(" *`").removesuffix("的"))]

    found = []
    for english, chinese, meaning, chapter in ROW.findall(glossary):
        mains = [names(PARENTHESES.sub("", cell)) for cell in (english, chinese)]
        also = [name for cell in (english, chinese) for part in PARENTHESES.findall(cell) if not part.startswith("of ") for name in names(part)]
        also += CODE.findall(meaning)
        if len(mains[0]) == len(mains[1]) > 1:
            found += [Term([one, other], [], mains[0] + mains[1], chapter) for one, other in zip(*mains)]
        else:
            found.append(Term(mains[0] + mains[1], also, mains[0] + mains[1], chapter))
    return found


def meanings_of(terms, commands, same):
    """Lists of names that mean the same, those of the terms first: each name is in one of them."""
    number_of, numbers = {}, len(terms)
    for names in ("names", "also"):
        for number, term in enumerate(terms):
            for name in getattr(term, names):
                number_of.setdefault(name, number)
    for command in commands:
        if command not in number_of:
            number_of[command] = numbers
            numbers += 1
    for row in same:
        number = number_of.get(row[0], numbers)
        numbers = max(numbers, number + 1)
        number_of.update((name, number) for name in row)
    found = [[] for _ in range(numbers)]
    for name, number in number_of.items():
        found[number].append(name)
    return found


def says(text, name):
    """Whether a text has a name, alone or in the plural."""
    return re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![a-rt-z_])", text, re.IGNORECASE) is not None


def says_one_of(text, names):
    return any(says(text, name) for name in names)


def section_of(entries, names, row):
    """The Entry, of some of a page, that introduces a term: the first whose heading has it, or that has it emphasised, or another term of
    its row, or that has one of them at all; or None."""
    for wanted, where in ((names, TITLE), (names, emphasised), (row, TITLE), (row, emphasised), (names + row, TEXT)):
        for entry in (*entries[1:], *entries[:1]):
            if says_one_of(where(entry), wanted):
                return entry
    return None


def emphasised(entry):
    return "\n".join(entry.emphasised)


def add_terms(of_pages, terms, meanings):
    """Gives the numbers of the terms to the sections that introduce them, asides only if no other does, in each language."""
    for number, (term, names) in enumerate(zip(terms, meanings)):
        for docname in (name for name in of_pages if names and str(PurePosixPath(name).parent) == term.chapter):
            entries, asides = of_pages[docname], asides_of(docname, of_pages)
            lesson, about = ([entry for entry, aside in zip(entries, asides) if aside == wanted] for wanted in (False, True))
            (section_of(lesson, names, term.row) or section_of(about, names, term.row) or entries[0]).terms.append(number)


def homes_of_commands(docnames, of_pages):
    """{command: the address of the section of these pages that is the first to show it in a block, or else to name it}."""
    entries = [entry for docname in docnames for entry in of_pages[docname]]
    homes = {}
    for where in range(2):
        for entry in entries:
            for name in entry.commands[where]:
                homes.setdefault(name, entry.uri)
    return homes


# ---- files ---------------------------------------------------------------------------------------


def gather(app, doctree, docname):
    app.found_sections[docname] = entries_of(app.builder.get_target_uri(docname), doctree)


def found_in(language, docnames):
    """The pages that are searched in a language: its own, and the English ones that it does not have."""
    own = [name for name in docnames if pages.language_of(name) == language]
    return own + [name for name in docnames if pages.language_of(name) == "en" and language not in {"en", *pages.in_other_languages(name, docnames)}]


def with_commands(language, docnames):
    """The pages that explain commands: the front page, then the others in the order of the navigation."""
    shown = [name for _, names in pages.navigation(docnames, language) for name in names]
    return [name for name in shown if not name.startswith("chapters/")]


def weight_of(docname, language, docnames):
    """How much a page counts; of the course, which a reader turns from its front to its end, what comes first introduces."""
    there = pages.course(docnames, pages.language_of(docname))
    if docname in there:
        base = FIRST + (LAST - FIRST) * there.index(docname) / len(there)
    else:
        base = OTHER if docname in pages.TEACH + pages.DEVELOP else LEARN
    return base * (OWN_LANGUAGE if pages.language_of(docname) == language else 1)


def script_of(language, of_pages, meanings):
    """The file of a language: the meanings, and of each page its title, whether it is a lesson, its language, and its sections: their address,
    heading, what that is about, the numbers of the meanings that they introduce, how much they count, and their text."""
    homes = homes_of_commands(with_commands(language, set(of_pages)), of_pages)
    number_of = {name: number for number, names in enumerate(meanings) for name in names}
    found = []
    for docname in found_in(language, sorted(of_pages)):
        entries, asides = of_pages[docname], asides_of(docname, of_pages)
        sections = []
        for entry, aside in zip(entries, asides):
            if not entry.text and entry is not entries[0]:
                continue  # a heading over other sections
            terms = entry.terms + [number_of[name] for name, uri in homes.items() if uri == entry.uri]
            weight = weight_of(docname, language, of_pages) * (ASIDE if aside else EXERCISE if "★" in entry.title else 1)
            sections.append([entry.uri, entry.title, NO_SUBJECT.sub("", entry.title), terms, round(weight, 2), entry.text])
        found.append({"page": entries[0].title, "lesson": docname.startswith("chapters/"), "language": pages.language_of(docname), "sections": sections})
    return f"const SEARCHED = {json.dumps({'meanings': meanings, 'pages': found}, ensure_ascii=False, separators=(',', ':'))};\n"


def write_index(app, error):
    if error is not None:
        return
    of_pages = {docname: entries for docname, entries in app.found_sections.items() if entries}
    terms = terms_of(Path(app.srcdir, f"{GLOSSARY}.md").read_text(encoding="utf-8"))
    commands = {name for entries in of_pages.values() for entry in entries for names in entry.commands for name in names}
    meanings = meanings_of(terms, sorted(commands), tomllib.loads(SAME.read_text(encoding="utf-8"))["same"])
    add_terms(of_pages, terms, meanings)
    static = Path(app.outdir, "_static")
    for language in pages.languages_of(of_pages):
        (static / f"search-{language}.js").write_text(script_of(language, of_pages, meanings), encoding="utf-8")
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
