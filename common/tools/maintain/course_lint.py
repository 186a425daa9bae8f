"""Whether every chapter is complete.

Every exercise has a file that is not started, a solution, a check, at least three mistakes, three hints that
give no code of the solution (hint_rules.py), and what is said after a pass; mistakes and alternatives fit the solution, open with a sentence, and have different names. chapter.toml can be
used, names exactly the exercises that are there, and agrees with the chapter's README on the question and the
chapters before it; README.md names the chapter. Folders of mistakes and of alternatives hold those of its
exercises, and nothing else. The ladder and the self-check read the chapter's rungs from rungs.cuh. What
vendor.cu includes defines no kernel. A chapter's pictures are those that chapter.toml declares, and are in its README.
Each exercise has a card on the chapter's page (card_rules.py).
Every test case of a check has a promise above it, every promise a test case below it, and every header in checks/ two
programs that read it. No file of a chapter has more than 400 lines, its checks aside, none of common more than 500, its
tests aside; rules between sections are whole.
Every link of a page at the top, of a README, of hints and of common/docs goes to a file, and a heading, that exists.
A release for learners (tools/teach/release.py) has neither solutions/ nor mistakes, and needs none.
"""

import html
import re

from build import variants
from tools.lib import chapter as chapters
from tools.lib import includes, pages
from tools.lib.chapter_results import chapters_of
from tools.lib.failed import Failed
from tools.maintain import card_rules, file_rules, hint_rules, promises
from tools.maintain.simt_readme import compared_counters

MISTAKES = 3
MARKER = re.compile(r"^NOT_STARTED\b", re.MULTILINE)


def is_release(top):
    """True for a course whose solutions and mistakes were left out, all of them."""
    return not (top / "solutions").exists() and not any(top.glob("chapters/*/mistakes"))


def check_exercise(top, chapter, exercise):
    """The problems of one exercise."""
    problems = []
    starter = chapter.starter(exercise)
    if len(MARKER.findall(starter.read_text())) != 1:
        problems.append(f"{starter.relative_to(top)}: needs one NOT_STARTED line")
    problems += hint_rules.problems_of(top, chapter, exercise)
    return problems + check_passed(top, chapter, exercise) + ([] if is_release(top) else check_answers(top, chapter, exercise))


def check_passed(top, chapter, exercise):
    """The problems of what is said after a pass."""
    name = f"{chapter.file.relative_to(top)}: 'passed.{exercise}'"
    if exercise not in chapter.passed:
        return [f"{name} is missing: the takeaway, and the counters that are compared with the solution's"]
    known = compared_counters(top)
    return [f"{name} names {counter}: a counter with \"costs\" is one of {', '.join(known)}"
            for counter in chapter.passed[exercise].get("counters", []) if counter not in known]


def check_answers(top, chapter, exercise):
    """The problems of an exercise's solution and known-wrong answers."""
    solution = chapter.solution(exercise)
    if not solution.exists():
        return [f"{solution.relative_to(top)} is missing"]
    problems = []
    text = solution.read_text()
    if MARKER.search(text):
        problems.append(f"{solution.relative_to(top)}: a solution has no NOT_STARTED line")
    files = chapter.mistakes(exercise)
    if len(files) < MISTAKES:
        problems.append(f"chapters/{chapter.name}/mistakes/{exercise}: {len(files)} mistakes, not {MISTAKES}")
    names = {file.stem for file in files}
    for file in chapter.alternatives(exercise):
        if file.stem in names:
            problems.append(f"{file.relative_to(top)}: a mistake has this name: they share a program")
        if variants.SLIPS in file.read_text():
            problems.append(f"{file.relative_to(top)}: '{variants.SLIPS}' is for mistakes")
    for file in [*files, *chapter.alternatives(exercise)]:
        problems += check_variant(file.relative_to(top), file.read_text(), solution.relative_to(top), text)
    return problems


