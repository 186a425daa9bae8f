"""The generated lines of a lesson: kernels, costs, and the list of rungs."""

import unittest
from types import SimpleNamespace
from unittest import mock

from tools.lib import compact_json
from tools.lib.failed import Failed
from tools.measure import documents, languages, lesson, plot_svg
from tools.tests.sample_course import Course, row

READS = ()

KERNELS = """// Header.
#pragma once

/// A struct that is named in sum_all().
struct alignas(8) Pair {
  int a, b;
};

constexpr int twice(int x) { return 2 * x; }

void only_declared(int x);

// Question: what?
template <class T>
__global__ void sum_all(const T* d_x, std::size_t n,
                        T* d_y) {
  const std::size_t i = blockIdx.x;
  const T x = d_x[i];
  if (i < n) {
    atomicAdd(d_y, x);
  }
}

__global__ void __launch_bounds__(256, 2048 / 256)
    calls(const float* d_x = {}) {
  sum_all(d_x);
}
"""
RUNGS = 'inline const Rung kRungs[] = {\n    {"copy_words_" + std::to_string(size), "n"},\n};\n'
PROFILE = {"n": 4096, "rungs": ["sum_all"], "counters": [{"name": "loads", "metric": "l"}, {"name": "DRAM", "metric": "d"}]}
PROFILED = {
    "schema": "course.profile", "version": 1, "device": "NVIDIA GPU X", "ncu": "Version 7", "date": "2026-01-02T03:04:05Z",
    "n": 4096, "rungs": [{"name": "sum_all", "kernel": "sum_all()", "metrics": {"l": 65536, "d": 12.18}}],
}  # fmt: skip
ROWS = [
    row("ours", "rung", 20.0), row("sum_all", "rung", 20.0, percent_of_copy=0.6), row("slower<float>", "rung", 40.0), row("same", "rung", 20.1),
    row("lib", "vendor", 30.0), row("racy", "wrong"),
    row("sum_all", "rung", 5.0, l2="warm", group=2), row("warmed", "rung", 7.0, l2="warm", group=2, percent_of_copy=0.6),
    row("copy_words_1", "rung", 9.0, series="bytes", x=1, group=1, changed="1 byte"),
    row("copy_words_2", "rung", 9.0, series="bytes", x=2, group=1, changed="2 bytes"),
]  # fmt: skip


