"""The web site: built once, all links of all pages followed, each page opened in a headless Chromium.
Skipped (77) without Sphinx; without a browser the pages are not opened."""

import gzip
import html
import json
import re
import sys
import tempfile
import tomllib
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from tools.lib import chapter as metadata
from tools.lib import repository
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.lib.pages import anchor_of
from tools.lib.numbers_html import typeset_numbers, with_units_kept
from tools.measure import cards, languages
from tools.site import build_site
from tools.tests import browser
from tools.tests import system_python
from tools.trace import stepper

READS = ("*.md", ".github/workflows/site.yml", "chapters", "common/docs", "common/simt/README.md", "common/tools/site", "course", "exercises", "solutions", "LICENSE")

try:
    from tools.site import exercise_cards, feed, pages, search_index, share_cards, source_pages, typesetting
except ImportError:  # no Sphinx for this Python
    exercise_cards = feed = pages = search_index = share_cards = source_pages = typesetting = None

FIRST = "01-global-atomic"  # a chapter with pictures and a plot
LESSON = f"chapters/{FIRST}/README.html"
WIDTHS = (1400, 768, 390)
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
MOST_OF_A_CHAPTER = 60_000  # bytes, compressed, without pictures
MOST_OF_THE_SITE = 25_000_000  # bytes
MOST_OF_A_SEARCH = 400_000  # bytes, compressed, of the sections of a language and the scripts
MOST_UNTIL_PAINTED, LOADS = 500, 5  # ms until the first content, in one of so many loads: the machine may be busy
CHARACTERS_OF_A_LINE = (60, 84)  # about 75, in the fonts that a machine has

LEAST_CONTRAST_OF_FOCUS = 3  # WCAG 2.2, 1.4.11

COLOURS = """
const rgb = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const below = (e) => {
  if (e.matches(".on-bar")) return rgb(getComputedStyle(e.parentElement.querySelector(".bar")).fill);  // of a picture
  const seen = [];
  for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    seen.push(c);
    if (c[3] === 1) break;
  }
  return seen.reverse().reduce((under, c) => under.map((v, k) => k < 3 ? c[k] * c[3] + v * (1 - c[3]) : 1), [255, 255, 255, 1]);
};
const contrast = (one, other) => { const [a, b] = [light(one), light(other)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
"""

# The texts whose colour is too near to that of what is below them. Elements of the same kind are looked at once.
CONTRAST = COLOURS + """
const kinds = new Set(), bad = [];
for (const e of document.body.querySelectorAll("*")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || ["SCRIPT", "STYLE", "TEXTAREA"].includes(e.tagName)) continue;
  const chain = [e, e.parentElement, e.parentElement.parentElement].map((x) => x ? x.tagName + x.getAttribute("class") + x.getAttribute("style") : "").join(" ");
  const kind = chain + !!e.closest("main") + !!e.closest("pre") + !!e.closest("nav") + e.hasAttribute("aria-current");
  if (kinds.has(kind) || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
  kinds.add(kind);
  const style = getComputedStyle(e), under = below(e);
  const ink = rgb(e instanceof SVGElement ? style.fill : style.color);
  const ratio = contrast(ink.map((v, k) => v * ink[3] + under[k] * (1 - ink[3])), under);
  if (!(ratio >= arguments[0])) bad.push(`${ratio.toFixed(2)} ${e.tagName}.${e.getAttribute("class")} "${e.textContent.trim().slice(0, 40)}"`);
}
return bad;
"""

# What reaches past the window's right edge, and is not inside something that is scrolled; and the page's own width.
CUT_OFF = """
const wide = document.documentElement.clientWidth, bad = [];
if (document.documentElement.scrollWidth > wide) bad.push(`the page is ${document.documentElement.scrollWidth} wide`);
for (const e of document.body.querySelectorAll("header *, .text *, main *")) {
  const box = e.getBoundingClientRect();
  const said = (what) => bad.push(`${e.tagName}.${e.getAttribute("class")} "${e.textContent.trim().slice(0, 40)}" ${what}`);
  if (e instanceof HTMLElement && getComputedStyle(e).overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1) said("is clipped");
  if (box.right <= wide + 1 || box.width === 0 || !e.checkVisibility()) continue;
  let frame = e.parentElement;
  while (frame && !["auto", "scroll"].includes(getComputedStyle(frame).overflowX)) frame = frame.parentElement;
  if (!frame) said(`ends at ${Math.round(box.right)}`);
}
return bad.slice(0, 5);
"""

# The heights of letters of a drawing as it is shown, in pixels, each once.
LETTERS = """
const svg = document.querySelector(arguments[0]), scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
return [...new Set([...svg.querySelectorAll("text")].map((e) => parseFloat(getComputedStyle(e).fontSize) * scale))];
"""

# Drawings in text, outputs, and code of at most 100 columns that are scrolled.
SCROLLED = """
return [...document.querySelectorAll(":is(.highlight-text, .highlight-cuda, .highlight-cpp) pre")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => `"${e.textContent.trim().slice(0, 40)}" is ${e.scrollWidth} wide in ${e.clientWidth}`);
"""

# The buttons "Copy" beside a block of code that take from its width, or cover some of its text.
IN_THE_WAY = """
return [...document.querySelectorAll(".highlight > .copy")].filter((copy) => {
  const box = copy.getBoundingClientRect(), pre = copy.parentElement.querySelector("pre"), text = document.createRange();
  text.selectNodeContents(pre);
  return pre.clientWidth < copy.parentElement.clientWidth
    || [...text.getClientRects()].some((r) => r.left < box.right && r.right > box.left && r.top < box.bottom && r.bottom > box.top);
}).map((copy) => copy.parentElement.textContent.slice(0, 40));
"""

CAN_HAVE_FOCUS = """
const wanted = [...document.querySelectorAll("a[href], button, input, select, summary, iframe, [tabindex='0']")].filter((e) =>
  !e.disabled && e.checkVisibility({ visibilityProperty: true }) && !e.closest(".skip"));
"""
# Notes what is wrong with each element that a press of Tab leads to: it looks as it did before, its outline is too near to
# what is below it, or it is out of view or below the header.
NOTE_FOCUS = COLOURS + CAN_HAVE_FOCUS + """
const look = (e) => [e, ...e.querySelectorAll("circle")].map((part) => {
  const s = getComputedStyle(part);
  return [s.outlineStyle, s.outlineWidth, s.boxShadow, s.stroke, s.borderColor, s.backgroundColor];
}).join();
const problem = (e) => {
  const style = getComputedStyle(e), box = e.getClientRects()[0];
  if (look(e) === plain.get(e)) return "does not show the focus";
  if (style.outlineStyle !== "none" && contrast(rgb(style.outlineColor), below(e.parentElement)) < arguments[0]) return "has a pale outline";
  const header = document.querySelector("header");
  const top = header.contains(e) ? 0 : header.getBoundingClientRect().bottom;
  return box.bottom <= top || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth ? "is out of view" : "";
};
const plain = new Map(wanted.map((e) => [e, look(e)]));
window.wanted = wanted;
window.problems = new Map();
addEventListener("keyup", () => {
  const e = document.activeElement;
  if (plain.has(e)) problems.set(e, problem(e));
});
document.activeElement.blur();
scrollTo(0, 0);
return wanted.length;
"""
FOCUS_PROBLEMS = """
return wanted.map((e) => [problems.get(e) ?? "is not reached", e.outerHTML.slice(0, 120)]).filter(([said]) => said).map((said) => said.join(": "));
"""

