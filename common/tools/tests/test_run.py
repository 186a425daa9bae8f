"""./course run: CUDA files of the reader's own, with the compiler and the CPU device of a real build folder.

    test_run.py        in a build folder, as Meson starts it; else that of COURSE_TEST_BUILD, or build

Where that is none for the CPU device, nothing is tested (exit code 77).
"""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from tools.lib.checkout import TOP
from tools.run import build_program, schedules
from tools.run.build_program import Program
from tools.run.outcome import EXIT_CODES, VERDICTS, outcome_of

HERE = [Path.cwd()] if Path("build.ninja").exists() else []
BUILD = Path(*HERE or [os.environ.get("COURSE_TEST_BUILD") or TOP / "build"]).resolve()
READS = ("common/tools/trace", "course", "common/docs/any-cuda-file.md", "common/tools/run/kinds.toml")  # common/tools/verdicts/reads.py
SKIPPED = 77

TREE = """#include <cstdio>
__global__ void sum_block(const int* x, int* sum) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    BARRIER
  }
  if (t == 0) *sum = s[0];
}
int main(int argc, char** argv) {
  int h[128], *d_x, *d_sum, sum = 0;
  for (int i = 0; i < 128; ++i) h[i] = i;
  cudaMalloc(&d_x, sizeof h);
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemcpy(d_x, h, sizeof h, cudaMemcpyHostToDevice);
  sum_block<<<1, 128>>>(d_x, d_sum);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("sum = %d\\n", sum);
  for (int i = 1; i < argc; ++i) std::printf("argument %s\\n", argv[i]);
  return argc > 2 ? 7 : 0;
}
"""
RACY = TREE.replace("BARRIER", ";")
RIGHT = TREE.replace("BARRIER", "__syncthreads();")
MANY = """#include <cuda/atomic>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

__global__ void ticket(int* next, int* first) {
  if (threadIdx.x == 0 && atomicAdd(next, 1) == 0) *first = blockIdx.x;
}
__global__ void same_value(int* x) { *x = 1; }
__global__ void sum_some(int* x) {
  if (threadIdx.x >= 20) return;
  x[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1, 1);
}
__global__ void slow(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  x[threadIdx.x] = s[threadIdx.x ^ 1];
  for (long i = 0; i < 1l << 40; ++i) x[threadIdx.x] += i;
}
__global__ void spin(volatile int* x) {
  while (*x == 0) {
  }
}
__global__ void add(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
  if (i % 32 == 0) atomicAdd(&x[n], 1);
  __syncthreads();
}
__global__ void race_in_order(int* x, int* turn) {
  // Only where block 1 comes first do the threads of a block write to the same element.
  __shared__ int s_turn;
  if (threadIdx.x == 0) s_turn = atomicAdd(turn, 1);
  __syncthreads();
  if (blockIdx.x == 1 && s_turn == 0) x[threadIdx.x % 2] = threadIdx.x;
}
__global__ void try_once(int* x) {
  int expected = 0;
  cuda::atomic_ref<int>(x[threadIdx.x]).compare_exchange_weak(expected, 1);
}

#pragma GCC diagnostic ignored "-Wreturn-type"
int unfinished(int n) { if (n == 0) return 1; }

struct Unlucky {
  int* p = nullptr;
  void write() { *p = 1; }
};

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  int* x;
  cudaMalloc(&x, 4096);
  cudaMemset(x, 0, 4096);
  if (what == "crash") Unlucky().write();
  if (what == "abort") abort();
  if (what == "no_return") return unfinished(what.size());
  if (what == "loop") for (;;) {
  }
  if (what == "exit") return 66;
  if (what == "slow") slow<<<1, 64>>>(x);
  if (what == "spin") spin<<<1, 1>>>(x);
  if (what == "forgotten") {
    same_value<<<1, 64>>>(x);
    return 3;
  }
  if (what == "note") same_value<<<1, 64>>>(x);
  if (what == "shuffle") sum_some<<<1, 32>>>(x);
  if (what == "race") race_in_order<<<8, 64>>>(x, x + 2);
  if (what == "again") for (int i = 0; i < 3; ++i) sum_some<<<1, 32>>>(x);
  if (what == "count") {
    add<<<2, 64>>>(x, 100);
    add<<<1, 64>>>(x, 64);
  }
  if (what == "input") {
    char line[80];
    int lines = 0;
    for (; std::fgets(line, sizeof line, stdin); ++lines) std::printf("read %s", line);
    return lines;
  }
  if (what == "clue" || what == "quiet clue") {
    try_once<<<1, 64>>>(x);
    int done[64], sum = 0;
    cudaMemcpy(done, x, sizeof done, cudaMemcpyDeviceToHost);
    for (const int one : done) sum += one;
    if (what == "clue") std::printf("%d of 64\\n", sum);
  }
  if (what == "order") {
    ticket<<<8, 32>>>(x, x + 1);
    int first = 0;
    cudaMemcpy(&first, x + 1, sizeof first, cudaMemcpyDeviceToHost);
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    std::printf("it took %ld ns\\nfirst block: %d\\n", now.tv_nsec, first);
    std::fprintf(stderr, "first is %d\\n", first);
    return argc > 2 && first != 0;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s\\n", cudaGetErrorString(error));
  return 0;
}
"""

THREADS = """#include <cstdio>
#include <thread>
int main() {
  int* x;
  cudaMalloc(&x, 4);
  std::printf("begins\\n");
  std::thread([] {
    int* y;
    cudaMalloc(&y, 4);
  }).join();
}
"""


LARGE = """#include <cstdio>
__global__ void fill(int* x) { x[blockIdx.x * 256l + threadIdx.x] = 1; }
int main() {
  std::puts("begins");
  int* x;
  cudaMalloc(&x, 4l << 26);
  fill<<<1 << 18, 256>>>(x);
  cudaDeviceSynchronize();
}
"""
WAITS = """#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const time_t end = std::time(nullptr) + 3;
  if (what == "computes") while (std::time(nullptr) < end) {}
  if (what == "child computes") return std::system("end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done");
  if (what == "writes") for (; std::time(nullptr) < end; usleep(300000)) std::puts("waits");
  if (what == "reads") std::getchar();
  if (what != "") return 0;
  std::mutex m;
  m.lock();
  std::thread([&] { m.lock(); }).join();
}
"""


