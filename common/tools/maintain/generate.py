"""All generated texts of the course: who makes them, in the order of the folders."""

from tools.lib import chapter as metadata
from tools.lib import repository
from tools.lib.chapter_results import chapters_of
from tools.lib.documents import Document
from tools.maintain import beside_sanitizer, examples, program_table, programs_tried, promises, simt_readme
from tools.measure import documents as measured
from tools.run import documents as runs
from tools.trace.run_recorded import drawn_from, needs_cpu_device
from tools.verdicts import messages
from tools.verdicts import pages as verdicts


def makers(top, chapters, build=None, drawn=None):
    """Functions that return Documents: of these chapters, or, without any, of all chapters and of the course.

    With a `build` for the CPU device also of what its programs draw, count and say; where the chapters `drawn` are given, they
    alone draw and count.
    """
    found = []
    for chapter in chapters or chapters_of(top):
        found += measured.of_chapter(chapter)
        if build and (drawn is None or chapter in drawn):
            found += [*measured.of_build(chapter, build), lambda chapter=chapter: pictures(chapter, build)]
    if chapters:
        return found
    of_sources = (
        repository.documents, examples.documents, program_table.documents, programs_tried.documents, beside_sanitizer.documents,
        promises.documents, runs.documents, simt_readme.documents, verdicts.documents,
    )  # fmt: skip
    of_tests = [lambda: messages.documents(top, build)] if build else []
    return [*found, *measured.of_course(top), *(lambda make=make: make(top) for make in of_sources), *of_tests]


def pictures(chapter, build):
    """A Document for each [[picture]] of a chapter."""
    entries = metadata.load(chapter).pictures
    if entries:
        needs_cpu_device(build)
    return [
        Document(chapter / "pictures" / entry["output"], "what a program of the chapter does, or draws",
                 lambda _, entry=entry: drawn_from(entry, chapter, build))
        for entry in entries
    ]  # fmt: skip
