"""Macros whose replacement has a launch, a kernel, a variable of the device or inline PTX in it."""

import re

from build.rewriter import declarations
from build.rewriter.source import Macro, SourceFile, Unsupported

DEFINITION = re.compile(r"\s*#\s*define[ \t]+\w+(\((?P<parameters>[^()]*)\))?")
WORTH_A_LOOK = re.compile(r"<<\s*<|\b(__(global|shared|device|constant|managed|asm)__|asm)\b")


def rewrite(file, rewrite_source):
    """Pass. Rewrites what each macro stands for as a file of its own that begins within a line of this one, by all passes:
    rewrite_source(). Needs functions.read_macros()."""
    for directive, _ in file.directives:
        rewrite_definition(file, directive, rewrite_source)


def rewrite_definition(file, directive, rewrite_source):
    """Rewrites the macro in place; the lines stay, each but the last with its backslash."""
    definition = DEFINITION.match(directive.text)
    if definition is None or not WORTH_A_LOOK.search(directive.text, definition.end()):
        return
    names = re.findall(r"\w+", definition.group("parameters") or "")
    parameters = {*names, *(["__VA_ARGS__"] if "..." in (definition.group("parameters") or "") else [])}
    begin = directive.begin + definition.end()
    text = directive.text[definition.end():].replace("\\\n", " \n")
    # A declaration ends where the macro is used.
    part = SourceFile(file.path, text + "\n;", file.unit, Macro(file, begin, parameters))
    declarations.find(part)
    try:
        rewrite_source(part)
    except Unsupported as problem:
        raise Unsupported(str(problem), begin + problem.position) from problem
    last = part.result().rstrip().removesuffix(";").rstrip()
    file.edits.append((begin, directive.end, re.sub(" ?\n", r"\\\n", last)))
