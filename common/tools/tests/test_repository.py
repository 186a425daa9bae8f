"""The repository's address: one line of meson.build, and the files that follow it."""

import tempfile
import unittest
from pathlib import Path

from tools.lib import repository
from tools.lib.checkout import TOP
from tools.lib.failed import Failed

READS = (".github", "*.md", "CITATION.cff", "common/docs", "common/simt/README.md")


class Address(unittest.TestCase):
    def test_every_address_follows_the_owner(self):
        for text, expected in {
            "git clone https://github.com/OWNER/cuda-atomics-course": "git clone https://github.com/me-2/cuda-atomics-course",
            "https://colab.research.google.com/github/x.y/cuda-atomics-course/blob/main/a": "https://colab.research.google.com/github/me-2/cuda-atomics-course/blob/main/a",
            "(https://codespaces.new/OWNER/cuda-atomics-course)": "(https://codespaces.new/me-2/cuda-atomics-course)",
            "https://github.com/NVIDIA/cuda-samples": "https://github.com/NVIDIA/cuda-samples",
        }.items():  # fmt: skip
            self.assertEqual(repository.with_owner(text, "me-2"), expected)

    def test_a_copy_of_the_course_with_another_owner(self):
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            (top / "meson.build").write_text("project('x')\nrepository_owner = 'someone'\n")
            (top / "README.md").write_text("https://codespaces.new/OWNER/cuda-atomics-course\n")
            document, = repository.documents(top)
            self.assertIn("is out of step", document.problem())
            self.assertTrue(document.write())
            self.assertEqual((top / "README.md").read_text(), "https://codespaces.new/someone/cuda-atomics-course\n")
            self.assertIsNone(document.problem())
            (top / "meson.build").write_text("project('x')\n")
            with self.assertRaises(Failed):
                repository.documents(top)

    def test_the_files_are_all_that_name_it(self):
        for file in repository.FILES:
            self.assertRegex((TOP / file).read_text(encoding="utf-8"), repository.ADDRESS, file)


if __name__ == "__main__":
    unittest.main()
