#!/usr/bin/env python3
"""./course run: CUDA files of the reader's own, with the compiler and the CPU device of a real build folder.

    COURSE_TEST_BUILD=build test_run.py        the folder; without it build, else nothing is tested (exit code 77)
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("COURSE_TEST_BUILD") or TOP / "build").resolve()
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


class Run(unittest.TestCase):
    """Runs in an empty folder; builds stay in the build folder, so that the same text is compiled once."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    def run_it(self, *words, cwd=None, **environment):
        """Exit code, standard output and standard error."""
        done = subprocess.run(
            [str(TOP / "course"), "run", *words], cwd=cwd or self.folder, capture_output=True, text=True,
            env={**os.environ, "COURSE_BUILD": str(BUILD), **environment}, stdin=subprocess.DEVNULL, timeout=200,
        )
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout, done.stderr


class Findings(Run):
    def test_a_race_from_another_folder(self):
        self.write("race.cu", RACY)
        code, text, said = self.run_it("race.cu")
        self.assertEqual((code, text), (66, "sum = 8128\n"))
        self.assertIn("DATA RACE in kernel sum_block on s[63]\n  read   at race.cu:8 by block 0 thread 31\n", said)
        self.assertIn("--schedule 0\n", said)

    def test_a_right_program(self):
        self.write("right.cu", RIGHT)
        self.assertEqual(self.run_it("right.cu", "--", "a"), (
            0, "sum = 8128\nargument a\n", "No finding under 4 schedules.\n"))
        code, text, _ = self.run_it("right.cu", "--schedule", "3", "--", "a", "--seeds")
        self.assertEqual((code, text), (7, "sum = 8128\nargument a\nargument --seeds\n"))


if __name__ == "__main__":
    if not (BUILD / "common/build/device/simtcc.json").exists():
        print(f"{BUILD} is no build folder for the CPU device")
        sys.exit(SKIPPED)
    unittest.main()
