"""The slides of every chapter: what is chosen from its page, and in a headless Chromium what each slide has, how large it is, and that it is whole."""

import base64
import re
import tempfile
import unittest
import zlib
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib import markers, pages
from tools.lib.checkout import TOP
from tools.site import build_site, slide_choice, slide_offers, slide_pictures, slide_words, slides
from tools.site.slide_choice import LEAST, MOST
from tools.site.slide_offers import Drawn, Picture, Slide
from tools.site.slide_words import LINES_BELOW, MOST_LINES, MOST_WORDS, Section
from tools.tests import browser

READS = ("chapters", "common/tools/site")

SIZE = (slide_pictures.SLIDE_WIDTH, slide_pictures.SLIDE_HEIGHT)
SITE = "https://example.org/course/"
LEAST_CODE = 18  # pixels of a slide of 1280 x 720
LEAST_MARGIN = 20  # of them, to the left and the right: printers leave out 5 mm of 297
PAPER = {"A4": (8.27, 11.69), "Letter": (8.5, 11)}  # inches
MARKDOWN = r"\*\*|```|\]\(|<!--"
DEAD = rf"\(how to|\b[Bb]elow\b|\b[Aa]bove\b|\bthis page\b|{MARKDOWN}|:$"

# What each slide shows, and what of it reaches past the slide, into its margin, or over its number.
SLIDES = """
const margin = arguments[0], shown = [];
for (const holder of document.querySelectorAll(".remark-slides-area .remark-slide-container")) {
  const hidden = getComputedStyle(holder).display === "none";
  if (hidden) holder.style.display = "table";
  const slide = holder.querySelector(".remark-slide-content"), page = holder.querySelector(".remark-slide-scaler").getBoundingClientRect();
  const scale = page.width / slide.offsetWidth, count = slide.querySelector(".remark-slide-number").getBoundingClientRect();
  const outside = [...slide.querySelectorAll("h1, p, li, td, th, pre, code, img, strong, span")].filter((e) => {
    const box = e.getBoundingClientRect(), room = margin * page.width / 1280;
    return box.right > page.right - room || box.bottom > page.bottom + 1 || box.left < page.left + room || box.top < page.top - 1
      || (box.right > count.left && box.bottom > count.top + 1) || (e.clientWidth && e.scrollWidth > e.clientWidth + 1) || (e.tagName === "IMG" && !e.naturalWidth);
  }).map((e) => `${e.tagName} "${(e.alt || e.textContent).trim().slice(0, 40)}"`);
  if (slide.scrollHeight > slide.clientHeight + 1) outside.push(`${slide.scrollHeight} pixels of ${slide.clientHeight}`);
  const parts = [...slide.children].filter((e) => !e.matches(".remark-slide-number")).map((e) => [e, e.getBoundingClientRect()]);
  for (const [k, [e, a]] of parts.entries()) for (const [other, b] of parts.slice(k + 1))
    if (Math.min(a.right, b.right) > Math.max(a.left, b.left) + 1 && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top) + 1) outside.push(`${e.tagName} over ${other.tagName}`);
  const image = slide.querySelector("img"), code = slide.querySelector("pre code"), number = slide.querySelector(".number");
  shown.push({
    outside, size: [page.width, page.height],
    heading: slide.querySelector("h1")?.textContent.trim() ?? "",
    texts: [...slide.querySelectorAll("p:not(.number)")].map((e) => e.textContent.trim()).filter(Boolean),
    number: number && number.textContent.trim(),
    code: code && code.textContent.trimEnd().split("\\n").length,
    letters: code && parseFloat(getComputedStyle(code).fontSize) * scale,
    pictures: slide.querySelectorAll("img").length,
    picture: image && [image.getAttribute("src"), image.getBoundingClientRect().width, image.alt],
  });
  if (hidden) holder.style.display = "";
}
return shown;
"""
# Of each picture: what of it its edges cut, which of its texts lie over each other, and its smallest letters.
PICTURES = """
const pictures = [...document.querySelectorAll(".remark-slides-area img")].map((image) => {
  const drawn = document.createElement("object");
  drawn.data = image.src;
  return [image.getAttribute("src"), image.width, drawn, new Promise((done) => { drawn.onload = done; })];
});
document.body.append(...pictures.map((picture) => picture[2]));
return Promise.all(pictures.map((picture) => picture[3])).then(() => pictures.map(([name, width, drawn]) => {
  const svg = drawn.contentDocument.documentElement, page = svg.getBoundingClientRect(), all = (what) => [...svg.querySelectorAll(what)].filter((e) => !e.closest("defs, clipPath"));
  const cut = all("text, rect, path, circle, line").map((e) => [e, e.getBoundingClientRect()]).filter(([, box]) =>
    box.left < page.left - 1.5 || box.right > page.right + 1.5 || box.top < page.top - 1.5 || box.bottom > page.bottom + 1.5);
  const texts = all("text").filter((e) => e.textContent.trim()).map((e) => [e.textContent, e.getBoundingClientRect()]), over = [];
  for (const [k, [text, a]] of texts.entries()) for (const [other, b] of texts.slice(k + 1))
    if (Math.min(a.right, b.right) > Math.max(a.left, b.left) + 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.35 * Math.min(a.height, b.height)) over.push(`${text} | ${other}`);
  const letters = Math.min(...all("text").map((e) => parseFloat(getComputedStyle(e).fontSize))) * width * 1280 / 1210 / svg.viewBox.baseVal.width;
  drawn.remove();
  return {name, letters, over, cut: cut.map(([e]) => `${e.tagName} ${e.textContent}`.trim())};
}));
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
    return slide_words.sections_of(text)[1]


def picture(name):
    return Picture(name, f"<svg>{name}</svg>", name, file=name)


class Shown:
    """Pictures whose files say what they are of; `bars` are of costs and numbers with at least two rungs."""

    def __init__(self, parts=1, whole_parts=1):
        self.parts, self.whole_parts = parts, whole_parts

    def drawn(self, file):
        return Drawn("What is it?", [picture(file)] * self.whole_parts, "k")

    def beside_text(self, file):
        return Drawn("What is it?", [picture(file)] * self.parts, "k")

    def bars(self, kind, names):
        return picture(f"{kind} {' '.join(names)}") if names else None

    def of_costs(self, texts, name):
        costs = re.findall(r"<!-- cost (\w+)", " ".join(texts))
        made = self.bars("costs", costs)
        return made and Picture(made.name, made.svg, made.alt, about=(costs[-1], "2^20"), is_poor=len(costs) == 1)

    def of_numbers(self, texts, name):
        return self.bars("numbers", re.findall(r"<!-- µs (\w+)", " ".join(texts)))

    def of_table(self, block, name):
        return picture("table") if "| 1 |" in block else None

    def whole_way(self):
        return picture("way")


def shown_of(slide):
    """A slide in short: its kind, its text, what is to be seen, its number."""
    return slide.kind, slide.body, slide.picture.name if slide.picture else slide.code, slide.number


class Choice(unittest.TestCase):
    """What a page offers."""

    def offered(self, text, shown=None, **wishes):
        """What the slides of a section show; the costs are those of its lines."""
        made = section(text)
        made.costs = slide_words.costs_of(made)
        return slide_offers.slides_of_section(made, shown or Shown(), **wishes)

    def test_a_step_offers_idea_kernel_picture_and_table(self):
        made = self.offered(
            "## Step 1: a tree\n\n**Why?** It is\n[slow](x.md#y), as all of the threads of the other blocks wait for it.\n\n**Idea.** Two threads add. Their sum ([see here](x.md)) is kept:\n\n```\na -> b\n```\n\n"
            "More text.\n\n<!-- kernel k -->\n```cuda\nvoid k();\n```\n[x.cuh, line 3](x.cuh#L3)\n\n<!-- cost k | against j -->\n> `k`: **1 µs** for\n> n = 2^20, 3 GB/s. 2.5 times as fast as `j`. `cub::X`: 2 µs.\n\n"
            "<!-- cost j -->\n> `j`: **3 µs** for n = 2^20.\n\n**Look at** this.\n\n![a picture](pictures/p.svg)\n\n| a | b |\n|---|---|\n| 1 | [2](x.md) |\n\nAll of it adds.\n")
        self.assertEqual([slide.heading for slide in made], [*["Step 1: a tree"] * 3, "What is it?", "Step 1: a tree"])
        self.assertEqual(list(map(shown_of, made)), [
            ("text", "**Why?** It is slow, as all of the threads of the other blocks wait for it.\n\n**Idea.** Two threads add.", "costs k j", ("3 µs", "`j` for n = 2^20")),
            ("code", "", "```text\na -> b\n```", ("1 µs", "`k` for n = 2^20; `cub::X`: 2 µs")),
            ("code", "", "```cpp\nvoid k();\n```", ("1 µs", "`k` for n = 2^20; `cub::X`: 2 µs")),
            ("picture", "", "pictures/p.svg", ("1 µs", "`k` for n = 2^20; `cub::X`: 2 µs")),
            ("text", "All of it adds.", "table", None),
        ])

    def test_beside_a_text_are_the_rungs_that_it_names_else_those_of_its_step_else_its_drawing_else_its_code(self):
        said, near, costs = "It takes <!-- µs a -->5 µs<!-- / -->.", "(Look at <!-- µs b -->6 µs<!-- / -->.)", "<!-- cost c -->\n> `c`: **1 µs**.\n\n<!-- cost d -->\n> `d`: **2 µs**.\n"
        drawing, code = "![a](p.svg)\n", "```cuda\nvoid k();\n```\n"
        for text, shown in (
            (f"{said}\n\n{costs}", "numbers a"), (f"Add.\n\n{costs}\n{drawing}", "costs c d"), (f"Add.\n\n{near}\n\n{drawing}", "p.svg"), (f"Add.\n\n{near}\n\n{code}", "numbers b"),
            (f"Add 5 words.\n\n{code}", "```cpp\nvoid k();\n```"), (f"Add 5 words.\n\n<!-- cost c -->\n> `c`: **1 µs**.\n\n{code}", "```cpp\nvoid k();\n```"),
        ):  # fmt: skip
            made = self.offered(f"## S\n\n{text}")
            self.assertEqual(shown_of(made[0])[2], shown, text)
            self.assertEqual(sum(slide.picture is not None and slide.picture.name == shown for slide in made), "```" not in shown, "it is not shown twice")

    def test_a_text_without_anything_to_see_is_no_slide(self):
        self.assertEqual(self.offered("## S\n\nTwo lanes add.\n"), [])

    def test_a_drawing_that_goes_on_stands_alone_if_there_is_something_else_to_see(self):
        text = "## S\n\nTwo lanes add.\n\n![a](p.svg)\n"
        idea, drawn = self.offered(f"{text}\n```cuda\nvoid k();\n```\n", Shown(2, 2))
        self.assertEqual((idea.code, drawn.heading, [part.heading for part in drawn.more]), ("```cpp\nvoid k();\n```", "What is it? (1 of 2)", ["What is it? (2 of 2)"]))
        idea, = self.offered(text, Shown(2, 2))
        self.assertEqual((idea.heading, idea.body, [part.heading for part in idea.more]), ("S", "Two lanes add.", ["What is it? (2 of 2)"]))

    def test_a_chapter_may_name_the_picture_beside_a_text(self):
        made = self.offered("## S\n\nTwo lanes add.\n\n<!-- cost c -->\n> `c`: **1 µs**.\n\n<!-- cost d -->\n> `d`: **1 µs**.\n\n![a](p.svg)\n", wish="p.svg")
        self.assertEqual([shown_of(slide)[2] for slide in made], ["p.svg"])

    def test_code_has_the_number_of_its_rung_else_of_the_next_else_one_that_is_said_else_its_length(self):
        code = "**Idea.** Add.\n\n<!-- cost a -->\n> `a`: **7 µs**.\n\n<!-- cost b -->\n> `b`: **8 µs**.\n\n```cuda\nvoid k();\n```\n"
        for text, number in (
            (f"{code}\n> `x`: **9 µs**.\n\n> `k<T>`: **1 µs**.\n", ("1 µs", "`k<T>`")), (f"{code}\n> `x`: **9 µs**.\n", ("9 µs", "`x`")),
            (f"{code}\nTwo warps add. The other 30 warps wait for it:\n", ("30 warps", "The other 30 warps wait for it")),
            (f"{code}\nTwo warps add.\n", ("Two warps", "Two warps add.")), (code, ("1 lines", "of code")),
        ):  # fmt: skip
            self.assertEqual(next(slide for slide in self.offered(f"## S\n\n{text}") if slide.kind == "code").number, number)

    def test_a_number_is_not_shown_twice_if_another_is_said(self):
        step = "## S\n\n**Idea.** `k` adds.\n\n```cuda\nvoid k();\n```\n\n<!-- cost k -->\n> `k`: **1 µs**.\n\n<!-- cost j -->\n> `j`: **2 µs**.\n\n"
        self.assertEqual([slide.number[0] for slide in self.offered(step)], ["1 µs", "1 µs"])
        self.assertEqual([slide.number for slide in self.offered(f"{step}It has **8 warps**.\n")], [("1 µs", "`k`"), ("8 warps", "It has **8 warps**.")])

    def test_numbers_have_a_unit(self):
        for text, number in (
            ("It takes 1,048 µs.", "1,048 µs"), ("n (n - 1) / 2 pairs of 4 atoms", "4 atoms"), ("Lane 0 adds, 0 blocks, x^2 values", None), ("2^28 floats", "2^28 floats"),
            ("At 1.2 additions per nanosecond", "1.2 additions per nanosecond"), ("16 lanes take 3 % of it", "3 %"), ("an eight-lane tree; two lanes", "two lanes"), ("11 significant bits", "11 significant bits"),
        ):  # fmt: skip
            self.assertEqual((slide_words.number_in(text, slide_words.NUMBERS) or [None])[0], number, text)

    def test_beside_the_bars_of_a_cost_is_its_gain(self):
        cost = slide_words.cost_of("> `k`: **1 µs**. 2.5 times as fast as `j`. `cub::X`: 2 µs.")
        self.assertEqual(slide_words.gain_of(cost), ("2.5 times", "the speed of `j` (`k`)"))
        cost = slide_words.cost_of("> `k`: **1 µs**. 2.5 times as long as `j`.")
        self.assertEqual(slide_words.gain_of(cost), ("2.5 times", "the time of `j` (`k`)"))
        cost = slide_words.cost_of("> `k`: **1 µs**. A tie with `j` (1 µs).")
        self.assertEqual(slide_words.gain_of(cost), ("1 µs", "`k`"))

    def test_a_short_text_goes_on_with_the_next_paragraphs(self):
        code = "```cuda\nvoid k();\n```\n"
        made = self.offered(f"## S\n\n**Why?** It waits.\n\n(An aside.)\n\n**Bold.** Own.\n\nTwo lanes add.\n\n### More\n\nNot this.\n\n{code}")[0]
        self.assertEqual(made.body, "**Why?** It waits.\n\nTwo lanes add.")
        long = " ".join(["word"] * slide_words.LEAST_WORDS)
        self.assertEqual(self.offered(f"## S\n\n{long}.\n\nTwo lanes add.\n\n{code}")[0].body, f"{long}.")

    def test_the_costs_after_an_exercise_are_those_of_the_step(self):
        text = "# 01 X\n\n## Step 1\n\n**Idea.** Add.\n\n<!-- exercise e -->\n### Now you: e\n\nTask.\n<!-- exercise:end -->\n\n<!-- cost c -->\n> `c`: **1 µs**.\n\n<!-- cost d -->\n> `d`: **2 µs**.\n"
        made = slide_choice.of_page(text, 20, Shown(), {})
        self.assertEqual(list(map(shown_of, made)), [("text", "**Idea.** Add.", "costs c d", ("2 µs", "`d`"))])

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
            self.assertEqual(slide_words.shortened(slide_words.without_links(text), MOST_WORDS), shown)

    def test_a_point_of_the_summary_has_its_number(self):
        number = "<!-- µs k -->3.5 µs<!-- / -->"
        text = f"## What the table says\n\n- It takes {number}, 1.2 times as long [as](x.md) 5 % ago.\n- From 20 to 22 ms, and {number}.\n- No number.\n- 66 % of all, <!-- µs k | bare -->3.5<!-- / -->.\n- 5 % without a rung.\n"
        made = slide_offers.slides_of_summary(section(text), Shown())
        self.assertEqual([(slide.number[0], slide.picture.name) for slide in made], [("1.2 times", "numbers k"), ("20 to 22 ms", "numbers k"), ("66 %", "numbers k")])
        self.assertEqual(made[0].body, "It takes 3.5 µs, 1.2 times as long as 5 % ago.")

    def test_too_many_slides_lose_the_last_ranks_first_and_no_step_its_first_one(self):
        offered = [[Slide("text", str(k), "", rank=rank) for rank in (1, 3, 2, 5)] for k in range(6)]
        kept = slide_choice.chosen(offered, 8)
        self.assertEqual([[slide.rank for slide in part] for part in kept], [[1, 2], [1, 2], [1], [1], [1], [1]])
        self.assertEqual(sum(map(len, slide_choice.chosen(offered, 30))), 18)  # the last rank is for short pages
        self.assertEqual(sum(map(len, slide_choice.chosen(offered[:4], 30))), LEAST)

    def test_a_drawing_that_goes_on_is_chosen_whole_or_not(self):
        goes_on = Slide("picture", "a", rank=2, more=[Slide("picture", "a")] * 2)
        offered = [[Slide("text", "a")], [Slide("text", "b"), goes_on], [Slide("text", "c"), Slide("picture", "c", rank=3)]]
        self.assertEqual([[slide.rank for slide in part] for part in slide_choice.chosen(offered, 5)], [[1], [1], [1, 3]])
        self.assertEqual([[slide.rank for slide in part] for part in slide_choice.chosen(offered, 6)], [[1], [1, 2], [1]])

    def test_few_slides_of_a_talk_are_code(self):
        offered = [[Slide("text", "a", picture=picture("a")), Slide("code", "a", code="x", rank=3)] for _ in range(12)]
        kept = slide_choice.chosen(offered, 30)
        self.assertEqual(sum(bool(slide.code) for part in kept for slide in part), slide_choice.MOST_CODE)

    def test_what_is_folded_and_exercises_are_no_slides(self):
        text = ("# 01 X\n\n[中文](README.zh-CN.md)\n\n**You will learn** a.\n\nIntro here.\n\n## Step 1\n\n**Idea.** Add.\n\n![a](p.svg)\n\n<details><summary>x</summary>\n\n```cuda\nno;\n```\n\n</details>\n\n"
                "<!-- exercise e -->\n### Now you: e\n\nTask.\n<!-- exercise:end -->\n\n## All rungs\n\nText.\n")
        made = slide_choice.of_page(text, 20, Shown(), {})
        self.assertEqual([(slide.heading, slide.body, slide.picture.name) for slide in made], [("01 X", "Intro here.", "way"), ("Step 1", "**Idea.** Add.", "p.svg")])
        self.assertEqual([slide.notes for slide in made], [["Intro here."], ["**Idea.** Add."]])

    def test_a_page_that_says_nothing_above_its_first_step_has_another_opening(self):
        text = "# 01 X\n\n**You will learn** a.\n\n## Step 1\n\n**Idea.** Add.\n\n![a](p.svg)\n"
        made = slide_choice.of_page(text, 20, Shown(), {}, Slide("text", "01 X", "To learn: a.", notes=["a"], picture=picture("way")))
        self.assertEqual([slide.body for slide in made], ["To learn: a.", "**Idea.** Add."])
        self.assertEqual(slide_choice.of_page(text.replace("## Step 1", "Text.\n\n## Step 1"), 20, Shown(), {}, Slide("text", "01 X"))[0].body, "Text.")

    def test_a_chapter_may_name_what_a_section_says(self):
        text = "# 01 X\n\n## Step 1\n\n**Idea.** Add.\n\nOne [is](x.md) there. Two are not. Three.\n\n![a](p.svg)\n\n## Step 2\n\nText here.\n\n![a](q.svg)\n"
        made = slide_choice.of_page(text, 20, Shown(), {"say": {"Step 1": "Two"}, "leave_out": ["Step 2"], "pictures": {"Step 1": "r.svg"}})
        self.assertEqual([(slide.body, slide.picture.name) for slide in made], [("Two are not. Three.", "r.svg"), ("", "p.svg")])

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
            self.assertEqual(said('pictures = {"Step 1" = "p.svg"}'), ["chapters/01-x/chapter.toml: [slides] 'Step 1': there is no picture p.svg"])
            self.assertEqual(said('pictures = {"Step 1" = "../02-y/pictures/p.svg"}'), [], "a release may lack the chapter")
            self.assertEqual(slide_choice.wishes_of(metadata.read(there))["pictures"], {})
            for beginning in ("See the", "One was"):
                self.assertRegex("".join(said(f'say = {{"Step 1" = "{beginning}"}}')), f"'Step 1': no sentence of at most 40 words .* begins with '{beginning}'")

    def test_notes_are_what_is_said_until_the_next_slide(self):
        step = Section("S", ["**Idea.** Add. And [more](x.md).", "```cuda\nvoid k();\n```", "> `k`: **1 µs**.", "- one\n- two", "![a](pictures/p.svg)"])
        step.marked = step.blocks
        step.costs = [("> `k`: **1 µs**.", "<!-- cost k -->"), ("> `j`: **2 µs**.", "<!-- cost j -->")]
        made = slide_offers.slides_of_section(step, Shown())
        slide_choice.add_notes(step, made)
        self.assertEqual([slide.notes for slide in made], [["**Idea.** Add. And more."], ["`k`: **1 µs**.", "- one\n- two"], ["- one\n- two"]])

    def test_code_is_as_large_as_its_lines_allow(self):
        self.assertEqual(slides.size_of_code("```cpp\nx;\n```"), slides.LARGEST_CODE)
        self.assertEqual(slides.size_of_code("```cpp\n" + "x" * 100 + "\n```"), 18)
        self.assertEqual(slides.size_of_code("```cpp\n" + "x;\n" * 20 + "```", 400), 15)
        self.assertIsNone(slide_words.code_of("```cuda\n" + "x" * 101 + "\n```"))

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

    def shown(self, heights, width=900, room=slide_pictures.WHOLE):
        parts = slide_pictures.lane_pictures(self.lanes(heights, width), room)
        for part in parts:
            self.assertLessEqual(float(re.search(r'height="([\d.]+)"', part)[1]), max(room[1], slide_pictures.WHOLE[1]) + 0.1)
        return [re.findall(r">(row \d+|lane|Dots[^<]*)<", part) for part in parts]

    def test_a_drawing_that_fits_is_one_picture(self):
        self.assertEqual(self.shown([100, 200]), [["lane", "row 0", "row 1"]])

    def test_a_drawing_that_is_too_high_goes_on_and_keeps_all_rows(self):
        self.assertEqual(self.shown([150] * 4), [["lane", "row 0", "row 1"], ["lane", "row 2", "row 3"]])
        self.assertEqual([len(part) for part in self.shown([150] * 8)], [3, 4, 4])

    def test_below_a_text_there_is_less_room_for_the_first_picture_only(self):
        self.assertEqual(self.shown([130, 100, 100, 100, 100, 100, 100], room=slide_pictures.BELOW),
                         [["lane", "row 0", "row 1", "row 2"], ["lane", "row 3", "row 4", "row 5", "row 6"]])

    def test_a_narrow_drawing_has_one_column_if_it_is_large_there_else_two(self):
        for width in (420, 356):
            self.assertEqual(self.shown([100, 100], width), [["lane", "row 0", "row 1"]])
            self.assertEqual(self.shown([100] * 6, width), [["lane", "row 0", "row 1", "row 2", "lane", "row 3", "row 4", "row 5"]])
        self.assertEqual(self.shown([100] * 4, 420, slide_pictures.BESIDE), [["lane", "row 0", "row 1", "row 2", "row 3"]])

    def test_a_line_before_a_row_of_time_belongs_to_it(self):
        rows = "\n".join(f'<rect y="{y}" height="21" class="full L1"/>\n<g class="step" data-at="x:1"><text y="{y + 16}">row</text></g>' for y in (70, 91))
        drawn = slide_pictures.rows_of(f'<svg viewBox="0 0 420 120">{rows}\n</svg>')[2]
        self.assertEqual([(part.count("<rect"), top) for part, top in drawn], [(1, 70), (1, 91)])

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
                self.assertEqual([number for number, slide in enumerate(talk, 1) if bool(slide.picture) == bool(slide.code)], [], "one picture, or code")
                self.assertEqual([number for number, slide in enumerate(talk, 1) if slide.code and not slide.number], [], "code without a number")
                self.assertEqual(talk[0].body, chapter.question)
                self.assertIsNotNone(talk[0].number)
                for exercise in chapter.exercises:
                    self.assertIn(f"./course check {exercise}", talk[-1].picture.alt)
                    self.assertIn(f"`./course check {exercise}`", "".join(talk[-1].notes))

    def test_two_of_three_slides_have_a_picture(self):
        talks = [slide for chapter in chapters for slide in slides.slides_of(chapter)]
        self.assertGreaterEqual(sum(slide.picture is not None for slide in talks), len(talks) * 2 / 3)

    def test_every_step_has_a_slide(self):
        for chapter in chapters:
            left_out, headings = chapter.slides.get("leave_out", []), {slide.heading for slide in slides.slides_of(chapter)}
            steps = [section.title for section in slide_words.shown_sections((chapter.folder / "README.md").read_text(encoding="utf-8")) if section.title.startswith("Step")]
            self.assertEqual([step for step in steps if step not in headings and step not in left_out], [], chapter.name)

    def test_drawings_of_runs_are_shown_whole(self):
        for chapter in chapters:
            page = pages.FOLD.sub("", (chapter.folder / "README.md").read_text(encoding="utf-8"))
            talk = slides.slides_of(chapter)
            for entry in (entry for entry in chapter.pictures if "kernel" in entry and f"](pictures/{entry['output']})" in page):
                file = f"pictures/{entry['output']}"
                steps = sum(slide.picture.svg.count('<g class="step"') for slide in talk if slide.picture and slide.picture.file == file)
                self.assertEqual(steps, (chapter.folder / file).read_text(encoding="utf-8").count('<g class="step"'), f"{chapter.name}/{file}")

    def test_what_is_said_is_in_the_lesson(self):
        for chapter in chapters:
            page = " ".join(slide_words.without_links(
                re.sub(r"(?m)^> ?", "", markers.without_comments((chapter.folder / "README.md").read_text(encoding="utf-8")))).split())
            for slide in slides.slides_of(chapter)[1:-1]:
                for text in slide.body.split("\n\n") if slide.kind == "text" else []:
                    sentences = slide_words.SENTENCE.split(re.sub(r"^\*\*(?:Why|Idea)[^*]*\*\* ?", "", text))
                    self.assertEqual([sentence for sentence in sentences if sentence not in page], [], chapter.name)


def printed(pdf):
    """[(width and height of the paper, the slide's edges on it: left, top, right, bottom)] of the pages of a PDF, in points."""
    pages = re.findall(rb"/MediaBox \[0 0 (\S+) (\S+?)\]", pdf)
    streams = [zlib.decompressobj().decompress(stream) for stream in re.findall(rb"stream\r?\n(x.*?)endstream", pdf, re.DOTALL)]
    scales = [found for stream in streams if (found := re.match(rb"(\S+) 0 0 \S+ 0 \S+ cm\nq\n(\S+) 0 0 \S+ (\S+) (\S+) cm\n", stream))]
    found = []
    for (width, height), scale in zip(pages, scales, strict=True):
        unit, pixel, left, top = map(float, scale.groups())
        found.append(((float(width), float(height)), (left * unit, top * unit, (left + slides.REMARK_WIDTH * pixel) * unit, (top + slides.REMARK_HEIGHT * pixel) * unit)))
    return found


class InBrowser(unittest.TestCase):
    """The slides as a window of 1280 x 720 pixels, and paper, show them."""

    @classmethod
    def setUpClass(cls):
        cls.window = browser.Window(logs=["browser"])
        cls.addClassCleanup(cls.window.close)
        cls.address = browser.address_of(cls, build_site.serve(folder, 0))
        cls.window.size(*SIZE)
        cls.seen = {chapter.name: cls.look(chapter) for chapter in chapters}

    @classmethod
    def look(cls, chapter):
        """(the slides on the screen, the same on paper, their pictures, the console) of a chapter."""
        cls.open(chapter)
        screen, pictures = cls.window.run(SLIDES, LEAST_MARGIN), cls.window.run(PICTURES)
        cls.window.media("print")
        paper = cls.window.run(SLIDES, LEAST_MARGIN)
        cls.window.media("")
        return screen, paper, pictures, cls.window.console()

    def setUp(self):
        self.window.size(*SIZE)
        self.window.console()

    @classmethod
    def open(cls, chapter):
        cls.window.open("about:blank")  # else only the address after # changes
        cls.window.open(f"{cls.address}{chapter.name}.html")
        cls.window.wait("return document.images.length && [...document.images].every((image) => image.complete)")

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
        yield from (f"says '{slide['number']}'" for _ in range(bool(slide["number"] and re.search(MARKDOWN, slide["number"]))))
        if (slide["code"] or 0) > (LINES_BELOW if text else MOST_LINES):
            yield f"has {slide['code']} lines of code"
        if slide["code"] and slide["letters"] < LEAST_CODE:
            yield f"has code of {slide['letters']} pixels"
        if bool(slide["code"]) + slide["pictures"] != 1:
            yield f"has {slide['pictures']} pictures" + " and code" * bool(slide["code"])
        if slide["code"] and not slide["number"]:
            yield "has code without a number"
        if slide["pictures"] and not slide["picture"][2]:
            yield "has a picture without a description"

    def test_no_slide_has_too_much_and_nothing_reaches_past_it(self):
        for chapter in chapters:
            with self.subTest(chapter=chapter.name):
                shown, _, _, console = self.seen[chapter.name]
                self.assertEqual([f"{k}: {problem}" for k, slide in enumerate(shown, 1) for problem in self.problems_of(slide)], [])
                self.assertEqual(len(shown), len(slides.slides_of(chapter)))
                self.assertEqual(console, [])

    def test_nothing_reaches_past_its_paper(self):
        for chapter in chapters:
            with self.subTest(chapter=chapter.name):
                self.assertEqual([f"{k}: {text}" for k, slide in enumerate(self.seen[chapter.name][1], 1) for text in slide["outside"]], [])

    def test_no_picture_is_cut(self):
        for chapter in chapters:
            for drawn in self.seen[chapter.name][2]:
                with self.subTest(picture=drawn["name"]):
                    self.assertEqual((drawn["cut"], drawn["over"]), ([], []))
                    self.assertGreaterEqual(round(drawn["letters"], 1), slide_pictures.LEAST_LETTER)

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

    def test_slides_print_a_page_each_on_any_paper(self):
        for chapter in (chapters[1], chapters[-1]):
            self.open(chapter)
            for paper in ({"preferCSSPageSize": True}, *({"landscape": True, "paperWidth": width, "paperHeight": height} for width, height in PAPER.values())):
                pages = printed(base64.b64decode(self.window.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, **paper})["data"]))
                self.assertEqual(len(pages), len(slides.slides_of(chapter)), paper)
                for (width, height), (left, top, right, bottom) in pages:
                    self.assertGreater(width, height, paper)
                    self.assertTrue(left >= 0 and top >= 0 and right <= width + 1 and bottom <= height + 1, paper)


if __name__ == "__main__":
    browser.main()
