#!/usr/bin/env python3
"""The compiler of the CPU device: an object file from a CUDA source, as nvcc makes one.

    simtcc.py --settings simtcc.json FILE.cu -o FILE.o [-MF DEPFILE] [--headers NAME] [-rdc=true] [-Idir ...] [-Dname ...]
    simtcc.py --find COMPILER CXX...      which compiler `meson setup` should take; "" for COMPILER: the best one

It rewrites what is not C++ (cu2cpp.py) into FILE.cu.cpp beside the object, and compiles that so that every load and
store of a kernel calls the checker in common/simt. Link the object with the libraries `simt` and `course`.

`meson setup` writes the settings: which compiler, and where the headers are. Options that do not depend on the CPU
device, such as the C++ standard, warnings and folders of other libraries, are those that Meson takes for
kernel_flags.cpp. Headers that nearly every file includes are read once, as a precompiled header, which is made
when a file needs it and it is not there or older than one of its headers. NAME says which of the settings' headers:
"kernel" for the course's own kernels, the default, or "program" for a program of the reader's own (./course run).
-rdc=true, as for nvcc: other files may declare the constants of this one as extern.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
import cu2cpp  # noqa: E402

# The compiler turns every load and store of a kernel into a call of the checker in simt/src, which is linked in place
# of ThreadSanitizer's own library. -O0, so that the loads and stores are those of the source. -g1 has the lines that
# reports need, and saves a fifth of the time that a check takes to build. common/simt/README.md has a table.
KERNEL_FLAGS = [
    "-O0",
    "-g1",
    "-gdwarf-4",
    "-fno-omit-frame-pointer",
    "-fsanitize=thread",
    "-ftrivial-auto-var-init=pattern",
    "-fstack-clash-protection",
    "-Wno-unknown-pragmas",  # #pragma nv_diag_suppress, and unroll for g++
]
# nvcc 13.0 defines these in every .cu file, and all but the first in plain C++; __CUDA_ARCH__ is cu2cpp.py's.
# SIMT_CPU_DEVICE is ours.
MACROS = {
    "SIMT_CPU_DEVICE": 1,
    "__CUDACC__": 1,
    "__NVCC__": 1,
    "__CUDACC_VER_MAJOR__": 13,
    "__CUDACC_VER_MINOR__": 0,
    "__CUDACC_VER_BUILD__": 88,
    "__CUDA_API_VER_MAJOR__": 13,
    "__CUDA_API_VER_MINOR__": 0,
    "__CUDA_ARCH_LIST__": 900,
    "__NVCC_DIAG_PRAGMA_SUPPORT__": 1,
}
FLAGS_OF = {
    "clang": [
        "-fsanitize-coverage=bb,no-prune,trace-pc",
        "-mllvm", "-tsan-distinguish-volatile=1",
        "-mllvm", "-tsan-instrument-func-entry-exit=0",
        "-mllvm", "-tsan-instrument-read-before-write",  # the read of x += 1 is a read, too
        "-Wno-unused-const-variable",  # constants of a header that this file does not need
    ],
    "gcc": [
        "-fsanitize-coverage=trace-pc",
        "--param=tsan-distinguish-volatile=1",
        "--param=tsan-instrument-func-entry-exit=0",
    ],
}
# Meson's options for a plain C++ file that a kernel does without: what is compiled, where the object goes, and what is
# said above in another way.
WITH_ARGUMENT = {"-o", "-c", "-MQ", "-MF", "-MT"}
LEFT_OUT = {"-MD", "-g", "-Winvalid-pch"}


class Failed(Exception):
    """The compiler has said why; the text is its exit code."""


class Options:
    """The command line."""

    def __init__(self, arguments):
        self.source = self.output = self.depfile = self.settings = None
        self.headers = "kernel"
        self.is_linked = False
        self.flags = []
        places = {"-o": "output", "-MF": "depfile", "--settings": "settings", "--headers": "headers"}
        remaining = iter(arguments)
        for argument in remaining:
            if argument in places:
                setattr(self, places[argument], next(remaining, None))
            elif argument == "-rdc=true":
                self.is_linked = True
            elif argument.startswith("-"):
                self.flags.append(argument)
            elif self.source is None:
                self.source = argument
            else:
                sys.exit(f"simtcc.py: one source at a time, not {self.source} and {argument}")
        if not (self.source and self.output and self.settings):
            sys.exit(__doc__)


class Compiler:
    """The compiler that `meson setup` has chosen, and its options for kernels."""

    def __init__(self, file):
        self.folder = Path(file).resolve().parent
        settings = json.loads(Path(file).read_text(encoding="utf-8"))
        self.family, self.version, *self.program = settings["compiler"].split("\n")
        self.is_precompiled = settings["precompiled_header"]
        self.headers = {name: settings[f"{name}_headers"] for name in ("kernel", "program")}
        self.include_folders = [settings["include_folder"]]
        self.general_flags = flags_of_meson(Path(settings["build"]), settings["like"])

    def command(self, is_cuda=True):
        macros = [f"-D{name}={value}" for name, value in MACROS.items() if is_cuda or name != "__CUDACC__"]
        return [*self.program, *self.general_flags, *KERNEL_FLAGS, *FLAGS_OF[self.family], *macros]


def flags_of_meson(build, like):
    """The options that Meson gives to every C++ file of the course, and to `like`."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    entry = next(entry for entry in commands if os.path.basename(entry["file"]) == like)
    words = iter(shlex.split(entry["command"]))
    flags = []
    for word in words:
        if word in WITH_ARGUMENT:
            next(words, None)
        elif word.startswith("-I"):
            flags.append("-I" + os.path.normpath(os.path.join(entry["directory"], word[2:])))
        elif word == "-isystem":
            flags += [word, os.path.normpath(os.path.join(entry["directory"], next(words, "")))]
        elif word.startswith("-") and word not in LEFT_OUT and not word.startswith(("-O", "-g")):
            flags.append(word)
    return flags


