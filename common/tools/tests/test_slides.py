"""The slides of every chapter: what is chosen from its page, and in a headless Chromium what each slide has, and how large it is."""

import base64
import re
import tempfile
import unittest
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib import pages
from tools.lib.checkout import TOP
from tools.site import build_site, slide_choice, slide_pictures, slides
from tools.site.slide_choice import LEAST, MOST, MOST_LINES, MOST_ROWS, MOST_WORDS, Section, Slide
from tools.tests import browser

READS = ("chapters", "common/tools/site")

SIZE = (slide_pictures.SLIDE_WIDTH, slide_pictures.SLIDE_HEIGHT)
SITE = "https://example.org/course/"
LEAST_CODE = 18  # pixels of a slide of 1280 x 720
MARKDOWN = r"\*\*|```|\]\(|<!--"
DEAD = rf"\(how to|\b[Bb]elow\b|\b[Aa]bove\b|\bthis page\b|{MARKDOWN}|:$"

# What each slide shows, and what of it reaches past the slide.
SLIDES = """
const shown = [];
for (const holder of document.querySelectorAll(".remark-slides-area .remark-slide-container")) {
  holder.style.display = "table";
  const slide = holder.querySelector(".remark-slide-content"), page = holder.querySelector(".remark-slide-scaler").getBoundingClientRect();
  const scale = page.width / slide.offsetWidth;
  const outside = [...slide.querySelectorAll("h1, p, li, td, th, pre, code, img, strong, span")].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.right > page.right + 1 || box.bottom > page.bottom + 1 || box.left < page.left - 1 || (e.clientWidth && e.scrollWidth > e.clientWidth + 1)
      || (e.tagName === "IMG" && !e.naturalWidth);
  }).map((e) => `${e.tagName} "${(e.alt || e.textContent).trim().slice(0, 40)}"`);
  if (slide.scrollHeight > slide.clientHeight + 1) outside.push(`${slide.scrollHeight} pixels of ${slide.clientHeight}`);
  const image = slide.querySelector("img"), code = slide.querySelector("pre code"), number = slide.querySelector(".number");
  shown.push({
    outside, size: [page.width, page.height],
    heading: slide.querySelector("h1")?.textContent.trim() ?? "",
    texts: [...slide.querySelectorAll("p:not(.number)")].map((e) => e.textContent.trim()).filter(Boolean),
    number: number && number.querySelector("strong").textContent,
    code: code && code.textContent.trimEnd().split("\\n").length,
    letters: code && parseFloat(getComputedStyle(code).fontSize) * scale,
    cells: [...slide.querySelectorAll("td")].map((e) => e.textContent.trim()),
    rows: slide.querySelectorAll("tbody tr").length,
    pictures: slide.querySelectorAll("img").length,
    picture: image && [image.getAttribute("src"), image.getBoundingClientRect().width, image.alt],
  });
  holder.style.display = "";
}
return shown;
"""
# The size of the smallest letters of an SVG that is so many pixels wide.
LETTERS = """
const sizes = [...document.querySelectorAll("text")].map((e) => parseFloat(getComputedStyle(e).fontSize));
return Math.min(...sizes) * arguments[0] / document.documentElement.viewBox.baseVal.width;
"""


# The texts whose contrast is too low; pictures and code that are turned dark.
CONTRAST = """
const rgb = (text) => text.match(/[\\d.]+/g).map(Number), light = (c) => c.slice(0, 3).map((v) => v / 255)
  .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const turned = ([r, g, b]) => {
  [r, g, b] = [255 - r, 255 - g, 255 - b];
  return [-0.574 * r + 1.43 * g + 0.144 * b, 0.426 * r + 0.43 * g + 0.144 * b, 0.426 * r + 1.43 * g - 0.856 * b].map((v) => Math.min(255, Math.max(0, v)));
};
const bad = [];
for (const e of document.querySelectorAll(".remark-slide-content *, body > nav a")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
  let under = e.closest(".remark-slide-content") ?? document.querySelector(".remark-slide-content");
  for (let up = e; up && up !== under; up = up.parentElement) if (rgb(getComputedStyle(up).backgroundColor)[3] !== 0) { under = up; break; }
  const block = e.closest(".remark-code"), change = block && getComputedStyle(block).filter !== "none" ? turned : (c) => c;
  const [a, b] = [e, under].map((x, k) => light(change(rgb(getComputedStyle(x)[k ? "backgroundColor" : "color"])))).sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(`${((a + 0.05) / (b + 0.05)).toFixed(2)} ${e.className} "${e.textContent.trim().slice(0, 30)}"`);
}
return [...new Set(bad)];
"""
LOOKS = """
const of = (part) => getComputedStyle(document.querySelector(part));
return [of(".remark-slide-content").backgroundColor, of(".remark-slide-content img").filter, of("body > nav").display];
"""


