"""How CUDA passes a C++ compiler: most of it is C++ once `__global__` and similar words are
macros; the few constructs that are not become calls of the CPU device (common/simt):

    kernel<T><<<grid, block>>>(a, n);   ->  ::simt::launch({texts}, ..., grid, block)(a, n);
    __shared__ float s[32];             ->  a reference to the block's own storage
    extern __shared__ float s[];        ->  a pointer to the block's dynamic shared memory
    __shared__ outside of functions     ->  the same, in each function that names it
    __device__ int counter;             ->  the same, and its address is given to the checker
    __noinline__                        ->  __attribute__((noinline))
    malloc, free, new, delete           ->  in kernels: those of the device's heap
    union { float4 v; float x[4]; }     ->  the same, with the copies that it has with nvcc
    return;  in a kernel                ->  the same, and the barriers of the block are told of it
    __global__ void kernel(...) {       ->  the same, and what it takes, for cudaLaunchKernel()
    asm("...");  in device code         ->  C++ that does the same, for common instructions
    #ifdef __CUDA_ARCH__                ->  the same; it is defined in device code, and a function for
                                            both host and device has its body twice

Included .cuh files are pulled in and rewritten, too, and other files of one's own (next to the file or
in a -I folder) if they have such constructs; other headers stay includes. Launches and __shared__
variables in macros are rewritten where the macro is defined. Every line keeps its file and number, so
that the compiler and the checker name the learner's own lines. Comments and strings are not changed.
What cannot be parsed is an error at file:line, not a guess, and so is what the CPU device has not. The header of a library
that it has not, such as Thrust, is left out: what is used of it is the error.

Arguments are evaluated once, at the launch, and passed on as variables. Only a braced list, and a 0
or NULL that may mean a pointer, cannot be variables: the call of the kernel has them as written.

Limits: a `__device__` variable that is a class member or local to a function is not given to the checker.
"""

import os
import re

from build.rewriter import passes
from build.rewriter.source import Unit, c_string
from build.rewriter.unsupported import is_left_out, is_of_library, unsupported_header

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">\n]+)[">]')
# What makes a file one to rewrite.
CUDA = re.compile(r"<<\s*<|\b(__(global|device|shared|constant|managed|noinline|CUDA_ARCH|asm)__|asm)\b")
ANY_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.M)
PRAGMA_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")
GUARD = re.compile(r"\s*#\s*ifndef\s+(\w+).*\n\s*#\s*define\s+(\w+)")


