#!/usr/bin/env python3
"""Checks that every chapter is complete, and prints what is missing; exit code 1 if anything is.

    course_lint.py [TOP]

Every exercise has a file that is not started, a solution, a check, at least three mistakes that fit the
solution and open with a sentence on what is wrong, and three hints in the chapter's README. The chapter's meson.build
names exactly the exercises and the mistakes that are there, and README.md names the chapter. What
vendor.cu includes defines no kernel. The meson.build of every folder of tests names all of them.
Every link of a README.md, of CONTRIBUTING.md and of common/docs goes to a file, and a heading, that exists.
A release for learners (release.py) has neither solutions/ nor mistakes, and needs none.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from build import mistakes  # noqa: E402
from tools.lib.hints import hints_of  # noqa: E402

MISTAKES = 3
HINTS = 3
MARKER = re.compile(r"^NOT_STARTED\b", re.MULTILINE)


def named_in_meson(text):
    """{exercise: {mistake, ...}} of a chapter's meson.build."""
    table = re.search(r"^exercises = \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    exercises = re.findall(r"'(\w+)':\s*\[(.*?)\]", table.group(1), re.DOTALL) if table else []
    return {name: set(re.findall(r"'(\w+)'", mistakes)) for name, mistakes in exercises}


def is_release(top):
    """True for a course whose solutions and mistakes were left out, all of them."""
    return not (top / "solutions").exists() and not any(top.glob("chapters/*/mistakes"))


def check_exercise(top, chapter, exercise, named, readme):
    """The problems of one exercise."""
    problems = []
    starter = top / "exercises" / chapter / f"{exercise}.cuh"
    folder = top / "chapters" / chapter
    if not (folder / "checks" / f"{exercise}.cu").exists():
        problems.append(f"chapters/{chapter}/checks/{exercise}.cu is missing")
    if not starter.exists():
        problems.append(f"{starter.relative_to(top)} is missing")
    elif len(MARKER.findall(starter.read_text())) != 1:
        problems.append(f"{starter.relative_to(top)}: needs one NOT_STARTED line")
    if (hints := len(hints_of(readme, exercise))) < HINTS:
        problems.append(f"chapters/{chapter}/README.md: {hints} hints for {exercise}, not {HINTS}")
    if not is_release(top):
        problems += check_answers(top, chapter, exercise)
    there = {file.stem for file in (folder / "mistakes" / exercise).glob("*.diff")}
    for mistake in sorted(there ^ named):
        problems.append(f"chapters/{chapter}/meson.build: mistake '{mistake}' of {exercise} is not in both places")
    return problems


def check_answers(top, chapter, exercise):
    """The problems of an exercise's solution and known-wrong answers."""
    problems = []
    solution = top / "solutions" / chapter / f"{exercise}.cuh"
    folder = top / "chapters" / chapter
    if not solution.exists():
        problems.append(f"{solution.relative_to(top)} is missing")
    elif MARKER.search(solution.read_text()):
        problems.append(f"{solution.relative_to(top)}: a solution has no NOT_STARTED line")

    files = sorted((folder / "mistakes" / exercise).glob("*.diff"))
    if len(files) < MISTAKES:
        problems.append(f"chapters/{chapter}/mistakes/{exercise}: {len(files)} mistakes, not {MISTAKES}")
    for file in files if solution.exists() else []:
        problems += check_mistake(file.relative_to(top), file.read_text(), solution.relative_to(top), solution.read_text())
    return problems


def check_mistake(file, diff, solution_file, solution):
    """The problems of one known-wrong answer."""
    try:
        mistakes.apply(diff, solution, file, solution_file)
    except mistakes.Unusable as error:
        return [str(error)]
    sentence = mistakes.parse(diff, file).sentence
    if len(sentence.split()) < 4 or not sentence.endswith((".", "!")):
        return [f"{file}: must open with a sentence on what is wrong"]
    return []


def kernels_of_vendor(folder):
    """The chapter's headers that vendor.cu includes, itself or through others, and that define a kernel."""
    found, open_files = [], [folder / "vendor.cu"]
    seen = set(open_files)
    while open_files:
        text = open_files.pop().read_text(encoding="utf-8")
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            header = folder / name
            if header in seen or not header.exists():
                continue
            seen.add(header)
            open_files.append(header)
            if re.search(r"^[^/]*\b__global__\b", header.read_text(encoding="utf-8"), re.MULTILINE):
                found.append(name)
    return sorted(found)


def check_chapter(top, folder):
    """The problems of one chapter."""
    chapter = folder.name
    problems = []
    readme_file = folder / "README.md"
    readme = readme_file.read_text(encoding="utf-8") if readme_file.exists() else ""
    if not readme:
        problems.append(f"chapters/{chapter}/README.md is missing")
    if chapter not in (top / "README.md").read_text(encoding="utf-8"):
        problems.append(f"README.md does not name {chapter}")
    if f"'{chapter}'" not in (top / "meson.build").read_text():
        problems.append(f"meson.build does not name {chapter}")
    for link in ("common", "meson.options"):
        if not (folder / link).is_symlink() or not (folder / link).exists():
            problems.append(f"chapters/{chapter}/{link} must be a link into common")
    named = named_in_meson((folder / "meson.build").read_text())
    there = {file.stem for file in (top / "exercises" / chapter).glob("*.cuh")}
    for exercise in sorted(there ^ set(named)):
        problems.append(f"chapters/{chapter}/meson.build: exercise '{exercise}' is not in both places")
    for exercise in named:
        problems += check_exercise(top, chapter, exercise, named[exercise], readme)
    if (folder / "vendor.cu").exists():
        problems += [
            f"chapters/{chapter}/vendor.cu includes {name}, whose kernels ladder.cu would define a second time: "
            "the link fails where there is a GPU. Move what both need into a header without kernels"
            for name in kernels_of_vendor(folder)
        ]
    return problems


def check_tests(top):
    """Test files that the meson.build beside them does not name: nothing would run them."""
    problems = []
    for build_file in sorted(top.glob("common/**/tests/meson.build")):
        names = set(re.findall(r"'(\w+)'", build_file.read_text()))
        for file in sorted(build_file.parent.iterdir()):
            found = re.fullmatch(r"(\w+)_test\.cu|test_(\w+)\.py", file.name)
            if found and (found.group(1) or found.group(2)) not in names:
                problems.append(f"{build_file.relative_to(top)} does not name {file.name}")
    return problems


def anchors_of(text):
    """The anchors that GitHub gives to the headings of a Markdown text."""
    anchors = set()
    for heading in re.findall(r"^#{1,6} +(.*?)[ #]*$", without_fences(text), re.MULTILINE):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        times = 0
        while (name := f"{anchor}-{times}" if times else anchor) in anchors:
            times += 1
        anchors.add(name)
    return anchors


def without_fences(text):
    """A Markdown text without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)


def links_of(text):
    """The targets of a Markdown text's links and pictures that stay in the repository."""
    prose = re.sub(r"(`+)[^`].*?\1", "", without_fences(text))
    targets = re.findall(r"\]\(\s*<?([^)\s>]+)", prose) + re.findall(r'\b(?:href|src|srcset)="([^"]+)"', prose)
    return [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def check_links(top):
    """Links of the documents that go nowhere."""
    problems = []
    patterns = ("README.md", "CONTRIBUTING.md", "chapters/*/README.md", "common/*/README.md", "common/docs/**/*.md")
    for file in sorted(file for pattern in patterns for file in top.glob(pattern)):
        for target in links_of(file.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            goal = file.parent / name if name else file
            if not goal.exists():
                problems.append(f"{file.relative_to(top)}: the link {target} goes to no file")
            elif anchor and goal.suffix == ".md" and anchor not in anchors_of(goal.read_text(encoding="utf-8")):
                problems.append(f"{file.relative_to(top)}: the link {target} goes to no heading of that file")
    return problems


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[3]).resolve()
    chapters = sorted(folder for folder in (top / "chapters").glob("[0-9][0-9]-*") if folder.is_dir())
    problems = [problem for folder in chapters for problem in check_chapter(top, folder)]
    problems += check_tests(top) + check_links(top)
    print("\n".join(problems) if problems else f"{len(chapters)} chapters are complete")
    return 1 if problems or not chapters else 0


if __name__ == "__main__":
    sys.exit(main())
