"""The options of nvcc, clang and g++: what they mean for a program that is compiled for the CPU device."""

import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple, Optional

from tools.lib.failed import Failed

# Names are those without their dashes: nvcc takes one or two. These have a value, after "=" or as the next word.
FOLDERS = {"iquote": 0, "I": 1, "include-path": 1, "isystem": 2, "system-include": 2, "idirafter": 3}  # searched in this order
MACROS = {"D": "-D", "define-macro": "-D", "U": "-U", "undefine-macro": "-U"}
FORCED = {"include", "pre-include"}
HOST = {"Xcompiler", "compiler-options", "Xpreprocessor", "Xarch_host"}  # options for the host's compiler, with commas between
RESPONSE = {"optf", "options-file"}
LIBRARIES = {"l": "-l", "library": "-l", "L": "-L", "library-path": "-L"}
JOINED = re.compile(r"-(isystem|iquote|idirafter|include|I|D|U|L|l|x|o|t)=?(?P<value>.+)", re.S)  # a value in the same word
WITH_VALUE = {
    *FOLDERS, *MACROS, *FORCED, *HOST, *RESPONSE, *LIBRARIES, "std", "x", "o", "t",
    "output-file", "arch", "gpu-architecture", "code", "gpu-code", "gencode", "generate-code", "ccbin", "compiler-bindir",
    "maxrregcount", "Xptxas", "ptxas-options", "Xcudafe", "Xnvlink", "nvlink-options", "Xfatbin", "fatbin-options", "Xarchive",
    "archive-options", "Xlinker", "linker-options", "odir", "output-directory", "MF", "MT", "MQ", "dependency-output",
    "dependency-target-name", "threads", "split-compile", "diag-suppress", "diag-error", "diag-warn", "cudart", "cudadevrt",
    "working-directory", "keep-dir", "target-directory", "tdir", "machine", "relocatable-device-code", "rdc", "ftz", "prec-div",
    "prec-sqrt", "fmad", "default-stream", "optimize", "dopt", "time", "brief-diagnostics", "jump-table-density", "cuda-gpu-arch",
    "offload-arch", "cuda-path", "gcc-toolchain", "Xclang", "Xarch_device", "mllvm", "param", "target", "isysroot", "sysroot",
    "arch-list", "minimal", "std-par", "device-stack-protector", "compress-mode", "run-args",
}
# Options without a value that change nothing here: which files are made, for which GPU, how fast the code is, what is warned of.
HARMLESS = {
    "c", "dc", "dw", "dlink", "device-c", "device-w", "device-link", "compile", "lib", "link", "run", "r", "E", "S", "preprocess", "ptx",
    "cubin", "fatbin", "optix-ir", "G", "device-debug", "g", "debug", "pg", "profile", "lineinfo", "generate-line-info", "keep", "dryrun", "v",
    "verbose", "w", "Werror", "disable-warnings", "restrict", "expt-relaxed-constexpr", "expt-extended-lambda", "extended-lambda",
    "forward-unknown-to-host-compiler", "forward-unknown-to-host-linker", "forward-unknown-opts", "allow-unsupported-compiler", "resource-usage",
    "res-usage", "extra-device-vectorization", "dlto", "dlink-time-opt", "lto", "source-in-ptx", "src-in-ptx", "no-align-double",
    "no-compress", "no-host-device-initializer-list", "no-host-device-move-forward", "no-exceptions", "shared", "static", "clean", "keep-device-functions",
    "display-error-number", "no-display-error-number", "expt-relaxed-host-device", "pipe", "pthread", "ansi", "P", "rdynamic", "nocudainc",
    "nocudalib", "cuda-host-only", "cuda-device-only", "noeh", "ewp", "objdir-as-tempdir", "static-global-template-stub",
}
# Those among them that end nvcc's work before there is a program.
STOPS = {
    "c", "compile", "dc", "device-c", "dw", "device-w", "dlink", "device-link", "lib", "E", "preprocess", "S", "ptx", "cubin", "fatbin",
    "optix-ir", "dryrun", "M", "MM", "generate-dependencies", "fsyntax-only",
}
GENERAL = re.compile(r"-(W|f|m|O|g|M|pedantic|no-|nostd|stdlib)")  # families of g++'s and clang's that change nothing here
KINDS_OF_WERROR = {"all-warnings", "cross-execution-space-call", "reorder", "default-stream-launch", "ext-lambda-captures-this",
                   "deprecated-declarations", "missing-launch-bounds"}