class Translation:
    """One .cu file with everything it pulls in."""

    def __init__(self, include_dirs, is_linked=False, is_exercise=False):
        self.include_dirs = include_dirs
        self.files = []  # in the order of their first use, for the depfile
        self.included = set()  # pulled in where no #if could hide them
        self.open = []  # being pulled in now
        self.parsed = []  # the SourceFile of each
        self.cuda = {}  # path -> is it to be rewritten
        self.unit = Unit(is_linked, is_exercise)

    def find(self, quote, name, from_file):
        folders = ([os.path.dirname(from_file)] if quote == '"' else []) + self.include_dirs
        for folder in folders:
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(path):
                return path
        return None

    def is_cuda(self, path):
        """True for a file to rewrite: it has CUDA in it, or includes one that has."""
        if path not in self.cuda:
            self.cuda[path] = path.endswith((".cu", ".cuh"))  # until this is known, for files that include each other
            text = self.read(path)
            includes = ANY_INCLUDE.findall(text)
            self.cuda[path] |= CUDA.search(text) is not None or any(is_of_library(name) for _, name in includes) or any(
                found is not None and self.is_cuda(found) for found in (self.find(*include, path) for include in includes))
        return self.cuda[path]

    def read(self, path):
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as text:
            return text.read()

    def expand(self, path, hidden=False):
        """The text of the file, rewritten, with its CUDA files in place of their includes.

        `hidden`: the include lies in an #if, so that another one may have to replace it.
        """
        if path in self.included:
            return ""
        if path not in self.files:
            self.files.append(path)
        shown = os.path.relpath(path)
        file = passes.read(shown, self.read(path), self.unit)
        first_directives = "\n".join(directive.text for directive, _ in file.directives[:2])
        guard = GUARD.match(first_directives)
        guarded = guard is not None and guard.group(1) == guard.group(2)
        file.guard_depth, file.is_hidden = (1 if guarded else 0), hidden
        once = guarded or any(PRAGMA_ONCE.match(d.text) for d, _ in file.directives)
        if once and not hidden:
            self.included.add(path)

        file.files_before = self.parsed
        self.parsed.append(file)
        self.open.append((path, once))
        self.expand_includes(file, path, hidden)
        self.open.pop()
        passes.rewrite(file)
        text = f"#line 1 {c_string(shown)}\n{file.result()}"
        if once:  # #pragma once means nothing in the middle of a file
            macro = "SIMT_INCLUDED_" + re.sub(r"\W", "_", os.path.abspath(path))
            text = f"#ifndef {macro}\n#define {macro}\n{text}\n#endif\n"
        return text

    def expand_includes(self, file, path, hidden):
        for directive, depth in file.directives:
            if PRAGMA_ONCE.match(directive.text):
                file.edits.append((directive.begin, directive.end, ""))
            include = INCLUDE.match(directive.text)
            if include is None:
                continue
            quote, name = include.groups()
            in_condition = hidden or depth > file.guard_depth
            found = self.find(quote, name, path)
            if found is None:
                self.check_include(file, directive, quote, name, in_condition)
                continue
            if not self.is_cuda(found):
                self.leave_include(file, directive, quote, found)
                continue
            text = ""
            if (found, True) not in self.open:
                if (found, False) in self.open:
                    file.fail_at(directive.begin, f"{name} includes itself: begin it "
                                 "with #pragma once")
                text = self.expand(found, in_condition)
            line = file.line(directive.end) + 1
            file.edits.append((directive.begin, directive.end,
                               f"{text}\n#line {line} {c_string(file.path)}"))

    def check_include(self, file, directive, quote, name, in_condition):
        """A header that is not one of the program's files: the compiler's, or one that there is not."""
        message = unsupported_header(name)
        if is_left_out(name):
            file.edits.append((directive.begin, directive.end, ""))
        elif message is not None:
            if not in_condition:
                file.fail_at(directive.begin, message)
            file.edits.append((directive.begin, directive.end, f"#error {message}"))
        elif name.endswith((".cu", ".cuh")) and not in_condition:  # else the compiler knows whether the condition holds
            places = ", ".join(self.include_dirs) or "no -I folder"
            file.fail_at(directive.begin, f"{name}: no such file; looked "
                         f"{'next to it and ' if quote != '<' else ''}in {places}")

    def leave_include(self, file, directive, quote, found):
        """The compiler looks for it in the folder of the .cu file, not of the file that includes it."""
        if quote == '"' and os.path.dirname(found) != os.path.dirname(self.files[0]):
            file.edits.append((directive.begin, directive.end, f"#include {c_string(os.path.abspath(found))}"))

    def force(self, names, source):
        """The text of headers that come before the source, those of -include."""
        text = ""
        for name in names:
            found = self.find('"', name, source)
            is_cuda = found is not None and self.is_cuda(found)
            text += self.expand(found) if is_cuda else f'#line 1 {c_string(f"-include {name}")}\n#include {c_string(found or name)}'
            text += "\n"
        return text


def rewrite(source, output, include_folders, is_linked=False, forced=(), is_exercise=False):
    """Writes `source` as C++, with these headers before it; returns the files that it was made of."""
    translation = Translation(include_folders, is_linked, is_exercise)
    source = os.path.normpath(source)
    translation.files.append(source)  # the first one, though headers come before it
    text = translation.force(forced, source) + translation.expand(source)
    with open(output, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return translation.files
