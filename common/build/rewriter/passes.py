"""The passes of the rewriter, in order: each is a function that takes a SourceFile and adds edits, or facts that others need."""

import re

from build.rewriter import arch, declarations, definitions, functions, heap, kernels, launches, ptx, returns, unions
from build.rewriter import unsupported, variables
from build.rewriter.source import SourceFile, Unsupported


def read(path, source, unit=None):
    """A file with what it declares: the files that it includes ask for that, and are rewritten before it."""
    file = SourceFile(path, source, unit)
    declarations.find(file)
    return file


def rewrite(file):
    """Adds all edits to the file. Raises Unsupported with the first thing in it that cannot be translated."""
    problems = []
    for one_pass in PASSES:
        try:
            one_pass(file)
        except Unsupported as problem:
            problems.append(problem)
    if problems:
        raise min(problems, key=lambda problem: problem.position)


def drop_unroll(file):
    """Pass. clang refuses #pragma unroll before anything but a loop."""
    for directive, _ in file.directives:
        if re.match(r"\s*#\s*pragma\s+unroll\b", directive.text):
            file.edits.append((directive.begin, directive.end, ""))


def rewrite_definitions(file):
    """Pass. What macros stand for goes through all passes, too."""
    definitions.rewrite(file, rewrite)


def rewrite_noinline(file):
    """Pass. __noinline__ as a macro would harm the library's headers."""
    for i in file.find(["__noinline__"]):
        if file.text(i - 1) != "(":
            file.replace(i, i + 1, "__attribute__((noinline))")


PASSES = [
    functions.read_macros,
    drop_unroll,
    rewrite_definitions,
    functions.find,
    arch.rewrite,
    unsupported.check,
    launches.rewrite,
    unions.rewrite,
    heap.rewrite,
    ptx.rewrite,
    variables.rewrite_shared,
    rewrite_noinline,
    kernels.rewrite,
    returns.rewrite,
    variables.rewrite_globals,
    variables.declare_shared,
    variables.capture_shared,
]
