"""The compiler of the CPU device, with a stand-in for clang. Run: python3 common build.tests.test_simtcc"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from build.compiler import choosing, flags, front_end, messages
from tools.lib.failed import Failed

READS = ()

TOOL = [sys.executable, str(Path(__file__).resolve().parents[2]), "build.simtcc"]

# Notes its command; writes the object and a depfile that names the source and a header.
COMPILER = """#!/bin/sh
case "$*" in *-fsyntax-only*) log=front; [ -e "{root}/said" ] && cat "{root}/said" >&2 ;; *) log=commands ;; esac
echo "$*" >>"{root}/$log"
case "$*" in *broken*) echo 'x.cu:1: error: broken'; exit 1 ;; esac
for argument; do
  case $before in -o) echo object >"$argument" ;; -MF) depfile=$argument ;; esac
  case $argument in *.cu.cpp) source=$argument ;; esac
  before=$argument
done
[ -z "$depfile" ] || printf 'object: %s \\\\\\n  {root}/my\\\\ headers/x.hpp\\n' "$source" >"$depfile"
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
            "-fsanitize=address,undefined -DNAME='\"a b\"' -MD -MQ a.o -MF a.o.d -o a.o -c ../common/src/kernel_flags.cpp"
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

    def test_a_source_that_casts_pointers_is_checked_for_alignment(self):
        self.settings(include_folder=str(self.root / "my headers"))
        source = self.root / "casts.cu"

        def command_for(code, folder=self.root):
            (folder / "casts.cuh").write_text(f"// {code}\n")
            source.write_text('#include "casts.cuh"\n')
            self.assertEqual(self.compile(f"-I{folder}", source=source).returncode, 0)
            return self.commands()[-1]

        casts = ("auto* q = reinterpret_cast<const int2*>(p);", "auto* q = static_cast<int2 *>(p);", "q = (float4*)&x[1];",
                 "q = (const Pair<float, 2> *)(x + 1);", "auto& q = reinterpret_cast<int2&>(*p);", "q = reinterpret_cast<Pairs>(p);")
        for code in casts:
            self.assertIn("-fsanitize=alignment", command_for(code), code)
        for code in ("auto n = reinterpret_cast<std::uintptr_t>(p);", "auto n = static_cast<int>(a * b);", "void f(const int*);",
                     "n = (a * b) + c;", "n = sizeof(int*) / 2;"):
            self.assertNotIn("-fsanitize=alignment", command_for(code), code)
        (self.root / "casts.cuh").unlink()
        self.assertNotIn("-fsanitize=alignment", command_for(casts[0], self.root / "my headers"))  # the library's own

    def test_options_of_meson_are_kept_but_for_what_kernels_have_of_their_own(self):
        self.compile()
        command = self.commands()[1]
        self.assertIn(f"-I{self.build}/a.p -I{self.root}/common/include -isystem {self.root}/catch "
                      "-fdiagnostics-color=always -Wall -std=c++20 -DNAME=\"a b\" "
                      f"-isystem {flags.HOST_LIBRARIES} -O0", command)
        self.assertNotIn("kernel_flags.cpp", command)
        self.assertNotIn("address", command)  # -Db_sanitize is for the library
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

    def test_the_check_of_an_exercise_that_has_not_been_begun_is_not_compiled(self):
        exercise = self.root / "exercises/k.cuh"
        exercise.parent.mkdir()
        exercise.write_text('#include "own.cuh"\n\nNOT_STARTED\n')
        done = self.compile(f"-I{exercise.parent}", "--learner")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        command, = self.commands()
        self.assertIn("-c x.p/k.cu.cpp -o x.p/k.cu.o", command)
        self.assertEqual((self.build / "x.p/k.cu.cpp").read_text(), "#include <course/exercise.cuh>\n\nNOT_STARTED\n")
        depfile = (self.build / "x.p/k.cu.d").read_text()
        for name in (str(exercise), str(self.source), "simtcc.json", "build/compiler/not_begun.py"):
            self.assertIn(name, depfile)
        self.assertNotIn("k.cu.cpp", depfile)
        self.compile(f"-I{exercise.parent}")  # a solution in that folder
        self.assertIn("::simt::launch(", (self.build / "x.p/k.cu.cpp").read_text())
        exercise.write_text('#include "own.cuh"\n\n// NOT_STARTED\n')
        self.compile(f"-I{exercise.parent}", "--learner")
        self.assertIn("::simt::launch(", (self.build / "x.p/k.cu.cpp").read_text())

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

    def test_refusals_are_told_apart_from_other_errors(self):
        file = self.root / "refusals.json"
        options = "--refusals", str(file)
        self.compile("-DNAME=broken", *options)
        self.assertEqual(json.loads(file.read_text()), [])
        self.source.write_text("__global__ void k() {\n  cufftHandle a;\n}\n")
        self.compile(*options)
        text = "not supported on the CPU device: cufftHandle of cuFFT: "
        (refusal,) = json.loads(file.read_text())
        self.assertEqual((refusal["file"], refusal["line"], refusal["text"][: len(text)]), ("../k.cu", 2, text))
        self.source.write_text("__global__ void k() { __shared__ int s[]; }\n")  # the rewriter's, and wrong for nvcc, too
        self.assertEqual(self.compile(*options).returncode, 1)
        self.assertEqual(json.loads(file.read_text()), [])
        refused = "x.cu:3: error: not supported on the CPU device: cudaFoo\n"
        self.assertEqual(messages.refusals_in(refused), [
            {"file": "x.cu", "line": 3, "text": "not supported on the CPU device: cudaFoo"}])
        self.assertEqual(messages.refusals_in(refused + "x.cu:4: error: expected ';'\n"), [])

    def test_what_cuda_13_has_no_longer_is_one_line_without_a_note_on_a_header(self):
        self.assertEqual(messages.unsupported_in(
            "x.cu:3:5: error: 'cudaFoo' is unavailable: CUDA 13 has no cudaFoo: use cudaBar\n  cudaFoo();\n  ^\n"
            "/api.hpp:7:1: note: 'cudaFoo' has been explicitly marked unavailable here\n"),
            "x.cu:3: error: CUDA 13 has no cudaFoo: use cudaBar\n")

    def test_what_cuda_13_has_no_longer_is_a_warning_in_a_program_of_the_readers_own_alone(self):
        self.settings(compiler=choosing.find_compiler("", ["c++"]), precompiled_header=False)
        names = {"cudaThreadSynchronize();": "CUDA 13 has no cudaThreadSynchronize: use cudaDeviceSynchronize",
                 "p.clockRate = 0;": "CUDA 13 has no cudaDeviceProp::clockRate: ask cudaDeviceGetAttribute for cudaDevAttrClockRate",
                 "cudaMemAdvise(0, 1, cudaMemAdviseSetReadMostly, 0);":
                     "CUDA 13 wants a cudaMemLocation: {cudaMemLocationTypeDevice, device}"}
        for options, name, way in ((), "old.cu", "error"), (("--headers", "program"), "old.cu", "warning"), (
                                   ("--headers", "program"), "old.cpp", "warning"):
            with self.subTest(options=options, name=name):
                source = self.root / name
                source.write_text("\n".join(["#include <cuda_runtime.h>", "void f(cudaDeviceProp p) {", *names, "}", ""]))
                done = self.compile(*options, f"-isystem{messages.HEADERS}", source=source)
                self.assertEqual(done.returncode, 1 if way == "error" else 0, done.stderr)
                said = messages.COLOURS.sub("", done.stderr)
                for line, text in enumerate(names.values(), 3):
                    self.assertRegex(said, rf"(?m){name}:{line}(:\d+)?: {way}: {re.escape(text)}$")

    def test_a_file_of_c(self):
        source = self.root / "x.c"
        source.write_text("int x;\n")
        self.assertEqual(self.compile(source=source).returncode, 0)
        command = self.commands()[0]
        self.assertIn(" -x c -Wno-error=implicit-function-declaration -Wno-error=implicit-int -Wno-error=int-conversion "
                      f"-iquote {self.root} -c {source} ", command)
        self.assertNotIn("-std=", command)
        self.assertNotIn("cuda_runtime.h", command)

    def test_a_file_of_c_that_includes_cuda(self):
        source = self.root / "broken.c"
        source.write_text("int x;\n# include <cuda_runtime.h>\n")
        self.assertEqual(self.compile(source=source).stderr, f"{source}:2: error: not supported on the CPU device: cuda_runtime.h in a file "
                         "of C: let the file's name end in .cpp or .cu\n")
        source.write_text("int x;\n")
        self.assertEqual(self.compile(source=source).stdout, "x.cu:1: error: broken\n")

    def test_headers_that_plain_cpp_misses(self):
        for text in ("'GL/glew.h' file not found", "GL/glew.h: No such file or directory"):
            self.assertRegex(messages.unsupported_in(f"In file included from x.cpp:1:\nx.h:3:10: fatal error: {text}\n"),
                             "^x.h:3: error: not supported on the CPU device: GL/glew.h, graphics interop: .*\n$")
        for text, said in (("use of undeclared identifier 'cublasStrsm'", "cublasStrsm of cuBLAS: use the functions of real numbers"),
                           ("use of undeclared identifier 'CUBLASLT_EPILOGUE_RELU'", "CUBLASLT_EPILOGUE_RELU of cuBLASLt: use"),
                           ("use of undeclared identifier 'CURAND_RNG_QUASI_SOBOL32'", "CURAND_RNG_QUASI_SOBOL32 of cuRAND: use a generator of XORWOW"),
                           ("use of undeclared identifier 'CUBLAS_SIDE_LEFT'; did you mean 'CUBLAS_OP_T'?", "CUBLAS_SIDE_LEFT of cuBLAS: use"),
                           ("unknown type name 'cudnnHandle_t'", "cudnnHandle_t of cuDNN: replace it"),
                           ("use of undeclared identifier 'thrust'", "namespace thrust of Thrust: write a kernel"),
                           ("'CUFFT_C2C' was not declared in this scope", "CUFFT_C2C, unless it is misspelled")):
            self.assertIn(f"x.cpp:4: error: not supported on the CPU device: {said}", messages.unsupported_in(f"x.cpp:4:5: error: {text}\n"))
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

    def test_what_the_front_end_refuses_is_no_object(self):
        (self.root / "said").write_text(CALL.format(place="k.cu", line=2, why=OF_HOST))
        done = self.compile("--learner", "-DMORE=1", "-I/elsewhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("k.cu:2: error: f() is a function of the host", done.stderr)
        self.assertFalse((self.build / "x.p/k.cu.o").exists())
        header, source = (self.root / "front").read_text().splitlines()
        self.assertIn("-emit-pch", header)
        self.assertIn(f"-include-pch -Xclang {self.build}/kernel_front_end.pch", source)
        self.assertTrue(source.endswith(f"-iquote {self.root} -DMORE=1 -I/elsewhere {self.source}"))
        self.assertNotIn("-fsanitize", source)

    def test_the_first_error_is_the_front_ends_or_the_compilers(self):
        error = "x.cu:1:1: error: expected ';'\n"
        for first, second, said in ((CALL.format(place="k.cu", line=2, why=OF_HOST), error, "k.cu:2: error: f() is a function of the host"),
                                    (error, CALL.format(place="k.cu", line=2, why=OF_HOST), "")):
            (self.root / "said").write_text(first + second)
            done = self.compile("--learner", "-DNAME=broken")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.partition(",")[0].strip(), said)

    def test_right_code_does_not_fail_with_the_front_end(self):
        (self.root / "said").write_text("x.cu:1:1: error: what clang cannot read\n")
        self.assertEqual(self.compile("--learner").returncode, 0)
        (self.root / "said").write_text(CALL.format(place="k.cu", line=2, why=OF_HOST))
        self.source.write_text("#ifdef __CUDA_ARCH__\n")  # nvcc reads it twice
        self.assertEqual(self.compile("--learner").returncode, 0)
        (self.root / "front").unlink()
        self.source.write_text("int f();\n")
        for settings, options in (({"compiler": f"gcc\n12.2.0\n{self.root}/clang++"}, ["--learner"]), ({"precompiled_header": False}, ["--learner"]),
                                  ({}, [])):
            self.settings(**settings)
            self.assertEqual(self.compile(*options).returncode, 0)
        self.assertFalse((self.root / "front").exists())

    def test_an_error_of_the_rewriter_names_the_line(self):
        source = self.root / "bad.cu"
        source.write_text("void f() {\n  k<<<1>>>();\n}\n")
        done = self.compile(source=source)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.cu:2: error: a launch needs a grid and a block", done.stderr)


