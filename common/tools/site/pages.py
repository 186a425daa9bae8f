"""Which Markdown files are pages of the site, their order, and their languages: an extension of Sphinx.

A page is each Markdown file that PATTERNS name, found when the site is built. README.zh-CN.md is the Chinese
version of the README.md beside it, and its text links to it. The navigation is in the language of the page, and leads to Chinese
pages from Chinese ones.
"""

import re
import shutil
from pathlib import Path

from docutils import nodes
from tools.lib import repository

PATTERNS = ["*.md", "chapters/*/README*.md", "common/docs/**.md", "common/simt/README*.md"]
NO_PAGES = [".git", ".github", "chapters/*/common", "exercises", "solutions"]  # the link to common has the same pages again
CHAPTER = re.compile(r"chapters/([^/]+)/README")
LANGUAGE = re.compile(r"\.([a-z]{2}(?:-[A-Z]{2})?)$")
# Pages that are not for learners. What is named nowhere is in "Learn".
TEACH = ["common/docs/instructors", "common/docs/grading", "common/docs/classroom50", "common/docs/gradescope", "common/docs/release", "common/docs/contracts"]
DEVELOP = ["CONTRIBUTING", "common/docs/architecture", "common/simt/README", "common/docs/schemas", "common/docs/cuda-programs", "common/docs/web-site", "CHANGELOG"]
LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
LEAST_DESCRIPTION, MOST_DESCRIPTION = 25, 200  # characters
LICENCE = "LICENSE"  # the file; the front page links to it, so it has a page
SEARCH = "search"  # the page, in other languages with their name
# What the site itself says, in each language; `{}` is a number.
WORDS = {
    "en": {
        "name": "English", "in_english": "English", "learn": "Learn", "teach": "Teach", "develop": "Develop", "pages": "Pages", "on_this_page": "On this page",
        "next": "Next", "previous": "Previous", "skip": "Skip to the text", "slides": "Slides", "repository": "GitHub",
        "for_instructors": "For instructors",
        "licence": "MIT License", "source": "Repository on GitHub", "report": "Report a problem",
        "light": "Light", "dark": "Dark", "light_theme": "Light theme", "dark_theme": "Dark theme",
        "copy": "Copy", "copied": "Copied", "done": "Done", "done_here": "Kept in this browser; nothing is sent.",
        "answer": "Answer", "show_measured": "What was measured is part of the answer: show it",
        "hint": "Hint", "search": "Search", "search_course": "Search the course",
        "ask": "Type words of the text, or a name of the code. Enter, or ↓, leads to what was found.", "found": "{} sections found.",
        "found_some": "{} sections have all of these words, {} have some of them.", "found_none": "No section has these words.",
        "corrected": "Searched for “{}”.", "instead": "Try fewer words, another word for the same thing, or the name of a function. Terms in English and Chinese, and all chapters:",
        "glossary": "Glossary", "needs_script": "The search needs JavaScript.",
    },
    "zh-CN": {
        "name": "中文", "in_english": "Chinese", "learn": "学习", "teach": "教学", "develop": "开发", "pages": "页面", "on_this_page": "本页内容",
        "next": "下一页", "previous": "上一页", "skip": "跳到正文", "slides": "幻灯片（英文）", "repository": "GitHub",
        "for_instructors": "教师用",
        "licence": "MIT 许可证", "source": "GitHub 上的仓库", "report": "报告问题",
        "light": "浅色", "dark": "深色", "light_theme": "浅色主题", "dark_theme": "深色主题",
        "copy": "复制", "copied": "已复制", "done": "已完成", "done_here": "只保存在这个浏览器里，不会发送到任何地方。",
        "answer": "答案", "show_measured": "测量结果是答案的一部分：显示",
        "hint": "提示", "search": "搜索", "search_course": "搜索本课程",
        "ask": "请输入正文中的词，或代码里的名字。按回车键或 ↓ 到搜索结果。", "found": "找到 {} 节。",
        "found_some": "{} 节含有全部这些词，{} 节含有其中一些。", "found_none": "没有一节含有这些词。",
        "corrected": "已改为搜索“{}”。", "instead": "请少用几个词，换一种说法，或者输入英文术语、函数名。各术语的中英文对照，以及全部章节：",
        "glossary": "术语表", "needs_script": "搜索需要 JavaScript。",
    },
}  # fmt: skip


def title_of(file):
    """The first heading of a Markdown file, as text."""
    found = re.search(r"^# (.+)$", Path(file).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].replace("`", "") if found else Path(file).stem


def plain_text(markdown):
    """A paragraph of Markdown without its marks."""
    return LINK.sub(r"\1", " ".join(markdown.split())).replace("`", "").replace("**", "")


