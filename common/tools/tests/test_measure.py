"""common/dev measure and generate: what is brought in, written and checked; every text that is out of step is named."""

import json
import subprocess
import sys
import unittest
from unittest import mock

from tools.lib import chapter_results as measured
from tools.lib import compact_json
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.measure import bring_in, plot_svg
from tools.tests.sample_course import Course, declared, results, row

READS = ("common/dev",)

DEV = TOP / "common/dev"
ROWS = [row("ours", "rung", 20.0), row("lib", "vendor", 30.0)]
PROFILE = {"n": 64, "rungs": ["ours"], "counters": [{"name": "loads", "metric": "loads"}]}
PROFILED = {
    "schema": "course.profile", "version": 1, "device": "NVIDIA GPU X", "ncu": "Version 7", "date": "2026-01-02T03:04:05Z",
    "n": 64, "rungs": [{"name": "ours", "kernel": "ours()", "metrics": {"loads": 8}}],
}  # fmt: skip
COUNTED = {
    "schema": "course.sectors", "version": 1, "device": "CPU device", "n": 64,
    "rungs": [{"name": "ours", "n": 64, "loads": [4, 16], "stores": [0, 0], "shared loads": [0, 0]}],
}  # fmt: skip
VERDICTS = {
    "schema": "course.verdicts", "version": 1, "device": "NVIDIA GPU X",
    "tests": {"x-solution": {"suite": "solutions", "verdict": "passed", "text": ""}},
}  # fmt: skip


def drawn_without_matplotlib(description):
    return plot_svg.signed('<svg viewBox="0 0 1 1">\n</svg>\n', description, "0")


class Files(unittest.TestCase):
    """A file of results says what it is and where it comes from."""

    def setUp(self):
        self.course = Course(self)
        self.chapter = self.course.measured("01-x", *ROWS)

    def test_names(self):
        names = {"NVIDIA H200": "h200.json", "CPU device": "cpu-device.json", "NVIDIA A100-SXM4-80GB": "a100-sxm4-80gb.json"}
        self.assertEqual({device: measured.file_name(device) for device in names}, names)
        self.assertEqual(measured.file_name("NVIDIA GPU X", measured.PROFILE), "gpu-x-profile.json")

    def test_what_is_something_else_is_refused(self):
        file = self.chapter / "results" / "gpu-x.json"
        good = file.read_text()
        for old, new, words in (("course.ladder", "other", 'has no "schema": "course.ladder"'), ("GPU X", "GPU Y", "should be named gpu-y.json"),
                                ("{", "", "Extra data|Expecting value")):
            file.write_text(good.replace(old, new, 1))
            with self.assertRaisesRegex(Failed, words):
                measured.of_gpu(self.chapter)

    def test_the_reference_of_several_devices(self):
        other = results("01-x", *ROWS, device="NVIDIA GPU Y")
        compact_json.write(self.chapter / "results" / "gpu-y.json", other)
        with self.assertRaisesRegex(Failed, "results of NVIDIA GPU X, NVIDIA GPU Y, and chapters/measured.toml names none"):
            measured.of_gpu(self.chapter)
        (self.course.top / "chapters" / "measured.toml").write_text('reference = "NVIDIA GPU Y"\n')
        self.assertEqual(measured.of_gpu(self.chapter)["device"], "NVIDIA GPU Y")
        (self.chapter / "results" / "gpu-y.json").unlink()
        self.assertEqual(measured.of_gpu(self.chapter)["device"], "NVIDIA GPU X")  # it is the only one
        (self.course.top / "chapters" / "measured.toml").write_text("device = 7\n")
        with self.assertRaisesRegex(Failed, "measured.toml: needs a line reference"):
            measured.of_gpu(self.chapter)

    def test_one_row_per_line(self):
        content = {"a": 1, "b": [1, [2]], "c": {"d": {"e": 1}}, "f": [{"g": 1}, {"g": 2}], "h": [], "i": {}}
        text = compact_json.text_of(content)
        self.assertEqual(json.loads(text), content)
        self.assertEqual(text.count("\n"), 2 + 6 + 3 + 2 + 3)  # braces, keys, rows and ends of b, c, f


