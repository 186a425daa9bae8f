"""Editors: clangd opens exercises and solutions without an error, and .vscode's tasks make what a check prints clickable.

COURSE_EDITOR=all looks at every exercise and solution, which takes minutes; without it at four, which need all that
.clangd says: CUDA's names, launches, and headers of two chapters.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from tools.lib.checkout import TOP

READS = (".clangd", ".vscode", "chapters/*/*.cuh", "course", "exercises", "solutions")

OLDEST = 16  # as for kernels


def clangd():
    """A clangd that is new enough, or None."""
    for name in ("clangd", *(f"clangd-{version}" for version in range(30, OLDEST - 1, -1))):
        if shutil.which(name):
            text = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            version = re.search(r"version (\d+)", text)
            if version and int(version[1]) >= OLDEST:
                return name
    return None


CLANGD = clangd()
SOME = (
    "exercises/01-global-atomic/ticket.cuh", "solutions/03-shared-reduce/two_pass_argmin.cuh", "exercises/11-many-gpus/split_sum.cuh",
    "solutions/16-beat-the-library/beat_sum.cuh",
)
# What the checker and the compiler print: the file and line to jump to.
PRINTED = {
    "    read   at exercises/01-global-atomic/word_count.cuh:30 by block 0 thread 4": ("exercises/01-global-atomic/word_count.cuh", "30"),
    "  at exercises/03-shared-reduce/block_max.cuh:17 by block 0 thread 100": ("exercises/03-shared-reduce/block_max.cuh", "17"),
    "exercises/00-start-here/scale.cuh:9:3: error: expected ';'": ("exercises/00-start-here/scale.cuh", "9"),
}


class Clangd(unittest.TestCase):
    def setUp(self):
        if CLANGD is None:
            self.skipTest(f"clangd {OLDEST} is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def errors(self, file):
        """What clangd marks red in a file. Its settings and caches are of a user without any."""
        environment = {**os.environ, "XDG_CONFIG_HOME": self.folder.name, "XDG_CACHE_HOME": self.folder.name}
        done = subprocess.run([CLANGD, "--enable-config", f"--check={file}"], cwd=TOP, stderr=subprocess.PIPE, text=True, env=environment)
        found = re.findall(r"(?m)^E\[[^\]]*\] (.*)", done.stderr)
        self.assertEqual(done.returncode == 0, not found, done.stderr)
        # Its check mode tries every refactoring at every token, too, and counts one that cannot be done: no red line.
        return [text for text in found if not text.lstrip().startswith("tweak: ")]

    def test_exercises_and_solutions_open_without_an_error(self):
        files = SOME
        if os.environ.get("COURSE_EDITOR") == "all":
            files = sorted(map(str, [*TOP.glob("exercises/*/*.cuh"), *TOP.glob("solutions/*/*.cuh")]))
        for file in files:
            with self.subTest(file=file):
                self.assertEqual(self.errors(file), [])

    def test_errors_are_still_shown(self):
        file = TOP / "exercises" / "01-global-atomic" / "test_editor_wrong.cuh"
        self.addCleanup(file.unlink)
        file.write_text(
            "#pragma once\n__global__ void kernel(int* d_x) {\n  atomicAdd(d_x);\n}\n"
            "inline int of_the_host() { return 1; }\n__global__ void other(int* d_x) { *d_x = of_the_host(); }\n"
            "inline void launch() { of_the_host<<<1, 1>>>(); }\n")
        text = "\n".join(self.errors(str(file)))
        for word in ("call to 'atomicAdd'", "call to 'of_the_host'", "non-global function"):
            self.assertIn(word, text)


class VisualStudioCode(unittest.TestCase):
    def setUp(self):
        self.tasks = json.loads((TOP / ".vscode" / "tasks.json").read_text())["tasks"]

    def test_what_is_printed_can_be_clicked(self):
        matchers = [matcher["pattern"] for task in self.tasks for matcher in task["problemMatcher"]]
        for line, place in PRINTED.items():
            found = [(pattern, re.match(pattern["regexp"], line)) for pattern in matchers]
            found = [(match[pattern["file"]], match[pattern["line"]]) for pattern, match in found if match]
            self.assertEqual(found, [place], line)

    def test_the_tasks_are_commands_of_course(self):
        shown = subprocess.run([TOP / "course"], capture_output=True, text=True).stdout
        for task in self.tasks:
            self.assertEqual(task["command"], "./course")
            self.assertRegex(shown, rf"(?m)^    {task['args'][0]} ")


if __name__ == "__main__":
    unittest.main()
