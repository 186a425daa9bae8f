"""The page that steps through a trace, in a headless Chromium."""

import tempfile
import unittest
from pathlib import Path

from tools.tests import browser
from tools.tests import sample_traces as sample
from tools.trace import choosing, picture_svg, stepper


def two_warps():
    """Two warps of one block that meet in a barrier, and a second block."""
    events = []
    for block, warp in ((0, 0), (0, 1), (1, 0)):
        for one in (sample.access("load", 17, [[0, k] for k in range(32)], values=["1"] * 32, sectors=4),
                    sample.event("barrier", "__syncthreads", 21)):
            events.append({**one, "block": block, "warp": warp})
    return sample.launch("two_warps", events, [sample.array("d_x")], block=64)


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
        trace = sample.trace(sample.tree(), sample.racy(), sample.atomic(), two_warps(), sample.swap(), marked_up(),
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
        self.window.open(self.page)

    def choose(self, select, value):
        self.window.run(
            "const s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))",
            select, value,
        )

    def lane(self, lane):
        return self.window.run("return document.querySelectorAll('#lanes li')[arguments[0]].getAttribute('aria-label')", lane)

    def test_it_opens_at_the_first_event_of_the_chosen_launch(self):
        self.assertEqual(self.window.text("#kernel"), "tree<float><<<1, 64>>>")
        self.assertEqual(self.window.text("#where"), "1 of 24")
        self.assertEqual(self.window.text("#sentence"), "load of d_x[0] to [992], every 32nd by all 32 lanes: 32 sectors")
        self.assertEqual(self.window.text("#detail"), "line 17 of common/tools/tests/sample_source.txt")
        self.assertIn("const T first = d_x[32 * lane];", self.window.text("#source [aria-current]"))
        self.assertEqual(self.lane(3), "lane 3: takes part, gets 3")
        self.assertEqual(self.window.run("return document.querySelectorAll('.sector').length"), 32)
        self.assertTrue(self.window.run("return document.getElementById('back').disabled"))

    def test_buttons_step(self):
        self.window.click("#next")
        self.assertEqual(self.window.text("#where"), "2 of 24")
        self.assertIn("4 sectors", self.window.text("#sentence"))
        self.window.click("#back")
        self.assertEqual(self.window.text("#where"), "1 of 24")
        self.window.click("#last")
        self.assertEqual(self.window.text("#where"), "24 of 24")
        self.assertTrue(self.window.run("return document.getElementById('next').disabled"))
        self.window.click("#first")
        self.assertEqual(self.window.text("#where"), "1 of 24")

    def test_keys_step(self):
        for key, where in (("right", "2"), ("right", "3"), ("left", "2"), ("page down", "12"), ("end", "24"),
                           ("right", "24"), ("page up", "14"), ("home", "1"), ("left", "1")):
            self.window.press(key)
            self.assertEqual(self.window.text("#where"), f"{where} of 24", key)

    def test_the_slider_jumps_and_a_key_on_it_moves_one_event(self):
        self.window.run("const s = document.getElementById('slider'); s.focus(); s.value = 10; s.dispatchEvent(new Event('input'))")
        self.assertEqual(self.window.text("#where"), "10 of 24")
        self.window.press("right")
        self.assertEqual(self.window.text("#where"), "11 of 24")
        self.assertIn("event 11 of 24: load of s_x", self.window.run("return document.getElementById('slider').getAttribute('aria-valuetext')"))

    def test_a_source_line_goes_to_its_next_event(self):
        click = "document.querySelector('#source').children[arguments[0] - 1].click()"
        self.window.run(click, 19)
        self.assertEqual(self.window.text("#where"), "2 of 24")
        self.window.run(click, 19)
        self.assertEqual(self.window.text("#where"), "3 of 24")
        self.window.run(click, 24)
        self.assertEqual(self.window.text("#where"), "13 of 24")
        self.assertEqual(self.window.run("return document.querySelector('#source').children[0].tagName"), "DIV")

    def test_lanes_shuffles_and_banks(self):
        self.window.run("go(12)")
        self.assertEqual(self.lane(0), "lane 0: takes part, gives 0, gets 16 of lane 16")
        self.assertEqual(self.lane(20), "lane 20: takes part, gives 20, gets 20")
        self.window.run("go(10)")
        self.assertEqual(self.window.run("return document.querySelectorAll('.banks > div')[0].querySelectorAll('i').length"), 32)
        self.assertEqual(self.window.text("#memory-head"), "Memory: 32 wavefronts: bank conflict")
        self.window.run("go(19)")
        self.assertEqual(self.lane(1), "lane 1: takes no part")

    def test_totals_add_up(self):
        self.window.press("end")
        rows = self.window.run("return [...document.querySelectorAll('#totals tbody tr')].map((r) => [...r.children].map((c) => c.textContent))")
        self.assertEqual(rows, [
            ["global loads", "5", "48 sectors"], ["shared stores", "4", "4 wavefronts"], ["barriers of the block", "1", "–"],
            ["shared loads", "2", "34 wavefronts"], ["shuffles, votes, reductions", "7", "–"],
            ["barriers of the warp", "1", "–"], ["global stores", "2", "25 sectors"],
        ])

    def test_findings_and_returned_lanes(self):
        self.assertTrue(self.window.run("return document.getElementById('findings').hidden"))
        self.choose("#launch", "1")
        self.assertIn("DATA RACE in kernel sum_racy on d_y[0]", self.window.text("#findings"))
        self.assertIn("the recorder stopped", self.window.text("#about"))
        self.window.press("right")
        self.assertIn("+: several lanes: d_y[0] for lanes 0 to 31", self.window.text("#memory"))
        self.choose("#launch", "2")
        self.assertEqual(self.lane(16), "lane 16: takes part")
        self.window.press("right")
        self.assertEqual(self.lane(16), "lane 16: has returned")
        self.window.press("right")
        self.assertEqual(self.window.text(".address"), "d_y[0] ← lanes 0 to 15")
        self.assertEqual(self.lane(3), "lane 3: takes part, gives 1, gets back 3")
        self.choose("#launch", "1")
        self.window.run("go(1)")
        self.assertIn("5 sectors", self.window.text("#totals"))

    def test_a_launch_that_was_stopped_at_once(self):
        self.choose("#launch", "6")
        self.assertEqual(self.window.text("#sentence"), "The launch was stopped before anything was recorded.")
        self.assertIn("DATA RACE", self.window.text("#findings"))
        self.assertEqual(self.window.run("return document.querySelectorAll('#lanes li').length"), 0)
        self.assertIn("if (i < n) d_y[0] += d_x[i];", self.window.text("#source [aria-current]"))
        self.window.press("right", "left", "end")
        self.choose("#launch", "0")
        self.assertEqual(self.window.text("#where"), "1 of 24")

    def test_a_swap(self):
        self.choose("#launch", "4")
        self.assertEqual(self.lane(0), "lane 0: takes part, expects 0, gives 1, gets back 0, stored")
        self.assertEqual(self.lane(1), "lane 1: takes part, expects 0, gives 2, gets back 1, not stored")

    def test_blocks_and_warps(self):
        self.choose("#launch", "3")
        self.assertEqual(self.window.text("#where"), "1 of 2")
        self.choose("#warp", "every warp")
        self.assertEqual(self.window.text("#where"), "1 of 4")
        self.window.press("end")
        self.assertIn("warp 1", self.window.text("#detail"))
        self.choose("#block", "1")
        self.assertEqual(self.window.text("#where"), "1 of 2")
        self.assertTrue(self.window.run("return document.getElementById('warp').disabled"))

    def test_nothing_of_a_source_is_run(self):
        self.choose("#launch", "2")
        self.assertIn('</script><script>document.title = "escaped"</script><!--', self.window.text("#source"))
        self.assertEqual(self.window.run("return document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.window.run("return document.querySelectorAll('b[onclick]').length"), 0)
        self.assertNotEqual(self.window.run("return document.title"), "escaped")
        self.assertIn("a</script><b onclick", self.window.text("#about"))
        self.choose("#launch", "5")
        tag = "<b onclick='x'>T</b>"
        for _ in range(2):
            self.assertEqual(self.window.run("return document.querySelectorAll('b[onclick]').length"), 0)
            for place in ("#kernel", "#about", "#findings", "#sentence", "#lanes", "#memory"):
                self.assertIn(tag, self.window.text(place), place)
            self.window.press("right")
        self.assertIn(tag, self.window.text("#launch option:nth-child(6)"))

    def test_no_error_and_no_request(self):
        self.window.console()
        self.window.requests()
        self.window.open(self.page)
        for launch in "0123456":
            self.choose("#launch", launch)
            for _ in range(25):
                self.window.run("go(step + 1)")
        self.assertEqual(self.window.console(), [])
        self.assertEqual([url for url in self.window.requests() if not url.startswith(("file:", "data:"))], [])

    def test_both_schemes_and_narrow_windows(self):
        colours = {}
        for scheme in ("light", "dark"):
            self.window.scheme(scheme)
            colours[scheme] = self.window.run("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
        self.assertEqual(colours["light"], ["rgb(255, 255, 255)", "rgb(31, 35, 40)"])
        self.assertEqual(colours["dark"], ["rgb(13, 17, 23)", "rgb(240, 246, 252)"])
        for width in (360, 768, 1400):
            self.window.size(width, 800)
            for step in range(24):
                self.window.run("go(arguments[0])", step)
                wide = self.window.run("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, f"event {step + 1} at {width} px")
        self.window.size(1400, 900)

    def test_every_control_has_a_name(self):
        nameless = self.window.run(
            "return [...document.querySelectorAll('button, select, input')].filter((e) => !/[A-Za-z]/.test("
            "e.getAttribute('aria-label') || (e.tagName === 'BUTTON' ? e : e.closest('label') || {}).textContent || ''))"
            ".map((e) => e.outerHTML)"
        )
        self.assertEqual(nameless, [])
        self.assertEqual(self.window.run("return document.getElementById('said').getAttribute('aria-live')"), "polite")

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
            "return [...document.querySelectorAll('g')].map((g) => [g.querySelector('text.mono:not(.end)'), g.querySelector('text.strong')])"
            ".filter(([source, cost]) => { const a = source.getBBox(), b = cost.getBBox(); return a.x + a.width > b.x; })"
            ".map(([source]) => source.textContent)"
        )
        self.assertEqual(over, [])


if __name__ == "__main__":
    browser.main()
