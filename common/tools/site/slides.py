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
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import chapter as metadata  # noqa: E402
from tools.lib import hints  # noqa: E402
from tools.lib import repository  # noqa: E402
from tools.lib.checkout import TOP, seen_from_the_shell  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.lib.numbers_html import typeset_numbers  # noqa: E402
from tools.lib.rows import axis_text, is_faster, is_timed, median, rounded  # noqa: E402
from tools.measure import headline, plots  # noqa: E402
from tools.site import slide_choice, slide_pictures, slide_rows, slide_words  # noqa: E402
from tools.site.slide_choice import MOST  # noqa: E402
from tools.site.slide_offers import Drawn, Picture, Slide  # noqa: E402
from tools.site.slide_words import MOST_WORDS  # noqa: E402

REMARK = Path("/usr/share/javascript/remark-slide/remark.min.js")
REMARK_WIDTH, REMARK_HEIGHT = 1210, 681  # pixels on which remark draws a slide; it scales them to the window
LEAST_CODE, LARGEST_CODE, CODE_WIDTH, CODE_HEIGHT, CODE_BELOW = 18, 32, 1090, 470, 385  # pixels of remark; the last one is below a text
LINE = 1.3  # the height of a line of code, for each pixel of its letters
CHARACTER = 0.602  # the width of a character of code, for each pixel of its height
CODE_OR_TEXT = re.compile(r"(`[^`]*`)")


# ---- pictures --------------------------------------------------------------------------------------


class Pictures:
    """The pictures of a chapter as its slides show them."""

    def __init__(self, chapter, results, head, plots):
        self.chapter, self.results, self.head, self.plots = chapter, results, head, plots  # of plots: {file name: description}
        self.measured = slide_rows.Measured(TOP, chapter)

    def drawn(self, file):
        """A drawing alone on its slide, as Drawn; None of the ladder, which the talk ends with."""
        return self.in_room(file, slide_pictures.WHOLE)

    def beside_text(self, file):
        """The same to the right of a text, or below one if it is wide; None where it would be too small."""
        across, down = slide_pictures.box_of(self.svg(file))[2:]
        rooms = [slide_pictures.BESIDE] * (across < slide_pictures.WIDE or across < down) + [slide_pictures.BELOW]
        return next(filter(None, (self.in_room(file, room) for room in rooms)), None)

    def svg(self, file):
        return (self.chapter.folder / file).read_text(encoding="utf-8")

    def in_room(self, file, room):
        description = self.plots.get(Path(file).name) if file.startswith("results/") else None
        if description and description["kind"] == "ladder":
            return None
        svg = self.svg(file)
        entry = next((entry for entry in pictures_beside(self.chapter.folder / file) if entry["output"] == Path(file).name), {})
        own = re.search(r"<title[^>]*>(.*?)</title>", svg)
        title = entry.get("question") or (description["title"] if description else html.unescape(own[1]) if own else "")
        parts = slide_pictures.lane_pictures(svg, room) if "kernel" in entry else [slide_pictures.drawing(svg, room)]
        name = Path(file).stem.replace(".", "-") + ("" if room == slide_pictures.WHOLE else "-beside")
        alt = entry.get("alt") or (description["finding"] if description else title)
        if not parts:
            return None
        made = [Picture(name + (f"-{k}" if k > 1 else ""), part, alt, file) for k, part in enumerate(parts, 1)]
        return Drawn(with_capital(title), made, entry.get("kernel", ""), number_of_curve(description) if description else None)

    def of_bars(self, bars, name):
        """Bars as a Picture, whose number is the first one."""
        if not bars:
            return None
        first = bars.bars[0]
        return Picture(f"bars-{name}", slide_pictures.bars(bars), bars.words, number=(first.text, f"`{first.name}`: {bars.unit}"), about=bars.about, is_poor=len(bars.bars) == 1)

    def of_costs(self, texts, name):
        """The bars of what the costs in these texts are of, as a Picture; None without any. So do the next two."""
        return self.of_bars(self.measured.of_costs(texts), name)

    def of_numbers(self, texts, name):
        return self.of_bars(self.measured.of_numbers(texts), name)

    def of_table(self, block, name):
        return self.of_bars(slide_rows.of_table(block), name)


    def whole_way(self):
        """The bars of the chapter's way: the slowest rung of its ladder, the best, and the vendor's; None without them."""
        timed = [row for row in self.head.ladder[0] if is_timed(row)] if self.head else []
        own = [row for row in timed if row["kind"] == "rung"]
        best = next((row for row in own if row["name"] == self.head.best["name"]), None)
        if best is None:
            return None
        vendor, slowest = slide_rows.vendor_of(timed), max(own, key=median)
        begin = [(slowest, "before")] * (slowest is not best)
        marked = [*begin, (best, slide_rows.mark_of(best, vendor)), *[(vendor, "vendor")] * (vendor is not None)]
        number = (f"{rounded(median(slowest) / median(best))} times", f"the speed of `{slowest['name']}` (`{best['name']}`)") if begin else None
        return replace(self.of_bars(slide_rows.of_rows(self.results, marked, "µs"), "way"), number=number)


