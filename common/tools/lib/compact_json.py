"""JSON for files that are read by row: one row per line.

Each key of the outermost object begins a line. Where its value is a list or an object of rows, each row has a
line of its own. So a diff names the rows that changed, and a table of 50 rows takes 50 lines.
"""

import json


def line_of(value):
    """A value on one line."""
    return json.dumps(value, ensure_ascii=False)


def has_rows(value):
    """Whether a value is a list or an object that holds further ones."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(row, (dict, list)) for row in inside)


def text_of(content):
    """The text of a file that holds the object `content`."""
    parts = []
    for key, value in content.items():
        if not has_rows(value):
            parts.append(f"  {line_of(key)}: {line_of(value)}")
            continue
        if isinstance(value, dict):
            rows, (begin, end) = [f"{line_of(name)}: {line_of(row)}" for name, row in value.items()], "{}"
        else:
            rows, (begin, end) = [line_of(row) for row in value], "[]"
        parts.append(f"  {line_of(key)}: {begin}\n    " + ",\n    ".join(rows) + f"\n  {end}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(file, content):
    """Writes the object `content`; makes the folder where it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text_of(content), encoding="utf-8")
