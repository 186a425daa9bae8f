"""Tests of simt_layers.py: an include and a call that go upward are found; the library itself has none."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tools.lib.checkout import TOP

sys.dont_write_bytecode = True  # the source tree stays as it is

LINT = TOP / "common/tools/maintain/simt_layers.py"
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
        command = [sys.executable, LINT, *arguments, self.sources]
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
            subprocess.run(["c++", *folders, "-c", file, "-o", objects[-1]], check=True)
        library = self.folder / "libsimt.a"
        library.unlink(missing_ok=True)
        subprocess.run(["ar", "csrT", library, *objects], check=True, cwd=self.folder)
        return self.lint("--library", library)

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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