def pictures_beside(file):
    """[[picture]] of the chapter that a picture is of; none if it is of no chapter."""
    folder = file.resolve().parents[1]
    return metadata.read(folder).pictures if (folder / "chapter.toml").is_file() else []


def number_of_curve(description):
    """The highest value of a plot of curves, as a slide's number."""
    value, name, x = max((y, line["name"], x) for line in description["series"] for x, y in line["points"])
    return f"{rounded(value)} {description['unit']}", f"`{name}`, at {axis_text(x)}: the highest value"


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
    notes = [f"**You will learn** {chapter.learn}", head.note if head else ""]
    return Slide("title", slide_words.title_of(text), chapter.question, number, notes, picture=picture_of_head(head) if head else None)


def opening(chapter, text, way):
    """What the chapter teaches, beside the bars of its way; None without them."""
    learn = f"**You will learn** {chapter.learn}"
    return Slide("text", slide_words.title_of(text), slide_words.shortened(learn, MOST_WORDS), way.number, [learn], picture=way) if way else None


def picture_of_head(head):
    """The chapter's best rung beside what it is compared with."""
    mark = "better" if is_faster(head.best, head.against) else "own"
    bars = [
        slide_rows.Bar(name, "", median(row), f"{median(row):,.1f} µs", mark)
        for row, name, mark in ((head.best, head.best["name"], mark), (head.against, head.against_name.replace("`", ""), "vendor"))
    ]  # fmt: skip
    bars = slide_rows.Bars(bars, "µs, medians", with_capital(head.what_of([head.best])))
    return Picture("bars-title", slide_pictures.bars(bars), bars.words)


def ladder_slide(description):
    title = with_capital(description["title"].partition(": ")[2])  # without its chapter
    picture = Picture("ladder", slide_pictures.ladder(description), description["finding"])
    return Slide("picture", title, number=number_of_ladder(description), notes=[f"{description['finding']}.", f"{description['subtitle']}."], picture=picture)


def number_of_ladder(description):
    """How many times as fast as the slowest rung the fastest one is that does the whole job; None if there is one rung."""
    own = [row for row in description["groups"][0]["rows"] if row["mark"] != "vendor"]
    first, best = max(own, key=lambda row: row["time"]), min((row for row in own if row["mark"] != "other"), key=lambda row: row["time"])
    return (f"{rounded(first['time'] / best['time'])} times", f"the speed of `{first['name']}` (`{best['name']}`)") if first is not best else None


def last_slide(chapter):
    """What to do: the exercises, their commands, and how long they take."""
    exercises = [(name, "★" * chapter.stars[name], chapter.minutes(name), f"./course check {name}") for name in chapter.exercises]
    tasks = [f"`{command}`: {hints.read(hints.file_of(chapter.folder, name))[0]}" for name, _, _, command in exercises]
    minutes = sum(minutes for _, _, minutes, _ in exercises)
    time = f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 and minutes % 60 else f"{minutes // 60} h" if minutes >= 60 else f"{minutes} min"
    alt = "; ".join(f"{name}, {minutes} min: {command}" for name, _, minutes, command in exercises)
    picture = Picture("exercises", slide_pictures.exercises(exercises), alt)
    return Slide("exercises", "Now you", number=(time, f"for {len(exercises)} exercises"), notes=tasks, picture=picture)


