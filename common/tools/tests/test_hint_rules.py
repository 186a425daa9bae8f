"""Hints: three of them, the first asks, and none can be pasted; each broken rule is named."""

import unittest

from tools.lib.chapter import Chapter
from tools.maintain import hint_rules
from tools.tests.in_folder import InFolder

READS = ()

STARTER = "NOT_STARTED\n/// Sums x[0..n-1].\nvoid sum(const int* x, int n, int* y) {\n  y[threadIdx.x] = x[threadIdx.x];\n}\n"
SOLUTION = """/// Sums x[0..n-1].
void sum(const int* x, int n, int* y) {
  // No thread loses an addition here.
  y[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < n) {  // some are left over
    atomicAdd(y, x[threadIdx.x]);
  }
  cluster.sync();
}
"""
ENGLISH = ["Which element does `thread 3` take?", "The addition has to be atomic.", "Each thread adds its element by `atomicAdd`."]
CHINESE = ["线程 3 取哪个元素？", "加法必须是原子的。", "每个线程用 `atomicAdd` 加上自己的元素。"]


class HintRules(InFolder):
    def setUp(self):
        super().setUp()
        self.write("exercises/01-x/sum.cuh", STARTER)
        self.write("solutions/01-x/sum.cuh", SOLUTION)
        for page in ("README.md", "README.zh-CN.md"):
            self.write(f"chapters/01-x/{page}", "")
        self.chapter = Chapter(self.folder / "chapters/01-x", "", "", ["sum"], {"sum": 1})

    def problems(self, english=ENGLISH, chinese=CHINESE, task="Sum x."):
        for name, word, hints in (("sum.md", "Hint", english), ("sum.zh-CN.md", "提示", chinese)):
            bodies = [f"\n## {word} {i}\n\n{hint}\n" for i, hint in enumerate(hints, 1)]
            self.write(f"chapters/01-x/hints/{name}", "".join([f"# sum\n\n{task}\n", *bodies]))
        return hint_rules.problems_of(self.folder, self.chapter, "sum")

    def with_last(self, text):
        """The problems of the English page if its last hint is `text`."""
        return [problem.removeprefix("chapters/01-x/hints/sum.md: hint 3 has ") for problem in self.problems([*ENGLISH[:2], text])]

    def test_good_hints(self):
        self.assertEqual(self.problems(), [])
        (self.folder / "chapters/01-x/README.zh-CN.md").unlink()
        self.assertEqual(hint_rules.problems_of(self.folder, self.chapter, "sum"), [])

    def test_a_file_that_is_missing(self):
        self.problems()
        (self.folder / "chapters/01-x/hints/sum.zh-CN.md").unlink()
        self.assertEqual(
            hint_rules.problems_of(self.folder, self.chapter, "sum"),
            ["chapters/01-x/hints/sum.zh-CN.md is missing: the task and the hints of sum"])

    def test_the_task_is_a_paragraph_without_a_link(self):
        for task in ("", "Sum x.\n\nAll of it.", "Sum [x](x.cuh)."):
            says = [f"chapters/01-x/hints/{name}: the task is one paragraph below the heading, without a link" for name in ("sum.md", "sum.zh-CN.md")]
            self.assertEqual(self.problems(task=task), says)
        self.assertEqual(self.problems(task="Sum x,\nall of it."), [])

    def test_three_in_each_language(self):
        for count in (0, 2, 4):
            self.assertEqual(self.problems((ENGLISH * 2)[:count]), [f"chapters/01-x/hints/sum.md: {count} hints, not 3"])
            self.assertEqual(
                self.problems(chinese=(CHINESE * 2)[:count]), [f"chapters/01-x/hints/sum.zh-CN.md: {count} hints, not 3"])
        self.assertEqual(self.problems([*ENGLISH[:2], "..."]), ["chapters/01-x/hints/sum.md: 2 hints, not 3"])
        self.assertEqual(self.problems(chinese=[*CHINESE[:2], "……"]), ["chapters/01-x/hints/sum.zh-CN.md: 2 hints, not 3"])

    def test_the_first_asks(self):
        says = "chapters/01-x/hints/sum.md: hint 1 asks no question"
        for text in ("Look at the element.", "Look at `a > b ? a : b` first.", "See [the page](x.md?y) for it."):
            self.assertEqual(self.problems([text, *ENGLISH[1:]]), [says])
        for text in ("Which one? Look at it.", "(Which one is it?)", "Is it here,\nor there?"):
            self.assertEqual(self.problems([text, *ENGLISH[1:]]), [])
        self.assertEqual(
            self.problems(chinese=["看看那个元素。", *CHINESE[1:]]), ["chapters/01-x/hints/sum.zh-CN.md: hint 1 asks no question"])

    def test_no_block_of_code(self):
        for text in ("Write this here:\n\n```cuda\nint a;\n```", "Write this here:\n\n    int a;", "Write this here:\n~~~\nint a;\n~~~"):
            self.assertEqual(self.with_last(text), ["a block of code"])

    def test_no_line_of_the_solution(self):
        for text in (
            "At the end `atomicAdd(y, x[threadIdx.x]);` does it.", "At the end atomicAdd( y, x[threadIdx.x] ) does it.",
            "At the end `atomicAdd(y,\nx[threadIdx.x])` does it.", "At the end `  atomicAdd(y, x[threadIdx.x]); cluster.sync();`",
        ):
            self.assertEqual(self.with_last(text), ["code of the solution: atomicAdd(y,x[threadIdx.x])"])
        for text in ("Before it is `if (threadIdx.x < n) {` here.", "Before it is if (threadIdx.x < n) here."):
            self.assertEqual(self.with_last(text), ["code of the solution: if(threadIdx.x<n)"])
        self.assertEqual(
            self.problems(chinese=[*CHINESE[:2], "最后是 `atomicAdd(y, x[threadIdx.x])`。"]),
            ["chapters/01-x/hints/sum.zh-CN.md: hint 3 has code of the solution: atomicAdd(y,x[threadIdx.x])"])

    def test_no_expression_of_the_solution(self):
        self.assertEqual(self.with_last("The condition `threadIdx.x < n` is needed."), ["code of the solution: threadIdx.x<n"])

    def test_what_gives_nothing_away(self):
        for text in (
            "Today it is `y[threadIdx.x] = x[threadIdx.x];` there.",  # the starter has it
            "Then `cluster.sync()` waits for `threadIdx.x`, too.",  # a name
            "With `y, x` it is short.",
            "No thread loses an addition here.",  # a comment
            "The condition threadIdx.x < n is needed.",  # words, as far as anybody can tell
        ):
            self.assertEqual(self.with_last(text), [])

    def test_a_release_has_no_solution(self):
        (self.folder / "solutions/01-x/sum.cuh").unlink()
        self.assertEqual(self.with_last("At the end `atomicAdd(y, x[threadIdx.x]);` does it."), [])
        self.assertEqual(self.problems(ENGLISH[:2]), ["chapters/01-x/hints/sum.md: 2 hints, not 3"])


if __name__ == "__main__":
    unittest.main()
