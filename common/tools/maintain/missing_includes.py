"""A chapter's file includes what it names of the course: with the CPU device's precompiled header a forgotten include compiles,
and nvcc, which has none, refuses it on a machine with a GPU.
"""

import functools
import re

from tools.lib import includes
from tools.lib.cpp_text import blank_comments

NAMED = re.compile(r"\bcourse::(\w+)")
WORD = re.compile(r"\w+")


def problems_of(top):
    """A line for each name of course:: in a chapter that no header has which the file includes, itself or through others."""
    words = {}  # of a header, by its path
    find = functools.cache(includes.find_header)
    problems = []
    for chapter in sorted((top / "chapters").glob("[0-9]*")):
        # Not the answers: a check includes what it needs, whatever a learner's file includes.
        folders = (chapter, top / "common/include", top / "common/simt/include")
        for file in sorted([*chapter.glob("*.cu*"), *chapter.glob("checks/*.cu*"), *chapter.glob("scores/*.cu*")]):
            headers = includes.reached(file, folders, all_names, find)
            for header in headers - words.keys():
                words[header] = set(WORD.findall(code(header)))
            names = set(NAMED.findall(code(file))).difference(*(words[header] for header in headers))
            problems += [
                f"{file.relative_to(top).as_posix()}: names course::{name}, and includes no header that has it" for name in sorted(names)
            ]
    return problems


@functools.cache
def all_names(text):
    """The names of all headers that a text includes, in quotes or not."""
    return [header[1:-1] for header in includes.headers_of(text)]


def code(file):
    """A file's text without its comments."""
    return blank_comments(file.read_text(encoding="utf-8"))