# A question of the search page; its first hit must be one of these sections: NN-topic#anchor, NN-topic for a whole lesson, or the page's file.
ASK = "const b = document.querySelector('header input'); b.value = arguments[0]; b.dispatchEvent(new Event('input'))"
HITS = "return [...document.querySelectorAll('#hits a')].map((a) => decodeURIComponent(a.getAttribute('href')))"
RACE = ["01-global-atomic#step-1-every-thread-adds-to-one-number", "00-start-here#step-3-when-something-goes-wrong"]
RACE_IN_CHINESE = ["01-global-atomic#第一步每个线程都往同一个数上加", "00-start-here#第三步出错的时候"]
SHUFFLE = ["05-warp-shuffle#step-2-a-shuffle-instead-of-shared-memory"]
TREE = ["03-shared-reduce#step-1-a-tree-in-shared-memory"]
CAS = ["02-atomic-functions#every-atomic-function", "02-atomic-functions#step-1-build-what-is-missing"]
LOCK = ["12-memory-order#step-6-a-lock"]
PREFIX_SUM = ["05-warp-shuffle#prefix-sums", "14-scan"]
BINS = ["03-shared-reduce#private-histograms", "01-global-atomic#step-3-fewer-threads-per-address"]
FRONT_HINTS = ["README.html#learn"]
QUESTIONS = {
    "search.html": {
        "race": RACE,
        "data races": RACE,
        "race condition": RACE,
        "lost update": ["01-global-atomic#step-1-every-thread-adds-to-one-number"],
        "memory order": ["12-memory-order", "12-memory-order#first-half-memory-order"],
        "memory model": ["12-memory-order", "12-memory-order#first-half-memory-order"],
        "atomicAdd": ["01-global-atomic#step-2-atomicadd"],
        "atomic add": ["01-global-atomic#step-2-atomicadd"],
        "atomcAdd": ["01-global-atomic#step-2-atomicadd"],
        "shuffle": SHUFFLE,
        "__shfl_down_sync": SHUFFLE,
        "shuffel": SHUFFLE,
        "syncthreads": TREE,
        "bank conflict": ["03-shared-reduce#step-2-how-the-tree-should-be-walked"],
        "coalesced": ["04-coalesced-access"],
        "vectorized load": ["04-coalesced-access#step-4-16-bytes-per-access"],
        "grid-stride loop": ["01-global-atomic#step-2-atomicadd"],
        "fence": ["02-atomic-functions#an-atomic-is-not-a-fence"],
        "__threadfence": ["02-atomic-functions#an-atomic-is-not-a-fence"],
        "atomicCAS": CAS,
        "spinlock": LOCK,
        "half2": ["06-half2-dot"],
        "fp16": ["06-half2-dot#what-a-half-is", "06-half2-dot"],
        "cluster": ["13-clusters#a-first-cluster"],
        "distributed shared memory": ["13-clusters", "13-clusters#a-first-cluster"],
        "softmax": ["15-row-reductions#step-3-the-softmax-of-a-row"],
        "layernorm": ["15-row-reductions#step-5-the-variance-of-a-row"],
        "kahan summation": ["15-row-reductions#now-you-sum_compensated--45-min", "15-row-reductions#step-6-what-an-addition-loses"],
        "private histogram": ["03-shared-reduce#private-histograms"],
        "histgram": BINS,
        "scan": PREFIX_SUM,
        "ABA": ["12-memory-order#step-9-a-stack-and-aba"],
        "hash table": ["12-memory-order#step-10-a-hash-table"],
        "nccl": ["11-many-gpus#step-4-nccl-and-mpi"],
        "multi gpu": ["11-many-gpus"],
        "warp": ["00-start-here#step-2-grids-blocks-warps"],
        "warp aggregation": ["09-warp-aggregated#step-3-warp-aggregation-by-hand"],
        "barrier": TREE,
        "stagnation": ["01-global-atomic#step-4-order-rounding-stagnation"],
        "pinned memory": ["06-half2-dot#the-hosts-side-pinned-memory"],
        "loads in flight": ["03-shared-reduce#step-4-more-loads-in-flight"],
        "radix sort": ["14-scan#step-12-a-sort-is-a-scan"],
        "contention": ["02-atomic-functions#contention-measured", "01-global-atomic#step-3-fewer-threads-per-address"],
        "neighbor list": ["10-neighbor-list"],
        "how to time a kernel": ["01-global-atomic#how-to-time-a-kernel"],
        "hash insert": ["12-memory-order#now-you-hash_insert--45-min"],
        "block max": ["03-shared-reduce#now-you-block_max--30-min"],
        "install": ["README.html#begin"],
        "no GPU": ["common/simt", "README.html"],
        "hint": FRONT_HINTS,
        "watch": FRONT_HINTS,
        "solution": FRONT_HINTS,
        "compute-sanitizer": ["README.html#on-a-gpu"],
        "grade": ["common/docs/grading.html"],
        "gradescope": ["common/docs/gradescope.html"],
        "plagiarsm": ["common/docs/grading.html#similar-answers"],
        "unitialised": TREE,
        "plagiarism": ["common/docs/grading.html#similar-answers"],
        "syllabus": ["common/docs/instructors.html#what-to-teach"],
        "add an exercise": ["CONTRIBUTING.html#add-an-exercise"],
        "contribute": ["CONTRIBUTING.html"],
    },
    "search.zh-CN.html": {
        "竞争": RACE_IN_CHINESE,
        "数据竞争": RACE_IN_CHINESE,
        "race condition": RACE_IN_CHINESE,
        "怎么检查数据竞争": RACE_IN_CHINESE,
        "丢失更新": RACE_IN_CHINESE[:1],
        "线程束": ["00-start-here#第二步网格线程块线程束"],
        "停滞": ["01-global-atomic#第四步顺序舍入停滞"],
        "atomicAdd": ["01-global-atomic#第二步atomicadd"],
        "核函数计时": ["01-global-atomic#怎样给核函数计时"],
        "边界检查": ["00-start-here#第-2-步没有边界检查"],
        "什么是线程束": ["00-start-here#第二步网格线程块线程束"],
        "原子加": ["01-global-atomic#第二步atomicadd"],
        "安装": ["README.zh-CN.html#开始"],
        "怎么安装": ["README.zh-CN.html#开始"],
        "提示": ["README.zh-CN.html#学习"],
        # not translated
        "洗牌": SHUFFLE,
        "内存序": ["12-memory-order", "12-memory-order#first-half-memory-order"],
        "共享内存": TREE,
        "归约": ["03-shared-reduce", *TREE],
        "屏障": TREE,
        "比较并交换": CAS,
        "加锁": LOCK,
        "前缀和": PREFIX_SUM,
        "死锁": SHUFFLE,
        "邻居表": ["10-neighbor-list"],
        "哈希表": ["12-memory-order#step-10-a-hash-table"],
        "评分": ["common/docs/grading.html"],
        "幻灯片": ["common/docs/web-site.html#slides"],
    },
}

