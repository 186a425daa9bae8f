"""Which slides of those that a page offers are a talk, and what is in their notes.

A talk has from LEAST to MOST slides; where there are more, the first of each step go before the second. What is said of a slide, and
left out on it, is in its notes. Where that chooses badly, [slides] of chapter.toml names the sentence that a section begins with, the
picture beside it, or the sections that no slide shows.
"""

import re

from tools.lib import chapter as metadata
from tools.site.slide_offers import LAST_RANK, slides_of_section, slides_of_summary
from tools.site.slide_words import MOST_WORDS, is_list, is_text, points_of, sentence_of, shown_sections, without_links

LEAST, MOST = 15, 25  # slides of a talk
MOST_CODE = 8  # slides of a talk with code
SUMMARIES = ("What the table says", "What the measurements say")


def add_notes(section, slides):
    """Each slide's notes are what the section says from it to the next one; a slide whose part says nothing has the paragraph before."""
    texts = [k for k, block in enumerate(section.blocks) if is_text(block) or is_list(block) or block.startswith("> ")]
    for k, slide in enumerate(slides):
        if slide.notes:
            continue
        begin = slide.begin if k else 0
        end = slides[k + 1].begin if k + 1 < len(slides) else len(section.blocks)
        own = [at for at in texts if begin <= at < max(end, begin + 1)] or [at for at in texts if at < begin][-1:] or texts[:1]
        slide.notes = [note_of(section.blocks[at]) for at in own]


def note_of(block):
    if is_list(block):
        return "\n".join(f"- {point}" for point in points_of(block))
    return without_links(re.sub(r"(?m)^> ?", "", block))


# ---- a talk ----------------------------------------------------------------------------------------


def chosen(offered, room):
    """The slides of all sections that a talk has room for, at most `room`: by rank, and of one rank first those of sections that
    have few. What has the last rank is for short pages. A slide comes with those that go on with its picture."""
    kept = [[] for _ in offered]
    count = code = 0
    for rank in range(1, LAST_RANK + 1):
        waiting = [(k, n) for k, slides in enumerate(offered) for n, slide in enumerate(slides) if slide.rank == rank]
        while waiting and (rank < LAST_RANK or count < LEAST):
            k, n = min(waiting, key=lambda place: (len(kept[place[0]]), place))
            waiting.remove((k, n))
            size, has_code = 1 + len(offered[k][n].more), bool(offered[k][n].code)
            if count + size <= room and not (has_code and code >= MOST_CODE and rank < LAST_RANK):
                kept[k].append(n)
                count, code = count + size, code + has_code
    return [[offered[k][n] for n in sorted(numbers)] for k, numbers in enumerate(kept)]


def wishes_of(chapter):
    """[slides] of a chapter.toml, without pictures of chapters that are not there."""
    pictures = chapter.slides.get("pictures", {})
    return {**chapter.slides, "pictures": {title: file for title, file in pictures.items() if is_of_a_chapter(chapter, file)}}


def of_page(text, room, shown, wishes, opening=None):
    """At most `room` slides of a page, in its order; `shown` makes their pictures, `wishes` are those of its chapter,
    `opening` is the slide of a page that says nothing above its first step."""
    say, left_out, pictures = wishes.get("say", {}), wishes.get("leave_out", []), wishes.get("pictures", {})
    sections = [section for section in shown_sections(text) if section.title not in left_out]
    offered = [
        slides_of_summary(section, shown) if section.title in SUMMARIES
        else slides_of_section(section, shown, say.get(section.title), pictures.get(section.title))
        for section in sections
    ]  # fmt: skip
    if opening and not sections[0].blocks:
        offered[0] = [opening]
    slides = []
    for section, kept in zip(sections, chosen(offered, room)):
        kept = [part for slide in kept for part in (slide, *slide.more)]
        add_notes(section, kept)
        slides += kept
    return slides


def problems_of(top):
    """What [slides] of a chapter.toml names, and its page does not have."""
    for chapter in metadata.load_all(top):
        sections = {section.title: section for section in shown_sections((chapter.folder / "README.md").read_text(encoding="utf-8"))}
        where = f"{chapter.file.relative_to(top)}: [slides]"
        for title in [*chapter.slides.get("say", {}), *chapter.slides.get("leave_out", []), *chapter.slides.get("pictures", {})]:
            if title not in sections:
                yield f"{where} names '{title}': README.md has no such section, or none that slides show"
        for title, beginning in chapter.slides.get("say", {}).items():
            if title in sections and sentence_of(sections[title], beginning) is None:
                yield f"{where} '{title}': no sentence of at most {MOST_WORDS} words that a slide can show begins with '{beginning}'"
        for title, file in chapter.slides.get("pictures", {}).items():
            if is_of_a_chapter(chapter, file) and not (chapter.folder / file).is_file():
                yield f"{where} '{title}': there is no picture {file}"


def is_of_a_chapter(chapter, file):
    """Whether a picture is of a chapter that is there: a release may have a part of them."""
    return (chapter.folder / file).resolve().parents[1].is_dir()