def section(text):
    return slide_choice.sections_of(text)[1]


def no_pictures(file):
    return [("What is it?", f"<svg>{file}</svg>")]


class Choice(unittest.TestCase):
    """What a page offers."""

    def offered(self, text):
        return slide_choice.slides_of_section(section(text), no_pictures)

    def test_a_step_offers_idea_kernel_picture_and_table(self):
        made = self.offered(
            "## Step 1: a tree\n\n**Why?** It is\n[slow](x.md#y).\n\n**Idea.** Two threads add. Their sum ([see here](x.md)) is kept:\n\n```\na -> b\n```\n\n"
            "More text.\n\n<!-- kernel k -->\n```cuda\nvoid k();\n```\n[x.cuh, line 3](x.cuh#L3)\n\n<!-- cost k -->\n> `k`: **1 µs** for\n> n = 2^20, 3 GB/s. `cub::X`: 2 µs.\n\n"
            "**Look at** this.\n\n![a picture](pictures/p.svg)\n\n| a | b |\n|---|---|\n| 1 | [2](x.md) |\n")
        self.assertEqual([(slide.kind, slide.heading, slide.body, slide.number) for slide in made], [
            ("text", "Step 1: a tree", "**Why?** It is slow.\n\n**Idea.** Two threads add.\n\nMore text.", None),
            ("code", "Step 1: a tree", "```text\na -> b\n```", None),
            ("code", "Step 1: a tree", "```cpp\nvoid k();\n```", ("1 µs", "`k` for n = 2^20; `cub::X`: 2 µs")),
            ("picture", "What is it?", "a picture", None),
            ("table", "Step 1: a tree", "| a | b |\n|---|---|\n| 1 | 2 |", None),
        ])

    def test_the_cost_of_a_kernel_that_is_too_long_stands_beside_the_idea(self):
        code = "```cuda\nvoid k() {\n" + "x;\n" * MOST_LINES + "}\n```\n"
        made, = self.offered(f"## S\n\n**Idea.** Add.\n\n{code}\n> `k`: **1 µs**.\n")
        self.assertEqual((made.body, made.number), ("**Idea.** Add.", ("1 µs", "`k`")))
        made, = self.offered(f"## S\n\n**Idea.** Add.\n\n{code}\n> `best`: **1 µs**.\n")
        self.assertIsNone(made.number, "of a kernel that is not here")

    def test_a_short_text_goes_on_with_the_next_paragraphs(self):
        made = self.offered("## S\n\n**Why?** It waits.\n\n(An aside.)\n\n**Bold.** Own.\n\nTwo lanes add.\n\n### More\n\nNot this.\n")[0]
        self.assertEqual(made.body, "**Why?** It waits.\n\nTwo lanes add.")
        long = " ".join(["word"] * slide_choice.LEAST_WORDS)
        self.assertEqual(self.offered(f"## S\n\n{long}.\n\nTwo lanes add.\n")[0].body, f"{long}.")

    def test_a_text_has_the_number_of_a_rung_that_it_names_or_its_own(self):
        code = "```cuda\nvoid k();\n```\n\n> `k`: **9 µs**.\n\n"
        best = "> `best`: **3 µs**.\n"
        for text, number in (
            (f"{code}`best` adds two.\n\n{best}", ("3 µs", "`best`")), (f"{code}Two add.\n\n{best}", None), (f"{code}Two add in 5 µs.\n", ("5 µs", "")),
            (f"{code}Two add.\n", None),
        ):  # fmt: skip
            said = next(slide for slide in self.offered(f"## S\n\n{text}") if slide.kind == "text")
            self.assertEqual(said.number, number)

    def test_several_costs_are_a_table(self):
        costs = "".join(f"> `k{n}`: **{n} µs** for n = 2^9. `cub::X`: 2 µs.\n\n" for n in range(1, 9))
        table = self.offered(f"## S\n\n**Idea.** Add.\n\n{costs}")[-1]
        self.assertEqual(table.body.split("\n")[:3], ["| rung | n | time | `cub::X` |", "|---|--:|--:|--:|", "| `k3` | 2^9 | 3 µs | 2 µs |"])
        self.assertEqual(len(table.body.split("\n")), 2 + MOST_ROWS)

    def test_sentences_that_lead_to_the_page_are_not_shown(self):
        for text, shown in (
            ("It adds. The table below has all.", "It adds."),
            ("Here is one warp ([how to read it](x.md)). It adds.", ""),
            ("Here is one warp. Lanes add (chapter 01). So the sum is whole.", "Lanes add. So the sum is whole."),
            ("**Idea.** In the picture lanes add. Lane 0 stores.", "**Idea.** Lane 0 stores."),
            ("The table has lanes. (A lane is a thread.)", ""),
            ("Two lanes: one adds.", "Two lanes: one adds."),
            ("Three rules follow:", ""),
            ("a " * MOST_WORDS + "b. Short.", "Short."),
        ):
            self.assertEqual(slide_choice.shortened(slide_choice.without_links(text), MOST_WORDS), shown)

    def test_a_point_of_the_summary_has_its_number(self):
        text = "## What the table says\n\n- It takes 3.5 µs, 1.2 times as long [as](x.md) 5 % ago.\n- From 20 to 22 ms.\n- No number.\n- 66 % of all.\n"
        made = slide_choice.slides_of_summary(section(text))
        self.assertEqual([slide.number[0] for slide in made], ["1.2 times", "20 to 22 ms", "66 %"])
        self.assertEqual(made[0].body, "It takes 3.5 µs, 1.2 times as long as 5 % ago.")

    def test_too_many_slides_lose_the_last_ranks_first_and_no_step_its_first_one(self):
        offered = [[Slide("text", str(k), "", rank=rank) for rank in (1, 3, 2, 5)] for k in range(6)]
        kept = slide_choice.chosen(offered, 8)
        self.assertEqual([[slide.rank for slide in part] for part in kept], [[1, 2], [1, 2], [1], [1], [1], [1]])
        self.assertEqual(sum(map(len, slide_choice.chosen(offered, 30))), 18)  # the last rank is for short pages
        self.assertEqual(sum(map(len, slide_choice.chosen(offered[:4], 30))), LEAST)

    def test_what_is_folded_and_exercises_are_no_slides(self):
        text = ("# 01 X\n\n[中文](README.zh-CN.md)\n\n**You will learn** a.\n\nIntro here.\n\n## Step 1\n\n**Idea.** Add.\n\n<details><summary>x</summary>\n\n```cuda\nno;\n```\n\n</details>\n\n"
                "<!-- exercise e -->\n### Now you: e\n\nTask.\n<!-- exercise:end -->\n\n## All rungs\n\nText.\n")
        made = slide_choice.of_page(text, 20, no_pictures, {}, {})
        self.assertEqual([(slide.heading, slide.body) for slide in made], [("01 X", "Intro here."), ("Step 1", "**Idea.** Add.")])
        self.assertEqual([slide.notes for slide in made], [["Intro here."], ["**Idea.** Add."]])

    def test_a_chapter_may_name_what_a_section_says(self):
        text = "# 01 X\n\n## Step 1\n\n**Idea.** Add.\n\nOne [is](x.md) there. Two are not. Three.\n\n## Step 2\n\nText here.\n"
        made = slide_choice.of_page(text, 20, no_pictures, {"say": {"Step 1": "Two"}, "leave_out": ["Step 2"]}, {"Step 1": ("The times", "<svg/>")})
        self.assertEqual([(slide.kind, slide.body) for slide in made], [("text", "Two are not. Three."), ("picture", "The times")])

    def test_what_a_chapter_names_is_on_its_page(self):
        self.assertEqual(list(slide_choice.problems_of(TOP)), [])
        with tempfile.TemporaryDirectory() as made:
            there = Path(made, "chapters/01-x")
            there.mkdir(parents=True)
            (there / "README.md").write_text("# 01 X\n\nIntro.\n\n## Step 1\n\nOne is there. See the table below.\n\n## All rungs\n\nText.\n")
            told = there / "chapter.toml"

            def said(text):
                told.write_text(f'question = "q"\nlearn = "l"\nexercises = []\n[slides]\n{text}\n')
                return list(slide_choice.problems_of(Path(made)))

            self.assertEqual(said('say = {"Step 1" = "One is"}\nleave_out = ["Step 1"]'), [])
            self.assertEqual(said('say = {"Step 3" = "a"}\nleave_out = ["All rungs"]'), [
                f"chapters/01-x/chapter.toml: [slides] names '{title}': README.md has no such section, or none that slides show" for title in ("Step 3", "All rungs")])
            for beginning in ("See the", "One was"):
                self.assertRegex("".join(said(f'say = {{"Step 1" = "{beginning}"}}')), f"'Step 1': no sentence of at most 40 words .* begins with '{beginning}'")

    def test_notes_are_what_is_said_until_the_next_slide(self):
        step = Section("S", ["**Idea.** Add. And [more](x.md).", "```cuda\nvoid k();\n```", "> `k`: **1 µs**.", "- one\n- two", "![a](pictures/p.svg)"])
        made = slide_choice.slides_of_section(step, no_pictures)
        slide_choice.add_notes(step, made)
        self.assertEqual([slide.notes for slide in made], [["**Idea.** Add. And more."], ["`k`: **1 µs**.", "- one\n- two"], ["- one\n- two"]])

    def test_code_is_as_large_as_its_lines_allow(self):
        self.assertEqual(slides.size_of_code("```cpp\nx;\n```"), slides.LARGEST_CODE)
        self.assertEqual(slides.size_of_code("```cpp\n" + "x" * 100 + "\n```"), 18)
        self.assertIsNone(slide_choice.code_of("```cuda\n" + "x" * 101 + "\n```"))

    def test_powers_in_code_stay(self):
        self.assertEqual(slides.typeset("2^24 and `2^24`"), "2<sup>24</sup> and `2^24`")


