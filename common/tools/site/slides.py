#!/usr/bin/env python3
"""Slides of the chapters, made from their READMEs: a talk of 15 to 25 slides each, with the speaker's notes.

    slides.py OUTPUT [--chapters 00,01,...]

writes OUTPUT/NN-topic.html for each chapter, with the pictures and the program that shows them (remark, Debian's
libjs-remark-slide) beside it. Opened in a browser: arrow keys turn the slides, P shows the presenter's view with the notes,
F fills the screen, and printing gives a page per slide. A slide has no text that is not in the lesson; slide_choice.py
chooses what it has.
"""

import argparse
import html
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import chapter as metadata  # noqa: E402
from tools.lib import hints  # noqa: E402
from tools.lib import repository  # noqa: E402
from tools.lib.checkout import TOP, seen_from_the_shell  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.lib.numbers_html import typeset_numbers, with_units_kept  # noqa: E402
from tools.lib.rows import median  # noqa: E402
from tools.measure import headline, plots  # noqa: E402
from tools.site import slide_choice, slide_pictures  # noqa: E402
from tools.site.slide_choice import MOST, Slide  # noqa: E402

REMARK = Path("/usr/share/javascript/remark-slide/remark.min.js")
REMARK_WIDTH = 1210  # remark draws a slide on 1210 x 681 pixels, and scales it to the window
LARGEST_CODE, CODE_WIDTH = 26, 1090  # pixels of remark
CHARACTER = 0.602  # the width of a character of code, for each pixel of its height
CODE_OR_TEXT = re.compile(r"(`[^`]*`)")


# ---- pictures --------------------------------------------------------------------------------------


@dataclass
class Pictures:
    """The pictures of a chapter as its slides show them."""

    chapter: metadata.Chapter
    plots: dict  # {file name: description}

    def of_page(self, file):
        """[(title, SVG)] of a picture that the page shows; none of the ladder, which the talk ends with."""
        description = self.plots.get(Path(file).name) if file.startswith("results/") else None
        if description and description["kind"] == "ladder":
            return []
        svg = (self.chapter.folder / file).read_text(encoding="utf-8")
        entry = next((entry for entry in self.chapter.pictures if f"pictures/{entry['output']}" == file), {})
        if "kernel" in entry:
            return [(entry["question"], part) for part in slide_pictures.lane_pictures(svg)]
        own = re.search(r"<title[^>]*>(.*?)</title>", svg)
        title = description["title"] if description else html.unescape(own[1]) if own else ""
        return [(with_capital(title), slide_pictures.drawing(svg))]


def with_capital(title):
    return title[:1].upper() + title[1:]


# ---- the slides of a chapter -----------------------------------------------------------------------


def first_slide(chapter, text, head):
    """The chapter's title, its question, and its number against the library."""
    number = None
    if head:
        best, against = head.best, head.against
        name = f"`{head.against_name}`" if head.vendor else head.against_name
        number = (
            head.ratio_text,
            f"against {name}: {median(best):,.1f} µs (`{best['name']}`) and {median(against):,.1f} µs for {head.what_of([best])}",
        )
    return Slide("title", slide_choice.title_of(text), chapter.question, number, [f"**You will learn** {chapter.learn}", head.note if head else ""])


def ladder_slide(description):
    svg = slide_pictures.ladder(description)
    title = with_capital(description["title"].partition(": ")[2])  # without its chapter
    return Slide("picture", title, description["finding"], None, [f"{description['finding']}.", f"{description['subtitle']}."],
                 picture=("results/ladder", 0, svg))  # fmt: skip


def ladders_of_sections(chapter, results, head):
    """{section: (title, SVG)} of the groups of the ladder that [slides] of chapter.toml names."""
    pictures = {}
    for section, declared in chapter.slides.get("ladders", {}).items():
        rows = headline.group_of(results, declared["group"])
        description = plots.ladder(results, replace(head, what=declared["what"], left_out={}, ladder=[rows]))
        pictures[section] = (with_capital(description["title"].partition(": ")[2]), slide_pictures.ladder(description))
    return pictures


def last_slide(chapter):
    """What to do: the exercises, and their commands."""
    rows = [f"| `{name}` {'★' * chapter.stars[name]} | {chapter.minutes(name)} min | `./course check {name}` |" for name in chapter.exercises]
    tasks = [f"`{name}`: {hints.read(hints.file_of(chapter.folder, name))[0]}" for name in chapter.exercises]
    return Slide("exercises", "Now you", "\n".join(["| exercise | time | command |", "|---|--:|---|", *rows]), None, tasks)


