"""What is left of a compiler's output when it crashes."""

import unittest

from tools.check import compile_errors

READS = ()

CLANG = """\
[1/2] Compiling C++ object check.p/ticket.cu.o
FAILED: check.p/ticket.cu.o
clang++ -c /home/ada/course/ticket.cu
PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace.
Stack dump:
0.\tProgram arguments: /usr/lib/llvm-16/bin/clang -cc1 /home/ada/course/ticket.cu
1.\t/home/ada/course/exercises/ticket.cuh:7:3: current parser token ';'
 #0 0x00007f5d1e8a llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/llvm-16/lib/libLLVM-16.so.1+0xe8a)
clang: error: clang frontend command failed with exit code 139 (use -v to see invocation)
Debian clang version 16.0.6
InstalledDir: /usr/bin
ninja: build stopped: subcommand failed.
"""
GCC = """\
exercises/ticket.cuh:7:3: internal compiler error: Segmentation fault
0x7f2 __libc_start_main
Please submit a full bug report, with preprocessed source.
"""
ERROR = "exercises/ticket.cuh:9:1: error: expected ';'\nint x\n"


class Crash(unittest.TestCase):
    def test_a_crash_is_said_without_its_dump(self):
        for output in (CLANG, GCC):
            self.assertEqual(compile_errors.explain(output, "exercises/ticket.cuh"), compile_errors.CRASHED)

    def test_an_error_beside_it_is_shown(self):
        for output in (ERROR + CLANG, CLANG + ERROR, GCC + ERROR):
            self.assertEqual(compile_errors.explain(output, "exercises/ticket.cuh"), ERROR.strip())


if __name__ == "__main__":
    unittest.main()
