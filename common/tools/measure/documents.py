"""All that is written from the chapters' results and sources: tables, plots, pages, the front page; and whether it is in step.

A document's generated part is between <!-- NAME:begin --> and <!-- NAME:end -->. The files of results have one
row per line (tools/lib/compact_json.py).
"""

import sys
from collections import namedtuple

from tools.lib import chapter as metadata
from tools.lib import compact_json, markers
from tools.lib.failed import Failed
from tools.maintain import verdicts
from tools.measure import (
    drawings, front_page, headline, ladder_profile, languages, lesson, plot_svg, plots, profile_rows, results_table, sectors,
)  # fmt: skip
from tools.measure.results import (
    CPU, PROFILE, SECTORS, chapters_of, file_name, measured, of_cpu, of_gpu, of_machine, read, slug,
)  # fmt: skip

COMMAND = "common/tools/measure/measure.py render"
# The Markdown between the markers `name` of a file.
Section = namedtuple("Section", "file name text")
# The generated lines of a chapter's lesson, in the language `words`.
Lesson = namedtuple("Lesson", "file chapter words")
# A page for instructors with the hours of chapters.
Syllabus = namedtuple("Syllabus", "file top")
# The rows of a profile in a header of a chapter's checks.
ProfileRows = namedtuple("ProfileRows", "file chapter")
# A plot and what it shows, as plot_svg.py describes it.
Plot = namedtuple("Plot", "file description")
# A file of results.
Data = namedtuple("Data", "file")


# ---- what there is -------------------------------------------------------------------------------


def of_chapter(chapter):
    """The documents of one chapter. Each is a function, so that one that fails hides no other."""
    readme, profiling = chapter / "README.md", chapter.parents[1] / "common" / "docs" / "profiling.md"

    def data():
        return [Data(file) for file in sorted((chapter / "results").glob("*.json"))]

    def table():
        results = of_gpu(chapter)
        if results is None:
            return []
        about = metadata.load(chapter)
        others = [
            Section(readme, f"results {slug(machine['device'])}",
                    results_table.render(of_machine(chapter, machine), machine, with_legend=False))
            for machine in about.machines
        ]  # fmt: skip
        return [Section(readme, "results", results_table.render(results, about.headline)), *others]

    def pictures():
        loaded = headline.load(chapter)
        described = plots.descriptions(*loaded) if loaded else {}
        for machine in metadata.load(chapter).machines:
            described |= plots.curves(of_machine(chapter, machine))
        drawn = list(drawings.of_chapter(chapter).values())
        for file in sorted((chapter / "results").glob("*.svg")):
            if file.name not in described and file not in [drawing.file for drawing in drawn]:
                raise Failed(f"{file}: no plot of this name is drawn from the results: delete it")
        found = drawn + [Plot(chapter / "results" / name, description) for name, description in described.items()]
        return [*found, Section(readme, "ladder", plots.embedded(loaded[0], described))] if loaded else []

    def counts():
        cpu = of_cpu(chapter, SECTORS)
        gpu = of_gpu(chapter, SECTORS)
        if cpu is None:
            return []
        if gpu and gpu["n"] != cpu["n"]:
            raise Failed(f"{chapter / 'results' / file_name(gpu['device'], SECTORS)}: n is {gpu['n']}, and {cpu['n']} of the CPU device")
        return [Section(readme, "sectors", sectors.table(cpu, gpu))]

    def profile():
        plan = metadata.load(chapter).profile
        if not plan:
            return []
        return [Section(profiling, f"profile {chapter.name}", ladder_profile.section(chapter.name, plan, of_gpu(chapter, PROFILE)))]

    def lines():
        is_lesson = lesson.has_markers(readme.read_text(encoding="utf-8")) or metadata.load(chapter).drawings
        return [Lesson(readme, chapter, languages.English(chapter.parents[1]))] if is_lesson else []

    def lines_in_chinese():
        page = chapter / languages.Chinese.page
        return [Lesson(page, chapter, languages.Chinese(chapter.parents[1]))] if page.exists() else []

    def profile_lines():
        return [ProfileRows(file, chapter) for file in profile_rows.headers_of(chapter)]

    return [data, table, pictures, counts, profile, lines, lines_in_chinese, profile_lines]


def of_course(top):
    """The documents of all chapters together: the front page, the syllabus, and the verdicts' tally."""
    readme = top / "README.md"
    english = languages.English(top)

    def front():
        text, description = front_page.results_part(top)
        page = Section(top / "common" / "docs" / "results.md", "front", text)
        return [page] + ([Plot(top / front_page.PLOT, description)] if description else [])

    def shown():
        entries = measured(top).get("shown")
        return [Section(readme, "shown", front_page.shown_part(top, entries, english))] if entries else []

    def course_map():
        return [Section(readme, "map", front_page.map_part(top, english))]

    def size():
        return [Section(readme, "size", front_page.size_part(top, english))]

    def syllabus():
        page = top / "common" / "docs" / "instructors.md"
        return [Syllabus(page, top)] if page.exists() else []

    def in_chinese():
        page = top / languages.Chinese.page
        if not page.exists():
            return []
        words = languages.Chinese(top)
        return [
            Section(page, "shown", front_page.shown_part(top, measured(top)["shown"], words)),
            Section(page, "size", front_page.size_part(top, words)), Section(page, "map", front_page.map_part(top, words)),
        ]

    def tally():
        return [Section(top / "common" / "docs" / "verdicts.md", "verdicts", verdicts.tally(top))]

    return [front, shown, course_map, size, syllabus, in_chinese, tally]


