"""What ./course check says after a pass: the answer's counts beside the solution's, and the idea of the exercise."""

from tools.lib import chapter as chapters
from tools.lib import checkout, result
from tools.lib.chapter_results import CPU
from tools.lib.failed import Failed
from tools.verdicts.record import alike, kept_of

COUNT_SECONDS = 2  # in which the counted run must end, or nothing is compared


def difference(mine, solution):
    """How a count differs from the solution's; "" if it is about the same."""
    if alike(mine, solution):
        return ""
    if solution == 0:
        return "↑ the solution has none"
    if mine == 0:
        return "↓ you have none"
    if mine > 2 * solution:
        return f"↑ {mine / solution:.3g} times as many"
    return f"↑ {mine / solution - 1:.0%} more" if mine > solution else f"↓ {1 - mine / solution:.0%} fewer"


def counts_table(found, solution, names):
    """The lines that compare the counters of these names; none if one of both was not counted."""
    shown = [count for name in names for count in found if count["name"] == name and name in solution]
    if not shown:
        return []
    labels = [count["what"].replace("`", "").partition(";")[0] for count in shown]
    width = max(map(len, labels))
    lines = [f"{'counted in one run of the check':<{width}}  {'your answer':>12}  {'the solution':>12}"]
    cost = ""
    for label, count in zip(labels, shown):
        mine, other = count["value"], solution[count["name"]]
        said = difference(mine, other)
        cost = cost or (count["costs"] if said.startswith("↑") else "")
        lines.append(f"{label:<{width}}  {mine:>12,}  {other:>12,}  {said}".rstrip())
    return [*lines, cost] if cost else lines


def lines(build, exercise):
    """What to print after a pass of this progress.Exercise."""
    try:
        chapter = chapters.read(checkout.TOP / "chapters" / exercise.chapter)
        solution = kept_of(chapter.folder, CPU).get(f"{exercise.name}-solution", {}).get("counts", {})
    except (Failed, ValueError, KeyError):  # the verdict stands, whatever has happened to these files
        return []
    says = chapter.passed.get(exercise.name)
    if says is None:
        return []
    found = result.load(build, exercise.name) or result.new(result.PASSED)
    return [*counts_table(found["counts"], solution, says.get("counters", [])), f"Remember: {says['takeaway']}"]
