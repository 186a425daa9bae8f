"""What ./course run understands of the options of compilers, and of compile_commands.json."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from tools.lib.failed import Failed
from tools.run.compile_commands import CompileCommands
from tools.run.compiler_options import CHANGES, FOLDERS, HARMLESS, WITH_VALUE, CompilerOptions, split_options

READS = ()


def options(words, folder="/w"):
    result = CompilerOptions()
    result.read(words.split() if isinstance(words, str) else words, folder)
    return result


class Options(unittest.TestCase):
    def test_each_option_is_of_one_kind(self):
        self.assertFalse(WITH_VALUE & HARMLESS | WITH_VALUE & CHANGES.keys() | HARMLESS & CHANGES.keys())

    def test_the_order_in_which_folders_are_searched(self):
        read = options("-isystem /s -I a -idirafter /last -I=/b --include-path=c -I a -iquote q -isystem=/t")
        self.assertEqual(read.flags(True), ["-I/w/q", "-I/w/a", "-I/b", "-I/w/c", "-I/s", "-I/t", "-I/last"])
        self.assertEqual(set(FOLDERS.values()), set(range(len(read.folders))))

    def test_macros_and_headers_keep_their_order(self):
        read = options(["-DA=1", "-U", "A", "--define-macro", "B=x y", "-include", "none.h", "-Xcompiler", "-DC,-fPIC -DD", "-Wp,-DE"])
        self.assertEqual(read.flags(True), ["-DA=1", "-UA", "-DB=x y", "-DC", "-DD", "-DE", "-includenone.h"])

    def test_what_makes_no_difference(self):
        words = ("-O3 -g -G -lineinfo -arch=sm_80 -gencode arch=compute_70,code=sm_70 --generate-code=arch=compute_80,code=[sm_80] -rdc=true "
                 "-dc -c x.cu -o x.o --expt-relaxed-constexpr -expt-extended-lambda --extended-lambda -Xptxas -v,-O3 --maxrregcount 32 -m64 "
                 "-Werror all-warnings -Wall -Xcudafe --diag_suppress=1 -ccbin g++ -t 4 -t8 --threads=0 -MD -MF x.d -MT x.o -march=native "
                 "-forward-unknown-to-host-compiler -x cu -fPIC -cudart static -lcudart -lcuda -lpthread -ftz=false -fmad=false")
        read = options(words)
        self.assertEqual((read.flags(True), read.remarks, read.unknown, read.libraries, read.files), ([], {}, [], [], ["x.cu"]))

    def test_what_changes_the_program_is_named(self):
        read = options("-use_fast_math --ftz=true -prec-div false -Xcompiler -fopenmp -lcufft -lnccl -std=c++23 -default-stream per-thread")
        self.assertEqual(list(read.remarks), ["-use_fast_math", "--ftz=true", "-prec-div false", "-fopenmp", "-lcufft", "-lnccl",
                                              "-std=c++23", "-default-stream per-thread"])

    def test_options_that_make_no_program(self):
        self.assertEqual(options("-c -x cu --ptx -M -MD -MF x.d -G a.cu -E -Ic").stops, ["-c", "--ptx", "-M", "-E"])

    def test_libraries_of_the_host(self):
        self.assertEqual(options("-L lib -lpng --library z -lm").libraries, ["-L/w/lib", "-lpng", "-lz"])

    def test_the_language_of_plain_files(self):
        self.assertEqual(options("-std=c++17").flags(False), ["-std=c++17"])
        self.assertEqual(options("--std c++17").flags(True), [])

    def test_headers_of_the_toolkit_are_those_of_the_cpu_device(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "cuda_runtime_api.h").touch()
            Path(folder, "cccl").mkdir()
            self.assertEqual(options(f"-I{folder} -I{folder}/cccl -I{folder}/mine").flags(True), [f"-I{folder}/mine"])

    def test_files_of_options(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a").write_text("-DA\n@b")
            Path(folder, "b").write_text("'-DB=\"x y\"' -I here")
            self.assertEqual(options("@a --options-file b -optf a", folder).flags(True),
                             [f"-I{folder}/here", "-DA", '-DB="x y"', '-DB="x y"', "-DA", '-DB="x y"'])
            Path(folder, "b").write_text("@a")
            for words in ("@a", "@none", "-optf none"):
                with self.assertRaises(Failed):
                    options(words, folder)

    def test_unknown_options(self):
        self.assertEqual(options("--what=3 -O2 -zzz").unknown, ["--what=3", "-zzz"])
        with self.assertRaises(Failed):
            options("-O2 -I")

    def test_a_command_line_is_split(self):
        own = {"--seeds": True, "-p": True, "--trace": False}
        words = "--seeds -3 x.cu -O3 -o a.out -p build -I inc --trace -DX=1 -Werror reorder - y.cpp --what -Iz --seeds=4"
        self.assertEqual(split_options(words.split(), own), (
            ["--seeds", "-3", "x.cu", "-p", "build", "--trace", "-", "y.cpp", "--seeds=4"],
            ["-O3", "-o", "a.out", "-I", "inc", "-DX=1", "-Werror", "reorder", "--what", "-Iz"]))


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def commands(self, *entries):
        (self.folder / "compile_commands.json").write_text(json.dumps(entries))
        return CompileCommands(str(self.folder))

    def test_both_forms(self):
        here = str(self.folder)
        commands = self.commands({"directory": here, "file": "a.cu", "command": "nvcc -DTEXT=\\\"x\\\" -I inc -c a.cu"},
                                 {"directory": "/", "file": f"{here}/b.cpp", "arguments": ["g++", "-DTEXT=a b", "-Iinc"]})
        a, said = commands.options_of(str(self.folder / "a.cu"))
        self.assertEqual((a.flags(True), said), ([f"-I{here}/inc", '-DTEXT="x"'], []))
        os.symlink("b.cpp", self.folder / "link.cpp")
        (self.folder / "b.cpp").touch()
        self.assertEqual(commands.options_of(str(self.folder / "link.cpp"))[0].flags(False), ["-I/inc", "-DTEXT=a b"])

    def test_what_is_said_of_an_entry(self):
        entry = {"directory": "/", "file": "/a.cu", "command": "nvcc -use_fast_math --new-option=1 a.cu"}
        commands = self.commands(entry, {**entry, "command": "nvcc a.cu"})
        file = commands.file
        self.assertEqual(commands.options_of("/a.cu")[1], [
            f"-use_fast_math of {file} has no effect: arithmetic is rounded as without it",
            f"--new-option=1 of {file} is not known here, and has no effect",
            f"{file} has 2 entries of this file: the first one is taken"])
        self.assertEqual(self.commands(entry, entry).options_of("/a.cu")[1][2:], [])
        self.assertEqual(commands.options_of("/b.cu")[1], [f"{file} has no entry of this file"])

    def test_files_that_are_none(self):
        for text in ("", "{}", "[1]", '[{"file": "a.cu"}]', "[[]]"):
            (self.folder / "compile_commands.json").write_text(text)
            with self.assertRaises(Failed, msg=text):
                CompileCommands(str(self.folder))
        with self.assertRaises(Failed):
            self.commands({"directory": "/", "file": "a.cu"}).options_of("/a.cu")
        with self.assertRaises(Failed):
            CompileCommands(str(self.folder / "none"))


if __name__ == "__main__":
    unittest.main()
