"""How kernels are compiled: the compiler that `meson setup` has chosen, and its options."""

import json
import os
import shlex
from pathlib import Path

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
    "-Wno-register",  # C++17 has it no longer, and nvcc takes it
]
# Of a file that casts pointers: a call where an object is named at an address that its type does not allow. It takes a sixth more
# time in a kernel, which code without such casts need not have.
FLAGS_OF_CASTS = ["-fsanitize=alignment"]
# nvcc 13.0 defines these in every .cu file, and all but the first in plain C++; __CUDA_ARCH__ is the rewriter's.
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
# A program of the reader's own may be of CUDA 12, which most people have: what CUDA 13 removed is a warning. It is an error in
# the course's code and in exercises, which nvcc 13 compiles, too.
CUDA_12 = {"SIMT_REMOVED(text)": "__attribute__((deprecated(text)))"}
# The C compiler of the host is gcc for nvcc, to which a function without a declaration or a type is no error.
C_FLAGS = ["-x", "c", "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int", "-Wno-error=int-conversion"]
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
# said above in another way; and -Db_sanitize, which is for the library: in kernels the checker takes a sanitizer's place.
WITH_ARGUMENT = {"-o", "-c", "-MQ", "-MF", "-MT"}
LEFT_OUT = {"-MD", "-g", "-Winvalid-pch"}

# Libraries of the host that a program runs without, before those of the system.
HOST_LIBRARIES = Path(__file__).resolve().parents[2] / "simt/include/simt/host_libraries"


class Compiler:
    """The compiler that `meson setup` has chosen, and its options for kernels."""

    def __init__(self, file, headers="kernel"):
        self.folder = Path(file).resolve().parent
        settings = json.loads(Path(file).read_text(encoding="utf-8"))
        self.family, self.version, *self.program = settings["compiler"].split("\n")
        self.is_precompiled = settings["precompiled_header"]
        self.takes_cuda_12 = headers == "program"
        self.general_flags = ["-isystem", str(HOST_LIBRARIES)]
        self.include_folders = []
        if "build" in settings:  # without, it is installed: the caller's command line has the other flags
            self.headers = {name: settings[f"{name}_headers"] for name in ("kernel", "program")}
            self.include_folders = [settings["include_folder"]]
            self.general_flags = [*flags_of_meson(Path(settings["build"]), settings["like"]), *self.general_flags]

    def macros(self, is_cuda):
        macros = {**MACROS, **(CUDA_12 if self.takes_cuda_12 else {})}
        return [f"-D{name}={value}" for name, value in macros.items() if is_cuda or name != "__CUDACC__"]

    def command(self, is_cuda=True, is_c=False):
        words = [*self.program, *self.general_flags, *KERNEL_FLAGS, *FLAGS_OF[self.family], *self.macros(is_cuda)]
        return [*(word for word in words if not word.startswith("-std=")), *C_FLAGS] if is_c else words


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
        elif word.startswith("-") and word not in LEFT_OUT and not word.startswith(("-O", "-g", "-fsanitize=")):
            flags.append(word)
    return flags
