"""Imports of the tools go downward: every way up or sideways is named."""

import unittest

from tools.lib.checkout import TOP
from tools.maintain import rooms
from tools.tests.in_folder import InFolder

READS = ("common/build", "common/tools")


class Rooms(InFolder):
    def problems(self, name, text):
        """What is wrong with one file, alone."""
        file = self.write(name, text)
        found = rooms.wrong_imports(self.folder)
        file.unlink()
        return found

    def test_downward_is_right(self):
        for text in ("from tools.lib.rows import size\n", "from tools.learn import scores\n", "import json\n", "from tools.check import building\n",
                     "from build import variants\n"):
            with self.subTest(text):
                self.assertEqual(self.problems("tools/learn/a.py", text), [])

    def test_up_and_sideways_are_named(self):
        for name, text, module in (
            ("tools/lib/a.py", "import os\nfrom tools.measure import plots\n", "tools.measure"),
            ("tools/learn/a.py", "\nfrom tools.measure.plots import ladder\n", "tools.measure.plots"),
            ("tools/lib/a.py", "def f():\n    import tools.maintain.lint\n", "tools.maintain.lint"),
            ("tools/lib/a.py", "\nfrom tools import teach\n", "tools.teach"),
            ("build/a.py", "\nfrom tools.check import building\n", "tools.check"),
            ("tools/lib/a.py", "\nfrom build import variants\n", "build"),
        ):
            with self.subTest(module):
                room = "build" if name.startswith("build") else name.split("/")[1]
                self.assertEqual(self.problems(name, text), [f"common/{name}:2: {room} imports {module}, whose room is not in a layer below"])

    def test_a_room_without_a_layer(self):
        self.assertIn("its room cellar is in no layer", self.problems("tools/cellar/a.py", "")[0])

    def test_those_of_the_course(self):
        self.assertEqual(rooms.wrong_imports(TOP / "common"), [])


if __name__ == "__main__":
    unittest.main()