def check_variant(file, diff, solution_file, solution):
    """The problems of one mistake or alternative."""
    try:
        variants.apply(diff, solution, file, solution_file)
    except Failed as error:
        return [str(error)]
    sentence = variants.parse(diff, file).sentence
    if len(sentence.split()) < 4 or not sentence.endswith((".", "!")):
        return [f"{file}: must open with a sentence on what is wrong, or what it does otherwise"]
    return []


def kernels_of_vendor(folder):
    """The chapter's headers that vendor.cu includes and that define a kernel."""
    kernel = re.compile(r"^[^/]*\b__global__\b", re.MULTILINE)
    return sorted(file.name for file in includes.reached(folder / "vendor.cu") if kernel.search(file.read_text(encoding="utf-8")))


def not_built(chapter, readme):
    """The programs that a page runs before a command of it has built them."""
    built, missing = set(), []
    for line in readme.splitlines():
        if line.startswith("meson compile"):
            built |= set(re.findall(rf"\b{chapter.name}-(\w+)", line))
        for program in re.findall(rf"(?:^|[ =]){re.escape(f'build/chapters/{chapter.name}/')}(ladder|selfcheck|counts|claims|races)\b", line):
            if program not in built and program not in missing and not line.startswith("#"):
                missing.append(program)
    return missing


def check_list(top, chapter, readme):
    """Where a chapter's list and its files or its README do not say the same."""
    problems = []
    name = f"chapters/{chapter.name}"
    starters = {file.stem for file in (top / "exercises" / chapter.name).glob("*.cuh")}
    for exercise in sorted(starters - set(chapter.exercises)):
        problems.append(f"{name}/chapter.toml: 'exercises' does not name {exercise}, which is in exercises/{chapter.name}")
    expected = {file for exercise in chapter.exercises for file in [*chapter.mistakes(exercise), *chapter.alternatives(exercise)]}
    for file in sorted([*(chapter.folder / "mistakes").rglob("*"), *(chapter.folder / "alternatives").rglob("*")]):
        if file.is_file() and file not in expected:
            problems.append(f"{file.relative_to(top)} is no .diff of an exercise: no test runs it")
    if "<!-- opening:begin -->" not in readme:
        problems.append(f"{name}/README.md has no <!-- opening:begin -->, where what chapter.toml says of it is written")
    problems += [f"{name}/README.md runs {program} before a line `meson compile -C build {chapter.name}-{program}`" for program in not_built(chapter, readme)]
    if "<!-- next:begin -->" not in readme and chapter.name != chapters_of(top)[-1].name:
        problems.append(f"{name}/README.md has no <!-- next:begin -->: after its last line a reader looks for the next chapter")
    return problems


def check_chapter(top, folder):
    """The problems of one chapter."""
    name = folder.name
    problems = []
    readme_file = folder / "README.md"
    readme = readme_file.read_text(encoding="utf-8") if readme_file.exists() else ""
    if not readme:
        problems.append(f"chapters/{name}/README.md is missing")
    if name not in (top / "README.md").read_text(encoding="utf-8"):
        problems.append(f"README.md does not name {name}")
    for link in ("common", "meson.options"):
        if not (folder / link).is_symlink() or not (folder / link).exists():
            problems.append(f"chapters/{name}/{link} must be a link into common")
    try:
        chapter = chapters.load(folder)
    except chapters.Failed as failed:
        return [*problems, str(failed)]
    problems += check_list(top, chapter, readme) + check_pictures(chapter, readme) + card_rules.problems_of(top, chapter)
    for exercise in chapter.exercises:
        problems += check_exercise(top, chapter, exercise)
    problems += promises.problems_of(top, chapter)
    problems += check_rungs(top, folder)
    if (folder / "vendor.cu").exists():
        problems += [
            f"chapters/{name}/vendor.cu includes {header}, whose kernels ladder.cu would define a second time: "
            "the link fails where there is a GPU. Move what both need into a header without kernels"
            for header in kernels_of_vendor(folder)
        ]
    return problems


