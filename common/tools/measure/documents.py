"""What is written from the chapters' results and sources, as Documents: tables, plots, pages, the front page."""

import sys

from tools.lib import chapter as metadata
from tools.lib.chapter_results import (
    CPU, PROFILE, SECTORS, beside, chapters_of, file_name, file_of, measured, of_cpu, of_gpu, of_machine, read, slug,
)  # fmt: skip
from tools.lib.documents import Document, data, section
from tools.lib.failed import Failed
from tools.measure import (
    drawings, front_page, headline, ladder_profile, languages, lesson, plot_svg, plots, profile_rows, prose_numbers, results_table, sectors, way,
)  # fmt: skip


class Plot(Document):
    """A plot as plot_svg.py describes it. Whether it is in step can be told without matplotlib."""

    def __init__(self, file, description):
        super().__init__(file, "a plot of the results", None)
        self.description = description

    def problem(self):
        return plot_svg.problem(self.file, self.description)

    def expected(self):
        if self.problem() is None:
            return self.found()
        try:
            return plot_svg.draw(self.description)
        except ImportError as error:
            raise Failed(
                f"it {self.problem()}, and {sys.executable} has no matplotlib to draw it ({error}); "
                "common/tools/setup.sh --contributor installs it for the system's python3"
            ) from error


class WayDrawing(Document):
    """The drawing of a way, with what it shows as way.Way.description() says it."""

    def __init__(self, file, found, words):
        super().__init__(file, "a drawing that is computed from the results", lambda _: way.drawn(found, found.alt(words)))
        self.description = found.description()


class Lesson(Document):
    """The generated lines of a chapter's page, in the language `words`. What has not been measured is left out."""

    def __init__(self, file, chapter, words):
        super().__init__(file, "kernels, costs, cards and times of the page, from the sources and the results", None)
        self.chapter = chapter
        self.words = words

    def expected(self):
        self.left_out = []
        # First the numbers: the time to read a page, which its opening has, counts words.
        text = prose_numbers.with_numbers(self.chapter.parents[1], self.file, self.chapter, self.found(), self.left_out)
        return lesson.with_generated(self.chapter, text, self.left_out, self.words)


class Numbers(Document):
    """The measured numbers in the sentences of a page that belongs to no chapter. What has not been measured is left out."""

    def __init__(self, top, file):
        super().__init__(file, "measured numbers in the page's sentences", None)
        self.top = top

    def expected(self):
        self.left_out = []
        return prose_numbers.with_numbers(self.top, self.file, None, self.found(), self.left_out)


def of_chapter(chapter):
    """The Documents of one chapter, as functions that return them."""
    readme, profiling = chapter / "README.md", chapter.parents[1] / "common" / "docs" / "profiling.md"

    def results_files():
        files = sorted((chapter / "results").glob("*.json"))
        return [data(file, "results, with one row per line", lambda file=file: read(file)) for file in files]

    def table():
        results = of_gpu(chapter)
        if results is None:
            return []
        about = metadata.load(chapter)
        what = "the table of the ladder's results"
        others = [
            section(readme, f"results {slug(machine['device'])}", f"{what} on another machine",
                    results_table.render(of_machine(chapter, machine), machine, with_legend=False))
            for machine in about.machines
        ]  # fmt: skip
        loaded = headline.load(chapter) if about.headline else None
        there = [headline.elsewhere(chapter, device, loaded[1]) for device in beside(chapter.parents[1])] if loaded else []
        return [section(readme, "results", what, results_table.render(results, about.headline, elsewhere=filter(None, there))), *others]

    def pictures():
        described = plot_descriptions(chapter)
        drawn = list(drawings.of_chapter(chapter).values())
        for file in sorted((chapter / "results").glob("*.svg")):
            if file.name not in described and file not in [drawing.file for drawing in drawn]:
                raise Failed(f"{file}: no plot of this name is drawn from the results: delete it")
        found = [Document(drawing.file, "a drawing that is computed from the results", lambda _, text=drawing.text: text) for drawing in drawn]
        found += [Plot(chapter / "results" / name, description) for name, description in described.items()]
        loaded = headline.load(chapter)
        what = "the plots of the ladder, with what they show in words"
        return [*found, section(readme, "ladder", what, plots.embedded(loaded[0], described))] if loaded else []

    def counts():
        cpu = of_cpu(chapter, SECTORS)
        gpu = of_gpu(chapter, SECTORS)
        if cpu is None:
            return []
        if gpu and gpu["n"] != cpu["n"]:
            raise Failed(f"{chapter / 'results' / file_name(gpu['device'], SECTORS)}: n is {gpu['n']}, and {cpu['n']} of the CPU device")
        return [section(readme, "sectors", "what the CPU device and ncu count", sectors.table(cpu, gpu))]

    def profile():
        plan = metadata.load(chapter).profile
        if not plan:
            return []
        text = ladder_profile.section(chapter.name, plan, of_gpu(chapter, PROFILE))
        return [section(profiling, f"profile {chapter.name}", "what ncu counted for the chapter's rungs", text)]

    def lines():
        text = readme.read_text(encoding="utf-8")
        is_lesson = lesson.has_markers(text) or prose_numbers.has_markers(text) or metadata.load(chapter).drawings
        return [Lesson(readme, chapter, languages.English(chapter.parents[1]))] if is_lesson else []

    def lines_in_chinese():
        page = chapter / languages.Chinese.page
        return [Lesson(page, chapter, languages.Chinese(chapter.parents[1]))] if page.exists() else []

    def profile_lines():
        return [
            Document(file, "rows of the profile, for the check of an exercise that asks to read it",
                     lambda text, file=file: profile_rows.with_generated(chapter, file, text))
            for file in profile_rows.sources_of(chapter)
        ]  # fmt: skip

    return [results_files, table, pictures, counts, profile, lines, lines_in_chinese, profile_lines]


