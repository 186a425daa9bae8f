"""Of which chapters the gate draws and counts again: those whose files are not the recorded ones, and some in turn."""

import json
import unittest
from unittest import mock

from tools.lib.chapter_results import CPU, SECTORS, file_of
from tools.maintain import drawn
from tools.maintain.generate import makers
from tools.tests.sample_course import Course
from tools.verdicts import due

READS = ()


class Drawn(unittest.TestCase):
    """Two chapters with a picture each, of which the first also counts sectors; both are recorded."""

    def setUp(self):
        self.enterContext(mock.patch("tools.verdicts.due.find_compiler", lambda *_: "clang\n16\n/usr/bin/clang++-16"))
        self.course = Course(self)
        self.top = self.course.top
        picture = {"output": "p.svg", "program": "selfcheck", "arguments": ["x"], "kernel": "k", "question": "q?", "alt": "a"}
        self.chapters = [self.course.chapter(name, pictures=[picture]) for name in ("01-x", "02-y")]
        for chapter in self.chapters:
            self.write(chapter / "selfcheck.cu", "int x;\n")
            self.write(chapter / "pictures" / "p.svg", "<svg/>\n")
        self.write(file_of(self.chapters[0], CPU, SECTORS), "{}\n")
        self.write(self.top / "common/tools/trace/run_recorded.py", "from tools.trace import canvas\n")
        self.write(self.top / "common/tools/trace/canvas.py", "")
        self.turns = self.enterContext(mock.patch("tools.verdicts.due.in_turn", return_value=[]))
        drawn.record(self.top)

    def write(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        due.digest_of_file.cache_clear()
        due.of_everything.cache_clear()

    def due(self):
        return [chapter.name for chapter in drawn.due_chapters(self.top)]

    def test_what_a_picture_depends_on(self):
        self.assertEqual(self.due(), [])
        both = ["01-x", "02-y"]
        for file, chapters in {
            "chapters/01-x/selfcheck.cu": ["01-x"],
            "chapters/02-y/chapter.toml": ["02-y"],
            "chapters/02-y/pictures/p.svg": ["02-y"],
            f"{file_of(self.chapters[0], CPU, SECTORS).relative_to(self.top)}": ["01-x"],
            "common/tools/trace/run_recorded.py": both,
            "common/tools/trace/canvas.py": both,
            "common/simt/src/new.cpp": both,
            "common/tools/trace/other.py": [],
            "chapters/01-x/README.md": [],
            "chapters/01-x/checks/a.cu": [],
        }.items():
            with self.subTest(file):
                path = self.top / file
                old = path.read_text() if path.exists() else None
                self.write(path, (old or "") + "# another\n")
                self.assertEqual(self.due(), chapters)
                path.unlink() if old is None else self.write(path, old)
        self.assertEqual(self.due(), [])

    def test_every_chapter_has_its_turn(self):
        self.turns.side_effect = lambda _, chapters: chapters[1:]
        self.assertEqual(self.due(), ["02-y"])

    def test_the_programs_of_chapters_that_are_due(self):
        build = self.top / "build"
        names = ["ladder", "selfcheck", "races", "selfcheck-solution"]
        targets = [{"type": "executable", "filename": [f"{build}/chapters/{chapter}/deep/{name}"]} for chapter in ("01-x", "02-y") for name in names]
        self.write(build / "meson-info" / "intro-targets.json", json.dumps(targets))
        with mock.patch("tools.maintain.drawn.of_cpu", lambda chapter, _: chapter.name == "01-x"):
            self.assertEqual(drawn.programs(self.chapters, build), [f"chapters/01-x/deep/{name}" for name in names[:2]] + ["chapters/02-y/deep/selfcheck"])
            self.assertEqual(drawn.programs(self.chapters[1:], build), ["chapters/02-y/deep/selfcheck"])

    def test_chapters_that_are_not_due_draw_nothing(self):
        with mock.patch("tools.maintain.generate.pictures") as pictures, mock.patch("tools.maintain.generate.measured") as measured:
            measured.of_chapter.return_value = measured.of_build.return_value = []
            for wanted, drawing in ((None, ["01-x", "02-y"]), (self.chapters[1:], ["02-y"]), ([], [])):
                pictures.reset_mock()
                for make in makers(self.top, self.chapters, self.top / "build", wanted):
                    make()
                self.assertEqual([call.args[0].name for call in pictures.call_args_list], drawing)


if __name__ == "__main__":
    unittest.main()
