"""Returns of kernels: a barrier does not wait for a thread that has returned, but for one that skipped it."""

from .kernels import Kernels


class Returns(Kernels):
    """A file in whose kernels a `return;` is told to the CPU device."""

    def rewrite_returns(self, at):
        """The kernel whose __global__ is at `at`. What ends its last line ends the kernel as the } does."""
        parts = self.kernel_parts(at)
        if parts is None:
            return
        _, body = parts
        i, end = body + 1, self.other_end(body)
        while i < end:
            if self.text(i) == "]":
                i = self.after_lambda(i)
            elif self.text(i) == "return" and self.text(i + 1) == ";" and i + 2 < end:
                self.replace(i, i + 2, "{ ::simt::leave_kernel(); return; }")
                i += 2
            else:
                i += 1

    def after_lambda(self, i):
        """Index after the lambda whose captures end at the ] at i; i + 1 if it is no lambda."""
        j = i + 1
        if self.text(j) == "(":
            j = self.other_end(j) + 1
        while self.is_operand(j) or self.text(j) in ("->", "::", *"<>*&,"):
            j += 1
        return self.other_end(j) + 1 if self.text(j) == "{" else i + 1
