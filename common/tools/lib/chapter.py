"""chapter.toml: the one list of what a chapter has. Meson's rules and all tools read it through this file.

    question    what the map of chapters shows
    learn       what the lesson's first sentence says after "You will learn"
    before      numbers of the chapters to read first, such as ["01", "03"]
    devices     such as [4, 8]: on the CPU device, lessons and solutions are also tested on machines with this many devices
    exercises   names, in the order of the README; an exercise EX has checks/EX.cu, exercises/NN-topic/EX.cuh,
                solutions/NN-topic/EX.cuh; its wrong answers are mistakes/EX/*.diff, other right ones alternatives/EX/*.diff;
                a challenge also has scores/EX.cu, a ladder that `./course score EX` builds and runs
    core        those of them that the chapter cannot do without, at least one: `./course next --fast` goes through them

    [stars]     how hard each exercise is, from 1 to 5; a time follows from it (MINUTES_OF_STARS)

    [passed.EX] what `./course check EX` says after a pass
    takeaway    the idea of the exercise, in one sentence
    counters    up to three of common/simt/include/simt/counters.def that it is about, with "costs": the answer's are shown
                beside the solution's

    [libraries]
    vendor      libraries of the CUDA toolkit for vendor.cu, such as "cublas": without one its rows are left out
    optional    libraries that lessons use where they are installed, such as "nccl"

    [headline]  what the front page and the plot of the ladder show (tools/measure/headline.py says what the keys mean)
    [[machine]] another machine whose tables and curves the page shows: device, as its file of results names it, and the
                group and the rung of the table that is open, as in [headline]
    [curves.NAME] a curve's plot: the question that it answers, which is its title; what its axes count, with their units: x, and y where
                "GB/s" or "operations per ns" does not say it
    [profile]   what ncu counts: n, rungs, counters (tools/measure/ladder_profile.py)
    [[picture]] a drawing: program, arguments, output, alt. Of what lanes do: kernel, the question that the picture answers,
                which is its title, and what chooses among the kernel's launches, such as launch, block, warp, lines, rows
                (tools/trace/picture.py), and seed, the schedule. all_warps = true draws the whole block, threads = [[0, 0], [1, 0]] two threads by block and number, or several of two blocks
                (elements = ["d_x[1]"] leaves out the accesses to others), whole_cluster = true all blocks of a launch that
                is one cluster, levels_of = "s_x" a shared array from barrier to barrier, in rows of row_length elements, of
                which `columns` are drawn, tiles = 5 what so many tiles of a look-back publish and read. split_words = true
                shows integers of 64 bits that hold two of 32 bits as these two, the lower one above. Without a kernel the
                program draws: one of its arguments is "{picture}", the file to write. shows = [what its description says, in this
                order], for what alt and the page tell of it

    [[drawing]] a drawing that is computed from measured times (tools/measure/drawings.py)

    [[program]] a program of the chapter beyond ladder and self-check:
    name        kernels: sources with kernels; sources: plain C++, if there is any; test: a Python file that tests it.
    needs       what must be installed, such as ["mpi"]; instead: the source that is built where it is not

    [slides]    where the page alone does not choose well (tools/site/slide_choice.py)
    say         {heading = the beginning of the sentence with which the first slide of this section begins}
    leave_out   headings of sections that no slide shows
    pictures    {heading = the file of the picture beside the first text of this section, also one of another chapter}

    [sanitizers]
    racecheck   kernels that are wrong on purpose, which this tool of compute-sanitizer must report
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from tools.lib.failed import Failed


@dataclass(frozen=True)
class Program:
    """A program of a chapter beyond ladder and self-check."""

    name: str
    kernels: list
    test: str
    sources: list = field(default_factory=list)
    needs: list = field(default_factory=list)
    instead: str = ""


@dataclass(frozen=True)
class Chapter:
    """What a chapter.toml says; `headline` and `profile` are None where it has no such table."""

    folder: Path
    question: str
    learn: str
    exercises: list
    stars: dict
    passed: dict = field(default_factory=dict)
    core: list = field(default_factory=list)
    before: list = field(default_factory=list)
    devices: list = field(default_factory=list)
    vendor_libraries: list = field(default_factory=list)
    optional_libraries: list = field(default_factory=list)
    headline: dict | None = None
    machines: list = field(default_factory=list)
    profile: dict | None = None
    curves: dict = field(default_factory=dict)
    pictures: list = field(default_factory=list)
    drawings: list = field(default_factory=list)
    programs: list = field(default_factory=list)
    slides: dict = field(default_factory=dict)
    sanitizers: dict = field(default_factory=dict)

    @property
    def name(self):
        """Such as 01-global-atomic."""
        return self.folder.name

    @property
    def number(self):
        """Such as 01."""
        return self.name.partition("-")[0]

    @property
    def file(self):
        """The chapter.toml."""
        return self.folder / "chapter.toml"

    def minutes(self, exercise):
        """How long an exercise takes, by its stars."""
        return MINUTES_OF_STARS[self.stars[exercise]]

    def check(self, exercise):
        return self.folder / "checks" / f"{exercise}.cu"

    def score(self, exercise):
        """Only a challenge has one."""
        return self.folder / "scores" / f"{exercise}.cu"

    def starter(self, exercise):
        return self._answer("exercises", exercise)

    def solution(self, exercise):
        """May be missing: a release for learners has no solutions."""
        return self._answer("solutions", exercise)

    def mistakes(self, exercise):
        """The .diff files of an exercise's wrong answers."""
        return sorted((self.folder / "mistakes" / exercise).glob("*.diff"))

    def alternatives(self, exercise):
        """The .diff files of an exercise's right answers in other styles."""
        return sorted((self.folder / "alternatives" / exercise).glob("*.diff"))

    def _answer(self, tree, exercise):
        return self.folder.parents[1] / tree / self.name / f"{exercise}.cuh"