def documents(top, chapters):
    """All documents of these chapters (of all, and the course's own, without any), and what is wrong with the rest."""
    found, problems = [], []
    makers = [maker for chapter in chapters or chapters_of(top) for maker in of_chapter(chapter)]
    for make in makers if chapters else [*makers, *of_course(top)]:
        try:
            found += make()
        except Failed as failed:
            problems.append(str(failed))
    return found, problems


# ---- render --------------------------------------------------------------------------------------


def draw(plot):
    """Draws a plot that is out of step; Failed without matplotlib."""
    problem = plot_svg.problem(plot.file, plot.description)
    if problem is None:
        return
    try:
        text = plot_svg.draw(plot.description)
    except ImportError as error:
        raise Failed(
            f"{plot.file} {problem}, and {sys.executable} has no matplotlib to draw it ({error}); "
            "common/tools/setup.sh --contributor installs it for the system's python3"
        ) from error
    plot.file.parent.mkdir(parents=True, exist_ok=True)
    plot.file.write_text(text, encoding="utf-8")


def with_generated(document, problems):
    """The text of a document's file as it is, and with its generated part as it should be; `problems` gets what has not been measured."""
    text = document.file.read_text(encoding="utf-8")
    try:
        if isinstance(document, Lesson):
            return text, lesson.with_generated(document.chapter, text, problems, document.words)
        if isinstance(document, Syllabus):
            return text, front_page.with_hours(document.top, text)
        if isinstance(document, ProfileRows):
            return text, profile_rows.with_generated(document.chapter, document.file, text)
        return text, markers.replaced(document.file, text, document.name, document.text)
    except ValueError as error:
        raise Failed(str(error)) from error


def write(document, problems):
    """Brings one document into step; `problems` gets what has not been measured."""
    if isinstance(document, Plot):
        draw(document)
    elif isinstance(document, Data):
        compact_json.write(document.file, read(document.file))
    elif isinstance(document, drawings.Drawing):
        document.file.write_text(document.text, encoding="utf-8")
    else:
        text, new = with_generated(document, problems)
        if new != text:
            document.file.write_text(new, encoding="utf-8")


def render(top, chapters):
    """Writes all documents; Failed, with every problem, if something could not be written."""
    found, problems = documents(top, chapters)
    for document in found:
        try:
            write(document, problems)
        except (Failed, OSError) as failed:
            problems.append(str(failed))
    if problems:
        raise Failed("\n".join(problems))


# ---- check ---------------------------------------------------------------------------------------


def problem_of(top, document, problems):
    """What is out of step with a document, or None; `problems` gets what has not been measured."""
    name = document.file.relative_to(top)
    if isinstance(document, Plot):
        problem = plot_svg.problem(document.file, document.description)
        return f"{name} {problem}" if problem else None
    if isinstance(document, Data):
        same = document.file.read_text(encoding="utf-8") == compact_json.text_of(read(document.file))
        return None if same else f"{name} does not have one row per line"
    if isinstance(document, drawings.Drawing):
        there = document.file.read_text(encoding="utf-8") if document.file.exists() else None
        return None if there == document.text else f"{name} is {'missing' if there is None else 'out of step with the results'}"
    text, new = with_generated(document, problems)
    if text == new:
        return None
    if isinstance(document, Lesson):
        return f"{name} is out of step with the sources or the results: {lesson.first_difference(text, new)}"
    if isinstance(document, ProfileRows):
        return f"{name} is out of step with the profile: // rows"
    if isinstance(document, Syllabus):
        return f"{name} has other hours than the chapters"
    return f"{name} is out of step with the results: <!-- {document.name}:begin -->"


def check(top, chapters, build=None):
    """Compares all documents, and with a `build` for the CPU device its counts; Failed if something is out of step."""
    found, problems = documents(top, chapters)
    out_of_step = []
    for document in found:
        try:
            out_of_step.append(problem_of(top, document, problems))
        except (Failed, OSError) as failed:
            problems.append(str(failed))
    out_of_step = [problem for problem in out_of_step if problem]
    if out_of_step:
        problems += [*out_of_step, f"run: {COMMAND}"]
    if build:
        problems += wrong_counts(chapters or chapters_of(top), build)
    if problems:
        raise Failed("\n".join(problems))
    return len(found)


# ---- counts of the CPU device --------------------------------------------------------------------


def ladder_of(build, chapter):
    """The program of a chapter's ladder in a build folder of the course, or of the chapter alone."""
    candidates = [build / "chapters" / chapter.name / "ladder", build / "ladder"]
    return next((file for file in candidates if file.exists()), candidates[0])


def wrong_counts(chapters, build):
    """What the CPU device counts otherwise than the results say."""
    problems = []
    for chapter in chapters:
        kept = of_cpu(chapter, SECTORS)
        if kept is None:
            continue
        now = sectors.counted(str(ladder_of(build, chapter)), kept["n"])
        rungs = {rung["name"]: rung for rung in kept["rungs"]}
        changed = [rung["name"] for rung in now["rungs"] if rung != rungs.get(rung["name"])]
        changed += sorted(rungs.keys() - {rung["name"] for rung in now["rungs"]})
        if changed:
            again = f"common/tools/measure/measure.py import --build {build}"
            file = chapter / "results" / file_name(CPU, SECTORS)
            problems.append(f"{file}: the CPU device counts otherwise: {', '.join(changed)}; if that is right: {again}")
    return problems
