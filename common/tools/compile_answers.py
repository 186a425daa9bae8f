#!/usr/bin/env python3
"""Compiles all answers to a chapter's exercises with nvcc: starters, solutions, and known-wrong ones.

    compile_answers.py CHAPTER [nvcc arguments]

Each answer goes into a namespace of its own in one file, so that nvcc starts once for the chapter. What
only an instantiation shows is left to the build with the checks, which takes nvcc minutes.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"][^>\"]+[>\"])", re.MULTILINE)


def answers(chapter):
    folders = [TOP / "exercises" / chapter, TOP / "solutions" / chapter]
    files = [file for folder in folders for file in sorted(folder.glob("*.cuh"))]
    return files + sorted((TOP / "chapters" / chapter / "mistakes").glob("*/*/*.cuh"))


def source(files):
    """One translation unit. Headers are included first, outside of the namespaces."""
    headers = sorted({header for file in files for header in INCLUDE.findall(file.read_text(encoding="utf-8"))})
    lines = [f"#include {header}" for header in headers]
    for index, file in enumerate(files):
        lines.append(f'namespace answer_{index} {{\n#include "{file}"\n}}')
    return "\n".join(lines) + "\n"


def main():
    chapter = sys.argv[1]
    files = answers(chapter)
    if not files:
        return f"there are no answers for chapters/{chapter}"
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "answers.cu"
        unit.write_text(source(files), encoding="utf-8")
        command = ["nvcc", "-std=c++20", f"-I{TOP}/common/include", f"-I{TOP}/chapters/{chapter}", *sys.argv[2:]]
        code = subprocess.run([*command, "-c", "-o", Path(folder) / "answers.o", unit]).returncode
    print(f"{len(files)} answers, exit code {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
