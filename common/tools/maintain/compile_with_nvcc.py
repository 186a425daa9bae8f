"""Compiles chapters with nvcc: ladder, self-check, starters, variants of solutions, and solutions with
their checks.

A FOLDER is chapters/NN-topic, or another one with .cu files, such as common/tests. It becomes one source, each file in a
namespace, so that nvcc reads the headers of the toolkit, of Catch2 and of the course once: they are more than half of what a
chapter takes. The step that nvcc leaves to g++ is left out: on the CPU device clang compiles the same files. To build each
program alone takes nvcc many minutes; `common/dev measure run` does it.

What nvcc says of a folder follows from the content of some files and from its version. FOLDER/results/nvcc.toml keeps a digest
of them, as it was when nvcc compiled the folder without an error: as long as it is the same, the folder is not due.
"""

import re
import subprocess
import tempfile
import tomllib
from functools import cache
from pathlib import Path

from build.all_variants import write_answers
from tools.lib import includes
from tools.lib.failed import Failed
from tools.verdicts import due

RECORD = Path("results") / "nvcc.toml"
# What makes a source of a folder, and nvcc's command.
OWN = ("tools/maintain/compile_with_nvcc.py", "build/all_variants.py", "build/variants.py", "tools/lib/includes.py")


def units(top, folder, temporary):
    """The files that share a namespace: a lesson, an answer, or a solution and its check. Variants are made in the folder
    `temporary`."""
    chapter = folder.name
    found = [[file] for file in sorted(folder.glob("*.cu"))]
    found += [[file] for file in sorted((top / "exercises" / chapter).glob("*.cuh"))]
    for file in sorted((top / "solutions" / chapter).glob("*.cuh")):
        found.append([file, folder / "checks" / f"{file.stem}.cu"])
        diffs = due.variants_of(top, chapter, file.stem)
        found += [[answer] for answer in write_answers(temporary / file.stem, file, diffs)]
    return found


