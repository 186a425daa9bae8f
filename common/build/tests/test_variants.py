"""variants.py: an answer is the solution but for what its .diff says, and fails loudly where they do not fit."""

import unittest

from build import variants
from tools.lib.failed import Failed

READS = ("chapters/*/mistakes", "chapters/*/alternatives", "solutions")

SOLUTION = """// Exercise sum: adds.
//
// Try it.
#pragma once

#include <cstddef>

/// Sums.
__global__ void sum(const int* x, std::size_t n, int* out) {
  int mine = 0;  // of this thread
  for (std::size_t i = 0; i < n; ++i) {
    mine += x[i];
  }
  __syncthreads();
  atomicAdd(out, mine);
  __syncthreads();
}
"""
SENTENCE = "Begins at 1: the sum is larger than it should be, by one.\n\n"


def apply(hunks, solution=SOLUTION):
    return variants.apply(hunks, solution, "mistakes/sum/a.diff", "solutions/sum.cuh")


class Apply(unittest.TestCase):
    def rejected(self, hunks, *texts, solution=SOLUTION):
        with self.assertRaises(Failed) as caught:
            apply(hunks, solution)
        for text in texts:
            self.assertIn(text, str(caught.exception))

    def test_a_line_is_another_one(self):
        answer = apply(SENTENCE + "@@\n-  int mine = 0;  // of this thread\n+  int mine = 1;\n")
        self.assertEqual(
            answer,
            "// Begins at 1: the sum is larger than it should be, by one.\n"
            + SOLUTION.partition("Try it.\n")[2].replace("0;  // of this thread", "1;"),
        )

    def test_a_reason_is_a_paragraph_of_its_own(self):
        answer = apply("It is late.\nGPU may let it through: luck,\nas ever.\n\n@@\n-  int mine = 0;  // of this thread\n")
        self.assertTrue(answer.startswith("// It is late.\n//\n// GPU may let it through: luck, as ever.\n#pragma"), answer)

    def test_an_ellipsis_goes_to_the_next_old_line(self):
        answer = apply(SENTENCE + "@@\n   int mine = 0;  // of this thread\n-...\n+  mine += x[0];\n   __syncthreads();\n")
        self.assertIn("  int mine = 0;  // of this thread\n  mine += x[0];\n  __syncthreads();\n  atomicAdd", answer)

    def test_hunks_are_made_in_turn(self):
        answer = apply(SENTENCE + "@@\n-#include <cstddef>\n@@\n   atomicAdd(out, mine);\n-  __syncthreads();\n+  return;\n")
        self.assertNotIn("#include", answer)
        self.assertTrue(answer.endswith("  __syncthreads();\n  atomicAdd(out, mine);\n  return;\n}\n"), answer)

    def test_an_edited_solution_is_named_with_the_mistake_and_the_line(self):
        hunks = SENTENCE + "@@\n+#include <cmath>\n #pragma once\n@@\n   int mine = 0;  // of this thread\n-  for (int i : x) {\n"
        self.rejected(hunks, "mistakes/sum/a.diff:6:", "solutions/sum.cuh does not have this text", "'for (int i : x) {'")
        good = SENTENCE + "@@\n-    mine += x[i];\n"
        apply(good)
        self.rejected(good, "a.diff:3:", solution=SOLUTION.replace("mine += x[i]", "mine = mine + x[i]"))

    def test_text_that_is_there_twice_needs_context(self):
        self.rejected(SENTENCE + "@@\n-  __syncthreads();\n", "a.diff:3:", "2 times", "context")

    def test_the_opening_comment_is_no_text_of_the_solution(self):
        self.rejected(SENTENCE + "@@\n-// Try it.\n", "does not have this text")

    def test_hunks_in_the_wrong_order(self):
        self.rejected(SENTENCE + "@@\n-  atomicAdd(out, mine);\n@@\n-#include <cstddef>\n", "a.diff:5:", "above")

    def test_what_is_no_mistake(self):
        hunk = "@@\n-#include <cstddef>\n"
        self.rejected(hunk, "a.diff:1: must open with a sentence")
        self.rejected(SENTENCE, "no hunk")
        self.rejected(SENTENCE + "@@\n+int x;\n", "a.diff:3:", "begins and ends with lines of the solution")
        self.rejected(SENTENCE + hunk + "-...\n", "begins and ends with lines of the solution")
        self.rejected(SENTENCE + "@@\n#pragma once\n", "a.diff:4: a line of a hunk")
        self.rejected("It is late.\nGPU may let it through:\n" + hunk, "no reason")


class Convert(unittest.TestCase):
    def convert(self, answer, solution=SOLUTION):
        return variants.convert(answer, solution, "a.cuh", "sum.cuh")

    def test_the_smallest_difference(self):
        answer = SOLUTION.replace("mine = 0;  // of this thread", "mine = 1;").replace("// Exercise sum: adds", "// Starts at 1")
        answer = answer.replace("//\n// Try it.", "//\n// GPU may let it through: never.")
        self.assertEqual(
            self.convert(answer),
            "Starts at 1.\nGPU may let it through: never.\n\n@@\n-  int mine = 0;  // of this thread\n+  int mine = 1;\n",
        )

    def test_comments_and_blank_lines_are_no_difference(self):
        answer = SOLUTION.replace("  // of this thread", "").replace("/// Sums.\n", "\n\n").replace("mine += x[i]", "mine = x[i]")
        self.assertEqual(self.convert(answer).count("\n-"), 1)

    def test_context_makes_it_unique(self):
        first = SOLUTION.replace("  __syncthreads();\n  atomic", "  atomic")
        self.assertIn("@@\n-  __syncthreads();\n   atomicAdd(out, mine);\n", self.convert(first))
        second = SOLUTION.replace("mine);\n  __syncthreads();\n", "mine);\n")
        self.assertIn("@@\n   atomicAdd(out, mine);\n-  __syncthreads();\n", self.convert(second))

    def test_much_that_is_gone_is_left_out(self):
        answer = SOLUTION.partition("  int mine")[0] + "  *out = 1;\n}\n"
        diff = self.convert(answer)
        self.assertIn("-  int mine = 0;  // of this thread\n-...\n", diff)
        self.assertIn("+  *out = 1;\n", diff)
        self.assertLess(diff.count("\n-"), 6)

    def test_all_variants_of_the_course_come_back(self):
        files = sorted(file for folder in ("mistakes", "alternatives") for file in variants.TOP.glob(f"chapters/*/{folder}/*/*.diff"))
        if not files:
            self.skipTest("a release for learners has no variants of its solutions")
        for file in files:
            solution = variants.solution_of(file).read_text()
            answer = variants.answer_of(file)
            again = variants.convert(answer, solution, str(file), "the solution")
            self.assertEqual(
                variants.essence(variants.apply(again, solution, "a", "b")), variants.essence(answer), file
            )


if __name__ == "__main__":
    unittest.main()
