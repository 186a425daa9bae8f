"""measured_numbers.py: which numbers of a page have to be in a marker, and which have not."""

import unittest
from unittest import mock

from tools.lib.checkout import TOP
from tools.maintain import measured_numbers
from tools.tests.in_folder import InFolder

READS = ("*.md", "chapters", "common/docs")

MARKER = "<!-- µs ours -->20.0 µs<!-- / -->"


class Sentences(InFolder):
    def found(self, text, name="chapters/01-x/README.md"):
        """What is found in a page, each with its line."""
        return measured_numbers.places(self.write(name, text))

    def test_measured_numbers_are_found(self):
        for text in (
            "it takes 25.5 µs", "2.0 *ms*", "25.6 and 27.7 µs", "20\nto 22 ms", "1.8 ns:", "4,221 GB/s", "4.4 TB/s", "counts 866 per ns",
            "395 additions per nanosecond", "1,071 times slower", "74 times\n  as fast", "another 1.6 times, and", "0.98 times the speed",
            "five times as long", "18 % longer", "63 % of the copy bandwidth", "42 %\nof its peak", "costs 2 to 9 %", "slower, by 11 % here",
            "within 3 % of CUB", "differ by at most 0.1 %", "DRAM is at 4 %", "it is exceeded (108 %), because", "an efficiency of 0.97",
            f"54.2 and {MARKER}", f"{MARKER} and 37.4 µs",
        ):
            with self.subTest(text):
                self.assertEqual([number for number, _ in self.found(f"First.\n{text}\n")], [2])

    def test_measured_numbers_in_chinese(self):
        for text in ("用时 27.5 µs", "速度是它的 74 倍", "54.2 对 37.4 µs", "达到峰值的 51 %", "每纳秒只加 0.57 个", "慢了 3 微秒"):
            with self.subTest(text):
                self.assertEqual(len(self.found(f"{text}。\n", "README.zh-CN.md")), 1)

    def test_numbers_of_other_kinds_are_left_alone(self):
        for text in (
            MARKER, f"{MARKER} and {MARKER}", "<!-- given the data sheet -->4.8 TB/s<!-- / -->", "<!-- measured 2026-11-22: H200 -->37 µs<!-- / -->",
            "<!-- times a / b -->1.29<!-- / -->\ntimes as fast as CUB", "65,536 atomics", "32 KiB", "2^24 floats", "twice as many sectors",
            "runs three times, each with 20 launches", "4 to 8 bytes", "32 times as many blocks", "5 % kept", "at 0, 5 and 50 % kept",
            "stride 1, " + MARKER, "`25.5 µs`", "[a](x.md#25-ms)", "300 s of processor time", "a copy moves 10^9 bytes per second",
        ):
            with self.subTest(text):
                self.assertEqual(self.found(f"It is so: {text}.\n"), [])

    def test_code_and_what_tools_write_is_not_read(self):
        text = (
            "```\n25.5 µs\n```\n<!-- cost k -->\n> `k`: **25.5 µs**, 7 times as long as `l`.\n\n<!-- results:begin -->\n25.5 µs\n"
            "<!-- results:end -->\n<!-- counters k -->\n| ncu | 5 µs |\n\n<!-- drawing d -->\n![a load takes 5 ns](d.svg)\n"
            "<!-- message k-mistake-x -->\n```\n25.5 µs\n```\n\nIt takes\n26.5 µs.\n"
        )
        self.assertEqual(self.found(text), [(21, "26.5 µs")])
        self.assertEqual(self.found("Text.<!-- answers:begin -->\n5 µs<!-- answers:end -->\n"), [(2, "5 µs")])

    def test_an_exception_holds_in_its_page_and_its_line(self):
        with mock.patch.object(measured_numbers, "EXCEPTIONS", [("01-x/README.md", "says 5 µs", "why")]):
            self.assertEqual(self.found("says 5 µs\nis 5 µs\n"), [(2, "5 µs")])
            self.assertEqual(self.found("says 5 µs\n", "chapters/02-y/README.md"), [(1, "5 µs")])

    def test_every_exception_is_needed(self):
        with mock.patch.object(measured_numbers, "EXCEPTIONS", []):
            problems = [
                (file, line, file.read_text(encoding="utf-8").splitlines()[line - 1])
                for pattern in measured_numbers.PAGES for file in TOP.glob(pattern) for line, _ in measured_numbers.places(file)
            ]  # fmt: skip
        for end, words, _ in measured_numbers.EXCEPTIONS:
            self.assertTrue(any(file.as_posix().endswith(end) and words in text for file, _, text in problems), words)

    def test_the_lint_names_the_page_and_the_line(self):
        self.write("common/docs/a.md", "Text.\nIt takes 5 µs.\n")
        self.write("README.md", "")
        self.assertRegex(measured_numbers.problems_of(self.folder)[0], r"^common/docs/a.md:2: '5 µs' is in no marker: <!-- µs NAME -->")


if __name__ == "__main__":
    unittest.main()