def compile_file(command, depfile):
    """Runs the compiler; returns the files that it has read."""
    done = subprocess.run([*command, "-MD", "-MQ", "object", "-MF", depfile], stderr=subprocess.PIPE, text=True, errors="replace")
    sys.stderr.write(unsupported_in(done.stderr) or done.stderr)
    if done.returncode != 0:
        raise Failed(done.returncode)
    text = Path(depfile).read_text(encoding="utf-8", errors="surrogateescape").partition(":")[2]
    words = re.findall(r"(?:\\[^\n]|[^\s\\])+", text)
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


# An error of the compiler that means: CUDA has it, and the CPU device has not. The rest of its errors follow from that.
HEADERS = str(Path(__file__).resolve().parents[1] / "simt" / "include")
COLOURS = re.compile("\x1b\\[[0-9;]*[mK]")
ERROR = re.compile(r"^(?P<place>[^\s:][^:\n]*:\d+):(\d+:)? (fatal )?error: (?P<text>.*)$", re.M)
UNKNOWN = re.compile(
    r"(use of undeclared identifier|unknown type name|no (type|member|template) named) '(?P<name>((cuda|cu)[A-Z]|__nv|CU_|CUDA_)\w*"
    r"|\w+(?=' in namespace '(cooperative_groups|cuda)))'|'(?P<other>((cuda|cu)[A-Z]|__nv|CU_|CUDA_)\w*)' was not declared"
)
# Names that nvcc does not know there either, and what to write.
WHAT_TO_WRITE = {
    "experimental": "CUDA 13 has no cooperative_groups::experimental: what it had is in cooperative_groups",
    "__nv_bfloat16": "__nv_bfloat16 needs its header: #include <cuda_bf16.h>",
    "__nv_bfloat162": "__nv_bfloat162 needs its header: #include <cuda_bf16.h>",
}
# A header that a plain C++ file includes, and that there is not; what a .cu file includes is seen by cu2cpp.py.
MISSING = re.compile(r"'(?P<name>[^']+)' file not found|(?P<other>\S+): No such file or directory")
# A union that cannot be copied, because the copy of float4 is more than that of its bytes: which member.
# A header of the CPU device refuses the arguments of a template: the lines of the program that led there come after it.
REFUSED_BY_HEADER = re.compile(r"(static assertion failed|static_assert failed).*?: (?P<text>not supported on the CPU device: .*)")
INSTANTIATED = re.compile(r"^(?P<place>[^\s:][^:\n]*:\d+):\d+: note: in instantiation of |^(?P<before>[^\s:][^:\n]*:\d+):\d+:   required from here", re.M)
NO_COPY = re.compile(r"variant field '(\w+)' has a non-trivial copy")