def line_of(text, part):
    """The number of the line that has this part."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


class Run(unittest.TestCase):
    """Runs in an empty folder. Its programs are compiled once: their folders in the build folder go by their paths."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name).resolve()
        cls.addClassCleanup(cls.remove_builds)
        with contextlib.redirect_stderr(io.StringIO()):  # what is said once, of the first build, is FirstBuild's
            build_program.prepare_libraries(BUILD)

    @classmethod
    def remove_builds(cls):
        for file in cls.folder.glob("*.cu"):
            shutil.rmtree(Program(BUILD, [file]).folder, ignore_errors=True)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        return file

    def run_it(self, *words, cwd=None, stdin=subprocess.DEVNULL, text=None, **environment):
        """Exit code, standard output and standard error."""
        there = {**os.environ, "COURSE_BUILD": str(BUILD), "PWD": str(cwd or self.folder), **environment}
        there.pop("SIMT_SEED", None)
        there.update({"SIMT_SEED": environment["SIMT_SEED"]} if "SIMT_SEED" in environment else {})
        more = {"input": text} if text is not None else {"stdin": stdin}
        done = subprocess.run([str(TOP / "course"), "run", *words], cwd=cwd or self.folder, capture_output=True,
                              text=True, env=there, timeout=200, **more)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout, done.stderr

    def many(self, *words, options=(), **more):
        self.write("many.cu", MANY)
        return self.run_it("many.cu", *options, "--", *words, **more)


class Verdicts(Run):
    def test_a_right_program(self):
        self.write("right.cu", RIGHT)
        self.assertEqual(self.run_it("right.cu", "--", "a"), (
            0, "sum = 8128\nargument a\n", "No finding under 4 schedules.\n"))
        code, text, said = self.run_it("right.cu", "--schedule", "3", "--", "a", "--seeds")
        self.assertEqual((code, text), (7, "sum = 8128\nargument a\nargument --seeds\n"))
        self.assertEqual(said, "No finding under schedule 3.\n")

    def test_a_race(self):
        self.write("race.cu", RACY)
        code, text, said = self.run_it("race.cu")
        self.assertEqual((code, text), (66, "sum = 8128\n"))
        self.assertIn("DATA RACE in kernel sum_block on s[63]\n  read   at race.cu:8 by block 0 thread 31\n", said)
        self.assertTrue(said.endswith(f"again: {TOP}/course run race.cu --schedule 0\n"), said)

    def test_the_first_schedule_with_a_finding_is_the_last(self):
        code, text, said = self.many("race", options=("--seeds", "30"))
        self.assertEqual((code, text), (66, ""))
        seed = re.search(r"^Schedule (\d+), after (schedule 0|\d+ schedules) without a finding:$", said, re.MULTILINE)[1]
        self.assertIn("DATA RACE in kernel race_in_order on x[", said)
        self.assertTrue(said.endswith(f"many.cu --schedule {seed} -- race\n"), said)
        code, _, said = self.many("race", options=("--schedule", seed))
        self.assertEqual(code, 66)
        self.assertNotIn("Schedule", said)
        self.assertEqual(self.many("race", options=("--schedule", "0"))[0], 0)
        self.assertEqual(self.many("race", SIMT_SEED=seed)[0], 66)

    def test_a_finding_in_each_launch_is_told_once(self):
        _, _, said = self.many("again")
        self.assertEqual(said.count("SHUFFLE FROM"), 1)
        self.assertIn("(found 3 times at the same lines)\n", said)

    def test_a_shuffle_from_an_absent_lane_is_a_finding(self):
        code, _, said = self.many("shuffle")
        self.assertEqual(code, 66)
        line = line_of(MANY, "__shfl_down_sync")
        self.assertIn(f"SHUFFLE FROM AN ABSENT LANE in kernel sum_some: __shfl_down_sync() at many.cu:{line}\n"
                      "  block 0 thread 19 (lane 19) gets an undefined value: lane 20 has returned from the kernel.", said)

    def test_other_remarks_are_notes(self):
        code, _, said = self.many("note")
        self.assertEqual(code, 0)
        line = line_of(MANY, "*x = 1; }")
        self.assertEqual(said.count(f"note: many.cu:{line}: several threads write the same value"), 1)

    def test_clues_are_shown_with_a_wrong_result_only(self):
        code, _, said = self.many("clue")
        self.assertEqual(code, 0)
        self.assertIn('The output depends on the schedule: under schedule 0 line 1 is "64 of 64"', said)
        self.assertIn("compare_exchange_weak() fails here", said)
        self.assertNotIn("note:", self.many("quiet clue")[2])

    def test_what_nothing_waits_for_is_checked_at_the_end(self):
        code, _, said = self.many("forgotten")
        self.assertEqual(code, 3)
        self.assertIn("several threads write the same value", said)

    def test_exit_codes_are_the_programs(self):
        code, _, said = self.many("exit")
        self.assertEqual((code, said), (66, "No finding under 4 schedules.\n"))

    def test_output_that_depends_on_the_schedule(self):
        code, text, said = self.many("order")
        self.assertEqual(code, 0)
        self.assertTrue(text.endswith("first block: 0\n"))
        self.assertEqual(text.count("\n"), 2)  # the first run's, and not the lines that a clock makes
        self.assertRegex(said, r'The output depends on the schedule: under schedule 0 line 2 is "first block: 0", '
                               r'under schedule \d it is "first block: \d"\.')
        self.assertEqual(said.count("first is"), 1)

    def test_an_exit_code_that_depends_on_the_schedule(self):
        code, _, said = self.many("order", "strict", options=("--seeds", "9"))
        self.assertEqual(code, 1)
        self.assertRegex(said, r"The program ends with exit code 1 under schedule \d, and with 0 under schedule 0\.\n"
                               r"again: .* --schedule \d -- order strict\n$")
        self.assertEqual(said.count("first is"), 2)  # of the first run, and of the one that fails


