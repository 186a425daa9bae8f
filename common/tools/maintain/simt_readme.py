"""The tables in common/simt/README.md: the files of each layer, by their first comments, and the counters.

A layer's file is described by the first sentence of its first comment; a .hpp and a .cpp of one name are one row, which the
header describes. The counters are the entries of common/simt/include/simt/counters.def.
"""

import re
from itertools import takewhile
from pathlib import Path

from tools.lib.documents import section
from tools.lib.failed import Failed
from tools.maintain.simt_layers import LAYERS

SENTENCE = re.compile(r".*?\.(?=\s|$)")
COUNTERS = Path("common") / "simt" / "include" / "simt" / "counters.def"
COUNTER = re.compile(r'^SIMT_COUNTER\((\w+), (\w+), (sum|maximum), "\w*",\s+"([^"]+)",\s+"([^"]*)"\)$', re.MULTILINE)
CODE = re.compile(r"(?<![`\w])__\w+(?:\(\))?")  # bold in Markdown, without its quotes
CPP = {".cpp", ".cu", ".cuh", ".def", ".h", ".hpp", ""}  # "": <cuda/atomic>
PROGRAMS = "programs"  # in tests: as their authors would have written them


# ---- first comments ------------------------------------------------------------------------------


def first_sentence(text):
    """What a C++ file says of itself; "" if it does not begin with a comment."""
    lines = text.split("\n")
    if lines[0] == "// -*- C++ -*-":
        del lines[0]
    comment = takewhile(lambda line: line.startswith("//") and line.strip("/ "), lines)
    sentence = SENTENCE.match(" ".join(line.lstrip("/").strip() for line in comment))
    return sentence.group() if sentence else ""


def without_comment(top):
    """The C++ files of common/simt that do not say in a first comment what they are."""
    folder = top / "common" / "simt"
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix in CPP)
    return [
        f"{file.relative_to(top)}: its first comment is to say in one sentence what the file is"
        for file in files
        if PROGRAMS not in file.relative_to(folder).parts and not first_sentence(file.read_text(encoding="utf-8"))
    ]


# ---- tables --------------------------------------------------------------------------------------


def layers_table(sources):
    """Each layer from the top: what it owns, and its files."""
    lines = ["| layer, from the top | file | what it is |", "| --- | --- | --- |"]
    for layer in reversed(LAYERS):
        lines.append(f"| **{layer}** | | **{LAYERS[layer]}** |")
        files = {}  # the header of each name, or its only file
        for file in sorted((sources / layer).iterdir()):
            files[file.stem] = file  # .cpp comes before .hpp
        for stem, file in files.items():
            sentence = first_sentence(file.read_text(encoding="utf-8")).rstrip(".")
            lines.append(f"| | `{stem}` | {CODE.sub(lambda code: f'`{code.group()}`', sentence)} |")
    return "\n".join(lines)


def counters_of(file):
    """The entries of a list of counters: (name, unit, merge, what, costs)."""
    text = file.read_text(encoding="utf-8")
    entries = COUNTER.findall(text)
    if len(entries) != len(re.findall(r"^SIMT_COUNTER\(", text, re.MULTILINE)):
        raise Failed(f'{file}: an entry is not SIMT_COUNTER(name, unit, sum or maximum, "name in a ladder or nothing", "what", "costs or nothing")')
    return entries


def compared_counters(top):
    """The names of those in which a learner's answer can be compared with the solution."""
    return [entry[0] for entry in counters_of(top / COUNTERS) if entry[4]]


def counters_table(file):
    """Each counter: its name, its unit, how launches are merged, and what is counted."""
    lines = ["| counter | unit | merge | what is counted |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| `{name}` | {unit} | {merge} | {what} |" for name, unit, merge, what, _ in counters_of(file))])


def documents(top):
    """A Document for each table."""
    folder = top / "common" / "simt"
    readme, counters = folder / "README.md", top / COUNTERS
    return [
        section(readme, "layers", "the layers of the CPU device, from the first comments of their files", layers_table(folder / "src")),
        section(readme, "counters", f"the counters, from {counters.name}", counters_table(counters)),
    ]
