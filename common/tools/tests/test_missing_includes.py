"""The lint names a chapter's file that uses the course's names without their header."""

import unittest

from tools.maintain import missing_includes
from tools.tests.in_folder import InFolder

READS = ()

HEADER = "common/include/course/counters.cuh"
FILES = {
    HEADER: "#pragma once\nnamespace course {\nstruct Counters {};\n}\n",
    "common/include/course/grid.cuh": "#pragma once\n",
    "common/include/course/check.cuh": "#include <course/counters.cuh>\n",
    "chapters/01-sum/sum.cuh": "#include <course/grid.cuh>\nint sum();  // course::Counters are in the check\n",
    "solutions/01-sum/tree.cuh": "#include <course/check.cuh>\n",
    "chapters/01-sum/checks/fits.cuh": "#include <course/grid.cuh>\nbool fits(const course::Counters& counters);\n",
    "chapters/01-sum/checks/tree.cu": '#include "tree.cuh"\n#include <course/check.cuh>\n#include "checks/fits.cuh"\ncourse::Counters counters;\n',
}
PROBLEM = "chapters/01-sum/checks/fits.cuh: names course::Counters, and includes no header that has it"


class MissingIncludes(InFolder):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            self.write(name, text)

    def test_a_header_of_a_check_without_its_own_include(self):
        self.assertEqual(missing_includes.problems_of(self.folder), [PROBLEM])

    def test_an_include_of_an_include_is_enough(self):
        fits = FILES["chapters/01-sum/checks/fits.cuh"]
        self.write("chapters/01-sum/checks/fits.cuh", fits.replace("grid", "check"))
        self.assertEqual(missing_includes.problems_of(self.folder), [])

    def test_a_check_does_not_live_on_what_the_answer_includes(self):
        self.write("chapters/01-sum/checks/tree.cu", '#include "tree.cuh"\ncourse::Counters counters;\n')
        self.assertEqual(missing_includes.problems_of(self.folder),
                         [PROBLEM, PROBLEM.replace("fits.cuh", "tree.cu")])


if __name__ == "__main__":
    unittest.main()
