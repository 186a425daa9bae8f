"""clang's library, of the compiler that the CPU device uses: the header that answers are read with, and cursors.

The package python3-clang-N has the bindings (setup.sh --contributor). They know fewer kinds of cursors than the library: a
kind is used by its number here.
"""

import ctypes
import importlib
import json
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from build.compiler.choosing import find_compiler
from build.compiler.flags import MACROS
from build.compiler.front_end import HEADER, OPERATORS, RULES
from build.compiler import depfile
from build.compiler.messages import HEADERS
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import vocabulary

INCLUDE = TOP / "common/include"
WARNINGS = ["-Wno-everything", "-Wglobal-constructors", "-Wexit-time-destructors", "-Wformat", "-Wreturn-stack-address", "-Wreturn-type"]
SYSTEM_PACKAGES = "/usr/lib/python3/dist-packages"
DETAILED = 1  # the library's option: with the preprocessor's record


@lru_cache(maxsize=None)
def compiler(record=None):
    """The clang of the CPU device: its command. `record` is what Precompiled keeps of it: looking for it takes half a second."""
    if record is not None:
        return tuple(json.loads(Path(record).read_text(encoding="utf-8"))["compiler"])
    family, _, *command = find_compiler("", ["clang++"]).split("\n")
    if family != "clang":
        raise Failed("answers are read by clang, and there is none: common/tools/setup.sh --contributor")
    return tuple(command)


@lru_cache(maxsize=None)
def system_module(name):
    """A module of the system's python3, which another one that comes first on PATH can read, too: it is nothing but Python."""
    try:
        return importlib.import_module(name)
    except ImportError:
        sys.path.append(SYSTEM_PACKAGES)
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(SYSTEM_PACKAGES)


def bindings(record=None):
    """The module clang.cindex, for the library of the CPU device's compiler; once for a process."""
    return bindings_of(compiler(record))


@lru_cache(maxsize=None)
def bindings_of(command):
    """The module clang.cindex, for the library of the version of this clang."""
    try:
        cindex = system_module("clang.cindex")
    except ImportError as problem:
        raise Failed("answers are read by clang's library: its package python3-clang is missing (common/tools/setup.sh --contributor)") from problem
    folder = Path(os.path.realpath(command[-1])).parents[1] / "lib"
    if not (library := next((file for name in ("libclang.so.1", "libclang.so") if (file := folder / name).exists()), None)):
        raise Failed(f"answers are read by clang's library, and {folder} has none: common/tools/setup.sh --contributor")
    if cindex.Config.loaded:
        return cindex
    cindex.Config.set_library_file(str(library))
    cindex.Config.set_compatibility_check(False)  # newer functions are not used
    library = cindex.conf.lib
    library.clang_getNumOverloadedDecls.argtypes = [cindex.Cursor]
    library.clang_getNumOverloadedDecls.restype = ctypes.c_uint
    library.clang_getOverloadedDecl.argtypes = [cindex.Cursor, ctypes.c_uint]
    library.clang_getOverloadedDecl.restype = cindex.Cursor
    library.clang_getOverloadedDecl.errcheck = cindex.Cursor.from_result
    library.clang_getSpecializedCursorTemplate.argtypes = [cindex.Cursor]
    library.clang_getSpecializedCursorTemplate.restype = cindex.Cursor
    library.clang_getSpecializedCursorTemplate.errcheck = cindex.Cursor.from_cursor_result
    library.clang_getSpellingLocation.argtypes = [cindex.SourceLocation, ctypes.POINTER(ctypes.c_void_p), *[ctypes.POINTER(ctypes.c_uint)] * 3]
    library.clang_getSpellingLocation.restype = None
    class Ranges(ctypes.Structure):
        _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange))]

    library.clang_getSkippedRanges.argtypes = [cindex.TranslationUnit, cindex.c_object_p]
    library.clang_getSkippedRanges.restype = ctypes.POINTER(Ranges)
    library.clang_getFileName.argtypes = [ctypes.c_void_p]
    library.clang_getFileName.restype = cindex._CXString
    library.clang_getFileName.errcheck = cindex._CXString.from_result
    return cindex


def flags():
    macros = [f"-D{name}={value}" for name, value in MACROS.items()]
    rules = [rule for rule in RULES if rule not in ("-fsyntax-only", "-w")]
    return ["-std=c++20", f"-I{HEADERS}", f"-I{INCLUDE}", *macros, *rules, *WARNINGS]


def header_text():
    """All that an answer may include, of the course and of the system, in one header."""
    names = sorted(name for name in vocabulary.HEADERS if "/" not in name or name.startswith(("cuda/", "cooperative")))
    return "\n".join([*(f"#include <{name}>" for name in names), *(f"#include <course/{name}.cuh>" for name in sorted(vocabulary.COURSE_HEADERS))]) + "\n"

# front_end.hpp declares printf for kernels, and its declaration for the host is not found after that.
AFTER = 'extern "C" __host__ int printf(const char* __restrict, ...);\n'


