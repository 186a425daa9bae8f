"""./course score and ./course export, of the challenges of chapter 16.

    test_challenges.py        in a build folder, as Meson starts it; else that of COURSE_TEST_BUILD, or build

What is exported runs on the CPU device of that folder, and is compiled with nvcc where there is one. Where the folder has no
chapter 16, or is none for the CPU device, only what needs no compiler is tested.
"""

import copy
import json
import os
import py_compile
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path
from unittest import mock

from tools.learn import exporting, scores, scoring
from tools.learn.progress import Exercise
from tools.lib import course_state
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.run.build_program import MADE_BY_MESON
from tools.tests.in_folder import InFolder

READS = ("chapters", "common/tools", "course", "exercises", "meson.*", "solutions")

HERE = [Path.cwd()] if Path("build.ninja").exists() else []
BUILD = Path(*HERE or [os.environ.get("COURSE_TEST_BUILD") or TOP / "build"]).resolve()
PROGRAM = BUILD / "chapters" / "16-beat-the-library" / "beat_sum-score"
CHAPTER = "16-beat-the-library"
HAS_SOLUTIONS = (TOP / "solutions").is_dir()
# Calls what a site calls, for arrays of several sizes. EXPECTED, CALL and NEAR are those of a task.
MAIN = """
#include <cmath>
#include <cstdio>
bool is_right(int n) {
  std::vector<float> x(n), y(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) x[i] = (i * 7 % 15) / 8.0f;
  EXPECTED
  float *d_x, *d_y;
  CUDA_CHECK(cudaMalloc(&d_x, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_y, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  for (int k = 0; k < 2; ++k) CALL;
  y.resize(expected.size());
  CUDA_CHECK(cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_y));
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (std::fabs(y[i] - expected[i]) <= NEAR) continue;
    std::printf("n = %d: [%zu] is %g, expected %g\\n", n, i, y[i], expected[i]);
    return false;
  }
  return true;
}
int main() {
  bool all = true;
  for (const int n : {1, 5, 1024, 10007}) all = is_right(n) && all;
  return all ? 0 : 1;
}
"""
EXPECTED = {
    "beat_sum": "expected = {0}; for (const float v : x) expected[0] += v;",
    "beat_scan": "double sum = 0; for (int i = 0; i < n; ++i) expected[i] = sum += x[i];",
    "beat_softmax": "double sum = 0; for (const float v : x) sum += std::exp(v);"
                    "for (int i = 0; i < n; ++i) expected[i] = std::exp(x[i]) / sum;",
}
NEAR = {"beat_sum": "0", "beat_scan": "0", "beat_softmax": "1e-5 + 1e-5 * expected[i]"}  # LeetGPU's, of a softmax
CALLS = {"leetgpu": "solve(d_x, d_y, n)", "popcorn": "NAME_cuda({d_x, n}, {d_y, n})"}
TENSOR = """
namespace torch {
struct Tensor {
  float* data;
  long long size;
  template <class T> T* data_ptr() const { return data; }
  long long numel() const { return size; }
};
}
"""


def program(site, name):
    """The solution as it is exported, with a main() in place of the site."""
    text = exporting.file_for(site, name, answer("solutions", name))
    if site == "popcorn":
        text = TENSOR + re.search(r'CUDA = r"""\n#include <torch/extension.h>\n(.*?)"""', text, re.DOTALL)[1]
    main = MAIN.replace("EXPECTED", EXPECTED[name]).replace("CALL", CALLS[site].replace("NAME", name))
    return text + main.replace("NEAR", NEAR[name])


def answer(tree, name):
    return TOP / tree / CHAPTER / f"{name}.cuh"


def row(name, kind="rung", **more):
    return {"name": name, "kind": kind, "changed": "", "n": 1 << 20, "as_declared": True, "bytes": 1 << 22, **more}


def timed(name, median, kind="rung"):
    return row(name, kind, microseconds={"p10": median - 1, "median": median, "p90": median + 1})


def counted(name, loads, atomics):
    names = ("shared_atomics", "shared_load_wavefronts", "shared_store_wavefronts")
    return row(name, counters={"global_load_sectors": loads, "global_store_sectors": 1, "global_atomics": atomics,
                               **dict.fromkeys(names, 3)})