class Ends(Run):
    def test_a_crash(self):
        code, _, said = self.many("crash")
        self.assertEqual(code, 139)
        self.assertIn("CRASH in host code: SIGSEGV, an access to memory that is not there\n"
                      f"  at many.cu:{line_of(MANY, '*p = 1')}\n"
                      f"  called at many.cu:{line_of(MANY, 'Unlucky().write')}\n", said)

    def test_an_abort(self):
        code, _, said = self.many("abort")
        self.assertEqual(code, 134)
        self.assertIn(f"CRASH in host code: SIGABRT, abort(), a failed assert(), or an exception that nothing catches\n"
                      f"  at many.cu:{line_of(MANY, 'abort();')}\n", said)

    def test_the_end_of_a_function_without_a_return(self):
        code, _, said = self.many("no_return")
        self.assertEqual(code, 132)
        self.assertIn("CRASH in host code: SIGILL, the end of a function that has not returned its value, __builtin_trap(), or the like\n"
                      f"  at many.cu:{line_of(MANY, 'int unfinished')}\n", said)

    def test_a_loop_of_the_host(self):
        code, _, said = self.many("loop", COURSE_CPU_SECONDS="1")
        self.assertEqual(code, 124)
        self.assertIn("OUT OF TIME in host code: the program was stopped after 1 s of processor time\n  at many.cu:", said)
        self.assertIn("Does a loop never end?", said)
        code, _, said = self.many("loop", COURSE_CPU_SECONDS="x")
        self.assertEqual((code, said), (2, "COURSE_CPU_SECONDS must be a number above 0, and is 'x'.\n"))

    def test_the_end_of_the_time_names_the_size_first(self):
        said = self.many("slow", COURSE_CPU_SECONDS="1")[2]
        self.assertLess(said.index("Is the size one for a GPU?"), said.index("--time-limit 3600."))

    def test_a_size_that_is_too_large_for_the_memory(self):
        self.write("large.cu", LARGE)
        code, text, said = self.run_it("large.cu", "--memory-limit", "1")
        self.assertEqual((code, text), (125, "begins\n"))
        self.assertRegex(said, r"OUT OF MEMORY in the launch fill<<<262144, 256>>>: the program was stopped at [1-3]\.\d GiB\n  at large\.cu:\d")
        self.assertIn("  A byte of device memory that kernels use takes about 16 bytes here.\n  Run the program with a smaller size.", said)
        self.assertTrue(said.endswith("course run large.cu --memory-limit 1 --schedule 0\n"), said)
        code, text, _ = self.run_it("--each", "large.cu", COURSE_MEMORY_GIB="1")
        self.assertEqual(code, 125)
        self.assertRegex(text, r"\nlarge\.cu +out of memory +0 ")

    def test_memory_of_a_process_that_the_program_starts(self):
        self.write("starts.cu", '#include <cstdlib>\nint main() { std::system("python3 -c \'import time; x = bytes(1) * (700 << 20); time.sleep(99)\'"); }\n')
        self.assertEqual(self.run_it("starts.cu", "--memory-limit", "0.5")[0], 125)

    def test_a_program_that_waits(self):
        self.write("waits.cu", WAITS)
        code, _, said = self.run_it("waits.cu", COURSE_WAITING_SECONDS="1")
        self.assertEqual(code, 124)
        self.assertIn("OUT OF TIME in host code: the program has waited for 1 s without computing\n"
                      f"  at waits.cu:{line_of(WAITS, 'join()')}\n", said)
        for what in ("computes", "child computes", "writes"):
            with self.subTest(what):
                self.assertEqual(self.run_it("waits.cu", "--schedule", "0", "--", what, COURSE_WAITING_SECONDS="1")[0], 0)
        code, _, said = self.run_it("waits.cu", COURSE_WAITING_SECONDS="0")
        self.assertEqual((code, said), (2, "COURSE_WAITING_SECONDS must be a number above 0, and is '0'.\n"))

    def test_a_program_that_waits_for_an_open_pipe(self):
        self.write("waits.cu", WAITS)
        read, write = os.pipe()
        with subprocess.Popen(["sleep", "3"], stdout=write, close_fds=True):
            os.close(write)
            code = self.run_it("waits.cu", "--schedule", "0", "--", "reads", stdin=read, COURSE_WAITING_SECONDS="1")[0]
        os.close(read)
        self.assertEqual(code, 0)

    def test_a_child_that_is_left_behind(self):
        self.write("leaves.cu", '#include <cstdio>\n#include <cstdlib>\nint main() { std::system("sleep 20 2> /dev/null &"); std::puts("done"); return 3; }\n')
        self.run_it("leaves.cu", "--schedule", "0")  # built
        before = time.monotonic()
        code, text, _ = self.run_it("leaves.cu", "--schedule", "0")
        self.assertEqual((code, text), (3, "done\n"))
        self.assertLess(time.monotonic() - before, 15)

    def test_what_the_device_lacks(self):
        self.write("lacks.cu", "#include <nvrtc.h>\nint main() {}\n")
        code, text, said = self.run_it("lacks.cu")
        self.assertEqual((code, text), (69, ""))
        self.assertTrue(said.startswith("lacks.cu is refused:\n\nlacks.cu:1: error: not supported on the CPU device: "), said)
        self.write("wrong.cu", "int x = missing;\n")
        self.assertEqual(self.run_it("lacks.cu", "wrong.cu")[0], 1)
        self.write("lacks.cu", "int main() { return wrong; }  // as a file that was refused before\n")
        self.assertEqual(self.run_it("lacks.cu")[0], 1)

    def test_what_the_device_lacks_when_the_program_runs(self):
        self.write("threads.cu", THREADS)
        code, text, said = self.run_it("threads.cu")
        self.assertEqual((code, text), (69, "begins\n"))
        self.assertEqual(said, f"threads.cu:{line_of(THREADS, 'cudaMalloc(&y')}: error: not supported on the CPU device: "
                         "a call of the CUDA runtime from a second thread of the host: make all calls from one thread\n")
        # Without ./course run the device tells the refusal itself.
        alone = subprocess.run([Program(BUILD, [str(self.folder / "threads.cu")], []).file], capture_output=True, text=True)
        self.assertEqual((alone.returncode, alone.stdout), (1, "begins\n"))
        self.assertIn(f"threads.cu:{line_of(THREADS, 'cudaMalloc(&y')}: error: not supported on the CPU device: a call of", alone.stderr)

    def test_what_was_found_before_the_time_is_over(self):
        code, _, said = self.many("slow", COURSE_CPU_SECONDS="2")
        self.assertEqual(code, 66)
        self.assertIn("UNINITIALISED MEMORY in kernel slow: read of s[1]", said)
        self.assertIn("OUT OF TIME in the launch slow<<<1, 64>>>: the program was stopped after 2 s of processor time\n", said)

    def test_a_loop_of_a_kernel(self):
        code, text, said = self.many("spin")
        self.assertEqual(code, 66)
        self.assertIn("ENDLESS LOOP in kernel spin", said)

    def test_ctrl_c(self):
        self.many("exit")  # built
        command = [str(TOP / "course"), "run", "many.cu", "--", "loop"]
        with subprocess.Popen(command, cwd=self.folder, env={**os.environ, "COURSE_BUILD": str(BUILD)},
                              stderr=subprocess.PIPE, text=True) as process:
            time.sleep(2)
            before = time.monotonic()
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()  # until the program has ended, too
        self.assertEqual((process.returncode, said), (130, ""))
        self.assertLess(time.monotonic() - before, 30)  # not by its limit of time


