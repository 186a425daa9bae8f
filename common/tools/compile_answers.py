#!/usr/bin/env python3
"""Compiles all answers to a chapter's exercises with nvcc: starters, known-wrong ones, and solutions
with their checks.

    compile_answers.py CHAPTER [nvcc arguments]

Each of them goes into a namespace of its own in one file, so that nvcc reads the headers once for the
chapter. To build every answer with its check takes nvcc minutes; gpu_check.sh does it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"][^>\"]+[>\"])", re.MULTILINE)


def units(chapter):
    """The files that share a namespace: a starter, a known-wrong answer, or a solution and its check."""
    folder = TOP / "chapters" / chapter
    found = [[file] for file in sorted((TOP / "exercises" / chapter).glob("*.cuh"))]
    found += [[file] for file in sorted((folder / "mistakes").glob("*/*/*.cuh"))]
    for file in sorted((TOP / "solutions" / chapter).glob("*.cuh")):
        found.append([file, folder / "checks" / f"{file.stem}.cu"])
    return found


def source(found):
    """One translation unit. Headers are included first, outside of the namespaces."""
    files = [file for unit in found for file in unit]
    own = {f'"{file.name}"' for file in files}  # a check's include of its answer, which stands before it
    headers = {header for file in files for header in INCLUDE.findall(file.read_text(encoding="utf-8"))}
    lines = [f"#include {header}" for header in sorted(headers - own)]
    for index, unit in enumerate(found):
        lines += [f"namespace unit_{index} {{", *(f'#include "{file}"' for file in unit), "}"]
    return "\n".join(lines) + "\n"


def main():
    chapter = sys.argv[1]
    found = units(chapter)
    if not found:
        return f"there are no answers for chapters/{chapter}"
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "answers.cu"
        unit.write_text(source(found), encoding="utf-8")
        command = ["nvcc", "-std=c++20", f"-I{TOP}/common/include", f"-I{TOP}/chapters/{chapter}",
                   f"-I{TOP}/solutions/{chapter}", *sys.argv[2:]]
        code = subprocess.run([*command, "-c", "-o", Path(folder) / "answers.o", unit]).returncode
    print(f"{len(found)} answers, exit code {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