def unsupported_in(output):
    """What the compiler's errors say of CUDA that is not there, a line for each; nothing if they say no such thing."""
    refused, unknown = {}, {}
    output = COLOURS.sub("", output)
    ends = [error.start() for error in ERROR.finditer(output)][1:] + [len(output)]
    begin = 0
    for error, end in zip(ERROR.finditer(output), ends):
        name, missing = UNKNOWN.search(error["text"]), MISSING.match(error["text"])
        if error["text"].startswith(cu2cpp.tokens.unsupported_text("")):
            refused.setdefault(error["place"], error["text"])
        elif missing and cu2cpp.unsupported.unsupported_header(missing["name"] or missing["other"]):
            refused.setdefault(error["place"], cu2cpp.unsupported.unsupported_header(missing["name"] or missing["other"]))
        elif no_copy := NO_COPY.search(output, error.end(), end):
            text = f"a copy of a union with a vector such as float4 or __half2 in it: copy its member, a.{no_copy[1]} = b.{no_copy[1]}"
            refused.setdefault(error["place"], cu2cpp.tokens.unsupported_text(text))
        elif by_header := REFUSED_BY_HEADER.match(error["text"]):
            refused.setdefault(instantiated_at(error, output[begin:end]), by_header["text"])
        elif name and "did you mean" not in error["text"]:
            word = name["name"] or name["other"]
            text = WHAT_TO_WRITE.get(word) or cu2cpp.tokens.unsupported_text(f"{word}, unless it is misspelled")
            unknown.setdefault(error["place"], text)
        begin = end
    return "".join(f"{place}: error: {text}\n" for place, text in (refused or unknown).items())


def instantiated_at(error, output):
    """Where the program asks for what a header refuses: clang says it after the error, g++ before it."""
    places = [found["place"] or found["before"] for found in INSTANTIATED.finditer(output)]
    return next((place for place in places if not place.startswith(HEADERS)), error["place"])


