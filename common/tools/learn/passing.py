"""What ./course check says after a pass: the answer's counts beside the solution's, and the idea of the exercise.

On a GPU, which counts nothing, the counts are one: the time of the longest launch. The solution's is measured then.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from tools.check.building import find_ninja
from tools.lib import chapter as chapters
from tools.lib import checkout, result
from tools.lib.chapter_results import CPU
from tools.lib.failed import Failed
from tools.verdicts.record import alike, file_kept

COUNT_SECONDS = 2  # in which the counted run must end, or nothing is compared
LONGEST_LAUNCH = "longest_launch"  # common/src/answer_counts.cpp
SOLUTION_SECONDS = 60  # in which the solution's check must be built and run on a GPU


def difference(mine, solution, words=("as many", "more", "fewer")):
    """How a count differs from the solution's; "" if it is about the same."""
    if alike(mine, solution):
        return ""
    if solution == 0:
        return "↑ the solution has none"
    if mine == 0:
        return "↓ you have none"
    if mine > 2 * solution:
        return f"↑ {mine / solution:.3g} times {words[0]}"
    return f"↑ {mine / solution - 1:.0%} {words[1]}" if mine > solution else f"↓ {1 - mine / solution:.0%} {words[2]}"


def counts_table(found, solution, names):
    """The lines that compare the counters of these names; none if one of both was not counted."""
    shown = [count for name in names for count in found if count["name"] == name and name in solution]
    if not shown:
        return []
    labels = [count["what"].replace("`", "").partition(";")[0] for count in shown]
    width = max(map(len, labels))
    is_time = names == [LONGEST_LAUNCH]
    lines = [f"{'in one run of the check' if is_time else 'counted in one run of the check':<{width}}  {'your answer':>12}  {'the solution':>12}"]
    cost = ""
    for label, count in zip(labels, shown):
        mine, other = count["value"], solution[count["name"]]
        said = difference(mine, other, *[("as long", "longer", "shorter")] * is_time)
        cost = cost or (count["costs"] if said.startswith("↑") else "")
        lines.append(f"{label:<{width}}  {mine:>12,}  {other:>12,}  {said}".rstrip())
    return [*lines, cost] if cost else lines


def solution_on_gpu(build, exercise):
    """The counts of the solution's check, which is built and run here; {} where that is not possible."""
    program = Path(build) / "chapters" / exercise.chapter / f"{exercise.name}-solution"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        environment = {**os.environ, "COURSE_COUNT_SECONDS": str(COUNT_SECONDS), "COURSE_RESULT": str(file)}
        try:
            target = os.path.relpath(os.path.realpath(program), os.path.realpath(build))
            for command in ([find_ninja(), "-C", str(build), target], [str(program)]):
                subprocess.run(command, cwd=build, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                               timeout=SOLUTION_SECONDS, check=True)
        except (OSError, subprocess.SubprocessError, Failed):
            return {}
        found = result.read(file)
    return {count["name"]: count["value"] for count in found["counts"]} if found else {}


def compared(build, exercise, chapter, names):
    """The lines that compare an answer's counts with the solution's."""
    counts = (result.load(build, exercise.name) or result.new(result.PASSED))["counts"]
    if any(count["name"] == LONGEST_LAUNCH for count in counts):
        return counts_table(counts, solution_on_gpu(build, exercise), [LONGEST_LAUNCH])
    return counts_table(counts, file_kept(chapter.folder, CPU)["tests"].get(f"{exercise.name}-solution", {}).get("counts", {}), names)


def lines(build, exercise):
    """What to print after a pass of this progress.Exercise."""
    try:
        chapter = chapters.read(checkout.TOP / "chapters" / exercise.chapter)
        says = chapter.passed.get(exercise.name)
        if says is None:
            return []
        return [*compared(build, exercise, chapter, says.get("counters", [])), f"Remember: {says['takeaway']}"]
    except (Failed, ValueError, KeyError):  # the verdict stands, whatever has happened to these files
        return []
