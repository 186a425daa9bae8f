"""The page of promises, and what is wrong with a check's promises and headers."""

import unittest

from tools.lib import chapter as chapters
from tools.maintain import promises
from tools.tests.in_folder import InFolder

READS = ()

CHECK = """\
// Check of the exercise sum.
#include "sum.cuh"

#include "checks/sizes.cuh"

// Not about the promise.
// Promise: *sum is x[0] + ... + x[n-1]
// (GPU only), as `a | b` <T>.
// Promise: nothing else is read (OUT OF BOUNDS).
TEST_CASE("sum: every "
          "size") {}

#if !COURSE_CPU_DEVICE
// Promise: n may be more than 2^32.
TEST_CASE("sum counts \\"many\\" numbers") {
}
#endif
"""
TABLE = """\
## 01-x

### sum

| promise | test case |
|---|---|
| \\*sum is x[0] + ... + x[n-1] (GPU only), as `a \\| b` \\<T\\>. | every size |
| nothing else is read (OUT OF BOUNDS). | every size |
| n may be more than 2^32. | counts "many" numbers |"""
LIST = """\
question = "How many?"
learn = "how many."
before = []
exercises = ["sum"]
core = ["sum"]
stars = {sum = 2}
"""


class Promises(InFolder):
    def setUp(self):
        super().setUp()
        self.write("chapters/01-x/chapter.toml", LIST)
        self.write("exercises/01-x/sum.cuh", "")
        self.write("chapters/01-x/checks/sum.cu", CHECK)
        self.write("chapters/01-x/checks/sizes.cuh", "")
        self.write("chapters/01-x/counts.cu", '#include "checks/sizes.cuh"\n')

    def problems(self):
        return promises.problems_of(self.folder, chapters.load(self.folder / "chapters/01-x"))

    def test_the_page(self):
        self.write("common/docs/contracts.md", "By hand.\n\n<!-- promises:begin -->\n<!-- promises:end -->\n")
        document = promises.documents(self.folder)[0]
        self.assertIn("is out of step", document.problem())
        document.write()
        self.assertEqual(document.found(), f"By hand.\n\n<!-- promises:begin -->\n\n{TABLE}\n\n<!-- promises:end -->\n")
        self.assertIsNone(document.problem())

    def test_nothing_is_wrong(self):
        self.assertEqual(self.problems(), [])

    def test_a_test_case_without_a_promise(self):
        self.write("chapters/01-x/checks/sum.cu", CHECK.replace("// Promise: n may be", "// n may be"))
        self.assertEqual(self.problems(), ['chapters/01-x/checks/sum.cu:15: no promise is above "sum counts "many" numbers"'])

    def test_a_promise_without_a_test_case(self):
        for above in ("// Promise: it is fast.\n\n", "  // Promise: it is fast.\n", "int a;  // Promise: it is fast.\n"):
            with self.subTest(above):
                self.write("chapters/01-x/checks/sum.cu", above + CHECK)
                self.assertEqual(self.problems(), ["chapters/01-x/checks/sum.cu:1: this promise is above no test case"])
        self.write("chapters/01-x/checks/sum.cu", CHECK)
        self.write("chapters/01-x/checks/sizes.cuh", "// Promise: it is fast.\nint a;\n")
        self.assertEqual(self.problems(), ["chapters/01-x/checks/sizes.cuh:1: this promise is above no test case"])

    def test_an_exercise_without_promises(self):
        for text in ("", CHECK.replace("// Promise: ", "// ")):
            self.write("chapters/01-x/checks/sum.cu", text + '#include "checks/sizes.cuh"\n')
            self.assertEqual(self.problems(), ["chapters/01-x/checks/sum.cu: no test case has a promise, // Promise: ..., above it"])

    def test_headers_of_one_check(self):
        sizes = "chapters/01-x/checks/sizes.cuh"
        self.write("chapters/01-x/counts.cu", "")
        self.assertEqual(self.problems(), [f"{sizes}: only checks/sum.cu reads this header: it belongs there"])
        # Two headers of one check that read each other have one reader.
        self.write("chapters/01-x/checks/kinds.cuh", '#include "sizes.cuh"\n')
        self.write("chapters/01-x/checks/sum.cu", CHECK + '#include "checks/kinds.cuh"\n')
        self.assertEqual(len(self.problems()), 2)
        self.write("chapters/01-x/checks/sum.cu", CHECK.replace('#include "checks/sizes.cuh"', ""))
        (self.folder / "chapters/01-x/checks/kinds.cuh").unlink()
        self.assertEqual(self.problems(), [f"{sizes}: nothing reads this header"])


if __name__ == "__main__":
    unittest.main()