def slides_of(chapter):
    """All slides of a chapter; Failed if they are too few or too many for a talk."""
    text = (chapter.folder / "README.md").read_text(encoding="utf-8")
    loaded = headline.load(chapter.folder)
    results, head = loaded or (None, None)
    descriptions = plots.descriptions(results, head, chapter.curves) if loaded else {}
    ends = [ladder_slide(descriptions[plots.ladder_name(results)])] if loaded else []
    ends.append(last_slide(chapter))
    shown = Pictures(chapter, results, head, descriptions)
    own = slide_choice.of_page(text, MOST - 1 - len(ends), shown, slide_choice.wishes_of(chapter), opening(chapter, text, shown.whole_way()))
    return [first_slide(chapter, text, head), *own, *ends]


# ---- files ---------------------------------------------------------------------------------------


def typeset(markdown):
    """Markdown whose powers have superscripts and whose units stay with their numbers, but in code."""
    return "".join(part if k % 2 else typeset_numbers(part) for k, part in enumerate(CODE_OR_TEXT.split(markdown)))


def size_of_code(code, height=CODE_HEIGHT):
    """The size of the letters of a block of code, in remark's pixels: as large as its longest line, and `height` for its lines, allow."""
    lines = code.split("\n")[1:-1]
    return min(LARGEST_CODE, int(CODE_WIDTH / (CHARACTER * max(map(len, lines)))), int(height / (LINE * len(lines))))


def number_of(slide):
    """The HTML of a slide's number, and of what it is."""
    what = re.sub("`([^`]*)`", r"<code>\1</code>", typeset(html.escape(slide.number[1], quote=False)))
    what = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", what.replace("**", ""))
    return f'<p class="number"><strong>{typeset_numbers(html.escape(slide.number[0]))}</strong> <span>{what}</span></p>'


def picture_of(chapter, slide, output):
    """The HTML of a slide's picture, which is written into a file of its own."""
    picture = slide.picture
    target = output / "pictures" / chapter.name / f"{picture.name}.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(picture.svg, encoding="utf-8")
    width = width_of(picture) * REMARK_WIDTH / slide_pictures.SLIDE_WIDTH
    return f'<img src="{target.relative_to(output).as_posix()}" width="{width:.0f}" alt="{html.escape(picture.alt)}">'


def width_of(picture):
    return float(re.search(r'\bwidth="([\d.]+)"', picture.svg)[1])


def place_of(slide):
    """Where a slide's picture or code is: "whole" without a text, else "below" the text or "beside" it."""
    if not slide.body:
        return "whole"
    return "beside" if slide.picture and width_of(slide.picture) <= slide_pictures.BESIDE[0] else "below"


def markdown_of(chapter, slide, output):
    """The Markdown of a slide, with its notes."""
    place = place_of(slide)
    size = f", size-{size_of_code(slide.code, CODE_HEIGHT if place == 'whole' else CODE_BELOW)}" if slide.code else ""
    number = [number_of(slide)] if slide.number else []
    texts = [*number, typeset(slide.body)] if slide.number and not slide.number[1] else [typeset(slide.body), *number]
    shown = slide.code or (picture_of(chapter, slide, output) if slide.picture else "")
    parts = [*number, shown] if place == "whole" and slide.picture else [shown, *number] if place == "whole" else [*texts, shown]
    notes = "\n\n".join(typeset(note) for note in slide.notes if note)
    return "\n\n".join(part for part in [f"class: of-{slide.kind}, {place}{size}", f"# {typeset(slide.heading)}", *parts, "???", notes] if part)


def code_sizes():
    """The style rules of the sizes that code has."""
    return "\n".join(f".size-{size} .remark-code {{ font-size: {size}px; }}" for size in range(LEAST_CODE, LARGEST_CODE + 1))


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
