"""Tests of simt_layers.py and simt_readme.py: includes and calls that go upward, and the tables that README.md has of the files."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tools.lib import documents
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.maintain import simt_readme

READS = ()


LINT = (TOP / "common", "tools.maintain.simt_layers")
DOWNWARD = "simt_layers: includes and calls go downward only\n"


class Layers(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.sources = self.folder / "src"
        self.write("memory/shadow.hpp", "int shadow();\nextern int cells;\n")
        self.write("memory/shadow.cpp", "int cells = 1;\nint shadow() { return cells; }\n")
        self.write("api/copies.hpp", '#include "simt/api.hpp"\nint copy();\nextern int copies;\n')
        self.write("api/copies.cpp", '#include "memory/shadow.hpp"\nint copies = 0;\nint copy() { return shadow(); }\n')

    def write(self, name, text):
        file = self.sources / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def lint(self, *arguments):
        """Exit code and output for the folder of sources."""
        command = [sys.executable, *LINT, *arguments, self.sources]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def lint_built(self):
        """The same with the library, which is built as Meson does: an object file is named after its source's path."""
        objects = []
        for file in sorted(self.sources.rglob("*.cpp")):
            name = file.relative_to(self.sources).as_posix().replace("/", "_") + ".o"
            objects.append(self.folder / "libsimt.a.p" / name)
            objects[-1].parent.mkdir(exist_ok=True)
            (self.folder / "include/simt").mkdir(parents=True, exist_ok=True)
            (self.folder / "include/simt/api.hpp").touch()
            folders = [f"-I{self.sources}", f"-I{self.folder / 'include'}"]
            subprocess.run(["c++", "-ffunction-sections", *folders, "-c", file, "-o", objects[-1]], check=True)
        library = self.folder / "libsimt.a"
        library.unlink(missing_ok=True)
        subprocess.run(["ar", "csrT", library, *objects], check=True, cwd=self.folder)
        return self.lint("--library", library)

    def test_early_objects_need_none_of_another_file(self):
        early = "#define SIMT_EARLY __attribute__((init_priority(101)))\n"
        own = "struct Cells {\n  Cells() { all = new int; }\n  ~Cells() { delete all; }\n  int* all;\n  int* first() { return all; }\n};\n"
        self.write("memory/shadow.hpp", own + "int shadow();\nextern Cells cells;\n")
        self.write("memory/shadow.cpp", '#include "memory/shadow.hpp"\n' + early + "SIMT_EARLY Cells cells;\nint shadow() { return *cells.first(); }\n")
        copies = '#include "memory/shadow.hpp"\n' + early + "int copies = 0;\nint copy() { return shadow(); }\n"
        self.write("api/copies.cpp", copies + "SIMT_EARLY Cells mine;\n")
        self.assertEqual(self.lint_built()[0], 0)
        for made in ("Copies() { copies = shadow(); }", "~Copies() { copies = shadow(); }", "int first = *cells.first();"):
            self.write("api/copies.cpp", copies + "namespace {\nstruct Copies {\n  " + made + "\n};\nSIMT_EARLY Copies mine;\n}\n")
            with self.subTest(made):
                self.assertEqual(self.lint_built(), (1, "api_copies.cpp.o: an early object (SIMT_EARLY) that is made or destroyed uses cells of "
                                                        "memory_shadow.cpp.o: which of the two is there first is not defined\n"))

    def test_downward(self):
        self.assertEqual(self.lint(), (0, "simt_layers: includes go downward only\n"))
        self.assertEqual(self.lint_built(), (0, DOWNWARD))

    def test_an_include_upward(self):
        self.write("memory/names.hpp", '  #  include "api/copies.hpp"\n')
        self.assertEqual(self.lint(), (1, 'memory/names.hpp includes "api/copies.hpp", which is in a layer above it\n'))

    def test_an_include_that_names_no_layer(self):
        self.write("memory/names.cpp", '#include "shadow.hpp"\n#include "memory/none.hpp"\n')
        expected = "".join(
            f'memory/names.cpp includes "{name}": name a file by its layer, as in "memory/shadow.hpp"\n'
            for name in ("shadow.hpp", "memory/none.hpp")
        )
        self.assertEqual(self.lint(), (1, expected))

    def test_a_file_in_no_layer(self):
        self.write("stray.cpp", "")
        self.write("other/stray.cpp", "")
        code, text = self.lint()
        self.assertEqual(code, 1)
        for name in ("other/stray.cpp", "stray.cpp"):
            self.assertIn(f"{name} is in no layer: they are the folders base, ", text)

    def test_a_call_upward_without_an_include(self):
        self.write("memory/names.cpp", "int copy();\nint name() { return copy(); }\n")
        self.assertEqual(self.lint()[0], 0)  # not to be seen in the sources
        expected = "memory/names.cpp calls or uses copy() of api/copies.cpp, which is in a layer above it\n"
        self.assertEqual(self.lint_built(), (1, expected))

    def test_a_variable_of_a_layer_above(self):
        self.write("memory/names.cpp", "extern int copies;\nint name() { return copies; }\n")
        expected = "memory/names.cpp calls or uses copies of api/copies.cpp, which is in a layer above it\n"
        self.assertEqual(self.lint_built(), (1, expected))

    def test_an_inline_function_that_both_have_is_no_call_upward(self):
        inline = "inline int both() { static int n; return ++n; }\nint {}() {{ return both(); }}\n"
        self.write("memory/names.cpp", inline.replace("{}()", "low()").replace("{{", "{").replace("}}", "}"))
        self.write("api/streams.cpp", inline.replace("{}()", "high()").replace("{{", "{").replace("}}", "}"))
        self.assertEqual(self.lint_built(), (0, DOWNWARD))

    def test_a_call_through_a_pointer_is_not_seen(self):
        self.write("memory/names.cpp", "int (*callback)();\nint name() { return callback(); }\n")
        self.write("api/streams.cpp", "int copy();\nextern int (*callback)();\nvoid set() { callback = copy; }\n")
        self.assertEqual(self.lint_built(), (0, DOWNWARD))

    def test_a_library_of_something_else(self):
        self.write("api/streams.cpp", "int f() { return 0; }\n")
        code, text = self.lint("--library", "/dev/null")
        self.assertEqual(code, 1)
        self.assertIn("no object file of", text)


