"""Pictures of several warps, of single threads, and those that a program draws itself."""

import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

from tools.lib import chapter as metadata
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.tests import sample_traces as sample
from tools.tests.in_folder import InFolder
from tools.trace import draw_block, draw_cluster, draw_levels, draw_threads, draw_tiles, narrow, run_recorded
from tools.trace.choosing import Choice

READS = ("common/tools/tests/sample_source.txt",)

TOOLS = TOP / "common/tools"
SVG = "{http://www.w3.org/2000/svg}"
FIRST = Choice(0, 0, 0, "as asked")


def texts_of(svg):
    """Every <text> of a drawing."""
    return [element.text for element in ElementTree.fromstring(svg).iter(SVG + "text")]


def widest(svg):
    """How far right the elements of a drawing reach that say so: boxes."""
    boxes = ElementTree.fromstring(svg).iter(SVG + "rect")
    return max(float(box.get("x")) + float(box.get("width")) for box in boxes)


class Threads(unittest.TestCase):
    def draw(self, threads, launch=None, elements=()):
        return draw_threads.draw(sample.trace(launch or sample.message()), FIRST, threads, elements)

    def test_each_access_has_a_row_in_the_order_of_the_trace(self):
        texts = texts_of(self.draw([[0, 0], [1, 33]]))
        self.assertEqual([text for text in texts if text.startswith(("stores", "gives", "gets", "fence"))],
                         ["stores 1000", "gives 0", "gets 0", "fence", "gives 1", "gets 0", "gets 1000"])
        self.assertEqual([text for text in texts if text in ("d_message[0]", "d_flag[0]")],
                         ["d_message[0]", "d_flag[0]", "d_flag[0]", "d_message[0]"])
        self.assertIn("block 1, thread 33", texts)

    def test_the_value_is_that_of_the_threads_lane(self):
        texts = texts_of(self.draw([[0, 0], [1, 34]]))
        self.assertIn("d_message[5]", texts)
        self.assertIn("gets 0", texts)
        self.assertNotIn("gets 1000", texts)

    def test_several_threads_of_a_block_are_named_in_their_rows(self):
        texts = texts_of(self.draw([[0, 0], [1, 33], [1, 34]]))
        self.assertIn("block 1, threads 33, 34", texts)
        self.assertEqual([text for text in texts if text.startswith("thread ")], ["thread 33", "thread 33", "thread 34"])

    def test_a_barrier_is_one_bar_of_its_block(self):
        launch = sample.message()
        barrier = {**sample.event("barrier", "__syncthreads", 32, "0x6"), "block": 1, "warp": 1}
        launch["events"].insert(4, barrier)
        svg = self.draw([[0, 0], [1, 33], [1, 34]], launch)
        self.assertEqual(texts_of(svg).count("__syncthreads"), 1)
        self.assertIn("block 1, line 32: __syncthreads", ElementTree.fromstring(svg).find(SVG + "desc").text)

    def test_accesses_to_other_elements_are_left_out(self):
        texts = texts_of(self.draw([[0, 0], [1, 33]], elements=["d_flag[0]"]))
        self.assertNotIn("d_message[0]", texts)
        self.assertEqual(texts.count("d_flag[0]"), 2)

    def test_words_for_who_does_not_see_it(self):
        root = ElementTree.fromstring(self.draw([[0, 0], [1, 33]]))
        self.assertEqual(root.find(SVG + "title").text, "hand_over<2><<<2, 64>>>, block 0, thread 0 and block 1, thread 33")
        words = root.find(SVG + "desc").text
        for said in ("block 0, thread 0, line 26: store of 1000 to d_message[0].", "thread 33, line 30: atomicAdd of 0 to d_flag[0] gets 0.",
                     "load of d_message[0] gets 1000.", "line 27: __threadfence"):  # of the thread, whatever other lanes do
            self.assertIn(said, words)

    def racy(self):
        """Two lanes load and store d_y[0]; a finding names the load of the one and the store of the other."""
        launch = sample.racy()
        launch["findings"][0]["accesses"][1]["kind"] = "write"
        return launch

    def test_a_finding_is_below_the_rows_and_marks_the_accesses_that_it_names(self):
        svg = self.draw([[0, 0], [0, 4]], self.racy(), elements=["d_y[0]"])
        texts = texts_of(svg)
        self.assertEqual([text for text in texts if text.startswith(("gets", "stores"))], ["gets 0", "gets 0", "stores 0", "stores 1"])
        self.assertEqual(texts[-3:], ["DATA RACE in kernel sum_racy on d_y[0]", "read at sample_source.txt:4 by block 0 thread 4",
                                      "write at sample_source.txt:4 by block 0 thread 0"])  # fmt: skip
        root = ElementTree.fromstring(svg)
        steps = [element for element in root.iter(SVG + "g") if element.get("class") == "step"]
        marked = [step.find(SVG + "title").text for step in steps if any(box.get("class") == "mark" for box in step.iter(SVG + "rect"))]
        self.assertEqual(marked, ["block 0, thread 4: load of d_y[0] gets 0", "block 0, thread 0: store of 0 to d_y[0]"])
        self.assertIn("DATA RACE in kernel sum_racy on d_y[0].", root.find(SVG + "desc").text)
        self.assertNotIn('class="finding"', self.draw([[0, 0], [1, 33]]))

    def test_a_long_line_of_a_finding_is_wrapped(self):
        launch = self.racy()
        launch["findings"][0]["text"] = launch["findings"][0]["text"].replace("block 0 thread 4", "block (1023,1023,0) thread (31,31,0)")
        self.assertEqual(texts_of(self.draw([[0, 0], [0, 4]], launch, elements=["d_y[0]"]))[-4:-1],
                         ["DATA RACE in kernel sum_racy on d_y[0]", "read at sample_source.txt:4 by block", "(1023,1023,0) thread (31,31,0)"])  # fmt: skip

    def test_it_is_narrow(self):
        self.assertLess(widest(self.draw([[0, 0], [1, 33]])), narrow.WIDTH + 1)

    def test_it_is_as_narrow_as_a_telephone_where_two_threads_fit(self):
        for threads, lines, width in (([[0, 0], [1, 33]], "", narrow.PHONE), ([[0, 0], [1, 33], [1, 34]], "", narrow.WIDTH), ([[0, 0], [1, 33]], "x" * 60, narrow.WIDTH)):
            with mock.patch("tools.trace.narrow.source_line", return_value=lines or "d_flag[0]"):
                svg = self.draw(threads)
            self.assertIn(f'viewBox="0 0 {width} ', svg)
            self.assertLess(widest(svg), width + 1)
        launch = sample.message()
        launch["arrays"][0]["name"] = "d_a_long_message"
        with mock.patch("tools.trace.narrow.source_line", return_value="d_flag[0]"):
            self.assertIn(f'viewBox="0 0 {narrow.WIDTH} ', self.draw([[0, 0], [1, 33]], launch))

    def test_what_cannot_be_drawn_is_said(self):
        for threads, words in (([[0, 0]], "has pairs"), ([[0, 0], [1]], "has pairs"), ([[0, 0], [1, 33], [2, 0]], "has pairs"), ([[0, 0], [1, 5]], "block 1, thread 5 has no events")):
            with self.assertRaisesRegex(Failed, words):
                self.draw(threads)
        launch = sample.two_warps()
        with self.assertRaisesRegex(Failed, "__shfl_down_sync of single threads cannot be drawn"):
            self.draw([[0, 0], [0, 32]], launch)


