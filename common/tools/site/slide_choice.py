"""What the slides of a chapter show: chosen from its page, one idea, one picture, one piece of code or one table each.

Each step of a lesson offers slides: what it says after "Why?" and "Idea.", its kernels with what they cost, its pictures
and tables, and each paragraph that begins with a bold sentence. A talk has from LEAST to MOST of them; where there are more, the
first of each step go before the second. What is said of a slide, and left out on it, is in its notes. Where that chooses badly,
[slides] of chapter.toml names the sentence that a section begins with, the sections that no slide shows, or the group of the ladder that
is a section's picture.
"""

import re
from dataclasses import dataclass, field

from tools.lib import chapter as metadata
from tools.lib import markers, pages

LEAST, MOST = 15, 25  # slides of a talk
MOST_WORDS = 40  # of text on a slide
LEAST_WORDS = 20  # a text with fewer goes on with the paragraphs after it
WORDS_OF_WHY = 18  # of them, where there is an idea, too
MOST_LINES, MOST_COLUMNS = 14, 100  # of code
MOST_ROWS, MOST_CELLS, WORDS_OF_TABLE = 6, 6, 90  # of a table
MOST_POINTS = 4  # of a list that is one slide each
SUMMARIES = ("What the table says", "What the measurements say")
LAST_RANK = 5
OPENING = ("# ", "[", "**You will", "**Before", "**Next")  # blocks above the first step that are about the page
NO_SLIDES = re.compile(
    "All rungs|All measurements|Claims that|Sources|Tried, and|Which GPU|Not treated|What this chapter leaves out|Export|What you built|"
    "What the course does not|The program$|First half|Second half")