class Texts(unittest.TestCase):
    """Parts of the tools that need no site."""

    def marked(self, text, folder="chapters/01-x"):
        return source_pages.with_sources_marked(text, folder, lambda path: path == "chapters/01-x/README.md")

    def test_a_drawing_is_not_enlarged(self):
        self.assertEqual(
            stepper.size_of('<?xml?>\n<svg xmlns="x" viewBox="0 0 420 710" width="546" height="9">'), 'style="--least: 420px; --most: 546px"')
        self.assertEqual(stepper.size_of('<svg viewBox="0 0 900 200" width="900" height="9">'), 'style="--least: 620px; --most: 900px"')

    def test_links_to_files_are_told_from_links_to_pages(self):
        self.assertEqual(self.marked("[a](sum.cuh#L3)"), "[a](source:chapters/01-x/sum.cuh#L3)")
        self.assertEqual(self.marked("[a](../../LICENSE)"), "[a](source:LICENSE)")
        for text in ("[a](README.md#here)", "[a](#here)", "![a](x.svg)", "[a](https://example.org/x.cuh)", "`[a](x.cuh)`",
                     "```\n[a](x.cuh)\n```", "`[](int k) { }`"):
            self.assertEqual(self.marked(text), text)

    def test_pages_in_other_languages(self):
        names = {"README", "README.zh-CN", "chapters/00-a/README", "chapters/00-a/README.zh-CN", "common/docs/x"}
        self.assertEqual(pages.in_other_languages("README", names), {"zh-CN": "README.zh-CN"})
        self.assertEqual(pages.in_other_languages("chapters/00-a/README.zh-CN", names), {"en": "chapters/00-a/README"})
        self.assertEqual(pages.in_other_languages("common/docs/x", names), {})
        self.assertEqual(pages.navigation(names, "en"), [("Learn", ["README", "chapters/00-a/README", "common/docs/x"]), ("Teach", []), ("Develop", [])])
        self.assertEqual(pages.navigation(names, "zh-CN")[0], ("学习", ["README.zh-CN", "chapters/00-a/README.zh-CN", "common/docs/x"]))

    def test_next_and_previous_are_those_of_the_course(self):
        names = {"README", "README.zh-CN", "chapters/00-a/README", "chapters/00-a/README.zh-CN", "chapters/01-b/README", "common/docs/x"}
        self.assertEqual(pages.turned(names, "README"), (None, "chapters/00-a/README"))
        self.assertEqual(pages.turned(names, "chapters/01-b/README"), ("chapters/00-a/README", None))
        self.assertEqual(pages.turned(names, "common/docs/x"), (None, None))
        self.assertEqual(pages.turned(names, "chapters/00-a/README.zh-CN"), ("README.zh-CN", "chapters/01-b/README"))  # not translated

    def test_every_page_that_is_not_for_learners_is_there(self):
        for name in pages.TEACH + pages.DEVELOP:
            self.assertTrue((TOP / f"{name}.md").is_file(), name)

    def test_powers_have_superscripts(self):
        for text, shown in (("2^24 floats", "2<sup>24</sup> floats"), ("(10^9)", "(10<sup>9</sup>)"), ("2^-24.", "2<sup>-24</sup>."),
                            ("2^(k+1)", "2<sup>k+1</sup>"), ("2^k", "2<sup>k</sup>"), ("a ^ b", "a ^ b")):
            self.assertEqual(typeset_numbers(text), shown)

    def test_a_number_keeps_its_unit(self):
        for text, shown in (("1 h 40 min", "1~h 40~min"), ("21.5 µs, 3 % of 64 MiB", "21.5~µs, 3~% of 64~MiB"), ("4 sectors", "4 sectors"), ("10 s.", "10~s."),
                            ("1 小时 10 分钟", "1~小\u2060时 10~分\u2060钟"), ("★★ 30 min", "★★~30~min"), (" ★★, ", "~★★, "), ("16 bytes", "16~bytes"), ("1 hour", "1 hour"),
                            ("1.5~– 2.5 (1 %)".replace("~", "\u00a0"), "1.5~–\u2060~2.5 (1~%)"), ("1 – 2", "1 – 2")):
            self.assertEqual(with_units_kept(text), shown.replace("~", "\u00a0"))

    def test_a_cell_has_the_head_of_its_column(self):
        table = ("<table>\n<thead>\n<tr><th class=\"head\"><p></p></th><th><p>time, <code>\"µs\"</code>, 2<sup>-24</sup></p></th></tr></thead>\n<tbody>"
                 + "<tr><td><p>{}</p></td><td class=\"text-right\"><p>1</p></td></tr>" * 2 + "</tbody></table>")
        labelled = "<td{}><p>{}</p></td>"
        for names, kind in ((["sum", "a"], ""), (["sum", "the sum of many floats, by one thread"], ' class="phrase"'),
                            (["the sum of many floats", "the sum of many floats, by one thread"], ' class="prose"')):
            shown = typesetting.with_labels(table.format(*names))
            for name in names:
                self.assertIn(labelled.format(f'{kind} data-label=""', name), shown)
            self.assertEqual(shown.count(labelled.format(' class="text-right" data-label="time, &quot;µs&quot;, 2⁻²⁴"', "1")), 2)
            self.assertEqual(shown.count("data-label"), 4)

    def test_only_a_long_name_of_a_cell_may_be_broken(self):
        for cell, shown in (("<p>cub::DeviceReduce::Sum, x</p>",) * 2, ('<a href="a::DeviceHistogram::HistogramEven">x</a>',) * 2,
                            ("<p>cub::DeviceHistogram::HistogramEven</p>", "<p>cub::<wbr>DeviceHistogram::<wbr>HistogramEven</p>")):
            self.assertEqual(typesetting.with_breaks(cell), shown)

    def test_an_option_is_marked_in_text_and_in_commands(self):
        for text, shown in (
            ('<code><span class="pre">--seed</span> <span class="pre">SEED-2</span></code>', '<code><span class="pre option">--seed</span> <span class="pre">SEED-2</span></code>'),
            ('<span class="pre">-Dchapters=01-global-atomic,03-shared-reduce</span>',) * 2,
            ('<div class="highlight-sh x"><pre>a-b --c-d 1 -De=f-g\n</pre>',
             '<div class="highlight-sh x"><pre>a-b <span class="option">--c-d</span> 1 <span class="option">-De=f-g</span>\n</pre>'),
            ('<div class="highlight-cpp"><pre>a --b </pre>',) * 2,
        ):
            self.assertEqual(typesetting.with_options_whole(text), shown)

    def test_code_has_spans_where_it_has_colours(self):
        code = '<span></span><span class="kt">int</span><span class="w"> </span><span class="n">x</span><span class="p">;</span>'
        self.assertEqual(source_pages.without_plain_spans(code), '<span class="kt">int</span> x;')

    def test_each_command_of_a_card_is_a_block(self):
        text = "```cuda\nint x;\n```\n\n```sh\n./course check a\n./course hint a    # three\n```\n"
        self.assertEqual(exercise_cards.with_single_commands(text),
                         "```cuda\nint x;\n```\n\n```sh\n./course check a\n```\n\n```sh\n./course hint a    # three\n```\n")

    GLOSSARY = ("| term | 中文 | meaning | chapter |\n|---|---|---|---|\n"
                "| compare-and-swap (CAS) | 比较并交换 | stores a value: `atomicCAS()` | [02](../../chapters/02-a/README.md) |\n"
                "| acquire, release | 获取、释放 | two halves | [02](../../chapters/02-a/README.md) |\n"
                "| prefix (of a tile) | 前缀（前缀的） | a sum | [03](../../chapters/03-b/README.md) |\n")

    def test_what_a_row_of_the_glossary_names(self):
        row = ["acquire", "release", "获取", "释放"]
        self.assertEqual(search_index.terms_of(self.GLOSSARY), [
            (["compare-and-swap", "比较并交换"], ["CAS", "atomicCAS"], ["compare-and-swap", "比较并交换"], "chapters/02-a"),
            (["acquire", "获取"], [], row, "chapters/02-a"), (["release", "释放"], [], row, "chapters/02-a"),
            (["prefix", "前缀"], ["前缀"], ["prefix", "前缀"], "chapters/03-b")])

    def test_a_name_has_one_meaning(self):
        def term(names, also):
            return search_index.Term(names, also, names, "chapters/02-a")

        terms = [term(["tree"], ["reduction"]), term(["reduction"], []), term(["lock"], []), term(["mutex"], [])]
        same = [["lock", "mutex", "spin lock"], ["hint", "stuck"], ["install", "set up"]]
        self.assertEqual(search_index.meanings_of(terms, ["hint", "next"], same), [
            ["tree"], ["reduction"], ["lock", "mutex", "spin lock"], [], ["hint", "stuck"], ["next"], ["install", "set up"]])

    def test_words_that_mean_the_same_are_in_one_row(self):
        rows = tomllib.loads(search_index.SAME.read_text(encoding="utf-8"))["same"]
        keys = [re.sub("[^\\w]|_", "", word).lower() for row in rows for word in row]
        self.assertEqual([key for key in keys if keys.count(key) > 1], [])
        self.assertEqual([row for row in rows if len(row) < 2], [])

    def entries(self, *sections):
        return [search_index.Entry(uri, title, text, emphasised, [[], []], []) for uri, title, text, emphasised in sections]

    def test_a_term_belongs_to_the_section_that_introduces_it(self):
        terms = search_index.terms_of(self.GLOSSARY)
        meanings = search_index.meanings_of(terms, [], [["compare-and-swap", "compare and exchange"]])
        page, step = ("02", "02 A", "", []), ("c", "Step 3: two CASs", "", [])
        emphasised, named = ("b", "Step 2", "a CAS", ["CAS", "acquire"]), ("a", "Step 1", "to compare and exchange", [])
        aside = ("d", "Sources and credits", "CAS", ["CAS"])
        for sections, first in (((named, emphasised, step, aside), "c"), ((named, emphasised, aside), "b"), ((named, aside), "a"), ((aside,), "d"), ((), "02")):
            of_pages = {"chapters/02-a/README": self.entries(page, *sections), "chapters/03-b/README": self.entries(("03", "03", "", []), ("e", "CAS", "", ["CAS"])),
                        "common/docs/x": self.entries(("x", "CAS", "", ["CAS"]))}
            search_index.add_terms(of_pages, terms, meanings)
            of_term = {number: [entry.uri for entries in of_pages.values() for entry in entries if number in entry.terms] for number in range(4)}
            self.assertEqual(of_term, {0: [first], 1: ["b" if emphasised in sections else "02"], 2: ["b" if emphasised in sections else "02"], 3: ["03"]})

    def test_a_translated_page_has_the_asides_of_the_english_one(self):
        of_pages = {"chapters/02-a/README": self.entries(("", "02", "", []), ("", "Step 1", "", []), ("", "All rungs", "", [])),
                    "chapters/02-a/README.zh-CN": self.entries(("", "02", "", []), ("", "第一步", "", []), ("", "所有的级", "", []))}
        for docname in of_pages:
            self.assertEqual(search_index.asides_of(docname, of_pages), [False, False, True])

    def test_a_command_belongs_to_the_first_section_that_shows_it(self):
        def entry(uri, in_blocks, in_text):
            return search_index.Entry(uri, "", "", [], [in_blocks, in_text], [])

        of_pages = {"README": [entry("r", [], ["hint"]), entry("s", ["hint", "next"], [])], "x": [entry("x", ["next"], ["reset"])]}
        self.assertEqual(search_index.homes_of_commands(["README", "x"], of_pages), {"hint": "s", "next": "s", "reset": "x"})

    def test_numbers_of_tables_are_not_read(self):
        from docutils import nodes

        row = nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in ("sum_tree", "29,466.1 µs", "1.5x", "归约", "–")))
        self.assertEqual(search_index.text_of(row), "sum_tree 归约")

    def test_what_counts_more(self):
        names = ["README", "README.zh-CN", "chapters/00-a/README", "chapters/00-a/README.zh-CN", "chapters/01-b/README", "common/docs/x", "CONTRIBUTING"]
        weights = [search_index.weight_of(name, "en", names) for name in ("README", "chapters/00-a/README", "chapters/01-b/README", "common/docs/x", "CONTRIBUTING")]
        self.assertEqual(weights, sorted(set(weights), reverse=True))
        self.assertGreater(search_index.weight_of("chapters/00-a/README.zh-CN", "zh-CN", names), search_index.weight_of("chapters/00-a/README", "zh-CN", names))

    def test_each_language_has_its_pages_and_those_that_are_not_translated(self):
        names = ["README", "README.zh-CN", "chapters/00-a/README", "chapters/00-a/README.zh-CN", "chapters/01-b/README"]
        self.assertEqual(search_index.found_in("en", names), ["README", "chapters/00-a/README", "chapters/01-b/README"])
        self.assertEqual(search_index.found_in("zh-CN", names), ["README.zh-CN", "chapters/00-a/README.zh-CN", "chapters/01-b/README"])


def setUpModule():
    """The site is built once for all tests."""
    global root, site, files, chapters
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    root = Path(folder.name).resolve()
    site = root / "site"
    build_site.build(site)
    files = sorted(file.relative_to(site).as_posix() for file in site.rglob("*.html"))
    chapters = metadata.load_all(TOP)


def text_of(name):
    return (site / name).read_text(encoding="utf-8")


@unittest.skipUnless(feed, "no Sphinx for this Python")
class Feed(unittest.TestCase):
    """What the list of changes becomes."""

    CHANGES = ("# Changelog\n\nText.\n\n- no change\n\n## Unreleased\n\n### Added\n\n- **New** `x`: it [adds](a.md).\n- Two\n  lines < 3.\n\n"
               "## 0.1 – 2026-11-22\n\n- Old. And older.\n")

    def test_each_point_is_an_entry_with_the_date_of_its_version_or_line(self):
        days = ["2026-11-25"] * 10 + ["2026-11-23"] + ["2026-11-26"] * 9
        found = feed.entries_of(self.CHANGES, days)
        self.assertEqual([(entry.title, entry.text, entry.date, entry.anchor) for entry in found], [
            ("Two lines < 3", "Two lines < 3.", "2026-11-26", "unreleased"), ("New x", "New x: it adds.", "2026-11-23", "unreleased"),
            ("Old", "Old. And older.", "2026-11-22", "01--2026-11-22")])
        self.assertEqual([entry.date for entry in feed.entries_of(self.CHANGES, [])], ["2026-11-22"] * 3)  # git knows nothing


