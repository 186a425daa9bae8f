#!/usr/bin/env python3
"""Compiles a chapter with nvcc: ladder, self-check, starters, known-wrong answers, and solutions with
their checks.

    compile_with_nvcc.py FOLDER [nvcc arguments]

FOLDER is chapters/NN-topic, or another one with .cu files, such as common/tests. Each file goes into a
namespace of its own in one source, so that nvcc reads the headers once, and the step that it leaves to
g++ is left out: on the CPU device g++ compiles the same files. nvcc needs many minutes to build each of them; common/tools/measure/measure.py run does it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "common/build"))
from all_mistakes import INCLUDE, write_answers  # noqa: E402


def units(folder, temporary):
    """The files that share a namespace: a lesson, an answer, or a solution and its check.

    Known-wrong answers are made in the folder `temporary`.
    """
    chapter = folder.name
    found = [[file] for file in sorted(folder.glob("*.cu"))]
    found += [[file] for file in sorted((TOP / "exercises" / chapter).glob("*.cuh"))]
    for file in sorted((TOP / "solutions" / chapter).glob("*.cuh")):
        found.append([file, folder / "checks" / f"{file.stem}.cu"])
        diffs = sorted((folder / "mistakes" / file.stem).glob("*.diff"))
        found += [[answer] for answer in write_answers(temporary / file.stem, file, diffs)]
    return found


NAMED = re.compile(r"^namespace (\w+) \{", re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{", re.MULTILINE)


def with_a_name(file, temporary):
    """The file, or a copy whose unnamed namespace has a name.

    nvcc mixes up the unnamed namespaces of several named ones; in a namespace of its own no file needs one.
    """
    text = file.read_text(encoding="utf-8")
    if not UNNAMED.search(text):
        return file
    copy = temporary / "named" / str(file).replace("/", "_")
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(f'#line 1 "{file}"\n' + UNNAMED.sub("inline namespace own {", text), encoding="utf-8")
    return copy


def without_conditions(text):
    """A source without what is between an #if and its #endif."""
    lines, depth = [], 0
    for line in text.splitlines():
        depth += bool(re.match(r"\s*#\s*if", line))
        lines += [] if depth else [line]
        depth -= bool(re.match(r"\s*#\s*endif", line))
    return "\n".join(lines)


def source(found, temporary):
    """One translation unit. Headers are included first, outside of the namespaces."""
    files = [file for unit in found for file in unit]
    own = {f'"{file.name}"' for file in files}  # a check's include of its answer, which is included before it
    headers = {header for file in files for header in INCLUDE.findall(without_conditions(file.read_text(encoding="utf-8")))}
    lines = [f"#include {header}" for header in sorted(headers - own)]
    for index, unit in enumerate(found):
        # A namespace that a file shares with a header, or has for itself: here it is another one, inside of the unit.
        names = sorted({name for file in unit for name in NAMED.findall(file.read_text(encoding="utf-8"))})
        lines += [f"namespace {name} {{}}" for name in names] + [f"namespace unit_{index} {{"]
        lines += [f"namespace {name} {{ using namespace ::{name}; }}" for name in names]
        lines += [*(f'#include "{with_a_name(file, temporary)}"' for file in unit), "}"]
    return "\n".join(lines) + "\n"


def main():
    folder = TOP / sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        found = units(folder, Path(temporary))
        if not found:
            return f"{folder} has no .cu files"
        unit = Path(temporary) / f"{folder.name}.cu"
        unit.write_text(source(found, Path(temporary)), encoding="utf-8")
        command = ["nvcc", "-std=c++20", f"-I{TOP}/common/include", f"-I{folder}", f"-I{folder}/checks",
                   f"-I{TOP}/solutions/{folder.name}", *sys.argv[2:]]
        code = subprocess.run([*command, "--cuda", "-o", unit.with_suffix(".ii"), unit]).returncode
    print(f"{len(found)} lessons and answers, exit code {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