class Block(unittest.TestCase):
    def draw(self, launch=None):
        return draw_block.draw(sample.trace(launch or sample.two_warps()), FIRST)

    def test_rows(self):
        texts = texts_of(self.draw())
        for text in ("warp 0", "warp 1", "load of d_x[0] to [63]", "store of s_warp[0] to [1]", "__syncthreads: 2 warps wait here",
                     "5 × __shfl_down_sync: the values of all lanes reach lane 0", "warp 1 returns", "load of s_warp[0] to [1]",
                     "atomicAdd of 65 to d_y[0], which was 7"):
            self.assertIn(text, texts)
        self.assertEqual(texts.count("32"), 2)  # the box where it is stored, and where it is loaded
        self.assertEqual(texts.count("33"), 2)

    def test_fewer_shuffles_do_not_bring_all_together(self):
        launch = sample.two_warps()
        shuffles = [event for event in launch["events"] if event["op"] == "shuffle"]
        launch["events"] = [event for event in launch["events"] if event not in shuffles[-2:]]
        texts = texts_of(self.draw(launch))
        self.assertIn("4 × __shfl_down_sync", texts)

    def test_who_collects(self):
        shuffles = [event for event in sample.two_warps()["events"] if event["op"] == "shuffle" and event["warp"] == 0]
        self.assertEqual(draw_block.collectors(shuffles), [0])
        self.assertEqual(draw_block.collectors(shuffles[:4]), [])
        butterfly = [{**shuffles[0], "sources": [lane ^ distance for lane in range(32)]} for distance in (16, 8, 4, 2, 1)]
        self.assertEqual(draw_block.collectors(butterfly), list(range(32)))

    def test_the_last_warp_gets_the_whole_width(self):
        sheet = draw_block.BlockSheet(sample.two_warps(), [0, 1])
        self.assertEqual([sheet.strip(0), sheet.strip(1)], [(12, 196), (212, 196)])
        sheet.left = [0]
        self.assertEqual(sheet.strip(0), (10, 400))

    def test_a_value_keeps_the_colour_of_its_warp(self):
        svg = self.draw()
        loaded = svg[svg.rindex("load of s_warp"):]
        self.assertEqual(loaded.count('class="full L0"'), 2)  # and again where it is added
        self.assertEqual(loaded.count('class="full L16"'), 1)
        self.assertEqual(loaded.count('class="flow L16"'), 1)

    def test_it_is_narrow_and_the_same_every_time(self):
        self.assertLess(widest(self.draw()), 421)
        self.assertEqual(self.draw(), self.draw())

    def test_what_cannot_be_drawn_is_said(self):
        with self.assertRaisesRegex(Failed, "__ballot_sync of all warps cannot be drawn"):
            self.draw(sample.tree())