def plot_descriptions(chapter):
    """{file name: description} of a chapter's plots, those of other machines too; {} if the chapter has no headline."""
    loaded, about = headline.load(chapter), metadata.load(chapter)
    described = plots.descriptions(*loaded, about.curves) if loaded else {}
    for machine in about.machines:
        described |= plots.curves(of_machine(chapter, machine), about.curves)
    return described


def of_build(chapter, build):
    """The same of what a build for the CPU device counts anew."""

    def counts():
        kept = of_cpu(chapter, SECTORS)
        if kept is None:
            return []
        what = "what the CPU device counts for the table of sectors"
        return [data(file_of(chapter, CPU, SECTORS), what, lambda: sectors.counted(str(ladder_of(build, chapter)), kept["n"]))]

    return [counts]


def ladder_of(build, chapter):
    """The program of a chapter's ladder in a build folder of the course, or of the chapter alone."""
    candidates = [build / "chapters" / chapter.name / "ladder", build / "ladder"]
    return next((file for file in candidates if file.exists()), candidates[0])


def of_course(top):
    """The same of all chapters together: the front page, the page of results, the syllabus."""
    readme = top / "README.md"
    english = languages.English(top)

    def front():
        text, description = front_page.results_part(top)
        page = section(top / "common" / "docs" / "results.md", "front", "the best rung of each chapter against the library", text)
        return [page] + ([Plot(top / front_page.PLOT, description)] if description else [])

    def drawing():
        """The drawing of the front page."""
        declared = measured(top).get("way")
        if not declared:
            return []
        return [WayDrawing(top / way.FILE, way.Way(top, declared), english)]

    def parts(page, words):
        """The parts of a front page."""
        declared, entries = measured(top).get("way"), measured(top).get("shown")
        its_way = [section(page, "way", "the way of the sum in one drawing", way.part(way.Way(top, declared), words))] if declared else []
        shown = [section(page, "shown", "where some ladders start and end", front_page.shown_part(top, entries, words))] if entries else []
        return [
            *its_way,
            *shown,
            section(page, "size", "how many hours and exercises the course has", front_page.size_part(top, words)),
            section(page, "map", "the map of chapters", front_page.map_part(top, words)),
        ]

    def in_english():
        return parts(readme, english)

    def in_chinese():
        page = top / languages.Chinese.page
        return parts(page, languages.Chinese(top)) if page.exists() else []

    def syllabus():
        page = top / "common" / "docs" / "instructors.md"
        return [Document(page, "the hours of the syllabus", lambda text: front_page.with_hours(top, text))] if page.exists() else []

    def numbers():
        pages = [*sorted(top.glob("README*.md")), *sorted((top / "common" / "docs").glob("*.md"))]
        return [Numbers(top, page) for page in pages if prose_numbers.has_markers(page.read_text(encoding="utf-8"))]

    return [front, drawing, in_english, syllabus, in_chinese, numbers]


def of_checkout(top):
    """The Documents of all chapters, and those of all chapters together."""
    return [*(maker for chapter in chapters_of(top) for maker in of_chapter(chapter)), *of_course(top)]
