"""Pages in Chinese: what tools write into them, and when they are out of date."""

import datetime
import unittest

from tools.lib import chapter as metadata
from tools.lib.chapter_results import chapters_of, measured
from tools.lib.checkout import TOP
from tools.lib.documents import gathered
from tools.lib.failed import Failed
from tools.maintain import translations
from tools.measure import documents, languages, lesson
from tools.tests.sample_course import Course, row

READS = ("*.md", "chapters", "common/docs", "common/include", "common/simt", "exercises")

TODAY = datetime.date(2026, 1, 2)
ENGLISH = """# One

Text.

<!-- results:begin -->
numbers
<!-- results:end -->

## Two

<!-- kernel k -->
```cuda
old();
```
[k.cuh, line 1](k.cuh#L1)

```sh
make all    # all of it
```

### Three

More.
"""
CHINESE = """# 一

<!-- follows:begin -->
<!-- follows:end -->

## 二

<!-- kernel k -->

```sh
make all    # 全部
```

### 三
"""


class Following(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.readme, self.page = self.course.top / "README.md", self.course.top / "README.zh-CN.md"
        self.readme.write_text(ENGLISH)
        self.page.write_text(CHINESE)

    def problems(self):
        return "\n".join(translations.problems_of_page(self.course.top, self.page))

    def record(self):
        translations.record(self.course.top, self.page, TODAY)

    def edit(self, old, new, file=None):
        file = file or self.readme
        text = file.read_text()
        self.assertEqual(text.count(old), 1)
        file.write_text(text.replace(old, new))

    def test_what_is_recorded_is_in_step(self):
        self.assertIn("does not say which version of README.md it follows", self.problems())
        self.record()
        self.assertEqual(self.problems(), "")
        text = self.page.read_text()
        self.assertIn("2026-01-02", text)
        self.record()
        translations.record(self.course.top, self.page, datetime.date(2027, 1, 1))  # nothing has changed: nor has the date
        self.assertEqual(self.page.read_text(), text)

    def test_a_changed_section_is_named_with_the_command(self):
        self.record()
        self.edit("More.", "More and more.")
        self.assertIn("is out of date: of README.md these sections changed:\n    ### Three\n", self.problems())
        self.assertIn("then run: common/dev translate record README.zh-CN.md", self.problems())
        self.record()
        self.assertEqual(self.problems(), "")

    def test_a_task_or_a_hint_that_has_changed(self):
        file = self.course.top / "hints" / "sum.md"
        file.parent.mkdir()
        for name in ("sum.md", "sum.zh-CN.md"):
            file.with_name(name).write_text("# sum\n\nSum x.\n")
        self.assertIn("does not say", self.problems())
        self.record()
        self.assertEqual(self.problems(), "")
        self.edit("Sum x.", "Sum y.", file)
        self.assertIn("is out of date: of README.md these sections changed:\n    hints/sum.md\n", self.problems())
        file.unlink()
        self.assertIn("    hints/sum.md (gone)\n", self.problems())

    def test_a_card_is_written_by_a_tool(self):
        self.record()
        card = "<!-- exercise sum -->\n"
        self.edit("More.\n", f"More.\n\n{card}### Now you: sum\n<!-- exercise:end -->\n")
        self.assertIn("    ### Three\n", self.problems())
        self.assertIn("the code or the markers are not those", self.problems())
        self.edit("### 三\n", f"### 三\n\n{card}", self.page)
        self.record()
        self.edit("Now you", "And now you")
        self.assertEqual(self.problems(), "")

    def test_a_new_section_and_one_that_is_gone(self):
        self.record()
        self.edit("### Three\n\nMore.", "### Four\n\nMore.")
        self.assertIn("    ### Four\n    ### Three (gone)\n", self.problems())
        self.readme.write_text(ENGLISH + "\n### Five\n")
        self.assertIn("has 3 sections, and README.md 4", self.problems())
        with self.assertRaisesRegex(Failed, "has 3 sections"):
            self.record()

    def test_what_tools_write_and_where_lines_break_does_not_matter(self):
        self.record()
        self.edit("numbers", "other numbers")
        self.edit("old();", "new();")
        self.edit("Text.\n", "\nText.\n\n")
        self.assertEqual(self.problems(), "")

    def test_code_and_headings_are_those_of_the_original(self):
        self.record()
        self.edit("make all", "make none", self.page)
        self.assertIn("under '## 二' the code or the markers are not those of README.md's '## Two'", self.problems())
        self.edit("make none", "make all", self.page)
        self.edit("<!-- kernel k -->", "<!-- kernel l -->", self.page)
        self.assertIn("the code or the markers", self.problems())
        self.edit("<!-- kernel l -->", "<!-- kernel k -->", self.page)
        self.edit("### 三", "## 三", self.page)
        self.assertIn("'## 三' is where README.md has '### Three'", self.problems())

    def test_the_pages_of_this_course_follow_theirs(self):
        if not (TOP / "solutions").is_dir():
            self.skipTest("of a release for learners the sentences that lead to solutions are left out, in each language")
        pages = translations.pages(TOP)
        self.assertIn(TOP / "README.zh-CN.md", pages)
        self.assertEqual(translations.problems_of(TOP), [])


class Sentences(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        file = self.course.top / languages.TEXTS
        file.write_text('"loads" = "加载"\n"plain" = "普通"\n', encoding="utf-8")
        self.words = languages.Chinese(self.course.top)

    def test_each_sentence_of_english_has_a_chinese_one(self):
        sentences = {name for name in vars(languages.English) if not name.startswith("_")} - {"readme_of"}
        self.assertEqual(sentences - set(vars(languages.Chinese)), set())

    def test_times_of_rows(self):
        slow, fast, same = row("slow", "rung", 40.0), row("fast", "rung", 20.0), row("same", "rung", 20.0)
        self.assertEqual(lesson.times_text(fast, slow, self.words), "速度是 `slow` 的 2 倍。")
        self.assertEqual(lesson.times_text(slow, fast, self.words), "耗时是 `fast` 的 2 倍。")
        self.assertEqual(lesson.times_text(fast, same, self.words), "与 `same`（20.0 µs）持平。")
        self.assertEqual(self.words.cost([self.words.took("fast", "20.0", "2^20"), self.words.l2_warm]), "`fast`：n = 2^20 时 **20.0 µs**，L2 热。")
        self.assertEqual(self.words.counted(None, [("loads", "3")]), "ncu：加载 3。")
        self.assertEqual(self.words.time(100), "1 小时 40 分钟")

    def test_a_text_without_chinese_is_an_error(self):
        with self.assertRaisesRegex(Failed, 'zh-CN.toml: has no Chinese for "stores"'):
            self.words.text("stores")

    def test_every_text_of_the_list_is_used(self):
        made, problems = gathered(documents.of_checkout(TOP))
        self.assertEqual(problems, [])
        pages = [document for document in made if isinstance(document, documents.Lesson) and document.words.page == "README.zh-CN.md"]
        self.assertEqual(len(pages), 2)
        unused = set(languages.Chinese(TOP).texts)
        for document in pages:
            document.expected()
            unused &= document.words.unused
        front = languages.Chinese(TOP)
        for folder in chapters_of(TOP):
            front.text(metadata.load(folder).question)
        for entry in measured(TOP)["shown"]:
            front.text(entry["what"])
        for entry in measured(TOP)["way"]["rungs"]:
            front.text(entry["label"])
        # The question of a chapter that is being written may come before the chapter.
        self.assertEqual({text for text in unused & front.unused if not text.endswith("?")}, set())


if __name__ == "__main__":
    unittest.main()
