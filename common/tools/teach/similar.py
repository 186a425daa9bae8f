#!/usr/bin/env python3
"""Puts similar answers side by side.

    similar.py [--least PERCENT] [--html FILE] [--download FILE ...] SUBMISSION ...

Compares, for each exercise, what the learners added to the starter. sim_c++ of Debian's package similarity-tester does it: it
reads C++ as tokens, so that other names, comments and white space change nothing. Answers that equal the published
solution are left out, and so are those with fewer than 40 tokens of their own: short right answers look alike.

Prints the pairs, the most similar first; --html writes a page with both texts of each pair beside each other. A pair is a
reason to talk to two people, and no proof.
A SUBMISSION and a download are what grade_submissions.py takes.
Exit code: 0; 1 if a submission is not there; 2 if sim_c++ is not installed.
"""

import argparse
import difflib
import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import cpp_text  # noqa: E402
from tools.lib.checkout import TOP, is_started  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.teach import grade, handed_in  # noqa: E402
from tools.teach.regular import GradeError  # noqa: E402
from tools.teach.submissions import read_if_there  # noqa: E402

LEAST_TOKENS = 40
PAIR = re.compile(r"^(\S+) consists for (\d+) % of (\S+) material$", re.MULTILINE)


def own_lines(text, starter):
    """The lines of an answer that are not in the starter, without comments."""
    known = {line.strip() for line in cpp_text.blank_comments(starter).splitlines()}
    lines = cpp_text.blank_comments(text).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip() and line.strip() not in known) + "\n"


def texts_of(learners, chapter, name):
    """{learner: own lines} of those who began the exercise, and did not take the published solution."""
    starter, solution = (read_if_there(kind, chapter, f"{name}.cuh") for kind in ("exercises", "solutions"))
    found = {}
    for learner, handed in learners.items():
        try:
            text = handed.text((chapter, name))
        except GradeError:
            continue
        if not text or not is_started(text) or (solution and cpp_text.same_code(text, solution)):
            continue
        own = own_lines(text, starter)
        if len(cpp_text.tokens_of(own)) >= LEAST_TOKENS:
            found[learner] = own
    return found


def pairs_of(texts, least):
    """[(percent, learner, learner)] of texts that share at least `least` percent of their tokens."""
    names = list(texts)
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(names):
            (Path(folder) / f"{number}.cpp").write_text(texts[name], encoding="utf-8", errors="replace")
        command = ["sim_c++", "-p", "-t", str(least), "-r", "12", *(f"{number}.cpp" for number in range(len(names)))]
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=True).stdout
    found = {}
    for one, percent, other in PAIR.findall(said):
        key = tuple(sorted((names[int(one.split(".")[0])], names[int(other.split(".")[0])])))
        if key[0] != key[1]:
            found[key] = max(found.get(key, 0), int(percent))
    return sorted(((percent, *key) for key, percent in found.items()), key=lambda pair: (-pair[0], pair[1:]))


def page(sections):
    """The HTML page: [(exercise, percent, learner, learner, text, text)]."""
    parts = ["<!DOCTYPE html><meta charset='utf-8'><title>Similar answers</title>",
             "<style>body{font-family:sans-serif}pre{margin:0;font-size:85%;overflow:auto}td{vertical-align:top;width:50%;",
             "border:1px solid #888;padding:4px}table{width:100%;table-layout:fixed}mark{background:#fe8;color:#000}</style>",
             "<p>Marked lines are in both, but for white space.</p>"]
    for exercise, percent, one, other, first, second in sections:
        parts.append(f"<h2>{html.escape(exercise)}: {percent} %</h2><table><tr>")
        parts += [f"<th>{html.escape(grade.shown(name))}</th>" for name in (one, other)]
        parts.append("</tr><tr>")
        lines = [text.splitlines() for text in (first, second)]
        keys = [["".join(line.split()) for line in text] for text in lines]
        blocks = difflib.SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks()
        for side in (0, 1):
            marked = {at for block in blocks for at in range(block[side], block[side] + block.size)}
            shown = [html.escape(grade.shown(line)) for line in lines[side]]
            parts.append("<td><pre>" + "\n".join(f"<mark>{line}</mark>" if at in marked else line for at, line in enumerate(shown)) + "</pre></td>")
        parts.append("</tr></table>")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", nargs="*", type=Path, metavar="SUBMISSION")
    parser.add_argument("--download", action="append", default=[], metavar="FILE", help="the zip file of a whole class")
    parser.add_argument("--least", type=int, default=80, metavar="PERCENT", help="of an answer's tokens (%(default)s)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page with the texts side by side")
    options = parser.parse_args()
    if shutil.which("sim_c++") is None:
        print("similar.py: there is no sim_c++: sudo apt-get install similarity-tester", file=sys.stderr)
        return 2
    sections = []
    try:
        learners, warnings = handed_in.find(options.submissions, grade.exercises_of(TOP), options.download)
    except Failed as error:
        sys.exit(f"similar.py: {error}")
    for text in warnings:
        print(f"similar.py: {grade.shown(text)}", file=sys.stderr)
    for chapter, name in grade.exercises_of(TOP):
        texts = texts_of(learners, chapter, name)
        if len(texts) > 1:
            sections += [(f"{chapter}/{name}", percent, one, other, texts[one], texts[other])
                         for percent, one, other in pairs_of(texts, options.least)]
    sections.sort(key=lambda section: -section[1])
    for exercise, percent, one, other, *_ in sections:
        print(f"{percent:3} %  {exercise:<40} {grade.shown(one)}  {grade.shown(other)}")
    if options.html:
        options.html.write_text(page(sections), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
