"""What each section of a lesson offers to its slides: one idea, one picture or piece of code, and one number each.

A step offers what it says after "Why?" and "Idea.", its drawings, its kernels with what they cost, its tables of numbers, and each
paragraph that begins with a bold sentence. Beside a text stands a picture of what it says: bars of the measured rungs that it
names, or of those of its step, else the step's drawing, else its code. A text without anything to see is no slide: it is in the notes.
"""

import re
from collections import namedtuple
from dataclasses import dataclass, field, replace

from tools.lib.failed import Failed
from tools.site import slide_words
from tools.site.slide_words import BOLD, IMAGE, LANGUAGE, LINES_BELOW, MEASURED, MOST_WORDS, SAID, is_code, is_list, is_text

MOST_POINTS = 4  # of a list that is one slide each
LAST_RANK = 5


@dataclass(frozen=True)
class Picture:
    """A picture as a slide shows it."""

    name: str  # of its file, without the ending
    svg: str
    alt: str
    file: str = ""  # that it was made from, as the page names it
    number: tuple | None = None  # its own, as a slide has it
    about: tuple = ()  # (name, size) of the rung that a picture of costs leads to
    is_poor: bool = False  # one bar, with nothing beside it


@dataclass(frozen=True)
class Drawn:
    """A drawing of a page: the question that it answers, its pictures, which go on where one slide is too small, the kernel that it shows, and
    its number."""

    title: str
    pictures: list
    kernel: str = ""
    number: tuple | None = None


Seen = namedtuple("Seen", "picture number")


@dataclass
class Slide:
    """One slide: its heading, a text, a picture or code, at most one number, and the speaker's notes."""

    kind: str  # "title", "text", "code", "picture" or "exercises"
    heading: str
    body: str = ""
    number: tuple | None = None  # (the number, what it is)
    notes: list = field(default_factory=list)
    rank: int = 1  # the smaller, the sooner it is chosen
    begin: int = 0  # the block of its section that it is made of
    picture: Picture | None = None
    code: str = ""  # a block of code
    more: list = field(default_factory=list)  # the slides that go on with its picture

    @property
    def is_whole(self):
        """Whether there is something to look at."""
        return self.picture is not None or bool(self.code)


# ---- what a section offers ---------------------------------------------------------------------------