class Cluster(unittest.TestCase):
    def draw(self, launch=None):
        return draw_cluster.draw(sample.trace(launch or sample.cluster()), FIRST)

    def test_the_same_instruction_of_several_blocks_is_one_row(self):
        steps = draw_cluster.steps_of(sample.cluster())
        self.assertEqual([(step.line, len(step.events)) for step in steps],
                         [(11, 2), (12, 2), (13, 2), (14, 1), (15, 1), (16, 2), (17, 2), (18, 2), (19, 2)])

    def test_rows(self):
        texts = texts_of(self.draw())
        for text in ("block 0", "block 1", "store in the block's own shared memory", "atomicAdd: 4 of 8 in another block's shared memory",
                     "load: 1 of 1 from another block's shared memory", "store of d_y[0] to [1]",
                     "cluster_group::sync: 2 blocks wait for each other", "cluster_group::barrier_arrive: 2 blocks arrive",
                     "cluster_group::barrier_wait: 2 blocks wait for each other"):
            self.assertIn(text, texts)
        self.assertEqual(texts.count("waits"), 1)  # block 1, while block 0 loads
        self.assertIn("share<<<2, 4>>> in clusters of 2", texts)

    def test_memory_has_what_the_last_row_left_there(self):
        texts = texts_of(self.draw())
        atomics = texts[texts.index("atomicAdd: 4 of 8 in another block's shared memory"):]
        self.assertEqual(atomics[1:17], ["5"] * 8 + ["10", "s_x[0]", "10", "s_x[1]", "20", "s_x[0]", "0", "s_x[1]"])

    def test_a_line_has_the_colour_of_the_block_whose_value_it_brings(self):
        svg = self.draw()
        loaded = svg[svg.index("load: 1 of 1"):svg.rindex("store of d_y")]
        self.assertEqual((loaded.count('"flow L16"'), loaded.count('"flow L0"')), (1, 0))

    def test_words_for_who_does_not_see_it(self):
        words = ElementTree.fromstring(self.draw()).find(SVG + "desc").text
        self.assertIn("Line 11, 2 blocks, the first: store of s_x[0] to [1] by lanes 0 to 1: 1 wavefront.", words)
        self.assertIn("Line 15, block 0: load of s_x[0] by lane 0: in the shared memory of another block.", words)

    def test_it_is_narrow_and_the_same_every_time(self):
        self.assertLess(widest(self.draw()), 421)
        self.assertEqual(self.draw(), self.draw())

    def test_what_cannot_be_drawn_is_said(self):
        for launch, words in (
            (sample.two_warps(), "is not one cluster of blocks of up to 32 threads"),
            ({**sample.cluster(), "grid": [4, 1, 1]}, "is not one cluster"),
            ({**sample.cluster(), "block": [16, 1, 1]}, "more than 16 threads of a cluster cannot be drawn"),
            ({**sample.cluster(), "events": [sample.event("shuffle", "__shfl_sync", 5, "0xf")]}, "__shfl_sync of a cluster's blocks cannot"),
        ):
            with self.assertRaisesRegex(Failed, words):
                self.draw(launch)
        launch = sample.cluster()
        for event in launch["events"]:
            event["name"] = event["name"].replace("atomicAdd", "atomicMax")
        with self.assertRaisesRegex(Failed, "atomicMax of a cluster's threads cannot be drawn"):
            self.draw(launch)


