"""Errors of the compiler that mean: CUDA has it, and the CPU device has not. The rest of its errors follow from that."""

import re
from pathlib import Path

from build.rewriter.source import is_unsupported, unsupported_text
from build.rewriter.unsupported import unsupported_header, unsupported_word

HEADERS = str(Path(__file__).resolve().parents[2] / "simt" / "include")
COLOURS = re.compile("\x1b\\[[0-9;]*[mK]")
ERROR = re.compile(r"^(?P<place>[^\s:][^:\n]*:\d+):(\d+:)? (fatal )?error: (?P<text>.*)$", re.M)
OF_CUDA = r"(((cuda|cu)[A-Z]|__nv|CU_|CUDA_|CU(BLAS(LT)?|RAND|FFT|SPARSE|SOLVER|DNN)_|cu(blas|rand|fft|sparse|solver|dnn)[A-Z_])\w*|thrust|cub)"
UNKNOWN = re.compile(
    rf"(use of undeclared identifier|unknown type name|no (type|member|template) named) '(?P<name>{OF_CUDA}"
    rf"|\w+(?=' in namespace '(cooperative_groups|cuda)))'|'(?P<other>{OF_CUDA})' was not declared"
)
# Names that nvcc does not know there either, and what to write.
WHAT_TO_WRITE = {
    "experimental": "CUDA 13 has no cooperative_groups::experimental: what it had is in cooperative_groups",
    "__nv_bfloat16": "__nv_bfloat16 needs its header: #include <cuda_bf16.h>",
    "__nv_bfloat162": "__nv_bfloat162 needs its header: #include <cuda_bf16.h>",
}
# A header that a plain C++ file includes, and that there is not; what a .cu file includes is seen by the rewriter.
MISSING = re.compile(r"'(?P<name>[^']+)' file not found|(?P<other>\S+): No such file or directory")
# What CUDA 13 has no longer: the CPU device's headers say what to write. An error, or a warning.
REMOVED = re.compile(r"'\w+' is unavailable: (?P<text>CUDA 13 (has no|wants) .*)")
DEPRECATED = re.compile(r"(?P<warning>: (\x1b\[[0-9;]*[mK])*warning: (\x1b\[[0-9;]*[mK])*)['‘].*['’] is deprecated: (?P<text>CUDA 13 (has no|wants) .*?)( \[.*)?$", re.M)
# In a C file, the headers of CUDA: those of the CPU device are C++.
CUDA_HEADER = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?P<name>cu\w+\.h)[>"]', re.M)
# A header of the CPU device refuses the arguments of a template: the lines of the program that led there come after it.
REFUSED_BY_HEADER = re.compile(r"(static assertion failed|static_assert failed).*?: (?P<text>not supported on the CPU device: .*)")
INSTANTIATED = re.compile(r"^(?P<place>[^\s:][^:\n]*:\d+):\d+: note: in instantiation of |^(?P<before>[^\s:][^:\n]*:\d+):\d+:   required from here", re.M)
# A union that cannot be copied, because the copy of float4 is more than that of its bytes: which member.
NO_COPY = re.compile(r"variant field '(\w+)' has a non-trivial copy")


def unsupported_in(output):
    """What the compiler's errors say of CUDA that is not there, a line for each; nothing if they say no such thing."""
    refused, unknown = {}, {}
    output = COLOURS.sub("", output)
    ends = [error.start() for error in ERROR.finditer(output)][1:] + [len(output)]
    begin = 0
    for error, end in zip(ERROR.finditer(output), ends):
        name, missing, removed = UNKNOWN.search(error["text"]), MISSING.match(error["text"]), REMOVED.match(error["text"])
        if is_unsupported(error["text"]):
            refused.setdefault(error["place"], error["text"])
        elif missing and unsupported_header(missing["name"] or missing["other"]):
            refused.setdefault(error["place"], unsupported_header(missing["name"] or missing["other"]))
        elif no_copy := NO_COPY.search(output, error.end(), end):
            text = f"a copy of a union with a vector such as float4 or __half2 in it: copy its member, a.{no_copy[1]} = b.{no_copy[1]}"
            refused.setdefault(error["place"], unsupported_text(text))
        elif by_header := REFUSED_BY_HEADER.match(error["text"]):
            refused.setdefault(instantiated_at(error, output[begin:end]), by_header["text"])
        elif removed:
            unknown.setdefault(error["place"], removed["text"])
        elif name and ("did you mean" not in error["text"] or unsupported_word(name["name"] or "")):
            word = name["name"] or name["other"]
            text = WHAT_TO_WRITE.get(word) or unsupported_text(unsupported_word(word) or f"{word}, unless it is misspelled")
            unknown.setdefault(error["place"], text)
        begin = end
    return "".join(f"{place}: error: {text}\n" for place, text in (refused or unknown).items())


def in_our_words(output):
    """The compiler's output, in which a warning of what CUDA 13 removed says that and no more."""
    return DEPRECATED.sub(r"\g<warning>\g<text>", output)


def refusals_in(said):
    """[{file, line, text}] of what a failed compilation says, if it says no more than that the CPU device lacks something."""
    errors = list(ERROR.finditer(said))
    if not all(is_unsupported(error["text"]) for error in errors):
        return []
    places = [error["place"].rpartition(":") for error in errors]
    return [{"file": file, "line": int(line), "text": error["text"]} for (file, _, line), error in zip(places, errors)]


def cuda_in_c(file):
    """What is wrong with a C file that includes a header of CUDA; "" if it includes none."""
    text = Path(file).read_text(encoding="utf-8", errors="replace")
    if not (header := CUDA_HEADER.search(text)):
        return ""
    line = text.count("\n", 0, header.start()) + 1
    return f"{file}:{line}: error: " + unsupported_text(f"{header['name']} in a file of C: let the file's name end in .cpp or .cu")


def instantiated_at(error, output):
    """Where the program asks for what a header refuses: clang says it after the error, g++ before it."""
    places = [found["place"] or found["before"] for found in INSTANTIATED.finditer(output)]
    return next((place for place in places if not place.startswith(HEADERS)), error["place"])
