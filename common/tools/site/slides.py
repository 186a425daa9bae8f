#!/usr/bin/env python3
"""Slides of the chapters, made from their READMEs: of each step why, the idea, the kernel, its cost, and the picture.

    slides.py OUTPUT [--chapters 00,01,...]

writes OUTPUT/NN-topic.html for each chapter, with the pictures and the program that shows them (remark, Debian's
libjs-remark-slide) beside it. Opened in a browser: arrow keys turn the slides, P shows the presenter's view, and
printing gives a page per slide. A slide has no text that is not in the lesson: what a step says after "Why?" and
"Idea.", or else its first paragraph.
"""

import argparse
import html
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import chapter as metadata  # noqa: E402
from tools.lib import markers  # noqa: E402
from tools.lib import pages  # noqa: E402
from tools.lib.checkout import TOP, seen_from_the_shell  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402

REMARK = Path("/usr/share/javascript/remark-slide/remark.min.js")
LAST = "What the table says"  # the section that sums a lesson up; what follows it is no slide
MOST_LINES = 27  # of code on one slide, in the smallest type
SIZES = [("large", 12, 94), ("medium", 19, 105)]  # of type, each for so many lines and columns of code
LINE = {"large": 26, "medium": 23, "small": 19}  # pixels of a line of code
ROOM = 580  # pixels below the heading
MOST_WORDS = 130  # of text on one slide
MOST_POINTS = 6  # of a list
FENCE = re.compile(r"^ {0,3}```")
SAID = re.compile(r"\*\*(?:Why|Idea)\b")
IMAGE = re.compile(r"^!\[(.*)\]\((.+)\)$")
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\([^()\s]*\)")


@dataclass
class Section:
    """A part of a lesson: its heading, and the blocks below it."""

    title: str
    blocks: list = field(default_factory=list)


def sections_of(text):
    """The sections of a README's second level, each with its blocks: texts without an empty line, or code."""
    sections, block, in_code = [Section("")], [], False

    def end():
        if block:
            sections[-1].blocks.append("\n".join(block))
            block.clear()

    for line in text.splitlines():
        if FENCE.match(line):
            if not in_code:
                end()
            block.append(line)
            in_code = not in_code
            if not in_code:
                end()
        elif in_code:
            block.append(line)
        elif line.startswith("## "):
            end()
            sections.append(Section(line[3:]))
        elif not line.strip() or line.startswith("<!--"):
            end()
        else:
            block.append(markers.without_comments(line))
    end()
    return sections


def is_code(block):
    return FENCE.match(block) is not None


def is_text(block):
    return not is_code(block) and not block.startswith(("![", ">", "|", "<", "#", "[", "- ", "* ", "1. "))


def without_links(text):
    """The text of a paragraph in one line; a link of a page leads nowhere from a slide."""
    return " ".join(LINK.sub(r"\1", text).split())


def shortened(text):
    """The first sentences of a paragraph that fit on a slide."""
    words = text.split()
    if len(words) <= MOST_WORDS:
        return text
    sentences, kept = re.split(r"(?<=[.:?])\s+(?=[A-Z`*])", text), []
    for sentence in sentences:
        if kept and len(" ".join([*kept, sentence]).split()) > MOST_WORDS:
            break
        kept.append(sentence)
    return " ".join(kept)


# ---- the slides of a chapter ---------------------------------------------------------------------


