"""Drawings that are computed from measured times: what they show, and whether files and README are in step with them."""

import unittest
import xml.etree.ElementTree as ElementTree

from tools.lib import compact_json
from tools.lib.chapter_results import read
from tools.lib.documents import gathered
from tools.lib.failed import Failed
from tools.measure import documents, drawings
from tools.tests.sample_course import Course, row, toml

READS = ()

SVG = "{http://www.w3.org/2000/svg}"
LOADS = {
    "kind": "loads in flight", "output": "loads", "given": {"threads": 256},
    "rows": [{"rung": "one", "n": 4096, "loads": 1}, {"rung": "four", "n": 4096, "loads": 4}],
}  # fmt: skip
LINKS = {
    "kind": "links", "output": "links", "given": {"devices": 2, "links": 18, "gb_per_s_of_a_link": 25},
    "rows": [{"rung": "ours", "n": 4096}, {"rung": "peer", "n": 4096}, {"rung": "pinned", "n": 4096}],
}  # fmt: skip
SPACING = {"kind": "spacing", "output": "loads", "rows": [], "given": {"type": ["half", "halves"], "bits": 11, "units": 8, "powers": [1024, 2048]}}
RING = {"kind": "all-reduce", "output": "ring", "rows": []}


def texts_of(svg):
    """Every <text> of a drawing."""
    return [element.text for element in ElementTree.fromstring(svg).iter(SVG + "text")]