NAMED = re.compile(r"^namespace (\w+) \{", re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{", re.MULTILINE)


def places(top, folder):
    """Where the files of a folder find each other."""
    return [folder, folder / "checks", top / "solutions" / folder.name]


class Source:
    """The one source that a folder's files become, and their copies, which it includes."""

    def __init__(self, top, folder, temporary):
        self.top = top
        self.folder = folder
        self.temporary = temporary
        self.copies = {}  # by the original's path
        self.system_headers = set()
        self.units = units(top, folder, temporary / "variants")

    def find(self, name, file):
        """The file of the folder that `file` includes as "name"; None for one that is elsewhere."""
        found = includes.find_header(name, file.parent, places(self.top, self.folder))
        return found and found.resolve()

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
            copy.write_text(f'{once}#line 1 "{file}"\n' + UNNAMED.sub("inline namespace own {", text), encoding="utf-8")
        return self.copies[file]

    def text(self):
        """The source. The folder's headers come first, outside of the files' namespaces."""
        answers = {file for unit in self.units for file in unit}
        copies = {file: self.copy(file) for file in sorted(answers)}
        # What a header includes of another chapter, it includes within a namespace of its own: there it stays.
        others = [file for file in self.copies if self.top / "chapters" in file.parents and self.folder.resolve() not in file.parents]
        headers = sorted(file for file in self.copies if file not in answers and file not in others)
        names = sorted({name for file in self.copies for name in NAMED.findall(file.read_text(encoding="utf-8"))})
        lines = [*(f"#include {header}" for header in sorted(self.system_headers)), *(f"namespace {name} {{}}" for name in names)]
        # Of a call with an argument of CUDA's types, such as __half, C++ looks for the function in the global namespace, too.
        lines += ["namespace folder {", *(f"namespace {name} {{ using namespace ::{name}; }}" for name in names)]
        lines += [f'#include "{self.copies[header]}"' for header in headers]
        for index, unit in enumerate(self.units):
            lines.append(f"namespace unit_{index} {{")
            # A namespace that a file shares with a header, or has for itself: here it is another one, inside of the unit.
            lines += [f"namespace {name} {{ using namespace ::folder::{name}; }}"
                      for name in sorted({name for file in unit for name in NAMED.findall(file.read_text(encoding="utf-8"))})]
            lines += [*(f'#include "{copies[file]}"' for file in unit), "}"]
        return "\n".join([*lines, "}  // namespace folder", ""])


def without_conditions(text):
    """A source without what is between an #if and its #endif."""
    lines, depth = [], 0
    for line in text.splitlines():
        depth += bool(re.match(r"\s*#\s*if", line))
        lines += [] if depth else [line]
        depth -= bool(re.match(r"\s*#\s*endif", line))
    return "\n".join(lines)


@cache
def nvcc_says(option):
    """What nvcc answers to an option that compiles nothing."""
    return subprocess.run(["nvcc", option], capture_output=True, text=True, check=True).stdout


def compile_folder(top, folder, arguments):
    """Compiles a folder, with further arguments for nvcc; returns nvcc's exit code."""
    with tempfile.TemporaryDirectory() as temporary:
        source = Source(top, folder, Path(temporary))
        if not source.units:
            raise Failed(f"no .cu files in {folder}")
        file = Path(temporary) / "all.cu"
        file.write_text(source.text(), encoding="utf-8")
        fast = ["-Xcicc=-O0", "-Xptxas=-O0"]  # nothing here is run
        fast += ["--Ofast-compile=max"] if "--Ofast-compile" in nvcc_says("--help") else []  # from CUDA 12.8 on
        command = ["nvcc", "-std=c++20", *fast, f"-I{top}/common/include", f"-I{folder}", *arguments]
        code = subprocess.run([*command, "--cuda", "-o", file.with_suffix(".ii"), file]).returncode
    print(f"{folder.relative_to(top)}: {len(source.units)} lessons and answers, exit code {code}", flush=True)
    return code


# ---- what is due -----------------------------------------------------------------------------------


def files_of(top, folder):
    """The files that a folder's source is made of, and the course's headers that it reaches."""
    chapter = folder.name
    solutions = sorted((top / "solutions" / chapter).glob("*.cuh"))
    found = [*folder.glob("*.cu"), *(top / "exercises" / chapter).glob("*.cuh"), *solutions]
    for file in solutions:
        found += [folder / "checks" / f"{file.stem}.cu", *due.variants_of(top, chapter, file.stem)]
    where = (*places(top, folder), top / "common" / "include")
    reached = {header.resolve() for file in found for header in includes.reached(file, where, names=headers_in)}
    return [*found, *reached]


@cache
def headers_in(text):
    """The names of what a source includes, or a line that a variant adds."""
    return [header[1:-1] for header in includes.headers_of(re.sub(r"^\+", "", text, flags=re.MULTILINE))]


def content(top, folder, arguments):
    """The digest of what nvcc's word on a folder depends on."""
    files = [*files_of(top, folder), *(top / "common" / name for name in OWN)]
    return due.digest(top, files, nvcc_says("--version"), *arguments)


def recorded(folder):
    """The digest of what nvcc has compiled of a folder; None if there is no record."""
    file = folder / RECORD
    return tomllib.loads(file.read_text(encoding="utf-8"))["content"] if file.exists() else None


def compile_folders(top, folders, arguments, due_only, keeps):
    """Compiles the folders with further arguments for nvcc; where `due_only` is true, those whose content is not the recorded
    one, and those whose turn it is. Where `keeps` is true, the content of what nvcc compiles without an error is recorded.
    Returns an exit code."""
    folders = [(top / folder).resolve() for folder in folders]
    contents = {folder: content(top, folder, arguments) for folder in folders}  # as they are before nvcc reads them
    changed = [folder for folder in folders if recorded(folder) != contents[folder]]
    chosen = {*changed, *due.in_turn(top, folders)} if due_only else set(folders)
    failed = False
    for folder in (folder for folder in folders if folder in chosen):
        if compile_folder(top, folder, arguments) != 0:
            failed = True
        elif keeps:
            (folder / RECORD).parent.mkdir(exist_ok=True)
            (folder / RECORD).write_text(
                "# What nvcc has compiled of this folder without an error: `common/dev nvcc --record` writes it.\n"
                f'content = "{contents[folder]}"\n', encoding="utf-8",
            )
    if left_out := [str(folder.relative_to(top)) for folder in folders if folder not in chosen]:
        print(f"not due: {' '.join(left_out)}")
    return int(failed)
