#!/usr/bin/env python3
"""cu2cpp.py INPUT.cu OUTPUT.cpp DEPFILE [-Idir ...]

How CUDA passes a C++ compiler: most of it is C++ once `__global__` and similar words are
macros; the few constructs that are not become calls of the CPU device (common/simt):

    kernel<T><<<grid, block>>>(a, n);   ->  ::simt::launch({texts}, ..., grid, block)(a, n);
    __shared__ float s[32];             ->  a reference to the block's own storage
    extern __shared__ float s[];        ->  a pointer to the block's dynamic shared memory
    __device__ int counter;             ->  the same, and its address is given to the checker
    __noinline__                        ->  __attribute__((noinline))
    return;  in a kernel                ->  the same, and the barriers of the block are told of it
    __global__ void kernel(...) {       ->  the same, and what it takes, for cudaLaunchKernel()

Included .cuh files are pulled in and rewritten, too; other headers stay includes. Every line keeps
its file and number, so that the compiler and the checker name the learner's own lines. Comments,
strings and macros are not changed. What cannot be parsed is an error at file:line, not a guess.

Arguments are evaluated once, at the launch, and passed on as variables. Only a braced list, and a 0
or NULL that may mean a pointer, cannot be variables: the call of the kernel has them as written.

A function that is launched must be declared `__global__`, as nvcc requires.

Limits: a kernel that is called through a global or member variable needs parentheses:
(member_)<<<1, 32>>>(n). A `__device__` variable that is a class member or local to a function is not
given to the checker.
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
from rewriter import kernels, launches, returns, tokens, variables  # noqa: E402
from rewriter.tokens import TOKEN, Unsupported, c_string  # noqa: E402


class CudaFile(launches.Launches, returns.Returns, variables.Variables):
    """One source file, and the edits that turn it into C++."""

    def rewrite(self):
        for directive, _ in self.directives:
            self.check_macro(directive)
        known = 0  # the variables before this token are known to the checker
        for i, token in enumerate(self.tokens):
            if token.text == "<<<":
                self.rewrite_launch(i)
            elif token.text == "launch" and self.spell(range(i - 2, i)) == "course::":
                self.name_launch(i)
            elif token.text == "__shared__":
                self.rewrite_shared(i)
            elif token.text == "__noinline__" and self.text(i - 1) != "(":
                self.replace(i, i + 1, "__attribute__((noinline))")  # a macro would harm the library's headers
            elif token.text == "__global__":
                self.rewrite_kernel(i)
                self.rewrite_returns(i)
            elif (token.text in ("__device__", "__constant__", "__managed__") and i >= known
                  and self.at_namespace_scope[i] and self.declares_variable(i)):
                known = self.rewrite_global(i)

    def check_macro(self, directive):
        definition = re.match(r"\s*#\s*define\b", directive.text)
        if definition is None:
            return
        for match in TOKEN.finditer(directive.text, definition.end()):
            if match.group() in ("<<<", "__shared__"):
                self.fail_at(directive.begin + match.start(), "a macro cannot contain a launch or "
                             "a __shared__ variable: write a function instead")


# ---- Files --------------------------------------------------------------------------------------

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">\n]+\.cuh?)[">]')
PRAGMA_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")
GUARD = re.compile(r"\s*#\s*ifndef\s+(\w+).*\n\s*#\s*define\s+(\w+)")


class Translation:
    """One .cu file with everything it pulls in."""

    def __init__(self, include_dirs):
        self.include_dirs = include_dirs
        self.files = []  # in the order of their first use, for the depfile
        self.included = set()  # pulled in where no #if could hide them
        self.open = []  # being pulled in now
        self.parsed = []  # the CudaFile of each

    def find(self, quote, name, from_file):
        folders = ([os.path.dirname(from_file)] if quote == '"' else []) + self.include_dirs
        for folder in folders:
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(path):
                return path
        return None

    def expand(self, path, hidden=False):
        """The text of the file, rewritten, with its .cuh files in place of their includes.

        `hidden`: the include lies in an #if, so that another one may have to replace it.
        """
        if path in self.included:
            return ""
        if path not in self.files:
            self.files.append(path)
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as text:
            source = text.read()
        shown = os.path.relpath(path)
        file = CudaFile(shown, source)
        first_directives = "\n".join(directive.text for directive, _ in file.directives[:2])
        guard = GUARD.match(first_directives)
        guarded = guard is not None and guard.group(1) == guard.group(2)
        once = guarded or any(PRAGMA_ONCE.match(d.text) for d, _ in file.directives)
        if once and not hidden:
            self.included.add(path)

        file.rewrite()
        self.parsed.append(file)
        self.open.append((path, once))
        self.expand_includes(file, path, hidden, 1 if guarded else 0)
        self.open.pop()
        text = f"#line 1 {c_string(shown)}\n{file.result()}"
        if once:  # #pragma once means nothing in the middle of a file
            macro = "SIMT_INCLUDED_" + re.sub(r"\W", "_", os.path.abspath(path))
            text = f"#ifndef {macro}\n#define {macro}\n{text}\n#endif\n"
        return text

    def check_launches(self):
        """Refuses the launch of a function that is not a kernel, and the call of a kernel that is not a
        launch, as nvcc does. By the name alone: where there are both, all goes through."""
        kernels, others = set(), {}
        for file in self.parsed:
            for name, at, is_kernel in file.functions():
                kernels.add(name) if is_kernel else others.setdefault(name, (file, at))
        for file in self.parsed:
            for name, at in file.launched:
                if name in others and name not in kernels:
                    definition, position = others[name]
                    place = f"{file.path}:{file.line(file.tokens[at].begin)}"
                    self.check_braces()
                    definition.fail(position, f"{name} is launched with <<<>>> ({place}), but is "
                                    f"not a kernel: write __global__ void {name}(...)")
            for name, at in file.plain_calls():
                if name in kernels and name not in others:
                    self.check_braces()
                    file.fail(at, f"{name} is a kernel, and a kernel is launched: "
                              f"{name}<<<blocks, threads>>>(...)")

    def check_braces(self):
        """Refuses a { without a }: what follows it may have been mistaken for something else."""
        for file in self.parsed:
            for i in file.unclosed:
                if file.text(i) == "{":
                    file.fail(i, "this { has no }")

    def expand_includes(self, file, path, hidden, guard_depth):
        for directive, depth in file.directives:
            if PRAGMA_ONCE.match(directive.text):
                file.edits.append((directive.begin, directive.end, ""))
            include = INCLUDE.match(directive.text)
            if include is None:
                continue
            in_condition = depth > guard_depth
            found = self.find(include.group(1), include.group(2), path)
            if found is None:
                if in_condition:
                    continue  # for the compiler, which knows whether the condition holds
                places = ", ".join(self.include_dirs) or "no -I folder"
                file.fail_at(directive.begin, f"{include.group(2)}: no such file; looked "
                             f"{'next to it and ' if include.group(1) != '<' else ''}in {places}")
            text = ""
            if (found, True) not in self.open:
                if (found, False) in self.open:
                    file.fail_at(directive.begin, f"{include.group(2)} includes itself: begin it "
                                 "with #pragma once")
                text = self.expand(found, hidden or in_condition)
            line = file.line(directive.end) + 1
            file.edits.append((directive.begin, directive.end,
                               f"{text}\n#line {line} {c_string(file.path)}"))


def escape_for_make(path):
    return path.replace("$", "$$").replace("#", r"\#").replace(" ", r"\ ")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    source, output, depfile, *flags = sys.argv[1:]
    translation = Translation([flag[2:] for flag in flags if flag.startswith("-I")])
    try:
        text = translation.expand(os.path.normpath(source))
        translation.check_launches()
    except (Unsupported, OSError) as problem:
        sys.exit(str(problem))
    with open(output, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    with open(depfile, "w", encoding="utf-8", errors="surrogateescape") as file:
        own = [module.__file__ for module in (kernels, launches, returns, tokens, variables)]
        file.write(f"{escape_for_make(output)}: {' '.join(map(escape_for_make, translation.files + own))}\n")


if __name__ == "__main__":
    main()
