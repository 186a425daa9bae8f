"""How the CPU device's library is built: what a switch of fibers saves, and which symbols the checker needs.

    python3 common simt.tests.test_library MEMORY_TEST CXX     the built memory_test.cu, and the compiler of the library
"""

import platform
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tools.lib.checkout import TOP

# Sixteen registers of AVX-512 are in use at the switch, and the compiler would rather keep a value in one of the others.
SWITCH = """
#include <immintrin.h>
#include "kernel/fiber.hpp"
namespace simt {
void between();
float over_a_switch(Fiber& from, Fiber& to, const float* x) {
  __m512 kept = _mm512_loadu_ps(x);
  __mmask16 mask = _mm512_cmplt_ps_mask(kept, _mm512_setzero_ps());
  asm volatile("" : "+v"(kept), "+k"(mask));
  switch_fiber_here(from, to);
  asm volatile("" : "+v"(kept), "+k"(mask));
  return _mm512_mask_reduce_add_ps(mask, kept);
}
}
"""


class Library(unittest.TestCase):
    memory_test = None
    compiler = []

    @unittest.skipUnless(platform.machine() == "x86_64", "the switch of fibers is Boost.Context's")
    def test_a_switch_saves_the_registers_of_avx512(self):
        done = subprocess.run([*self.compiler, "-std=c++20", "-O2", "-mavx512f", f"-I{TOP}/common/simt/src", "-x", "c++", "-", "-S", "-o", "-"],
                              input=SWITCH, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        after = done.stdout[re.search(r"jmpq?\s+\*%rax", done.stdout).end():]
        self.assertRegex(after.split("ret")[0], r"mov\w*\s+-?\d*\(%rsp\), %zmm")  # from the stack

    def test_a_program_without_symbols_says_so(self):
        name = "a long initial value is no memory of the host"
        with tempfile.TemporaryDirectory() as folder:
            stripped = Path(folder) / "memory_test"
            subprocess.run(["strip", "-o", stripped, self.memory_test], check=True)
            done = subprocess.run([stripped, name], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("build it without -s (LDFLAGS), and do not strip it", done.stderr)
        self.assertNotIn("OUT OF BOUNDS", done.stdout + done.stderr)


if __name__ == "__main__":
    Library.memory_test, Library.compiler = sys.argv[1], shlex.split(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