class Offer:
    """What a section offers to slides; `shown` makes their pictures (tools/site/slides.py)."""

    def __init__(self, section, shown):
        self.section, self.shown, self.first_code, self.first_table, self.poor = section, shown, True, True, None
        there = {block: k for k, block in enumerate(section.blocks)}
        self.costs = [(there.get(block, len(there)), cost) for block, _ in section.costs if (cost := slide_words.cost_of(block))]

    def slide(self, kind, begin, rank, **more):
        return Slide(kind, self.section.title, begin=begin, rank=rank, **more)

    def name(self, begin):
        """The name of the file of a picture that is made for a slide."""
        return f"{re.sub(r'[^a-z0-9]+', '-', self.section.title.lower()).strip('-')[:40]}-{begin}"

    def slides_of_block(self, k, block):
        """The slides that a block offers."""
        if is_code(block):
            return self.of_code(k, block)
        if block.startswith("|"):
            return self.of_table(k)
        if image := IMAGE.match(block):
            return self.of_drawing(k, image[2])
        return self.of_paragraph(k, block) if is_text(block) and BOLD.match(block) and not SAID.match(block) else []

    def of_paragraph(self, k, block):
        """A slide of a paragraph, beside the bars of what it has measured."""
        said = slide_words.shortened(slide_words.without_links(block), MOST_WORDS)
        picture = self.shown.of_numbers(slide_words.markers_said(self.section.marked[k], said), self.name(k)) if said else None
        if picture is None or picture.is_poor:
            return []
        return [self.slide("text", k, LAST_RANK, body=said, picture=picture, number=self.number_of_text(said) or picture.number)]

    # ---- code

    def of_code(self, k, block):
        lines, number = slide_words.code_of(block), self.number_of_code(k, block)
        if lines is None or block.lstrip().startswith("```sh\n"):
            return []
        tag = "cpp" if LANGUAGE.match(block) else "text"
        rank = 3 if tag == "cpp" and self.first_code else LAST_RANK if tag == "cpp" else 4
        self.first_code = self.first_code and tag != "cpp"
        return [self.slide("code", k, rank, code=f"```{tag}\n" + "\n".join(lines) + "\n```", number=number)]

    def number_of_code(self, k, block):
        """What the code costs, else what the next rung of the step costs, else what the page says of it, else how long it is."""
        after = [cost for at, cost in self.costs if at > k]
        named = [cost for cost in after if re.search(rf"\b{re.escape(slide_words.base_of(cost.name))}\b", block)]
        cost = next(iter(named or after), None)
        return slide_words.number_of(cost) if cost else slide_words.number_said(self.section, k, "code") or slide_words.number_of_lines(block)

    # ---- tables and drawings

    def of_table(self, k):
        """A slide with the bars of a table, beside what is said of it."""
        picture = self.shown.of_table(self.section.marked[k], self.name(k))
        if not picture:
            return []
        rank, self.first_table = (4 if self.first_table else LAST_RANK), False
        near = [at for at in (k - 1, k + 1) if 0 <= at < len(self.section.blocks) and is_text(self.section.blocks[at])]
        texts = (SAID.sub("", slide_words.without_links(self.section.blocks[at])).lstrip() for at in near)
        said = next(filter(None, (slide_words.shortened(text, MOST_WORDS) for text in texts)), "")
        return [self.slide("text", k, rank, body=said, picture=picture, number=slide_words.number_in(said, MEASURED) or picture.number)] if said else []

    def of_drawing(self, k, file):
        """The slides of a drawing: one, and more where it goes on."""
        drawn = self.shown.drawn(file)
        if drawn is None:
            return []
        number = drawn.number or self.number_of_kernel(drawn.kernel) or slide_words.number_said(self.section, k, "picture")
        return [pictures_in_turn(self.slide("picture", k, 2), drawn, number)]

    def number_of_kernel(self, kernel):
        """What a kernel costs that is drawn, or the only rung of its step."""
        named = [cost for _, cost in self.costs if slide_words.base_of(cost.name) == slide_words.base_of(kernel)]
        return slide_words.number_of((named or [cost for _, cost in self.costs])[-1]) if named or len(self.costs) == 1 else None

    # ---- texts

    def number_of_text(self, text):
        """A text's number: of the last rung that it names, or one of its own."""
        named = [cost for _, cost in self.costs if f"`{cost.name}`" in text or f"`{slide_words.base_of(cost.name)}`" in text]
        return slide_words.number_of(named[-1]) if named else slide_words.number_in(text, MEASURED)

    def with_picture(self, idea, wish, slides):
        """The slides of a section whose idea has got a picture, or code; one of them that had it is not shown again."""
        if wish:
            pictures_in_turn(idea, self.shown.beside_text(wish) or too_small(wish), idea.number)
            return [slide for slide in slides if slide.picture is None or slide.picture.file != wish]
        if bars := self.bars_of(idea):
            idea.picture, idea.number = bars.picture, idea.number or bars.number
            return slides
        taken = self.shown_in_step(idea, slides)
        return [slide for slide in slides if slide is not taken]

    def bars_of(self, idea):
        """A Seen of the measured rungs that an idea names, else of those of its step; None if there is only one."""
        named = [sentence for marked in self.section.marked for sentence in slide_words.markers_said(marked, idea.body)]
        name = self.name("idea")
        if (own := self.shown.of_numbers(named, name)) and not own.is_poor:
            return Seen(own, own.number)
        costs = self.shown.of_costs([marked for _, marked in self.section.costs], name)
        if costs is None or costs.is_poor:
            self.poor = own or costs
            return None
        cost = next(cost for _, cost in reversed(self.costs) if cost.name == costs.about[0] and cost.n in ("", costs.about[1]))
        return Seen(costs, slide_words.gain_of(cost))

    def shown_in_step(self, idea, slides):
        """Gives an idea what else there is to see of its step: a drawing, what another paragraph has measured, a table, code; returns the slide that had it."""
        drawing = next((slide for slide in slides if slide.kind == "picture"), None)
        table = next((slide for slide in slides if slide.kind == "text"), None)
        code = next((slide for slide in slides if slide.kind == "code" and slide.code.count("\n") - 1 <= LINES_BELOW), None)
        near = next((bars for marked in self.section.marked if (bars := self.shown.of_numbers([marked], self.name("idea"))) and not bars.is_poor), None)
        near = near or (self.shown.whole_way() if self.section.is_first else None)
        drawn = drawing and self.shown.beside_text(drawing.picture.file)
        if drawn and (len(drawn.pictures) == 1 or not (near or table or code)):
            pictures_in_turn(idea, drawn, idea.number or drawing.number)
            return drawing
        if near or not (table or code):
            idea.picture = near or self.poor
            idea.number = idea.number or (idea.picture.number if idea.picture else None)
            return None
        idea.picture, idea.code = (table.picture, "") if table else (None, code.code)
        idea.number = idea.number or (table or code).number
        return table or code