class Outcomes(Run):
    def outcome(self, name, text, *arguments, seeds=(0, 1)):
        program = Program(BUILD, [str(self.write(name, text))], [])
        return outcome_of(program, seeds, arguments, schedules.Input())

    def test_a_finding_has_all_that_was_recorded(self):
        outcome = self.outcome("race.cu", RACY)
        finding, = outcome.findings
        line = line_of(RACY, "s[t + half]")
        self.assertEqual((outcome.verdict, outcome.exit_code, outcome.output), ("findings", 66, b"sum = 8128\n"))
        self.assertEqual((finding.kind, finding.kernel, finding.object, finding.line, finding.seed, finding.times),
                         ("data_race", "sum_block", "s", line, 0, 1))
        self.assertEqual([(access.kind, Path(access.file).name, access.line, access.block, access.thread, access.device)
                          for access in finding.accesses],
                         [("read", "race.cu", line, "0", "31", 0), ("write", "race.cu", line, "0", "63", 0)])
        self.assertGreater(outcome.seconds, 0)

    def test_verdicts(self):
        self.assertEqual(self.outcome("right.cu", RIGHT).verdict, "nothing found")
        failed = self.outcome("right.cu", RIGHT, "a", "b")
        self.assertEqual((failed.verdict, failed.exit_code), ("failed", 7))
        self.assertEqual([(one.seed, one.exit_code) for one in failed.schedules], [(0, 7), (1, 7)])
        crashed = self.outcome("many.cu", MANY, "crash")
        self.assertEqual((crashed.verdict, crashed.exit_code), ("crashed", 139))
        self.assertEqual((Path(crashed.places[0].file).name, crashed.places[0].line), ("many.cu", line_of(MANY, "*p = 1")))
        refused = self.outcome("threads.cu", THREADS)
        self.assertEqual((refused.verdict, len(refused.schedules)), ("refused", 1))
        self.assertEqual(refused.places[0].line, line_of(THREADS, "cudaMalloc(&y"))
        note, = self.outcome("many.cu", MANY, "note").notes
        self.assertEqual((Path(note.file).name, note.line), ("many.cu", line_of(MANY, "*x = 1; }")))

    def test_places_of_a_compilers_errors(self):
        outcome = self.outcome("bad.cu", "int main() {\n  return unknown_name_here;\n}\n")
        self.assertEqual(outcome.verdict, "does not compile")
        self.assertEqual([(place.line, place.text) for place in outcome.places], [(2, "use of undeclared identifier 'unknown_name_here'")])
        lacks = self.outcome("lacks.cu", "#include <nvrtc.h>\nint main() {}\n")
        self.assertEqual((lacks.verdict, lacks.places[0].line), ("refused", 1))
        self.assertTrue(lacks.places[0].text.startswith("not supported on the CPU device: nvrtc.h"))


class Reports(Run):
    def test_a_report_on_standard_output_is_alone_there(self):
        self.write("race.cu", RACY)
        code, text, said = self.run_it("race.cu", "--report", "json")
        self.assertEqual(code, 66)
        program, = json.loads(text)["programs"]
        finding, = program["findings"]
        line = line_of(RACY, "s[t + half]")
        self.assertEqual((finding["kind"], finding["object"], finding["file"], finding["line"]), ("data_race", "s", "race.cu", line))
        self.assertEqual([(one["kind"], one["block"], one["thread"]) for one in finding["accesses"]], [("read", "0", "31"), ("write", "0", "63")])
        self.assertTrue(said.startswith("sum = 8128\n\nDATA RACE in kernel sum_block"), said)
        code, text, _ = self.run_it("race.cu", "--report", "github")
        self.assertEqual((code, text.count("\n")), (66, 1))
        self.assertTrue(text.startswith(f"::error file=race.cu,line={line},title=DATA RACE in kernel sum_block on s[63]::read "), text)

    def test_reports_in_files(self):
        self.write("race.cu", RACY)
        code, text, said = self.run_it("race.cu", "--report", "sarif=out.sarif", "--report", "text=out.txt", "--report=json=out.json")
        self.assertEqual((code, text), (66, "sum = 8128\n"))
        self.assertEqual((self.folder / "out.txt").read_text(), said)
        result, = json.loads((self.folder / "out.sarif").read_text())["runs"][0]["results"]
        print_of = json.loads((self.folder / "out.json").read_text())["programs"][0]["findings"][0]["fingerprint"]
        self.assertEqual(result["partialFingerprints"]["courseRun/v1"], print_of)
        self.write("race.cu", "// a line more\n" + RACY)
        self.run_it("race.cu", "--report", "json=out.json")
        moved, = json.loads((self.folder / "out.json").read_text())["programs"][0]["findings"]
        self.assertEqual((moved["fingerprint"], moved["line"]), (print_of, line_of(RACY, "s[t + half]") + 1))

    def test_what_was_not_checked_is_in_a_report(self):
        self.write("lacks.cu", "#include <nvrtc.h>\nint main() {}\n")
        code, text, _ = self.run_it("lacks.cu", "--report", "sarif")
        invocation, = json.loads(text)["runs"][0]["invocations"]
        said, = invocation["toolExecutionNotifications"]
        self.assertEqual((code, invocation["executionSuccessful"], said["descriptor"]["id"]), (69, False, "refused"))
        self.assertEqual(said["locations"][0]["physicalLocation"]["region"], {"startLine": 1})

    def test_what_cannot_be_reported(self):
        self.write("right.cu", RIGHT)
        code, text, said = self.run_it("right.cu", "--report", "json", "--report", "sarif")
        self.assertEqual((code, text), (2, ""))
        self.assertIn("Only one report can go to standard output", said)
        code, _, said = self.run_it("right.cu", "--report", "json=no/such/folder.json")
        self.assertEqual((code, said), (2, "The report no/such/folder.json cannot be written: No such file or directory.\n"))
        for wrong in ("xml", "json=", "=out"):
            code, _, said = self.run_it("right.cu", "--report", wrong)
            self.assertEqual(code, 2)
            self.assertIn(f"'{wrong}' is not text, json, github, sarif or codequality, or one of them with =FILE", said)

    def test_no_report_of_another_run_stays(self):
        self.write("old.json", "{}")
        self.many("exit")  # built
        command = [str(TOP / "course"), "run", "many.cu", "--report", "json=old.json", "--", "loop"]
        with subprocess.Popen(command, cwd=self.folder, env={**os.environ, "COURSE_BUILD": str(BUILD)}) as process:
            time.sleep(2)
            process.send_signal(signal.SIGINT)
        self.assertEqual((process.returncode, list(self.folder.glob("old.json*"))), (130, []))


class Input(Run):
    def test_every_run_reads_the_same(self):
        for of in ("file", "pipe"):
            with self.subTest(of), open(self.write("input.txt", "a\nb\n"), encoding="utf-8") as file:
                more = {"stdin": file} if of == "file" else {"text": "a\nb\n"}
                self.assertEqual(self.many("input", **more), (
                    2, "read a\nread b\n", "No finding under 4 schedules.\n"))