PICTURE_FILE = "{picture}"  # among the arguments of a program that draws
MINUTES_OF_STARS = {1: 20, 2: 30, 3: 45, 4: 60, 5: 90}
TEXTS, NUMBERS, TABLES = (list, str), (list, int), (list, dict)  # lists of these
PAIRS = (list, NUMBERS)
# {table: {key: (type, must it be there)}}; "" is the file itself.
KEYS = {
    "": {
        "question": (str, True),
        "learn": (str, True),
        "before": (TEXTS, False),
        "devices": (NUMBERS, False),
        "exercises": (TEXTS, True),
        "core": (TEXTS, False),
        "stars": (dict, False),
        "passed": (dict, False),
        "libraries": (dict, False),
        "headline": (dict, False),
        "machine": (TABLES, False),
        "curves": (dict, False),
        "profile": (dict, False),
        "picture": (TABLES, False),
        "drawing": (TABLES, False),
        "program": (TABLES, False),
        "slides": (dict, False),
        "sanitizers": (dict, False),
    },
    "passed": {"takeaway": (str, True), "counters": (TEXTS, False)},
    "libraries": {"vendor": (TEXTS, False), "optional": (TEXTS, False)},
    "headline": {
        "what": (str, True),
        "group": (dict, True),
        "rung": (str, True),
        "vendor": (str, False),
        "instead": (dict, False),
        "left_out": (dict, False),
        "note": (str, False),
        "ladder": (TABLES, False),
    },
    "machine": {"device": (str, True), "group": (dict, True), "rung": (str, True)},
    "profile": {"n": (int, True), "rows_n": (int, False), "rungs": (list, True), "counters": (TABLES, True)},
    "picture": {
        "program": (str, True),
        "arguments": (TEXTS, False),
        "kernel": (str, False),
        "question": (str, False),
        "output": (str, True),
        "alt": (str, True),
        "seed": (int, False),
        "threads": (PAIRS, False),
        "elements": (TEXTS, False),
        "all_warps": (bool, False),
        "whole_cluster": (bool, False),
        "levels_of": (str, False),
        "columns": (int, False),
        "row_length": (int, False),
        "tiles": (int, False),
        "split_words": (bool, False),
        "shows": (TEXTS, False),
        "launch": (int, False),
        "block": (int, False),
        "warp": (int, False),
        "lines": (NUMBERS, False),
        "rows": (NUMBERS, False),
    },
    "drawing": {
        "kind": (str, True), "output": (str, True), "device": (str, False), "rows": (TABLES, True), "given": (dict, True),
    },
    "program": {
        "name": (str, True),
        "sources": (TEXTS, False),
        "kernels": (TEXTS, True),
        "test": (str, True),
        "needs": (TEXTS, False),
        "instead": (str, False),
    },
    "slides": {"say": (dict, False), "leave_out": (TEXTS, False), "pictures": (dict, False)},
    "sanitizers": {
        "memcheck": (TEXTS, False), "racecheck": (TEXTS, False), "initcheck": (TEXTS, False), "synccheck": (TEXTS, False),
    },
}
NAMES = {
    str: "a text", int: "a number", bool: "true or false", list: "a list", dict: "a table",
    TEXTS: "a list of texts", NUMBERS: "a list of numbers", TABLES: "a list of tables",
    PAIRS: "a list of lists of numbers",
}


def is_a(value, kind):
    """Whether a value of TOML is of a type; (list, T): a list of T."""
    if isinstance(kind, tuple):
        return isinstance(value, list) and all(is_a(element, kind[1]) for element in value)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def check_keys(file, values, table):
    """Fails where a table has a key that is unknown, missing, or of another type."""
    keys = KEYS[table]
    place = f"{table}." if table else ""
    for key, value in values.items():
        if key not in keys:
            raise Failed(f"{file}: '{place}{key}' is unknown; there are {', '.join(keys)}")
        if not is_a(value, keys[key][0]):
            raise Failed(f"{file}: '{place}{key}' must be {NAMES[keys[key][0]]}")
    for key, (_, required) in keys.items():
        if required and key not in values:
            raise Failed(f"{file}: '{place}{key}' is missing")