class Levels(unittest.TestCase):
    def draw(self, name="s_sum", columns=4, launch=None):
        return draw_levels.draw(sample.trace(launch or sample.levels()), FIRST, name, columns, 64)

    def test_a_row_is_what_was_written_between_two_barriers(self):
        levels = draw_levels.levels_of(sample.levels(), 0)
        self.assertEqual([len(level) for level in levels], [64, 64, 64, 0])
        value, sources, event = levels[1][64 + 33]
        self.assertEqual((value, sources, event["line"]), ("67", [32, 33], 13))  # what the other warp read is not among them
        self.assertEqual(levels[2][1][1], [64 + 1])  # nor what the thread read before the barrier

    def test_values_and_lines(self):
        svg = self.draw()
        texts = texts_of(svg)
        self.assertEqual([text for text in texts if text.isdigit()], ["1", "2", "3", "4", "1", "3", "5", "7", "1", "1", "6", "10"])
        self.assertEqual(svg.count('class="flow'), 7 + 6)
        self.assertIn("s_sum[0]", texts)
        self.assertIn("[3]", texts)

    def test_what_is_not_drawn_comes_from_the_right_edge(self):
        launch = sample.levels()
        launch["events"][-2]["places"] = [[0, (k + 1) % 64] for k in range(32, 64)]  # thread 63 writes element 0
        lines = [element.get("d") for element in ElementTree.fromstring(self.draw(launch=launch)).iter(SVG + "path")]
        self.assertEqual(sum(line.startswith(f"M{narrow.RIGHT}") for line in lines), 2)  # it had read two elements

    def test_a_level_that_changes_nothing_is_left_out(self):
        launch = sample.levels()
        launch["events"].append(sample.access("store", 13, [[0, 64 + k] for k in range(32)], values=["1", "1", "6", "10"] + ["0"] * 28))
        self.assertIn("… 1 level without a change of these elements", texts_of(self.draw(launch=launch)))
        self.assertNotIn("… 1 level without a change of these elements", texts_of(self.draw()))

    def test_it_is_narrow_and_the_same_every_time(self):
        self.assertLess(widest(self.draw(columns=8)), 421)
        self.assertEqual(self.draw(), self.draw())

    def test_what_cannot_be_drawn_is_said(self):
        for asked, words in (({"name": "s_tree"}, "uses no shared array s_tree"), ({"columns": 9}, "'columns' is 1 to 8")):
            with self.assertRaisesRegex(Failed, words):
                self.draw(**asked)


