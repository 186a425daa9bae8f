"""plain_words.py: which words it finds, and where it looks."""

import subprocess
import sys
import unittest
from unittest import mock

from tools.lib.checkout import TOP
from tools.maintain import plain_words
from tools.tests.in_folder import InFolder

READS = ("common/dev",)

DEV = TOP / "common/dev"


class Words(InFolder):
    def found(self, name, text):
        """The words that are found in a file, each with its line."""
        file = self.write(name, text)
        return [(number, word) for number, word, _ in plain_words.places(file)]

    def test_each_word_of_the_table_is_found(self):
        for word in (
            "one atomic a block", "two loads an element", "one a lane", "64 a row", "adds them up", "added up", "nobody", "everybody", "132 multiprocessors",
            "in the place of", "stands still", "by turns", "in front of", "behind", "stands below", "stand in", "run at once",
            "come to an end", "the program's CUDA",
        ):
            with self.subTest(word):
                self.assertEqual(len(self.found("page.md", f"It says: {word}.\n")), 1)

    def test_plain_sentences_are_left_alone(self):
        text = "One atomic per block. A streaming multiprocessor (SM). It sums. Add a number. As a block of threads. At once.\n"
        self.assertEqual(self.found("page.md", text), [])

    def test_code_is_not_read(self):
        self.assertEqual(self.found("page.md", "```\nbehind\n```\nbehind\n"), [(4, "behind")])
        source = 'int behind = 0;  // behind it\nprint("nobody");\nconst char* s = "http://x/";\n'
        self.assertEqual(self.found("a.cu", source), [(1, "behind"), (2, "nobody")])
        self.assertEqual(self.found("a.py", "behind = 1  # behind\n"), [(1, "behind")])

    def test_a_docstring_is_read(self):
        source = '"""Says.\n\nbehind\n"""\nbehind = 1\ndef f():\n    """nobody"""\n    return behind\n'
        self.assertEqual(self.found("a.py", source), [(3, "behind"), (7, "nobody")])

    def test_of_a_wrong_answer_the_sentence_is_read(self):
        self.assertEqual(self.found("a.diff", "Reads behind the end.\n\n@@\n-// behind\n+// behind\n // behind\n"), [(1, "behind")])

    def test_marks_and_spaces_of_pages_in_chinese(self):
        for wrong in ("核函数,线程", "线程(lane)", "**结果：**是", "共32 个", "CPU设备"):
            with self.subTest(wrong):
                self.assertEqual(len(self.found("README.zh-CN.md", f"{wrong}\n")), 1)
                self.assertEqual(self.found("README.md", f"{wrong}\n"), [])
        right = "有 32 个 lane（见 `f(a, b)`），**结果**：`x` 是 [1](a.md)、[2](a.md#轮到你a--30-分钟)。\n```\n个1\n```\n"
        self.assertEqual(self.found("README.zh-CN.md", right), [])

    def test_what_is_allowed_is_not_found(self):
        with mock.patch.object(plain_words, "ALLOWED", [("b.md", "left behind")]):
            self.assertEqual(self.found("b.md", "left behind\nbehind\n"), [(2, "behind")])
            self.assertEqual(self.found("c.md", "left behind\n"), [(1, "behind")])

    def test_the_program_names_each_place(self):
        file = self.folder / "page.md"
        file.write_text("fine\nadds up\n")
        done = subprocess.run([sys.executable, str(DEV), "lint", str(file)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{file}:2: 'adds up': write sum, reduce\n1 problem", done.stderr)
        file.write_text("sums\n")
        self.assertEqual(subprocess.run([sys.executable, str(DEV), "lint", str(file)]).returncode, 0)


if __name__ == "__main__":
    unittest.main()
