"""Rows of a profile as C++, for the check of an exercise that asks to read the profile.

In a source in a chapter's checks/, among the elements of an array:

    // rows: A = sum_grid_stride, B = sum_shuffle_down
    // rows end

Between these lines `common/dev generate` writes one line per rung, {'A', MICROSECONDS, COUNTER, COUNTER, ...},: its median
on the ladder for the profile's n, as tables show it, and the counters of [profile] in chapter.toml in their order.
"""

import re

from tools.lib.failed import Failed
from tools.measure import ladder_profile, lesson

ROWS = re.compile(r"^( *)// rows: (.+)\n(?:.*\n)*? *// rows end\n", re.MULTILINE)


def has_rows(text):
    """Whether a source has such lines."""
    return "// rows: " in text


def line(chapter, label, name, where):
    """The element of one rung."""
    _, counters, row = lesson.profiled(chapter, name, where)
    values = [ladder_profile.value_of(counter, row["metrics"]) for counter in counters]
    if None in values:
        raise Failed(f"{where}: ncu had no {counters[values.index(None)]['name']} for {name}")
    numbers = [f"{lesson.profiled_time(chapter, name, where):.1f}", *(f"{value:.10g}" for value in values)]
    return f"{{'{label}', {', '.join(numbers)}}},"


def with_generated(chapter, file, text):
    """A source's text with its generated lines as they should be."""
    where = f"{file}: // rows"

    def made(match):
        indent, names = match.groups()
        lines = [f"// rows: {names}", *(line(chapter, label, name, where) for label, name in lesson.labelled(names)), "// rows end"]
        return "".join(f"{indent}{one}\n" for one in lines)

    new, count = ROWS.subn(made, text)
    if count != text.count("// rows: "):
        raise Failed(f"{where}: needs one line // rows: LABEL = NAME, ... and, below it, one line // rows end")
    return new


def sources_of(chapter):
    """The sources in a chapter's checks that have such lines."""
    return [file for file in sorted((chapter / "checks").glob("*.cu*")) if has_rows(file.read_text(encoding="utf-8"))]
