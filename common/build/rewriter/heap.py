"""malloc, free, new and delete in kernels: they work on the heap of the device, not on the host's."""

from .functions import Functions

WORDS = {"malloc", "free", "new", "delete"}


class Heap(Functions):
    """A file whose device code may take memory."""

    def rewrite_heap(self, i):
        text = self.text(i)
        if self.text(i - 1) in (".", "->", "::", "operator"):
            return
        if not self.function_at(i) & {"__device__", "__global__"}:
            return
        if text in ("malloc", "free"):
            if self.text(i + 1) == "(" and not self.is_operand(i - 1):
                self.replace(i, i + 1, f"::simt::heap_{text}")
        elif text == "new" and self.text(i + 1) != "(":  # else it is told where
            self.replace(i, i + 1, "new (::simt::device_heap)")
        elif text == "delete" and self.text(i + 1) not in (";", ")", ","):
            is_array = self.text(i + 1) == "[" and self.text(i + 2) == "]"
            self.replace(i, i + 3 if is_array else i + 1, f"::simt::delete_{'array' if is_array else 'one'}->*")
