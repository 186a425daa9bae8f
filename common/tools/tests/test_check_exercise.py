"""The exercise runner: what it takes from a compiler's output, and how it ends."""

import io
import itertools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from tools.check import building, check_exercise, compile_errors
from tools.lib import checkout, result
from tools.lib.checkout import TOP

READS = ("chapters/01-global-atomic/checks", "common/tools/check/check_exercise.py", "exercises/01-global-atomic")

TOOLS = TOP / "common/tools"
EXERCISE = TOP / "exercises" / "01-global-atomic" / "word_count.cuh"

GCC = f"""ninja: Entering directory `build'
[1/3] Generating 'x.p/word_count.cu.cpp'
[2/3] Compiling C++ object x.p/word_count.cu.cpp.o
FAILED: x.p/word_count.cu.cpp.o
c++ -Ix.p -O0 -g -c x.p/word_count.cu.cpp
{TOP}/chapters/01-global-atomic/checks/word_count.cu: In function 'void test()':
{TOP}/chapters/01-global-atomic/checks/word_count.cu:20:3: error: 'word_count' was not declared in this scope
   20 |   word_count(text);
      |   ^~~~~~~~~~
{EXERCISE}: In function 'void word_count()':
{EXERCISE}:31:9: warning: unused variable 'y' [-Wunused-variable]
   31 |     int y = 1;
      |         ^
{EXERCISE}:32:7: error: expected ';' before 'return'
   32 |   x = 1
      |        ^
      |        ;
ninja: build stopped: subcommand failed.
"""
NVCC = f"""FAILED: x.p/word_count.cu.o
nvcc -c word_count.cu
{EXERCISE}(31): error: identifier "foo" is undefined
    foo();
    ^

1 error detected in the compilation of "word_count.cu".
ninja: build stopped: subcommand failed.
"""


class WhatAnErrorShows(unittest.TestCase):
    def setUp(self):
        os.environ["PWD"] = str(TOP)

    def test_the_learners_own_error_comes_first_with_a_short_path(self):
        text = building.explain_build_failure(GCC, EXERCISE)
        self.assertEqual(
            text.splitlines(),
            [
                "exercises/01-global-atomic/word_count.cuh:32:7: error: expected ';' before 'return'",
                "   32 |   x = 1",
                "      |        ^",
                "      |        ;",
                "chapters/01-global-atomic/checks/word_count.cu: In function 'void test()':",
                "chapters/01-global-atomic/checks/word_count.cu:20:3: error: 'word_count' was not "
                "declared in this scope",
                "   20 |   word_count(text);",
                "      |   ^~~~~~~~~~",
            ],
        )

    def test_nvcc(self):
        text = building.explain_build_failure(NVCC, EXERCISE)
        self.assertEqual(
            text.splitlines(),
            [
                'exercises/01-global-atomic/word_count.cuh(31): error: identifier "foo" is undefined',
                "    foo();",
                "    ^",
            ],
        )

    def test_an_error_in_a_template_begins_with_the_learners_line(self):
        way = f"""{TOP}/common/x.cuh: In instantiation of 'T f(T)':
{TOP}/common/x.cuh:20:5:   required from 'T g(T) [with T = float2]'
{EXERCISE}:18:29:   required from here
"""
        text = f"{way}{TOP}/common/x.cuh:9:3: error: no float2\n    9 | f\n{way}{TOP}/common/x.cuh:8:3: error: nor this\n"
        self.assertEqual(
            building.explain_build_failure(text, EXERCISE).splitlines(),
            [
                "exercises/01-global-atomic/word_count.cuh:18:29: this line is the cause:",
                f"   18 | {EXERCISE.read_text().splitlines()[17]}",
                "common/x.cuh:9:3: error: no float2",
                "    9 | f",
            ],
        )

    def test_functions_that_the_compiler_might_have_taken_are_listed(self):
        text = f"In file included from {TOP}/check.cu:4:\n{EXERCISE}:9:3: error: no match\n    9 | f(1)\n      | ~^~\n"
        text += "".join(
            f"{TOP}/common/x.hpp:{i}:3: note: candidate: 'int f({kind}*)'\n   {i} | MACRO\n      | ^\n"
            for i, kind in enumerate(["int", "unsigned", "int"])
        )
        self.assertEqual(
            building.explain_build_failure(text, EXERCISE).splitlines(),
            [
                "In file included from check.cu:4:",
                "exercises/01-global-atomic/word_count.cuh:9:3: error: no match",
                "    9 | f(1)",
                "      | ~^~",
                "  there is:",
                "    int f(int*)",
                "    int f(unsigned*)",
            ],
        )

    def explain_clang(self, source, output):
        """What is shown of clang's output on a file; FILE in it is the file's name."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name).resolve() / "x.cuh"
        file.write_text(source)
        text = building.explain_build_failure(output.replace("FILE", str(file)), file)
        return text.replace(str(file), "FILE").splitlines()

    def test_clang_on_the_learners_own_line(self):
        self.assertEqual(
            self.explain_clang("int f() {\n  return value;\n}\n", """FAILED: x.p/x.cu.o