class Builds(Run):
    maxDiff = None
    def test_what_does_not_compile(self):
        self.write("bad.cu", "__global__ void k(int* x) {\n  x[threadIdx.x] = y;\n}\nint main() {}\n")
        self.write("fine.cu", "void f() {}\n")
        code, text, said = self.run_it("bad.cu", "fine.cu")
        self.assertEqual((code, text), (1, ""))
        self.assertTrue(said.startswith("bad.cu does not compile:\n\nbad.cu:2:20: error: use of undeclared identifier 'y'\n"
                                        "  x[threadIdx.x] = y;\n"), said)
        for internal in ("cu.cpp", "::simt", "common/", "\033"):
            self.assertNotIn(internal, said)

    def test_warnings_on_the_readers_own_lines(self):
        self.write("elsewhere/other.h", "static void of_a_library() { int never; }\n")
        # A warning of g++ that clang does not know is turned off in the last line of the program.
        self.write("own/near.h", "inline int near() { int there; return 0; }\n")
        self.write("own/warned.cu", '#include "near.h"\n#include <other.h>\n__host__ __device__ int f() { int y;\n#ifdef __CUDA_ARCH__\n#endif\n'
                   "  return 1; }\n__constant__ static int c = 1;\n"
                   "__global__ void k(unsigned* x, int n, int unused) {\n  __shared__ int s[4], t;\n"
                   "  if (n < x[0]) x[0] = s[3];\n}\nint main() {\n  for (int i = 0; i < 0; ++i) k<<<1, 1>>>(0, f(), c);\n}\n"
                   '#pragma GCC diagnostic ignored "-Wformat-truncation"\n')
        code, _, said = self.run_it("own/warned.cu", "-I", "elsewhere", "--seeds", "1")
        self.assertEqual((code, said), (0, (
            "own/near.h:1:25: warning: unused variable 'there' [-Wunused-variable]\n"
            "inline int near() { int there; return 0; }\n                        ^\n"
            "own/warned.cu:3: warning: unused variable 'y' [-Wunused-variable]\n"
            "    3 | __host__ __device__ int f() { int y;\n"
            "own/warned.cu:9: warning: unused variable 't' [-Wunused-variable]\n"
            "    9 |   __shared__ int s[4], t;\nNo finding under schedule 0.\n")))
        self.assertNotIn("warning", self.run_it("own/warned.cu", "-I", "elsewhere", "--seeds", "1")[2])

    def test_nothing_of_the_course_is_there(self):
        self.write("names.cu", "#if defined(CUDA_CHECK) || defined(REQUIRE) || defined(CATCH_VERSION_MAJOR)\n#error names\n"
                   "#endif\nint main() { return sizeof(std::string) == 0; }\n")
        code, _, said = self.run_it("names.cu")
        self.assertNotIn("#error", said)
        self.write("headers.cu", "#include <course/buffer.cuh>\n#include <course/error.cuh>\n"
                   "int main() { CUDA_CHECK(cudaDeviceSynchronize()); return course::DeviceBuffer<int>(3).size() == 3 ? 5 : 6; }\n")
        self.assertEqual(self.run_it("headers.cu", "--seeds", "1")[0], 5)

    def test_several_files_headers_and_macros(self):
        self.write("include/scale.cuh", "#pragma once\nvoid scale(int* d, int n);\n")
        self.write("scale.cu", '#include "scale.cuh"\n__global__ void k(int* d) { d[threadIdx.x] *= FACTOR; }\n'
                   "void scale(int* d, int n) { k<<<1, n>>>(d); }\n")
        self.write("main.cu", '#include "scale.cuh"\nint main() {\n  int h[8] = {0, 1, 2, 3}, *d;\n  cudaMalloc(&d, sizeof h);\n'
                   "  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);\n  scale(d, 8);\n"
                   "  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);\n  return h[3];\n}\n")
        words = ["main.cu", "scale.cu", "-I", "include", "--seeds", "1"]
        self.assertEqual(self.run_it(*words, "-D", "FACTOR=5")[0], 15)
        objects = sorted(Program(BUILD, [self.folder / name for name in words[:2]]).folder.glob("*.o"))
        self.assertEqual(len(objects), 2)
        before = [file.stat().st_mtime_ns for file in objects]
        self.assertEqual(self.run_it(*words, "-D", "FACTOR=5", cwd=self.folder)[0], 15)
        self.assertEqual([file.stat().st_mtime_ns for file in objects], before)  # nothing to do
        self.assertEqual(self.run_it(*words, "-DFACTOR=7")[0], 21)
        again = self.run_it(*words, "-DFACTOR=7")[2]
        self.assertEqual(again, "No finding under schedule 0.\n")
        before = [file.stat().st_mtime_ns for file in objects]
        self.write("include/scale.cuh", "#pragma once\nvoid scale(int* d, int n);\n#define NOTHING\n")
        self.run_it(*words, "-DFACTOR=7")
        self.assertTrue(all(file.stat().st_mtime_ns > then for file, then in zip(objects, before)))
        code, _, said = self.run_it("scale.cu", "-I", "include", "-DFACTOR=1")
        self.assertEqual((code, said), (1, "There is no main() in scale.cu: a program needs one.\n"))
        code, _, said = self.run_it("main.cu", "-I", "include")
        self.assertEqual((code, said), (1, "main.cu cannot be linked: nothing defines\n  scale(int*, int)\n"))

    def test_what_is_typed_otherwise(self):
        self.write("folder/one.cu", "int main() { return 3; }\n")
        self.write("two.cu", "int main() { return 3; }\n")
        for words, expected in (
            (["folder"], "folder is a folder. "), (["folder"], "course run --each folder runs each program in it.\n"), ([""], "'' is neither CUDA "),
            (["a b.cu"], "There is no file 'a b.cu'.\n"), (["two.cu", "--baseline", ""], "--baseline needs the name of a file.\n"),
        ):
            code, _, said = self.run_it(*words)
            self.assertEqual(code, 2)
            self.assertIn(expected, said)
        code, _, said = self.run_it("two.cu", "-c", "./two.cu", "--seeds", "1")
        self.assertEqual(code, 3)
        self.assertIn("note: -c has no effect: the program is linked, and runs all the same.\n", said)
        code, text, _ = self.run_it("--each", "two.cu", "--seeds", "1", "--each", "folder/one.cu")
        self.assertEqual((code, re.findall("^==== (.*)$", text, re.MULTILINE)), (3, ["two.cu", "folder/one.cu"]))

    def test_every_file_that_does_not_compile_is_told_in_order(self):
        names = [f"{letter}.cu" for letter in "cab"]
        for name in names:
            self.write(name, f"int {name[0]} = missing;\n")
        said = self.run_it(*names)[2]
        self.assertEqual(re.findall(r"^(.*) does not compile:$", said, re.MULTILINE), names)
        self.assertEqual(said.count("undeclared identifier 'missing'"), 3)

    def test_a_file_that_takes_the_place_of_another_is_compiled_even_if_it_is_older(self):
        older = self.write("older.cu", "int main() { return 5; }\n")
        self.write("newer.cu", "int main() { return 4; }\n")
        self.assertEqual(self.run_it("newer.cu", "--seeds", "1")[0], 4)
        older.rename(self.folder / "newer.cu")
        self.assertEqual(self.run_it("newer.cu", "--seeds", "1")[0], 5)

    def test_names_that_a_shell_and_a_build_file_write_otherwise(self):
        name = "a b/it's $1: x#y & (z).cu"
        self.write("a b/near by.h", "#define CODE 6\n")
        self.write(name, '#include "near by.h"\nint main() { return CODE; }\n')
        self.addCleanup(shutil.rmtree, Program(BUILD, [self.folder / name]).folder, ignore_errors=True)
        self.assertEqual(self.run_it(name, "--seeds", "1")[0], 6)
        self.write("a b/near by.h", "#define CODE 7\n")
        self.assertEqual(self.run_it(name, "--seeds", "1", "-D", "TEXT=\"a  $b\"")[0], 7)
        self.write("a b/near by.h", "#define CODE 8\n")
        self.assertEqual(self.run_it(name, "--seeds", "1", "-D", "TEXT=\"a  $b\"")[0], 8)

    def test_options_of_nvcc(self):
        self.write("scaled.cu", "int main() {\n#ifndef SMALL\n  return FACTOR;\n#endif\n}\n")
        self.write("more.rsp", "-DFACTOR=6 -O3 --expt-relaxed-constexpr")
        words = ["scaled.cu", "-arch=sm_80", "-o", "scaled", "@more.rsp", "-DSMALL", "-U", "SMALL", "-use_fast_math", "-lcublas", "-lcufft", "-lm"]
        self.assertEqual(self.run_it(*words), (
            6, "", "note: -use_fast_math has no effect: arithmetic is rounded as without it.\n"
                   "note: -lcufft has no effect: the CPU device has no such library.\nNo finding under 4 schedules.\n"))
        self.write("forced.cuh", "__global__ void k(int* d) { *d = FACTOR; }\nvoid go(int* d) { k<<<1, 1>>>(d); }\n")
        self.write("uses.cu", "int main() {\n  int* d;\n  cudaMallocManaged(&d, 4);\n  go(d);\n  cudaDeviceSynchronize();\n  return puts(\"\") + *d;\n}\n")
        self.assertEqual(self.run_it("uses.cu", "-include", "forced.cuh", "-DFACTOR=8", "-include", "cstdio", "--seeds", "1")[0], 9)
        said = self.run_it("scaled.cu", "-std=c++14")[2]
        self.assertTrue(said.endswith("\n\nA .cu file is compiled as C++20 here, not as -std=c++14.\n"), said)
        self.assertNotIn("C++20", self.run_it("scaled.cu", "-std=c++20")[2])

    def test_compile_commands(self):
        self.write("source/in.cu", '#include <plain.h>\nvoid f() { k<<<1, FACTOR>>>(nullptr); }\nint main() { return FACTOR; }\n')
        self.write("lib/plain.h", '#include "kernel.h"\n')
        self.write("lib/kernel.h", "__global__ void k(int*) {}\n")
        self.write("forced.h", "#define FACTOR 5\n")
        commands = [{"directory": str(self.folder), "file": "source/in.cu", "command":
                     "nvcc -isystem=lib --pre-include forced.h -Xcompiler=-fopenmp,-O3 -x cu -c source/in.cu -o in.o"}]
        self.write("project/compile_commands.json", json.dumps(commands))
        note = "note: source/in.cu: -fopenmp of project/compile_commands.json has no effect: a parallel region has one thread.\n"
        of_in = Program(BUILD, [self.folder / "source/in.cu"]).folder
        self.addCleanup(shutil.rmtree, of_in, ignore_errors=True)
        for place in ("project", "project/compile_commands.json"):
            self.assertEqual(self.run_it("source/in.cu", "-p", place), (5, "", f"{note}No finding under 4 schedules.\n"))
        self.assertEqual(self.run_it("source/in.cu", "-p", "project", "-DTWICE", "--schedule", "1")[2], f"{note}No finding under schedule 1.\n")
        self.assertIn("plain.h", self.run_it("source/in.cu")[2])  # is not found
        self.write("other.cu", "int main() {}\n")
        self.assertEqual(self.run_it("other.cu", "-p", "project"), (
            0, "", "note: other.cu: project/compile_commands.json has no entry of this file.\nNo finding under 4 schedules.\n"))

    def test_plain_cpp_beside_cuda(self):
        self.write("twice.cu", "__global__ void k(int* d) { d[threadIdx.x] *= 2; }\nvoid twice(int* d) { k<<<1, 8>>>(d); }\n")
        self.write("plain.cpp", "#include <cuda_runtime.h>\n#ifdef __CUDACC__\n#error CUDA\n#endif\nvoid twice(int*);\n"
                   "int main() {\n  int h = 21, *d;\n  cudaMalloc((void**)&d, 32);\n  cudaMemset(d, 0, 32);\n"
                   "  cudaMemcpy(d, &h, 4, cudaMemcpyHostToDevice);\n  twice(d);\n"
                   "  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);\n  h += *d;\n  return h;\n}\n")
        code, _, said = self.run_it("twice.cu", "plain.cpp")
        self.assertEqual(code, 66)
        self.assertIn("DEVICE POINTER USED BY THE HOST: read of 4 bytes at d[0]\n  at plain.cpp:13\n", said)