FENCE = re.compile(r"^ {0,3}```")
SAID = re.compile(r"^\*\*(Why|Idea)\b[^*]*\*\*")
BOLD = re.compile(r"^\*\*[^*]+\*\*")
IMAGE = re.compile(r"^!\[(.*)\]\((.+)\)$")
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\([^()\s]*\)")
# What leads somewhere on the page, and says nothing on a slide.
ASIDE = re.compile(r"\s*\((?:[^()]*\[[^\[\]]*\]\([^()\s]*\)[^()]*|(?:how to|see|below|above|steps? \d|chapters? \d) ?[^()]*)\)")
DEAD = re.compile(r":$|\b[Bb]elow\b|\b[Aa]bove\b|\bthis page\b|\b[Hh]ere (?:is|are|begins)\b|\bpicture\b|\b[Tt]he (?:table|drawing|list)\b|\b[Ll]ook at\b|\bfollowing\b|\bdescribed\b")
GOES_ON = re.compile(r"\(|(?:So|Then|It|Its|That|This|These|They|Both|And|But|Each of|The other|One of|Here)\b")  # what the sentence before says
SENTENCE = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\)))\s+(?=[A-Z`*(\d])")
NUMBERS = [re.compile(rf"\b(?:\d[\d,.]*(?:e-?\d+)? to )?\d[\d,.]*(?:e-?\d+)?\s{unit}(?!\w)") for unit in ("times", "(?:[µmn]s|GB/s)", "%")]
COST = re.compile(r"`(?P<name>[^`]+)`: \*\*(?P<time>[^*]+)\*\*(?: for n = (?P<n>\d[\d,]*(?:\^\d+)?)(?=[,.;]|$))?")
COMPARED = re.compile(r"`([^`]+)`: ([\d,.]+ [µm]s)")


@dataclass
class Section:
    """A part of a lesson: its heading, and the blocks below it."""

    title: str
    blocks: list = field(default_factory=list)


@dataclass
class Slide:
    """One slide: its heading, one body (Markdown), at most one number, and the speaker's notes."""

    kind: str  # "title", "text", "code", "picture", "table" or "exercises"
    heading: str
    body: str
    number: tuple | None = None  # (the number, what it is)
    notes: list = field(default_factory=list)
    rank: int = 1  # the smaller, the sooner it is chosen
    begin: int = 0  # the block of its section that it is made of
    picture: tuple | None = None  # (its file, as the page names it; which part of it; the SVG)


@dataclass(frozen=True)
class Cost:
    """What a rung takes, and the library beside it, as the page says it."""

    name: str
    time: str
    n: str
    library: str
    library_time: str


# ---- a page ----------------------------------------------------------------------------------------


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


# ---- what a section offers ---------------------------------------------------------------------------


def cost_of(block):
    """A Cost of the line that says what a rung costs; None if it says no time."""
    text = without_links(block.replace("\n> ", " ")[2:])
    cost = COST.search(text)
    if not cost:
        return None
    compared = COMPARED.search(text, cost.end())
    return Cost(cost["name"], cost["time"], cost["n"] or "", *(compared.groups() if compared else ("", "")))


def number_of(cost):
    """The number of a slide: a time, and what took it, beside the library's."""
    return cost.time, f"`{cost.name}`" + (f" for n = {cost.n}" if cost.n else "") + (f"; `{cost.library}`: {cost.library_time}" if cost.library else "")


def table_of(costs):
    """What the rungs of a step cost, as a table."""
    libraries = list(dict.fromkeys(cost.library for cost in costs if cost.library))
    beside = len(libraries) == 1 and all(cost.library for cost in costs)
    rows = [f"| `{cost.name}` | {cost.n} | {cost.time} |" + (f" {cost.library_time} |" if beside else "") for cost in costs]
    return "\n".join(["| rung | n | time |" + (f" `{libraries[0]}` |" if beside else ""), "|---|--:|--:|" + ("--:|" if beside else ""), *rows])


def code_of(block):
    """The lines of a block of code that fit on a slide; None if they are too many or too long."""
    lines = block.split("\n")[1:-1]
    return lines if len(lines) <= MOST_LINES and max(map(len, lines), default=0) <= MOST_COLUMNS else None


def fits_as_table(block):
    rows = block.split("\n")
    return (
        len(rows) - 2 <= MOST_ROWS and rows[0].count("|") - 1 <= MOST_CELLS
        and words(re.sub(r"[|:-]+", " ", without_links(block))) <= WORDS_OF_TABLE
    )  # fmt: skip


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


def number_in(text):
    """The first number of a text that has a unit, as a slide's number; None if there is none."""
    number = next(filter(None, (unit.search(text) for unit in NUMBERS)), None)
    return (number[0], "") if number else None


def slides_of_section(section, pictures_of, beginning=None):
    """The slides that a step offers, in the lesson's order; `pictures_of` returns [(title, SVG)] of a picture's file, `beginning` is that
    of the sentence that is said first."""
    slides, first_code, costs = [], True, []
    text, at = sentence_of(section, beginning) if beginning else idea_of(section)
    idea = Slide("text", section.title, filled(text, section.blocks[at + 1 :]), rank=1, begin=at) if text else None
    if idea:
        slides.append(idea)
    tables = 0
    for k, block in enumerate(section.blocks):
        if is_code(block):
            language = block[block.index("```") + 3 :].split("\n")[0]
            lines = code_of(block)
            if lines is None or language == "sh":
                continue
            tag = "cpp" if language in ("cuda", "cpp") else "text"
            rank = 3 if tag == "cpp" and first_code else 5 if tag == "cpp" else 4
            first_code = first_code and tag != "cpp"
            slides.append(Slide("code", section.title, f"```{tag}\n" + "\n".join(lines) + "\n```", rank=rank, begin=k))
        elif block.startswith("> ") and (cost := cost_of(block)):
            costs.append((k, cost))
            # It belongs to the code that it follows.
            code = next((slide for slide in reversed(slides) if slide.kind == "code"), None)
            if code and re.search(rf"\b{re.escape(cost.name.partition('<')[0])}\b", code.body) and code.number is None:
                code.number = number_of(cost)
        elif block.startswith("|") and fits_as_table(block):
            tables += 1
            slides.append(Slide("table", section.title, without_links_of_rows(block), rank=4 if tables == 1 else 5, begin=k))
        elif image := IMAGE.match(block):
            slides += [
                Slide("picture", title or section.title, image[1], rank=2 + n, begin=k, picture=(image[2], n, svg))
                for n, (title, svg) in enumerate(pictures_of(image[2]))
            ]  # fmt: skip
        elif is_text(block) and BOLD.match(block) and not SAID.match(block) and (said := shortened(without_links(block), MOST_WORDS)) and k != at:
            slides.append(Slide("text", section.title, said, rank=5, begin=k))
    if len(costs) > 1:
        slides.append(Slide("table", section.title, table_of([cost for _, cost in costs[-MOST_ROWS:]]), rank=4, begin=costs[-1][0]))
    # What is said has a number, too: of the last rung that it names, or one of its own. A step has numbers of other rungs as well, so
    # the idea has that of a rung that it does not name only if this is the step's one kernel, whose code is too long for a slide.
    unseen = [cost for _, cost in costs if any(is_code(block) and code_of(block) is None and f"{cost.name.partition('<')[0]}(" in block for block in section.blocks)]
    for slide in slides:
        if slide.kind == "text":
            named = [cost for _, cost in costs if f"`{cost.name}`" in slide.body or f"`{cost.name.partition('<')[0]}`" in slide.body]
            named = named or (unseen if slide is idea and len(costs) == 1 else [])
            slide.number = number_of(named[-1]) if named else number_in(slide.body)
    return sorted(slides, key=lambda slide: slide.begin)


def without_links_of_rows(block):
    return "\n".join(LINK.sub(r"\1", ASIDE.sub("", row)) for row in block.split("\n"))


def slides_of_summary(section):
    """A slide for each of the first points that has a number."""
    slides = []
    for k, block in enumerate(section.blocks):
        if is_list(block):
            for point in points_of(block):
                text = shortened(point, MOST_WORDS)
                number = number_in(text)
                if number and len(slides) < MOST_POINTS:
                    slides.append(Slide("text", section.title, text, number, [point], rank=1 + len(slides), begin=k))
    return slides


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
    have few. What has the last rank is for short pages."""
    kept = [[] for _ in offered]
    for rank in range(1, LAST_RANK + 1):
        waiting = [(k, n) for k, slides in enumerate(offered) for n, slide in enumerate(slides) if slide.rank == rank]
        while waiting and (count := sum(map(len, kept))) < room and (rank < LAST_RANK or count < LEAST):
            k, n = min(waiting, key=lambda place: (len(kept[place[0]]), place))
            waiting.remove((k, n))
            kept[k].append(n)
    return [[offered[k][n] for n in sorted(numbers)] for k, numbers in enumerate(kept)]


def shown_sections(text):
    """The sections of a page that slides may show; the first one is what is above the first step."""
    text = pages.FOLD.sub("", pages.without_exercises(text))
    sections = [section for section in sections_of(text) if not NO_SLIDES.match(section.title)]
    sections[0].title = title_of(text)
    sections[0].blocks = [block for block in sections[0].blocks if not block.startswith(OPENING)]
    return sections


def of_page(text, room, pictures_of, wishes, ladders):
    """At most `room` slides of a page, in its order; `wishes` are [slides] of its chapter.toml, `ladders` their pictures: {section: (title, SVG)}."""
    say, left_out = wishes.get("say", {}), wishes.get("leave_out", [])
    sections = [section for section in shown_sections(text) if section.title not in left_out]
    offered = [
        slides_of_summary(section) if section.title in SUMMARIES else slides_of_section(section, pictures_of, say.get(section.title))
        for section in sections
    ]  # fmt: skip
    for section, slides in zip(sections, offered):
        if section.title in ladders:
            title, svg = ladders[section.title]
            name = re.sub(r"\W+", "-", section.title.lower())
            slides.append(Slide("picture", title, title, rank=2, begin=len(section.blocks), picture=(f"results/ladder-{name}", 0, svg)))
    slides = []
    for section, kept in zip(sections, chosen(offered, room)):
        add_notes(section, kept)
        slides += kept
    return slides


def problems_of(top):
    """What [slides] of a chapter.toml names, and its page does not have."""
    for chapter in metadata.load_all(top):
        sections = {section.title: section for section in shown_sections((chapter.folder / "README.md").read_text(encoding="utf-8"))}
        where = f"{chapter.file.relative_to(top)}: [slides]"
        for title in [*chapter.slides.get("say", {}), *chapter.slides.get("leave_out", []), *chapter.slides.get("ladders", {})]:
            if title not in sections:
                yield f"{where} names '{title}': README.md has no such section, or none that slides show"
        for title, beginning in chapter.slides.get("say", {}).items():
            if title in sections and sentence_of(sections[title], beginning) is None:
                yield f"{where} '{title}': no sentence of at most {MOST_WORDS} words that a slide can show begins with '{beginning}'"


def title_of(text):
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1]
