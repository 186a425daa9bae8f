"""Launches: kernel<<<grid, block>>>(arguments) and course::launch(kernel, ...)."""

import re

from build.rewriter.declarations import function_names
from build.rewriter.functions import is_device_code
from build.rewriter.source import OPENING, STATEMENT_WORDS, c_string, one_line

# The namespace of a check, which calls its own kernels by whole names: of an argument's type, such as __half, a learner may have a
# function of the same name. Messages leave it out.
OF_CHECK = re.compile(r"^\w+_checks?::")


def rewrite(file):
    """Pass. Needs file.functions, and what declarations.find() has found in the files before, too."""
    for i in file.find(["<<<", "launch"]):
        if file.text(i) == "launch":
            if file.spell(range(i - 2, i)) == "course::":
                name_launch(file, i)
        elif is_device_code(file, i):
            file.unsupported(i, "a launch in a kernel, dynamic parallelism: return to the host, and launch from there")
        else:
            rewrite_launch(file, i)


def is_pointer(file, name):
    """True for a variable that the host has to read. Where there is a function of the name, too, that is launched."""
    files = {one.path: one for one in [*file.files_before, file]}.values()
    return any(name in one.variables for one in files) and not any(
        name in function_names(one) for one in files)


def rewrite_launch(file, at):
    begin, is_name = kernel_begin(file, at)
    if is_name and begin == at - 1 and is_pointer(file, file.text(begin)):
        is_name = False  # evaluated now: a kernel must not read the host's variable
    end = configuration_end(file, at)
    opening = end + 3
    if file.text(opening) != "(":
        file.fail(end, "a launch needs its arguments in parentheses after >>>")
    closing = file.other_end(opening)
    kernel = one_line(file.between(begin, at))
    shown = OF_CHECK.sub("", kernel)
    arguments = one_line(file.source[file.tokens[opening].end:file.tokens[closing].begin])
    # A name may stand for a template or several overloads, so the call must be written with
    # it. Any other expression is evaluated once, as a launch on a GPU does.
    capture, callee = ("=", kernel) if is_name else (f"simt_kernel = {kernel}", "simt_kernel")
    parameters, call = "auto&... simt_args", f"SIMT_CALL({callee})"
    arguments_as_written = only_as_written(file, opening, closing)
    if any(arguments_as_written):
        capture = "=" if is_name else "=, " + capture
        parameters = ", ".join("auto&" if written else f"auto& simt_{i}"
                               for i, written in enumerate(arguments_as_written))
        passed = ", ".join(written or f"simt_{i}"
                           for i, written in enumerate(arguments_as_written))
        call = f"{callee}({passed})"
    file.replace(begin, at + 1,
                 f" ::simt::launch({{{file.message_text(shown)}, {file.message_text(arguments)}}}, "
                 f"[{capture}]({parameters}) {{ {call}; }}, ")
    file.replace(end, end + 3, ")")


def name_launch(file, at):
    """course::launch(kernel, grid, arguments...): hands on a call of the kernel, which may be a
    template, and the texts that messages need."""
    opening = at + 1
    if file.text(opening) != "(":
        return  # its own definition, or a using
    closing, end = file.other_end(opening), opening + 1
    while file.is_word(end) or file.text(end) == "::":
        end += 1
    if file.text(end) == "<":
        end = file.after_angle(end)
    comma = end  # the one after the grid
    while comma < closing and (comma == end or file.text(comma) != ","):
        comma = file.after(comma)
    if end == opening + 1 or file.text(end) != ",":
        file.fail(at, "course::launch(kernel, {blocks, threads}, arguments...) begins with the name of a kernel")
    kernel = one_line(file.between(opening + 1, end))
    arguments = "" if comma >= closing else one_line(file.source[file.tokens[comma].end:file.tokens[closing].begin])
    file.replace(opening + 1, end, f"{{{c_string(kernel)}, {c_string(arguments)}}}, "
                 f"[=](auto&... simt_args) {{ SIMT_CALL({kernel}); }}")


def kernel_begin(file, at):
    """Index of the kernel's first token, and whether it is just a name: k, k<T>, a::k, ::k.

    Reads the expression before <<< from right to left, link by link: f, f<T>, f(x), f[x]
    or (x), joined by :: . or ->
    """
    i, is_name = at, True
    while True:
        if file.text(i - 1) in (")", "]"):
            is_name = False
            i = file.other_end(i - 1)
            if file.text(i) == "(" and not is_called(file, i):
                break
            continue
        if file.text(i - 1) == ">":
            i = file.before_angle(i - 1)
        i -= 1
        if not file.is_word(i) or file.text(i) in STATEMENT_WORDS | {"operator"}:
            file.fail(at, "cannot find the name of the kernel before <<<")
        link = i - 2 if file.text(i - 1) == "template" else i - 1
        if file.text(link) in (".", "->"):
            i, is_name = link, False
        elif file.text(link) == "::":
            i = link
            if not (file.is_operand(i - 1) or file.text(i - 1) == ">"):
                break
        else:
            break
    if not file.is_word(i - 1) and file.text(i - 1) not in ("", *";{}(),:?]!", "&&", "||"):
        file.fail(at, "cannot find where the name of the kernel begins: put comparisons among "
                  "template arguments in parentheses")
    return i, is_name


def is_called(file, i):
    """True for the ( of f(x), false for that of (x) as an expression of its own."""
    if file.text(i - 1) == ")":  # f(x)(y), but not if (x) (y)
        before = file.other_end(i - 1) - 1
        return file.is_word(before) and file.text(before) not in ("if", "constexpr", "for",
                                                                  "while", "switch")
    return file.is_operand(i - 1) or file.text(i - 1) in ("]", ">")


def configuration_end(file, at):
    """Index of the first > of >>>."""
    i, commas = at + 1, 0
    while True:
        text = file.text(i)
        if text in ("", ";", "<<<", *OPENING):
            file.fail(at, "this <<< has no >>>")
        if text == ">" and is_triple(file, i):
            break
        commas += text == ","
        i = file.after(i)
    if commas == 0:
        file.fail(at, "a launch needs a grid and a block: kernel<<<grid, block>>>(...)")
    return i


def is_triple(file, i):
    """True for >>> in one piece, or >> > before a parenthesis; of >>>> the first one belongs to a template."""
    three = file.tokens[i:i + 3]
    return ([token.text for token in three] == [">"] * 3 and file.text(i + 3) != ">"
            and three[1].end - three[0].begin == 2 and (three[2].begin == three[1].end or file.text(i + 3) == "("))


def only_as_written(file, opening, closing):
    """The text of each argument that no variable can replace, None for the others. Such an
    argument is evaluated in the call of the kernel; the launch passes a stand-in."""
    texts, first, i = [], opening + 1, opening + 1
    while first < closing:
        if i < closing and file.text(i) != ",":
            i = file.after(i)
            continue
        written = file.text(first) == "{" or file.spell(range(first, i)) in ("0", "NULL")
        texts.append(one_line(file.between(first, i)) if written else None)
        if written:
            file.replace(first, i, "nullptr")
        first = i = i + 1
    return texts
