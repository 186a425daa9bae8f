"""Of which chapters the gate draws the pictures, and counts the sectors, again.

What the programs of a chapter draw and count follows from the content of some files: the sources of its lessons, what all
verdicts depend on, and the modules that draw and count. RECORD keeps a digest of them and of what was drawn, as it was when
`common/dev generate --build` had brought all texts into step. Where the digest is another one, the chapter is due. So are a
part of the others, which one by the number of commits.
"""

import tomllib
from pathlib import Path

from tools.lib import chapter as metadata
from tools.lib.chapter_results import CPU, SECTORS, chapters_of, file_of, of_cpu
from tools.measure import sectors
from tools.trace import run_recorded
from tools.verdicts import due, passed

RECORD = Path("common/tests/results/drawn.toml")
MAKERS = (run_recorded, sectors)  # they run the programs


def content(top, chapter):
    """The digest of what the pictures and counts of a chapter depend on, and of them."""
    made = [*(chapter / "pictures").glob("*.svg"), file_of(chapter, CPU, SECTORS)]
    modules = [top / "common" / f"{maker.__name__.replace('.', '/')}.py" for maker in MAKERS]
    files = {*modules, *passed.modules(top / "common", [file for file in modules if file.is_file()])}
    return due.digest(top, [*made, *files], due.content_of_lessons(top, chapter.name))


def recorded(top):
    """{the name of a chapter: its digest when its texts were in step with a build}"""
    file = top / RECORD
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def due_chapters(top):
    """The folders of the chapters that are due."""
    known, every = recorded(top), chapters_of(top)
    in_turn = due.in_turn(top, every)
    return [chapter for chapter in every if chapter in in_turn or known.get(chapter.name) != content(top, chapter)]


def record(top):
    """Keeps the digests of all chapters, whose texts are in step with a build."""
    lines = [f'{chapter.name} = "{content(top, chapter)}"' for chapter in chapters_of(top)]
    (top / RECORD).parent.mkdir(parents=True, exist_ok=True)
    (top / RECORD).write_text("\n".join([
        "# The chapters whose pictures and counts are those of a build, each with the digest of what they depend on:",
        "# `common/dev generate --build` writes it.",
        *lines, "",
    ]), encoding="utf-8")


def programs(chapters, build):
    """The files that a build makes of the programs that draw, or count, for these chapters: what to ask Ninja for."""
    wanted = {}
    for chapter in chapters:
        counted = ["ladder"] if of_cpu(chapter, SECTORS) else []
        wanted[chapter.name] = {*counted, *(entry["program"] for entry in metadata.load(chapter).pictures)}
    files = [Path(target["filename"][0]) for target in run_recorded.introspected(build, "targets") if target["type"] == "executable"]
    inside = [file.relative_to(build) for file in files]
    return [str(file) for file in inside if file.parts[0] == "chapters" and file.name in wanted.get(file.parts[1], ())]