class Pictures(unittest.TestCase):
    """How drawings are cut."""

    def lanes(self, heights, width=900):
        tops = [69 + sum(heights[:k]) for k in range(len(heights))]
        rows = "\n".join(f'<g class="step" data-at="x:1"><text x="60" y="{top + 16}">row {k}</text></g>' for k, top in enumerate(tops))
        bottom = 69 + sum(heights)
        return (f'<svg viewBox="0 0 {width} {bottom + 20}" width="9" height="9"><style>.small {{ font-size: 9.5px; }}</style><defs></defs>\n<g class="columns"><text x="5" y="62">lane</text></g>\n'
                f'{rows}\n<text x="58" y="{bottom + 16}" class="small soft">Dots: gone.</text>\n</svg>')

    def shown(self, heights, width=900):
        parts = slide_pictures.lane_pictures(self.lanes(heights, width))
        return [re.findall(r">(row \d+|lane|… [^<]*|Dots[^<]*)<", part) for part in parts]

    def test_a_drawing_that_fits_is_one_picture(self):
        self.assertEqual(self.shown([100, 200]), [["lane", "row 0", "row 1"]])

    def test_a_drawing_that_is_too_high_is_cut_between_rows(self):
        self.assertEqual(self.shown([150] * 4), [["lane", "row 0", "row 1"], ["lane", "row 2", "row 3"]])
        self.assertEqual(self.shown([150] * 6), [["lane", "row 0", "row 1"], ["lane", "… 2 rows before", "row 4", "row 5"]])

    def test_a_narrow_drawing_has_two_columns(self):
        for width in (420, 356):
            self.assertEqual(self.shown([100, 100], width), [["lane", "row 0", "row 1"]])
            self.assertEqual(self.shown([100] * 6, width), [["lane", "row 0", "row 1", "row 2", "lane", "row 3", "row 4", "row 5"]])

    def test_a_ladder_keeps_its_ends_and_its_steps(self):
        rows = [{"name": str(k), "time": time, "mark": "rung"} for k, time in enumerate([100, 99, 98, 97, 10, 9.9, 9.8, 9.7, 5, 4.9, 4.8])]
        rows.append({"name": "lib", "time": 5, "mark": "vendor"})
        kept = [row["name"] for row in slide_pictures.rows_to_show(rows)]
        self.assertEqual(len(kept), slide_pictures.LADDER_ROWS)
        self.assertTrue({"0", "4", "8", "10", "lib"} <= set(kept))

    def test_a_slide_is_always_light(self):
        svg = '<svg viewBox="0 0 9 9"><style>text { fill: black; } @media (prefers-color-scheme: dark) { text { fill: white; } .a { x: 1; } }</style></svg>'
        self.assertNotIn("white", slide_pictures.drawing(svg))