class Workflow(unittest.TestCase):
    """The workflow that publishes the site, as far as it can be looked at without GitHub."""

    def test_it_builds_tests_and_publishes_what_is_here(self):
        import yaml  # MyST needs it, too

        workflow = yaml.safe_load((TOP / ".github/workflows/site.yml").read_text(encoding="utf-8"))
        build, publish = (workflow["jobs"][name] for name in ("build", "publish"))
        commands = " && ".join(step["run"] for step in build["steps"] if "run" in step)
        self.assertIn("common/tools/setup.sh --contributor", commands)
        self.assertIn("meson compile -C build site", commands)
        self.assertRegex((TOP / "meson.build").read_text(encoding="utf-8"), r"run_target\(\s*'site',\s*command: \[python, files\('common/dev'\), 'site'")
        self.assertIn("meson test -C build --no-rebuild tools-site", commands)
        uploaded = next(step["with"]["path"] for step in build["steps"] if "upload-pages-artifact" in step.get("uses", ""))
        self.assertEqual(uploaded, "build/site")
        self.assertEqual(publish["needs"], "build")
        self.assertEqual(publish["permissions"], {"pages": "write", "id-token": "write"})


class Failure(unittest.TestCase):
    def test_a_failed_build_leaves_what_was_there(self):
        with tempfile.TemporaryDirectory() as folder:
            there = Path(folder, "site")
            (there / "_static").mkdir(parents=True)
            with unittest.mock.patch("tools.site.build_site.python_with_sphinx", return_value="/bin/false"), self.assertRaises(Failed):
                build_site.build(there)
            self.assertEqual([file.name for file in Path(folder).rglob("*")], ["site", "_static"])


