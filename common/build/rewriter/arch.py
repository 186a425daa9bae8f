"""__CUDA_ARCH__: it is defined where nvcc defines it, in device code. A function for host and device has its body twice."""

import re

from build.rewriter.functions import DEFINE, specifiers

ARCH = "__CUDA_ARCH__"
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef)\b")


def rewrite(file):
    """Pass. Needs file.functions."""
    if ARCH in file.source:
        rewrite_groups(file)
    if ARCH not in file.source and not file.unit.of_arch:
        return
    read_dependent_macros(file)
    depends = re.compile(r"\b(" + "|".join([ARCH, *file.unit.of_arch]) + r")\b")
    end = 0
    for opening, closing, words in file.functions:
        begin, close = file.tokens[opening].end, file.tokens[closing].begin
        if opening < end or not depends.search(file.source, begin, close):
            continue
        end = closing
        groups = [group for name in set(depends.findall(file.source, begin, close))
                  for group in file.unit.of_arch.get(name, [])]
        device, host = switch(f"#define {ARCH} 900\n", groups), switch(f"#undef {ARCH}\n", groups)
        inner, outer = f"#line {file.line(begin)}\n", f"#line {file.line(close)}\n"
        if "__host__" in words:
            file.edits += [
                (begin - 1, begin, f"{{ if (!__builtin_is_constant_evaluated() && ::simt::in_kernel()) {{\n{device}{inner}"),
                (close, close + 1, lambda host=host, inner=inner, begin=begin, close=close, outer=outer:
                 f"\n{host}}} else {{\n{inner}{file.render(begin, close)}}}\n{outer}}}"),
            ]
        else:
            file.edits += [(begin - 1, begin, f"{{\n{device}{inner}"), (close, close + 1, f"\n{host}{outer}}}")]


def switch(text, groups):
    """Directives from which on __CUDA_ARCH__ is another one, with the macros that depend on it."""
    for names, directives in groups:
        text += "".join(f"#undef {name}\n" for name in names) + directives + "\n"
    return text


def rewrite_groups(file):
    """#if ... #endif outside of functions, on __CUDA_ARCH__: those with device code in them are for the device,
    those that only define macros are for whoever uses the macros, all others for the host."""
    stack, depth_of_group = [], None
    bodies = [(file.tokens[f.opening].begin, file.tokens[f.closing].end) for f in file.functions]
    for directive, _ in file.directives:
        is_if = re.match(r"\s*#\s*if", directive.text)
        if is_if:
            stack.append(directive)
        if CONDITION.match(directive.text) and ARCH in directive.text and depth_of_group is None and stack:
            if not any(begin < directive.begin < end for begin, end in bodies):
                depth_of_group = len(stack)
        if re.match(r"\s*#\s*endif", directive.text) and stack:
            if depth_of_group == len(stack):
                rewrite_group(file, stack[-1], directive)
                depth_of_group = None
            stack.pop()


def rewrite_group(file, first, last):
    inside = [token for token in file.tokens if first.begin < token.begin < last.begin]
    if not inside:
        directives = [d for d, _ in file.directives if first.begin <= d.begin <= last.begin]
        names = [m.group(1) for m in map(DEFINE.match, (d.text for d in directives)) if m]
        text = "\n".join(d.text for d in directives)
        for name in names:
            file.unit.of_arch[name] = [(names, text)]
    elif any(specifiers(file, token.text) & {"__device__", "__global__"} for token in inside):
        file.edits += [
            (first.begin, first.begin, f"#define {ARCH} 900\n#line {file.line(first.begin)}\n"),
            (last.end, last.end, f"\n#undef {ARCH}\n#line {file.line(last.end) + 1}"),
        ]
    else:
        refuse_constants(file, first, last)


def refuse_constants(file, first, last):
    """A constant that __CUDA_ARCH__ chooses has two values with nvcc, and here that of the host: kernels may not use it."""
    inside = [i for i, token in enumerate(file.tokens) if first.begin < token.begin < last.begin]
    bodies = [{token.text for token in file.tokens[f.opening:f.closing]} for f in file.functions if "__host__" not in f.specifiers]
    statement = inside[0]
    for i in inside:
        if file.text(i - 1) in (";", "{", "}"):
            statement = i
        words = {token.text for token in file.tokens[statement:i]} if file.text(i + 1) in ("=", "{", "[") else set()
        if (file.at_namespace_scope[i] and words & {"const", "constexpr"} and "(" not in words
                and any(file.text(i) in body for body in bodies)):
            file.unsupported(i, f"{file.text(i)}, a constant that {ARCH} chooses outside of functions: make it a macro (#define)")


def read_dependent_macros(file):
    """Notes macros that use __CUDA_ARCH__, or another macro that does."""
    for directive, _ in file.directives:
        definition = DEFINE.match(directive.text)
        if definition is None or definition.group(1) in file.unit.of_arch:
            continue
        words = set(re.findall(r"\w+", directive.text[definition.end():]))
        used = words & file.unit.of_arch.keys()
        if used or ARCH in words:
            file.unit.of_arch[definition.group(1)] = [g for name in used for g in file.unit.of_arch[name]]
