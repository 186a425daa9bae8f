"""How long the front page may be."""

import tempfile
import unittest
from pathlib import Path

from tools.maintain.front_page_rules import COMMAND, MOST_BEFORE, MOST_WORDS, problems_of, words

READS = ()


class Length(unittest.TestCase):
    def of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "README.md").write_text(text)
            return problems_of(Path(folder))

    def test_words_are_those_of_the_text(self):
        for text, count in {
            "one two\nthree": 3, "| a | table |\n|---|---|": 0, "```sh\nsome code\n```\nthree words here": 3, "![a picture](x.svg)": 0,
            "[a link](a/b.md) and\n[one over\ntwo lines](c.md)": 7, "[![a badge](x.svg)](https://example.org)": 0,
            "<!-- map:begin -->\ntwo words\n<!-- map:end -->": 2, "a – b · c": 3, "before <!-- answers:begin -->in<!-- answers:end --> after": 3,
        }.items():  # fmt: skip
            with self.subTest(text):
                self.assertEqual(words(text), count)

    def test_what_is_too_long(self):
        before, rest = "word " * MOST_BEFORE, "word " * (MOST_WORDS - MOST_BEFORE)
        self.assertEqual(self.of(f"{before}\n{COMMAND}\n{rest}"), [])
        self.assertEqual(self.of(f"{before}\n{COMMAND}\n{rest}one"), ["README.md: 701 words outside of tables and code; 700 at most"])
        self.assertEqual(self.of(f"{before}one\n{COMMAND}\n"), ["README.md: 151 words before its first command; 150 at most"])
        self.assertEqual(self.of(before + rest), [])


if __name__ == "__main__":
    unittest.main()