def rewrite(source, output, include_folders, is_linked=False):
    """Writes `source` as C++; returns the files that it was made of."""
    translation = cu2cpp.Translation(include_folders, is_linked)
    text = translation.expand(os.path.normpath(source))
    translation.check_launches()
    with open(output, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return translation.files


class PrecompiledHeader:
    """What the compiler makes of the headers that nearly every file of one kind includes."""

    def __init__(self, compiler, name):
        self.compiler = compiler
        self.source = compiler.headers[name]
        self.stem = compiler.folder / f"{name}_headers"
        is_clang = compiler.family == "clang"
        self.file = self.stem.with_suffix(".pch" if is_clang else ".hpp.gch")
        if is_clang:
            self.how_to_make = ["-fpch-instantiate-templates"]
            self.how_to_use = ["-include-pch", str(self.file)]
        else:  # g++ looks for the .gch; where it refuses it, it takes the empty file
            self.how_to_make = []
            self.how_to_use = ["-include", str(self.stem.with_suffix(".hpp"))]
        self.record = self.stem.with_suffix(".json")  # what it was made of

    def how(self):
        """What makes it, but for the files: the command, and which compiler that is."""
        return [self.compiler.version, *self.compiler.command(), *self.how_to_make]

    def is_current(self):
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
            return (record["how"] == self.how() and self.file.exists()
                    and all(stamp(file) == then for file, then in record["files"].items()))
        except (OSError, ValueError, KeyError):
            return False

    def make(self):
        """Makes it if it is not there. Programs that are built at the same time wait for the first of them."""
        if self.is_current():
            return
        with open(self.stem.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.is_current():
                return
            self.record.unlink(missing_ok=True)
            text = str(self.stem.with_suffix(".cu.cpp"))
            files = rewrite(self.source, text, self.compiler.include_folders)
            self.stem.with_suffix(".hpp").touch()
            command = [*self.compiler.command(), *self.how_to_make, "-x", "c++-header", text, "-o", str(self.file)]
            files += compile_file(command, str(self.stem.with_suffix(".d")))
            files.append(os.path.realpath(self.compiler.program[-1]))
            record = {"how": self.how(), "files": {os.path.abspath(file): stamp(file) for file in files}}
            self.record.write_text(json.dumps(record), encoding="utf-8")


def stamp(file):
    """What differs when a file has changed."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


def compile_source(options):
    """Rewrites and compiles the source; writes the depfile. Plain C++ (no .cu) is not rewritten, and knows nothing of
    CUDA but what it includes."""
    compiler = Compiler(options.settings)
    stem = options.output.removesuffix(".o")
    is_cuda = options.source.endswith(".cu")
    text = stem + ("" if stem.endswith(".cu") else ".cu") + ".cpp" if is_cuda else options.source
    files = [options.settings, *own_files()]
    command = compiler.command(is_cuda)
    if is_cuda and compiler.is_precompiled:
        header = PrecompiledHeader(compiler, options.headers)
        header.make()
        command += header.how_to_use
    if is_cuda:
        own_folders = [flag[2:] for flag in options.flags if flag.startswith("-I")]
        files += rewrite(options.source, text, own_folders + compiler.include_folders, options.is_linked)
        command += ["-include", "cuda_runtime.h"]  # as nvcc does
    depfile = options.depfile or options.output + ".d"
    command += ["-iquote", os.path.dirname(options.source) or ".", *options.flags]
    files += compile_file([*command, "-c", text, "-o", options.output], depfile)
    if options.depfile:
        files = dict.fromkeys(os.path.normpath(file) for file in files)
        names = " ".join(cu2cpp.escape_for_make(file) for file in files if not is_cuda or file != os.path.normpath(text))
        Path(depfile).write_text(f"{options.output}: {names}\n", encoding="utf-8", errors="surrogateescape")
    else:
        os.unlink(depfile)


def own_files():
    """What this program consists of: a change of it changes the objects."""
    modules = [cu2cpp, *cu2cpp.MODULES]
    return [os.path.abspath(__file__), *(module.__file__ for module in modules)]


# ---- Which compiler -----------------------------------------------------------------------------------

OLDEST = {"clang": 16, "gcc": 12}
CLANGS = ["clang++", *(f"clang++-{version}" for version in range(30, OLDEST["clang"] - 1, -1))]


def identify(command):
    """(family, version) of a compiler, or None where there is none or it is too old."""
    try:
        text = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    family = "clang" if "clang version" in text else "gcc" if "Free Software Foundation" in text else None
    version = re.search(r"\b\d+(\.\d+)+", text)
    if family is None or version is None or int(version.group().split(".")[0]) < OLDEST[family]:
        return None
    return family, version.group()


def find_compiler(wanted, cxx):
    """Family, version and command of the compiler for kernels, each on a line: `wanted`, else a clang, else CXX."""
    candidates = [[wanted]] if wanted else [cxx, *([name] for name in CLANGS), cxx]
    for place, command in enumerate(candidates):
        found = identify(command)
        if found and (wanted or found[0] == "clang" or place == len(candidates) - 1):
            return "\n".join([*found, *command[:-1], shutil.which(command[-1]) or command[-1]])
    what = f"{wanted} is not" if wanted else "there is no"
    sys.exit(f"The CPU device needs clang 16 or a newer one: {what} clang++ 16 or g++ 12. common/tools/setup.sh installs it.")


def main():
    if sys.argv[1:2] == ["--find"]:
        print(find_compiler(sys.argv[2], sys.argv[3:]))
        return 0
    try:
        compile_source(Options(sys.argv[1:]))
    except Failed as failure:
        return failure.args[0]
    except (cu2cpp.Unsupported, OSError) as problem:
        return str(problem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