REFERENCE = row("reference", "reference", changed="one CPU thread; 50 % kept")
ON_GPU = {"device": "NVIDIA H200", "date": "2026-11-23T00:00:00Z", "copy_gb_per_s": 4194.304, "rungs": [
    REFERENCE, timed("mine", 4.0), timed("best_rung", 2.0), timed("slow_library", 9.0, "vendor"), timed("library", 8.0, "vendor")]}
ON_CPU = {"device": "CPU device", "date": "2026-11-23T00:00:00Z", "copy_gb_per_s": None, "rungs": [
    REFERENCE, counted("mine", 1 << 18, 77), counted("best_rung", 1 << 17, 1)]}


class Scores(unittest.TestCase):
    def test_times_beside_the_library_the_best_rung_and_the_limit(self):
        lines = [" ".join(line.split()) for line in scores.table(ON_GPU, "mine")]
        self.assertEqual(lines[1:6], [
            "n = 2^20, 50 % kept",
            "mine 4.0 3.0 – 5.0 2.00 25",
            "the course: best_rung 2.0 1.0 – 3.0 4.00 50",
            "library 8.0 7.0 – 9.0 1.00 12",
            "the limit of memory 1.0",
        ])

    def test_counts_against_the_least_possible_say_that_they_are_no_times(self):
        lines = [" ".join(line.split()) for line in scores.table(ON_CPU, "mine")]
        self.assertEqual(lines[2:5], [
            "mine 262,145 2.00 77 3 6", "the course: best_rung 131,073 1.00 1 3 6", "the least possible 131,072 1.00 0 0 0",
        ])
        self.assertIn("no times", " ".join(lines))

    def test_an_answer_that_is_wrong_at_one_size_has_no_row_there(self):
        wrong = copy.deepcopy(ON_GPU)
        wrong["rungs"][1]["as_declared"] = False
        self.assertNotIn("mine", "\n".join(scores.table(wrong, "mine")))
        self.assertIsNone(scores.entry(wrong, "mine", "0123456789abcdef")["groups"][0]["yours"])

    def test_the_history_and_its_plot(self):
        entry = scores.entry(ON_GPU, "mine", "0123456789abcdef")
        self.assertEqual(entry["answer"], "0123456789ab")
        self.assertEqual(entry["groups"], [{"name": "n = 2^20, 50 % kept", "yours": 4.0, "best": 2.0, "library": 8.0, "limit": 1.0}])
        faster = copy.deepcopy(entry)
        faster["groups"][0]["yours"] = 2.5
        for history, dots in (([entry], 1), ([scores.entry(ON_CPU, "mine", ""), entry, faster], 2)):
            svg = scores.plot(history, "mine")
            xml.dom.minidom.parseString(svg)
            self.assertEqual(svg.count("<circle"), dots)  # those of the other device are left out
            self.assertIn("the limit of memory: 1.0", svg)

    def test_scores_are_kept_beside_what_else_is_known(self):
        with tempfile.TemporaryDirectory() as folder:
            build = Path(folder)
            (build / "meson-private").mkdir()
            with course_state.change(build) as state:
                state["mine"] = {"hints": 2}
            course = mock.Mock(build=build)
            exercise = Exercise(CHAPTER, "mine", answer("exercises", "mine"), [])
            with mock.patch.object(scores, "KEPT", 3):
                for number in range(5):
                    kept = scoring.remember(course, exercise, {"date": str(number)})
            self.assertEqual([score["date"] for score in kept], ["2", "3", "4"])
            self.assertEqual(course_state.load(build), {"mine": {"hints": 2, "scores": kept}})

    def test_an_exercise_without_a_score_is_refused(self):
        with self.assertRaisesRegex(Failed, "word_count is no challenge.*beat_filter, beat_histogram, beat_rows, beat_scan, beat_softmax, beat_sum"):
            scoring.score_program(Exercise("01-global-atomic", "word_count", Path("word_count.cuh"), []))


