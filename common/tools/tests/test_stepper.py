"""The page that steps through a trace, in a headless Chromium."""

import re
import tempfile
import unittest
from pathlib import Path

from tools.tests import browser
from tools.tests import sample_traces as sample
from tools.trace import choosing, picture_svg, stepper, svg_style

READS = ("common/tools/tests/sample_source.txt", "common/tools/trace")


def two_warps():
    """Two warps of one block that meet in a barrier, and a second block."""
    events = []
    for block, warp in ((0, 0), (0, 1), (1, 0)):
        for one in (sample.access("load", 17, [[0, k] for k in range(32)], values=["1"] * 32, sectors=4),
                    sample.event("barrier", "__syncthreads", 21)):
            events.append({**one, "block": block, "warp": warp})
    return sample.launch("two_warps", events, [sample.array("d_x")], block=64)


def long_finding():
    """A launch with a finding of more lines than a picture shows."""
    report = "DATA RACE in kernel sum_racy on d_y[0]\n" + "\n".join(f"  line {k} of the report" for k in range(2, 13))
    return {**sample.racy(), "findings": [{**sample.racy()["findings"][0], "text": report}]}


def long_value():
    """A load of a value that a cell has no room for."""
    load = sample.access("load", 17, [[0, 0], [0, 1]], "0x3", values=["0.123456", "2"], sectors=1)
    return sample.launch("long_value", [load], [sample.array("d_x")])


