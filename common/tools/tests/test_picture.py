"""Pictures of traces: which launch is drawn, the words, the SVG, and the commands around them."""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
from contextlib import redirect_stdout
from pathlib import Path

from tools.lib import documents
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.maintain.generate import pictures
from tools.tests import sample_traces as sample
from tools.tests.sample_course import toml
from tools.tests.sample_results import sample as sample_result
from tools.trace import choosing, folding, picture, picture_svg, places, recording, sentences, svg_text

READS = ("common/tools/tests/sample_source.txt", "common/tools/trace")

TOOLS = TOP / "common/tools"
SVG = "{http://www.w3.org/2000/svg}"


def texts_of(svg):
    """Every <text> of a drawing."""
    return [element.text for element in ElementTree.fromstring(svg).iter(SVG + "text")]


def one(*events, arrays=None, **more):
    """A launch of these events, and the first of them."""
    launch = sample.launch("k", list(events), arrays or [sample.array("d_x"), sample.array("s_x", "shared")], **more)
    return launch, events[0]


class Reading(unittest.TestCase):
    def load(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            return recording.load(file.name)

    def test_a_trace(self):
        self.assertEqual(self.load(json.dumps(sample.trace(sample.racy())))["program"], "ladder")

    def test_what_is_no_trace_is_said(self):
        for text, words in (("{", "cut off"), ("[]", "schema simt.trace"), ('{"schema": "simt.trace", "version": 1}', "version 2"),
                            ('{"schema": "simt.trace", "version": 2, "launches": []}', "no launch")):
            with self.assertRaisesRegex(Failed, words):
                self.load(text)
        with self.assertRaisesRegex(Failed, "No such file"):
            recording.load("nowhere.json")

    def test_words_of_a_swap_are_read_as_what_the_array_holds(self):
        def read(element, size, word):
            swap = sample.event("atomic", "atomicCAS", 1, "0x3", places=[[0, 0], [0, 0]], bytes=size, addresses=1,
                                expected=[str(word)] * 2, values=["7", None], old=[str(word), "7"])
            trace = sample.trace(sample.launch("k", [swap], [sample.array("d_x", element=element)]))
            event = self.load(json.dumps(trace))["launches"][0]["events"][0]
            self.assertEqual(event["stored"], [True, False])
            return event["expected"][0]

        self.assertEqual(read("float", 4, 0x3DCCCCCD), "0.1")
        self.assertEqual(read("float", 4, 0xFFFFFFFF), "nan")
        self.assertEqual(read("double", 8, 0x3FF8000000000000), "1.5")
        self.assertEqual(read("half", 4, 0x40003C00), "(1, 2)")
        self.assertEqual(read("half", 2, 0x3C00), "1")
        self.assertEqual(read("__nv_bfloat16", 4, 0x40003F80), "(1, 2)")
        self.assertEqual(read("int", 4, 5), "5")
        self.assertEqual(read(None, 4, 5), "5")

    def test_in_clusters_an_array_of_shared_memory_says_whose_it_is(self):
        arrays = self.load(json.dumps(sample.trace(sample.cluster())))["launches"][0]["arrays"]
        self.assertEqual([array["name"] for array in arrays], ["block 0's s_x", "block 1's s_x", "d_y"])
        self.assertEqual(arrays[1]["full_name"], "s_x")  # as findings have it

    def test_the_barrier_of_a_cluster_in_the_picture_of_a_warp(self):
        launch = self.load(json.dumps(sample.trace(sample.cluster())))["launches"][0]
        svg = picture_svg.draw(sample.trace(launch), choosing.Choice(0, 0, 0, "as asked"))
        self.assertEqual(svg.count('class="bar"'), 4)
        self.assertIn("the block has arrived, and goes on", svg)

    def test_lanes(self):
        self.assertEqual(recording.lanes_of("0x80000005"), [0, 2, 31])
        self.assertEqual([recording.lanes_in_warp({"block": [7, 5, 1]}, warp) for warp in range(3)], [32, 3, 0])


class Choosing(unittest.TestCase):
    def test_a_finding_comes_first(self):
        choice = choosing.choose(sample.trace(sample.tree(), sample.atomic(), sample.racy()))
        self.assertEqual(choice, (2, 0, 0, "the first with a finding"))

    def test_else_the_smallest_that_fills_a_warp(self):
        small = sample.launch("small", [sample.access("load", 1, [[0, 0]], "0x1")], [sample.array("d_x")], block=1)
        choice = choosing.choose(sample.trace(small, sample.tree(), {**sample.tree(), "block": [32, 1, 1]}))
        self.assertEqual(choice[0], 2)
        self.assertEqual(choosing.choose(sample.trace(small)).reason, "the first that did something; none fills a warp")

    def test_the_warp_that_the_finding_names(self):
        launch = sample.racy()
        other = [{**event, "warp": 1} for event in launch["events"]]
        launch = {**launch, "block": [64, 1, 1], "events": launch["events"] + other}
        launch["findings"] = [sample.finding(sample.RACE, (4, "0", "40"))]
        self.assertEqual(choosing.choose(sample.trace(launch))[1:3], (0, 1))

    def test_a_block_and_a_thread_of_several_dimensions(self):
        self.assertEqual([choosing.position(text, [4, 3, 2]) for text in ("7", "(1,2)", "(1, 2, 1)", "")], [7, 9, 21, None])

    def test_as_asked(self):
        trace = sample.trace(sample.tree(), sample.racy())
        self.assertEqual(choosing.choose(trace, 1)[0], 0)
        self.assertEqual(choosing.choose(trace, kernel="tree")[0], 0)
        self.assertEqual(choosing.choose(trace, kernel="tree<float>")[0], 0)

    def test_what_is_not_there_is_said(self):
        trace = sample.trace(sample.tree(), sample.racy())
        for options, words in (({"number": 3}, "the launches 1 to 2"), ({"number": 0}, "the launches 1 to 2"),
                               ({"kernel": "sum"}, "the trace has tree, sum_racy"),
                               ({"number": 1, "kernel": "sum_racy"}, "--launch 1 --kernel sum_racy"),
                               ({"warp": 1}, "it has block 0 warp 0"), ({"block": 4}, "it has block 0 warp 0")):
            with self.assertRaisesRegex(Failed, words):
                choosing.choose(trace, **options)
        with self.assertRaisesRegex(Failed, "no launch has events"):
            choosing.choose(sample.trace({**sample.tree(), "events": []}))


class Words(unittest.TestCase):
    def places(self, touched, **more):
        return places.places_text(*one(sample.access("load", 1, touched, hex((1 << len(touched)) - 1), **more)))

    def test_places(self):
        self.assertEqual(self.places([[0, 5]] * 3), "d_x[5]")
        self.assertEqual(self.places([[0, k] for k in range(4)]), "d_x[0] to [3]")
        self.assertEqual(self.places([[0, 3], [0, 2], [0, 1]]), "d_x[1] to [3]")
        self.assertEqual(self.places([[0, 0], [0, 7]]), "d_x[0], d_x[7]")
        self.assertEqual(self.places([[0, 2 * k] for k in range(8)]), "d_x[0] to [14], every 2nd")
        self.assertEqual(self.places([[0, k] for k in (0, 1, 5, 6)]), "d_x[0] to [6], with gaps")
        self.assertEqual(self.places([[0, 4 * k] for k in range(8)], size=16), "d_x[0] to [31]")
        self.assertEqual(self.places([[0, 1], [1, 2]]), "d_x[1]; s_x[2]")
        self.assertEqual(self.places([[0, 1], None]), "d_x[1]")
        self.assertEqual(self.places([[0, 0.5]]), "d_x[0.5]")

    def test_costs(self):
        def cost(event):
            return sentences.cost(*one(event))

        self.assertEqual(cost(sample.access("load", 1, [[0, 0]] * 32, sectors=1)), "1 sector")
        self.assertEqual(cost(sample.access("store", 1, [[1, 0]] * 32, wavefronts=1)), "1 wavefront")
        self.assertEqual(cost(sample.access("store", 1, [[1, 0]] * 32, wavefronts=2)), "2 wavefronts: bank conflict")
        self.assertEqual(cost(sample.access("load", 1, [[1, 0]] * 32, size=16, wavefronts=4)), "4 wavefronts")
        self.assertEqual(cost(sample.event("atomic", "atomicAdd", 1, addresses=2)), "2 addresses, 32 lanes")
        self.assertEqual(cost(sample.event("return", "return", 1, "0x1")), "lane 0 leaves")

    def test_shuffles(self):
        def text(sources, lanes=sample.ALL):
            return sentences.shuffle_text(sample.event("shuffle", "s", 1, lanes, sources=sources))

        every = range(32)
        self.assertEqual(text([min(k + 4, 31) if k + 4 < 32 else k for k in every]), "from 4 lanes further on")
        self.assertEqual(text([k - 1 if k else 0 for k in every]), "from 1 lane further back")
        self.assertEqual(text([k ^ 8 for k in every]), "partners: lane number xor 8")
        self.assertEqual(text([7] * 32), "all take lane 7's")
        self.assertEqual(text(list(every)), "every lane keeps its own")
        self.assertEqual(text([k // 2 for k in every]), "from 16 lanes")

    def test_sectors_and_banks(self):
        launch, event = one(sample.access("load", 1, [[0, 2 * k + 1] for k in range(32)]))
        self.assertEqual([key for key in places.sectors(places.touches(launch, event))], [(0, k) for k in range(8)])
        launch, event = one(sample.access("load", 1, [[1, 33 * k] for k in range(32)]))
        self.assertEqual(len(places.banks(places.touches(launch, event))), 32)
        launch, event = one(sample.access("load", 1, [[1, 32 * k] for k in range(32)]))
        self.assertEqual([len(words) for words in places.banks(places.touches(launch, event)).values()], [32])

    def test_an_array_that_begins_inside_a_sector_and_at_a_bank_of_its_own(self):
        arrays = [sample.array("d_x", offset=16), sample.array("s_x", "shared", offset=8)]
        launch, event = one(sample.access("load", 1, [[0, k] for k in range(32)]), arrays=arrays)
        touched = places.touches(launch, event)
        self.assertEqual(list(places.sectors(touched)), [(0, k) for k in range(5)])
        self.assertEqual(places.element_at(launch, 0, 32), 4)
        launch, event = one(sample.access("load", 1, [[1, 0]], "0x1"), arrays=arrays)
        self.assertEqual(list(places.banks(places.touches(launch, event))), [2])

    def test_names_of_arrays(self):
        for name, short in (("d_x", "d_x"), ("work.grid", "work.grid"), ("(reinterpret_cast<const __half2*>(d_b))", "d_b"),
                            ("static_cast<Pack<float, 4>*>(d_x + 1)", "d_x + 1"), ("x.data()", "x.data()"),
                            ("the 256 bytes allocated at buffer.cuh:22", "array 3"), ("", "array 3")):
            self.assertEqual(recording.short_name(name, 3), short)

    def test_values_are_cut_but_stay_numbers(self):
        shown = [svg_text.short_value(text) for text in ("12", "1234567", "0.4375", "-0.123", "true", "nan", "1e-05", "-12345")]
        self.assertEqual(shown, ["12", "1e6", ".438", "-.12", "1", "nan", "1e-5", "-1e4"])


class Folding(unittest.TestCase):
    def test_rounds_of_a_loop(self):
        rows = folding.folded(sample.tree()["events"])
        self.assertEqual(rows[3], folding.Fold(2, 3))
        self.assertEqual(len(rows), 24 - 6 + 1)

    def test_rounds_that_differ_stay(self):
        events = [sample.access("load", 1, [[0, k]], f"{1 << k:#x}", sectors=1) for k in range(5)]
        self.assertEqual(folding.folded(events), events)

    def test_two_alike_rows_stay(self):
        events = [sample.access("load", 1, [[0, 0]], "0x1", sectors=1)] * 2
        self.assertEqual(folding.folded(events), events)
        self.assertEqual(folding.folded(events + events), [events[0], folding.Fold(1, 3)])


class Drawing(unittest.TestCase):
    def draw(self, launch, **more):
        trace = sample.trace(launch)
        return picture_svg.draw(trace, choosing.choose(trace), **more)

    def test_it_is_the_same_every_time_and_well_formed(self):
        for make in (sample.tree, sample.racy, sample.atomic):
            svg = self.draw(make())
            self.assertEqual(svg, self.draw(json.loads(json.dumps(make()))))
            root = ElementTree.fromstring(svg)
            self.assertEqual(root.get("role"), "img")
            self.assertNotRegex(svg, r"<script|href|url\((?!#hatch)|@import|@font-face")

    def test_a_row_has_line_source_name_and_cost(self):
        texts = texts_of(self.draw(sample.tree()))
        for text in ("17", "const T first = d_x[32 * lane];", "load of d_x: 32 sectors", "load of s_x: 32 wavefronts: bank conflict",
                     "__shfl_down_sync: from 16 lanes further on", "the whole block waits here", "0xaaaaaaaa for all 32 lanes",
                     "… 3 more rounds of the 2 rows above", "d_x[100] to [162], every 2nd: 128 of 288 bytes used"):
            self.assertIn(text, texts)

    def test_atomics_meet_on_their_addresses(self):
        texts = texts_of(self.draw(sample.atomic()))
        self.assertIn("d_y[0] × 16 lanes", texts)
        self.assertEqual(texts.count("get back"), 1)
        self.assertIn("Hatched: takes no part; dot: has returned; a box of memory is a sector: 32 bytes, moved whole.", texts)

    def test_who_stores_by_a_swap(self):
        texts = texts_of(self.draw(sample.swap()))
        self.assertEqual(texts.count("✓"), 1)
        self.assertEqual([text for text in texts if text in ("expect", "give", "get back", "stored", "get")],
                         ["expect", "give", "get back", "stored", "get"])

    def test_a_vectors_parts_stand_below_each_other_and_the_end_is_left_out(self):
        texts = texts_of(self.draw(sample.swap()))
        self.assertTrue({"0.5", "1.5", "2.5", "3.5"} <= set(texts))
        self.assertNotIn("return", " ".join(filter(None, texts)))

    def test_returned_lanes_are_gone_also_before_the_lines_that_are_drawn(self):
        svg = self.draw(sample.atomic(), lines=(11, 11))
        self.assertEqual(svg.count("<circle"), 16)

    def test_findings(self):
        svg = self.draw(sample.racy())
        texts = texts_of(svg)
        self.assertIn("DATA RACE in kernel sum_racy on d_y[0]", texts)
        self.assertEqual(sum(text.endswith(", in the report") for text in texts if text), 2)
        self.assertIn("load of d_x: 4 sectors", texts)

    def test_words_for_who_does_not_see_it(self):
        root = ElementTree.fromstring(self.draw(sample.racy()))
        self.assertEqual(root.find(SVG + "title").text, "sum_racy<<<1, 32>>>, block 0, warp 0")
        self.assertEqual(
            root.find(SVG + "desc").text,
            "Line 4: load of d_x[0] to [31] by all 32 lanes: 4 sectors. Line 4: load of d_y[0] by all 32 lanes: 1 sector. "
            "Line 4: store of d_y[0] by all 32 lanes: 1 sector. DATA RACE in kernel sum_racy on d_y[0].",
        )

    def test_long_traces_are_cut(self):
        texts = texts_of(self.draw(sample.tree(), rows=(3, 5)))
        self.assertIn("… 2 rows before", texts)
        self.assertIn("… 14 more rows", texts)
        with self.assertRaisesRegex(Failed, "there are 19 rows, and none from 20 on"):
            self.draw(sample.tree(), rows=(20, 30))

    def test_lines(self):
        texts = texts_of(self.draw(sample.tree(), lines=(24, 26)))
        self.assertEqual(sum(text.startswith("__shfl") for text in texts), 3)
        self.assertNotIn("const T first = d_x[32 * lane];", texts)
        with self.assertRaisesRegex(Failed, "no events in lines 90 to 99"):
            self.draw(sample.tree(), lines=(90, 99))

    def test_a_launch_that_was_stopped_at_once(self):
        texts = texts_of(self.draw({**sample.racy(), "events": [], "arrays": []}))
        self.assertIn("the launch was stopped before anything was recorded, here:", texts)
        self.assertIn("if (i < n) d_y[0] += d_x[i];", texts)
        self.assertIn("DATA RACE in kernel sum_racy on d_y[0]", texts)

    def test_a_launch_that_was_not_recorded_to_its_end(self):
        texts = texts_of(self.draw({**sample.atomic(), "complete": False}))
        self.assertIn("… the recorder stopped here: the launch did more", texts)

    def test_places_and_values_that_nobody_knows(self):
        events = [sample.event("atomic", "atomicAdd", 1, "0x3", places=[None, [0, 1]], bytes=4, addresses=1),
                  sample.event("load", "load", 1, "0x3", bytes=4),
                  sample.event("vote", "__any_sync", 1, "0x3"),
                  sample.access("store", 1, [[0, 0], None], "0x3", values=[None, "1"], sectors=1)]
        self.assertIn("d_x[1]", texts_of(self.draw(one(*events)[0])))

    def test_every_operation_of_the_schema_is_drawn(self):
        for op in "load store atomic shuffle vote reduce match activemask syncwarp barrier fence return".split():
            ElementTree.fromstring(self.draw(one(sample.event(op, op, 1))[0]))

    def test_markup_and_control_characters_are_texts(self):
        name = "a<b>&\x1b\"'"
        svg = self.draw(one(sample.access("load", 1, [[0, 0]], "0x1", values=[name], sectors=1),
                            arrays=[sample.array(name)], findings=[sample.finding(name)])[0])
        self.assertIn("a<b>&\ufffd\"'[0]: 4 of 32 bytes used", texts_of(svg))

    def test_wide_and_tiny_elements(self):
        for size, bytes_of_access in ((1, 1), (2, 2), (8, 8), (4, 16), (2, 4)):
            touched = [[0, k * bytes_of_access // size] for k in range(32)]
            launch, _ = one(sample.access("load", 1, touched, size=bytes_of_access, sectors=bytes_of_access),
                            arrays=[sample.array("d_x", size=size)])
            note = f"{32 * bytes_of_access} of {32 * bytes_of_access} bytes used"
            self.assertTrue(any(text.endswith(note) for text in texts_of(self.draw(launch)) if text), size)


class Command(unittest.TestCase):
    """The commands, with stand-ins for Meson's files, checks and programs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.build = self.root / "build"
        (self.build / "meson-info").mkdir(parents=True)
        self.meson(["simt", "course"])

    def tearDown(self):
        self.folder.cleanup()

    def meson(self, targets):
        exercise = recording.TOP / "common" / "tools" / "tests" / "word_count.cuh"
        command = [sys.executable, str(self.root / "check.py"), os.path.relpath(exercise, self.build.resolve())]
        tests = [{"name": "word_count", "cmd": command, "suite": ["01-x:exercises"]}, {"name": "ladder", "cmd": [], "suite": ["01-x:lessons"]}]
        (self.build / "meson-info" / "intro-tests.json").write_text(json.dumps(tests))
        (self.build / "meson-info" / "intro-targets.json").write_text(json.dumps([{"name": name} for name in targets]))

    def stand_in(self, file, said, code, trace=None, failed=""):
        """A program that prints, writes a trace and a result if it is asked for them, and ends."""
        result = sample_result("failed", failures=[{"test": failed}]) if failed else {}
        file.write_text(
            f"#!{sys.executable}\nimport os, sys\nprint({said!r})\n"
            + (f"open(os.environ['SIMT_TRACE'], 'w').write({json.dumps(trace)!r})\n" if trace else "")
            + (f"os.makedirs('results', exist_ok=True)\nopen('results/word_count.json', 'w').write({json.dumps(result)!r})\n" if result else "")
            + f"sys.exit({code})\n"
        )
        file.chmod(0o755)

    def run_it(self, *arguments):
        """Exit code, and what was said."""
        done = subprocess.run(
            [sys.executable, str(TOOLS / "trace/picture.py"), *map(str, arguments)], cwd=self.root, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "PWD": str(self.root)},
        )
        return done.returncode, done.stdout

    def exercise(self, *more):
        return self.run_it("--exercise", "word_count", "--build", self.build, *more)

    def test_a_trace(self):
        file = self.root / "t.json"
        file.write_text(json.dumps(sample.trace(sample.tree(), sample.racy())))
        code, said = self.run_it(file, "--list")
        self.assertEqual(code, 0)
        self.assertIn("1 tree<float><<<1, 64>>>: 24 events of 1 warp\n", said)
        self.assertIn("2 sum_racy<<<1, 32>>>: 3 events of 1 warp, DATA RACE", said)
        code, said = self.run_it(file)
        self.assertEqual(code, 0)
        self.assertIn("Launch 2 of 2, sum_racy<<<1, 32>>>, block 0, warp 0: the first with a finding.", said)
        self.assertTrue((self.root / "t.svg").exists())
        self.assertIn("9 more rows: add --rows 11-19.\n", self.run_it(file, "--launch", 1, "--rows", "3-10")[1])
        code, said = self.run_it(file, "--launch", 1, "-o", self.root / "a" / "b.svg", "--html", self.root / "c.html")
        self.assertEqual(code, 0)
        self.assertIn("tree", (self.root / "a" / "b.svg").read_text())
        self.assertTrue((self.root / "c.html").exists())

    def test_the_page_of_an_exercise_is_opened(self):
        self.stand_in(self.root / "check.py", "ok", 0, sample.trace(sample.tree()))
        for browser, said in ((f"{sys.executable} {self.root / 'browser.py'} %s", ""), ("/nowhere/browser", "No browser was found")):
            (self.root / "browser.py").write_text("import sys\nopen('opened', 'w').write(sys.argv[1])\n")
            with unittest.mock.patch.dict(os.environ, {"BROWSER": browser, "PATH": ""}):
                code, text = self.exercise("--open")
            self.assertEqual(code, 0, text)
            self.assertIn(said, text)
        self.assertEqual((self.root / "opened").read_text(), (self.build / "picture-word_count.html").as_uri())

    def test_wrong_options(self):
        file = self.root / "t.json"
        file.write_text(json.dumps(sample.trace(sample.tree())))
        for arguments, words in ((["nowhere.json"], "No such file"), ([file, "--launch", "7"], "the launches 1 to 1"),
                                 ([], "give one of"), ([file, "--exercise", "x"], "give one of"),
                                 ([file, "--lines", "9-3"], "not a range such"), ([file, "--open"], "--open is for --exercise"), ([file, "-o", "/proc/no/x.svg"], "/proc/no/x.svg")):
            code, said = self.run_it(*arguments)
            self.assertNotEqual(code, 0)
            self.assertIn(words, said)
            self.assertNotIn("Traceback", said)

    def test_an_exercise_that_passes(self):
        self.stand_in(self.root / "check.py", "passed", 0, sample.trace(sample.tree()))
        code, said = self.exercise()
        self.assertEqual(code, 0, said)
        self.assertTrue(said.startswith("The check passes under schedule 0."), said)
        self.assertIn("the smallest that fills a warp and touches memory.", said)
        self.assertIn("picture: build/picture-word_count.svg\nsteps:   build/picture-word_count.html\n", said)
        self.assertTrue((self.build / "picture-word_count.svg").exists())
        self.assertTrue((self.build / "picture-word_count.html").exists())

    def test_an_exercise_with_a_race_says_so_and_is_drawn(self):
        self.stand_in(self.root / "check.py", "FAILED: word_count counts", 1, sample.trace(sample.tree(), sample.racy()))
        code, said = self.exercise()
        self.assertEqual(code, 0, said)
        self.assertTrue(said.startswith("FAILED: word_count counts"))
        self.assertIn("the first with a finding", said)

    def test_a_wrong_value_leads_to_the_last_launch_of_the_failed_test(self):
        launches = [{**sample.tree(), "test": "first"}, {**sample.tree(), "test": "counts words"},
                    {**sample.atomic(), "test": "counts words"}, {**sample.tree(), "test": "later"}]
        self.stand_in(self.root / "check.py", "FAILED: word_count", 1, sample.trace(*launches), "word_count counts words / of two")
        code, said = self.exercise()
        self.assertEqual(code, 0, said)
        self.assertIn("Launch 3 of 4, sum_global_atomic<<<1, 32>>>, block 0, warp 0: the last of the test that fails.", said)
        self.assertIn("Launch 1 of 4", self.exercise("--launch", 1)[1])

    def test_a_picture_is_of_the_exercises_own_kernels_and_not_of_findings_that_a_check_wants(self):
        own = {**sample.tree(), "grid": [9, 1, 1], "test": "counts"}
        for event in own["events"]:
            event["file"] = "common/tools/tests/word_count.cuh"
        wanted = {**own, "kernel": "wanted", "findings": [sample.finding("a finding")], "test": "later"}
        self.stand_in(self.root / "check.py", "passed", 0, sample.trace(sample.racy(), wanted, own))
        self.assertIn("Launch 2 of 3, wanted<<<9, 64>>>, block 0, warp 0: the smallest", self.exercise()[1])
        self.assertIn("Launch 1 of 3, sum_racy", self.exercise("--kernel", "sum_racy")[1])
        self.stand_in(self.root / "check.py", "FAILED", 1, sample.trace(sample.racy(), wanted, own), "word_count counts")
        self.assertIn("Launch 3 of 3, tree<float><<<9, 64>>>, block 0, warp 0: the last of the test", self.exercise()[1])
        bad = {**own, "findings": [sample.finding("a finding")]}
        self.stand_in(self.root / "check.py", "FAILED", 1, sample.trace(wanted, bad, own), "word_count counts")
        self.assertIn("Launch 2 of 3, tree<float><<<9, 64>>>, block 0, warp 0: the first with a finding", self.exercise()[1])

    def test_no_picture_of_what_does_not_compile_or_is_not_begun(self):
        for said_by_check, code_of_check in (("word_count does not compile:\n\nerror", 1), ("Not started. Open x.", 77)):
            for ending in ("json", "svg", "html"):  # of an earlier run
                (self.build / f"picture-word_count.{ending}").write_text("{}")
            self.stand_in(self.root / "check.py", said_by_check, code_of_check)
            code, said = self.exercise()
            self.assertEqual(code, 1)
            self.assertIn(said_by_check, said)
            self.assertNotIn("Traceback", said)
            self.assertFalse((self.build / "picture-word_count.svg").exists())

    def test_a_gpu_build_records_nothing(self):
        self.meson(["course"])
        code, said = self.exercise()
        self.assertEqual(code, 1)
        self.assertIn("meson setup build-cpu -Ddevice=cpu", said)

    def test_unknown_names_and_folders(self):
        code, said = self.run_it("--exercise", "word", "--build", self.build)
        self.assertEqual(code, 1)
        self.assertIn("No exercise 'word' in build; it has word_count", said)
        code, said = self.run_it("--exercise", "word_count", "--build", self.root / "none")
        self.assertEqual(code, 1)
        self.assertIn("meson setup build", said)

    def chapter(self, **more):
        """A chapter with one picture, which its README has."""
        chapter = self.root / "chapters" / "01-x"
        chapter.mkdir(parents=True, exist_ok=True)
        entry = {"program": "ladder", "arguments": ["--n", "32"], "kernel": "tree", "question": "Who adds what?", "output": "tree.svg", "alt": "A tree", **more}
        (chapter / "chapter.toml").write_text(f'question = "?"\nlearn = "?"\nexercises = []\npicture = {toml([entry])}\n')
        (chapter / "README.md").write_text("# X\n\n![A tree](pictures/tree.svg)\n")
        self.stand_in(self.build / "ladder", "rungs", 0, sample.trace(sample.tree()))
        return chapter

    def generate(self, chapter):
        """Draws the chapter's pictures that are out of step."""
        return documents.write(self.root, [lambda: pictures(chapter, self.build)])

    def problems(self, chapter):
        """What is out of step; "" if nothing is."""
        try:
            documents.check(self.root, [lambda: pictures(chapter, self.build)])
        except Failed as failed:
            return str(failed)
        return ""

    def test_a_chapters_pictures(self):
        chapter = self.chapter()
        svg = chapter / "pictures" / "tree.svg"
        self.assertIn("chapters/01-x/pictures/tree.svg is missing: what a program of the chapter does", self.problems(chapter))
        self.assertEqual(self.generate(chapter), [svg])
        self.assertEqual(self.problems(chapter), "")
        self.assertIn('class="head">Who adds what?</text>', svg.read_text())
        self.assertEqual(self.generate(chapter), [])
        svg.write_text(svg.read_text().replace("32 sectors", "4 sectors"))
        self.assertIn("tree.svg is out of step", self.problems(chapter))

    def test_a_declaration_that_is_wrong(self):
        for more, words in (({"kernel": "oak"}, "tree.svg: --kernel oak: no such launch"), ({"warps": 1}, "'picture.warps' is unknown"),
                            ({"lines": [90, 99]}, "tree.svg: launch 1: block 0, warp 0 has no events in lines"),
                            ({"program": "self"}, "build/chapters/01-x/self is not built")):
            chapter = self.chapter(**more)
            with self.assertRaisesRegex(Failed, re.escape(words)):
                self.generate(chapter)


class Listing(unittest.TestCase):
    def test_what_is_said(self):
        with redirect_stdout(io.StringIO()) as said:
            trace = sample.trace(sample.tree())
            picture.draw(trace, choosing.choose(trace, 1), None, None, None, None)
        self.assertEqual(said.getvalue(), "Launch 1 of 1, tree<float><<<1, 64>>>, block 0, warp 0: as asked.\n")


if __name__ == "__main__":
    unittest.main()