def too_small(file):
    raise Failed(f"[slides] of chapter.toml: {file} is too small beside a text")


def pictures_in_turn(slide, drawn, number):
    """The slide with the first picture of a drawing, its number and its question, and with the slides that go on."""
    if slide.kind == "picture":
        slide.heading = drawn.title or slide.heading
    count, heading = len(drawn.pictures), drawn.title or slide.heading
    slide.picture, slide.number = drawn.pictures[0], number
    slide.more = [
        replace(slide, kind="picture", heading=f"{heading} ({k} of {count})", body="", picture=picture, more=[])
        for k, picture in enumerate(drawn.pictures[1:], 2)
    ]  # fmt: skip
    if count > 1 and slide.kind == "picture":
        slide.heading = f"{heading} (1 of {count})"
    return slide


def slides_of_section(section, shown, beginning=None, wish=None):
    """The slides that a step offers, in the lesson's order; `shown` makes their pictures, `beginning` is that of the sentence that is said
    first, `wish` the file of the picture beside it."""
    offer = Offer(section, shown)
    text, at = slide_words.sentence_of(section, beginning) if beginning else slide_words.idea_of(section)
    others = [(k, block) for k, block in enumerate(section.blocks) if not (text and k == at and is_text(block))]
    slides = [slide for k, block in others for slide in offer.slides_of_block(k, block)]
    if text:
        idea = offer.slide("text", at, 1, body=slide_words.filled(text, section.blocks[at + 1 :]))
        idea.number = offer.number_of_text(idea.body)
        slides = [idea, *offer.with_picture(idea, wish, slides)]
    slides = [slide for slide in slides if slide.is_whole and (slide.number or slide.kind != "code")]
    slides.sort(key=lambda slide: slide.begin)
    say_other_numbers(section, slides)
    return slides


def say_other_numbers(section, slides):
    """Code whose number a slide before it has gets one that the page says near it, if there is one."""
    seen = []
    for slide in slides:
        if slide.kind == "code" and slide.number[0] in seen:
            slide.number = slide_words.number_said(section, slide.begin, "code", [MEASURED], seen) or slide.number
        seen += [slide.number[0]] if slide.number else []


def slides_of_summary(section, shown):
    """A slide for each of the first points that has a number, beside the bars of what was measured."""
    offer, slides = Offer(section, shown), []
    for k, block in enumerate(section.blocks):
        points = re.split(r"\n(?=- |\* |\d+\. )", section.marked[k]) if is_list(block) else []
        for n, marked in enumerate(points):
            point = slide_words.points_of(block)[n]
            text = slide_words.shortened(point, MOST_WORDS)
            number = slide_words.number_in(text, MEASURED)
            name = offer.name(f"{k}-{n}")
            picture = number and (shown.of_numbers(slide_words.markers_said(marked, text), name) or shown.of_numbers([marked], name))
            if picture and not picture.is_poor and len(slides) < MOST_POINTS:
                slides.append(Slide("text", section.title, text, number, [point], rank=1 + len(slides), begin=k, picture=picture))
    return slides