class TilesOfALookBack(unittest.TestCase):
    def draw(self, tiles=2, launch=None):
        return draw_tiles.draw(sample.trace(launch or sample.look_back()), FIRST, tiles)

    def rows(self, launch, tiles):
        return [(event["op"], *row) for event, *row in draw_tiles.rows_of(launch, tiles)]

    def test_a_block_has_the_tile_whose_word_it_stores(self):
        self.assertEqual(self.rows(sample.look_back(), 2),
                         [("store", 1, 1, "A 0.5"), ("load", 1, 0, ""), ("store", 0, 0, "P 2"), ("load", 1, 0, "P 2"), ("store", 1, 1, "P 2.5")])

    def test_other_tiles_are_left_out(self):
        launch = sample.look_back()
        launch["events"].append({**launch["events"][-1], "block": 2, "places": [[0, 3]]})
        self.assertEqual(self.rows(launch, 2), self.rows(sample.look_back(), 2))
        self.assertIn(("store", 2, 2, "P 2.5"), self.rows(launch, 3))

    def test_rows(self):
        self.assertEqual(texts_of(self.draw()),
                         ["scan_look_back<<<2, 32>>>", "tile 0", "tile 1", "A 0.5", "nothing", "P 2", "P 2", "P 2.5"])

    def test_words_for_who_does_not_see_it(self):
        words = ElementTree.fromstring(self.draw()).find(SVG + "desc").text
        self.assertIn("Tile 1 publishes A 0.5. Tile 1 looks at tile 0, and finds nothing. Tile 0 publishes P 2.", words)

    def test_it_is_narrow_and_the_same_every_time(self):
        self.assertLess(widest(self.draw(8)), 421)
        self.assertEqual(self.draw(), self.draw())

    def test_what_cannot_be_drawn_is_said(self):
        for asked, words in (({"tiles": 9}, "'tiles' is 2 to 8"), ({"launch": sample.message()}, "does not publish words of one stamp")):
            with self.assertRaisesRegex(Failed, words):
                self.draw(**asked)


