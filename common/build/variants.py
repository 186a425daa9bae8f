"""Answers to an exercise that are stored as their differences from its solution.

    common/dev variants apply FILE.diff [SOLUTION.cuh]      prints the answer as a whole
    common/dev variants convert ANSWER.cuh [SOLUTION.cuh]   prints the .diff that makes this answer

chapters/NN-topic/mistakes/EXERCISE/NAME.diff is a known-wrong answer, which the check must reject;
chapters/NN-topic/alternatives/EXERCISE/NAME.diff a right one in another style than the solution, which it must let
pass. The solution is, where none is given, solutions/NN-topic/EXERCISE.cuh. The file:

    One sentence or two: what is wrong, and how it shows; of an alternative, what it does otherwise.
    GPU may let it through: REASON (only of a mistake, where that is so)

    @@
     a line of the solution, as it is
    -a line of the solution that this answer does not have
    -...
    -the lines between these two are gone as well
    +a line that this answer has instead

Each hunk follows an @@. Its old lines (those that begin with a blank or a -) must be found exactly once in
the solution, below its opening comment and in the order of the hunks; else the answer cannot be made, and
the error names the file, the line and the solution. `-...` stands for all lines up to the next old line.

An answer that is converted opens with the sentences as a comment; a paragraph that begins with "GPU may let
it through:" is the reason.
"""

import difflib
import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from tools.lib.checkout import TOP
from tools.lib.failed import Failed

SLIPS = "GPU may let it through:"
ELLIPSIS = "..."
WIDTH = 120


@dataclass
class Hunk:
    """One place that differs: its first line in the .diff, and (kind, text), where kind is one of " -+"."""

    number: int
    lines: list = field(default_factory=list)

    def old(self):
        """The lines that the solution has; ELLIPSIS for any number of lines."""
        return [ELLIPSIS if (kind, text) == ("-", ELLIPSIS) else text for kind, text in self.lines if kind != "+"]


@dataclass
class Variant:
    """A .diff: what it says of itself, why a GPU may let it through ("" where it does not), and what differs."""

    sentence: str
    slips: str
    hunks: list


# ---- A .diff and its solution ------------------------------------------------------------------------


def parse(text, name):
    """The Variant that `text` describes; `name` is for errors."""
    lines = text.splitlines()
    head = lines[: lines.index("@@")] if "@@" in lines else lines
    paragraph = " ".join(line.strip() for line in head if line.strip())
    sentence, _, slips = (part.strip() for part in paragraph.partition(SLIPS))
    hunks = []
    for number, line in enumerate(lines[len(head) :], len(head) + 1):
        if line == "@@":
            hunks.append(Hunk(number))
        elif line[:1] in (" ", "-", "+"):
            hunks[-1].lines.append((line[0], line[1:]))
        elif line:
            raise Failed(f"{name}:{number}: a line of a hunk begins with a blank, - or +")
    if not sentence:
        raise Failed(f"{name}:1: must open with a sentence: what is wrong, and how it shows; or what it does otherwise")
    if not hunks:
        raise Failed(f"{name}: has no hunk, which begins with a line @@")
    if SLIPS in paragraph and not slips:
        raise Failed(f"{name}: '{SLIPS}' is followed by no reason")
    for hunk in hunks:
        old = hunk.old()
        if not old or ELLIPSIS in (old[0], old[-1]):
            raise Failed(f"{name}:{hunk.number}: a hunk begins and ends with lines of the solution, not with -...")
    return Variant(sentence, slips, hunks)


def match(lines, begin, old):
    """Where `old` ends if it is in `lines` from `begin` on, and how many of its lines were found."""
    place, skips = begin, False
    for found, text in enumerate(old):
        if text == ELLIPSIS:
            skips = True
            continue
        if skips:
            while place < len(lines) and lines[place] != text:
                place += 1
        if place >= len(lines) or lines[place] != text:
            return None, found
        place, skips = place + 1, False
    return place, len(old)


def find(lines, old):
    """All (begin, end) where `old` is in `lines`, and the most of its lines that were found together."""
    places, best = [], 0
    for begin in range(len(lines)):
        end, found = match(lines, begin, old)
        best = max(best, found)
        if end is not None:
            places.append((begin, end))
    return places, best


