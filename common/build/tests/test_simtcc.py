"""The compiler of the CPU device, with a stand-in for clang. Run: python3 common build.tests.test_simtcc"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from build.compiler import choosing, messages
from tools.lib.failed import Failed

TOOL = [sys.executable, str(Path(__file__).resolve().parents[2]), "build.simtcc"]

# Notes its command; writes the object and a depfile that names the source and a header.
COMPILER = """#!/bin/sh
echo "$*" >>"{root}/commands"
case "$*" in *broken*) echo 'x.cu:1: error: broken'; exit 1 ;; esac
for argument; do
  case $before in -o) echo object >"$argument" ;; -MF) depfile=$argument ;; esac
  case $argument in *.cu.cpp) source=$argument ;; esac
  before=$argument
done
printf 'object: %s \\\\\\n  {root}/my\\\\ headers/x.hpp\\n' "$source" >"$depfile"
"""


class Compiling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.build = self.root / "build"
        (self.build / "x.p").mkdir(parents=True)
        (self.root / "my headers").mkdir()
        self.header = self.root / "my headers" / "x.hpp"
        self.header.write_text("// a header\n")
        (self.root / "all.cu").write_text('#include "own.cuh"\n')
        (self.root / "own.cuh").write_text("#pragma once\n")
        self.source = self.root / "k.cu"
        self.source.write_text('#include "own.cuh"\n__global__ void k(int* p) { *p = 1; }\nvoid f() { k<<<1, 1>>>(nullptr); }\n')
        compiler = self.root / "clang++"
        compiler.write_text(COMPILER.format(root=self.root))
        compiler.chmod(0o755)
        command = (
            "c++ -Ia.p -I../common/include -isystem ../catch -fdiagnostics-color=always -Wall -std=c++20 -O0 -g "
            "-DNAME='\"a b\"' -MD -MQ a.o -MF a.o.d -o a.o -c ../common/src/kernel_flags.cpp"
        )
        (self.build / "compile_commands.json").write_text(json.dumps([
            {"directory": str(self.build), "command": "c++ -c x.cpp", "file": "x.cpp"},
            {"directory": str(self.build), "command": command, "file": "../common/src/kernel_flags.cpp"},
        ]))
        self.settings()

    def settings(self, **different):
        values = {
            "compiler": f"clang\n16.0.6\n{self.root}/clang++", "precompiled_header": True,
            "kernel_headers": f"{self.root}/all.cu", "program_headers": f"{self.root}/few.cu",
            "include_folder": str(self.root), "build": str(self.build), "like": "kernel_flags.cpp", **different,
        }
        (self.build / "simtcc.json").write_text(json.dumps(values))

    def compile(self, *options, source=None):
        return subprocess.run(
            [*TOOL, "--settings", "simtcc.json", str(source or self.source), "-o", "x.p/k.cu.o",
             "-MF", "x.p/k.cu.d", *options],
            cwd=self.build, capture_output=True, text=True,
        )

    def commands(self):
        """What the compiler was called with since the last time."""
        file = self.root / "commands"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def test_a_source_becomes_an_object(self):
        done = self.compile("-DMORE=1", "-I/elsewhere")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.build / "x.p/k.cu.o").exists())
        self.assertIn("::simt::launch(", (self.build / "x.p/k.cu.cpp").read_text())
        header, command = self.commands()
        self.assertIn("-x c++-header", header)
        self.assertIn(f"-include-pch {self.build}/kernel_headers.pch", command)
        self.assertIn("-DMORE=1 -I/elsewhere -c x.p/k.cu.cpp -o x.p/k.cu.o", command)
        for flags in ("-O0 -g1", "-fsanitize=thread", "-mllvm -tsan-instrument-read-before-write"):
            self.assertIn(flags, header)
            self.assertIn(flags, command)

    def test_options_of_meson_are_kept_but_for_what_kernels_have_of_their_own(self):
        self.compile()
        command = self.commands()[1]
        self.assertIn(f"-I{self.build}/a.p -I{self.root}/common/include -isystem {self.root}/catch "
                      "-fdiagnostics-color=always -Wall -std=c++20 -DNAME=\"a b\" -O0", command)
        self.assertNotIn("kernel_flags.cpp", command)
        self.assertNotIn(" a.o", command)

    def test_the_depfile_names_every_file_that_an_object_is_made_of(self):
        self.compile()
        depfile = (self.build / "x.p/k.cu.d").read_text()
        self.assertTrue(depfile.startswith("x.p/k.cu.o: "))
        for name in (str(self.source), f"{self.root}/own.cuh", f"{self.root}/my\\ headers/x.hpp", "simtcc.json", "build/simtcc.py",
                     "build/rewriter/source.py"):
            self.assertIn(name, depfile)
        self.assertNotIn("k.cu.cpp", depfile)

    def test_the_header_is_compiled_once_and_again_when_something_changes(self):
        self.compile()
        self.assertEqual(len(self.commands()), 2)
        self.compile()
        self.assertEqual(len(self.commands()), 1)
        for change in (lambda: self.header.write_text("// longer than it was\n"),
                       lambda: os.utime(self.header, (0, 0)),  # of an older package; clang refuses what was made before
                       lambda: (self.root / "own.cuh").write_text("#pragma once\n// longer\n"),
                       lambda: (self.build / "kernel_headers.pch").unlink(),
                       lambda: self.settings(compiler=f"clang\n17.0.1\n{self.root}/clang++")):
            change()
            self.compile()
            self.assertEqual([("c++-header" in line) for line in self.commands()], [True, False])
            self.compile()
            self.assertEqual(len(self.commands()), 1)

    def test_without_a_precompiled_header(self):
        self.settings(precompiled_header=False)
        self.compile()
        command, = self.commands()
        self.assertNotIn("-include-pch", command)

    def test_gcc_takes_a_header_of_its_own_kind(self):
        self.settings(compiler=f"gcc\n12.2.0\n{self.root}/clang++")
        self.compile()
        command = self.commands()[1]
        self.assertIn(f"-include {self.build}/kernel_headers.hpp", command)
        self.assertIn("--param=tsan-distinguish-volatile=1", command)
        self.assertNotIn("-mllvm", command)
        self.assertTrue((self.build / "kernel_headers.hpp.gch").exists())

    def test_an_error_of_the_compiler_is_the_end(self):
        done = self.compile("-DNAME=broken")
        self.assertEqual((done.returncode, done.stdout), (1, "x.cu:1: error: broken\n"))
        self.assertFalse((self.build / "x.p/k.cu.o").exists())

    def test_what_is_unsupported_is_the_only_error(self):
        first = "x.cu:3:5: error: not supported on the CPU device: cudaArray_t, textures\n"
        more = "\x1b[1mx.cu:4:1: \x1b[0m\x1b[0;1;31merror: \x1b[0mexpected ';'\n  code\n  ^\n"
        self.assertEqual(messages.unsupported_in("a note\n" + first + more + first), first.replace("3:5", "3"))
        self.assertEqual(messages.unsupported_in(more), "")
        for text in ("use of undeclared identifier 'cudaFoo'", "unknown type name 'cudaFoo'", "'cudaFoo' was not declared in this scope",
                     "no member named 'cudaFoo' in namespace 'cooperative_groups'"):
            self.assertEqual(messages.unsupported_in(f"x.cu:3:5: error: {text}\n" + more),
                             "x.cu:3: error: not supported on the CPU device: cudaFoo, unless it is misspelled\n")
        self.assertEqual(messages.unsupported_in("x.cu:3:5: error: no member named 'experimental' in namespace 'cooperative_groups'\n"),
                         f"x.cu:3: error: {messages.WHAT_TO_WRITE['experimental']}\n")
        self.assertEqual(messages.unsupported_in("x.cu:3:5: error: use of undeclared identifier 'cudaFoo'; did you mean 'cudaFree'?\n"), "")
        self.assertEqual(messages.unsupported_in("x.cu:3:5: error: use of undeclared identifier 'customer'\n"), "")

    def test_headers_that_plain_cpp_misses(self):
        for text in ("'GL/glew.h' file not found", "GL/glew.h: No such file or directory"):
            self.assertRegex(messages.unsupported_in(f"In file included from x.cpp:1:\nx.h:3:10: fatal error: {text}\n"),
                             "^x.h:3: error: not supported on the CPU device: GL/glew.h, graphics interop: .*\n$")
        self.assertIn("mpi.h, MPI", messages.unsupported_in("x.cpp:3:10: fatal error: 'mpi.h' file not found\n"))
        self.assertEqual(messages.unsupported_in("x.cpp:3:10: fatal error: 'mine.h' file not found\n"), "")

    def test_a_union_that_cannot_be_copied(self):
        self.assertEqual(messages.unsupported_in(
            "x.cu:7:5: error: call to implicitly-deleted copy constructor of 'U'\nx.cu:2:3: note: copy constructor of 'U' is implicitly deleted "
            "because variant field 'v' has a non-trivial copy constructor\n"),
            "x.cu:7: error: not supported on the CPU device: a copy of a union with a vector such as float4 or __half2 in it: copy its member, "
            "a.v = b.v\n")

    def test_what_a_header_refuses_is_told_at_the_line_of_the_program(self):
        header, text = f"{messages.HEADERS}/cooperative_groups.h", "not supported on the CPU device: a tile"
        way = "".join(f"{place}: note: in instantiation of template class 'tile<64>' requested here\n"
                      for place in (f"{header}:9:3", "x.cu:7:5", "x.cu:12:1"))
        self.assertEqual(messages.unsupported_in(
            f"{header}:3:5: error: static assertion failed due to requirement '64U <= 32': {text}\n  code\n{way}"),
            f"x.cu:7: error: {text}\n")
        self.assertEqual(messages.unsupported_in(
            f"{header}: In instantiation of 'struct tile<64>':\nx.cu:7:5:   required from here\n"
            f"{header}:3:5: error: static assertion failed: {text}\n"), f"x.cu:7: error: {text}\n")

    def test_an_error_of_the_rewriter_names_the_line(self):
        source = self.root / "bad.cu"
        source.write_text("void f() {\n  k<<<1>>>();\n}\n")
        done = self.compile(source=source)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.cu:2: error: a launch needs a grid and a block", done.stderr)


class Choosing(unittest.TestCase):
    """Which compiler `meson setup` takes."""

    def choose(self, wanted, cxx, **versions):
        """`versions`: of the compilers that are there, such as clang_16="16.0.6" for clang++-16."""
        def identify(command):
            name = command[-1].replace("clang++-", "clang_").replace("++", "")
            version = versions.get(name)
            if version is None or int(version.split(".")[0]) < (12 if name == "g" else 16):
                return None
            return "gcc" if name == "g" else "clang", version
        with mock.patch.object(choosing, "identify", identify), mock.patch.object(choosing.shutil, "which", lambda name: name):
            return choosing.find_compiler(wanted, cxx).split("\n")

    def test_a_clang_whatever_cxx_is(self):
        self.assertEqual(self.choose("", ["g++"], g="12.2.0", clang="14.0.6", clang_16="16.0.6"),
                         ["clang", "16.0.6", "clang++-16"])
        self.assertEqual(self.choose("", ["g++"], g="13.2.0", clang="18.1.3"), ["clang", "18.1.3", "clang++"])

    def test_cxx_itself_if_it_is_a_clang_that_will_do(self):
        self.assertEqual(self.choose("", ["ccache", "clang++-17"], clang="19.1.7", clang_17="17.0.6"),
                         ["clang", "17.0.6", "ccache", "clang++-17"])

    def test_gcc_where_there_is_no_clang(self):
        self.assertEqual(self.choose("", ["ccache", "g++"], g="12.2.0", clang="14.0.6"), ["gcc", "12.2.0", "ccache", "g++"])

    def test_the_one_that_is_asked_for(self):
        self.assertEqual(self.choose("g++", ["clang++"], g="12.2.0", clang="19.1.7"), ["gcc", "12.2.0", "g++"])

    def test_none_that_will_do(self):
        for wanted, words in (("", "there is no clang++ 16"), ("clang++", "clang++ is not clang++ 16")):
            with self.assertRaises(Failed) as caught:
                self.choose(wanted, ["g++"], g="11.4.0", clang="14.0.6")
            self.assertIn(words, str(caught.exception))

    def test_compilers_tell_what_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "cxx"
            for text, expected in (
                ("Ubuntu clang version 18.1.3 (1ubuntu1)", ("clang", "18.1.3")),
                ("Debian clang version 14.0.6", None),
                ("c++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.", ("gcc", "12.2.0")),
                ("something else 20.1", None),
            ):
                program.write_text(f"#!/bin/sh\necho '{text}'\n")
                os.chmod(program, 0o755)
                with self.subTest(text):
                    self.assertEqual(choosing.identify([str(program)]), expected)
            self.assertIsNone(choosing.identify([folder + "/nothing"]))


if __name__ == "__main__":
    unittest.main()
