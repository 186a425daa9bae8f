"""Kernels: what is between __global__ and the body, and the entry that lets the host launch one by its address."""

from build.rewriter.functions import kernels_of
from build.rewriter.source import TAKES_PARENTHESES, one_line

# Words of a type that cannot be the name of a parameter.
TYPE_WORDS = {"auto", "bool", "char", "const", "double", "float", "int", "long", "short", "signed", "unsigned", "void",
              "volatile", "__restrict__", "__restrict", "__grid_constant__"}
QUALIFIERS = {"const", "volatile", "__restrict__", "__restrict", "__grid_constant__", "struct", "class", "typename",
              "union", "enum"}


def defined_kernels(file):
    """For each kernel with a body: index of its __global__, of the ( of the parameters and of the { of the body."""
    for at in kernels_of(file):
        i, opening = at + 1, None
        while file.text(i) not in ("", ";", "}") and not (opening is not None and file.text(i) == "{"):
            if file.text(i) == "(" and file.text(i - 1) not in TAKES_PARENTHESES and opening is None:
                opening = i
            i = file.after(i)
        if file.text(i) == "{":
            yield at, opening, i


def rewrite(file):
    """Pass. cudaLaunchKernel() gets an address: the kernel itself says what it takes."""
    for at, opening, body in defined_kernels(file):
        rewrite_kernel(file, at, opening, body)


def rewrite_kernel(file, at, opening, body):
    refuse_references(file, opening)
    begin, end = file.tokens[opening].begin, file.tokens[body].end
    if (file.other_end(opening) + 1 != body or not file.is_word(opening - 1)
            or any(begin < directive.begin < end for directive, _ in file.directives)):
        return
    names = parameters(file, opening)
    if names is None:
        return
    types = ", ".join(f"decltype({name.removesuffix('...')}){'...' if name.endswith('...') else ''}" for name in names)
    names = ", ".join(name.removesuffix("...") for name in names)
    text = (f" SIMT_KERNEL({file.message_text(file.text(opening - 1))}, {file.message_text(names)}, "
            f"void({types}){cluster_dims(file, at, opening)});")
    file.edits.append((end, end, text))


def refuse_references(file, opening):
    """A kernel gets copies: what a reference refers to is on the host."""
    i = opening + 1
    while i < file.other_end(opening):
        if file.text(i) in ("&", "&&") and file.text(i - 1) not in ("(", "="):
            file.unsupported(i, "a reference as a kernel's parameter: pass a value, or a pointer to device memory")
        if file.text(i) == "=":  # a default
            return
        i = file.after_angle(i) if file.text(i) == "<" else file.after(i)


def cluster_dims(file, begin, end):
    """", 2, 1, 1" of __cluster_dims__(2, 1, 1) in the declaration between two tokens; empty without one."""
    for i in range(begin, end):
        if file.text(i) == "__cluster_dims__" and file.text(i + 1) == "(":
            return ", " + one_line(file.source[file.tokens[i + 1].end:file.tokens[file.other_end(i + 1)].begin])
    return ""


def parameters(file, opening):
    """The names of the parameters, a pack as `name...`; None if one has a name that cannot be found. One without
    a name gets one."""
    closing, names = file.other_end(opening), []
    if closing == opening + 1 or (closing == opening + 2 and file.text(opening + 1) == "void"):
        return names
    part, i = [], opening + 1  # tokens of one parameter, brackets left out
    while i <= closing:
        text = file.text(i)
        if i == closing or text == ",":
            name = parameter_name(file, part) or new_name(file, part, len(names))
            if name is None:
                return None
            names.append(name)
            part, i = [], i + 1
            continue
        if text in ("alignas", "__align__", "__attribute__") and file.text(i + 1) == "(":
            i = file.after(i + 1)
            continue
        part.append(i)
        i = file.after_angle(i) if text == "<" else file.after(i)
    return names


def parameter_name(file, part):
    texts = [file.text(i) for i in part]
    if "=" in texts:
        texts, default = texts[:texts.index("=")], texts[texts.index("="):]
        if "<" in default:
            return None
    while texts and texts[-1] == "[":
        texts.pop()
    if not texts:
        return None
    if texts[-1] == "(":  # int (*name)(int)
        return name_of_function_pointer(file, part[:len(texts)])
    *kind, name = texts
    kind = [word for word in kind if word not in QUALIFIERS]
    if not (name[0].isalpha() or name[0] == "_") or name in TYPE_WORDS or not kind or kind[-1] == "::":
        return None
    return name + "..." if kind[-1] == "..." else name


def new_name(file, part, number):
    """A name for the parameter, which has none; None if it is no plain type."""
    texts = [file.text(i) for i in part]
    last = part[texts.index("=") - 1 if "=" in texts else -1] if part else None
    is_macro = len(texts) == 1 and len(texts[0]) > 1 and texts[0].isupper()  # it may have a name in it
    if last is None or is_macro or {"(", "["} & set(texts):
        return None
    end = file.tokens[file.after_angle(last) - 1 if file.text(last) == "<" else last].end
    file.edits.append((end, end, f" simt_unnamed_{number} [[maybe_unused]]"))
    return f"simt_unnamed_{number}" + ("..." if file.text(last) == "..." else "")


def name_of_function_pointer(file, part):
    brackets = [i for i in part if file.text(i) == "("]
    if len(brackets) != 2 or file.text(brackets[0] + 1) != "*" or file.other_end(brackets[0]) != brackets[0] + 3:
        return None
    return file.text(brackets[0] + 2)