CALL = """{place}:{line}:3: error: no matching function for call to 'f'
  f(1);
  ^
{place}:1:6: note: candidate function {why}
void f(int) {{}}
     ^
"""
OF_HOST = "not viable: call to __host__ function from __global__ function"


class FrontEnd(unittest.TestCase):
    """What counts of what clang's CUDA front end says. programs/ of the CPU device's tests has what it says."""

    def refused(self, text):
        return [(place, text) for place, text in front_end.own_errors(text) if text]

    def test_calls(self):
        for why in (OF_HOST, "not viable: call to __host__ function from __device__ function", "template " + OF_HOST):
            (place, text), = self.refused(CALL.format(place="/a (1) b/x.cu", line=7, why=why))
            self.assertEqual(place, "/a (1) b/x.cu:7")
            self.assertTrue(text.startswith("f() is a function of the host, and is called in device code"), text)
        (_, text), = self.refused(CALL.format(place="x.cu", line=7, why="not viable: call to __device__ function from __host__ function"))
        self.assertTrue(text.startswith("f() is a function of the device, and is called on the host"), text)
        (place, text), = self.refused("x.cu:2:1: error: reference to __host__ function 'g' in __global__ function\n"
                                      "x.cu:1:6: note: 'g' declared here\n")
        self.assertEqual((place, text.partition(",")[0]), ("x.cu:2", "g() is a function of the host"))

    def test_constexpr_functions(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "x.cu"

            def said(declaration, call="f(1);", file=source):
                file.write_text(declaration + " f(int);\n")
                output = CALL.format(place=source, line=2, why=OF_HOST)
                output = output.replace(f"{source}:1:6", f"{file}:1:{len(declaration) + 2}").replace("  f(1);\n  ^", f"{call}\n{' ' * call.rindex('f(')}^")
                return [text for _, text in self.refused(output)]

            text, = said("constexpr int")
            self.assertTrue(text.startswith("f() is a constexpr function of the host"), text)
            for call in ("x = f(1);", "int a[f(2)];", "sizeof(int); g<f(3)>();", "static_assert(f(1) == 1);"):
                self.assertEqual(said("int a; constexpr int", call), [text], call)
            self.assertIn("write __device__ before it", said("constexpr int a = 1; int")[0])
            for call in ("decltype(f(1)) a;", "sizeof(f(1));", "noexcept(f(1));"):
                self.assertEqual(said("constexpr int", call), [], call)
            self.assertEqual(said("consteval int"), [])
            with mock.patch.object(front_end, "is_of_course", lambda file: file == str(source)):  # of the system
                for declaration in ("constexpr int", "_GLIBCXX20_CONSTEXPR int"):
                    self.assertIn("cuda::std::f() is for both", said(declaration, file=Path(folder) / "bit.h")[0])
                    member = CALL.format(place=source, line=2, why=OF_HOST).replace("matching function", "matching member function")
                    (_, text), = self.refused(member.replace(f"{source}:1:6", f"{Path(folder) / 'bit.h'}:1:{len(declaration) + 2}"))
                    self.assertTrue(text.startswith("f() is a function of the host"), text)
                with mock.patch.object(front_end, "KNOWN_TO_NVCC", {"f"}):
                    self.assertEqual(said("constexpr int", file=Path(folder) / "move.h"), [])

    def test_kernels(self):
        for error, said in (("kernel function type 'int (int *)' must have void return type", "a kernel that returns a value, 'int (int *)': "),
                            ("kernel function type 'T ()' (aka 'int ()') must have void return type",
                             "a kernel that returns a value, 'T ()' (aka 'int ()'): "),
                            ("call to global function 'k' not configured", "k is a kernel, and a kernel is launched: k<<<"),
                            ("kernel call to non-global function 'k'", "k is launched with <<<>>>, but is not a kernel: "),
                            ("cannot use 'try' in __global__ function", "try in device code: "),
                            ("cannot use 'throw' in __device__ function", "throw in device code: ")):
            (place, text), = self.refused(f"x.cu:2:1: error: {error}\n")
            self.assertEqual(place, "x.cu:2")
            self.assertTrue(text.startswith(said), text)

    def test_everything_else_is_the_compilers_business(self):
        host = CALL.format(place="x.cu", line=7, why=OF_HOST)
        for text in ("x.cu:2:1: error: expected ';'\n", CALL.format(place="x.cu", line=7, why="not viable: requires 2 arguments"),
                     host + "x.cu:2:6: note: candidate function not viable: requires 2 arguments\n",  # an overload of the device
                     host + "clang: error: clang frontend command failed with exit code 139\n",
                     f"x.cu:2:1: error: reference to __device__ function 'printf' in __host__ function\n"
                     f"{front_end.HEADER}:1:6: note: 'printf' declared here\n",
                     "x.cu:2:1: error: no matching function for call to 'operator new'\n",
                     CALL.format(place="/usr/include/c++/12/new", line=7, why=OF_HOST),
                     CALL.format(place=f"{front_end.COURSE}/course/check.cuh", line=7, why=OF_HOST),
                     CALL.format(place=f"{front_end.HEADERS}/cooperative_groups.h", line=7, why=OF_HOST)):
            self.assertEqual(self.refused(text), [], text)


class Choosing(unittest.TestCase):
    """Which compiler `meson setup` takes."""

    def choose(self, wanted, cxx, problems=None, **versions):
        """`versions`: of the compilers that are there, such as clang_16="16.0.6" for clang++-16. `problems`: what
        problem_with() says of some."""
        def identify(command):
            name = command[-1].replace("clang++-", "clang_").replace("++", "")
            version = versions.get(name)
            if version is None or int(version.split(".")[0]) < (12 if name == "g" else 16):
                return None
            return "gcc" if name == "g" else "clang", version
        with (mock.patch.object(choosing, "identify", identify), mock.patch.object(choosing.shutil, "which", lambda name: name),
              mock.patch.object(choosing, "problem_with", lambda family, command: (problems or {}).get(command[-1], ""))):
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

    def test_one_without_the_options_for_kernels_is_passed_over(self):
        broken = {"clang++": "no call of __tsan_volatile_read4"}
        self.assertEqual(self.choose("", ["g++"], broken, g="12.2.0", clang="30.1.0", clang_16="16.0.6"), ["clang", "16.0.6", "clang++-16"])
        with self.assertRaises(Failed) as caught:
            self.choose("clang++", ["g++"], broken, g="12.2.0", clang="30.1.0")
        self.assertIn("clang++ 30.1.0 does not show the checker what a kernel does: no call of __tsan_volatile_read4", str(caught.exception))

    def test_what_the_options_for_kernels_do(self):
        family, _, *compiler = choosing.find_compiler("", ["c++"]).split("\n")
        self.assertEqual(choosing.problem_with(family, compiler), "")
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "cxx"
            hooks = sorted(choosing.HOOKS)
            for script, expected in (
                ("echo " + " ".join(hooks), ""),
                ("echo " + " ".join(hooks[1:]), "no call of " + hooks[0]),
                ("echo __tsan_func_entry " + " ".join(hooks), "calls of __tsan_func_entry"),
                ("echo 'unknown argument -tsan-distinguish-volatile=1' >&2; exit 1", "unknown argument -tsan-distinguish-volatile=1"),
            ):
                program.write_text(f"#!/bin/sh\ncat >/dev/null\n{script}\n")
                os.chmod(program, 0o755)
                with self.subTest(script):
                    self.assertEqual(choosing.problem_with("clang", [str(program)]), expected)

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
