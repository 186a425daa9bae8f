"""What a file declares, and where it calls functions: by names alone, for launches and for calls that nvcc refuses."""

from build.rewriter.functions import function_at, specifiers
from build.rewriter.source import TAKES_PARENTHESES, Declared, Unsupported, c_string


def find(file):
    """Pass. What looks like a function at namespace scope, and the names of variables: file.declared, file.variables."""
    file.variables = {
        token.text for i, token in enumerate(file.tokens)
        if token.kind == "word" and (
            file.text(i + 1) in ("=", ";", "{") and (file.is_operand(i - 1) or file.text(i - 1) in (*"*&>",))
            or file.text(i - 1) == "*" and file.text(i - 2) == "(" and file.text(i + 1) in (")", "["))}
    head = 0  # the first token of the declaration
    for i, token in enumerate(file.tokens):
        if token.text in (";", "{", "}"):
            head = i + 1
        elif token.text == "template" and i == head and file.text(i + 1) == "<":
            head = after_parameters(file, i + 1)
        elif (file.at_namespace_scope[i] and file.text(i + 1) == "(" and file.is_operand(i)
              and token.text not in TAKES_PARENTHESES
              and (file.is_operand(i - 1) or file.text(i - 1) in (*"*&>", ")", "]"))):
            file.declared.append(Declared(token.text, i, [t.text for t in file.tokens[head:i]]))


def after_parameters(file, i):
    """Index after the parameters of a template; a < that compares hides where they end."""
    try:
        return file.after_angle(i)
    except Unsupported:
        return i


def functions_of(file):
    """(name, index of the name, is it a kernel) of every function at namespace scope."""
    for name, i, words in file.declared:
        is_kernel = any("__global__" in specifiers(file, word) for word in words)
        if is_kernel or "=" not in words:  # int j = a * k(1); declares no k
            yield name, i, is_kernel


def member_functions(file):
    """Names of functions that a class has."""
    for begin in file.classes:
        i = begin + 1
        while i < file.partner.get(begin, 0):
            if file.is_word(i) and file.text(i + 1) == "(":
                yield file.text(i)
            i = file.after(i)


def plain_calls(file):
    """(name, index of the name) of every call f(...) in a function, of members not."""
    local = {file.text(i - 1) for i in file.find(["="]) if not file.at_namespace_scope[i - 1]}
    for i, token in enumerate(file.tokens):
        if (token.kind == "word" and file.text(i + 1) == "(" and not file.at_namespace_scope[i]
                and token.text not in local and not file.is_operand(i - 1)
                and file.text(i - 1) not in (".", "->", *"*&>~")
                and not (file.text(i - 1) == "::" and file.text(i - 2) == ">")):
            yield token.text, i


def head_of(file, i):
    """The words of the declaration of the function around the token i, which may declare a parameter of any name."""
    around = [opening for opening in file.partner if file.text(opening) == "{" and opening < i < file.partner[opening]]
    opening = head = min(around, default=0)
    while file.text(head - 1) not in ("", ";", "{", "}"):
        head -= 1
    return {token.text for token in file.tokens[head:i]} - {file.text(i)} | {
        token.text for token in file.tokens[head:opening]}


def warn_of_calls(file):
    """Pass. Warns of calls from device code to functions of the host, and from the host to functions of the device, which
    nvcc refuses. By the name alone: where there is something else of the name, nothing is said. Needs file.functions,
    and file.declared of the files before, too."""
    if file.macro:
        return
    of_host, of_device, other = set(), set(), set(file.unit.macros)
    for known in {known.path: known for known in [*file.files_before, file]}.values():
        other.update(member_functions(known))
        for name, _, words in known.declared:
            where = set().union(*(specifiers(known, word) for word in words))
            is_both = bool({"template", "constexpr", "consteval", "=", "friend"} & {*words})
            kind = other if is_both or where not in (set(), {"__device__"}) else of_device if where else of_host
            kind.add(name)
    for name, i in plain_calls(file):
        here = function_at(file, i)
        if name in of_host - of_device - other and here and "__host__" not in here:
            text = f"{name}() is a function of the host, and is called in device code, which nvcc refuses: write __device__ before it"
        elif name in of_device - of_host - other and not here - {"__host__"} and not is_unevaluated(file, i):
            text = f"{name}() is a function of the device, and is called on the host, which nvcc refuses: write __host__ __device__ before it"
        else:
            continue
        if name in head_of(file, i):
            continue
        position = file.tokens[i].begin
        file.edits.append((position, position, f" _Pragma({c_string('GCC warning ' + c_string(text))}) "))


def is_unevaluated(file, i):
    """True in decltype(f(1)) and the like: only the type of the call counts."""
    words = ("decltype", "sizeof", "noexcept", "requires")
    return any(file.text(opening - 1) in words and opening < i < closing for opening, closing in file.partner.items())