def lines_of_text(text, columns):
    """How many lines a paragraph takes, with so many characters on each."""
    return -(-len(text) // columns)


def height(block):
    """About how many pixels a block takes on a slide; the test in the browser knows it exactly."""
    if is_code(block):
        return LINE[size_of(block)] * block.count("\n") + 30
    if block.startswith("> "):
        return 26 * lines_of_text(block, 110) + 32
    if IMAGE.match(block):
        return ROOM
    return sum(34 * lines_of_text(line, 84) + 8 for line in block.split("\n")) + 8


def size_of(code):
    """The largest type in which a block of code is readable on one slide with what is said of it."""
    lines = code.split("\n")[1:-1]
    return next((name for name, count, width in SIZES if len(lines) <= count and max(map(len, lines)) <= width), "small")


def smallest(blocks):
    """The one type of all code on a slide."""
    return min([size_of(block) for block in blocks if is_code(block)], key=list(LINE)[::-1].index, default="large")


def pieces_of_code(block, language):
    """Code in pieces that fit on a slide each."""
    lines = block.split("\n")[1:-1]
    step = -(-len(lines) // -(-len(lines) // MOST_LINES))
    return [f"```{language}\n" + "\n".join(lines[begin : begin + step]) + "\n```" for begin in range(0, len(lines), step)]


def shown_blocks(section):
    """The blocks of a step that its slides show, in the lesson's order: why, idea, kernel, cost, picture."""
    has_said = any(SAID.match(block) for block in section.blocks)
    announced = first = False  # a paragraph that ends with a colon belongs to what follows it
    for block in section.blocks:
        if is_text(block):
            announced = bool(SAID.match(block)) if has_said else not first
            first = True
            if announced:
                text = shortened(without_links(block))
                announced = text.endswith(":")
                yield text
        elif block.startswith("```cuda"):
            yield from pieces_of_code(block, "cpp")
        elif is_code(block) and announced:
            yield from pieces_of_code(block, "text")
        elif block.startswith("> "):
            yield "> " + without_links(block.replace("\n> ", " ")[2:])
        elif image := IMAGE.match(block):
            yield image[0]
        elif block.startswith(("- ", "1. ")) and announced:
            yield "\n".join(without_links(point) for point in re.split(r"\n(?=- |\d+\. )", block))
        if not is_text(block):
            announced = False


def slides_of_section(section):
    """Slides as lists of Markdown blocks: as few as have room for a step."""
    slides, room = [], 0
    for block in shown_blocks(section):
        needed = height(block)
        if needed > room:
            slides.append([f"# {section.title}"])
            room = ROOM
        slides[-1].append(block)
        room -= needed
    return [[f"class: {smallest(slide)}", *slide] for slide in slides]


def is_shown(section):
    """Whether a section has what slides are made of."""
    return any(block.startswith(("```cuda", "> ")) or SAID.match(block) or IMAGE.match(block) for block in section.blocks)


def summing_up(section):
    """The points of the last section, and its picture."""
    points = [without_links(point[2:]) for block in section.blocks for point in re.split(r"\n(?=- )", block) if point.startswith("- ")]
    slides = [
        [f"# {section.title}", "\n".join(f"- {point}" for point in points[begin : begin + MOST_POINTS])]
        for begin in range(0, len(points), MOST_POINTS)
    ]
    return slides + [[f"# {section.title}", block] for block in section.blocks if IMAGE.match(block)]


def slides_of(chapter):
    """All slides of a chapter, as lists of Markdown blocks."""
    text = (chapter.folder / "README.md").read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)[1]
    slides = [["class: middle", f"# {title}", f"## {chapter.question}"]]
    for section in sections_of(pages.without_exercises(text))[1:]:
        if section.title == LAST:
            return slides + summing_up(section)
        if is_shown(section):
            slides += slides_of_section(section)
    return slides


# ---- files ---------------------------------------------------------------------------------------


def markdown_of(chapter, output):
    """The Markdown of a chapter's slides; its pictures are copied to `output`."""
    def with_picture(block):
        image = IMAGE.match(block)
        if not image:
            return block
        source = chapter.folder / image[2]
        target = output / "pictures" / chapter.name / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return f'<img src="{target.relative_to(output).as_posix()}" alt="{html.escape(image[1])}">'

    return "\n\n---\n\n".join("\n\n".join(map(with_picture, slide)) for slide in slides_of(chapter))


def write(chapter, output):
    """Writes the slides of one chapter."""
    here = Path(__file__).parent
    parts = {
        "TITLE": html.escape(f"{chapter.name}: {chapter.question}"),
        "STYLE": (here / "slides.css").read_text(encoding="utf-8").rstrip(),
        "SLIDES": html.escape(markdown_of(chapter, output), quote=False),
    }
    template = (here / "slides.html").read_text(encoding="utf-8")
    text = re.sub(f"@({'|'.join(parts)})@", lambda found: parts[found[1]], template)
    (output / f"{chapter.name}.html").write_text(text, encoding="utf-8")


def write_all(top, output, numbers=None):
    """Writes the slides of all chapters, or of those with these numbers; Failed without remark."""
    if not REMARK.is_file():
        raise Failed(f"{REMARK} is missing: common/tools/setup.sh --contributor installs it")
    output.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(REMARK, output / REMARK.name)
    chapters = [chapter for chapter in metadata.load_all(top) if numbers is None or chapter.number in numbers]
    for chapter in chapters:
        write(chapter, output)
    return chapters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--chapters", type=lambda text: text.split(","), metavar="NN,NN", help="by default all")
    options = parser.parse_args()
    try:
        for chapter in write_all(TOP, options.output.resolve(), options.chapters):
            print(seen_from_the_shell(options.output.resolve() / f"{chapter.name}.html"))
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
