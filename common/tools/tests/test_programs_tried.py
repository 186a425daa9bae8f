"""The table of other people's programs, from a log."""

import unittest

from tools.lib.failed import Failed
from tools.maintain import programs_tried
from tools.tests.in_folder import InFolder

READS = ()

LOG = """date = 2026-11-28

[[collection]]
name = "Samples"
address = "https://example.org/samples"
commit = "abc"
chosen = "4 of 9"
programs = [
  { file = "a.cu", outcome = "right" },
  { file = "b.cu", outcome = "limit", why = "2^24 elements", with = "2^16 elements", again = "fault" },
  { file = "c.cu", outcome = "refused", why = "cuBLAS" },
  { file = "d.cu", outcome = "ours", why = "a false race" },
]
"""


class Table(InFolder):
    def setUp(self):
        super().setUp()
        self.page = self.write("common/docs/cuda-programs.md", "before\n<!-- tried:begin -->\n<!-- tried:end -->\nafter\n")

    def written(self, log):
        self.write("common/docs/programs-tried.toml", log)
        programs_tried.documents(self.folder)[0].write()
        return self.page.read_text()

    def test_programs_are_counted(self):
        text = self.written(LOG)
        for line in ("| 2026-11-28 | right | fault | refused | not CUDA 13 | incomplete | limit | ours | all |",
                     "| [Samples](https://example.org/samples/tree/abc), 4 of 9 | 1 |  | 1 |  |  | 1 | 1 | 4 |",
                     "| **all, some with a smaller size** | 1 | 1 | 1 |  |  |  | 1 | 4 |",
                     "- Right or with a fault that was found: 1 of 4 (25.0 %) as they are, 2 of 4 (50.0 %) with these changes.",
                     "refused or not CUDA 13: 2 of 4 (50.0 %) and 3 of 4 (75.0 %)."):
            self.assertIn(line, text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))

    def test_an_entry_that_says_too_little(self):
        for old, new, said in (('"right"', '"fine"', "Samples, a.cu: no outcome is named 'fine'"),
                               ('again = "fault"', 'again = "found"', "Samples, b.cu: no outcome is named 'found'"),
                               (', why = "cuBLAS"', "", "Samples, c.cu: why is it 'refused'?"),
                               ('why = "cuBLAS"', 'way = "cuBLAS"', "Samples, c.cu: nothing is named way"),
                               (', with = "2^16 elements"', "", "Samples, b.cu: with and again come together"),
                       ('"d.cu"', '"b.cu"', "Samples: its programs are not sorted, or one is there twice"),
                               ("[[collection]]", "[[collection", "programs-tried.toml: ")):
            with self.assertRaises(Failed) as failure:
                self.written(LOG.replace(old, new, 1))
            self.assertIn(said, str(failure.exception))


if __name__ == "__main__":
    unittest.main()
