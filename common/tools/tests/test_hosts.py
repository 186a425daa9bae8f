"""Colab's notebook does in a clean clone what it does on its host.

    COURSE_TEST_BUILD=build test_hosts.py      every cell, in a checkout with the folder build

Only Colab has /content, the course's address and a pip that may install into the system: a folder, this clone and a
program that notes its arguments are used instead. Without a build the first cell is run, with a set-up that says what it would
install, and the programs and files that the others name are looked for. The gate runs all on the build that it has made with
README.md's first command, which is the notebook's, too: it builds nothing a second time. No cell needs a GPU.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.lib.checkout import TOP

READS = ("CITATION.cff", "README*.md", "chapters/*/README.md", "chapters/*/chapter.toml", "chapters/00-start-here", "chapters/01-global-atomic", "common/docs/colab.ipynb",
         "common/tools", "course", "exercises", "meson.*", "solutions/00-start-here")

NOTEBOOK = TOP / "common/docs/colab.ipynb"
BRANCH = "main"
ENDS_WITH = {"check": 77}  # of an exercise that is not begun; a notebook goes on after any exit code
SETUP, MAKE = "common/tools/setup.sh", "meson setup build"  # README.md's first command begins with them


def cells():
    """{id: source} of the cells with code, in order."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"}


def as_shell(source):
    """A cell as a program of the shell: !command and %cd folder. ValueError for a line that is neither."""
    lines = []
    for line in source.splitlines():
        if line.startswith("!"):
            lines.append(line[1:])
        elif line.startswith("%cd "):
            lines.append(line[1:])
        else:
            raise ValueError(f"'{line}' is no command of the shell")
    return "\n".join(lines)


class InContent(unittest.TestCase):
    """Runs cells in a folder that stands for /content."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.content = Path(folder.name)
        address = re.search(r"https://github\.com/\S+", cells()["get"])[0]
        pip = self.content / "bin" / "pip"
        pip.parent.mkdir()
        pip.write_text(f'#!/bin/sh\necho "$@" >> {self.content}/pip.log\n')
        pip.chmod(0o755)
        self.environment = {
            **os.environ, "PATH": f"{pip.parent}:{os.environ['PATH']}",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{TOP}.insteadOf", "GIT_CONFIG_VALUE_0": address,
        }  # fmt: skip

    def run_cells(self, names, change=lambda script: script):
        """The output of these cells. Each is a shell of its own, which begins where the one before ended."""
        text, where = "", self.content
        for name in names:
            script = change(as_shell(cells()[name]).replace("/content", str(self.content)))
            done = subprocess.run(
                ["bash", "-ec", f"trap 'pwd >{self.content}/.where' EXIT\n{script}"], cwd=where, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )
            self.assertEqual(done.returncode, ENDS_WITH.get(name, 0), f"cell '{name}':\n{done.stdout}")
            where = Path((self.content / ".where").read_text().strip())
            text += done.stdout
        return text


class Colab(InContent):
    def test_it_is_a_notebook_without_outputs(self):
        notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        self.assertEqual((notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]), (4, "python3"))
        self.assertEqual(len({cell["id"] for cell in notebook["cells"]}), len(notebook["cells"]))
        for cell in notebook["cells"]:
            self.assertIn(cell["cell_type"], ("markdown", "code"))
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                as_shell("".join(cell["source"]))

    def test_the_course_is_cloned_and_set_up(self):
        self.assertEqual(next(iter(cells())), "get")
        for _ in ("it clones", "it clones nothing a second time"):
            text = self.run_cells(["get"], lambda script: script.replace("setup.sh", "setup.sh --dry-run"))
        self.assertRegex(text, "Everything that the course needs is installed|this will:")
        self.assertEqual((self.content / "pip.log").read_text(), "install -q meson>=1.4 ninja\n" * 2)
        self.assertTrue((self.content / "cuda-atomics-course" / "course").is_symlink())

    def test_what_the_cells_name_is_there(self):
        said = subprocess.run([TOP / "course", "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"(?m)^!\./course (\w+)", "\n".join(cells().values()))
        self.assertEqual(commands, ["next", "check", "hint", "run"])
        for command in commands:
            self.assertRegex(said, rf"\b{command}\b")
        for name in re.findall(r"\bcompile -C build ([\w-]+)-ladder", "\n".join(cells().values())):
            self.assertTrue((TOP / "chapters" / name / "ladder.cu").exists(), name)
        for name in re.findall(r"chapters/\S+\.cu\b", "\n".join(cells().values())):
            self.assertTrue((TOP / name).exists(), name)

    def test_the_address_is_the_same_everywhere(self):
        address = re.search(r'(?m)^repository-code: "https://github\.com/(\S+)"$', (TOP / "CITATION.cff").read_text(encoding="utf-8"))[1]
        self.assertIn(f"git clone -q https://github.com/{address}\n", cells()["get"])
        for page in ("README.md", "README.zh-CN.md"):
            text = (TOP / page).read_text(encoding="utf-8")
            self.assertIn(f"(https://colab.research.google.com/github/{address}/blob/{BRANCH}/{NOTEBOOK.relative_to(TOP)})", text)
            self.assertIn(f"(https://codespaces.new/{address})", text)
            self.assertIn(f"\ngit clone https://github.com/{address}\n", text)


@unittest.skipUnless(os.environ.get("COURSE_TEST_BUILD"), "COURSE_TEST_BUILD names no build folder")
class OnABuild(InContent):
    """`build` of this checkout is what `meson setup build` has made, and has chapters 00 and 01."""

    def setUp(self):
        super().setUp()
        self.assertEqual(Path(os.environ["COURSE_TEST_BUILD"]).resolve(), TOP / "build", "the cells name the folder build")
        readme = (TOP / "README.md").read_text(encoding="utf-8")
        self.assertIn(f"<!-- command 1 -->\n```sh\n{SETUP} && {MAKE} &&\n", readme)

    def test_every_cell(self):
        (self.content / "cuda-atomics-course").symlink_to(TOP)
        self.assertEqual(as_shell(cells()["build"]), f"test -d build || {MAKE}")
        text = self.run_cells(cells())
        for said in ("Everything that the course needs is installed.", "sum_global_atomic", "exercises/00-start-here/scale.cuh",
                     "Not started.", "the sum of 100000 numbers is 50000.0"):
            self.assertIn(said, text)
        self.assertEqual((self.content / "answers.diff").read_text(), "")


if __name__ == "__main__":
    unittest.main()