def shortened(text, most=MOST_DESCRIPTION):
    """A text, or its first words and " …"."""
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def short_title(title):
    """A title as the list of pages has it: up to its colon."""
    return re.split("[:：]", title)[0]


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


def in_language(docname, docnames, language):
    """The page in this language, or the page itself."""
    return docname if language == language_of(docname) else in_other_languages(docname, docnames).get(language, docname)


def course(docnames, language):
    """The pages that a learner turns, from the front page to the last chapter; a page that is not translated is in English."""
    english = ["README", *sorted(name for name in docnames if CHAPTER.fullmatch(name) and language_of(name) == "en")]
    return [in_language(name, docnames, language) for name in english]


def turned(docnames, docname):
    """The pages before and after a page of the course; None at its ends, and of other pages."""
    there = course(docnames, language_of(docname))
    place = there.index(docname) if docname in there else None
    before = there[place - 1] if place else None
    return before, there[place + 1] if place is not None and place + 1 < len(there) else None


def navigation(docnames, language):
    """[(heading, docnames)]: for learners the course and what explains it, for teachers, for developers."""
    words = WORDS[language]
    others = sorted(name for name in docnames if language_of(name) == "en" and name != "README" and not name.startswith("chapters/"))
    return [
        (words["learn"], course(docnames, language) + [name for name in others if name not in TEACH + DEVELOP]),
        (words["teach"], [name for name in TEACH if name in docnames]),
        (words["develop"], [name for name in DEVELOP if name in docnames]),
    ]


def add_navigation(app, docname, source):
    """The front page leads to all others, as Sphinx demands; nothing of that is visible on it."""
    if docname == "README":
        names = sorted(app.env.found_docs - {"README"})
        source[0] += "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(f"/{name}" for name in names) + "\n```\n"


# ---- a page --------------------------------------------------------------------------------------


def add_github_anchors(app, doctree):
    """Headings have the anchors that GitHub gives them, as docutils turns word_count to word-count, and Chinese to a number."""
    for section in doctree.findall(nodes.section):
        slug = section.get("slug") or section.get("myst-anchor", "").partition("#")[2]  # MyST 1 and newer, or older
        if slug:
            section["ids"] = [slug, *(name for name in section["ids"] if name != slug)]


def description_of(doctree):
    """What a search engine or a shared link says of a page: its first paragraph that is more than links, shortened."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) >= LEAST_DESCRIPTION and not isinstance(paragraph.parent, (nodes.block_quote, nodes.entry)):
            return shortened(text)
    return " ".join(doctree.astext().split())[:MOST_DESCRIPTION]


def report_of(address):
    """Where a problem is reported, from the repository's address."""
    return f"{address}/issues/new/choose"


def fill_template(app, pagename, templatename, context, doctree):
    """What layout.html has beside the text: the page's language, the same in others, the slides, the navigation."""
    docnames, language = app.env.found_docs, language_of(pagename)

    def link(name):
        return {
            "uri": app.builder.get_relative_uri(pagename, name), "title": app.env.titles[name].astext(), "lang": language_of(name),
            "short": short_title(app.env.titles[name].astext()), "current": name == pagename,
            "exercises": app.exercises.get(name, []),
        }  # fmt: skip

    context["language"], context["words"] = language, WORDS[language]
    context["search"] = app.builder.get_relative_uri(pagename, search_page(language))
    context["repository"] = repository.address(Path(app.srcdir))
    context["report"] = report_of(context["repository"])
    context["licence"] = app.builder.get_relative_uri(pagename, LICENCE)
    if pagename in app.config.html_additional_pages:
        context["title"] = context["words"]["search"]
    context["description"] = description_of(doctree) if doctree else context["words"]["ask"]
    context["languages"] = [
        {"uri": app.builder.get_relative_uri(pagename, name), "lang": other, "name": WORDS[other]["name"]}
        for other, name in in_other_languages(pagename, {*docnames, *app.config.html_additional_pages}).items()
    ]
    chapter = CHAPTER.fullmatch(pagename.removesuffix(f".{language}"))
    context["slides"] = app.builder.get_relative_uri(pagename, f"slides/{chapter[1]}") if chapter else None
    context["prev"], context["next"] = (name and link(name) for name in turned(docnames, pagename))
    context["navigation"] = [
        {"heading": heading, "pages": [link(name) for name in names], "course": len([name for name in names if name in course(docnames, language)])}
        for heading, names in navigation(docnames, language)
    ]
    context["teaching"] = link(TEACH[0])["uri"] if TEACH[0] in docnames else None
    context["front"] = link(in_language("README", docnames, language))


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
    app.connect("doctree-read", add_github_anchors, priority=400)  # before Sphinx gathers the headings
    app.connect("html-page-context", fill_template)
    app.connect("build-finished", add_front_page)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