def slides_of(chapter):
    """All slides of a chapter; Failed if they are too few or too many for a talk."""
    text = (chapter.folder / "README.md").read_text(encoding="utf-8")
    loaded = headline.load(chapter.folder)
    results, head = loaded or (None, None)
    descriptions = plots.descriptions(results, head, chapter.curves) if loaded else {}
    ends = [ladder_slide(descriptions[plots.ladder_name(results)])] if loaded else []
    ends.append(last_slide(chapter))
    ladders = ladders_of_sections(chapter, results, head) if loaded else {}
    own = slide_choice.of_page(text, MOST - 1 - len(ends), Pictures(chapter, descriptions).of_page, chapter.slides, ladders)
    return [first_slide(chapter, text, head), *own, *ends]


# ---- files ---------------------------------------------------------------------------------------


def typeset(markdown):
    """Markdown whose powers have superscripts and whose units stay with their numbers, but in code."""
    return "".join(part if k % 2 else typeset_numbers(part) for k, part in enumerate(CODE_OR_TEXT.split(markdown)))


def size_of_code(body):
    """The size of the letters of a block of code, in remark's pixels: as large as its longest line allows."""
    widest = max(map(len, body.split("\n")[1:-1]))
    return min(LARGEST_CODE, int(CODE_WIDTH / (CHARACTER * widest)))


def number_of(slide):
    """The HTML of a slide's number, and of what it is."""
    what = re.sub("`([^`]*)`", r"<code>\1</code>", typeset(html.escape(slide.number[1], quote=False)))
    return f'<p class="number"><strong>{with_units_kept(html.escape(slide.number[0]))}</strong> <span>{what}</span></p>'


def picture_of(chapter, slide, output):
    """The HTML of a slide's picture, which is written into a file of its own."""
    file, part, svg = slide.picture
    name = Path(file).stem.replace(".", "-") + (f"-{part + 1}" if part else "") + ".svg"
    target = output / "pictures" / chapter.name / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(svg, encoding="utf-8")
    width = float(re.search(r'\bwidth="([\d.]+)"', svg)[1]) * REMARK_WIDTH / slide_pictures.SLIDE_WIDTH
    return f'<img src="{target.relative_to(output).as_posix()}" width="{width:.0f}" alt="{html.escape(slide.body)}">'


def markdown_of(chapter, slide, output):
    """The Markdown of a slide, with its notes."""
    kinds = f"of-{slide.kind}" + (f", size-{size_of_code(slide.body)}" if slide.kind == "code" else "")
    body = picture_of(chapter, slide, output) if slide.picture else slide.body if slide.kind == "code" else typeset(slide.body)
    number = [number_of(slide)] if slide.number else []
    notes = "\n\n".join(typeset(note) for note in slide.notes if note)
    parts = [*number, body] if slide.number and not slide.number[1] else [body, *number]
    return "\n\n".join([f"class: {kinds}", f"# {typeset(slide.heading)}", *parts, "???", notes])


def code_sizes():
    """The style rules of the sizes that code has."""
    return "\n".join(f".size-{size} .remark-code {{ font-size: {size}px; }}" for size in range(18, LARGEST_CODE + 1))


def write(chapter, output, site):
    """Writes the slides of one chapter, whose pages are at the address `site`."""
    here = Path(__file__).parent
    parts = {
        "TITLE": html.escape(f"{chapter.name}: {chapter.question}"),
        "DESCRIPTION": html.escape(f"Slides of a talk on chapter {chapter.number}, with the speaker's notes. {chapter.question}"),
        "NAME": chapter.name, "SITE": repository.site(TOP), "PAGES": site,
        "STYLE": (here / "slides.css").read_text(encoding="utf-8") + code_sizes(),
        "SLIDES": html.escape("\n\n---\n\n".join(markdown_of(chapter, slide, output) for slide in slides_of(chapter)), quote=False),
    }
    template = (here / "slides.html").read_text(encoding="utf-8")
    text = re.sub(f"@({'|'.join(parts)})@", lambda found: parts[found[1]], template)
    (output / f"{chapter.name}.html").write_text(text, encoding="utf-8")


def write_all(top, output, site, numbers=None):
    """Writes the slides of all chapters, or of those with these numbers, whose pages are at the address `site`; Failed without remark."""
    if not REMARK.is_file():
        raise Failed(f"{REMARK} is missing: common/tools/setup.sh --contributor installs it")
    if problems := list(slide_choice.problems_of(top)):
        raise Failed("\n".join(problems))
    output.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(REMARK, output / REMARK.name)
    chapters = [chapter for chapter in metadata.load_all(top) if numbers is None or chapter.number in numbers]
    for chapter in chapters:
        write(chapter, output, site)
    return chapters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--chapters", type=lambda text: text.split(","), metavar="NN,NN", help="by default all")
    options = parser.parse_args()
    try:
        for chapter in write_all(TOP, options.output.resolve(), repository.site(TOP), options.chapters):
            print(seen_from_the_shell(options.output.resolve() / f"{chapter.name}.html"))
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