class Lesson(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.chapter = self.course.measured("01-x", *ROWS, profile=PROFILE)
        (self.chapter / "sums.cuh").write_text(KERNELS)
        (self.chapter / "wrong.cuh").write_text("__global__ void racy() {\n}\n__global__ void slower() {\n}\nvoid same() {\n}\nvoid ours() {\n}\nvoid warmed() {\n}\n")
        (self.chapter / "rungs.cuh").write_text(RUNGS)
        shared = self.course.top / "common" / "include" / "course"
        shared.mkdir(parents=True)
        (shared / "tools.cuh").write_text("__device__ int shared_one() {\n  return 1;\n}\n")
        compact_json.write(self.chapter / "results" / "gpu-x-profile.json", PROFILED)

    def page(self, *lines):
        """The page that these lines become; rendering it once more changes nothing."""
        problems = []
        text = lesson.with_generated(self.chapter, "\n".join(lines) + "\n", problems, languages.English(self.course.top))
        if problems:
            raise Failed("\n".join(problems))
        self.assertEqual(lesson.with_generated(self.chapter, text, problems, languages.English(self.course.top)), text)
        return text

    def fails(self, line, words):
        with self.assertRaisesRegex(Failed, words):
            self.page(line)

    # ---- kernels

    def test_a_kernel_is_as_in_the_source_with_its_template_and_without_its_comment(self):
        text = self.page("before", "<!-- kernel sum_all -->", "after")
        code = KERNELS[KERNELS.index("template <class T>\n__global__") : KERNELS.index("\n\n__global__ void __launch")]
        self.assertEqual(text, f"before\n<!-- kernel sum_all -->\n```cuda\n{code}\n```\n[sums.cuh, line 14](sums.cuh#L14)\nafter\n")

    def test_structs_functions_of_one_line_and_shared_headers(self):
        self.assertIn("```cuda\nstruct alignas(8) Pair {\n  int a, b;\n};\n```\n[sums.cuh, line 5]", self.page("<!-- kernel Pair -->"))
        self.assertIn("```cuda\nconstexpr int twice(int x) { return 2 * x; }\n```", self.page("<!-- kernel twice -->"))
        self.assertIn("[wrong.cuh, line 3](wrong.cuh#L3)", self.page("<!-- kernel wrong.cuh:slower -->"))
        self.fails("<!-- kernel sums.cuh:slower -->", "no function or struct slower")
        self.assertIn("[tools.cuh, line 1](../../common/include/course/tools.cuh#L1)", self.page("<!-- kernel shared_one -->"))

    def test_a_function_with_a_handler_is_shown_to_its_end(self):
        code = "int guarded() try {\n  return 0;\n} catch (...) {\n  return 1;\n}"
        (self.chapter / "sums.cuh").write_text(f"{code}\n\nvoid after() {{\n}}\n")
        self.assertIn(f"```cuda\n{code}\n```\n", self.page("<!-- kernel guarded -->"))

    def test_a_changed_source_replaces_what_the_page_had(self):
        old = self.page("<!-- kernel calls -->", "", "Text.")
        (self.chapter / "sums.cuh").write_text(KERNELS.replace("sum_all(d_x);", "sum_all(d_x + 1);"))
        self.assertEqual(self.page(*old.splitlines()), old.replace("(d_x);", "(d_x + 1);"))

    def test_cut_and_only(self):
        cut = self.page("<!-- kernel sum_all | cut const std::size_t i .. const T x -->")
        self.assertIn("T* d_y) {\n  ...\n  if (i < n) {\n", cut)
        only = self.page("<!-- kernel sum_all | only if (i < n) .. atomicAdd -->")
        self.assertIn("```cuda\n  if (i < n) {\n    atomicAdd(d_y, x);\n```\n", only)
        two = self.page("<!-- kernel sum_all | only const T x | only atomicAdd -->")
        self.assertIn("```cuda\n  const T x = d_x[i];\n  ...\n    atomicAdd(d_y, x);\n```\n", two)

    def test_what_cannot_be_shown(self):
        self.fails("<!-- kernel nothing -->", "no function or struct nothing")
        self.fails("<!-- kernel only_declared -->", "no function or struct only_declared")
        self.fails("<!-- kernel sum_all | cut no such line -->", '0 lines have "no such line"')
        self.fails("<!-- kernel sum_all | cut d_x -->", '2 lines have "d_x"')
        self.fails("<!-- kernel sum_all | cut atomicAdd .. const T x -->", 'comes before "atomicAdd"')
        self.fails("<!-- kernel sum_all | hide x -->", "unknown option 'hide'")
        (self.chapter / "sums.cuh").write_text(f"void wide() {{\n  {'x' * 100}\n}}\n")
        self.fails("<!-- kernel wide -->", "more than 100 characters")

    # ---- the opening

    def test_the_opening_says_what_chapter_toml_says(self):
        self.course.chapter("02-y", before=["01"], exercises=["a_sum", "b_sum"])
        chapter = self.course.top / "chapters" / "02-y"
        text = "<!-- opening:begin -->\n<!-- opening:end -->\n" + "word " * 1200 + "\n```cuda\n" + "int x;\n" * 50 + "```\n"
        said = lesson.with_generated(chapter, text, [], languages.English(self.course.top)).split("<!-- opening:end -->")[0]
        self.assertEqual(
            said,
            "<!-- opening:begin -->\n\n**You will learn** how fast it is.\n\n**Before you start:** chapter [01](../01-x/README.md). "
            "**Time:** about 1 h 10 min: 10 min for this page and its code; [a_sum](#now-you-a_sum--30-min) ★★ 30 min, [b_sum](#now-you-b_sum--30-min) ★★ 30 min.\n\n")
        self.assertIn("**Before you start:** only C++. **Time:** about 5 min: 5 min for", self.page("<!-- opening:begin -->", "<!-- opening:end -->"))
        self.course.chapter("02-y", before=["09"])
        with self.assertRaisesRegex(Failed, "'before' names 09"):
            lesson.with_generated(chapter, text, [], languages.English(self.course.top))

    def test_the_last_line_names_the_next_chapter(self):
        self.course.chapter("02-y")
        self.assertIn("\n**Next:** chapter [02](../02-y/README.md). How | fast is it?\n", self.page("<!-- next:begin -->", "<!-- next:end -->"))
        with self.assertRaisesRegex(Failed, "in the last chapter"):
            lesson.with_generated(self.course.top / "chapters" / "02-y", "<!-- next:begin -->\n<!-- next:end -->\n", [], languages.English(self.course.top))

    def test_what_counts_as_a_word(self):
        text = (
            "one two\n| no | no |\n```\nno no\n```\n<details><summary>no</summary>\n\nno\n</details>\n<!-- cost x -->\n"
            "<!-- results:begin -->\nno\n<!-- results:end -->\nthree `four`\n"
        )
        self.assertEqual(lesson.words(text), 4)

    def test_times(self):
        times = {5: "5 min", 60: "1 h", 100: "1 h 40 min"}
        self.assertEqual({minutes: languages.English(self.course.top).time(minutes) for minutes in times}, times)

    # ---- costs

    def test_a_cost_is_the_time_the_rate_and_the_vendors_time(self):
        self.assertEqual(
            self.page("<!-- cost sum_all -->", "", "Text."),
            "<!-- cost sum_all -->\n> `sum_all`: **20.0 µs** for n = 2^12, 12 GB/s, 1 % of the copy bandwidth. `lib`: 30.0 µs.\n\nText.\n")

    def test_comparisons(self):
        self.assertIn("Twice as long", self.page("<!-- cost slower<float> | against sum_all -->").replace("2 times as long", "Twice as long"))
        self.assertIn("2 times as fast as `slower<float>`.", self.page("<!-- cost sum_all | against slower<float> -->"))
        self.assertIn("A tie with `same` (20.1 µs).", self.page("<!-- cost sum_all | against same -->"))

    def test_a_row_with_a_warm_l2_is_taken_where_there_is_no_other(self):
        self.assertIn("`warmed`: **7.0 µs** for n = 2^12, 12 GB/s, 1 % of the copy bandwidth, L2 warm.", self.page("<!-- cost warmed -->"))
        self.assertIn("**20.0 µs**", self.page("<!-- cost sum_all -->"))

    def test_what_ncu_counted(self):
        self.assertIn(" ncu: loads 65,536; DRAM 12.2.", self.page("<!-- cost sum_all | profile -->"))
        self.fails("<!-- cost same | profile -->", "there is no profile of same")

    def test_what_ncu_counted_for_rows_of_another_n(self):
        self.course.measured("01-x", *ROWS, profile={**PROFILE, "rows_n": 2048})
        self.assertIn(" ncu (n = 2^11): loads 65,536; DRAM 12.2.", self.page("<!-- cost sum_all | profile -->"))
        self.assertIn("| ncu, n = 2^11 | loads |", self.page("<!-- counters sum_all -->"))
        self.course.measured("01-x", *ROWS, profile={**PROFILE, "rungs": [{"rung": "sum_all", "rows_n": 1024}]})
        self.assertIn(" ncu (n = 2^10): loads 65,536; DRAM 12.2.", self.page("<!-- cost sum_all | profile -->"))

    def test_a_kernel_with_another_name_than_the_rung_is_named(self):
        of_part = {**PROFILED["rungs"][0], "kernel": "void list_parts<float, 4>(int)"}
        compact_json.write(self.chapter / "results" / "gpu-x-profile.json", {**PROFILED, "rungs": [of_part]})
        self.assertIn(" ncu of `list_parts`: loads 65,536; DRAM 12.2.", self.page("<!-- cost sum_all | profile -->"))

    def test_a_table_of_counters(self):
        self.assertEqual(
            self.page("<!-- counters sum_all -->", "", "Text."),
            "<!-- counters sum_all -->\n| ncu, n = 2^12 | loads | DRAM |\n|---|--:|--:|\n| `sum_all` | 65,536 | 12.2 |\n\nText.\n")
        self.fails("<!-- counters sum_all, same -->", "there is no profile of same")

    def test_a_table_of_counters_may_name_no_rung_and_have_times(self):
        self.assertEqual(
            self.page("<!-- counters A = sum_all | time -->"),
            "<!-- counters A = sum_all | time -->\n| ncu, n = 2^12 | µs | loads | DRAM |\n|---|--:|--:|--:|\n| A | 20.0 | 65,536 | 12.2 |\n")
        self.fails("<!-- counters sum_all | times -->", "unknown option 'times'")

    def test_the_rows_of_a_profile_as_cpp(self):
        header = self.chapter / "checks" / "rows.cuh"
        header.parent.mkdir(exist_ok=True)
        header.write_text("// Text.\nRow kRows[] = {\n    // rows: A = sum_all\n    // rows end\n};\n")
        found = documents.of_chapter(self.chapter)[-1]()
        self.assertEqual([document.file for document in found], [header])
        self.assertIn("is out of step, line 4: // rows: A = sum_all", found[0].problem())
        found[0].write()
        self.assertEqual(
            header.read_text(), "// Text.\nRow kRows[] = {\n    // rows: A = sum_all\n    {'A', 20.0, 65536, 12.18},\n    // rows end\n};\n")
        self.assertIsNone(found[0].problem())
        header.write_text(header.read_text().replace("65536", "65537"))
        self.assertIn("out of step", found[0].problem())
        for old, new, words in (("sum_all", "same", "there is no profile of same"), ("// rows end", "//", "needs one line // rows: ")):
            header.write_text("// rows: A = sum_all\n// rows end\n".replace(old, new))
            with self.assertRaisesRegex(Failed, words):
                found[0].problem()

    def test_what_has_no_cost(self):
        self.fails("<!-- cost racy -->", "no row of n = 2\\^12 has a time")
        self.fails("<!-- cost sum_all | n 64 -->", "no row of n = 64 has a time")
        self.fails("<!-- cost sum_all | in another -->", "has a time in 'another'")
        self.fails("<!-- cost sum_all | against nothing -->", "its group has no row nothing")
        self.fails("<!-- cost sum_all | vs same -->", "unknown option 'vs'")

    def test_what_is_not_measured_yet_leaves_the_rest_of_the_page_in_step_and_is_reported(self):
        readme = self.chapter / "README.md"
        readme.write_text("<!-- cost sum_all | n 64 -->\n\n<!-- cost sum_all -->\n")
        document = documents.Lesson(readme, self.chapter, languages.English(self.course.top))
        document.write()
        self.assertRegex(readme.read_text(), r"^<!-- cost sum_all \| n 64 -->\n\n<!-- cost sum_all -->\n> `sum_all`: \*\*20.0")
        self.assertIn("no row of n = 64 has a time", document.left_out[0])
        self.assertIsNone(document.problem())
        self.assertIn("no row of n = 64 has a time", document.left_out[0])
        self.assertIn("no row of n = 64 has a time", self.course.problems([self.chapter]))

    # ---- the list, and the gate

    def test_every_rung_has_its_line(self):
        text = self.page("<!-- rungs:begin -->", "<!-- rungs:end -->")
        self.assertIn("| `sum_all` | how sum_all works | [sums.cuh, line 14](sums.cuh#L14) |", text)
        self.assertIn("| `slower<float>` | how slower&lt;float> works | [wrong.cuh, line 3](wrong.cuh#L3) |", text)
        self.assertIn("| `racy` | how racy works; **wrong on purpose** | [wrong.cuh, line 1]", text)
        self.assertIn("| `copy_words_1` to `copy_words_2` | 1 byte | [rungs.cuh, line 2](rungs.cuh#L2) |", text)
        (self.chapter / "rungs.cuh").write_text("")
        self.fails("<!-- rungs:begin -->\n<!-- rungs:end -->", "is called copy_words_1")

    def test_a_rung_never_gets_the_line_of_another_one(self):
        (self.chapter / "rungs.cuh").write_text('    {"copy_others"},\n    {"copy_words_10"},\n')
        self.fails("<!-- rungs:begin -->\n<!-- rungs:end -->", "is called copy_words_1")

    def test_a_rung_that_a_program_measures_has_the_line_of_its_main(self):
        (self.chapter / "rungs.cuh").write_text("")
        (self.chapter / "copy.cpp").write_text("// copies words\nint main() {\n  return 0;\n}\n")
        about = SimpleNamespace(programs=[SimpleNamespace(name="copy_words_1", sources=["copy.cpp"])])
        with mock.patch("tools.measure.lesson.metadata.load", return_value=about):
            place = lesson.place_of(self.chapter, "copy_words_1", languages.English(self.chapter.parents[1]))
        self.assertEqual(place, "[copy.cpp, line 2](copy.cpp#L2)")

    def test_a_page_that_is_out_of_step_is_named_with_its_marker(self):
        patch = mock.patch("tools.measure.plot_svg.draw", lambda said: plot_svg.signed('<svg viewBox="0 0 1 1">\n</svg>\n', said, "0"))
        patch.start()
        self.addCleanup(patch.stop)
        readme = self.chapter / "README.md"
        readme.write_text(readme.read_text() + "\n<!-- kernel Pair -->\n<!-- kernel calls -->\n")
        toml = self.chapter / "chapter.toml"
        toml.write_text(toml.read_text() + '\n[curves.copy_words_1]\nquestion = "How fast?"\nx = "bytes per lane"\n')
        self.course.generate([self.chapter])
        self.assertIn("sum_all(d_x);", readme.read_text())
        self.assertEqual(self.course.problems([self.chapter]), "")
        readme.write_text(readme.read_text().replace("sum_all(d_x);", "sum_all(d_y);"))
        self.assertRegex(self.course.problems([self.chapter]), r"README.md is out of step, line \d+: <!-- kernel calls -->: kernels, costs")

    def test_each_rung_is_listed_once(self):
        def of(name, changed, group, series=None, kind="rung"):
            return {"name": name, "changed": changed, "group": group, "series": series, "kind": kind}

        found = lesson.listed_rungs([
            of("the sum", "", 1, kind="reference"), of("plain", "one each; 0 % kept", 1), of("plain", "one each; 50 % kept", 2),
            of("width_1", "1 byte", 3, "widths"), of("width_2", "2 bytes", 3, "widths"), of("plain", "1 device", 4, "devices"),
        ])  # fmt: skip
        self.assertEqual([[row["name"] for row in rows] for rows in found], [["plain"] * 3, ["width_1", "width_2"]])
        self.assertEqual(lesson.what_changed(found[0][:2]), "one each")
        self.assertEqual(lesson.what_changed(found[0]), "one each; 0 % kept")  # nothing is common: the first row's


if __name__ == "__main__":
    unittest.main()
