"""Of which exercises the gate has to prove the solution and the variants again, and of which chapters the lessons.

A verdict follows from the content of some files: the check, the answer, the headers that they reach, the CPU device, the
compiler. `common/dev verdicts record` keeps a digest of them beside the verdicts of each exercise, and one of the files of each
chapter's lessons. Where the digest is another one, all tests of the exercise, or of the lessons, are due. So are those of a part
of the other exercises and chapters, which one by the number of commits.
"""

import hashlib
import json
import re
import subprocess
from functools import cache

from build.compiler.choosing import find_compiler
from tools.lib import chapter as chapters
from tools.lib import includes
from tools.lib.chapter_results import CPU, VERDICTS, file_of

TURNS = 12  # of as many commits, one after the other, each has another part
# What all verdicts depend on, and what none does.
SHARED = ("common/build", "common/include", "common/simt", "common/src", "common/tools/check")
OF_LIB = ("checkout", "cpp_text", "failed", "includes", "result")
OF_OWN_PROGRAMS = "common/src/own_program.cpp"  # linked with what `./course run` makes, and with no check or lesson
FRONT_END = "common/build/compiler/front_end.py"  # reads what a learner writes: no lesson, solution or variant of one
TEXTS = re.compile(r"\.md$|/(tests|bench|__pycache__)/")
LESSONS = "lessons"  # their name beside those of the exercises
NOT_OF_LESSONS = ("common", "checks", "mistakes", "alternatives", "hints", "results", "pictures", "scores")  # a chapter's other folders


@cache
def digest_of_file(file):
    """Of its content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def digest(top, files, *texts):
    """16 hexadecimal digits, of these texts and of the names and contents of the files, of which some need not exist."""
    parts = [*texts, *(f"{file.relative_to(top)} {digest_of_file(file)}" for file in sorted(set(files)) if file.is_file())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def files_of_everything(top):
    """What all verdicts depend on."""
    files = [file for folder in SHARED for file in (top / folder).rglob("*")]
    files += [top / "common" / "tools" / "lib" / f"{name}.py" for name in OF_LIB]
    return [file for file in files if not TEXTS.search(f"{file.relative_to(top)}")]


@cache
def of_everything(top):
    """The digest of what all verdicts depend on."""
    files = set(files_of_everything(top)) - {top / OF_OWN_PROGRAMS, top / FRONT_END}
    return digest(top, files, *find_compiler("", ["c++"]).splitlines()[:2])


def variants_of(top, chapter, exercise):
    """The files of an exercise's known-wrong answers and of its other right ones."""
    folder = top / "chapters" / chapter
    return [file for kind in ("mistakes", "alternatives") for file in sorted((folder / kind / exercise).glob("*.diff"))]


def files_of(top, chapter, exercise):
    """The files that the verdicts of one exercise depend on."""
    folder = top / "chapters" / chapter
    own = [top / kind / chapter / f"{exercise}.cuh" for kind in ("exercises", "solutions")]
    own.append(folder / "checks" / f"{exercise}.cu")
    places = (folder, folder / "checks", own[1].parent)
    reached = {header.resolve() for file in own if file.is_file() for header in includes.reached(file, places)}
    return [*own, *variants_of(top, chapter, exercise), *reached]


def content(top, chapter, exercise):
    """The digest of what the verdicts of an exercise depend on."""
    return digest(top, files_of(top, chapter, exercise), of_everything(top))


def content_of_lessons(top, chapter):
    """The digest of what the tests of a chapter's lessons depend on."""
    folder = top / "chapters" / chapter
    found = [file for file in folder.rglob("*") if file.relative_to(folder).parts[0] not in NOT_OF_LESSONS]
    own = [file for file in found if file.is_file() and not TEXTS.search(f"{file.relative_to(top)}")]
    reached = {header.resolve() for file in own for header in includes.reached(file, (folder, file.parent))}
    return digest(top, [*own, *reached], of_everything(top))


def exercises(top):
    """(chapter, exercise) of all, in order."""
    found = [(folder, chapters.read(folder)) for folder in sorted((top / "chapters").glob("[0-9][0-9]-*"))]
    return [(folder.name, exercise) for folder, chapter in found for exercise in chapter.exercises]


def recorded(top):
    """{(chapter, exercise): the digest that its verdicts were recorded with}, and LESSONS among the exercises of each chapter."""
    files = {folder.name: file_of(folder, CPU, VERDICTS) for folder in (top / "chapters").glob("[0-9][0-9]-*")}
    kept = {chapter: json.loads(file.read_text(encoding="utf-8")) for chapter, file in files.items() if file.exists()}
    return {(chapter, name): digest for chapter, file in kept.items() for name, digest in file.get("content", {}).items()}


def changed(top):
    """The exercises whose content is not the recorded one."""
    known = recorded(top)
    return [exercise for chapter, exercise in exercises(top) if known.get((chapter, exercise)) != content(top, chapter, exercise)]


def changed_lessons(top):
    """The chapters of whose lessons the content is not the recorded one."""
    known = recorded(top)
    every = sorted(folder.name for folder in (top / "chapters").glob("[0-9][0-9]-*"))
    return [chapter for chapter in every if known.get((chapter, LESSONS)) != content_of_lessons(top, chapter)]


def in_turn(top, names):
    """Those of the names whose turn it is at this commit: the commits are counted."""
    commits = subprocess.run(["git", "-C", top, "rev-list", "--count", "HEAD"], capture_output=True, text=True, check=True)
    return [name for index, name in enumerate(names) if index % TURNS == int(commits.stdout) % TURNS]


def shown(top):
    """The exercises of which a page shows the message of a variant: it is compared with that of a run."""
    pages = [file for pattern in ("*.md", "chapters/*/*.md", "common/docs/*.md") for file in top.glob(pattern)]
    marker = re.compile(r"<!-- message (\w+)-(?:mistake|alternative)-")
    return [exercise for page in pages for exercise in marker.findall(page.read_text(encoding="utf-8"))]


def names(top, wants_all):
    """The names of the exercises that are due, in the order of the course."""
    every = [exercise for _, exercise in exercises(top)]
    chosen = {*changed(top), *in_turn(top, every), *shown(top)}
    return [exercise for exercise in every if wants_all or exercise in chosen]


def in_build(build):
    """{chapter: {suite: the names of its tests}}, as Meson lists those of a build folder."""
    file = build / "meson-info" / "intro-tests.json"
    found = {}
    for test in json.loads(file.read_text(encoding="utf-8")) if file.exists() else []:
        for project, _, suite in (name.rpartition(":") for name in test["suite"]):
            found.setdefault(project, {}).setdefault(suite, []).append(test["name"])
    return found


def tests(top, build, wants_all):
    """(those that are due, the others) of the build's tests of lessons and solutions, on one device and on several."""
    every = {chapter: suites for chapter, suites in in_build(build).items() if chapter[:2].isdigit()}
    of_exercises = {f"{exercise}-solution" for exercise in names(top, wants_all)}
    of_chapters = {*every} if wants_all else {*changed_lessons(top), *in_turn(top, sorted(every))}
    chosen, left_out = [], []
    for chapter, suites in every.items():
        for name in (name for suite in ("lessons", "solutions", "devices") for name in suites.get(suite, [])):
            solution = re.match(r"\w+-solution\b", name)
            is_due = solution[0] in of_exercises if solution else chapter in of_chapters
            (chosen if is_due else left_out).append(name)
    return chosen, left_out
