"""A chapter's file includes what it names of the course: with the CPU device's precompiled header a forgotten include compiles,
and nvcc, which has none, refuses it on a machine with a GPU.
"""

import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*")
NAMED = re.compile(r"\bcourse::(\w+)")


class Includes:
    """Which words the files have that a file includes, directly or not."""

    def __init__(self, top):
        self.folders = [top / "common/include", top / "common/simt/include"]
        self.texts = {}

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = COMMENT.sub("", file.read_text(encoding="utf-8"))
        return self.texts[file]

    def included(self, file, folders):
        """The files below `folders` that the file includes, directly or not; without itself."""
        found, remaining = set(), [file]
        while remaining:
            reader = remaining.pop()
            for name in INCLUDE.findall(self.text(reader)):
                header = next((place / name for place in (reader.parent, *folders, *self.folders) if (place / name).is_file()), None)
                if header and header not in found:
                    found.add(header)
                    remaining.append(header)
        return found - {file}

    def missing(self, file, folders):
        """Names of course:: that the file uses, and that no file has which it includes."""
        words = {word for header in self.included(file, folders) for word in re.findall(r"\w+", self.text(header))}
        return sorted(set(NAMED.findall(self.text(file))) - words)


def problems_of(top):
    """A line for each name of course:: in a chapter whose header is not included."""
    includes = Includes(top)
    problems = []
    for chapter in sorted((top / "chapters").glob("[0-9]*")):
        for file in sorted([*chapter.glob("*.cu*"), *chapter.glob("checks/*.cu*"), *chapter.glob("scores/*.cu*")]):
            problems += [
                f"{file.relative_to(top).as_posix()}: names course::{name}, and includes no header that has it"
                for name in includes.missing(file, [chapter, top / "solutions" / chapter.name])
            ]
    return problems