STORE = "__global__ void k(int* x) {\n  // HERE\n  *x = threadIdx.x;\n}\nint main() {\n  int* x;\n  cudaMalloc(&x, 4);\n  k<<<1, 64>>>(x);\n  return cudaDeviceSynchronize();\n}\n"


class Several(Run):
    @classmethod
    def remove_builds(cls):
        for file in cls.folder.rglob("*.cu"):
            shutil.rmtree(Program(BUILD, [file]).folder, ignore_errors=True)

    def test_one_that_fails_does_not_end_the_run(self):
        self.write("all/a.cu", '#include <cstdio>\nint main() { for (int i = 0; i < 30; ++i) std::printf("line %d\\n", i); }\n')
        self.write("all/b.cu", "int main() { return y; }\n")
        self.write("all/c.cu", STORE)
        self.write("all/d.cu", "__global__ void k() {}\n")
        self.write("all/e.cu", "#include <nvrtc.h>\nint main() {}\n")
        self.write("all/f.cu", "int main() { for (;;); }\n")
        self.write("all/g.cu", "int main() { *static_cast<volatile int*>(nullptr) = 0; }\n")
        self.write("all/h.cu", "int main() { return 5; }\n")
        code, text, said = self.run_it("--each", "all", "--time-limit", "1", "--seeds", "2", "--report", "json=r.json")
        self.assertEqual((code, said), (66, ""))
        rows = [line.rsplit(maxsplit=2)[0].split(maxsplit=1) for line in text.splitlines() if re.match(r"all/.*\d s$", line)]
        self.assertEqual([(file, re.sub(" +", " ", rest)) for file, rest in rows], [
            ("all/a.cu", "nothing found 0"), ("all/b.cu", "does not compile -"), ("all/c.cu", "findings 1"),
            ("all/d.cu", "no main(): not a program of its own -"), ("all/e.cu", "refused -"), ("all/f.cu", "out of time 0"),
            ("all/g.cu", "crashed 0"), ("all/h.cu", "exit code 5 0")])
        self.assertEqual(re.findall("^==== (.*)$", text, re.MULTILINE), [f"all/{letter}.cu" for letter in "abcefgh"])
        self.assertIn("\nline 9\n... and 20 more lines\nNo finding under 2 schedules.\n", text)
        self.assertIn(" If the program needs more time: --time-limit 3600.\n", text)
        self.assertIn("course run all/c.cu --time-limit 1 --schedule 0\n", text)
        self.assertTrue(text.endswith("\n7 programs (nothing found: 1, findings: 1, refused: 1, does not compile: 1, out of time: 1, crashed: 1, failed: 1).\n"))
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual([one["sources"] for one in report["programs"]], [[f"all/{letter}.cu"] for letter in "abcefgh"])
        for names, expected in (("abefgh", 1), ("aefgh", 124), ("aegh", 139), ("aeh", 5), ("ae", 0), ("e", 69), ("d", 1)):
            with self.subTest(names):
                words = [f"all/{letter}.cu" for letter in names]
                self.assertEqual(self.run_it("--each", *words, "--time-limit", "1", "--seeds", "1")[0], expected)

    def test_a_file_that_is_linked_into_each_program(self):
        self.write("src/store.cu", STORE.partition("int main")[0] + "void store(int* x) { k<<<1, 64>>>(x); }\n")
        self.write("src/main.cu", "int main() { return 9; }\n")
        for name in "ab":
            self.write(f"tests/{name}.cu", "void store(int*);\nint main() {\n  int* x;\n  cudaMalloc(&x, 4);\n  store(x);\n}\n")
        words = ["--each", "tests", "--seeds", "1"]
        code, text, _ = self.run_it(*words)
        self.assertEqual(code, 1)
        self.assertIn("tests/b.cu cannot be linked: nothing defines\n  store(int*)\n"
                      "Is it in another file? --with FILE links one into each program.\n", text)
        code, text, said = self.run_it(*words, "src/store.cu", "--with", "src", "--exclude", "*/main.cu", "--exclude", "x*")
        self.assertEqual((code, said), (66, "note: --exclude x* matches no file.\n"))
        self.assertEqual(re.findall("^==== (.*)$", text, re.MULTILINE), ["tests/a.cu", "tests/b.cu"])
        self.assertEqual(text.count("  write  at src/store.cu:3 by block 0 thread "), 4)
        self.assertIn("course run tests/b.cu src/store.cu --schedule 0\n", text)
        self.assertIn("defines main(). --exclude leaves out a file of --with.\n", self.run_it(*words, "--with", "src")[1])
        self.assertIn("belong to --each", self.run_it("src/main.cu", "--with", "src")[2])

    def test_what_is_said_of_the_only_one(self):
        self.write("only.cu", '#include <cstdio>\nint main() { for (int i = 0; i < 30; ++i) std::fprintf(stderr, "line %d\\n", i); }\n')
        text = self.run_it("--each", "on*.cu", "--jobs", "1")[1]
        self.assertEqual(text.count("\nline "), 30)
        self.assertIn("--trace records one program", self.run_it("--each", "only.cu", "--trace")[2])

    def test_ctrl_c(self):
        self.write("loop.cu", "int main() { for (;;); }\n")
        with subprocess.Popen([str(TOP / "course"), "run", "--each", "loop.cu"], cwd=self.folder,
                              env={**os.environ, "COURSE_BUILD": str(BUILD)}, stderr=subprocess.PIPE, text=True) as process:
            program = Program(BUILD, [self.folder / "loop.cu"]).file
            for _ in range(1200):
                if self.is_running(program):
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
        self.assertEqual((process.returncode, said), (130, ""))
        self.assertFalse(self.is_running(program))

    @staticmethod
    def is_running(program):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "exe") == str(program):
                    return True
            except OSError:
                pass
        return False


