"""Who may call whom: clang's own CUDA front end knows the rules of the language, and reads the source beside the compiler.

It compiles nothing. What it says counts only where nvcc refuses the same, and in the program's own files. Whether it can read
the file is the compiler's business: clang 16 may crash here, and right code must not fail with it.
"""

import contextlib
import os
import re
import subprocess
import threading
from pathlib import Path

from build.compiler import depfile
from build.compiler.messages import HEADERS
from build.compiler.precompiled_header import PrecompiledHeader

RULES = ["-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-w", "-fno-color-diagnostics",
         "-ferror-limit=0", "-fno-crash-diagnostics", "-Xclang", "-fcuda-allow-variadic-functions", "-fsyntax-only"]
# In an exercise a constexpr function is one of the host, as for nvcc. A program of ./course run may be one that its reader compiles with
# --expt-relaxed-constexpr.
RULES_OF = {"kernel": ["-Xclang", "-fno-cuda-host-device-constexpr"], "program": []}
COURSE = Path(HEADERS).parents[1] / "include"
HEADER, OPERATORS = (os.path.join(HEADERS, "simt", name) for name in ("front_end.hpp", "front_end_operators.hpp"))
ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: error: (?P<text>.*)$", re.M)
# What is no function of a kernel, or no kernel, and what to do.
RULES_OF_KERNELS = [(re.compile(pattern), advice) for pattern, advice in (
    (r"kernel function type (?P<type>.*) must have void return type",
     "a kernel that returns a value, {type}: write __global__ void, and store the value in device memory"),
    (r"call to global function '(?P<name>[^'<]+)[^']*' not configured",
     "{name} is a kernel, and a kernel is launched: {name}<<<blocks, threads>>>(...)"),
    (r"kernel call to non-global function '(?P<name>[^'<]+)[^']*'",
     "{name} is launched with <<<>>>, but is not a kernel: write __global__ void {name}(...)"),
    (r"cannot use '(?P<word>try|throw)' in __(global|device)__ function",
     "{word} in device code: a kernel has no exceptions; write an error code to memory, or call __trap()"),
)]
REFERENCE = re.compile(r"reference to (?P<of>__(host|device)__) function '(?P<name>[^']+)' in __\w+__ function")
NO_MATCH = re.compile(r"no matching (?P<member>member )?function for call to '(?P<name>[^']+)'")
NOTE = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): note: (candidate\b|'[^']+' declared here).*?(call to (?P<of>__\w+__) function from .*)?$", re.M)
CONSTANT = re.compile(r"\bconst(expr|eval)\b|CONSTEXPR\b")
NOT_EVALUATED = re.compile(r"\b(decltype|sizeof|alignof|noexcept|requires)\b[^;]*$")
CALLS = {
    "__host__": "{}() is a function of the host, and is called in device code: write __device__ before it if it is yours",
    "__device__": "{}() is a function of the device, and is called on the host: write __host__ __device__ before it",
}
CONSTEXPR = "{}() is a constexpr function of the host, and is called in device code: write __host__ __device__ before it"
CONSTEXPR_OF_LIBRARY = "{0}() is a constexpr function of the host, and is called in device code: cuda::std::{0}() is for both, or compute it on the host"
KNOWN_TO_NVCC = {"move", "forward"}  # of std, in device code
CRASHED = "frontend command failed"