def setUpModule():
    """The slides are written once for all tests."""
    global folder, chapters
    made = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(made.cleanup)
    folder = Path(made.name).resolve()
    chapters = slides.write_all(TOP, folder, SITE)


class Talks(unittest.TestCase):
    """The slides of every chapter, as they are written."""

    def test_every_chapter_is_a_talk(self):
        self.assertEqual([chapter.name for chapter in chapters], [chapter.name for chapter in metadata.load_all(TOP)])
        for chapter in chapters:
            with self.subTest(chapter=chapter.name):
                talk = slides.slides_of(chapter)
                self.assertTrue(LEAST <= len(talk) <= MOST, len(talk))
                self.assertEqual([number for number, slide in enumerate(talk, 1) if not any(note.strip() for note in slide.notes)], [], "no notes")
                self.assertEqual(talk[0].body, chapter.question)
                self.assertIsNotNone(talk[0].number)
                for exercise in chapter.exercises:
                    self.assertIn(f"`./course check {exercise}`", talk[-1].body)

    def test_what_is_said_is_in_the_lesson(self):
        for chapter in chapters:
            page = " ".join(slide_choice.without_links(
                re.sub(r"(?m)^> ?", "", slide_choice.markers.without_comments((chapter.folder / "README.md").read_text(encoding="utf-8")))).split())
            for slide in slides.slides_of(chapter)[1:-1]:
                for text in slide.body.split("\n\n") if slide.kind == "text" else []:
                    sentences = slide_choice.SENTENCE.split(re.sub(r"^\*\*(?:Why|Idea)[^*]*\*\* ?", "", text))
                    self.assertEqual([sentence for sentence in sentences if sentence not in page], [], chapter.name)