simtcc.py x.cu
FILE:2:10: error: use of undeclared identifier 'value'; did you mean 'values'?
  return value;
         ^~~~~
         values
FILE:1:9: note: 'values' declared here
int values;
    ^
2 warnings and 1 error generated.
ninja: build stopped: subcommand failed.
"""),
            ["FILE:2:10: error: use of undeclared identifier 'value'; did you mean 'values'?", "  return value;",
             "         ^~~~~", "         values", "FILE:1:9: note: 'values' declared here", "int values;", "    ^"])

    def test_clang_shows_a_launch_as_it_was_written(self):
        launch = '  ::simt::launch({"k", "p"}, [=](auto&... simt_args) { SIMT_CALL(k); }, 1, 32)(p);'
        self.assertEqual(
            self.explain_clang("void f(int* p) {\n  k<<<1, 32>>>(p);\n}\n", f"""FILE:2:59: error: no matching function for call to 'k'
{launch}
                                                          ^
{TOP}/common/simt/include/simt/launch.hpp:53:3: note: in instantiation of function template specialization 'f' requested here
  call(unpacked...);
  ^
FILE:7:17: note: candidate function not viable: requires 2 arguments, but 1 was provided
__global__ void k(int* p, int n) {{ SIMT_KERNEL("k", "p, n", void(decltype(p), decltype(n)));
                ^
/usr/include/c++/12/x.h:7:1: note: candidate template ignored: invalid
template <class T>
1 error generated.
"""),
            ["FILE:2: error: no matching function for call to 'k'", "    2 |   k<<<1, 32>>>(p);", "  there is:",
             "    void k(int* p, int n)  (requires 2 arguments, but 1 was provided)"])
        # Newer ones number the lines that they show.
        self.assertEqual(
            self.explain_clang("void f(int* p) {\n  k<<<1, 32>>>(p);\n}\n", f"""FILE:2:59: error: no k
    2 | {launch}
      |                                                 ^
"""), ["FILE:2: error: no k", "    2 |   k<<<1, 32>>>(p);"])

    def test_clang_shows_a_line_without_indentation_as_it_was_written(self):
        self.assertEqual(
            self.explain_clang("__global__ void k(half2* p) {\n}\n", """FILE:1:19: error: unknown type name 'half2'
__global__ void k(half2* p) { SIMT_KERNEL("k", "p", void(decltype(p)));
                  ^
"""), ["FILE:1: error: unknown type name 'half2'", "    1 | __global__ void k(half2* p) {",
       "Half precision needs its header: #include <cuda_fp16.h>."])

    def test_clang_says_of_an_argument_what_is_wrong_and_no_more(self):
        launch = '  ::simt::launch({"k", "dp"}, [=](auto&... simt_args) { SIMT_CALL(k); }, 1, 32)(dp);'
        self.assertEqual(
            self.explain_clang("void f() {\n  k<<<1, 32>>>(dp);\n}\n", f"""FILE:2:87: error: use of undeclared identifier 'dp'
{launch}
                                                                               ^
FILE:2:36: error: no viable conversion from '(lambda at FILE:2:36)' to '(lambda at FILE:2:36)'
{launch}
                             ^~~~~
2 errors generated.
"""), ["FILE:2: error: use of undeclared identifier 'dp'", "    2 |   k<<<1, 32>>>(dp);"])

    def test_clang_names_the_way_into_a_template_behind_the_error(self):
        headers = f"In file included from {TOP}/common/simt/include/cuda_runtime.h:11:\n"
        self.assertEqual(
            self.explain_clang("void f() {\n  std::vector<void> v;\n}\n", f"""{headers}/usr/include/c++/12/v.h:62:23: error: cannot form a reference to 'void'
  typedef value_type& reference;
                    ^
/usr/include/c++/12/v.h:400:11: note: in instantiation of template class 'base<void>' requested here
  class vector : base<T>
        ^
FILE:2:21: note: in instantiation of template class 'std::vector<void>' requested here
  std::vector<void> v;
                    ^
{headers}/usr/include/c++/12/v.h:63:29: error: cannot form a reference to 'void'
  typedef const value_type& const_reference;
                          ^
"""),
            ["FILE:2:21: this line is the cause:", "    2 |   std::vector<void> v;",
             "/usr/include/c++/12/v.h:62:23: error: cannot form a reference to 'void'",
             "  typedef value_type& reference;", "                    ^"])

    def test_clang_on_a_static_assertion(self):
        text = """FILE:1:1: error: static assertion failed due to requirement 'sizeof(int) == 8': no
static_assert(sizeof(int) == 8, "no");
^             ~~~~~~~~~~~~~~~~
FILE:1:27: note: expression evaluates to '4 == 8'
static_assert(sizeof(int) == 8, "no");
              ~~~~~~~~~~~~^~~~
"""
        self.assertEqual(self.explain_clang('static_assert(sizeof(int) == 8, "no");\n', text), text.splitlines())

    def test_notes_of_the_standard_library_say_nothing_to_a_learner(self):
        self.assertEqual(
            self.explain_clang("f(v);\n", """FILE:1:3: error: no viable conversion from 'const vector<char>' to 'const vector<int>'
f(v);
  ^
/usr/include/c++/12/bits/stl_vector.h:596:7: note: candidate constructor not viable: no known conversion
      vector(const vector& __x)
"""), ["FILE:1:3: error: no viable conversion from 'const vector<char>' to 'const vector<int>'", "f(v);", "  ^"])

    def advice(self, *lines):
        text = building.explain_build_failure("\n".join([f"{EXERCISE}{lines[0]}", *lines[1:]]), EXERCISE)
        return text.splitlines()[len(lines):]

    def test_usual_errors_come_with_advice(self):
        for text, advice in (
            (":3:9: error: no matching function for call to ‘atomicCAS(float*&, float&, float&)’",
             "atomicCAS takes an address first"),
            (":3:9: error: no matching function for call to 'atomicAdd'", "atomicAdd takes an address first"),
            ('(3): error: no instance of overloaded function "atomicAdd" matches the argument list',
             "atomicAdd takes an address first"),
            (":3:9: error: ‘__shfl_xor’ was not declared in this scope", "It is called __shfl_xor_sync"),
            (":3:9: error: use of undeclared identifier '__ballot'", "It is called __ballot_sync"),
            ('(3): error: identifier "__shfl_down" is undefined', "It is called __shfl_down_sync"),
            (":3:9: error: no matching function for call to ‘course::DeviceBuffer<char>::DeviceBuffer(int*)’",
             "course::DeviceBuffer<T>::from(v)"),
            (":3:9: error: call to deleted constructor of 'course::DeviceBuffer<char>'", "A kernel takes a pointer"),
            (":3:9: error: use of deleted function ‘course::DeviceBuffer<T>::DeviceBuffer(const course::DeviceBuffer<T>&)",
             "A kernel takes a pointer"),
            (":3:9: error: no matching constructor for initialization of 'course::DeviceBuffer<int>'",
             "course::DeviceBuffer<T>::from(v)"),
            (":3:9: error: no matching function for call to 'shared'", "The size of a __shared__ array must be"),
            (":3:9: error: no matching function for call to ‘shared<simt_type_s>(const char [2], f()::<lambda()>)’",
             "The size of a __shared__ array must be"),
            (":3:9: error: invalid instruction mnemonic 'red.global.add.u64'", "Inline PTX is for GPUs only"),
            (":3:9: error: invalid input constraint 'h' in asm", "Inline PTX is for GPUs only"),
            (":3:9: error: impossible constraint in ‘asm’", "Inline PTX is for GPUs only"),
            ('(3): error: no instance of constructor "course::DeviceBuffer<T>::DeviceBuffer [with T=char]"',
             "course::DeviceBuffer<T>::from(v)"),
        ):
            with self.subTest(text):
                self.assertEqual(self.advice(text)[0][: len(advice)], advice)
        self.assertEqual(
            self.advice(":3:9: error: invalid conversion from ‘unsigned int’ to ‘int*’ [-fpermissive]",
                        "    3 |   atomicAdd(*required, 1);"),
            ["An atomic function takes the address of what it changes: atomicAdd(p, 1), not atomicAdd(*p, 1)."])

    def test_advice_stands_in_the_place_of_notes(self):
        text = building.explain_build_failure(
            f"{EXERCISE}:3:9: error: no matching function for call to ‘atomicAdd(short int*, int)’\n"
            "    3 |   atomicAdd(s, 1);\n"
            "atomics.hpp:183:13: note: candidate: ‘int atomicAdd(int*, int)’\n  183 | SIMT_ATOMIC\n", EXERCISE)
        self.assertIn("    3 |   atomicAdd(s, 1);\natomicAdd takes an address first", text)
        self.assertNotIn("SIMT_ATOMIC", text)

    def test_other_errors_have_none(self):
        for text in (":3:9: error: ‘__shfl_xor_sink’ was not declared in this scope",
                     ":3:9: error: invalid conversion from ‘int’ to ‘int*’",
                     ":3:9: error: no matching function for call to ‘f(int)’"):
            with self.subTest(text):
                self.assertEqual(self.advice(text), [])

    def test_many_errors_are_cut(self):
        many = "".join(f"{EXERCISE}:{i}:1: error: e{i}\n" for i in range(9))
        self.assertTrue(building.explain_build_failure(many, EXERCISE).endswith("... and 6 more errors"))
        four = "".join(many.splitlines(keepends=True)[:4])
        self.assertTrue(building.explain_build_failure(four, EXERCISE).endswith("... and 1 more error"))

    def test_a_linkers_message_is_shown_as_it_is(self):
        text = "FAILED: x\n/usr/bin/ld: undefined reference to `f()'\nninja: build stopped: x\n"
        self.assertEqual(
            building.explain_build_failure(text, EXERCISE),
            "/usr/bin/ld: undefined reference to `f()'",
        )

    def test_the_assemblers_errors_are_those_of_inline_ptx(self):
        text = "FAILED: x\nc++ x\n/tmp/x.s: Assembler messages:\n/tmp/x.s:12: Error: no such instruction: `mov.u32 %eax'\n"
        lines = building.explain_build_failure(text, EXERCISE).splitlines()
        self.assertEqual(lines[-3], "/tmp/x.s:12: Error: no such instruction: `mov.u32 %eax'")
        self.assertIn("course/ptx.cuh", lines[-2])

    def test_the_compiler_runs_in_the_build_folder(self):
        text = GCC.replace(f"{TOP}/", "../")
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(TOP / "chapters")  # as good as any folder there
        self.assertEqual(compile_errors.with_full_paths(text), GCC)
        self.assertEqual(compile_errors.with_full_paths(f"{TOP}/chapters/../common/meson.build:3:"), f"{TOP}/common/meson.build:3:")
        self.assertEqual(compile_errors.with_full_paths("(../no/file:1) a/../b"), "(../no/file:1) a/../b")

    def test_a_folder_whose_name_has_blanks_and_parentheses(self):
        folder = "/home/me/my course (2) x"
        warned = f"{EXERCISE}:31:9: warning: unused variable 'y' [-Wunused-variable]"
        for text in (GCC, NVCC):
            moved = compile_errors.explain(text.replace(str(TOP), folder), str(EXERCISE).replace(str(TOP), folder))
            self.assertEqual(moved, compile_errors.explain(text, str(EXERCISE)).replace(str(TOP), folder))
            self.assertNotIn("-c ", moved)  # the command line is shown where no error is found
        self.assertIn(warned.replace(str(TOP), folder),
                      compile_errors.warnings_of(GCC.replace(str(TOP), folder), str(EXERCISE).replace(str(TOP), folder)))

    def test_paths_from_another_folder(self):
        os.environ["PWD"] = str(TOP / "exercises")
        self.assertEqual(checkout.seen_from_the_shell(EXERCISE), "01-global-atomic/word_count.cuh")
        os.environ["PWD"] = "/"
        self.assertEqual(checkout.seen_from_the_shell(EXERCISE), str(EXERCISE).lstrip("/"))


class Marker(unittest.TestCase):
    def test_only_the_line_counts(self):
        self.assertFalse(checkout.is_started("a\nNOT_STARTED  // delete this line\nb\n"))
        self.assertTrue(checkout.is_started("// delete NOT_STARTED\n"))
        self.assertTrue(checkout.is_started("// NOT_STARTED\n"))


def says(verdict, more=""):
    """Bash: what a check's main() sends."""
    words = f'{{"schema": "course.result", "version": 1, "verdict": "{verdict}"{more}}}'
    return f"""printf '{words}' >&${{COURSE_RESULT#socket:}}"""


class TheRunner(unittest.TestCase):
    """Runs the whole script on a build folder where `ninja` is a stand-in."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = Path(self.folder.name) / "build"
        (self.build / "meson-private").mkdir(parents=True)
        self.exercise = Path(self.folder.name) / "word_count.cuh"
        self.exercise.write_text("int x;\n")
        self.script("ninja", "exit 0")
        self.script("check", "exit 0")

    def tearDown(self):
        self.folder.cleanup()

    def script(self, name, body):
        file = self.build / name
        file.write_text(f"#!/bin/bash\n{body}\n")
        file.chmod(0o755)

    def run_it(self, **environment):
        done = subprocess.run(
            [sys.executable, str(TOOLS / "check/check_exercise.py"), str(self.exercise), "check"],
            cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "NINJA": str(self.build / "ninja"), "PWD": self.folder.name, **environment},
        )
        return done.returncode, done.stdout

    def test_not_started_is_a_skip_that_builds_nothing(self):
        self.exercise.write_text("NOT_STARTED\n")
        self.script("ninja", "exit 1")
        code, text = self.run_it()
        self.assertEqual(code, 77)
        self.assertIn("Open word_count.cuh", text)

    def test_a_file_that_is_gone(self):
        self.exercise.unlink()
        code, text = self.run_it()
        self.assertEqual(code, 1)
        self.assertTrue(text.startswith("word_count.cuh is gone. Get it back: ./course reset word_count\n"), text)
        self.assertEqual(self.result()["verdict"], "failed")

    def result(self, name="word_count"):
        return result.load(self.build, name)

    def test_the_verdict_is_the_checks_own(self):
        self.script("check", f'echo "$COURSE_EDIT|$COURSE_RERUN"; {says("failed")}; exit 1')
        self.assertEqual(self.run_it(), (1, "word_count.cuh|meson test -C build word_count\n"))
        self.script("check", f'{says("skipped")}; exit 77')
        self.assertEqual(self.run_it()[0], 77)
        self.script("check", f'{says("passed")}; exit 0')
        self.assertEqual(self.run_it(), (0, ""))

    def test_the_result_is_the_checks_own(self):
        self.script("check", f'{says("passed", more=", " + chr(34) + "seed" + chr(34) + ": 3")}; exit 0')
        self.run_it()
        found = self.result()
        self.assertEqual((found["verdict"], found["seed"], found["program"]), ("passed", 3, "check"))
        self.assertEqual((found["edit"], found["rerun"]), ("word_count.cuh", "meson test -C build word_count"))
        self.run_it(COURSE_RESULT=str(self.build / "results" / "other.json"))
        self.assertEqual(self.result("other")["verdict"], "passed")

    def test_what_ends_otherwise_has_a_result_too(self):
        passes = f'{says("passed")}; exit 0'
        for verdict, ninja, check in (
            ("does_not_compile", "exit 1", passes), ("crashed", "exit 0", "kill -SEGV $$"),
            ("timed_out", "exit 0", "sleep 60"), ("ended_early", "exit 0", "exit 0"), ("failed", "exit 0", "exit 3"),
        ):
            with self.subTest(verdict):
                self.script("ninja", ninja)
                self.script("check", check)
                code, text = self.run_it(COURSE_TIMEOUT="0.5")
                found = self.result()
                self.assertEqual(found["verdict"], verdict)
                self.assertNotEqual(code, 0)
                if verdict != "failed":
                    self.assertIn(found["reason"], text)
        self.exercise.write_text("NOT_STARTED\n")
        self.run_it()
        self.assertEqual(self.result()["verdict"], "not_started")

    def test_an_older_result_does_not_stay(self):
        self.script("check", f'{says("passed")}; exit 0')
        self.run_it()
        self.script("check", "kill -TERM $PPID; sleep 60")
        self.run_it()
        self.assertIsNone(self.result())

    def test_a_long_result_does_not_stop_the_check(self):
        more = ', "reason": "%01000000d"'
        self.script("check", f"""{says("passed", more).replace("' >", "' 0 >")}; exit 0""")
        self.assertEqual(self.run_it(), (0, ""))
        self.assertEqual(len(self.result()["reason"]), 1_000_000)

    def test_what_the_answer_leaves_running_is_not_waited_for(self):
        self.script("check", f'{says("passed")}; sleep 30 >/dev/null 2>&1 & exit 0')
        start = time.monotonic()
        self.assertEqual(self.run_it(), (0, ""))
        self.assertLess(time.monotonic() - start, 20)

    def test_an_answer_that_ends_the_check_fails(self):
        for code in (0, 77):
            for words in (":", says("failed")):  # nothing; main said it failed, and something after it 0
                with self.subTest(code=code, words=words):
                    self.script("check", f"{words}; exit {code}")
                    found, text = self.run_it()
                    self.assertEqual(found, 1)
                    self.assertIn(f"ended early, with exit code {code}: does your file call exit()?", text)
                    self.assertIn("edit:  word_count.cuh", text)
                    self.assertEqual(self.result()["verdict"], "ended_early")

    def test_a_failed_build_fails(self):
        self.script("ninja", f'echo "{self.exercise}:3:1: error: no"; exit 1')
        code, text = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("word_count does not compile", text)
        self.assertIn("word_count.cuh:3:1: error: no", text)
        self.assertIn("rerun: meson test -C build word_count", text)

    def test_what_is_built_is_not_built_again(self):
        self.script("ninja", "exit 1")
        self.script("check", f'{says("passed")}; exit 0')
        self.assertEqual(self.run_it(COURSE_BUILT="1")[0], 0)

    def test_how_far_the_build_is(self):
        self.script("ninja", "echo '[1/9] a'; sleep 0.1; echo '[2/9] b'")
        self.script("check", f'{says("passed")}; exit 0')
        with mock.patch.dict(os.environ, COURSE_PROGRESS="1"):
            self.assertEqual(self.run_it(), (0, ""))  # no terminal
        at_terminal = mock.Mock(wraps=io.StringIO(), isatty=lambda: True)
        with mock.patch.multiple(building, FIRST_TICK_SECONDS=0.01, TICK_SECONDS=0.01), mock.patch.dict(os.environ, TERM="xterm"), \
                mock.patch("sys.stderr", at_terminal), building.Progress(True) as progress:
            self.assertEqual(building.run_ninja([str(self.build / "ninja")], progress), (0, "[1/9] a\n[2/9] b\n"))
        said = "".join(call.args[0] for call in at_terminal.write.mock_calls)
        self.assertRegex(said, r"^(\r\x1b\[Kbuilding \(0 s\))*(\r\x1b\[Kbuilding 2 of 9 \(0 s\))+(\r\x1b\[Kbuilding 3 of 9 \(0 s\))*\r\x1b\[K$")

    def test_the_seed_of_the_last_failure_goes_first(self):
        failing = 'echo "<$COURSE_FIRST_SEED>"; ' + says("failed", ', "seed": 2') + "; exit 1"
        self.script("check", failing)
        self.assertIn("<>", self.run_it()[1])
        self.assertIn("<2>", self.run_it()[1])
        for partial in ({"SIMT_SEED": "1"}, {"SIMT_TRACE": "x"}, {"COURSE_EXPECT": "rejection"}, {"COURSE_SEEDS": "0,2"},
                        {"COURSE_WRAPPER": "env"}):
            self.assertIn("<>", self.run_it(**partial)[1])
        self.script("check", failing.replace("failed", "passed").replace("exit 1", "exit 0"))
        self.assertIn("<2>", self.run_it()[1])
        self.assertIn("<>", self.run_it()[1])

    def test_who_ends_it_ends_the_compiler(self):
        rule = "rule slow\n  command = echo $$$$ > pid; sleep 30; touch $out\nbuild check: slow\n"
        (self.build / "build.ninja").write_text(rule)
        runner = subprocess.Popen(
            [sys.executable, str(TOOLS / "check/check_exercise.py"), str(self.exercise), "check"],
            cwd=self.build, stdout=subprocess.DEVNULL, env={**os.environ, "NINJA": building.find_ninja(), "PWD": self.folder.name},
        )
        pid = self.build / "pid"
        while not pid.is_file() or not pid.read_text():
            time.sleep(0.01)
        runner.terminate()  # a watch does so when the file is saved again
        self.assertEqual(runner.wait(10), 1)
        compiler, last = Path(f"/proc/{pid.read_text().strip()}"), time.monotonic() + 5
        while compiler.exists() and time.monotonic() < last:  # whoever has adopted it notices its end a moment later
            time.sleep(0.01)
        self.assertFalse(compiler.exists())

    def test_a_ninja_of_meson_goes_first(self):
        self.script("check", f'{says("passed")}; exit 0')
        elsewhere = Path(self.folder.name) / "ninja"
        shutil.copy("/bin/sleep", elsewhere)
        self.assertFalse(building.ninjas_in(self.build))
        with subprocess.Popen([elsewhere, "1.5"], cwd=self.build) as ninja:
            while not building.ninjas_in(self.build):
                time.sleep(0.01)
            self.assertFalse(building.ninjas_in(self.folder.name))
            self.assertEqual(self.run_it(), (0, ""))
            self.assertIsNotNone(ninja.poll())
        # One that runs this very check, such as `ninja test`, would wait for itself.
        shutil.copy("/bin/bash", elsewhere)
        self.script("word", f"{shlex.quote(sys.executable)} {shlex.quote(str(TOOLS / 'check/check_exercise.py'))} {self.exercise} check; exit $?")
        done = subprocess.run([elsewhere, "word"], cwd=self.build, timeout=20, env={**os.environ, "NINJA": str(self.build / "ninja")})
        self.assertEqual(done.returncode, 0)

    def test_warnings_reach_the_check_until_it_is_built_again(self):
        self.script("check", 'echo "<$COURSE_WARNINGS>"; exit 1')
        self.script(
            "ninja",
            f"echo '{self.exercise}:3:1: warning: shift [-Wx]'\n"
            "echo '    3 | x << 32'\n"
            f"echo '{self.exercise}:4:1: warning: signs [-Wsign-compare]'\n"
            "echo 'other.cuh:5:1: warning: not mine [-Wx]'",
        )
        warning = f"<{self.exercise}:3:1: warning: shift [-Wx]\n    3 | x << 32>\n"
        self.assertEqual(self.run_it(), (1, warning))
        self.script("ninja", "echo 'ninja: no work to do.'")
        self.assertEqual(self.run_it(), (1, warning))
        later = time.time() + 10
        os.utime(self.build / "check", (later, later))  # built by another process
        self.assertEqual(self.run_it(), (1, "<>\n"))
        os.utime(self.build / "check", (later - 20, later - 20))
        self.assertEqual(self.run_it(), (1, warning))
        self.script("ninja", "echo '[1/1] Linking target check'")
        self.assertEqual(self.run_it(), (1, "<>\n"))

    def test_files_are_named_as_the_learner_names_them(self):
        up = os.path.relpath(TOP, self.build)
        self.script("ninja", f'echo "{up}/exercises/01-global-atomic/ticket.cuh:3:1: error: no"; exit 1')
        _, text = self.run_it(PWD=str(TOP))
        self.assertIn("\nexercises/01-global-atomic/ticket.cuh:3:1: error: no\n", text)

    def test_a_crash_fails(self):
        self.script("check", "kill -SEGV $$")
        code, text = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("The check crashed: SIGSEGV", text)

    def test_a_check_that_never_ends_fails(self):
        self.script("check", "sleep 60")
        code, text = self.run_it(COURSE_TIMEOUT="0.3")
        self.assertEqual(code, 1)
        self.assertIn("within 0.3 seconds", text)

    def test_a_time_limit_that_is_no_time(self):
        for text in ("abc", "0", "-1", "nan", "inf", ""):
            self.assertEqual(
                self.run_it(COURSE_TIMEOUT=text),
                (1, f"COURSE_TIMEOUT must be a number of seconds above 0, and is '{text}'\n"))

    def test_a_processor_that_others_use_is_no_time_of_the_check(self):
        for of_a_second, steps, ends in ((0.15, 9, True), (0.15, 13, False), (0.9, 4, False), (0.0, 4, False)):  # a part, all, or it sleeps
            steps, used = iter(range(steps)), itertools.count(of_a_second, of_a_second)

            def wait(step, steps=steps):
                if next(steps, None) is None:
                    return 0
                raise subprocess.TimeoutExpired("check", step)

            process = mock.Mock(wait=wait, pid=1, args="check")
            with mock.patch.object(check_exercise, "processor_seconds", lambda _, used=used: next(used)):
                if ends:
                    self.assertEqual(check_exercise.wait(process, 2.5, Path("no such file")), 0)
                else:
                    self.assertRaises(subprocess.TimeoutExpired, check_exercise.wait, process, 2.5, Path("no such file"))
        before = check_exercise.processor_seconds(os.getpid())
        sum(range(3_000_000))
        self.assertGreater(check_exercise.processor_seconds(os.getpid()), before)

    def test_waiting_for_the_gpu_is_no_time_of_the_check(self):
        self.script("check", f'touch "$COURSE_WAITING"; sleep 1.6; rm "$COURSE_WAITING"; {says("passed")}; exit 0')
        self.assertEqual(self.run_it(COURSE_TIMEOUT="0.7")[0], 0)
        self.script("check", 'touch "$COURSE_WAITING"; sleep 0.2; rm "$COURSE_WAITING"; sleep 60')
        code, text = self.run_it(COURSE_TIMEOUT="1.2")
        self.assertEqual(code, 1)
        self.assertIn("within 1.2 seconds", text)

    def test_the_wrapper_stands_in_front_of_the_check_itself(self):
        self.script("wrapper", 'echo "wrapped $2"; exit 9')
        code, text = self.run_it(COURSE_WRAPPER=f"{self.build}/wrapper 'two words'")
        self.assertEqual((code, text), (9, f"wrapped {self.build.resolve()}/check\n"))


if __name__ == "__main__":
    unittest.main()