ROUNDING = "has no effect: arithmetic is rounded as without it"
NO_OPENMP = "has no effect: a parallel region has one thread"
CHANGES = {  # what would make another program of it with nvcc
    "use_fast_math": ROUNDING, "ffast-math": ROUNDING, "Ofast": ROUNDING, "funsafe-math-optimizations": ROUNDING,
    "fopenmp": NO_OPENMP, "openmp": NO_OPENMP,
    "funsigned-char": "has no effect: a char has a sign",
    "fshort-enums": "has no effect: an enumeration has the size of an int",
    "m32": "has no effect: a pointer has 64 bits",
}
CHANGING_VALUES = {("ftz", "true"): ROUNDING, ("prec-div", "false"): ROUNDING, ("prec-sqrt", "false"): ROUNDING,
                   ("default-stream", "per-thread"): "has no effect: all threads of the host have one default stream"}
# Those of the CUDA toolkit that a program may name and not need, and those that are part of the C++ library here.
PART_OF_THE_DEVICE = re.compile(r"(cudart(_static)?|cudadevrt|cuda|cu(blas(Lt)?|rand)(_static)?|m|c|dl|rt|pthread|stdc\+\+)$")
OF_CUDA = re.compile(r"(cu(blas|fft|rand|sparse|solver|dnn|tensor|file|pti)|np[pi]|nv(rtc|jpeg|jitlink|tx|toolsext|ml|blas|perf|ptx)|nccl|cudss|accinj|omp\b)", re.I)
NEWEST_STANDARD = re.compile(r"(c|gnu)\+\+(03|0x|98|1[0-9a-z]|2[0a])$")  # up to C++20, as which kernels are compiled


class CompilerOptions:
    """Options of a compiler's command, as far as they mean something here."""

    def __init__(self):
        self.folder = ""  # which paths are relative to
        self.files = []  # words that are no options
        self.unknown = []
        self.remarks = {}  # an option: what to say of it
        self.stops = []  # options that would make no program
        self.macros = []  # -D and -U, in order
        self.forced = []  # headers that come before the source
        self.standard = None  # of the language, such as c++17
        self.libraries = []  # -L and -l, in order
        self.folders = [[] for _ in range(1 + max(FOLDERS.values()))]

    # ---- reading ------------------------------------------------------------------------------------

    def read(self, words, folder):
        """Takes in a command's words. Paths in them are relative to a folder."""
        self.folder = folder
        for option in options_in(expanded(words, folder)):
            word = option.words[0]
            if option.name in STOPS:
                self.stops.append(word)
            if option.name is None:
                self.files.append(word)
            elif option.name in WITH_VALUE:
                self.take(" ".join(option.words), option.name, option.value)
            elif option.name in CHANGES:
                self.remarks[word] = CHANGES[option.name]
            elif word.startswith("-Wp,"):
                self.read(word[4:].split(","), folder)
            elif option.name not in HARMLESS and not GENERAL.match(word):
                self.unknown.append(word)

    def add(self, other):
        """Takes in the options of another command, which come after its own."""
        self.macros += other.macros
        self.forced += other.forced
        self.libraries += other.libraries
        self.standard = other.standard or self.standard
        for group, more in zip(self.folders, other.folders):
            group.extend(more)

    def take(self, text, name, value):
        """An option with its value; `text` is both."""
        if name in FOLDERS:
            self.folders[FOLDERS[name]].append(self.path(value))
        elif name in MACROS:
            self.macros.append(MACROS[name] + value)
        elif name in FORCED:
            self.forced.append(self.path(value) if os.path.exists(self.path(value)) else value)
        elif name in HOST:
            self.read(host_words(value), self.folder)
        elif name in RESPONSE:
            self.read([f"@{file}" for file in value.split(",")], self.folder)
        elif name in LIBRARIES:
            self.take_library(LIBRARIES[name], value)
        elif name == "std":
            self.standard = value
            if not NEWEST_STANDARD.match(value):
                self.remarks[text] = "kernels are compiled as C++20"
        elif why := CHANGING_VALUES.get((name, value)):
            self.remarks[text] = why

    def take_library(self, kind, value):
        if kind == "-L":
            self.libraries.append(kind + self.path(value))
        elif PART_OF_THE_DEVICE.match(value):
            return
        elif OF_CUDA.match(value):
            self.remarks[kind + value] = "has no effect: the CPU device has no such library"
        else:
            self.libraries.append(kind + value)

    def path(self, name):
        return os.path.normpath(os.path.join(self.folder, name))

    # ---- what they come to ---------------------------------------------------------------------------

    def flags(self, is_cuda):
        """For the compiler of the CPU device, which looks in one list of folders."""
        folders = [folder for group in self.folders for folder in group]
        flags = [f"-I{folder}" for folder in dict.fromkeys(folders) if not is_of_toolkit(folder)]
        flags += [*self.macros, *(f"-include{file}" for file in self.forced)]
        return flags if is_cuda or not self.standard else [*flags, f"-std={self.standard}"]