class Drawings(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.file = None

    def chapter(self, *declared, markers=("loads",)):
        """A chapter with results and these [[drawing]]s."""
        prose = "".join(f"<!-- drawing {name} -->\n" for name in markers)
        folder = self.course.measured(
            "01-x", row("ours", "rung", 20.0), row("one", "rung", 40.0), row("four", "rung", 32.0),
            row("peer", "rung", 50.0, per_ns=0.5), row("pinned", "rung", 50.0, per_ns=0.0008), row("lib", "vendor", 30.0), prose=prose,
        )  # fmt: skip
        file = folder / "chapter.toml"
        file.write_text(file.read_text() + f"drawing = {toml(list(declared))}\n")
        self.file = folder / "results" / "gpu-x-loads.svg"
        return folder

    def drawn(self, declared):
        return drawings.of_chapter(self.chapter(declared))[declared["output"]]

    def render(self, folder):
        """Renders all but the plot of the ladder, which needs matplotlib."""
        for document in gathered(documents.of_chapter(folder))[0]:
            if not isinstance(document, documents.Plot):
                document.write()

    def problems(self, folder):
        """What is out of step, the plot of the ladder aside."""
        lines = self.course.problems([folder]).splitlines()
        return "\n".join(line for line in lines if "gpu-x-ladder.svg" not in line and not line.startswith("run:"))

    def test_loads_in_flight(self):
        drawing = self.drawn(LOADS)
        texts = texts_of(drawing.text)
        for text in ("one: 16 rounds of 1 load", "four: 4 rounds of 4 loads", "40.0 µs", "32.0 µs"):
            self.assertIn(text, texts)
        self.assertTrue(any(text.startswith("Computed, not traced") for text in texts))
        self.assertEqual(drawing.text.count('class="one"'), 1)
        self.assertEqual(drawing.text.count('class="two"'), 4)
        self.assertEqual(drawing.alt, "One thread's loads over time: one has 1 load in flight in each of 16 rounds, 40.0 µs; four has 4 loads "
                         "in flight in each of 4 rounds, 32.0 µs. The launch's time is divided evenly among the rounds")

    def test_a_row_is_as_long_as_its_time(self):
        rows = [path.get("d") for path in ElementTree.fromstring(self.drawn(LOADS).text).iter(SVG + "path")
                if path.get("class") in ("one", "two")]
        lengths = [sum(float(step.split("m")[0].split("M")[-1]) for step in d.split("h")[1:]) + d.count("h") for d in rows]
        self.assertAlmostEqual(lengths[0], 396, delta=1)
        for length in lengths[1:]:
            self.assertAlmostEqual(length, 396 * 32 / 40, delta=1)

    def test_the_first_block_has_the_round_that_is_not_full(self):
        self.assertIn("one: 17 rounds of 1 load", texts_of(self.drawn({**LOADS, "given": {"threads": 255}}).text))

    def test_a_row_is_chosen_by_its_group_too(self):
        rows = [{**LOADS["rows"][0], "reference": "how by hand works"}, LOADS["rows"][1]]
        self.assertIn("one: 16 rounds of 1 load", texts_of(self.drawn({**LOADS, "rows": rows}).text))
        rows[0]["reference"] = "another way"
        with self.assertRaisesRegex(Failed, "0 rows are one with n = 4,096: name the group's 'reference'"):
            self.drawn({**LOADS, "rows": rows})

    def test_links(self):
        drawing = self.drawn(LINKS)
        texts = texts_of(drawing.text)
        for text in ("What connects 2 GPUs?", "GPU 1", "NVLink, by NVIDIA's figures 18 × 25 = 450 GB/s each way.",
                     "A counter in host memory, one GPU: 1.25 µs per addition", "A counter in GPU 0's memory, all 2: 2.00 ns per addition"):
            self.assertIn(text, texts)
        self.assertIn("1.25 µs over PCIe and 2.00 ns over NVLink", drawing.alt)

    def test_spacing(self):
        drawing = self.drawn(SPACING)
        texts = texts_of(drawing.text)
        for text in ("0.5 apart below 1,024, 1 apart from there on", "1 apart below 2,048, 2 apart from there on", "1,025 is a half",
                     "2,049 becomes 2,048"):
            self.assertIn(text, texts)
        ticks = [path.get("d").count("M") for path in ElementTree.fromstring(drawing.text).iter(SVG + "path") if path.get("class") == "two"]
        self.assertEqual(ticks, [8 + 5, 1, 4 + 3, 1])
        self.assertIn("2 apart above, where 2,049 is none", drawing.alt)

    def test_ring(self):
        drawing = self.drawn({**RING, "given": {"devices": 3, "shape": "ring"}})
        for text in ("Computed. A transfer moves 1/3 of a vector;", "in all steps together a GPU sends 1.33333 vectors."):
            self.assertIn(text, texts_of(drawing.text))
        numbers = [text for text in texts_of(drawing.text) if text.isdigit()]
        rows = ["".join(numbers[k : k + 9]) for k in range(0, len(numbers), 9)]  # three parts of three GPUs
        self.assertEqual(rows, ["111111111", "112211121", "132213321", "332233323", "333333333"])
        self.assertTrue(drawing.alt.startswith("3 GPUs combine their vectors in a ring, in 4 steps; a transfer moves a part, 1/3 of a vector"))

    def test_tree(self):
        for devices, steps, sends in ((2, 2, "1"), (4, 4, "1 to 2"), (5, 6, "1 to 3")):
            drawing = self.drawn({**RING, "given": {"devices": devices, "shape": "tree"}})
            texts = texts_of(drawing.text)
            self.assertIn(f"Who sends what to whom in a tree? {devices} GPUs, {steps} steps", texts)
            self.assertIn(f"in all steps together a GPU sends {sends} vectors.", texts)
            self.assertEqual([text for text in texts if text.isdigit()][-devices:], [str(devices)] * devices)

    def test_render_and_check(self):
        folder = self.chapter(LOADS)
        self.assertIn("gpu-x-loads.svg is missing", self.problems(folder))
        self.render(folder)
        right, readme = self.file.read_text(), (folder / "README.md").read_text()
        self.assertIn("<!-- drawing loads -->\n![One thread's loads over time: ", readme)
        self.assertIn("](results/gpu-x-loads.svg)\n", readme)
        self.assertEqual(self.problems(folder), "")
        self.file.write_text(right.replace("40.0", "41.0"))
        self.assertIn("gpu-x-loads.svg is out of step", self.problems(folder))
        self.file.write_text(right)
        (folder / "README.md").write_text(readme.replace("![One", "![Two"))
        self.assertIn("<!-- drawing loads -->", self.problems(folder))

    def test_other_times_make_it_out_of_step(self):
        folder = self.chapter(LOADS)
        self.render(folder)
        file = folder / "results" / "gpu-x.json"
        results = read(file)
        for changed in results["rungs"]:
            if changed["name"] == "one":
                changed["microseconds"]["median"] = 44.0
        compact_json.write(file, results)
        self.assertIn("gpu-x-loads.svg is out of step", self.problems(folder))

    def test_a_readme_shows_each_drawing_once(self):
        for markers in ((), ("loads", "loads"), ("loads", "other")):
            self.assertIn("README.md: has the drawings", self.problems(self.chapter(LOADS, markers=markers)))

    def test_a_declaration_that_is_wrong(self):
        for change, words in (
            ({"kind": "oak"}, "its kind is none of loads in flight, all-reduce, links, spacing"), ({"given": {}}, "do not fit: 'threads'"),
            ({"rows": [{"rung": "oak", "n": 4096, "loads": 1}]}, "0 rows are oak with n = 4,096"),
            ({"rows": [{"rung": "one", "n": 4096}]}, "do not fit: 'loads'"),
        ):
            with self.assertRaisesRegex(Failed, words):
                self.drawn({**LOADS, **change})

    def test_without_results_there_is_no_drawing(self):
        folder = self.chapter({**LOADS, "device": "NVIDIA GPU Y"})
        self.assertEqual(drawings.of_chapter(folder), {})


if __name__ == "__main__":
    unittest.main()