class StandardInput(Run):
    def test_a_program_that_is_piped_in(self):
        self.write("near.h", "#define CODE 6\n")
        code, text, said = self.run_it("-", text='#include "near.h"\n' + STORE)
        self.assertEqual((code, text), (66, ""))
        self.assertIn("DATA RACE in kernel k on x[0]\n  write  at stdin.cu:4 by block 0 thread 1\n", said)
        self.assertTrue(said.endswith("course run - --schedule 0\n"), said)
        self.assertEqual(self.run_it("-", text='#include "near.h"\nint main() { return CODE; }\n')[0], 6)
        said = self.run_it("-", text="int main() { return y; }\n")[2]
        self.assertTrue(said.startswith("stdin.cu does not compile:\n\nstdin.cu:1:21: error: use of undeclared identifier 'y'\n"), said)
        self.assertEqual(list((BUILD / "run").glob("stdin-*")), [])


class ExpectedFindings(Run):
    def test_a_suppression(self):
        self.write("store.cu", STORE.replace("// HERE", "// course: allow data_race: all write nearly the same"))
        self.assertEqual(self.run_it("store.cu", "--report", "sarif=r.sarif"), (
            0, "", 'allowed: store.cu:3: DATA RACE in kernel k on x[0] ("all write nearly the same")\nNo new finding under 4 schedules.\n'))
        result, = json.loads((self.folder / "r.sarif").read_text())["runs"][0]["results"]
        self.assertEqual(result["suppressions"], [{"kind": "inSource", "justification": "all write nearly the same"}])
        self.assertEqual(self.run_it("store.cu", "--report", "github")[1], "")

    def test_a_comment_that_is_almost_a_suppression(self):
        self.write("almost.cu", STORE.replace("// HERE", "// course: alow data_race: all write the same"))
        note = "note: almost.cu:2: this comment allows nothing. Is it meant to? The form, in one line: // course: allow data_race: REASON\n"
        code, _, said = self.run_it("almost.cu")
        self.assertEqual(code, 66)
        self.assertTrue(said.endswith(note), said)
        said = self.run_it("-", text=(self.folder / "almost.cu").read_text())[2]
        self.assertTrue(said.endswith(note.replace("almost.cu", "stdin.cu")), said)
        self.assertTrue(self.run_it("--each", "almost.cu")[2].endswith(note))

    def test_a_suppression_that_is_wrong(self):
        self.write("wrong.cu", STORE.replace("// HERE", "// course: allow data_race"))
        self.assertEqual(self.run_it("wrong.cu"), (
            1, "", "wrong.cu:2: error: a suppression has a kind and a reason: // course: allow data_race: REASON\n"))
        self.write("wrong.cu", STORE.replace("// HERE", "// course: allow race: it is right"))
        self.assertIn("wrong.cu:2: error: there is no kind of finding race: it is one of data_race, ", self.run_it("wrong.cu")[2])

    def test_a_suppression_that_suppresses_nothing(self):
        self.write("useless.cu", STORE.replace("// HERE", "// course: allow out_of_bounds: it is none"))
        code, _, said = self.run_it("useless.cu")
        self.assertEqual(code, 66)
        self.assertTrue(said.endswith("note: useless.cu:2: `course: allow out_of_bounds` has suppressed nothing in this run\n"), said)

    def test_a_suppression_in_a_header_of_several_programs(self):
        self.write("shared.cuh", STORE.partition("int main")[0].replace("// HERE", "// course: allow data_race: a test"))
        for name, threads in (("one", 1), ("many_threads", 64)):
            self.write(f"{name}.cu", '#include "shared.cuh"\nint main' + STORE.partition("int main")[2].replace("64", str(threads)))
        self.assertIn("has suppressed nothing", self.run_it("one.cu")[2])
        code, text, said = self.run_it("--each", "one.cu", "many_threads.cu")
        self.assertEqual((code, said), (0, ""))
        self.assertRegex(text, r"\nmany_threads\.cu +nothing found +0, 1 allowed ")

    def test_a_baseline(self):
        self.write("known.cu", STORE)
        code, _, said = self.run_it("known.cu", "--write-baseline", "baseline.json")
        self.assertEqual(code, 0)
        self.assertTrue(said.endswith("\nbaseline.json: 1 finding\n"), said)
        self.assertRegex((self.folder / "baseline.json").read_text(), r'\n\{"file": "known.cu", "kind": "data_race", "kernel": "k", ')
        words = ["known.cu", "--baseline", "baseline.json"]
        self.write("known.cu", STORE.replace("// HERE", "\n\n"))  # other lines
        self.assertEqual(self.run_it(*words), (
            0, "", "1 known finding:\n  known.cu:5: DATA RACE in kernel k on x[0]\nNo new finding under 4 schedules.\n"))
        self.write("known.cu", STORE.replace("// HERE", "x[0] = 1 + threadIdx.x; __syncthreads();"))
        code, _, said = self.run_it(*words, "--report", "json=r.json")
        self.assertEqual(code, 66)
        self.assertEqual(said.count("DATA RACE"), 2)
        self.assertTrue(said.endswith("course run known.cu --baseline baseline.json --schedule 0\n"), said)
        found = json.loads((self.folder / "r.json").read_text())["programs"][0]["findings"]
        self.assertEqual(sorted(one["is_known"] for one in found), [False, True])
        self.write("known.cu", STORE.replace("64", "1"))
        self.assertEqual(self.run_it(*words)[2], "No finding under 4 schedules.\nno longer found: data_race in kernel k in known.cu\n")