README = "# The CPU device\n\n<!-- layers:begin -->\n<!-- layers:end -->\n\n<!-- counters:begin -->\n<!-- counters:end -->\n"
COUNTERS = """// The one list.

SIMT_COUNTER(loads, request, sum, "loads", "loads of memory", "Each takes time.")
SIMT_COUNTER(busiest_warp, request, maximum, "",
             "loads by one warp", "")
"""


class Readme(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.top = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        self.write("README.md", README)
        self.write("include/simt/counters.def", COUNTERS)
        for layer in simt_readme.LAYERS:
            self.write(f"src/{layer}/{layer}_only.cpp", f"// All of {layer}.\n")

    def write(self, name, text):
        file = self.top / "common/simt" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def written(self):
        """README.md with its generated parts."""
        documents.write(self.top, [lambda: simt_readme.documents(self.top)])
        return (self.top / "common/simt/README.md").read_text(encoding="utf-8")

    def test_every_layer_from_the_top_and_its_files(self):
        text = self.written()
        at = [text.index(f"| | `{layer}_only` | All of {layer} |") for layer in reversed(simt_readme.LAYERS)]
        self.assertEqual(at, sorted(at))
        self.assertIn("| **base** | | **what everything needs** |\n| | `base_only` |", text)

    def test_a_new_file_is_out_of_step_until_it_is_in_the_table(self):
        self.written()
        self.write("src/trace/colours.hpp", "// The colours of lanes.\n")
        with self.assertRaisesRegex(Failed, "README.md is out of step.*the layers of the CPU device"):
            documents.check(self.top, [lambda: simt_readme.documents(self.top)])
        self.assertIn("| | `colours` | The colours of lanes |\n", self.written())

    def test_a_header_and_its_source_are_one_row(self):
        self.write("src/trace/colours.hpp", "// The colours of lanes: __shared__ ones, too,\n// in a few words. More of it.\n//\n// More.\n")
        self.write("src/trace/colours.cpp", "// How they are mixed.\n")
        text = self.written()
        self.assertIn("| | `colours` | The colours of lanes: `__shared__` ones, too, in a few words |\n", text)
        self.assertNotIn("mixed", text)

    def test_the_counters_are_those_of_the_list(self):
        text = self.written()
        self.assertIn("| `loads` | request | sum | loads of memory |\n| `busiest_warp` | request | maximum | loads by one warp |\n", text)

    def test_an_entry_of_another_form_is_an_error(self):
        self.write("include/simt/counters.def", COUNTERS + 'SIMT_COUNTER(stores, request, mean, "", "stores", "")\n')
        with self.assertRaisesRegex(Failed, "an entry is not SIMT_COUNTER"):
            self.written()

    def test_a_file_without_a_first_comment(self):
        self.write("include/cuda/atomic", "// -*- C++ -*-\n// cuda::atomic.\n")
        self.write("tests/programs/right/theirs.cu", "int main() {}\n")
        self.assertEqual(simt_readme.without_comment(self.top), [])
        self.write("include/cuda/latch", "// -*- C++ -*-\n#pragma once\n")
        self.write("src/trace/colours.hpp", "#pragma once\n// The colours of lanes.\n")
        self.assertEqual(
            simt_readme.without_comment(self.top),
            [f"common/simt/{name}: its first comment is to say in one sentence what the file is"
             for name in ("include/cuda/latch", "src/trace/colours.hpp")],
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
