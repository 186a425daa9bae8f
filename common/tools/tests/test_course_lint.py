"""The lint: a complete chapter is complete, and every gap is named."""

import shutil
import unittest

from tools.lib.chapter import Chapter
from tools.maintain import card_rules, course_lint
from tools.tests.in_folder import InFolder

READS = ()

HINT = "\n## Hint 1\n\nWhich value is returned?\n"
HEAD = "<!-- opening:begin -->\n<!-- opening:end -->\n\n"
LIST = 'question = "How many?"\nlearn = "how many."\nbefore = ["00"]\nexercises = ["sum"]\ncore = ["sum"]\n[stars]\nsum = 2\n'
PASSED = '[passed.sum]\ntakeaway = "It sums."\ncounters = ["sums"]\n'
CHECK = '// Promise: it is the sum.\nTEST_CASE("sum: every size") {}\n'


class Lint(InFolder):
    def setUp(self):
        super().setUp()
        self.write("README.md", "01-x\n")
        self.write("chapters/01-x/README.md", f"{HEAD}## Step 1: sum\n<!-- exercise sum -->\n\n## Sources\n{'x' * 100}\n")
        self.write("chapters/01-x/hints/sum.md", f"# sum\n\nSum all.\n{HINT * 3}")
        self.write("chapters/01-x/chapter.toml", LIST + PASSED)
        self.write("common/simt/include/simt/counters.def",
                   'SIMT_COUNTER(sums, sum, sum, "", "sums", "Each takes time.")\nSIMT_COUNTER(adds, add, sum, "", "additions", "")\n')
        self.write("chapters/01-x/checks/sum.cu", CHECK)
        self.write("exercises/01-x/sum.cuh", "NOT_STARTED  // delete\n")
        self.write("solutions/01-x/sum.cuh", "int a;\n")
        for mistake in "abc":
            self.write(f"chapters/01-x/mistakes/sum/{mistake}.diff", "Adds nothing: the sum\nis 0.\n\n@@\n-int a;\n")
        self.write("chapters/01-x/rungs.cuh", "")
        self.write("chapters/01-x/ladder.cu", '#include "rungs.cuh"\n')
        self.write("chapters/01-x/sizes.cuh", '#include "rungs.cuh"\n')
        self.write("chapters/01-x/selfcheck.cu", '#include "sizes.cuh"\n')
        self.write("common/meson.options", "")
        (self.folder / "chapters/01-x/common").symlink_to("../../common")
        (self.folder / "chapters/01-x/meson.options").symlink_to("common/meson.options")

    def lint(self):
        """(1 if there is a problem, the problems)."""
        problems = course_lint.problems_of(self.folder)
        return int(bool(problems)), "\n".join(problems)

    def test_complete(self):
        self.assertEqual(self.lint(), (0, ""))

    def test_the_pictures_are_those_that_are_declared(self):
        self.write("chapters/01-x/chapter.toml", LIST + PASSED + '[[picture]]\nprogram = "ladder"\nkernel = "f"\nquestion = "Why?"\noutput = "f.svg"\nalt = "An f"\n')
        readme = (self.folder / "chapters/01-x/README.md").read_text()
        self.assertEqual(self.lint(), (1, "chapters/01-x/README.md does not have: ![An f](pictures/f.svg)"))
        self.write("chapters/01-x/pictures/f.svg", "")
        self.write("chapters/01-x/README.md", readme + "\n![An f](pictures/f.svg)\n")
        self.assertEqual(self.lint(), (0, ""))
        self.write("chapters/01-x/pictures/g.svg", "")
        self.assertEqual(self.lint(), (1, "chapters/01-x/pictures/g.svg is not declared in chapter.toml"))

    def test_a_picture_shows_its_values_whole(self):
        for picture in ('<text x="1" class="value">12</text><text class="mono">x = 1e-5;</text><text class="small soft">… 2 more rows</text>', "<svg/>"):
            self.assertEqual(list(course_lint.unreadable_values(picture)), [])
        for picture, said in (
            ('<g data-values="lane 0: get 1.625&#10;lane 1: get 2"><text class="value">1.62</text></g>', "lane 0: get 1.625"),
            ('<text x="1" class="value">2e19</text>', "2e19"), ('<text class="soft">add 1.5e-05 to d_y[0]</text>', "1.5e-05"),
        ):
            self.assertEqual(list(course_lint.unreadable_values(picture)), [said])

    def test_gaps(self):
        gaps = {
            "exercises/01-x/sum.cuh": ("int x;\n", "needs one NOT_STARTED line"),
            "solutions/01-x/sum.cuh": ("NOT_STARTED\nint a;\n", "a solution has no NOT_STARTED line"),
            "chapters/01-x/mistakes/sum/a.diff": ("No sentence\n\n@@\n-int a;\n", "a.diff: must open with a sentence"),
            "chapters/01-x/hints/sum.md": (f"# sum\n\nSum all.\n{HINT * 2}## Next\n", "2 hints, not 3"),
            "chapters/01-x/chapter.toml": ("exercises = []\n", "'question' is missing"),
            "chapters/01-x/mistakes/sum/b.diff": (
                "Adds nothing at all.\n\n@@\n-int b;\n", "b.diff:3: solutions/01-x/sum.cuh does not have this text",
            ),
            "README.md": ("nothing\n", "README.md does not name 01-x"),
        }
        for name, (text, problem) in gaps.items():
            with self.subTest(name):
                before = (self.folder / name).read_text()
                self.write(name, text)
                code, output = self.lint()
                self.assertEqual(code, 1)
                self.assertIn(problem, output)
                self.write(name, before)

    def test_the_list_and_the_files(self):
        self.write("exercises/01-x/max.cuh", "NOT_STARTED\n")
        self.assertIn("chapter.toml: 'exercises' does not name max", self.lint()[1])
        self.write("chapters/01-x/chapter.toml", LIST.replace('"sum"', '"sum", "max"', 1) + "max = 1\n")
        self.assertIn("'exercises' names max, but", self.lint()[1])
        (self.folder / "exercises/01-x/max.cuh").unlink()
        self.write("chapters/01-x/chapter.toml", LIST + PASSED)
        for file in ("max/a.diff", "sum/d.cuh", "sum/d/sum.cuh"):
            self.write(f"chapters/01-x/mistakes/{file}", "")
            self.assertIn(f"chapters/01-x/mistakes/{file} is no .diff of an exercise", self.lint()[1])
            (self.folder / "chapters/01-x/mistakes" / file).unlink()
        self.assertEqual(self.lint()[0], 0)

    def test_a_readme_without_its_opening(self):
        readme = self.folder / "chapters/01-x/README.md"
        readme.write_text(readme.read_text().replace(HEAD, ""))
        self.assertIn("chapters/01-x/README.md has no <!-- opening:begin -->", self.lint()[1])

    def test_a_page_that_runs_what_it_has_not_built(self):
        readme = self.folder / "chapters/01-x/README.md"
        text = readme.read_text()
        run = "```sh\nbuild/chapters/01-x/ladder\n```\n"
        readme.write_text(text + run)
        self.assertIn("README.md runs ladder before a line `meson compile -C build 01-x-ladder`", self.lint()[1])
        readme.write_text(f"{text}```sh\nmeson compile -C build 01-x-claims 01-x-ladder    # once\n```\n{run}")
        self.assertEqual(self.lint(), (0, ""))

    def test_a_readme_without_its_last_line(self):
        (self.folder / "chapters/02-y").mkdir()
        self.assertIn("chapters/01-x/README.md has no <!-- next:begin -->", self.lint()[1])

    def test_one_list_of_rungs(self):
        self.write("chapters/01-x/sizes.cuh", "")
        self.assertIn("chapters/01-x/selfcheck.cu does not include rungs.cuh", self.lint()[1])
        (self.folder / "chapters/01-x/rungs.cuh").unlink()
        self.assertIn("chapters/01-x/rungs.cuh is missing", self.lint()[1])

    def test_a_rung_that_only_the_ladder_has(self):
        for text in ('ladder.rung({.name = "sum_once"});', 'rung.name ="sum_once";'):
            self.write("chapters/01-x/ladder.cu", f'#include "rungs.cuh"\n{text}\n')
            self.assertIn('chapters/01-x/ladder.cu names the rung "sum_once"', self.lint()[1])
        self.write("chapters/01-x/ladder.cu", '#include "rungs.cuh"\nladder.rung({.name = rung.name + "_again"});\n')
        self.assertEqual(self.lint(), (0, ""))

    def test_files_that_are_too_long(self):
        for name, limit in (("chapters/01-x/sizes.cuh", 400), ("common/src/a.cpp", 500)):
            with self.subTest(name):
                text = '#include "rungs.cuh"\n' + "\n" * (limit - 1)
                self.write(name, text)
                self.assertEqual(self.lint(), (0, ""))
                self.write(name, text + "\n")
                self.assertEqual(self.lint(), (1, f"{name}: {limit + 1} lines; {limit} at most"))
                self.write(name, text)
        for name in ("common/simt/tests/a.py", "common/docs/a.md", "chapters/01-x/build/a.cpp", "build/a.cpp"):
            self.write(name, "\n" * 999)
        self.write("chapters/01-x/checks/sum.cu", "\n" * 999 + CHECK)
        self.write("chapters/01-x/build/meson-private/a", "")
        self.assertEqual(self.lint()[0], 0)

    def test_cards(self):
        page, text = "chapters/01-x/README.md", (self.folder / "chapters/01-x/README.md").read_text()
        card = "<!-- exercise sum -->\n"
        for changed, problem in (
            (text.replace(card, ""), "sum has 0 lines <!-- exercise sum -->, not one"),
            (text.replace(card, card * 2), "sum has 2 lines <!-- exercise sum -->, not one"),
            (f"{HEAD}{card}{'x' * 43}\n", "the card of sum is in no section: no heading ## is above it"),
            (text + "`meson test -C build sum`\n", "says meson test -C: a page says ./course check"),
            (text + "<details><summary>Hint 1</summary>\n\nWhat?\n\n</details>\n", "has a hint: hints are in hints/EXERCISE.md, and come one at a time"),
        ):
            with self.subTest(problem):
                self.write(page, changed)
                self.assertEqual(self.lint(), (1, f"{page}: {problem}"))
        early, late = f"{HEAD}## Step 1\n{'x' * 43}\n{card}{'x' * 100}\n", f"{HEAD}## Step 1\n{'x' * 43}\n{card}{'x' * 20}\n"
        self.write(page, early)
        self.assertEqual(self.lint(), (0, ""))
        self.write(page, late)
        self.assertEqual(self.lint(), (1, f"{page}: 72% of what is visible comes before the first card, and 45% may"))
        folded = f"{HEAD}## Step 1\n<details>\n{'x' * 430}\n</details>\n{card}{'x' * 43}\n"
        self.write(page, folded)
        self.assertEqual(self.lint(), (0, ""))
        both = f"{HEAD}## A\n<!-- exercise max -->\n{card}{'x' * 100}\n"
        chapter = Chapter(self.folder / "01-x", "", "", ["sum", "max"], {})
        self.assertEqual(card_rules.problems_of_page(chapter, both), ["the cards come in the order max, sum, and chapter.toml names sum, max"])

    def test_promises_and_test_cases(self):
        self.write("chapters/01-x/checks/sum.cu", CHECK + '\nTEST_CASE("sum: no elements") {}\n')
        self.assertEqual(self.lint(), (1, 'chapters/01-x/checks/sum.cu:4: no promise is above "sum: no elements"'))

    def test_rules_that_were_broken(self):
        self.write("common/src/a.cpp", "// ---- reading ------\n//\n// --flag\n")
        self.assertEqual(self.lint()[0], 0)
        self.write("common/src/a.cpp", "// ---- reading\n// ------------\nint a;\n  // ------ It is")
        text = "a rule between sections is one line, such as // ---- title ----"
        self.assertEqual(self.lint(), (1, f"common/src/a.cpp:2: {text}\ncommon/src/a.cpp:4: {text}"))

    def test_kernels_that_the_vendors_row_would_define_again(self):
        self.write("chapters/01-x/vendor.cu", '#include "vendor.cuh"\n#include <cub/cub.cuh>\n')
        self.write("chapters/01-x/vendor.cuh", '#include "sum.cuh"\n')
        self.write("chapters/01-x/sum.cuh", "// No __global__ function.\nint a;\n")
        self.assertEqual(self.lint()[0], 0)
        self.write("chapters/01-x/sum.cuh", '#include "vendor.cuh"\ntemplate <class T>\n__global__ void sum();\n')
        code, output = self.lint()
        self.assertEqual(code, 1)
        self.assertIn("chapters/01-x/vendor.cu includes sum.cuh, whose kernels", output)

    def test_links_that_go_nowhere(self):
        good = (
            "[a](common/docs/a.md) [b](common/docs/a.md#two-words-its-code) [c](#begin) [d](https://example.org/no#x)\n"
            "![p](common/docs/p.svg) `[e](nowhere.md)` [`f`](common)\n```\n[g](nowhere.md)\n```\n## Begin\n"
        )
        self.write("common/docs/a.md", "# A\n## Two words: it's `code`\n## Same\n## Same\n```\n# No heading\n```\n[up](../../README.md)\n")
        self.write("common/docs/p.svg", "")
        self.write("README.md", "01-x\n" + good)
        self.assertEqual(self.lint(), (0, ""))
        for bad, problem in {
            "[a](common/docs/b.md)": "README.md: the link common/docs/b.md goes to no file",
            "[`a`](common/docs/b.md)": "README.md: the link common/docs/b.md goes to no file",
            "![a](p.svg)": "README.md: the link p.svg goes to no file",
            '<img src="p.svg">': "README.md: the link p.svg goes to no file",
            "[a](#end)": "README.md: the link #end goes to no heading",
            "[a](common/docs/a.md#no-heading)": "the link common/docs/a.md#no-heading goes to no heading",
            "[a](common/docs/a.md#same-2)": "the link common/docs/a.md#same-2 goes to no heading",
        }.items():
            with self.subTest(bad):
                self.write("README.md", f"01-x\n{good}{bad}\n")
                code, output = self.lint()
                self.assertEqual(code, 1)
                self.assertIn(problem, output)
                self.assertEqual(output.count("\n"), 0, output)
        self.write("README.md", "01-x\n[a](common/docs/a.md#same-1)\n")
        self.assertEqual(self.lint()[0], 0)
        self.write("common/docs/a.md", "# A\n## Same\n## Same\n[gone](gone.md)\n")
        self.assertIn("common/docs/a.md: the link gone.md goes to no file", self.lint()[1])

    def test_what_is_said_after_a_pass(self):
        self.write("chapters/01-x/chapter.toml", LIST)
        self.assertIn("chapters/01-x/chapter.toml: 'passed.sum' is missing", self.lint()[1])
        for counter in ("adds", "unknown"):
            self.write("chapters/01-x/chapter.toml", LIST + PASSED.replace("sums", counter))
            self.assertIn(f"'passed.sum' names {counter}: a counter with \"costs\" is one of sums", self.lint()[1])

    def test_a_missing_solution(self):
        (self.folder / "solutions/01-x/sum.cuh").unlink()
        self.assertIn("solutions/01-x/sum.cuh is missing", self.lint()[1])

    def test_a_release_has_no_answers(self):
        shutil.rmtree(self.folder / "solutions")  # alone, it is a gap
        self.assertIn("solutions/01-x/sum.cuh is missing", self.lint()[1])
        shutil.rmtree(self.folder / "chapters/01-x/mistakes")
        self.assertEqual(self.lint(), (0, ""))
        self.write("solutions/README", "")
        self.assertIn("solutions/01-x/sum.cuh is missing", self.lint()[1])
        self.write("solutions/01-x/sum.cuh", "int a;\n")
        self.assertIn("0 mistakes, not 3", self.lint()[1])


if __name__ == "__main__":
    unittest.main()