class Header(PrecompiledHeader):
    """The headers that nearly every file of one kind includes, as CUDA. Empty where clang cannot read them."""

    def __init__(self, compiler, name):
        super().__init__(compiler, name)
        self.stem = compiler.folder / f"{name}_front_end"
        self.file, self.record = self.stem.with_suffix(".pch"), self.stem.with_suffix(".json")
        self.command = [*compiler.program, *compiler.general_flags, *compiler.macros(True), *RULES, *RULES_OF[name]]
        self.how_to_make = ["-Xclang", "-emit-pch", "-Xclang", "-fpch-instantiate-templates", "-Xclang", "-o", "-Xclang", str(self.file), "-include", HEADER]
        self.how_to_use = ["-Xclang", "-include-pch", "-Xclang", str(self.file), "-include", OPERATORS]

    def how(self):
        return [self.compiler.version, *self.command, *self.how_to_make]

    def compile(self):
        made_of = str(self.stem.with_suffix(".d"))
        done = subprocess.run([*self.command, *self.how_to_make, self.source, "-MD", "-MQ", "object", "-MF", made_of],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return depfile.read(made_of)
        self.file.write_bytes(b"")
        return [self.source, HEADER]


class FrontEnd(threading.Thread):
    """Reads one source, beside the compiler. A context manager."""

    def __init__(self, compiler, options):
        super().__init__(daemon=True)
        self.header, self.options, self.process, self.output = Header(compiler, options.headers), options, None, ""

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()

    def run(self):
        folder = os.path.dirname(self.options.source) or "."
        command = [*self.header.command, *self.header.how_to_use, "-iquote", folder, *self.options.flags,
                   *self.options.forced_flags(), self.options.source]
        with contextlib.suppress(OSError):  # the compiler will say it
            self.header.make()
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace") as self.process:
                self.output = self.process.stderr.read()

    def refused(self, files):
        """What nvcc refuses, too, a line for each; nothing if there is no such thing. The program was made of these files."""
        self.join()
        found = [(place, text) for place, text in own_errors(self.output) if text]
        return "" if found and any(is_own(file) and is_read_twice(file) for file in files) else lines_of(found)

    def first_refused(self):
        """The same of a program that does not compile: only if this is the first thing that is wrong with it."""
        self.join()
        return lines_of([(place, text) for place, text in own_errors(self.output)[:1] if text])


def own_errors(output):
    """(place, text) of the errors in clang's output at lines of the program, with no text if nvcc may know better; none if it
    has crashed."""
    places, found = {}, [] if CRASHED in output else list(ERROR.finditer(output))
    for error, after in zip(found, [*found[1:], None]):
        if is_own(error["file"]):
            place = f"{error['file']}:{error['line']}"
            places[place] = places.get(place) or refusal(error["text"], output[error.end():after.start() if after else len(output)])
    return list(places.items())


def lines_of(errors):
    return "\n".join(f"{place}: error: {text}" for place, text in errors)


def is_own(file):
    """True for a file of the program: none of the system, the CPU device or the course."""
    return is_of_course(file) and not Path(os.path.abspath(file)).is_relative_to(COURSE)


def is_of_course(file):
    """True for a file of the program or of the course's headers."""
    return not any(Path(os.path.abspath(file)).is_relative_to(folder) for folder in ("/usr", HEADERS))


def is_read_twice(file):
    """True if nvcc reads other text for kernels than for the host. It was read as for the host alone."""
    if file.endswith(".cu.cpp"):  # the rewriter's
        return False
    with open(file, encoding="utf-8", errors="replace") as source:
        return "__CUDA_ARCH__" in source.read()


def refusal(text, notes):
    """What to say of an error that has these notes, or None."""
    for pattern, advice in RULES_OF_KERNELS:
        if found := pattern.match(text):
            return advice.format(**found.groupdict())
    call = REFERENCE.match(text) or NO_MATCH.match(text)
    callees = list(NOTE.finditer(notes))
    if not call or not callees or call["name"].startswith("operator ") or any(callee["file"].startswith(HEADERS) for callee in callees):
        return None
    constants = [found.group() for callee in callees if (found := CONSTANT.search(declaration(callee)))]
    if constants and ("consteval" in constants or call["name"] in KNOWN_TO_NVCC or not is_evaluated(notes)):
        return None
    of = {call["of"]} if "of" in call.groupdict() else {callee["of"] for callee in callees}
    if len(of) != 1 or not of <= CALLS.keys():
        return None
    if constants and not call.groupdict().get("member"):  # cuda::std has no vector and no string
        return (CONSTEXPR if is_of_course(callees[0]["file"]) else CONSTEXPR_OF_LIBRARY).format(call["name"])
    return CALLS[of.pop()].format(call["name"])


def declaration(callee):
    """The declaration of a function, up to its name."""
    try:
        lines = Path(callee["file"]).read_text(encoding="utf-8", errors="replace").splitlines()[:int(callee["line"])]
    except OSError:
        return ""
    lines[-1] = lines[-1][:int(callee["column"])]
    return re.split("[;{}]", "\n".join(lines))[-1]


def is_evaluated(notes):
    """False for an error in an operand that is not evaluated. The line of the source follows the error, and then a caret."""
    _, line, caret, *_ = [*notes.split("\n"), "", ""]
    return not NOT_EVALUATED.search(line[:caret.find("^")])