def check_rungs(top, folder):
    """A chapter has one list of its rungs, which its ladder and its self-check read."""
    rungs = folder / "rungs.cuh"
    if not rungs.exists():
        return [f"{rungs.relative_to(top)} is missing: the one list of the chapter's rungs"]
    ladder = folder / "ladder.cu"
    problems = [
        f"{file.relative_to(top)} does not include rungs.cuh"
        for file in (ladder, folder / "selfcheck.cu") if rungs not in includes.reached(file)
    ]
    text = ladder.read_text(encoding="utf-8") if ladder.exists() else ""
    problems += [
        f"{ladder.relative_to(top)} names the rung {name}: its name belongs into rungs.cuh, which the self-check reads, "
        "too; that of a library's row into vendor.cu" for name in re.findall(r'\.name\s*=\s*("[^"]*")', text)
    ]
    return problems


def check_pictures(chapter, readme):
    """Pictures that the chapter's README does not show, or that chapter.toml does not declare."""
    name = f"chapters/{chapter.name}"
    problems = []
    for entry in chapter.pictures:
        embedded = f"![{entry['alt']}](pictures/{entry['output']})"
        if embedded not in readme:
            problems.append(f"{name}/README.md does not have: {embedded}")
    declared = {entry["output"] for entry in chapter.pictures}
    for file in sorted((chapter.folder / "pictures").glob("*")):
        if file.name not in declared:
            problems.append(f"{name}/pictures/{file.name} is not declared in chapter.toml")
        if unreadable := sorted(set(unreadable_values(file.read_text(encoding="utf-8")))):
            problems.append(
                f"{name}/pictures/{file.name} has values that are cut, or have an exponent: {', '.join(unreadable[:3])}. Draw a "
                "run with small integers: a test case of its own, which 'program' and 'arguments' in chapter.toml name"
            )
    return problems


def unreadable_values(picture):
    """The values of a picture that it cuts, as its steps have them whole, and those with an exponent."""
    for values in re.findall(r'data-values="([^"]*)"', picture):
        yield html.unescape(values).split("\n")[0]
    for style, text in re.findall(r'<text [^>]*class="([^"]*)"[^>]*>([^<]*)', picture):
        if "mono" not in style.split():  # code
            yield from re.findall(r"\S*\d(?:\.\d+)?e[+-]?\d+", text)


def links_of(text):
    """The targets of a Markdown text's links and pictures that stay in the repository."""
    prose = re.sub(r"(`+)[^`].*?\1", "", pages.without_fences(text))
    targets = re.findall(r"\]\(\s*<?([^)\s>]+)", prose) + re.findall(r'\b(?:href|src|srcset)="([^"]+)"', prose)
    return [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def check_links(top):
    """Links of the documents that go nowhere."""
    problems = []
    patterns = ("*.md", "chapters/*/README*.md", "chapters/*/hints/*.md", "common/*/README.md", "common/docs/**/*.md")
    for file in sorted(file for pattern in patterns for file in top.glob(pattern)):
        for target in links_of(file.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            goal = file.parent / name if name else file
            if not goal.exists():
                problems.append(f"{file.relative_to(top)}: the link {target} goes to no file")
            elif anchor and goal.suffix == ".md" and anchor not in pages.anchors_of(goal.read_text(encoding="utf-8")):
                problems.append(f"{file.relative_to(top)}: the link {target} goes to no heading of that file")
    return problems


def problems_of(top):
    """What is missing or wrong in the chapters of a course."""
    folders = sorted(folder for folder in (top / "chapters").glob("[0-9][0-9]-*") if folder.is_dir())
    if not folders:
        return [f"{top}: there are no chapters"]
    problems = [problem for folder in folders for problem in check_chapter(top, folder)]
    return problems + check_links(top) + file_rules.problems_of(top)