def new_lines(hunk, lines, begin):
    """What a hunk makes of the lines at its place."""
    place, result = begin, []
    for index, (kind, text) in enumerate(hunk.lines):
        if kind == "+":
            result.append(text)
        elif (kind, text) == ("-", ELLIPSIS):
            following = next(text for kind, text in hunk.lines[index + 1 :] if kind != "+")
            place = lines.index(following, place)
        else:
            result += [text] if kind == " " else []
            place += 1
    return result


def without_head(text):
    """The lines of a source below the comment that it opens with."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if not line.startswith("//"):
            return lines[index:]
    return []


def comment(variant):
    """The comment that a whole answer opens with."""
    paragraphs = [variant.sentence] + ([f"{SLIPS} {variant.slips}"] if variant.slips else [])
    wrapped = [textwrap.wrap(paragraph, 97, break_on_hyphens=False) for paragraph in paragraphs]
    return "\n//\n".join("\n".join(f"// {line}" for line in lines) for lines in wrapped).splitlines()


def apply(diff, solution, name, solution_name):
    """The answer that the texts of a .diff and of its solution make; the names are for errors."""
    variant = parse(diff, name)
    lines, result, place = without_head(solution), [], 0
    for hunk in variant.hunks:
        where = f"{name}:{hunk.number}"
        old = hunk.old()
        places, found = find(lines, old)
        if not places:
            raise Failed(f"{where}: {solution_name} does not have this text: no line '{old[found].strip()}' there.\n"
                           f"The solution has changed: adapt this file to it")
        if len(places) > 1:
            raise Failed(f"{where}: {solution_name} has this text {len(places)} times: add a line of context")
        begin, end = places[0]
        if begin < place:
            raise Failed(f"{where}: {solution_name} has this text above that of the hunk before it")
        result += lines[place:begin] + new_lines(hunk, lines, begin)
        place = end
    return "\n".join(comment(variant) + result + lines[place:]) + "\n"


def solution_of(file):
    """Where the solution of chapters/NN-topic/mistakes/EXERCISE/NAME.diff is, or of one of the alternatives."""
    exercise = file.parent
    chapter = exercise.parents[1]
    return chapter.parents[1] / "solutions" / chapter.name / f"{exercise.name}.cuh"


def shown(file):
    """A file as errors name it: below the top of the repository."""
    return str(file.relative_to(TOP)) if file.is_relative_to(TOP) else str(file)


def answer_of(file, solution=None):
    """The answer of a .diff as a text."""
    file = Path(file).resolve()
    solution = Path(solution or solution_of(file)).resolve()
    texts = [path.read_text(encoding="utf-8") for path in (file, solution)]
    return apply(*texts, shown(file), shown(solution))


# ---- From a whole answer to a .diff ------------------------------------------------------------------


def code(line):
    """A line without its comment; "" for one that is nothing else. No check has // in a string."""
    return re.sub(r"\s*//.*", "", line).rstrip()


def essence(text):
    """What of an answer decides its verdict: code without comments, blank lines and what it includes."""
    return [code(line) for line in without_head(text) if code(line) and not line.startswith("#include")]


def differences(solution, answer):
    """[(i1, i2, j1, j2)]: solution[i1:i2] is answer[j1:j2]. Lines that differ in comments alone are the same."""
    # Only lines with code are compared; `ours` and `theirs` say which they are.
    ours = [index for index, line in enumerate(solution) if code(line)]
    theirs = [index for index, line in enumerate(answer) if code(line)]
    matcher = difflib.SequenceMatcher(
        None, [code(solution[i]) for i in ours], [code(answer[j]) for j in theirs], autojunk=False
    )
    found = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        removed = [code(solution[ours[i]]) for i in range(i1, i2)]
        if j1 == j2 and all(line.startswith("#include") for line in removed):
            continue  # what the answer does not need does it no harm
        begin = ours[i1] if i1 < len(ours) else len(solution)
        end = ours[i2 - 1] + 1 if i2 > i1 else begin
        first = theirs[j1] if j1 < j2 else 0
        last = theirs[j2 - 1] + 1 if j1 < j2 else 0
        while j1 < j2 and first > 0 and answer[first - 1].strip().startswith("//"):  # a comment of its own
            if answer[first - 1] in solution:
                break
            first -= 1
        found.append([begin, end, first, last])
    return found


