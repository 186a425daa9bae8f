#!/usr/bin/env python3
"""Compiles a chapter with nvcc: ladder, self-check, starters, known-wrong answers, and solutions with
their checks.

    compile_with_nvcc.py FOLDER [nvcc arguments]

FOLDER is chapters/NN-topic, or another one with .cu files, such as common/tests. Each file goes into a
namespace of its own in one source, so that nvcc reads the headers once, and the step that it leaves to
g++ is left out: on the CPU device g++ compiles the same files. To build each of them takes nvcc many
minutes; common/tools/measure/measure.py run does it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "common/build"))
from all_mistakes import headers_of, write_answers  # noqa: E402


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


def source(found):
    """One translation unit. Headers are included first, outside of the namespaces."""
    files = [file for unit in found for file in unit]
    own = {f'"{file.name}"' for file in files}  # a check's include of its answer, which is included before it
    lines = [f"#include {header}" for header in sorted(headers_of(files) - own)]
    for index, unit in enumerate(found):
        lines += [f"namespace unit_{index} {{", *(f'#include "{file}"' for file in unit), "}"]
    return "\n".join(lines) + "\n"


def main():
    folder = TOP / sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        found = units(folder, Path(temporary))
        if not found:
            return f"{folder} has no .cu files"
        unit = Path(temporary) / f"{folder.name}.cu"
        unit.write_text(source(found), encoding="utf-8")
        command = ["nvcc", "-std=c++20", f"-I{TOP}/common/include", f"-I{folder}",
                   f"-I{TOP}/solutions/{folder.name}", *sys.argv[2:]]
        code = subprocess.run([*command, "--cuda", "-o", unit.with_suffix(".ii"), unit]).returncode
    print(f"{len(found)} lessons and answers, exit code {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