class Documents(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.top = self.course.top
        self.chapter = self.course.measured("01-x", *ROWS, profile=PROFILE)
        self.results = self.chapter / "results"
        compact_json.write(self.results / "gpu-x-profile.json", PROFILED)
        compact_json.write(self.results / "cpu-device-sectors.json", COUNTED)
        patch = mock.patch("tools.measure.plot_svg.draw", drawn_without_matplotlib)
        patch.start()
        self.addCleanup(patch.stop)

    def test_render_brings_all_into_step(self):
        said = self.course.problems()
        for words in ("01-x/README.md is out of step, line 5: <!-- results:begin -->: the table of the ladder's results", "<!-- ladder:begin -->",
                      "<!-- sectors:begin -->", "profiling.md is out of step, line 2: <!-- profile 01-x:begin -->",
                      "verdicts.md is out of step", "README.md is out of step, line 4: <!-- map:begin -->: the map of chapters",
                      "results/gpu-x-ladder.svg is missing", "best-rungs.svg is missing", "common/dev generate"):
            self.assertIn(words, said)
        self.course.generate()
        self.assertEqual(self.course.problems(), "")
        self.assertIn("| `ours` | 8 |", self.course.profiling.read_text())
        self.assertIn("| `ours` | 4 × 4 | – |", (self.chapter / "README.md").read_text())

    def test_one_chapter_alone(self):
        self.course.generate([self.chapter])
        self.assertEqual(self.course.problems([self.chapter]), "")
        self.assertIn("best-rungs.svg is missing", self.course.problems())
        self.assertNotIn("01-x", self.course.problems())

    def test_another_machine_has_a_section_of_its_own(self):
        (self.top / "chapters" / "measured.toml").write_text('reference = "NVIDIA GPU X"\n')
        toml, readme = self.chapter / "chapter.toml", self.chapter / "README.md"
        toml.write_text(toml.read_text() + '\n[[machine]]\ndevice = "4x NVIDIA GPU X"\ngroup = {reference = "a group", n = 64}\nrung = "ours"\n[curves.scaling]\nquestion = "How fast?"\nx = "number of GPUs"\n')
        with self.assertRaisesRegex(Failed, "'machine' names 4x NVIDIA GPU X, but .*4x-gpu-x.json is missing"):
            self.course.generate([self.chapter])
        curve = [row("scaling", "reference", changed="devices", group=7), row("ours", "rung", 5.0, group=7, series="all", x=4.0, gb_per_s=9.0)]
        compact_json.write(self.results / "4x-gpu-x.json", results("01-x", *ROWS, *curve, device="4x NVIDIA GPU X"))
        with self.assertRaisesRegex(Failed, "results 4x-gpu-x"):
            self.course.generate([self.chapter])
        readme.write_text(readme.read_text() + "\n<!-- results 4x-gpu-x:begin -->\n<!-- results 4x-gpu-x:end -->\n")
        self.course.generate([self.chapter])
        self.assertEqual(self.course.problems([self.chapter]), "")
        text = readme.read_text()
        self.assertIn("4x NVIDIA GPU X, CUDA", text)
        self.assertIn("](results/4x-gpu-x-scaling.svg)", text)
        self.assertEqual(text.count("How to read the tables"), 1)
        self.assertTrue((self.results / "4x-gpu-x-scaling.svg").exists())

    def test_what_is_changed_by_hand_is_named(self):
        self.course.generate()
        plot, data, readme = self.results / "gpu-x-ladder.svg", self.results / "gpu-x.json", self.chapter / "README.md"
        for file, change, words in (
            (plot, lambda text: text.replace("viewBox", "viewbox"), "gpu-x-ladder.svg was changed by hand"),
            (plot, lambda text: "<svg></svg>", "gpu-x-ladder.svg was not drawn by this tool"),
            (data, lambda text: json.dumps(json.loads(text), indent=1), "gpu-x.json is out of step, line 2: results, with one row per line"),
            (data, lambda text: text.replace("20.0", "21.0"), "01-x/README.md is out of step"),
            (readme, lambda text: text.replace("20.0", "19.0"), "01-x/README.md is out of step"),
            (readme, lambda text: text.replace("results:end", "result:end"), "needs one line <!-- results:begin -->"),
        ):
            good = file.read_text()
            with self.subTest(words):
                file.write_text(change(good))
                self.assertIn(words, self.course.problems())
            file.write_text(good)
        self.assertEqual(self.course.problems(), "")

    def test_a_chapter_that_fails_hides_no_other(self):
        self.course.generate()
        self.course.measured("02-y", row("ours", "rung", None), row("lib", "vendor", 30.0))
        (self.chapter / "README.md").write_text("no markers\n")
        said = self.course.problems()
        self.assertIn("02-y/chapter.toml: ours", said)
        self.assertIn("01-x/README.md: needs one line <!-- results:begin -->", said)

    def test_a_picture_that_nothing_draws(self):
        self.course.generate()
        (self.results / "gpu-y-ladder.svg").write_text("<svg/>")
        self.assertIn("gpu-y-ladder.svg: no plot of this name is drawn", self.course.problems())

    def test_counts_of_two_devices_that_do_not_fit(self):
        gpu = {**COUNTED, "device": "NVIDIA GPU X", "ncu": "Version 7", "date": "2026-01-02T03:04:05Z", "n": 7}
        compact_json.write(self.results / "gpu-x-sectors.json", gpu)
        self.assertIn("gpu-x-sectors.json: n is 7, and 64 of the CPU device", self.course.problems())

    def test_counts_of_a_build(self):
        self.course.generate()
        ladder = self.top / "build" / "chapters" / "01-x" / "ladder"
        ladder.parent.mkdir(parents=True)
        ladder.write_text(
            f"#!{sys.executable}\nimport json, sys\n"
            "counters = {'global_loads': 4, 'global_load_sectors': SECTORS, 'global_stores': 0, 'global_store_sectors': 0,\n"
            "            'shared_loads': 0, 'shared_load_wavefronts': 0}\n"
            "rows = [{'kind': 'rung', 'name': 'ours', 'n': 64, 'counters': counters}]\n"
            "json.dump({'device': 'CPU device', 'rungs': rows}, open(sys.argv[4], 'w'))\n"
        )
        ladder.chmod(0o755)
        text = ladder.read_text()
        ladder.write_text(text.replace("SECTORS", "16"))
        self.assertEqual(self.course.problems(build=self.top / "build"), "")
        ladder.write_text(text.replace("SECTORS", "32"))
        self.assertIn("cpu-device-sectors.json is out of step, line 7: what the CPU device counts for the table of sectors", self.course.problems(build=self.top / "build"))
        self.course.generate(build=self.top / "build")
        self.assertIn("[4, 32]", (self.results / "cpu-device-sectors.json").read_text())

    def test_without_matplotlib(self):
        with mock.patch("tools.measure.plot_svg.draw", side_effect=ImportError("none")):
            with self.assertRaisesRegex(Failed, "setup.sh --contributor"):
                self.course.generate()

    def test_the_drawing_code_belongs_to_a_plot(self):
        self.course.generate()
        with mock.patch("tools.measure.plot_svg.of_description", lambda description: "0" * 16):
            self.assertIn("with the code that draws it", self.course.problems())


class Import(unittest.TestCase):
    """What `run` wrote is put into the chapters."""

    def setUp(self):
        self.course = Course(self)
        self.chapter = self.course.chapter("01-x", declared(), profile=PROFILE)
        self.out = self.course.top / "out"
        self.run = {
            "schema": "course.measured", "version": 1, "device": "NVIDIA GPU X", "problems": [], "steps": [],
            "ladders": {"01-x": results("01-x", *ROWS)}, "profiles": {"01-x": PROFILED}, "sectors": {},
            "verdicts": {"01-x": VERDICTS},
        }  # fmt: skip

    def bring_in(self, **changes):
        compact_json.write(self.out / "results.json", {**self.run, **changes})
        return [file.name for file in bring_in.of_run(self.course.top, self.out, False)]

    def test_files_have_the_devices_name(self):
        names = ["gpu-x.json", "gpu-x-profile.json", "gpu-x-verdicts.json"]
        self.assertEqual(self.bring_in(), names)
        self.assertEqual(sorted(file.name for file in (self.chapter / "results").iterdir()), sorted(names))
        self.assertEqual(measured.of_gpu(self.chapter), self.run["ladders"]["01-x"])

    def test_a_machine_has_a_name_of_its_own(self):
        compact_json.write(self.out / "results.json", self.run)
        files = bring_in.of_run(self.course.top, self.out, False, "4x NVIDIA GPU X")
        self.assertEqual([file.name for file in files], ["4x-gpu-x.json", "4x-gpu-x-profile.json", "4x-gpu-x-verdicts.json"])
        self.assertEqual(measured.read(files[0])["device"], "4x NVIDIA GPU X")

    def test_a_run_with_problems_is_refused(self):
        with self.assertRaisesRegex(Failed, "not everything.*\n  x failed"):
            self.bring_in(problems=["x failed"])
        self.assertEqual(list((self.chapter / "results").iterdir()), [])
        self.assertEqual(len(bring_in.of_run(self.course.top, self.out, True)), 3)

    def test_what_is_no_run_is_said(self):
        with self.assertRaisesRegex(Failed, 'has no "schema": "course.measured"'):
            self.bring_in(schema="x")
        with self.assertRaisesRegex(Failed, "there is no chapter 02-y"):
            self.bring_in(ladders={"02-y": results("02-y", *ROWS)})
        with self.assertRaisesRegex(Failed, "nowhere.*common/dev measure run"):
            bring_in.of_run(self.course.top, self.course.top / "nowhere", False)


class Command(unittest.TestCase):
    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, str(DEV), *map(str, arguments)], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_import_and_check(self):
        course = Course(self)
        course.chapter("01-x")
        compact_json.write(course.top / "out" / "results.json", {
            "schema": "course.measured", "version": 1, "problems": [], "ladders": {}, "profiles": {}, "sectors": {},
            "verdicts": {"01-x": VERDICTS},
        })  # fmt: skip
        code, said = self.run_it("--top", course.top, "measure", "import", course.top / "out")
        self.assertEqual((code, said), (0, "chapters/01-x/results/gpu-x-verdicts.json\n"))
        self.assertEqual(self.run_it("--top", course.top, "generate", "--check")[0], 1)
        self.assertEqual(self.run_it("--top", course.top, "generate")[0], 0)
        self.assertEqual(self.run_it("--top", course.top, "generate", "--check"), (0, "13 generated texts are in step\n"))

    def test_wrong_options(self):
        for arguments, words in ((["measure", "render"], "invalid choice"), (["measure", "import"], "required: output"), (["measure", "run"], "required: output"),
                                 (["measure", "run", "x", "--parts", "tests,build"], "'build' is none of"), (["lint", "--fast"], "unknown: --fast")):
            code, said = self.run_it(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
