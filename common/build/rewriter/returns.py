"""Returns of kernels: a barrier does not wait for a thread that has returned, but for one that skipped it."""

from build.rewriter.kernels import defined_kernels


def rewrite(file):
    """Pass. A `return;` of a kernel is told to the CPU device."""
    for _, _, body in defined_kernels(file):
        rewrite_body(file, body)


def rewrite_body(file, body):
    """The kernel whose { is at `body`. What ends its last line ends the kernel as the } does."""
    i, end = body + 1, file.other_end(body)
    while i < end:
        if file.text(i) == "]":
            i = after_lambda(file, i)
        elif file.text(i) == "return" and file.text(i + 1) == ";" and i + 2 < end:
            file.replace(i, i + 2, "{ ::simt::leave_kernel(); return; }")
            i += 2
        else:
            i += 1


def after_lambda(file, i):
    """Index after the lambda whose captures end at the ] at i; i + 1 if it is no lambda."""
    j = i + 1
    if file.text(j) == "(":
        j = file.other_end(j) + 1
    while file.is_operand(j) or file.text(j) in ("->", "::", *"<>*&,"):
        j += 1
    return file.other_end(j) + 1 if file.text(j) == "{" else i + 1