class Files(unittest.TestCase):
    """What is in the files of the site."""

    def test_no_link_and_no_anchor_is_dead(self):
        anchors = {name: set(map(html.unescape, re.findall(r'\bid="([^"]*)"', text_of(name)))) for name in files}
        followed, dead = 0, []
        for name in anchors:
            for link in re.findall(r'(?:\bhref|\bsrc)="([^"]*)"', text_of(name)):
                target, anchor = map(unquote, urldefrag(urljoin(f"http://site/{name}", html.unescape(link))))
                if not target.startswith("http://site/"):
                    continue
                followed += 1
                path = target.removeprefix("http://site/").partition("?")[0]
                if not (site / path).is_file() or (anchor and path in anchors and anchor not in anchors[path]):
                    dead.append(f"{name}: {link}")
        self.assertEqual(dead, [])
        self.assertGreater(followed, 100 * len(chapters))

    def test_every_link_of_a_readme_to_a_line_shows_that_line(self):
        for chapter in chapters:
            readme = (chapter.folder / "README.md").read_text(encoding="utf-8")
            for file, line in set(re.findall(r"\]\((\w+\.cuh?)#L(\d+)\)", readme)):
                page = text_of(f"chapters/{chapter.name}/{file}.html")
                shown = re.search(rf'<span class="line" id="L{line}"><a [^>]*>{line}</a>(.*)\n', page)[1]
                source = (chapter.folder / file).read_text(encoding="utf-8").split("\n")[int(line) - 1]
                self.assertEqual(html.unescape(re.sub(r"<[^>]*>", "", shown)), source, f"{chapter.name}/{file}:{line}")

    def test_next_leads_through_all_chapters(self):
        name, visited = "README.html", []
        while found := re.search(r'<link rel="next"[^>]*href="([^"]*)"', text_of(name)):
            name = urljoin(f"/{name}", found[1])[1:]
            visited.append(name)
        english = [f"chapters/{chapter.name}/README.html" for chapter in chapters]
        self.assertEqual(visited, english)
        self.assertEqual(text_of("index.html"), text_of("README.html"))

    def test_markdown_is_what_github_shows(self):
        for chapter in chapters:
            readme = re.sub(r"^```.*?^```$", "", (chapter.folder / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            page = text_of(f"chapters/{chapter.name}/README.html")
            article = page[page.index("<main") : page.index("</main>")]
            self.assertEqual(len(re.findall(r"<summary>Hint", article)), 3 * len(chapter.exercises))
            # Text inside <details> is Markdown, too.
            self.assertEqual(re.findall(r"<summary>Hint \d</summary>(?!\s*<p>).{,80}", article), [])
            self.assertEqual(article.count("<table"), len(re.findall(r"^\|[ :|-]+\|$", readme, re.MULTILINE)))
            self.assertEqual(re.findall(r"&lt;!--|&lt;details|^\|.*\|$", re.sub(r"<pre>.*?</pre>", "", article, flags=re.DOTALL), re.MULTILINE), [])
            for exercise in chapter.exercises:
                anchor = anchor_of(cards.title(chapter, exercise, languages.English(TOP)))
                self.assertIn(f'id="{anchor}"', article)

    def test_a_page_and_its_translation_lead_to_each_other(self):
        translated = [name for name in files if name.endswith(".zh-CN.html") and (TOP / name.replace(".html", ".md")).exists()]
        for name in translated:
            english = name.replace(".zh-CN", "")
            if english not in files:
                continue
            for here, there in ((name, english), (english, name)):
                page = text_of(here)
                self.assertIn(f'<a class="reference internal" href="{Path(there).name}">', page[page.index("<main") :], here)
            self.assertIn('<html lang="zh-CN"', text_of(name))
            self.assertIn('<html lang="en"', text_of(english))
        self.assertIn("README.zh-CN.html", translated)

    def test_the_navigation_leads_to_each_page_once_in_the_language_of_the_page(self):
        own = {name for name in files if '<nav id="pages"' in text_of(name) and (TOP / name.replace(".html", ".md")).exists()}
        self.assertGreater(len(own), len(chapters) + 15)
        for name in own:
            chinese = ".zh-CN" in name
            menu = re.search(r'<nav id="pages".*?</nav>', text_of(name), re.DOTALL)[0]
            there = [urljoin(f"/{name}", unquote(link))[1:].partition("#")[0] or name for link in re.findall(r'<li[^>]*><a href="([^"]*)"', menu)]
            expected = {other for other in own if ".zh-CN" not in other or chinese}
            expected -= {other.replace(".zh-CN", "") for other in own if chinese and ".zh-CN" in other}
            self.assertEqual(sorted(there), sorted(expected), name)
            self.assertEqual(menu.count('aria-current="page"'), 1)
            self.assertNotRegex(menu, ">[^<]*[:：]", name)
            self.assertEqual(re.findall("<h2>(.*?)</h2>", menu), ["学习", "教学", "开发"] if chinese else ["Learn", "Teach", "Develop"])

    def test_what_markdown_cannot_say(self):
        for name in (f"{chapter.name}/{file.name}" for chapter in chapters for file in chapter.folder.glob("README*.md")):
            readme, page = (TOP / "chapters" / name).read_text(encoding="utf-8"), text_of(f"chapters/{name.replace('.md', '.html')}")
            article = page[page.index("<main") : page.index("</main>")]
            prose = re.sub(r"<pre>.*?</pre>|<code.*?</code>|<svg.*?</svg>|<!--.*?-->|<[^>]*>", "", article, flags=re.DOTALL)
            self.assertEqual(re.findall(r"\S+\^\S*", prose), [], name)
            self.assertEqual(re.findall(r".*\d (?:µs|ms|h|min|%|MiB|小时|分钟)(?!\w)", prose), [], name)
            self.assertEqual(article.count('<blockquote class="cost">'), len(re.findall("^<!-- cost ", readme, re.MULTILINE)), name)
            self.assertEqual(article.count('<div class="opening">'), 1, name)
            self.assertEqual(article.count('<div class="card"'), len(re.findall("^<!-- exercise ", readme, re.MULTILINE)), name)
            captions = re.findall(r'<figure class="code"><figcaption>\s*<p><a class="[^"]*" href="([^"]*)"', article)
            self.assertGreaterEqual(len(captions), len(re.findall("^<!-- (?:kernel|exercise) ", readme, re.MULTILINE)), name)

    def test_anchors_are_words(self):
        for name in files:
            self.assertEqual(re.findall(r'href="#id\d+"', text_of(name)), [], name)

    def test_every_page_describes_itself(self):
        for name in files:
            page = text_of(name)
            if '<nav id="pages"' in page:
                said = re.search(r'<meta name="description" content="([^"]*)">', page)[1]
                self.assertTrue(10 <= len(html.unescape(said)) <= 202, f"{name}: {said}")
                self.assertIn(f'<meta property="og:description" content="{said}">', page)
                self.assertEqual(page.count(f'href="{repository.address(TOP)}"'), 2 + page[page.index("<main") :].count(f'href="{repository.address(TOP)}"'), name)
        self.assertIn("loses updates", re.search(r'name="description" content="([^"]*)"', text_of(LESSON))[1])

    def test_every_page_ends_with_the_licence_the_repository_and_where_to_report(self):
        address = repository.address(TOP)
        for name in (name for name in files if not name.startswith("slides/")):
            footer, = re.findall("<footer>(.*?)</footer>", text_of(name))
            words = pages.WORDS[re.search('<html lang="([^"]*)"', text_of(name))[1]]
            (licence, *links), said = zip(*re.findall('<a href="([^"]*)">([^<]*)</a>', footer))
            self.assertEqual(urljoin(f"/{name}", licence), "/LICENSE.html", name)
            self.assertEqual(links, [address, f"{address}/issues/new/choose"], name)
            self.assertEqual(said, (words["licence"], words["source"], words["report"]), name)
        self.assertTrue((TOP / "LICENSE").read_text(encoding="utf-8").startswith(pages.WORDS["en"]["licence"]))

    def test_what_a_shared_link_shows(self):
        site_address = repository.site(TOP)
        for name in files:
            page = text_of(name)
            if '<nav id="pages"' not in page:
                continue
            tags = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[^"]*)" content="([^"]*)">', page))
            self.assertEqual(tags["twitter:card"], "summary_large_image", name)
            self.assertTrue(tags["og:title"] and tags["og:description"] and tags["og:url"].startswith(site_address), name)
            self.assertEqual((tags["og:image:width"], tags["og:image:height"]), ("1200", "630"), name)
            self.assertEqual(tags["og:image"], f"{site_address}_static/cards/{name.replace('index', 'README').removesuffix('.html')}.png")

    def title_on_card(self, name):
        """The title that the card of a page has; None of a source that belongs to no chapter."""
        english = name.replace(".zh-CN", "")
        if english in ("index.html", "README.html"):
            return pages.title_of(TOP / "README.md").partition(": ")[2].capitalize()
        chapter = next((chapter for chapter in chapters if re.match(rf"(?:chapters|exercises|slides)/{chapter.name}[./]", english)), None)
        exercise = Path(name).name.partition(".")[0]
        if chapter and name == f"exercises/{chapter.name}/{exercise}.cuh.html":
            return f"Exercise: {exercise}"
        if chapter:
            return pages.title_of(chapter.folder / "README.md")
        page = text_of(english)
        return html.unescape(re.search('og:title" content="([^"]*)"', page)[1]) if '<nav id="pages"' in page else None

    def test_every_file_has_a_description_of_its_own_and_a_card_that_names_it(self):
        from PIL import Image  # matplotlib needs it, too

        descriptions = {}
        for name in files:
            said, card = (html.unescape(re.search(f'="{key}" content="([^"]*)">', text_of(name))[1]) for key in ("description", "og:image"))
            descriptions.setdefault(said, []).append(name)
            with Image.open(site / card.removeprefix(repository.site(TOP))) as picture:
                self.assertEqual(picture.size, (1200, 630), name)
                title = self.title_on_card(name)
                self.assertTrue(picture.text["Title"] and title in (None, picture.text["Title"]), f"{name}: {title}")
        self.assertEqual([names for names in descriptions.values() if len(names) > 1], [["README.html", "index.html"]])

    def test_a_text_that_cannot_be_on_a_card_is_an_error(self):
        for title, text, problem in (("a title " * 20, "", "no room on the card"), ("a title", "停滞", "Glyph 20572")):
            with self.assertRaisesRegex(Failed, problem):
                share_cards.draw(root / "card.png", share_cards.Card("c", title, "1x", text))
            self.assertFalse((root / "card.png").exists())

    def test_the_feed_lists_the_changes(self):
        atom = {"a": "http://www.w3.org/2005/Atom"}
        tree = ElementTree.fromstring(text_of("feed.xml"))
        self.assertEqual(tree.tag, "{http://www.w3.org/2005/Atom}feed")
        for part in ("title", "id", "updated", "author/a:name"):
            self.assertTrue(tree.find(f"a:{part}", atom).text, part)
        entries = tree.findall("a:entry", atom)
        changes = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
        self.assertEqual(len(entries), len(re.findall("^- ", changes[changes.index("\n## ") :], re.MULTILINE)))
        self.assertEqual(len({entry.find("a:id", atom).text for entry in entries}), len(entries))
        anchors = set(re.findall(r'\bid="([^"]*)"', text_of("CHANGELOG.html")))
        for entry in entries:
            self.assertRegex(entry.find("a:updated", atom).text, r"^\d{4}-\d\d-\d\dT00:00:00Z$")
            self.assertTrue(entry.find("a:title", atom).text and entry.find("a:content", atom).text)
            path, _, anchor = entry.find("a:link", atom).get("href").removeprefix(repository.site(TOP)).partition("#")
            self.assertEqual(path, "CHANGELOG.html")
            self.assertIn(anchor, anchors)
        for link in [*tree.findall("a:link", atom)]:
            self.assertTrue((site / link.get("href").removeprefix(repository.site(TOP))).is_file(), link.get("href"))
        released = next(entry for entry in entries if "Twelve chapters" in entry.find("a:title", atom).text)
        self.assertEqual(released.find("a:updated", atom).text, "2026-11-22T00:00:00Z")
        for name in files:
            if '<nav id="pages"' in text_of(name):
                self.assertEqual(len(re.findall('<link rel="alternate" type="application/atom', text_of(name))), 1, name)

    def test_pages_are_light(self):
        for chapter in chapters:
            page = re.sub(r"<svg.*?</svg>", "", text_of(f"chapters/{chapter.name}/README.html"), flags=re.DOTALL)
            self.assertLessEqual(len(gzip.compress(page.encode())), MOST_OF_A_CHAPTER, chapter.name)
        self.assertLessEqual(sum(file.stat().st_size for file in site.rglob("*") if file.is_file()), MOST_OF_THE_SITE)

    def test_every_plot_has_values(self):
        for chapter in chapters:
            for plot in re.findall(r'<svg class="plot".*?</svg>', text_of(f"chapters/{chapter.name}/README.html"), re.DOTALL):
                self.assertIn('class="value"', plot, chapter.name)
        plot = re.search(r'<svg class="plot".*?</svg>', text_of("common/docs/results.html"), re.DOTALL)[0]
        self.assertIn(">the sum of 2²⁴ floats<", re.sub(r"\s*<", "<", plot))
        self.assertRegex(plot, r'class="value"[^>]*aria-label="00 [^"]* 1/1\.\d+ against [^"]*"')


class Pages(unittest.TestCase):
    """The pages in a browser."""

    @classmethod
    def setUpClass(cls):
        if browser.webdriver is None:
            raise unittest.SkipTest("no python3-selenium")
        try:
            cls.window = browser.Window(logs=["browser"])
        except browser.WebDriverException as error:
            raise unittest.SkipTest(f"no browser: {error.msg}") from error
        cls.addClassCleanup(cls.window.close)
        cls.address = browser.address_of(cls, build_site.serve(site, 0))

    def setUp(self):
        self.window.size(1400, 900)
        self.window.scheme("light")
        self.window.console()

    def open(self, name):
        self.window.open(self.address + name)

    def forget(self):
        """Takes back the reader's choice of a theme."""
        self.window.run("localStorage.clear()")

    # ---- each page ----

    def look_at(self, name, schemes, widths):
        """What is wrong with a page, in each theme and width."""
        self.open(name)
        found = [f"console: {message}" for message in self.window.console()]
        for scheme in schemes:
            self.window.scheme(scheme)
            found += [f"{scheme}: contrast {text}" for text in self.window.run(CONTRAST, LEAST_CONTRAST)]
        for width in widths:
            self.window.size(width, 900)
            found += [f"{width} px: {text}" for text in self.window.run(CUT_OFF)]
            if width == WIDTHS[0] and name.startswith("chapters/"):
                found += [f"{width} px: {text}" for text in self.window.run(SCROLLED)]
        return [f"{name}: {text}" for text in found]

    def test_every_page_is_whole_in_both_themes_and_widths(self):
        # All pages of text; of sources, which have one template, one of each kind.
        names = [name for name in files if not name.startswith("slides/") and (TOP / name.replace(".html", ".md")).exists()]
        self.assertGreater(len(names), len(chapters) + 5)
        sources = {Path(name.removesuffix(".html")).suffix: name for name in files if (TOP / name.removesuffix(".html")).exists()}
        self.assertTrue({".cuh", ".cu", ".py", ""} <= set(sources))
        found, order = [], 1
        for name in [*names, *sources.values(), "search.html?q=warp"]:
            found += self.look_at(name, SCHEMES[::order], WIDTHS[::order])
            order = -order  # the next page begins as this one ended: to draw a page anew takes most of the time
        self.assertEqual(found, [])

    def test_the_first_content_is_painted_within_half_a_second(self):
        heaviest = max((name for name in files if name.endswith("README.html")), key=lambda name: (site / name).stat().st_size)
        for name in ("index.html", heaviest, f"slides/{FIRST}.html", f"chapters/{FIRST}/global_atomic.cuh.html"):
            painted = []
            while len(painted) < LOADS and min(painted, default=MOST_UNTIL_PAINTED + 1) > MOST_UNTIL_PAINTED:
                self.window.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
                self.open(name)
                painted.append(self.window.wait("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"))
            self.assertLessEqual(min(painted), MOST_UNTIL_PAINTED, name)

    def test_the_system_chooses_the_theme_until_the_reader_does(self):
        self.addCleanup(self.forget)
        self.open(LESSON)
        colour = "return getComputedStyle(document.body).backgroundColor"
        white, black = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
        self.assertEqual(self.window.run(colour), white)
        self.window.scheme("dark")
        self.assertEqual(self.window.run(colour), black)
        self.window.wait("return document.querySelector('button.theme').textContent === 'Light'")
        self.window.click("button.theme")
        self.assertEqual(self.window.run(colour), white)
        self.open("common/docs/learning.html")
        self.assertEqual(self.window.run(colour), white)
        self.assertEqual(self.window.text("button.theme"), "Dark")

    def test_the_front_page_is_one_screen(self):
        for name in ("index.html", "README.zh-CN.html"):
            self.open(name)
            self.window.wait("return [...document.images].every((image) => image.complete)")
            for part in ("p", ".drawing", ".highlight-sh", "strong a", "table"):
                box = self.window.run("const b = document.querySelector(`.first-screen ${arguments[0]}`).getBoundingClientRect(); return [b.top, b.bottom, b.right]", part)
                self.assertTrue(50 <= box[0] < box[1] <= 900 and box[2] <= 1400, f"{name}: {part} is at {box}")
            self.assertIn("git clone https://github.com/", self.window.text(".first-screen pre"))
            self.assertEqual(self.window.run("return document.querySelector('.first-screen pre').className"), "")  # not scrolled
            self.assertIn("chapters/00-start-here/README", self.window.run("return document.querySelector('.first-screen strong a').href"))

    def test_the_drawings_of_the_front_page_can_be_read_and_are_not_scrolled(self):
        for name in ("index.html", "README.zh-CN.html"):
            for width, least in ((1400, 11), (768, 11), (390, 10)):
                self.window.size(width, 900)
                self.open(name)
                for drawing in (".first-screen .drawing > svg", "svg[data-kind='way']"):
                    letters = self.window.run(LETTERS, drawing)
                    self.assertGreaterEqual(min(letters), least, (name, width, drawing))
                    scrolled, wide, scale = self.window.run("""
                        const svg = document.querySelector(arguments[0]), box = svg.closest(".drawing"), most = getComputedStyle(box).getPropertyValue("--most");
                        return [box.scrollWidth - box.clientWidth, box.clientWidth, svg.getBoundingClientRect().width - parseFloat(most)]""", drawing)
                    self.assertEqual(scrolled, 0, (name, width, drawing))
                    self.assertLessEqual(scale, 0.5, (name, wide, drawing))  # never larger than it was drawn

    def test_the_finding_of_the_first_drawing_is_of_its_threads(self):
        self.open("index.html")
        texts = self.window.run("return [...document.querySelectorAll('.first-screen .drawing > svg text')].map((e) => e.textContent)")
        threads = {text.replace(",", "") for text in texts if re.fullmatch(r"block \d+, thread \d+", text)}
        named = [found[1] for text in texts if (found := re.search(r" by (block \d+ thread \d+)$", text))]
        self.assertEqual((len(named), set(named)), (2, threads))

    def test_what_a_translated_front_page_follows_stands_above_its_start(self):
        self.open("README.zh-CN.html")
        note, start, picture = self.window.run("""
            return ["main blockquote", ".first-screen > p", ".first-screen .drawing"].map((part) => document.querySelector(part).getBoundingClientRect().toJSON())""")
        self.assertLessEqual(note["bottom"], start["top"])
        self.assertLessEqual(note["right"], picture["left"])

    def test_on_a_small_screen_the_front_page_begins_with_the_start(self):
        for name in ("index.html", "README.zh-CN.html"):
            for width, height in ((390, 844), (768, 900)):
                self.window.size(width, height)
                self.open(name)
                tops = self.window.run("""
                    return ["main h1", "p", "strong a", ".drawing svg", ".highlight-sh"].map((part) =>
                      document.querySelector(part === "main h1" ? part : `.first-screen > :is(${part}, :has(${part}))`).getBoundingClientRect().top)""")
                self.assertEqual(tops, sorted(tops), (name, width))
                self.assertLess(self.window.run("return document.querySelector('.first-screen strong a').getBoundingClientRect().bottom"), height, (name, width))

    def test_commands_are_whole(self):
        for width in WIDTHS:
            self.window.size(width, 900)
            for name in ("index.html", LESSON, "common/docs/grading.html", "common/docs/any-cuda-file.html"):
                self.open(name)
                self.assertEqual(self.window.run("""
                    return [...document.querySelectorAll(".highlight-sh pre")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"""), [], (name, width))
                self.assertEqual(self.window.run("""
                    return [...document.querySelectorAll("p .option, pre .option")].filter((e) => e.getClientRects().length > 1).map((e) => e.textContent)"""), [], (name, width))

    # ---- keyboard ----

    def test_the_keyboard_reaches_everything_and_shows_where_it_is(self):
        for name, width, scheme in (
            (LESSON, 1400, "light"), ("index.html", 1400, "dark"), (f"{LESSON}#lost_update-step=2", 1400, "dark"), ("search.html?q=shuffle", 1400, "light"),
            ("common/docs/pictures.html", 390, "light"),
        ):
            self.window.size(width, 900)
            self.window.scheme(scheme)
            self.open("common/docs/judge.html")  # what differs by # alone is not loaded anew
            self.open(name)
            if "?q=" in name:
                self.window.wait("return document.querySelector('#hits a')")
            count = self.window.run(NOTE_FOCUS, LEAST_CONTRAST_OF_FOCUS)
            self.assertGreater(count, 4)
            self.window.press(*["tab"] * (count + 5))
            self.assertEqual(self.window.run(FOCUS_PROBLEMS), [], f"{name} at {width}, {scheme}")

    def test_the_menu_of_a_narrow_page_opens_by_a_key(self):
        self.window.size(390, 900)
        self.open("index.html")
        link = "return document.querySelector('#pages a').checkVisibility()"
        self.assertFalse(self.window.run(link))
        self.window.press("tab", "tab", "enter")
        self.assertTrue(self.window.run(link))
        self.assertEqual(self.window.run("return document.getElementById('menu').getAttribute('aria-expanded')"), "true")
        self.window.press("escape")
        self.assertFalse(self.window.run(link))

    def test_a_click_beside_the_menu_closes_it(self):
        self.window.size(390, 900)
        self.open(LESSON)
        is_open = "return document.querySelector('#pages a').checkVisibility()"
        self.window.click("#menu")
        self.assertTrue(self.window.run(is_open))
        self.window.click("#pages h2")
        self.assertTrue(self.window.run(is_open))
        self.window.run("document.elementFromPoint(380, 600).click()")
        self.assertFalse(self.window.run(is_open))

    def test_the_list_of_pages_shows_the_current_one(self):
        for name, width in ((f"chapters/{chapters[-1].name}/README.html", 1400), ("CHANGELOG.html", 1400), ("CHANGELOG.html", 390)):
            self.window.size(width, 700)
            self.open(name)
            if width < 1000:
                self.window.click("#menu")
            self.assertTrue(self.window.run(
                "const a = document.querySelector('#pages [aria-current]').getBoundingClientRect(); return a.top > 50 && a.bottom < innerHeight"), name)

    def test_the_search_box_of_a_phone_has_room(self):
        self.window.size(390, 844)
        for name in (LESSON, LESSON.replace(".html", ".zh-CN.html"), f"chapters/{FIRST}/global_atomic.cuh.html"):
            self.open(name)
            self.assertGreaterEqual(self.window.run("return document.querySelector('header input').clientWidth"), 180, name)
            self.assertTrue(self.window.run("return document.querySelector('a.site').ariaLabel"), name)  # its text has no room

    def test_the_header_leads_to_the_same_page_in_the_other_language(self):
        for width in WIDTHS:
            self.window.size(width, 900)
            for name, other in ((LESSON, "zh-CN"), (LESSON.replace(".html", ".zh-CN.html"), "en"), ("search.html", "zh-CN"), ("common/docs/judge.html", None)):
                self.open(name)
                shown = self.window.run("return [...document.querySelectorAll('header .language')].filter((e) => e.checkVisibility()).map((e) => [e.textContent, e.getAttribute('href')])")
                expected = [[pages.WORDS[other]["name"], {"zh-CN": name.replace(".html", ".zh-CN.html"), "en": name.replace(".zh-CN", "")}[other].rpartition("/")[2]]] if other else []
                self.assertEqual(shown, expected, (name, width))

    # ---- text ----

    def test_lines_of_text_have_about_75_characters(self):
        self.open(LESSON)
        lengths = self.window.run("""
            return [...document.querySelectorAll("main p")].map((p) => {
              const lines = p.getClientRects().length && Math.round(p.clientHeight / parseFloat(getComputedStyle(p).lineHeight));
              return lines > 3 && !p.closest(".cost, table") ? p.textContent.length / lines : 0;
            }).filter(Boolean)""")
        self.assertGreater(len(lengths), 10)
        least, most = CHARACTERS_OF_A_LINE
        self.assertTrue(least < sum(lengths) / len(lengths) < most, lengths)

    def test_on_a_phone_no_column_of_a_table_is_out_of_view(self):
        self.window.size(390, 844)
        for name, label in (("common/docs/glossary.html", "meaning"), ("common/docs/results.html", "H200: ratio"),
                            ("common/docs/instructors.html", "to discuss"), ("index.html", "exercises"), ("README.zh-CN.html", "练习"), (LESSON, "× vendor")):
            self.open(name)
            self.assertIn(label, self.window.run("return [...document.querySelectorAll('.by-row td')].map((td) => getComputedStyle(td, '::before').content.slice(1, -1))"), name)
            self.assertEqual(self.window.run("return [...document.querySelectorAll('td')].filter((td) => td.getBoundingClientRect().right > 390).map((td) => td.textContent)"), [], name)
        self.open("common/docs/any-cuda-file.html")
        self.assertTrue(self.window.run("return document.querySelector('.by-row') && document.querySelector('.wide:not(.by-row) thead')"))  # what fits is a table
        self.window.size(768, 900)
        self.window.wait("return !document.querySelector('.by-row')")

    def test_the_longest_text_of_a_table_has_the_room_that_is_left(self):
        self.window.size(768, 900)
        for name, column in (("common/docs/glossary.html", 2), ("common/docs/instructors.html", 3)):
            self.open(name)
            table, widths = self.window.run("""
                const tables = [...document.querySelectorAll(".wide table")], table = tables[tables.length - 1];
                return [[table.offsetWidth, table.parentElement.clientWidth], [...table.querySelectorAll("th")].map((th) => th.offsetWidth)];""")
            self.assertEqual(*table, name)
            self.assertEqual(widths[column], max(widths), name)
            self.assertGreater(widths[column], table[0] / 3, name)
        for name in ("index.html", "README.zh-CN.html"):
            self.open(name)
            self.assertEqual(self.window.run("return [...document.querySelectorAll('td')].filter((td) => td.getBoundingClientRect().right > 768).map((td) => td.textContent)"), [], name)

    def test_on_a_wide_page_the_tables_fit(self):
        for name in (name for name in files if name.startswith(("common/docs/", "chapters/")) and "<table" in text_of(name)):
            self.open(name)
            self.window.run("for (const e of document.querySelectorAll('main details')) e.open = true")
            self.assertEqual(self.window.run("return [...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.slice(0, 40))"), [], name)

    def test_what_is_wide_shows_that_it_goes_on(self):
        self.window.size(390, 900)
        self.open(f"{LESSON}#lost_update-step=2")
        self.assertTrue(self.window.run("const code = document.querySelector('#lost_update .code'); return code.scrollWidth > code.clientWidth"))
        wide = "[...document.querySelectorAll('.wide, .highlight pre, .steps .code')].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)"
        self.assertGreater(self.window.run(f"return {wide}.length"), 3)
        self.window.wait(f"return {wide}.every((e) => e.classList.contains('more-right') && e.tabIndex === 0)")
        self.window.run(f"{wide}[0].scrollLeft = 9999")
        self.window.wait(f"return {wide}[0].className.includes('more-left') && !{wide}[0].className.includes('more-right')")

    def test_on_a_phone_copy_takes_nothing_from_the_code(self):
        self.window.size(390, 844)
        for name in (LESSON, "index.html", "README.zh-CN.html", "common/docs/grading.html"):
            self.open(name)
            self.assertTrue(self.window.run("return document.querySelector('.highlight > .copy')"), name)
            self.assertEqual(self.window.run(IN_THE_WAY), [], name)

    # ---- predictions ----

    def test_what_was_measured_is_veiled_until_the_answer_is_opened(self):
        first = "details:has(+ .cost) + .cost"
        numbers = f"return [...document.querySelectorAll('{first} strong, {first} + .cost strong, {first} + .cost + .cost strong')].map((e) => e.checkVisibility())"
        for name in (LESSON, LESSON.replace(".html", ".zh-CN.html")):
            for way in ("answer", "button"):
                self.open(name)
                self.window.run("document.querySelector('details:has(+ .cost) ' + (arguments[0] === 'answer' ? 'summary' : '+ .cost button')).focus()", way)
                self.assertEqual(self.window.run(numbers), [False] * 3, name)
                self.window.press("enter")
                self.window.wait("return !document.querySelector('.veiled')")
                self.assertEqual(self.window.run(numbers), [True] * 3, name)
                self.assertFalse(self.window.run("return document.querySelector('.cost button')"))
                self.assertTrue(self.window.run("return document.activeElement.matches('summary, .cost')"))
                self.assertEqual(self.window.run("return document.querySelector('details:has(+ .cost)').open"), way == "answer")
        for chapter in chapters:  # every answer that a measurement follows, and nothing else
            readme = (chapter.folder / "README.md").read_text(encoding="utf-8")
            asked = re.findall(r"^<details><summary>Answer</summary>\n(?:(?!^</details>).*\n)*</details>\n\n<!-- cost ", readme, re.MULTILINE)
            self.open(f"chapters/{chapter.name}/README.html")
            self.assertEqual(self.window.run("return document.querySelectorAll('.cost > button').length"), len(asked), chapter.name)

    def test_a_printed_page_has_the_answers_and_what_was_measured(self):
        self.open(LESSON)
        self.addCleanup(self.window.media, "")
        self.window.media("print")
        self.assertEqual(self.window.run("""
            return [...document.querySelectorAll("main details > p, .cost strong")].filter((e) => !e.checkVisibility({ contentVisibilityAuto: true })).length"""), 0)
        self.assertFalse(self.window.run("return document.querySelector('.cost > button').checkVisibility()"))

    def test_the_number_of_a_cost_has_the_colour_of_the_text(self):
        self.open(LESSON)
        self.assertEqual(self.window.run("return [...document.querySelectorAll('.cost strong')].filter((e) => getComputedStyle(e).color !== getComputedStyle(e.parentElement).color).length"), 0)
        self.assertGreater(self.window.run("return document.querySelectorAll('.cost strong').length"), 3)

    # ---- exercises ----

    def test_a_reader_marks_an_exercise_as_done(self):
        self.addCleanup(self.forget)
        self.open(LESSON)
        self.window.run("document.querySelector('.card').scrollIntoView()")
        self.window.click(".card .done")
        self.window.console()
        shown = "return [document.querySelectorAll('.card.is-done').length, document.querySelectorAll('#toc .is-done').length, document.querySelector('#pages [aria-current] small').textContent]"
        count = len(next(chapter for chapter in chapters if chapter.name == FIRST).exercises)
        for name in (LESSON, LESSON.replace(".html", ".zh-CN.html")):
            self.open(name)
            self.assertEqual(self.window.run(shown), [1, 1, f"1/{count}"], name)
        self.open(LESSON)
        self.window.run("document.querySelector('.card input').click()")
        self.assertEqual(self.window.run("return [document.querySelectorAll('.is-done').length, document.querySelectorAll('#pages small').length]"), [0, 0])

    def test_code_is_copied(self):
        self.open(LESSON)
        copied = []
        self.window.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        for selector in (".card .highlight-sh:nth-last-of-type(1) .copy", "figure.code .copy", "main > section > section .highlight-sh .copy"):
            self.window.run("document.querySelector(arguments[0]).click()", selector)
            copied.append(self.window.wait("return window.copied"))
            self.window.run("window.copied = null")
        self.assertEqual(copied[0], "./course hint word_count")
        self.assertTrue(copied[1].startswith("__global__ void sum_racy("), copied[1])
        self.assertEqual(copied[2], f"meson compile -C build {FIRST}-ladder\nbuild/chapters/{FIRST}/ladder --only sum_racy --n 1e5")
        self.assertEqual(self.window.run("return document.querySelectorAll('.highlight-text .copy').length"), 0)
        self.open(f"chapters/{FIRST}/global_atomic.cuh.html")
        self.window.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.window.click(".copy")
        self.assertEqual(self.window.wait("return window.copied"), (TOP / f"chapters/{FIRST}/global_atomic.cuh").read_text(encoding="utf-8").rstrip("\n"))
        self.open("common/docs/any-cuda-file.html")
        self.assertEqual(self.window.run("return [...document.querySelectorAll('.highlight-diff')].map((e) => e.querySelectorAll('.copy').length)"), [0])

    # ---- search, plots, steps ----

    def hits_of(self, question):
        self.window.run(ASK, question)
        return self.window.run(HITS)

    def test_the_first_hit_of_a_question_is_the_section_of_the_lesson(self):
        for page, questions in QUESTIONS.items():
            self.open(page)
            for question, sections in questions.items():
                with self.subTest(page=page, question=question):
                    hit = next(iter(self.hits_of(question)), "nothing")
                    self.assertIn(re.sub(r"^chapters/|/README(\.zh-CN)?\.html", "", hit), sections)
            self.assertEqual(self.window.console(), [])
        self.assertGreaterEqual(min(map(len, QUESTIONS.values())), 20)

    def test_search_while_the_reader_types(self):
        self.open(f"exercises/{FIRST}/word_count.cuh.html")
        self.window.press("/")
        self.window.type("shuf")
        self.window.press("enter")
        self.window.wait("return document.querySelector('#hits a')")
        self.assertEqual(self.window.run("return [location.search, document.activeElement.name]"), ["?q=shuf", "q"])
        self.assertIn("shuffle", self.window.text("#hits mark + a, #hits a").lower())
        first = self.window.text("#count")
        self.window.type("fle qqq")  # no section has both words: those that have one
        self.window.wait("return location.search === '?q=shuffle%20qqq' && document.querySelector('#hits mark')")
        self.assertRegex(self.window.text("#count"), "^0 sections have all of these words, [1-9][0-9]* have some of them[.]$")
        self.window.run(ASK, "qqq")
        self.assertEqual(self.window.run("return document.querySelectorAll('#hits li').length"), 0)
        self.assertNotEqual(self.window.text("#count"), first)
        self.assertEqual(self.window.console(), [])

    def test_the_keyboard_leads_to_the_hits(self):
        self.open("search.html?q=barrier")
        focused = "return [...document.querySelectorAll('#hits a')].indexOf(document.activeElement)"
        for key, place in (("arrow down", 0), ("arrow down", 1), ("arrow up", 0), ("arrow up", -1), ("enter", 0)):
            self.window.press(key)
            self.assertEqual(self.window.run(focused), place, key)
        self.window.press("enter")
        self.window.wait("return location.pathname.endsWith('03-shared-reduce/README.html')")
        for page in ("search.html?q=qqqq", "search.html"):  # no hits: the box keeps the focus
            self.open(page)
            self.window.press("arrow down", "enter")
            self.assertEqual(self.window.run("return document.activeElement.name"), "q")

    def test_the_search_says_what_it_searched_for_and_helps_where_it_finds_nothing(self):
        for page, glossary in (("search.html", "Glossary"), ("search.zh-CN.html", "术语表")):
            self.open(page)
            self.assertEqual(self.window.run("return document.getElementById('none').checkVisibility()"), False)
            self.assertIn("common/docs/glossary.html", self.hits_of("glossary")[0])
            self.assertEqual(self.window.run("return document.getElementById('none').checkVisibility()"), False)
            self.hits_of("histgram")
            self.assertIn("“histogram”", self.window.text("#count"))
            for question in ("zzzzqqqq", "？！", "the"):
                self.assertEqual(self.hits_of(question), [])
                self.assertEqual(self.window.run("return document.getElementById('none').checkVisibility()"), True)
            links = self.window.run("return [...document.querySelectorAll('#none a')].map((a) => [a.textContent, a.getAttribute('href')])")
            self.assertEqual(links[0], [glossary, "common/docs/glossary.html"])
            self.assertTrue((site / links[1][1]).exists())

    def test_an_excerpt_shows_what_was_asked(self):
        for page, question in (("search.html", "memory order"), ("search.html", "atomics"), ("search.zh-CN.html", "停滞")):
            self.open(page)
            self.hits_of(question)
            shown = self.window.run("return [...document.querySelectorAll('#hits p')].map((p) => [p.querySelectorAll('mark').length, p.textContent.length])")
            self.assertTrue(shown[0][0] > 0 and all(length <= 400 for _, length in shown), (question, shown))

    def test_chinese_hits_are_chinese_where_there_is_a_translation(self):
        translated = {name.replace(".zh-CN", "") for name in files if ".zh-CN." in name}
        self.assertIn(LESSON, translated)
        self.open("search.zh-CN.html")
        found = {urldefrag(hit)[0] for question in (*QUESTIONS["search.zh-CN.html"], "GPU", "atomic", "kernel") for hit in self.hits_of(question)}
        self.assertTrue(found & {name.replace(".html", ".zh-CN.html") for name in translated})
        self.assertEqual(found & translated, set())

    def test_the_search_needs_no_network_and_little_room(self):
        self.open("search.html?q=warp")
        addresses = self.window.run("return performance.getEntriesByType('resource').map((e) => e.name)")
        self.assertGreater(len(addresses), 4)
        self.assertEqual([address for address in addresses if not address.startswith(self.address)], [])
        for language in pages.languages_of(["README", "README.zh-CN"]):
            size = sum(len(gzip.compress((site / "_static" / name).read_bytes())) for name in ("search.js", "lunr.min.js", f"search-{language}.js"))
            self.assertLessEqual(size, MOST_OF_A_SEARCH, language)

    def test_a_plot_says_the_values_of_its_marks(self):
        row = next(row for row in json.loads((TOP / f"chapters/{FIRST}/results/h200.json").read_text(encoding="utf-8"))["rungs"] if row["name"] == "sum_global_atomic")
        for name, count, width in ((LESSON, 5, 1400), ("index.html", 7, 1400), ("index.html", 7, 390)):  # the way's rungs
            self.window.size(width, 900)
            self.open(name)
            values = self.window.run("return [...document.querySelectorAll('.plot .value')].map((e) => e.getAttribute('aria-label'))")
            self.assertEqual(len(values), count, name)
            self.assertRegex(values[0], rf"^sum_global_atomic: {row['microseconds']['median']:,.1f} µs, 1/\d+ against cub::DeviceReduce::Sum$")
            mark = self.window.driver.find_element("css selector", ".plot .value")
            browser.ActionChains(self.window.driver).scroll_to_element(mark).move_to_element(mark).perform()
            self.assertEqual(self.window.text("#tip"), values[0], name)
            self.window.run("document.querySelectorAll('.plot .value')[1].focus()")
            self.assertEqual(self.window.text("#tip"), values[1], name)
            self.assertTrue(self.window.run("const t = document.getElementById('tip').getBoundingClientRect(); return t.left >= 0 && t.right <= innerWidth"), name)
            self.window.press("tab")
            self.assertEqual(self.window.text("#tip"), values[2], name)
            self.window.press("escape")
            self.assertTrue(self.window.run("return document.getElementById('tip').hidden"), name)

    def test_the_way_follows_the_theme_that_the_reader_chose(self):
        self.addCleanup(self.forget)
        self.open("index.html")
        colour = "return getComputedStyle(document.querySelector(`svg[data-kind='way'] ${arguments[0]}`)).fill"
        for part, (light, dark) in {".page": ("rgb(255, 255, 255)", "rgb(13, 17, 23)"), ".rung": ("rgb(9, 105, 218)", "rgb(68, 147, 248)")}.items():
            self.assertEqual(self.window.run(colour, part), light)
            self.window.click("button.theme")
            self.assertEqual(self.window.run(colour, part), dark)
            self.window.click("button.theme")

    def test_a_plot_of_rows_is_text_on_a_phone(self):
        rows = "return [...document.querySelectorAll('.plot-rows .track')].map((e) => e.parentElement).filter((e) => e.checkVisibility()).map((e) => e.innerText)"
        plots = "return [...document.querySelectorAll('svg.plot')].filter((e) => e.checkVisibility()).length"
        for name, shown in (("common/docs/results.html", ["01 sum_global_atomic", "the sum of 224 floats", "1/1071"]),
                            (LESSON, ["sum_global_atomic", "29,466.1\u00a0µs", "1/1071", "one atomicAdd per element"])):
            self.open(name)
            self.assertEqual(self.window.run(rows), [], name)
            self.window.size(390, 844)
            self.assertEqual(self.window.run(plots), 0, name)
            found = self.window.run(rows)
            self.assertTrue(any(all(text in " ".join(row.split(" ")) for text in shown) for row in found), (name, found))
            self.assertEqual(self.window.run("""
                return [...document.querySelectorAll(".track > *")].filter((mark) => {
                  const at = mark.getBoundingClientRect(), track = mark.parentElement.getBoundingClientRect();
                  return at.left < track.left - 6 || at.right > track.right + 6;
                }).map((mark) => mark.outerHTML)"""), [], name)
            self.window.size(1400, 900)
        self.window.size(390, 844)
        self.open("chapters/02-atomic-functions/README.html")
        self.assertGreater(self.window.run(plots), 0)  # a curve has no rows

    def test_all_of_the_marked_line_is_in_view(self):
        self.open("chapters/02-atomic-functions/README.html#message-step=3")
        self.assertTrue(self.window.run("return document.querySelector('#message .code').className.includes('more-right')"))
        self.assertLess(*self.window.run("""
            const text = document.createRange(), code = document.querySelector("#message .code");
            text.selectNodeContents(code.querySelector("[aria-current]"));
            return [text.getBoundingClientRect().right, code.getBoundingClientRect().right - 40]"""))

    def test_chinese_pages_are_chinese_around_the_text_too(self):
        for name, course in ((LESSON.replace(".html", ".zh-CN.html"), "CUDA 原子操作"), (LESSON, "CUDA atomics"), ("search.zh-CN.html", "CUDA 原子操作")):
            self.open(name)
            self.assertEqual(self.window.text("header .site").strip(), course, name)
        self.open("README.zh-CN.html")
        self.assertEqual(self.window.run("""
            const text = document.createRange(), heading = document.querySelector("h1").firstChild, colon = heading.data.indexOf("：") + 1;
            const tops = (from, to) => { text.setStart(heading, from); text.setEnd(heading, to); return new Set([...text.getClientRects()].map((r) => r.top)).size; };
            return [colon > 0, tops(colon, heading.length)]"""), [True, 1])

    def test_a_picture_is_stepped_through_in_the_lesson(self):
        self.open(LESSON)
        self.assertEqual(self.window.run("return [...document.querySelectorAll('figure.steps')].map((f) => f.id)"), ["lost_update", "one_store", "one_address"])
        self.assertEqual(self.window.run("return [...document.querySelectorAll('figure.narrow')].map((f) => f.id)"), ["lost_update"])  # its code has room beside it
        self.assertFalse(self.window.run("return document.querySelector('#lost_update .bar').checkVisibility()"))
        self.window.run("document.querySelector('#lost_update > button').focus()")
        self.window.press("enter")
        self.assertEqual(self.window.run("return document.activeElement.closest('figure').id"), "lost_update")
        self.assertEqual(self.window.text("#lost_update .where"), "step 1 of 4")
        self.window.press("end")
        self.assertEqual(self.window.text("#lost_update .said strong"), "block 0, thread 1: store of 7 to d_y[0]")
        self.assertIn("d_y[0] += d_x[i];", self.window.text("#lost_update .code [aria-current]"))
        self.window.wait("return location.hash === '#lost_update-step=4'")
        self.window.press("escape")
        self.assertEqual(self.window.run("return document.activeElement.textContent"), "Step through it")
        self.assertFalse(self.window.run("return document.querySelector('#lost_update .bar').checkVisibility()"))
        self.window.wait("return location.hash === ''")
        self.assertEqual(self.window.console(), [])

    def test_the_steps_of_a_chinese_page_are_in_chinese(self):
        self.open(f"{LESSON.replace('.html', '.zh-CN.html')}#lost_update-step=2")
        self.assertEqual(self.window.text("#lost_update .where"), "第 2 步，共 4 步")
        self.assertRegex(self.window.text("#lost_update .said"), r"global_atomic\.cuh 第 \d+ 行$")
        said = self.window.run("""
            return [...document.querySelectorAll("#lost_update > button, #lost_update .bar, #lost_update .bar *, #lost_update .whole, #lost_update .code")].flatMap((e) =>
              [e.getAttribute("aria-label"), e.getAttribute("aria-valuetext"), e.tagName === "BUTTON" && e.textContent].filter(Boolean));""")
        self.assertGreater(len(said), 10)
        self.assertEqual([text for text in said if re.search("[A-Za-z]", text)], [])

    def test_an_address_opens_a_picture_at_its_step(self):
        for page, chapter, name in ((LESSON, "01-global-atomic", "one_address"), ("index.html", "01-global-atomic", "lost_update"),
                                    ("chapters/02-atomic-functions/README.html", "02-atomic-functions", "message")):
            steps = (TOP / "chapters" / chapter / "pictures" / f"{name}.svg").read_text(encoding="utf-8").count('class="step"')
            self.assertGreater(steps, 1)
            for width in (390, 1400):
                self.window.size(width, 900)
                self.open("search.html")
                self.open(f"{page}#{name}-step=2")
                self.assertEqual(self.window.text(f"#{name} .where"), f"step 2 of {steps}")
                self.assertEqual(self.window.run("return document.activeElement.closest('figure').id"), name)
                self.assertTrue(self.window.run(
                    "const box = document.querySelector('figure.open').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight + 1"), (name, width))
                self.assertEqual(self.window.run(CUT_OFF), [])
            for scheme in SCHEMES:
                self.window.scheme(scheme)
                self.assertEqual(self.window.run(CONTRAST, LEAST_CONTRAST), [])

    def test_a_picture_follows_the_theme_that_the_reader_chose(self):
        self.addCleanup(self.forget)
        self.open(LESSON)
        colour = "return getComputedStyle(document.querySelector('.steps .page')).fill"
        self.assertEqual(self.window.run(colour), "rgb(255, 255, 255)")
        self.window.click("button.theme")
        self.assertEqual(self.window.run(colour), "rgb(13, 17, 23)")


if __name__ == "__main__":
    system_python.again_if_missing(browser.webdriver and pages)
    try:
        build_site.python_with_sphinx()
    except Failed as missing:
        print(missing)
        sys.exit(browser.SKIPPED)
    unittest.main()