class Tables(Run):
    def test_counts(self):
        code, _, said = self.many("count", options=("--count",))
        self.assertEqual(code, 0)
        row = next(line.split() for line in said.splitlines() if line.startswith("add "))
        # 2 x 2 warps of 100 elements, the last with 4 lanes; then 2 warps of 64
        self.assertEqual(row, ["add", "2", "12", "3.5", "0", "-", "6", "6", "3"])
        self.assertNotIn("requests:", self.many("count")[2])
        self.assertIn("No kernel has run", self.many("exit", options=("--count",))[2])

    def test_a_trace(self):
        self.write("race.cu", RACY)
        code, _, said = self.run_it("--trace", "race.cu")
        self.assertEqual(code, 66)
        html = Path(re.search(r"^steps:   (.*)$", said, re.MULTILINE)[1])
        self.assertTrue("s[t] += s[t + half];" in (self.folder / html).read_text(), "the source is not in it")
        self.run_it("race.cu", "--trace", "t.json")
        self.assertEqual({file.name for file in self.folder.glob("t.*")}, {"t.json", "t.svg", "t.html"})


class Page(Run):
    def test_the_example_is_what_happens(self):
        page = (TOP / "common/docs/any-cuda-file.md").read_text()
        part = page[page.index("## A finding") : page.index("## Install, and run")]
        program, = re.findall(r"```cpp\n(.*?)```", part, re.DOTALL)
        old, new = re.search(r"```diff\n-(.*)\n\+(.*)\n```", part).groups()
        self.assertEqual(program.count(f"{old}\n"), 1)
        outputs = re.findall(r"```\n\$ ./course run dot.cu\n(.*?)```", part, re.DOTALL)
        self.assertEqual(len(outputs), 2)
        for text, printed in zip((program, program.replace(old, new)), outputs):
            self.write("dot.cu", text)
            _, text, said = self.run_it("dot.cu")
            self.assertEqual((text + said).replace(f"{TOP}/", "./"), printed)


class FirstBuild(unittest.TestCase):
    def said(self, libraries):
        """What is said where no terminal is there, while libraries of an empty folder are built."""
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said, \
                mock.patch.object(build_program, "link_words", return_value=("c++", libraries)), \
                mock.patch.object(build_program, "run_ninja", return_value=(0, "")):
            (Path(folder) / "meson-private").mkdir()
            (Path(folder) / "there.a").touch()
            build_program.prepare_libraries(Path(folder))
        return said.getvalue()

    def test_it_is_announced(self):
        self.assertEqual(self.said(["there.a", "missing.a"]), f"{build_program.FIRST_BUILD}\n")
        self.assertEqual(self.said(["there.a", "-lm"]), "")


class Usage(Run):
    def refused(self, *words, **environment):
        code, text, said = self.run_it(*words, **environment)
        self.assertEqual((code, text), (2, ""))
        return said

    def test_wrong_commands(self):
        self.assertIn("usage: ./course run", self.refused())
        self.assertEqual(self.refused("no.cu"), "There is no file no.cu.\n")
        self.assertEqual(self.refused("x.f"), "x.f is neither CUDA (.cu) nor C++ (.cpp, .cc, .cxx) nor C (.c). "
                         "Arguments of the program come after --.\n")
        self.write("x.cpp", "int main() {}\n")
        self.assertEqual(self.refused("x.cpp"), "There is no .cu file in x.cpp.\n")
        self.write("right.cu", RIGHT)
        for option in (("--seeds", "0"), ("--seeds", "x"), ("--schedule", "-1")):
            self.assertIn("usage: ./course", self.refused("right.cu", *option))
        self.assertEqual(self.refused("right.cu", "--qqq"), "--qqq is no option of ./course run, nvcc or clang. "
                         "Arguments of the program come after --.\n")
        self.assertIn(" Did you mean --schedule, ", self.refused("right.cu", "--shedule=3"))
        self.assertEqual(self.refused("right.cu", "-D"), "-D needs a value.\n")
        self.assertIn("is not a build folder", self.refused("right.cu", "--build", str(self.folder)))
        self.assertEqual(self.refused("right.cu", SIMT_SEED="x"), "SIMT_SEED must be a number from 0 on, and is 'x'.\n")

    def test_exit_codes_are_one_table(self):
        code, text, _ = self.run_it("--help")
        self.assertEqual(code, 0)
        for number, verdict, meaning in EXIT_CODES:
            self.assertIn(f"{number}  {meaning.replace('`', '')}\n", text)
            self.assertTrue(verdict is None or verdict in VERDICTS)
        self.assertEqual({verdict for _, verdict, _ in EXIT_CODES if verdict}, set(VERDICTS))

    def test_a_build_folder_for_a_gpu(self):
        build = self.folder / "build-gpu"
        (build / "meson-info").mkdir(parents=True)
        (build / "meson-info" / "intro-tests.json").write_text("[]")
        (build / "meson-info" / "meson-info.json").write_text(json.dumps({"directories": {"source": str(TOP)}}))
        self.write("right.cu", RIGHT)
        said = self.refused("right.cu", "--build", str(build))
        self.assertIn("builds for a GPU", said)
        self.assertIn("-Ddevice=cpu\n", said)


if __name__ == "__main__":
    if not (BUILD / "common/build/device/simtcc.json").exists():
        print(f"{BUILD} is no build folder for the CPU device")
        sys.exit(SKIPPED)
    unittest.main()
