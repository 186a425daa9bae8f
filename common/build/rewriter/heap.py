"""malloc, free, new and delete in kernels: they work on the heap of the device, not on the host's."""

from build.rewriter.functions import function_at

WORDS = {"malloc", "free", "new", "delete"}


def rewrite(file):
    """Pass. Needs file.functions."""
    for i in file.find(WORDS):
        rewrite_word(file, i)


def rewrite_word(file, i):
    text = file.text(i)
    if file.text(i - 1) in (".", "->", "::", "operator"):
        return
    if not function_at(file, i) & {"__device__", "__global__"}:
        return
    if text in ("malloc", "free"):
        if file.text(i + 1) == "(" and not file.is_operand(i - 1):
            file.replace(i, i + 1, f"::simt::heap_{text}")
    elif text == "new" and file.text(i + 1) != "(":  # else it is told where
        file.replace(i, i + 1, "new (::simt::device_heap)")
    elif text == "delete" and file.text(i + 1) not in (";", ")", ","):
        is_array = file.text(i + 1) == "[" and file.text(i + 2) == "]"
        file.replace(i, i + 3 if is_array else i + 1, f"::simt::delete_{'array' if is_array else 'one'}->*")
