"""Which lines of a source a page shows: the options of a marker such as <!-- kernel NAME | cut FIRST .. LAST -->."""

from tools.lib.failed import Failed

LONGEST = 100  # characters of a line of code: more of them are wider than the page


def name_and_options(text):
    """'NAME | key value | key' as (NAME, [(key, value), ...])."""
    name, *options = (part.strip() for part in text.split(" | "))
    return name, [tuple(option.partition(" ")[::2]) for option in options]


def line_with(lines, text, where):
    """The index of the one line that has this text."""
    found = [index for index, line in enumerate(lines) if text in line]
    if len(found) != 1:
        raise Failed(f"{where}: {len(found)} lines have \"{text}\", and one should")
    return found[0]


def chosen(code, options, where):
    """The lines of code that a page shows."""
    lines = code.split("\n")
    keep = ["only" not in dict(options)] * len(lines)
    for key, value in options:
        if key not in ("cut", "only"):
            raise Failed(f"{where}: unknown option '{key}': cut or only")
        first, _, last = (part.strip() for part in value.partition(" .. "))
        begin = line_with(lines, first, where)
        end = line_with(lines, last, where) if last else begin
        if end < begin:
            raise Failed(f"{where}: \"{last}\" comes before \"{first}\"")
        keep[begin : end + 1] = [key == "only"] * (end + 1 - begin)
    shown, inside = [], False
    for index, line in enumerate(lines):
        if keep[index]:
            shown.append(line)
            inside = True
        elif inside and keep[index - 1] and any(keep[index:]):
            shown.append(line[: len(line) - len(line.lstrip())] + "...")
    if long := [line for line in shown if len(line) > LONGEST]:
        raise Failed(f"{where}: a line has more than {LONGEST} characters: {long[0].strip()}")
    return shown
