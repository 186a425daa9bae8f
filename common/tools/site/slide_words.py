"""What a lesson's page says, for its slides: its sections, the sentences of a paragraph that stand alone, what rungs cost, and numbers."""

import re
from dataclasses import dataclass, field

from tools.lib import markers, pages

MOST_WORDS = 40  # of text on a slide
LEAST_WORDS = 20  # a text with fewer goes on with the paragraphs after it
WORDS_OF_WHY = 18  # of them, where there is an idea, too
MOST_LINES, LINES_BELOW, MOST_COLUMNS = 20, 16, 100  # of code: alone, and below a text
LETTERS_OF_NUMBER = {"code": 96, "picture": 80}  # of the sentence that says what a number is, so that it has two lines, or one
OPENING = ("# ", "[", "**You will", "**Before", "**Next")  # blocks above the first step that are about the page
NO_SLIDES = re.compile(
    "All rungs|All measurements|Claims that|Sources|Tried, and|Which GPU has|Not treated|What this chapter leaves out|Export|What you built|"
    "What the course does not|The program$|First half|Second half")
FENCE = re.compile(r"^ {0,3}```")
LANGUAGE = re.compile(r"^ {0,3}```(?:cuda|cpp)\n")
SAID = re.compile(r"^\*\*(Why|Idea)\b[^*]*\*\*")
LABEL = re.compile(r"^\*\*[^*]+[.?]\*\* *")  # "**Why?**"
BOLD = re.compile(r"^\*\*[^*]+\*\*")
IMAGE = re.compile(r"^!\[(.*)\]\((.+)\)$")
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\([^()\s]*\)")
# What leads somewhere on the page, and says nothing on a slide.
ASIDE = re.compile(r"\s*\((?:[^()]*\[[^\[\]]*\]\([^()\s]*\)[^()]*|(?:how to|see|below|above|steps? \d|chapters? \d) ?[^()]*)\)")
DEAD = re.compile(r":$|\b[Bb]elow\b|\b[Aa]bove\b|\bthis page\b|\b[Hh]ere (?:is|are|begins)\b|\bpicture\b|\b[Tt]he (?:table|drawing|list)\b|\b[Ll]ook at\b|\bfollowing\b|\bdescribed\b|\bboxes\b")
GOES_ON = re.compile(r"\(|(?:So|Then|It|Its|That|This|These|They|Both|And|But|Each of|The other|One of|Here)\b")  # what the sentence before says
SENTENCE = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\)))\s+(?=[A-Z`*(\d])")
COUNTED = (
    "(?:significant )?bits?|bytes|[KMG]iB|sectors?|wavefronts?|atomics?|barriers?|registers?|instructions|additions|"
    "lanes|lists|threads|warps|blocks|devices|GPUs|kernels?|launches|floats|halves|elements|numbers|values|ones|words|keys|cells|atoms|pairs|bins|counters|slots|"
    "rows|columns|runs|buffers|streams|tests|seeds|passes|steps|levels|updates|targets")
SPELLED = "(?:[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en)"
MEASURED = [
    re.compile(rf"(?<![/^*+=-] )(?<![\w.,/^-])(?:\d[\d,.]*(?:e-?\d+)? to )?(?!0\s)\d[\d,.]*(?:e-?\d+|\^\d+)?\s(?:{unit})(?: per [a-z]+)?(?!\w)")
    for unit in ("times", "[µmn]s|GB/s", "%", COUNTED)
]  # fmt: skip
NUMBERS = [*MEASURED, re.compile(rf"(?<!-)\b{SPELLED} (?:{COUNTED})(?!\w)")]
COST = re.compile(r"`(?P<name>[^`]+)`: \*\*(?P<time>[^*]+)\*\*(?: for n = (?P<n>\d[\d,]*(?:\^\d+)?)(?=[,.;]|$))?")
COMPARED = re.compile(r"`([^`]+)`: ([\d,.]+ [µm]s)")
TIMES = re.compile(r"([\d,.]+ times) (as (?:fast|long) as `[^`]+`)")
SAID_OF = {"fast": "the speed of", "long": "the time of"}


@dataclass
class Section:
    """A part of a lesson: its heading, and the blocks below it; `marked` are the same with the comments in and before them."""

    title: str
    blocks: list = field(default_factory=list)
    marked: list = field(default_factory=list)
    costs: list = field(default_factory=list)  # [(the line of a cost, the same with its marker)], also of those after an exercise
    is_first: bool = False  # what is above the first step


@dataclass(frozen=True)
class Cost:
    """What a rung takes, the rung that it is compared with, and the library beside it, as the page says it."""

    name: str
    time: str
    n: str
    library: str
    library_time: str
    times: str = ""  # "3.09 times"
    than: str = ""  # "as fast as `sum`"


# ---- a page ----------------------------------------------------------------------------------------


def sections_of(text):
    """The sections of a README's second level, each with its blocks: texts without an empty line, or code."""
    sections, block, before, in_code = [Section("")], [], [], False

    def end():
        if block:
            sections[-1].marked.append("\n".join([*before, *block]))
            sections[-1].blocks.append("\n".join(block if is_code(block[0]) else map(markers.without_comments, block)))
            block.clear()
            before.clear()

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
            before.clear()
            sections.append(Section(line[3:]))
        elif not line.strip() or line.startswith("<!--"):
            end()
            before += [line] * line.startswith("<!--")
        else:
            block.append(line)
    end()
    return sections


def is_code(block):
    return FENCE.match(block) is not None


def is_list(block):
    return block.startswith(("- ", "* ", "1. "))


def is_text(block):
    return not is_code(block) and not is_list(block) and not block.startswith(("![", ">", "|", "<", "#", "["))


def points_of(block):
    """The points of a list, each in one line."""
    return [without_links(re.sub(r"^(?:- |\* |\d+\. )", "", point)) for point in re.split(r"\n(?=- |\* |\d+\. )", block)]


def without_links(text):
    """The text of a paragraph in one line; a link of a page leads nowhere from a slide."""
    return " ".join(LINK.sub(r"\1", ASIDE.sub("", text)).split())


def words(text):
    return len(text.split())


def shortened(text, most):
    """The first sentences of a paragraph that stand alone and fit: without those that lead to what is on the page. "Why?" and "Idea."
    stay before them."""
    label, kept, is_first = SAID.match(text), [], True
    label = label[0] if label else ""
    for sentence in SENTENCE.split(text.removeprefix(label).lstrip()):
        alone = is_first or bool(kept) or not GOES_ON.match(sentence)
        is_first = False
        if alone and not DEAD.search(sentence) and words(" ".join([label, *kept, sentence])) <= most:
            kept.append(sentence)
        elif kept:
            break
    return f"{label} {' '.join(kept)}".lstrip() if kept else ""


def shown_sections(text):
    """The sections of a page that slides may show; the first one is what is above the first step."""
    unfolded = pages.FOLD.sub("", text)
    costs = {section.title: costs_of(section) for section in sections_of(unfolded)}
    sections = [section for section in sections_of(pages.without_exercises(unfolded)) if not NO_SLIDES.match(section.title)]
    for section in sections:
        section.costs = costs[section.title]
    told = [k for k, block in enumerate(sections[0].blocks) if not block.startswith(OPENING)]
    first = Section(title_of(text), *([part[k] for k in told] for part in (sections[0].blocks, sections[0].marked)), costs[""], is_first=True)
    return [first, *sections[1:]]


def costs_of(section):
    """[(the line of a cost, the same with its marker)] of a section."""
    return [(block, marked) for block, marked in zip(section.blocks, section.marked) if block.startswith("> ")]


def title_of(text):
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1]


# ---- what is said and costs --------------------------------------------------------------------------


def cost_of(block):
    """A Cost of the line that says what a rung costs; None if it says no time."""
    text = without_links(block.replace("\n> ", " ")[2:])
    cost = COST.search(text)
    if not cost:
        return None
    compared, times = COMPARED.search(text, cost.end()), TIMES.search(text, cost.end())
    return Cost(cost["name"], cost["time"], cost["n"] or "", *(compared.groups() if compared else ("", "")), *(times.groups() if times else ("", "")))


def base_of(name):
    """The name of a kernel without its template arguments."""
    return name.partition("<")[0]


def number_of(cost):
    """The number of a slide: a time, and what took it, beside the library's."""
    return cost.time, f"`{cost.name}`" + (f" for n = {cost.n}" if cost.n else "") + (f"; `{cost.library}`: {cost.library_time}" if cost.library else "")


def gain_of(cost):
    """The number of a slide beside the bars of a cost: how it compares with the rung before, or its time."""
    if not cost.times:
        return number_of(cost)
    what, _, other = cost.than.removeprefix("as ").partition(" as ")
    return cost.times, f"{SAID_OF[what]} {other} (`{cost.name}`)"


def code_of(block):
    """The lines of a block of code that fit on a slide; None if they are too many or too long."""
    lines = block.split("\n")[1:-1]
    return lines if len(lines) <= MOST_LINES and max(map(len, lines), default=0) <= MOST_COLUMNS else None


def sentence_of(section, beginning):
    """(the text of a slide from the sentence that begins so, the block that it is in); None if there is no such sentence."""
    for k, block in enumerate(section.blocks):
        sentences = SENTENCE.split(without_links(block)) if is_text(block) else []
        for n, sentence in enumerate(sentences):
            if sentence.startswith(beginning) and (text := shortened(" ".join(sentences[n:]), MOST_WORDS)).startswith(beginning):
                return text, k
    return None


def idea_of(section):
    """(the text of the slide that says why, and the idea; the block that it begins with), or (the first paragraph that says something)."""
    said = {}
    for k, block in enumerate(section.blocks):
        found = is_text(block) and SAID.match(block)
        if found and found[1] not in said:
            said[found[1]] = (k, without_links(block))
    if said:
        why, idea = said["Why"][1] if "Why" in said else "", said["Idea"][1] if "Idea" in said else ""
        first_idea = SENTENCE.split(shortened(idea, MOST_WORDS))[0]
        room = MOST_WORDS - words(first_idea)
        why = shortened(why, WORDS_OF_WHY if first_idea and words(why) > room else room) or shortened(why, room)
        idea = shortened(idea, MOST_WORDS - words(why))
        if text := "\n\n".join(filter(None, (why, idea))):
            return text, min(k for k, _ in said.values())
    for k, block in enumerate(section.blocks):
        if is_text(block) and (text := shortened(without_links(block), MOST_WORDS)):
            return text, k
    return "", 0


def filled(text, blocks):
    """A slide's text; where it is short, with the first sentences of the paragraphs after it, up to the next heading."""
    for block in blocks:
        if words(text) >= LEAST_WORDS or block.startswith("#"):
            break
        if is_text(block) and not BOLD.match(block) and not GOES_ON.match(block) and (more := shortened(without_links(block), MOST_WORDS - words(text))):
            text += f"\n\n{more}"
    return text


def number_in(text, units):
    """The first number of a text that has one of these units, as a slide's number; None if there is none."""
    number = next(filter(None, (unit.search(text) for unit in units)), None)
    return (number[0], "") if number else None


def number_said(section, at, kind, kinds_of_units=(MEASURED, NUMBERS), but=()):
    """(a number, the sentence that says what it is) for a slide of code or a picture, from the texts nearest to a block, of the first kind that there
    is, by default in digits; None if there is none `but` these."""
    near = sorted((k for k, block in enumerate(section.blocks) if is_text(block)), key=lambda k: (abs(k - at), -k))
    sentences = [LABEL.sub("", sentence).rstrip(":") for k in near for sentence in SENTENCE.split(without_links(section.blocks[k]))]
    short = [sentence for sentence in sentences if len(sentence) <= LETTERS_OF_NUMBER[kind] and not DEAD.search(sentence)]
    found = ((number[0], sentence) for units in kinds_of_units for sentence in short if (number := number_in(sentence, units)))
    return next((number for number in found if number[0] not in but), None)


def number_of_lines(block):
    """How long a block of code is; None of a drawing in text."""
    count = block.count("\n") - 1
    return (f"{count} lines", "the whole program" if "int main(" in block else "of code") if LANGUAGE.match(block) else None


def markers_said(marked, said):
    """The sentences of a paragraph, with their markers, that a slide says."""
    sentences = SENTENCE.split(" ".join(re.sub(r"(?m)^(?:- |\* |\d+\. )", "", marked).split()))
    return [sentence for sentence in sentences if without_links(markers.without_comments(sentence)) in said]
