"""Functions of CUDA: which code runs in kernels, and which on the host."""

import re

from build.rewriter.source import TAKES_PARENTHESES, Function
from tools.lib.cpp_text import tokens_of

SPECIFIERS = {"__global__", "__device__", "__host__"}
SPACES = {"__device__", "__constant__", "__managed__"}
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(?P<parameters>\([^()]*\))?")


def read_macros(file):
    """Pass. Notes macros that stand for __host__, __device__ or __global__, and for the memory of a variable:
    #define HD __host__ __device__."""
    for directive, _ in file.directives:
        definition = DEFINE.match(directive.text)
        if definition is None or definition.group("parameters") or definition.end() == len(directive.text):
            continue
        words, spaces = set(), set()
        for token in tokens_of(directive.text[definition.end():]):
            words |= specifiers(file, token.text)
            spaces |= {token.text} & SPACES
        if words:
            file.unit.specifiers[definition.group(1)] = words
        if spaces and "__host__" not in words:
            file.unit.spaces[definition.group(1)] = max(spaces, key=["__device__", "__constant__", "__managed__"].index)


def find(file):
    """Pass. Finds every function and lambda that has a specifier: file.functions. Needs read_macros()."""
    if file.macro:
        return
    after = 0  # the specifiers before this token belong to one that was found
    for i in file.find(SPECIFIERS | file.unit.specifiers.keys()):
        if i < after:
            continue
        body = body_of(file, i)
        if body is not None and body in file.partner:
            words = set().union(*(specifiers(file, file.text(j)) for j in range(i, body)))
            file.functions.append(Function(body, file.partner[body], words))
            after = body


def specifiers(file, text):
    return {text} if text in SPECIFIERS else file.unit.specifiers.get(text, set())


def body_of(file, at):
    """Index of the { of the function that has the specifier at, None for a declaration."""
    i, has_parameters = at + 1, False
    while file.text(i) not in ("", ";", "}") and not (has_parameters and file.text(i) == "{"):
        if file.text(i) == "(" and file.text(i - 1) not in TAKES_PARENTHESES:
            has_parameters = True
        if has_parameters and file.text(i) == ":":
            return after_initialisers(file, i)
        if file.text(i) == "=" and not has_parameters and file.text(i - 1) != "operator":
            return None  # a variable
        i = file.after(i)
    return i if file.text(i) == "{" else None


def after_initialisers(file, i):
    """Index of the { of a constructor whose : is at i."""
    while file.text(i) in (":", ","):
        i += 1
        while file.is_word(i) or file.text(i) in ("::", "<"):
            i = file.after_angle(i) if file.text(i) == "<" else i + 1
        if file.text(i) not in ("(", "{"):
            return None
        i = file.after(i)
    return i if file.text(i) == "{" else None


# ---- What the other passes ask. Needs find() ---------------------------------------------------------


def function_at(file, i):
    """The specifiers of the innermost such function around the token i; none in a plain host function."""
    around = [function for function in file.functions if function.opening < i < function.closing]
    return around[-1].specifiers if around else set()


def is_device_code(file, i):
    """True if the token i is in a function that runs in kernels only."""
    words = function_at(file, i)
    return bool(words) and "__host__" not in words


def kernels_of(file):
    """Indices of the __global__ of kernels, or of a macro that stands for it."""
    return file.find({"__global__"} | {name for name, words in file.unit.specifiers.items() if "__global__" in words})
