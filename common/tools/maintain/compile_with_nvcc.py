"""Compiles chapters with nvcc: ladder, self-check, starters, variants of solutions, and solutions with
their checks.

A FOLDER is chapters/NN-topic, or another one with .cu files, such as common/tests. All folders become one source, each
folder in a namespace and each file in one inside that, so that nvcc reads the headers of the toolkit, of Catch2 and
of the course once: they are more than half of what a chapter takes. The step that nvcc leaves to g++ is left out: on
the CPU device clang compiles the same files. To build each program alone takes nvcc many minutes;
`common/dev measure run` does it.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from build.all_variants import write_answers
from tools.lib import includes
from tools.lib.checkout import TOP
from tools.lib.failed import Failed


def units(folder, temporary, with_variants):
    """The files that share a namespace: a lesson, an answer, or a solution and its check.

    Variants, those of the exercises that `with_variants` is true of, are made in the folder `temporary`.
    """
    chapter = folder.name
    found = [[file] for file in sorted(folder.glob("*.cu"))]
    found += [[file] for file in sorted((TOP / "exercises" / chapter).glob("*.cuh"))]
    for file in sorted((TOP / "solutions" / chapter).glob("*.cuh")):
        found.append([file, folder / "checks" / f"{file.stem}.cu"])
        if not with_variants(file.stem):
            continue
        diffs = sorted(folder.glob(f"mistakes/{file.stem}/*.diff")) + sorted(folder.glob(f"alternatives/{file.stem}/*.diff"))
        found += [[answer] for answer in write_answers(temporary / file.stem, file, diffs)]
    return found


NAMED = re.compile(r"^namespace (\w+) \{", re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{", re.MULTILINE)


class Chapter:
    """The text of a folder's files in one namespace."""

    def __init__(self, folder, temporary, with_variants):
        self.folder = folder
        self.temporary = temporary / folder.name
        self.temporary.mkdir()
        self.places = [folder, folder / "checks", TOP / "solutions" / folder.name]
        self.copies = {}  # by the original's path
        self.system_headers = set()
        self.units = units(folder, self.temporary / "variants", with_variants)

    def find(self, name, file):
        """The file of the folder that `file` includes as "name"; None for one that is elsewhere."""
        for place in (file.parent, *self.places):
            if (place / name).is_file():
                return (place / name).resolve()
        return None

    def copy(self, file):
        """A copy of the file that includes copies of the folder's other files, by their whole paths.

        nvcc mixes up the unnamed namespaces of several named ones; in a namespace of its own no file needs one.
        """
        if file not in self.copies:
            self.copies[file] = copy = self.temporary / re.sub(r"\W", "_", str(file))
            text = file.read_text(encoding="utf-8")
            headers = includes.headers_of(without_conditions(text))
            self.system_headers |= {header for header in headers if header.startswith("<")}
            own = {header: self.find(header[1:-1], file) for header in headers if header.startswith('"')}
            for header, found in own.items():
                if found:
                    text = text.replace(f"#include {header}", f'#include "{self.copy(found)}"')
                else:
                    self.system_headers.add(header)
            once = "#pragma once\n" if "#pragma once" in text else ""
            # The folder's name: nvcc takes two files of the same text and time for one, and reads it once.
            reader = f"// for {self.folder.name}\n"
            copy.write_text(f'{once}{reader}#line 1 "{file}"\n' + UNNAMED.sub("inline namespace own {", text), encoding="utf-8")
        return self.copies[file]

    def text(self):
        """The namespace. The folder's headers come first, outside of the files' namespaces."""
        answers = {file for unit in self.units for file in unit}
        copies = {file: self.copy(file) for file in sorted(answers)}
        # What a header includes of another chapter, it includes within a namespace of its own: there it stays.
        others = [file for file in self.copies if TOP / "chapters" in file.parents and self.folder.resolve() not in file.parents]
        headers = sorted(file for file in self.copies if file not in answers and file not in others)
        own = "chapter_" + re.sub(r"\W", "_", self.folder.name)
        names = sorted({name for file in self.copies for name in NAMED.findall(file.read_text(encoding="utf-8"))})
        # A namespace that a file shares with a header, or has for itself: here it is another one, inside of the unit.
        lines = [f"namespace {name} {{}}" for name in names] + [f"namespace {own} {{"]
        lines += [f"namespace {name} {{ using namespace ::{name}; }}" for name in names]
        lines += [f'#include "{self.copies[header]}"' for header in headers]
        for index, unit in enumerate(self.units):
            lines.append(f"namespace unit_{index} {{")
            lines += [f"namespace {name} {{ using namespace ::{own}::{name}; }}"
                      for name in sorted({name for file in unit for name in NAMED.findall(file.read_text(encoding="utf-8"))})]
            lines += [*(f'#include "{copies[file]}"' for file in unit), "}"]
        return "\n".join([*lines, f"}}  // namespace {own}", ""])


def without_conditions(text):
    """A source without what is between an #if and its #endif."""
    lines, depth = [], 0
    for line in text.splitlines():
        depth += bool(re.match(r"\s*#\s*if", line))
        lines += [] if depth else [line]
        depth -= bool(re.match(r"\s*#\s*endif", line))
    return "\n".join(lines)


def compile_folders(folders, arguments, with_variants):
    """Compiles the folders, with variants of the exercises that `with_variants` is true of, and with further arguments for nvcc;
    returns nvcc's exit code."""
    with tempfile.TemporaryDirectory() as temporary:
        chapters = [Chapter(TOP / folder, Path(temporary), with_variants) for folder in folders]
        if empty := [str(chapter.folder) for chapter in chapters if not chapter.units]:
            raise Failed(f"no .cu files in {', '.join(empty)}")
        texts = [chapter.text() for chapter in chapters]
        headers = sorted({header for chapter in chapters for header in chapter.system_headers})
        source = Path(temporary) / "all.cu"
        source.write_text("".join(f"#include {header}\n" for header in headers) + "".join(texts), encoding="utf-8")
        knows = subprocess.run(["nvcc", "--help"], capture_output=True, text=True, check=True).stdout
        fast = ["-Xcicc=-O0", "-Xptxas=-O0"]  # nothing here is run
        fast += ["--Ofast-compile=max"] if "--Ofast-compile" in knows else []  # from CUDA 12.8 on
        command = ["nvcc", "-std=c++20", *fast, f"-I{TOP}/common/include", *(f"-I{TOP / folder}" for folder in folders), *arguments]
        code = subprocess.run([*command, "--cuda", "-o", source.with_suffix(".ii"), source]).returncode
    print(f"{sum(len(chapter.units) for chapter in chapters)} lessons and answers, exit code {code}")
    return code