class Exports(InFolder):
    def written(self, text, name="beat_sum.cuh"):
        return self.write(name, text)

    def test_files_depend_on_nothing_of_the_course(self):
        for tree in ("exercises", "solutions") if HAS_SOLUTIONS else ("exercises",):
            for name, sites in exporting.SITES.items():
                for site in sites:
                    text = exporting.file_for(site, name, answer(tree, name))
                    self.assertNotRegex(text, r'#include\s*(<course/|")|#pragma once|NOT_STARTED|//.*TODO')
                    if site == "popcorn":
                        self.assertNotIn("stream", text.lower())
                        py_compile.compile(str(self.written(text, "submission.py")), doraise=True, cfile=str(self.folder / "pyc"))

    def test_what_does_not_fit_is_refused_with_the_reason(self):
        def refuses(site, name, file, reason):
            with self.assertRaisesRegex(Failed, reason):
                exporting.file_for(site, name, file)

        refuses("leetgpu", "beat_histogram", answer("exercises", "beat_histogram"), "any number of bins")
        refuses("popcorn", "beat_rows", answer("exercises", "beat_rows"), "GPU MODE has no such task")
        refuses("leetgpu", "beat_sum", self.written("#include <course/ladder.cuh>\n"), "for checks and tables")
        refuses("leetgpu", "beat_sum", self.written('#include "mine.cuh"\n'), "no such file")
        refuses("popcorn", "beat_sum", self.written("cudaStream_t s; // a stream\n"), r"has stream.*\n  cudaStream_t s;")
        refuses("popcorn", "beat_scan", self.written("cudaStream_t stream; f(x, stream);\n"), r"has stream")
        refuses("popcorn", "beat_softmax", answer("exercises", "beat_softmax"), "GPU MODE has no such task")
        exporting.file_for("leetgpu", "beat_sum", self.written("cudaStream_t s;\n"))

    def test_a_parameter_for_the_default_stream_is_left_out(self):
        text = "void f(int n, cudaStream_t stream = nullptr) { g<<<1, n, 0, stream>>>(); h({1, n, stream}, stream); }\n"
        with self.assertRaisesRegex(Failed, "g<<<1, n, 0, stream>>>"):  # no last argument
            exporting.file_for("popcorn", "beat_scan", self.written(text))
        made = exporting.file_for("popcorn", "beat_scan", self.written(text.replace("g<<<1, n, 0, stream>>>(); ", "")))
        self.assertIn("void f(int n) { h({1, n}); }", made)

    def test_headers_of_the_course_come_before_a_namespace_that_includes_them(self):
        self.written("#include <course/grid.cuh>\n#include <vector>\ninline int in_header() { return 1; }\n", "mine.cuh")
        text = exporting.file_for("leetgpu", "beat_sum", self.written('namespace a {\n#include "mine.cuh"\n}\n'))
        self.assertRegex(text, r"(?s)#include <vector>.*unsigned filling_blocks.*namespace a \{\s*inline int in_header")

    @unittest.skipUnless(HAS_SOLUTIONS, "no solutions")
    def test_they_run_on_the_cpu_device_and_nvcc_compiles_them(self):
        for name in EXPECTED:
            for site in exporting.SITES[name]:
                with self.subTest(name=name, site=site):
                    self.runs(program(site, name))

    def runs(self, text):
        file = self.written(text, "solution.cu")
        if (BUILD / MADE_BY_MESON).exists():
            done = subprocess.run([TOP / "course", "run", file, "--seeds", "2", "--build", BUILD], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("No finding", done.stdout)
        if shutil.which("nvcc"):
            done = subprocess.run(["nvcc", "-std=c++20", "-arch=sm_90", "-c", "-o", self.folder / "solution.o", file], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)


@unittest.skipUnless(os.path.lexists(PROGRAM), f"{BUILD} has no chapter 16")
class EndToEnd(unittest.TestCase):
    def test_the_starter_has_a_score(self):
        state = BUILD / course_state.FILE
        kept = state.read_bytes() if state.exists() else None
        try:
            done = subprocess.run([TOP / "course", "score", "beat_sum", "--n", "2^12", "--build", BUILD], cwd=TOP, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            known = json.loads(state.read_text())["beat_sum"]["scores"]
        finally:
            state.write_bytes(kept) if kept is not None else state.unlink(missing_ok=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        yours = known[-1]["groups"][0]["yours"]
        if (BUILD / MADE_BY_MESON).exists():  # the CPU device counts
            self.assertIsNotNone(re.search(r"beat_sum +512 +1\.00 +4,096", done.stdout), done.stdout)
            self.assertEqual(yours, 512)
        else:  # a GPU has a time for it, and the library's beside it
            self.assertIsNotNone(re.search(r"beat_sum +\d+\.\d .*\n.*\n +cub::DeviceReduce::Sum +\d+\.\d ", done.stdout), done.stdout)
            self.assertGreater(yours, 0)
        xml.dom.minidom.parse(str(BUILD / "scores" / "beat_sum.svg"))


if __name__ == "__main__":
    unittest.main()
