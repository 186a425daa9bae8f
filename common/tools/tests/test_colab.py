"""The notebook for Colab: it is well formed, and its cells do in a clean clone what they do there.

Only Colab has /content, the course's address and a pip that may install into the system: a folder, this clone and a
program that notes its arguments are used instead, and set-up only says what it would install. The cells that build take
minutes: COURSE_COLAB=all runs them, too; without it the programs and files that they name are looked for.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.lib.checkout import TOP

NOTEBOOK = TOP / "common/docs/colab.ipynb"
ALL = os.environ.get("COURSE_COLAB") == "all"
BRANCH = "main"


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


class Colab(unittest.TestCase):
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

    def run_cells(self, names):
        """The output of these cells. Each is a shell of its own, which begins where the one before ended."""
        text, where = "", self.content
        for name in names:
            script = as_shell(cells()[name]).replace("/content", str(self.content)).replace("setup.sh", "setup.sh --dry-run")
            done = subprocess.run(
                ["bash", "-ec", f"{script}\npwd > {self.content}/.where"], cwd=where, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )
            self.assertEqual(done.returncode, 0, f"cell '{name}':\n{done.stdout}")
            where = Path((self.content / ".where").read_text().strip())
            text += done.stdout
        return text

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
        names = list(cells())
        self.assertEqual(names[0], "get")
        text = self.run_cells(names if ALL else names[:1])
        self.assertRegex(text, "Everything that the course needs is installed|this will:")
        self.assertEqual((self.content / "pip.log").read_text(), "install -q meson>=1.4 ninja\n")
        self.assertTrue((self.content / "cuda-atomics-course" / "course").is_symlink())
        if ALL:
            self.assertIn("sum_global_atomic", text)
            self.assertIn("the sum of 100000 numbers is 50000.0", text)
            self.assertTrue((self.content / "answers.diff").exists())
        self.run_cells(names[:1])  # a second time: it clones nothing

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


if __name__ == "__main__":
    unittest.main()