class Declared(InFolder):
    def program(self, text):
        self.write("neighbors", f"#!{sys.executable}\nimport os, sys\n{text}\n").chmod(0o755)

    def drawn(self, **entry):
        return run_recorded.drawn_from({"program": "neighbors", "question": "What is drawn in this picture, which is narrow?", "output": "a.svg", "alt": "A", **entry}, self.folder / "01-x", self.folder)

    def test_a_program_that_draws(self):
        self.program("open(sys.argv[2], 'w').write('<svg>' + sys.argv[1] + '</svg>')")
        self.assertEqual(self.drawn(arguments=["in.txt", "{picture}"]), "<svg>in.txt</svg>")

    def test_a_program_that_draws_nothing(self):
        self.program("print('no such file')")
        with self.assertRaisesRegex(Failed, "(?s)a.svg: .* drew nothing.*no such file"):
            self.drawn(arguments=["{picture}"])

    def test_views_and_the_schedule(self):
        trace = {True: sample.trace(sample.message()), False: sample.trace(sample.two_warps())}
        self.program(f"import json\ntraces = {trace!r}\n"
                     "json.dump(traces[os.environ['SIMT_SEED'] == '3'], open(os.environ['SIMT_TRACE'], 'w'))")
        self.assertIn("gets 1000", texts_of(self.drawn(kernel="hand_over", seed=3, threads=[[0, 0], [1, 33]])))
        self.assertIn("warp 1 returns", texts_of(self.drawn(kernel="block_sum", all_warps=True)))
        with self.assertRaisesRegex(Failed, "a.svg: .*no such launch"):
            self.drawn(kernel="block_sum", seed=3, all_warps=True)

    def test_all_blocks_of_a_cluster_are_recorded(self):
        self.program(f"import json\nassert os.environ['SIMT_TRACE_BLOCKS'] == '8'\n"
                     f"json.dump({sample.trace(sample.cluster())!r}, open(os.environ['SIMT_TRACE'], 'w'))")
        self.assertIn("block 1", texts_of(self.drawn(kernel="share", whole_cluster=True)))

    def test_levels_and_tiles(self):
        self.program(f"import json\nlaunch = {sample.trace(sample.levels())!r} if 'SIMT_TRACE_BLOCKS' not in os.environ else "
                     f"{sample.trace(sample.look_back())!r}\njson.dump(launch, open(os.environ['SIMT_TRACE'], 'w'))")
        self.assertIn("s_sum[0]", texts_of(self.drawn(kernel="scan", levels_of="s_sum", row_length=64)))
        self.assertIn("P 2.5", texts_of(self.drawn(kernel="scan_look_back", tiles=2)))

    def test_a_picture_shows_what_its_text_tells(self):
        self.program(f"import json\njson.dump({sample.trace(sample.look_back())!r}, open(os.environ['SIMT_TRACE'], 'w'))")
        told = re.search('<desc id="desc">([^<]*)', self.drawn(kernel="scan_look_back", tiles=2))[1].rstrip(".").split(". ")
        self.assertGreater(len(told), 2)
        self.drawn(kernel="scan_look_back", tiles=2, shows=[told[0], told[-1]])
        for shows in ([told[-1], told[0]], ["Tile 7 publishes"]):
            with self.assertRaisesRegex(Failed, f"a.svg: the picture does not show '{re.escape(shows[-1])}' after what"):
                self.drawn(kernel="scan_look_back", tiles=2, shows=shows)

    def test_words_of_two_integers(self):
        words = [str(3 << 32 | 7), str((1 << 64) - 1)]
        event = sample.event("atomic", "atomicCAS", 11, "0x3", places=[[0, 0], [0, 1]], bytes=8, expected=words[::-1], values=words,
                             old=words[::-1], addresses=2)  # fmt: skip
        table = {**sample.array("d_table", size=8), "type": "unsigned long long"}
        trace = sample.trace(sample.launch("k", [event], [table]))
        self.program(f"import json\njson.dump({trace!r}, open(os.environ['SIMT_TRACE'], 'w'))")
        shown = texts_of(self.drawn(kernel="k", split_words=True))
        self.assertEqual([shown.count(text) for text in ("7", "-1")], [4, 6])  # the numbers of lanes are there, too

    def test_a_picture_is_of_a_kernel_or_drawn_by_its_program(self):
        values = {"question": "?", "learn": "?", "exercises": []}
        for entry in ({"kernel": "k", "arguments": ["{picture}"]}, {}):
            with self.assertRaisesRegex(Failed, "'picture' a.svg has either a 'kernel' or the argument {picture}"):
                metadata.parse(self.folder, {**values, "picture": [{"program": "p", "output": "a.svg", "alt": "A", **entry}]})
        with self.assertRaisesRegex(Failed, "'picture' a has both 'levels_of' and 'row_length', or neither"):
            metadata.parse(self.folder, {**values, "picture": [{"program": "p", "output": "a", "alt": "A", "kernel": "k", "question": "?", "levels_of": "s_x"}]})
        with self.assertRaisesRegex(Failed, "'picture' a has no 'question'"):
            metadata.parse(self.folder, {**values, "picture": [{"program": "p", "output": "a", "alt": "A", "kernel": "k"}]})
        with self.assertRaisesRegex(Failed, "'picture.threads' must be a list of lists of numbers"):
            metadata.parse(self.folder, {**values, "picture": [{"program": "p", "output": "a", "alt": "A", "kernel": "k", "threads": [1, 2]}]})


if __name__ == "__main__":
    unittest.main()
