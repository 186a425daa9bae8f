"""The CPU device as a library: projects that are not of the course, in folders of their own, built by Meson and by CMake as its page says.

    test_as_library.py        in a build folder, as Meson starts it; else that of COURSE_TEST_BUILD, or build

All files and commands are the blocks of common/simt/README.md, "As a library". Meson builds the library anew. CMake gets the one of
the build folder: where that is none for the CPU device, nothing is tested (exit code 77).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from tools.lib.checkout import TOP
from tools.tests.in_folder import InFolder

HERE = [Path.cwd()] if Path("build.ninja").exists() else []
BUILD = Path(*HERE or [os.environ.get("COURSE_TEST_BUILD") or TOP / "build"]).resolve()
SETTINGS = BUILD / "common/build/device/simtcc.json"
LIBRARY = BUILD / "common/simt/src/libsimt.a"
READS = ("LICENSE", "meson.options", "common/build/device", "common/simt/README.md", "chapters/*.wrap")  # common/tools/verdicts/reads.py
SKIPPED = 77

PAGE = re.search(r"^## As a library\n(.*?)^## ", (TOP / "common/simt/README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
# Each block with the name of its file, if there is one, and its language.
BLOCKS = re.findall(r"(?:^`([\w./]+)`:\n\n)?^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = {name: text for name, _, text in BLOCKS if name}
OF_MESON, OF_INSTALLATION, OF_CMAKE = (text for _, language, text in BLOCKS if language == "sh")
FINDING, = (text for _, language, text in BLOCKS if not language)

# What simt/catch2.hpp promises beyond the page's example.
MORE = """#include "sum.cuh"

#include <catch2/catch_test_macros.hpp>
#include <simt/catch2.hpp>

__global__ void same_value(int* x) { *x = 1; }
__global__ void next(int* x) { x[1] = 1; }

TEST_CASE("not waited for") {
  int* x;
  cudaMalloc(&x, sizeof(int));
  next<<<1, 1>>>(x);
}
TEST_CASE("the next one") {
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(simt::seed() == 5);
  simt::set_seed(6);
}
TEST_CASE("sections") {
  int* x;
  cudaMalloc(&x, sizeof(int));
  SECTION("wrong") { next<<<1, 1>>>(x); }
  SECTION("right") {
    CHECK(simt::seed() == 5);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  }
}
TEST_CASE("remarks") {
  int* x;
  cudaMalloc(&x, sizeof(int));
  SECTION("of a run that passes") {
    same_value<<<1, 64>>>(x);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  }
  SECTION("none") { FAIL_CHECK("wrong"); }
  SECTION("of a run that fails") {
    same_value<<<1, 64>>>(x);
    FAIL_CHECK("wrong");
  }
}
"""


def has_packages():
    wanted = ("catch2-with-main >= 3.4", "fmt >= 9")
    return shutil.which("pkg-config") and subprocess.run(["pkg-config", "--exists", *wanted], check=False).returncode == 0


@unittest.skipUnless(has_packages(), "Catch2 or fmt is not installed: common/tools/setup.sh installs them")
class AsLibrary(InFolder):
    def write_files(self, *names):
        for name in ("sum.cuh", "sum_test.cu", *names):
            self.write(name, FILES[name])

    def shell(self, commands, **environment):
        """Exit code and output of commands of the page."""
        done = subprocess.run(["sh", "-ec", commands], cwd=self.folder, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def break_it(self):
        barrier = "    __syncthreads();\n"
        self.assertEqual(FILES["sum.cuh"].count(barrier), 1)
        self.write("sum.cuh", FILES["sum.cuh"].replace(barrier, ""))

    def assert_found(self, output):
        self.assertIn(FINDING, output)
        self.assertIn("test cases: 1 | 1 failed", output)

    def test_a_subproject_of_meson(self):
        self.write_files("meson.build", "subprojects/simt.wrap")
        (self.folder / "subprojects/simt").symlink_to(TOP)  # Meson looks for a folder before it fetches
        family, _, *compiler = json.loads(SETTINGS.read_text())["compiler"].split("\n")
        # The library's speed is no question here. clang++ needs half of the time that g++ needs.
        quick = {"CXXFLAGS": "-O0"} | ({"CXX": " ".join(compiler)} if family == "clang" else {})
        code, output = self.shell(OF_MESON, **quick)
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"(?m)^Ok: +1")
        self.break_it()
        code, output = self.shell(OF_MESON.splitlines()[-1])
        self.assertEqual(code, 1, output)
        self.assert_found((self.folder / "build/meson-logs/testlog.txt").read_text())
        _, targets = self.shell("ninja -C build -t targets all")
        self.assertNotIn("libcourse", targets)
        self.assertEqual(self.shell("meson introspect --installed build")[1], "{}\n")

    @unittest.skipUnless(shutil.which("cmake"), "no cmake: common/tools/setup.sh --contributor installs it")
    def test_an_installed_package_of_cmake(self):
        target, install = re.fullmatch(r"meson setup build .*\nmeson compile -C build (\w+)\n(meson install .*)\n", OF_INSTALLATION).groups()
        _, made_of = self.shell(f"ninja -C '{BUILD}' -t query {target}")  # it has been made
        self.assertIn("common/simt/src/libsimt.a", made_of)
        code, output = self.shell(f"{install.replace('-C build', f'-C {BUILD!s}')} --destdir '{self.folder}/staged'")
        self.assertEqual(code, 0, output)
        package, = self.folder.glob("staged/**/simtConfig.cmake")
        self.assertTrue((package.parent / "LICENSE").exists())
        (self.folder / "moved + lib").mkdir()
        package.parent.rename(self.folder / "moved + lib/simt")
        shutil.rmtree(self.folder / "staged")

        self.write_files("CMakeLists.txt")
        commands = OF_CMAKE.replace("$HOME/.local", f"'{self.folder}/moved + lib'")
        code, output = self.shell(commands)
        self.assertEqual(code, 0, output)
        self.assertIn("100% tests passed", output)
        self.break_it()
        code, output = self.shell(commands.partition("\n")[2])
        self.assertNotEqual(code, 0, output)
        self.assert_found(output)

        self.write("sum_test.cu", MORE)
        self.assertEqual(self.shell("cmake --build build")[0], 0)
        _, output = self.shell("build/tests --order decl --reporter compact", SIMT_SEED="5")
        place = r"(?m)^sum_test.cu:7: failed: .*'OUT OF BOUNDS in kernel next"
        self.assertEqual(len(re.findall(place, output)), 2, output)
        self.assertEqual(len(re.findall(r"(?m)^.*: failed: ", output)), 4, output)
        self.assertEqual(len(re.findall(r"(?m)^../sum_test.cu:28: warning: 'sum_test.cu:6: several threads write the same value", output)), 1, output)
        self.assertIn("test cases: 4 | 1 passed | 3 failed", output)


if __name__ == "__main__":
    if not (SETTINGS.exists() and LIBRARY.exists()):
        print(f"{BUILD} is no build folder for the CPU device")
        sys.exit(SKIPPED)
    unittest.main()