def host_words(value):
    """The words that -Xcompiler passes on: with commas or blanks between."""
    try:
        words = shlex.split(value)
    except ValueError:
        words = value.split()
    return [part for word in words for part in word.split(",") if part]


def is_of_toolkit(folder):
    """True for a folder with CUDA's own headers, for which the CPU device has others."""
    of = os.path.dirname(folder) if os.path.basename(folder) == "cccl" else folder
    return os.path.exists(os.path.join(of, "cuda_runtime_api.h"))


class Option(NamedTuple):
    """One option in a command line, or another word, which has no name."""

    words: list
    name: Optional[str] = None
    value: str = ""


def options_in(words):
    """The options and the other words of a command line, in order. Raises Failed."""
    remaining = list(reversed(words))
    while remaining:
        word = remaining.pop()
        if not word.startswith("-") or word == "-":
            yield Option([word])
            continue
        name, has_value, value = word.lstrip("-").partition("=")
        joined = JOINED.match(word)
        follows = name in WITH_VALUE and not has_value or name == "Werror" and remaining and remaining[-1] in KINDS_OF_WERROR
        if follows:
            if not remaining:
                raise Failed(f"{word} needs a value.", 2)
            value = remaining.pop()
            yield Option([word, value], name, value)
        elif name in WITH_VALUE or name in HARMLESS or name in CHANGES or not joined:
            yield Option([word], name, value)
        else:
            yield Option([word], joined[1], joined["value"])


def expanded(words, folder, within=()):
    """The words with those that files have in place of @FILE. Raises Failed."""
    result = []
    for word in words:
        if not word.startswith("@") or word == "@":
            result.append(word)
            continue
        name = os.path.normpath(os.path.join(folder, word[1:]))
        try:
            if name in within:
                raise ValueError("it names itself")
            found = shlex.split(Path(name).read_text(encoding="utf-8", errors="surrogateescape"))
        except (OSError, ValueError) as error:
            raise Failed(f"The file of options {word[1:]} cannot be read: {getattr(error, 'strerror', None) or error}.", 2) from error
        result += expanded(found, folder, (*within, name))
    return result


def split_options(words, own):
    """The words of a command line: those for ./course, and those for a compiler. `own` has the options of ./course:
    {name: True if a value follows}. Raises Failed."""
    mine, others, remaining = [], [], expanded(words, os.getcwd())[::-1]
    while remaining:
        word = remaining[-1]
        if word.partition("=")[0] in own:
            mine.append(remaining.pop())
            if own[word.partition("=")[0]] and "=" not in word and remaining:
                mine.append(remaining.pop())
            continue
        option = next(options_in(remaining[::-1]))
        (mine if option.name is None else others).extend(option.words)
        del remaining[-len(option.words):]
    return mine, others