class InBrowser(unittest.TestCase):
    """The slides as a window of 1280 x 720 pixels shows them."""

    @classmethod
    def setUpClass(cls):
        cls.window = browser.Window(logs=["browser"])
        cls.addClassCleanup(cls.window.close)
        cls.address = browser.address_of(cls, build_site.serve(folder, 0))

    def setUp(self):
        self.window.size(*SIZE)
        self.window.console()

    def open(self, chapter):
        self.window.open("about:blank")  # else only the address after # changes
        self.window.open(f"{self.address}{chapter.name}.html")
        self.window.wait("return document.images.length && [...document.images].every((image) => image.complete)")

    def problems_of(self, slide):
        """What is wrong with one slide."""
        if [round(length) for length in slide["size"]] != [*SIZE]:
            yield f"is {slide['size']}"
        if not slide["heading"]:
            yield "has no heading"
        yield from slide["outside"]
        text = " ".join(slide["texts"])
        if len(text.split()) > MOST_WORDS:
            yield f"has {len(text.split())} words"
        yield from (f"says '{text}'" for text in [*slide["texts"], slide["heading"]] if re.search(DEAD, text))
        yield from (f"has '{text}'" for text in slide["cells"] if re.search(MARKDOWN, text))
        if (slide["code"] or 0) > MOST_LINES:
            yield f"has {slide['code']} lines of code"
        if slide["code"] and slide["letters"] < LEAST_CODE:
            yield f"has code of {slide['letters']} pixels"
        if slide["rows"] > MOST_ROWS:
            yield f"has {slide['rows']} rows"
        bodies = bool(text) + bool(slide["code"]) + bool(slide["rows"]) + slide["pictures"]
        if bodies != 1:
            yield f"has {bodies} of text, code, table and picture"
        if slide["picture"] and round(slide["picture"][1]) < slide_pictures.LEAST_WIDTH * SIZE[0]:
            yield f"has a picture of {slide['picture'][1]} pixels"

    def test_no_slide_has_too_much_and_nothing_reaches_past_it(self):
        for chapter in chapters:
            self.open(chapter)
            shown = self.window.run(SLIDES)
            self.assertEqual([f"{chapter.name} {k}: {problem}" for k, slide in enumerate(shown, 1) for problem in self.problems_of(slide)], [])
            self.assertEqual(len(shown), len(slides.slides_of(chapter)))
            self.assertEqual(self.window.console(), [], chapter.name)
            page = pages.FOLD.sub("", (chapter.folder / "README.md").read_text(encoding="utf-8"))
            drawn = [entry for entry in chapter.pictures if "kernel" in entry and f"](pictures/{entry['output']})" in page]
            titles = {slide["heading"] for slide in shown if slide["picture"]}
            self.assertLessEqual({entry["question"] for entry in drawn}, titles, chapter.name)
            for name, width, alt in (slide["picture"] for slide in shown if slide["picture"]):
                self.assertTrue(alt, name)
                self.window.open(f"{self.address}{name}")
                self.assertGreaterEqual(round(self.window.run(LETTERS, width), 1), slide_pictures.LEAST_LETTER, name)
            self.window.console()  # a picture alone has no icon

    def test_the_keyboard_turns_slides_and_shows_the_notes(self):
        chapter = chapters[1]
        self.open(chapter)
        for key, expected in (("arrow_right", "#2"), ("arrow_down", "#3"), ("arrow_left", "#2"), ("end", f"#{len(slides.slides_of(chapter))}"), ("home", "#1")):
            self.window.press(key)
            self.assertEqual(self.window.run("return location.hash"), expected, key)
        self.window.press("p")
        self.window.wait("return document.body.classList.contains('remark-presenter-mode')")
        notes = " ".join(self.window.text(".remark-notes-area .remark-notes").split())
        self.assertIn("You will learn why += on a variable that many threads share", notes)

    def test_each_talk_leads_back_to_its_page_and_the_front_page(self):
        for chapter in (chapters[0], chapters[-1]):
            self.open(chapter)
            links = self.window.run("return [...document.querySelectorAll('body > nav a')].filter((a) => document.elementFromPoint(a.getBoundingClientRect().x + 3, a.getBoundingClientRect().y + 9) === a).map((a) => a.href)")
            self.assertEqual(links, [f"{SITE}chapters/{chapter.name}/README.html", f"{SITE}index.html"])

    def test_the_theme_is_the_readers_and_paper_is_light(self):
        white, black, turned = "rgb(255, 255, 255)", "rgb(13, 17, 23)", "invert(1) hue-rotate(180deg)"
        self.addCleanup(self.window.scheme, "light")
        for chapter in chapters:
            for scheme, look in (("light", [white, "none", "flex"]), ("dark", [black, turned, "flex"])):
                self.window.scheme(scheme)
                self.open(chapter)
                self.assertEqual(self.window.run(LOOKS), look, chapter.name)
                self.assertEqual(self.window.run(CONTRAST), [], f"{chapter.name}, {scheme}")
        self.addCleanup(self.window.run, "localStorage.clear()")
        self.window.run("localStorage.theme = 'light'")
        self.open(chapters[0])
        self.assertEqual(self.window.run(LOOKS)[0], white)
        self.window.run("localStorage.theme = 'dark'")
        self.open(chapters[0])
        self.assertEqual(self.window.run(LOOKS)[0], black)
        self.addCleanup(self.window.media, "")
        self.window.media("print")
        self.assertEqual(self.window.run(LOOKS), [white, "none", "none"])

    def test_slides_print_a_page_each(self):
        for chapter in (chapters[1], chapters[-1]):
            self.open(chapter)
            pdf = self.window.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})["data"]
            self.assertEqual(max(map(int, re.findall(rb"/Count (\d+)", base64.b64decode(pdf)))), len(slides.slides_of(chapter)))


if __name__ == "__main__":
    browser.main()