class Precompiled:
    """What nearly every answer includes, read once: a header, and what its files declare. It belongs to a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.source, self.after, self.file, self.facts = (self.folder / name for name in ("reading.hpp", "after.hpp", "reading.pch", "reading.json"))

    def make(self):
        """Makes it where it is not there."""
        if self.facts.exists():
            return self
        self.folder.mkdir(parents=True, exist_ok=True)
        self.source.write_text(header_text(), encoding="utf-8")
        self.after.write_text(AFTER, encoding="utf-8")
        made_of = self.folder / "reading.d"
        command = [*compiler(), *flags(), "-Wno-everything", "-Xclang", "-detailed-preprocessing-record", "-fsyntax-only", "-Xclang", "-emit-pch", "-Xclang", "-fpch-instantiate-templates",
                   "-Xclang", "-o", "-Xclang", str(self.file), "-include", HEADER, str(self.source), "-MD", "-MQ", "object", "-MF", str(made_of)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"the headers for reading answers do not compile: {(done.stderr.splitlines() or [''])[0]}")
        files = [file for file in depfile.read(str(made_of)) if Path(file).is_file()]
        words = {word for file in files for word in re.findall(r"[A-Za-z_]\w*", Path(file).read_text(encoding="utf-8", errors="replace"))}
        self.write(sorted(words))
        return self

    def write(self, words):
        partial = self.facts.with_suffix(".partial")
        signatures, functions = self.signatures()
        risky = {name for name, _ in signatures if not vocabulary.PLAIN.fullmatch(name) and not name.startswith(("_", "operator"))}
        facts = {"words": words, "risky": sorted(risky), "signatures": sorted(name + types for name, types in signatures), "functions": sorted(functions), "compiler": compiler()}
        partial.write_text(json.dumps(facts), encoding="utf-8")
        partial.replace(self.facts)

    def signatures(self):
        """{(name, types)} of the functions in the global namespace: an answer may not define one of them again, and name only
        those of the vocabulary, because a template's call could reach others through the types of its arguments. And the names
        of these, of templates of functions, and of the course's: an overload could be called instead of one of them."""
        empty = self.folder / "nothing.cu"
        empty.write_text("", encoding="utf-8")
        found, names = set(), set()
        cursors = list(parse(empty, self, (), with_headers=True).cursor.get_children())
        while cursors:
            cursor = cursors.pop()
            if cursor._kind_id in LINKAGE:
                cursors += cursor.get_children()
            elif cursor._kind_id == NAMESPACE and cursor.spelling == "course":
                names |= {child.spelling for child in cursor.get_children() if child._kind_id in (FUNCTION, TEMPLATE)}
            elif cursor._kind_id in (FUNCTION, TEMPLATE):
                names.add(cursor.spelling)
                if cursor._kind_id == FUNCTION:
                    found.add((cursor.spelling, types_of(cursor)))
        return found, names

    def read(self):
        """(words, risky names, signatures, names of functions), each a set; read once in a process."""
        return facts_in(self.facts)


@lru_cache(maxsize=None)
def facts_in(file):
    facts = json.loads(file.read_text(encoding="utf-8"))
    return tuple(frozenset(facts[name]) for name in ("words", "risky", "signatures", "functions"))


def types_of(function):
    """The parameters' types of a function, as C++ tells functions apart."""
    return "(" + ", ".join(child.type.get_canonical().spelling.replace("const", "").replace(" ", "") for child in function.get_arguments()) + ")"


FUNCTION, TEMPLATE, NAMESPACE, LINKAGE = 8, 30, 22, (1, 23)  # extern "C" { }: the library shows it as either


def parse(file, precompiled, quoted, with_headers=False):
    """A translation unit: the file, after all that answers include. `quoted` are the folders for #include "..."."""
    cindex = bindings()
    index = cindex.Index(cindex.conf.lib.clang_createIndex(0 if with_headers else 1, 0))
    arguments = [*flags(), "-Xclang", "-include-pch", "-Xclang", str(precompiled.file), "-include", OPERATORS, "-include", str(precompiled.after),
                 *(word for folder in quoted for word in ("-iquote", str(folder)))]
    return index.parse(str(file), arguments, options=DETAILED)


def written_at(location):
    """(file, line, offset) at which a location's text stands: in a macro's body or argument, not where the macro is used."""
    cindex = bindings()
    file, line, column, offset = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    cindex.conf.lib.clang_getSpellingLocation(location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset))
    return (cindex.conf.lib.clang_getFileName(file) if file else "", line.value, offset.value)


def skipped_ranges(unit, path):
    """(first byte, last byte) of what the preprocessor leaves out of the file."""
    found = bindings().conf.lib.clang_getSkippedRanges(unit, unit.get_file(path)).contents
    return [(found.ranges[i].start.offset, found.ranges[i].end.offset) for i in range(found.count)]
