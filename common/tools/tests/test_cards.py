"""The cards of exercises: what is written on them, where they are, and what a page without them says."""

import unittest

from tools.lib import chapter as metadata
from tools.lib import hints, pages
from tools.lib.chapter import Chapter
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.maintain import card_rules
from tools.measure import cards, languages
from tools.tests.in_folder import InFolder

READS = ("chapters", "exercises", "solutions")

STARTER = """// Exercise sum: what is the sum?
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// A TODO(you) of a contract is none.
struct Slot {
  unsigned value;
};

/// Sums x.
/// - Much.
__global__ void sum(const int* x, int n, int* y) {
  // TODO(you): sum x.
  (void)x, (void)n;

  *y = 0;  // not }
}

template <class T>
__device__ T done(T x) {
  return x;
}

constexpr int kFirst = 0;  // TODO(you)

// TODO(you): the others.
constexpr int kSecond = 0;
constexpr int kThird = 0;
"""
SUM = "__global__ void sum(const int* x, int n, int* y) {\n  // TODO(you): sum x.\n  (void)x, (void)n;\n\n  *y = 0;  // not }\n}\n"
NUMBERS = "constexpr int kFirst = 0;  // TODO(you)\n\n// TODO(you): the others.\nconstexpr int kSecond = 0;\nconstexpr int kThird = 0;\n"
PATH = "exercises/01-x/sum.cuh"
CARD = f"""<!-- exercise sum -->
### Now you: sum ★★ 30 min

Sum x.

```cuda
{SUM}
{NUMBERS}```
[{PATH}](../../{PATH})

```sh
./course check sum
./course hint sum    # three, one at a time
```
<!-- exercise:end -->
"""


class Cards(InFolder):
    def setUp(self):
        super().setUp()
        self.write(PATH, STARTER)
        self.write("chapters/01-x/hints/sum.md", "# sum\n\nSum x.\n\n## Hint 1\n\nWhat is a sum of it?\n\n## Hint 2\n\n...\n")
        self.chapter = Chapter(self.folder / "chapters/01-x", "", "", ["sum"], {"sum": 2})
        self.words = languages.English(self.folder)

    def page(self, text):
        """What a page becomes; once more changes nothing."""
        made = cards.with_generated(self.chapter, text, self.words)
        self.assertEqual(cards.with_generated(self.chapter, made, self.words), made)
        return made

    def code(self, options):
        return self.page(f"<!-- exercise sum | {options} -->\n").split("```cuda\n")[1].split("```")[0]

    def test_a_card(self):
        self.assertEqual(self.page("## Step 1\n\n<!-- exercise sum -->\n\nAfter.\n"), f"## Step 1\n\n{CARD}\nAfter.\n")

    def test_a_changed_starter_changes_the_card(self):
        self.write(PATH, STARTER.replace("*y = 0", "*y = 1"))
        self.assertEqual(self.page(f"{CARD}After.\n"), CARD.replace("*y = 0", "*y = 1") + "After.\n")

    def test_a_line_without_its_end_takes_nothing_of_the_next_card(self):
        self.assertEqual(self.page(f"<!-- exercise sum -->\n\nBetween.\n\n{CARD}"), f"{CARD}\nBetween.\n\n{CARD}")

    def test_options_choose_what_is_shown(self):
        self.assertEqual(self.code("of Slot, done"), "struct Slot {\n  unsigned value;\n};\n\ntemplate <class T>\n__device__ T done(T x) {\n  return x;\n}\n")
        self.assertEqual(self.code("of done | cut return"), "template <class T>\n__device__ T done(T x) {\n  ...\n}\n")
        self.assertEqual(self.code("only kSecond .. kThird"), "constexpr int kSecond = 0;\nconstexpr int kThird = 0;\n")

    def test_what_cannot_be_shown(self):
        for line, starter, problem in (
            ("sum | of nothing", STARTER, "0 parts of the starter define nothing"),
            ("sum", STARTER.replace("TODO(you)", "TODO"), r"the starter has no TODO\(you\)"),
            ("sum | hide x", STARTER, "unknown option 'hide'"),
            ("sum", STARTER.replace("  *y = 0;", "  *y = 0;\n" * 30), "42 lines of code; 30 at most"),
            ("max", STARTER, "chapter.toml names no such exercise"),
        ):
            with self.subTest(problem):
                self.write(PATH, starter)
                with self.assertRaisesRegex(Failed, problem):
                    self.page(f"<!-- exercise {line} -->\n")
        (self.folder / "chapters/01-x/hints/sum.md").unlink()
        with self.assertRaisesRegex(Failed, "hints/sum.md: No such file"):
            self.page("<!-- exercise sum -->\n")

    def test_the_task_and_the_hints_with_a_text(self):
        self.assertEqual(hints.read(self.folder / "chapters/01-x/hints/sum.md"), ("Sum x.", ["What is a sum of it?"]))


class Pages(unittest.TestCase):
    TEXT = f"# A\n\n```\n## none\n```\n\n## Step 1: *one*\n\nText.\n\n{CARD}\nOf the exercise.\n\n## Step 2\n\n<!-- exercise max -->\n\n## End\n"

    def test_the_step_of_each_card(self):
        self.assertEqual(pages.cards(self.TEXT), [("sum", "Step 1: *one*"), ("max", "Step 2")])
        self.assertEqual(pages.cards("# A\n<!-- exercise sum -->\n"), [("sum", None)])

    def test_a_page_without_its_exercises(self):
        self.assertEqual(pages.without_exercises(self.TEXT), "# A\n\n```\n## none\n```\n\n## Step 1: *one*\n\nText.\n\n## Step 2\n\n## End\n")

    def test_the_anchor_of_a_card_is_that_of_its_heading(self):
        self.assertIn(pages.anchor_of("Now you: sum ★★ 30 min"), pages.anchors_of(CARD))
        self.assertEqual(pages.anchor_of("Now you: warp_max ★★ 30 min"), "now-you-warp_max--30-min")
        self.assertEqual(pages.anchors_of("## Same\n## Same\n```\n# No heading\n```\n"), {"same", "same-1"})

    def test_what_is_visible(self):
        folded = "<!-- a\ncomment --><details><summary>More</summary>\n\nMuch.\n\n</details>\n"
        self.assertEqual(pages.share_before_first_card(f"{folded}1234\n{folded}<!-- exercise sum -->\n123\n"), 7 / 12)
        self.assertIsNone(pages.share_before_first_card("Text.\n"))

    def test_a_fold_ends_after_the_folds_in_it(self):
        inner = "<details><summary>More</summary>\n\nMuch.\n\n</details>\n"
        self.assertEqual(pages.visible(f"A<details>B\n{inner}C\n{inner}D</details>E{inner}F"), "AE\nF")


class Course(unittest.TestCase):
    def test_each_exercise_of_this_course_has_its_card(self):
        for chapter in metadata.load_all(TOP):
            self.assertEqual(card_rules.problems_of(TOP, chapter), [])
            for exercise in chapter.exercises:
                starter = chapter.starter(exercise).read_text(encoding="utf-8")
                self.assertTrue(cards.parts_of(starter), exercise)


if __name__ == "__main__":
    unittest.main()