def is_filler(lines):
    """True for lines that align by chance: brackets, an else, blank lines."""
    return all(re.fullmatch(r"[\s{}();]*(else)?[\s{]*", code(line)) for line in lines)


def joined(changes, solution, answer):
    """The differences, those that are close to each other as one."""
    result = []
    for change in changes:
        before = result[-1] if result else None
        if before and before[3] and change[3]:
            between = solution[before[1] : change[0]]
            if len(between) <= 3 and is_filler(between):
                before[1], before[3] = change[1], change[3]
                continue
        result.append(change)
    return result


def removed(lines):
    """Lines of a hunk for `lines` of the solution that are gone; most of many are left out."""
    if len(lines) <= 6:
        return [("-", line) for line in lines]
    for tail in range(len(lines) - 1, 3, -1):
        if lines[tail] not in lines[1:tail] and code(lines[tail]):
            return [("-", lines[0]), ("-", ELLIPSIS)] + [("-", line) for line in lines[tail:]]
    return [("-", line) for line in lines]


def hunks_of(solution, answer):
    """The hunks that make `answer` of `solution`, each with the least context that is found once."""
    hunks = []
    changes = joined(differences(solution, answer), solution, answer)
    groups = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2:
            groups[-1].append(change)
        else:
            groups.append([change])
    for group in groups:
        core = []
        for index, (i1, i2, j1, j2) in enumerate(group):
            if index:
                core += [(" ", line) for line in solution[group[index - 1][1] : i1]]
            core += removed(solution[i1:i2]) + [("+", line) for line in answer[j1:j2] if line.strip()]
        hunks.append(with_context(core, solution, group[0][0], group[-1][1]))
    return hunks


def with_context(core, solution, begin, end):
    """A hunk of `core` at solution[begin:end], with the fewest lines around it that make it unique."""
    def fillers(frame):
        around = solution[begin - frame[0] : begin] + solution[end : end + frame[1]]
        return sum(is_filler([line]) for line in around)

    for total in range(12):
        frames = [(total - below, below) for below in range(total + 1)]
        for above, below in sorted(frames, key=fillers):  # a line that says something, rather than a bracket
            if begin - above < 0 or end + below > len(solution):
                continue
            hunk = Hunk(0, [(" ", line) for line in solution[begin - above : begin]] + core
                        + [(" ", line) for line in solution[end : end + below]])
            old = hunk.old()
            if not old or not old[0].strip() or not old[-1].strip() or ELLIPSIS in (old[0], old[-1]):
                continue
            if find(solution, old)[0] == [(begin - above, end + below)]:
                return hunk
    raise Failed(f"no context makes line {begin + 1} of the solution's code unique")


def convert(answer, solution, name, solution_name):
    """The .diff that makes the text `answer` of the text `solution`."""
    head = [line[2:].strip() for line in answer.splitlines()[: len(answer.splitlines()) - len(without_head(answer))]]
    sentence, _, slips = (part.strip() for part in " ".join(line for line in head if line).partition(SLIPS))
    lines = textwrap.wrap(sentence, WIDTH, break_on_hyphens=False)
    if slips:
        lines += textwrap.wrap(f"{SLIPS} {slips}", WIDTH, break_on_hyphens=False)
    lines.append("")
    for hunk in hunks_of(without_head(solution), without_head(answer)):
        lines += ["@@", *(kind + text for kind, text in hunk.lines)]
    diff = "\n".join(lines) + "\n"
    ours, theirs = (essence(text) for text in (apply(diff, solution, name, solution_name), answer))
    if ours != theirs:
        raise Failed(f"{name}: its .diff does not make it again:\n" + "\n".join(difflib.unified_diff(theirs, ours)))
    return diff


def diff_of(file, solution=None):
    """The text of the .diff that makes a whole answer."""
    solution = solution or solution_of(Path(file).resolve())
    return convert(file.read_text(encoding="utf-8"), solution.read_text(encoding="utf-8"), str(file), str(solution))