def check_files(chapter):
    """Fails where a file is missing that the chapter's list names."""
    is_release = not chapter.folder.parents[1].joinpath("solutions").is_dir()
    for exercise in chapter.exercises:
        needed = [chapter.check(exercise), chapter.starter(exercise)]
        for path in needed if is_release else [*needed, chapter.solution(exercise)]:
            if not path.is_file():
                raise Failed(f"{chapter.file}: 'exercises' names {exercise}, but {path} is missing")
    for program in chapter.programs:
        named = [*program.sources, *program.kernels, program.test] + ([program.instead] if program.instead else [])
        for path in named:
            if not (chapter.folder / path).is_file():
                raise Failed(f"{chapter.file}: 'program.{program.name}' names {path}, which is missing")
        if program.needs and not program.instead:
            raise Failed(f"{chapter.file}: 'program.{program.name}' needs {program.needs[0]}, but has no 'instead'")


def parse(folder, values):
    """The Chapter of a folder whose chapter.toml has these values; its files are not looked at."""
    file = folder / "chapter.toml"
    check_keys(file, values, "")
    for table in ("libraries", "headline", "profile", "slides", "sanitizers"):
        if table in values:
            check_keys(file, values[table], table)
    for table in ("machine", "picture", "drawing", "program"):
        for entry in values.get(table, []):
            check_keys(file, entry, table)
    for entry in values.get("picture", []):
        if ("kernel" in entry) == (PICTURE_FILE in entry.get("arguments", [])):
            raise Failed(f"{file}: 'picture' {entry['output']} has either a 'kernel' or the argument {PICTURE_FILE}")
        if "kernel" in entry and "question" not in entry:
            raise Failed(f"{file}: 'picture' {entry['output']} has no 'question': which one does it answer?")
        if ("levels_of" in entry) != ("row_length" in entry):
            raise Failed(f"{file}: 'picture' {entry['output']} has both 'levels_of' and 'row_length', or neither")
    headline = values.get("headline")
    if headline and ("vendor" in headline) == ("instead" in headline):
        raise Failed(f"{file}: 'headline' has either 'vendor' or 'instead'")
    for number in values.get("before", []):
        if not re.fullmatch(r"\d\d", number):
            raise Failed(f"{file}: 'before' names '{number}': chapters have two digits")
    for exercise, entry in values.get("passed", {}).items():
        if exercise not in values["exercises"]:
            raise Failed(f"{file}: 'passed.{exercise}': there is no such exercise")
        if not isinstance(entry, dict):
            raise Failed(f"{file}: 'passed.{exercise}' must be a table")
        check_keys(file, entry, "passed")
    stars = values.get("stars", {})
    for exercise in [*values["exercises"], *(name for name in stars if name not in values["exercises"])]:
        if exercise not in values["exercises"]:
            raise Failed(f"{file}: 'stars.{exercise}': there is no such exercise")
        if stars.get(exercise) not in MINUTES_OF_STARS:
            raise Failed(f"{file}: 'stars.{exercise}' must be a number from 1 to 5")
    core = values.get("core", [])
    for exercise in core:
        if exercise not in values["exercises"]:
            raise Failed(f"{file}: 'core' names {exercise}: there is no such exercise")
    if values["exercises"] and not core:
        raise Failed(f"{file}: 'core' is missing: at least one of the exercises, for `./course next --fast`")
    libraries = values.get("libraries", {})
    return Chapter(
        folder=folder,
        question=" ".join(values["question"].split()),
        learn=" ".join(values["learn"].split()),
        exercises=values["exercises"],
        stars=stars,
        passed=values.get("passed", {}),
        core=core,
        before=values.get("before", []),
        devices=values.get("devices", []),
        vendor_libraries=libraries.get("vendor", []),
        optional_libraries=libraries.get("optional", []),
        headline=headline,
        machines=values.get("machine", []),
        curves=values.get("curves", {}),
        profile=values.get("profile"),
        pictures=values.get("picture", []),
        drawings=values.get("drawing", []),
        programs=[Program(**entry) for entry in values.get("program", [])],
        slides=values.get("slides", {}),
        sanitizers=values.get("sanitizers", {}),
    )


def read(folder):
    """The Chapter of a folder, without a look at the files that it names; Failed if chapter.toml cannot be used."""
    folder = Path(folder).absolute()
    file = folder / "chapter.toml"
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Failed(f"{file} is missing") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failed(f"{file}: {error}") from error
    return parse(folder, values)


def load(folder):
    """The same; Failed, too, where a file that it names is missing."""
    chapter = read(folder)
    check_files(chapter)
    return chapter


def load_all(top):
    """All chapters of a course, in order."""
    return [load(file.parent) for file in sorted(Path(top).glob("chapters/[0-9][0-9]-*/chapter.toml"))]