def marked_up():
    """A launch whose texts are markup, wherever a text can stand."""
    tag = "<b onclick='x'>T</b>"
    load = sample.access("load", 10, [[0, 0]], "0x1", values=[tag], sectors=1)
    add = sample.event("atomic", tag, 11, "0x1", places=[[0, 0]], bytes=4, values=[tag], old=[tag], addresses=1)
    return sample.launch(tag, [load, add], [sample.array(tag)], test=tag, findings=[sample.finding(f"{tag}\n  {tag}")])


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        trace = sample.trace(sample.tree(), long_finding(), sample.atomic(), two_warps(), sample.swap(), marked_up(), long_value(),
                             {**sample.racy(), "events": []})
        trace["program"] = 'a</script><b onclick="x">'
        cls.page = cls.root / "page.html"
        cls.page.write_text(stepper.page(trace, choosing.choose(trace, 1)), encoding="utf-8")
        cls.svg = cls.root / "tree.svg"
        cls.svg.write_text(picture_svg.draw(trace, choosing.choose(trace, 1), rows=(1, 99)), encoding="utf-8")
        cls.window = browser.Window()
        cls.window.size(1400, 900)

    @classmethod
    def tearDownClass(cls):
        cls.window.close()
        cls.folder.cleanup()

    def setUp(self):
        self.open()

    def open(self, address=""):
        self.window.open("about:blank")  # else the page stays, and only its address changes
        self.window.open(f"{self.page.as_uri()}{address}")

    def choose(self, name):
        self.window.run(
            "const s = document.getElementById('drawings'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))",
            f"launch-{name}",
        )

    def text(self, selector):
        return self.window.text(f"figure:not([hidden]) {selector}")

    def where(self):
        return self.text(".where")

    def is_at(self, address):
        self.window.wait("return location.hash === arguments[0]", address)

    def click(self, label):
        self.window.click(f"figure:not([hidden]) button[aria-label='{label}']")

    def is_disabled(self, label):
        return self.window.run("return document.querySelector(`figure:not([hidden]) button[aria-label='${arguments[0]}']`).getAttribute('aria-disabled') === 'true'", label)

    def test_it_opens_at_the_first_step_of_the_chosen_launch(self):
        self.assertEqual(self.window.run("return [...document.querySelectorAll('figure:not([hidden])')].map((f) => f.id)"), ["launch-1-block-0-warp-0"])
        self.assertEqual(self.where(), "step 1 of 24")
        self.assertEqual(self.text(".said strong"), "load of d_x[0] to [992], every 32nd by all 32 lanes: 32 sectors")
        self.assertIn("line 17 of sample_source.txt", self.text(".said"))
        self.assertIn("const T first = d_x[32 * lane];", self.text(".code [aria-current]"))
        self.assertTrue(self.is_disabled("One step back"))
        self.assertEqual(self.window.run("return document.activeElement.getAttribute('aria-label')"), "Step")
        self.assertEqual(self.window.run("return location.hash"), "")

    def test_buttons_step(self):
        self.click("One step further")
        self.assertEqual(self.where(), "step 2 of 24")
        self.assertIn("4 sectors", self.text(".said"))
        self.click("One step back")
        self.assertEqual(self.where(), "step 1 of 24")
        self.window.press("end")
        self.assertTrue(self.is_disabled("One step further"))

    def test_keys_step_wherever_the_focus_is_in_the_figure(self):
        keys = (("right", 2), ("right", 3), ("left", 2), ("page down", 12), ("end", 24), ("right", 24), ("page up", 14), ("home", 1), ("left", 1))
        for focus in ("input", "button", "button.line"):
            self.window.run("document.querySelector(`figure:not([hidden]) ${arguments[0]}`).focus()", focus)
            for key, step in keys:
                self.window.press(key)
                self.assertEqual(self.where(), f"step {step} of 24", (focus, key))

    def test_the_slider_jumps(self):
        self.window.run("const s = document.querySelector('input'); s.value = 10; s.dispatchEvent(new Event('input'))")
        self.assertEqual(self.where(), "step 10 of 24")
        self.assertEqual(self.window.run("return document.querySelector('input').getAttribute('aria-valuetext')"), "step 10 of 24")

    def test_the_address_keeps_the_step(self):
        self.window.press("right", "right")
        self.is_at("#step=3")
        self.open("#step=7")
        self.assertEqual(self.where(), "step 7 of 24")
        self.open("#step=99")
        self.assertEqual(self.where(), "step 24 of 24")
        self.open("#launch-2-block-0-warp-0-step=2")
        self.assertEqual(self.window.run("return document.getElementById('drawings').value"), "launch-2-block-0-warp-0")
        self.assertEqual(self.where(), "step 2 of 3")
        self.window.press("right")
        self.is_at("#launch-2-block-0-warp-0-step=3")
        self.window.run("location.hash = '#step=5'")
        self.window.wait("return document.getElementById('drawings').value === 'launch-1-block-0-warp-0'")
        self.assertEqual(self.where(), "step 5 of 24")

    def test_the_row_of_the_step_is_in_view_and_the_others_are_dimmed(self):
        for width, height in ((1400, 900), (390, 700)):
            self.window.size(width, height)
            self.open()
            for step in range(1, 25):
                seen = self.window.run("""
                    const figure = document.querySelector("figure:not([hidden])"), box = figure.querySelector(".drawing").getBoundingClientRect();
                    const now = [...figure.querySelectorAll(".step.now")], row = now[0].getBoundingClientRect();
                    const dim = [...figure.querySelectorAll(".step:not(.now)")].map((step) => Number(getComputedStyle(step).opacity));
                    const line = figure.querySelector(".code [aria-current]").getBoundingClientRect(), code = figure.querySelector(".code").getBoundingClientRect();
                    return { now: now.length, inside: row.top >= box.top - 1 && row.bottom <= box.bottom + 1, dim: Math.max(...dim), lit: getComputedStyle(now[0]).opacity,
                             marked: line.top >= code.top - 1 && line.bottom <= code.bottom + 1, seen: box.bottom <= innerHeight + 1 };""")
                self.assertEqual(seen, {"now": 1, "inside": True, "dim": 0.4, "lit": "1", "marked": True, "seen": True}, (width, step))
                self.window.press("right")
            self.assertTrue(self.window.run("return document.querySelector('figure:not([hidden]) .heads').classList.contains('shown')"))
            self.window.press("home")
        self.window.size(1400, 900)

    def test_a_click_on_a_row_goes_to_its_step(self):
        self.window.run("document.querySelectorAll('figure:not([hidden]) .step')[4].dispatchEvent(new Event('click'))")
        self.assertEqual(self.where(), "step 5 of 24")

    def test_a_line_of_code_goes_to_its_next_step(self):
        line = "document.querySelector(`figure:not([hidden]) button.line[data-at$=':${arguments[0]}']`).click()"
        for number, step in ((19, 2), (19, 3), (24, 13)):
            self.window.run(line, number)
            self.assertEqual(self.where(), f"step {step} of 24")

    def test_lines_lead_from_the_lanes_that_give(self):
        self.open("#step=13")
        self.assertEqual(self.text(".said strong"), "__shfl_down_sync by all 32 lanes: from 16 lanes further on")
        self.assertEqual(self.window.run("return document.querySelectorAll('figure:not([hidden]) .now .flow').length"), 16)

    def test_values_are_whole(self):
        self.assertTrue(self.window.run("return document.querySelector('figure:not([hidden]) .whole').hidden"))
        self.choose("7-block-0-warp-0")
        values = self.window.run("return [...document.querySelectorAll('figure:not([hidden]) .whole li')].map((e) => e.textContent)")
        self.assertEqual(values, ["lane 0: get 0.123456", "lane 1: get 2"])

    def test_findings_are_whole(self):
        self.choose("2-block-0-warp-0")
        self.assertIn("DATA RACE in kernel sum_racy on d_y[0]", self.text(".drawing > svg"))
        self.assertIn("line 12 of the report", self.text(".drawing > svg"))

    def test_a_launch_that_was_stopped_at_once(self):
        self.choose("8-block-0-warp-0")
        self.assertEqual(self.where(), "no step")
        self.assertEqual(self.text(".said"), "The launch was stopped before anything was recorded.")
        self.assertIn("DATA RACE", self.text(".drawing > svg"))
        self.window.run("document.querySelector('figure:not([hidden]) button').focus()")
        self.window.press("right", "left", "end")
        self.choose("1-block-0-warp-0")
        self.assertEqual(self.where(), "step 1 of 24")

    def test_blocks_and_warps(self):
        for name, step in (("4-block-0-warp-0", "step 1 of 2"), ("4-block-0-warp-1", "step 1 of 2"), ("4-block-1-warp-0", "step 1 of 2")):
            self.choose(name)
            self.assertEqual(self.where(), step)
            self.assertEqual(self.window.run("return [...document.querySelectorAll('figure:not([hidden])')].map((f) => f.id)"), [f"launch-{name}"])

    def test_nothing_of_a_source_is_run(self):
        self.choose("3-block-0-warp-0")
        self.assertIn('</script><script>document.title = "escaped"</script><!--', self.text(".code"))
        self.assertNotEqual(self.window.run("return document.title"), "escaped")
        self.assertIn("a</script><b onclick", self.window.text("h1"))
        self.choose("6-block-0-warp-0")
        tag = "<b onclick='x'>T</b>"
        for _ in range(2):
            self.assertEqual(self.window.run("return document.querySelectorAll('b[onclick]').length"), 0)
            self.assertEqual(self.window.run("return document.querySelectorAll('script').length"), 1)
            for place in (".said strong", ".drawing > svg"):
                self.assertIn(tag, self.text(place), place)
            self.window.press("right")
        self.assertIn(tag, self.window.text("#drawings"))

    def test_no_error_and_no_request(self):
        self.window.console()
        self.window.requests()
        self.open()
        for name in self.window.run("return [...document.getElementById('drawings').options].map((option) => option.value.slice(7))"):
            self.choose(name)
            self.window.press(*["right"] * 25)
        self.assertEqual(self.window.console(), [])
        self.assertEqual([url for url in self.window.requests() if not url.startswith(("file:", "data:", "about:"))], [])

    def test_both_schemes_and_narrow_windows(self):
        colours = {}
        for scheme in ("light", "dark"):
            self.window.scheme(scheme)
            colours[scheme] = self.window.run(
                "const s = getComputedStyle(document.body), p = getComputedStyle(document.querySelector('svg .page')); return [s.backgroundColor, s.color, p.fill]")
        self.assertEqual(colours["light"], ["rgb(255, 255, 255)", "rgb(31, 35, 40)", "rgb(255, 255, 255)"])
        self.assertEqual(colours["dark"], ["rgb(13, 17, 23)", "rgb(240, 246, 252)", "rgb(13, 17, 23)"])
        for width in (360, 768, 1400):
            self.window.size(width, 800)
            for step in range(24):
                wide = self.window.run("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, f"step {step + 1} at {width} px")
                self.window.press("right")
            self.window.press("home")
        self.window.size(1400, 900)

    def test_without_a_script_it_is_the_plain_drawing(self):
        page = self.page.read_text(encoding="utf-8")
        for code in re.findall(r'<div class="code"[^>]*>', page):
            self.assertIn(" hidden", code)
        outside = re.sub(r'<div class="code".*?</div>\n</figure>', "", page, flags=re.DOTALL)
        self.assertNotIn("<button", outside)
        self.assertIn('<svg class="lanes"', outside)

    def test_every_control_has_a_name(self):
        self.choose("1-block-0-warp-0")
        nameless = self.window.run(
            "return [...document.querySelectorAll('button, select, input')].filter((e) => !/[A-Za-z]/.test("
            "e.getAttribute('aria-label') || (e.tagName === 'BUTTON' ? e : e.closest('label') || {}).textContent || ''))"
            ".map((e) => e.outerHTML)"
        )
        self.assertEqual(nameless, [])
        self.assertEqual(self.window.run("return document.querySelector('.said').getAttribute('aria-live')"), "polite")

    def test_the_drawing_follows_the_scheme_and_its_texts_stay_inside(self):
        self.window.open(self.svg)
        for scheme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")):
            self.window.scheme(scheme)
            self.assertEqual(self.window.run("return getComputedStyle(document.querySelector('.page')).fill"), colour)
        outside = self.window.run(
            "const box = document.documentElement.viewBox.baseVal; return [...document.querySelectorAll('text')]"
            ".filter((t) => { const b = t.getBBox(); return b.x < 0 || b.x + b.width > box.width || b.y + b.height > box.height; })"
            ".map((t) => t.textContent)"
        )
        self.assertEqual(outside, [])
        over = self.window.run(
            "return [...document.querySelectorAll('g.step')].map((g) => [g.querySelector('text.mono:not(.end)'), g.querySelector('text.strong')])"
            ".filter(([source, cost]) => { const a = source.getBBox(), b = cost.getBBox(); return a.x + a.width > b.x; })"
            ".map(([source]) => source.textContent)"
        )
        self.assertEqual(over, [])


class Parts(unittest.TestCase):
    """What the page is made of."""

    SOURCE = ["// a", "template <class T>", "__global__ void f() {", "  a();", "", "  b();", "}", "", "int g() {", "  c();", "}"]

    def test_the_functions_around_lines_are_shown(self):
        self.assertEqual(stepper.functions_around(self.SOURCE, {6}), [2, 3, 4, 5, 6, 7])
        self.assertEqual(stepper.functions_around(self.SOURCE, {4, 10}), [2, 3, 4, 5, 6, 7, 9, 10, 11])
        self.assertEqual(stepper.functions_around(["  a();", "  b();"], {2}), [1, 2])
        self.assertEqual(stepper.functions_around([], {3}), [1, 2, 3])

    def test_a_page_has_the_chosen_warp_then_what_there_is_room_for(self):
        many = {**sample.atomic(), "events": sample.atomic()["events"] * 500}
        trace = sample.trace(many, sample.racy(), many, many, many, sample.tree())
        kept, left_out = stepper.choices_of_page(trace, choosing.choose(trace, 3))
        self.assertEqual([choice.launch for choice in kept], [2, 0, 1, 5])
        self.assertEqual(left_out, 2)
        self.assertIn("2 more warps of this run", stepper.page(trace, choosing.choose(trace, 3)))

    def test_a_figure_has_the_address_that_it_is_given(self):
        trace = sample.trace(sample.swap())
        svg = picture_svg.draw(trace, choosing.choose(trace))
        self.assertIn('id="swap" data-address="swap-step"', stepper.figure(svg, "swap", "a swap", "swap"))
        self.assertIn('id="swap" data-address="step"', stepper.figure(svg, "swap", "a swap"))

    def test_the_rules_of_a_page_have_both_schemes(self):
        rules = svg_style.sheet_for("lanes")
        self.assertIn("svg.lanes text { fill: light-dark(#1f2328, #f0f6fc) }", rules)
        self.assertIn("svg.lanes .idle { fill: var(--hatch); stroke: light-dark(#afb8c1, #565d66) }", rules)
        self.assertNotRegex(rules, r"(?m)^(?!svg\.lanes[ {]).")


if __name__ == "__main__":
    browser.main()
