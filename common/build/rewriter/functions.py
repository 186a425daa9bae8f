"""Functions of CUDA: which code runs in kernels, which on the host, and what __CUDA_ARCH__ is there."""

import re

from .tokens import TAKES_PARENTHESES, TOKEN, SourceFile

SPECIFIERS = {"__global__", "__device__", "__host__"}
SPACES = {"__device__", "__constant__", "__managed__"}
ARCH = "__CUDA_ARCH__"
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(?P<parameters>\([^()]*\))?")
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef)\b")


class Functions(SourceFile):
    """A file with functions for the device, the host, or both."""

    # ---- Which functions there are ----

    def read_macros(self):
        """Notes macros that stand for __host__, __device__ or __global__, and for the memory of a variable:
        #define HD __host__ __device__."""
        for directive, _ in self.directives:
            definition = DEFINE.match(directive.text)
            if definition is not None:
                self.macros.names.add(definition.group(1))
            if definition is None or definition.group("parameters") or definition.end() == len(directive.text):
                continue
            words, spaces = set(), set()
            for match in TOKEN.finditer(directive.text, definition.end()):
                words |= self.specifiers(match.group())
                spaces |= {match.group()} & SPACES
            if words:
                self.macros.specifiers[definition.group(1)] = words
            if spaces and "__host__" not in words:
                self.macros.spaces[definition.group(1)] = max(spaces, key=["__device__", "__constant__", "__managed__"].index)

    def specifiers(self, text):
        return {text} if text in SPECIFIERS else self.macros.specifiers.get(text, set())

    def device_functions(self):
        """(index of {, index of }, its specifiers) of every function and lambda that has some."""
        if not hasattr(self, "device_functions_"):
            self.device_functions_ = found = []
            after = 0  # the specifiers before this token belong to one that was found
            names = SPECIFIERS | self.macros.specifiers.keys()
            for i, token in enumerate(self.tokens):
                if token.text not in names or i < after:
                    continue
                body = self.body(i)
                if body is not None and body in self.partner:
                    words = set().union(*(self.specifiers(self.text(j)) for j in range(i, body)))
                    found.append((body, self.partner[body], words))
                    after = body
        return self.device_functions_

    def function_at(self, i):
        """The specifiers of the innermost such function around the token i; none in a plain host function."""
        around = [function for function in self.device_functions() if function[0] < i < function[1]]
        return around[-1][2] if around else set()

    def is_device_code(self, i):
        """True if the token i is in a function that runs in kernels only."""
        words = self.function_at(i)
        return bool(words) and "__host__" not in words

    def body(self, at):
        """Index of the { of the function that has the specifier at, None for a declaration."""
        i, has_parameters = at + 1, False
        while self.text(i) not in ("", ";", "}") and not (has_parameters and self.text(i) == "{"):
            if self.text(i) == "(" and self.text(i - 1) not in TAKES_PARENTHESES:
                has_parameters = True
            if has_parameters and self.text(i) == ":":
                return self.after_initialisers(i)
            if self.text(i) == "=" and not has_parameters and self.text(i - 1) != "operator":
                return None  # a variable
            i = self.after(i)
        return i if self.text(i) == "{" else None

    def after_initialisers(self, i):
        """Index of the { of a constructor whose : is at i."""
        while self.text(i) in (":", ","):
            i += 1
            while self.is_word(i) or self.text(i) in ("::", "<"):
                i = self.after_angle(i) if self.text(i) == "<" else i + 1
            if self.text(i) not in ("(", "{"):
                return None
            i = self.after(i)
        return i if self.text(i) == "{" else None

    # ---- __CUDA_ARCH__ ----

    def rewrite_arch(self):
        """Defines __CUDA_ARCH__ where nvcc does: in device code. A function for both is there twice."""
        if ARCH in self.source:
            self.rewrite_groups()
        if ARCH not in self.source and not self.macros.of_arch:
            return
        self.read_dependent_macros()
        depends = re.compile(r"\b(" + "|".join([ARCH, *self.macros.of_arch]) + r")\b")
        end = 0
        for opening, closing, words in self.device_functions():
            begin, close = self.tokens[opening].end, self.tokens[closing].begin
            if opening < end or not depends.search(self.source, begin, close):
                continue
            end = closing
            groups = [group for name in set(depends.findall(self.source, begin, close))
                      for group in self.macros.of_arch.get(name, [])]
            device, host = self.switch(f"#define {ARCH} 900\n", groups), self.switch(f"#undef {ARCH}\n", groups)
            inner, outer = f"#line {self.line(begin)}\n", f"#line {self.line(close)}\n"
            if "__host__" in words:
                self.edits += [
                    (begin - 1, begin, f"{{ if (!__builtin_is_constant_evaluated() && ::simt::in_kernel()) {{\n{device}{inner}"),
                    (close, close + 1, lambda host=host, inner=inner, begin=begin, close=close, outer=outer:
                     f"\n{host}}} else {{\n{inner}{self.render(begin, close)}}}\n{outer}}}"),
                ]
            else:
                self.edits += [(begin - 1, begin, f"{{\n{device}{inner}"), (close, close + 1, f"\n{host}{outer}}}")]

    def switch(self, text, groups):
        """Directives from which on __CUDA_ARCH__ is another one, with the macros that depend on it."""
        for names, directives in groups:
            text += "".join(f"#undef {name}\n" for name in names) + directives + "\n"
        return text

    def rewrite_groups(self):
        """#if ... #endif outside of functions, on __CUDA_ARCH__: those with device code in them are for the device,
        those that only define macros are for whoever uses the macros, all others for the host."""
        stack, depth_of_group = [], None
        bodies = [(self.tokens[f[0]].begin, self.tokens[f[1]].end) for f in self.device_functions()]
        for directive, _ in self.directives:
            is_if = re.match(r"\s*#\s*if", directive.text)
            if is_if:
                stack.append(directive)
            if CONDITION.match(directive.text) and ARCH in directive.text and depth_of_group is None and stack:
                if not any(begin < directive.begin < end for begin, end in bodies):
                    depth_of_group = len(stack)
            if re.match(r"\s*#\s*endif", directive.text) and stack:
                if depth_of_group == len(stack):
                    self.rewrite_group(stack[-1], directive)
                    depth_of_group = None
                stack.pop()

    def rewrite_group(self, first, last):
        inside = [token for token in self.tokens if first.begin < token.begin < last.begin]
        if not inside:
            directives = [d for d, _ in self.directives if first.begin <= d.begin <= last.begin]
            names = [m.group(1) for m in map(DEFINE.match, (d.text for d in directives)) if m]
            text = "\n".join(d.text for d in directives)
            for name in names:
                self.macros.of_arch[name] = [(names, text)]
        elif any(self.specifiers(token.text) & {"__device__", "__global__"} for token in inside):
            self.edits += [
                (first.begin, first.begin, f"#define {ARCH} 900\n#line {self.line(first.begin)}\n"),
                (last.end, last.end, f"\n#undef {ARCH}\n#line {self.line(last.end) + 1}"),
            ]
        else:
            self.refuse_constants(first, last)

    def refuse_constants(self, first, last):
        """A constant that __CUDA_ARCH__ chooses has two values with nvcc, and here that of the host: kernels may not use it."""
        inside = [i for i, token in enumerate(self.tokens) if first.begin < token.begin < last.begin]
        bodies = [set(token.text for token in self.tokens[f[0]:f[1]]) for f in self.device_functions() if "__host__" not in f[2]]
        statement = inside[0]
        for i in inside:
            if self.text(i - 1) in (";", "{", "}"):
                statement = i
            words = {token.text for token in self.tokens[statement:i]} if self.text(i + 1) in ("=", "{", "[") else set()
            if (self.at_namespace_scope[i] and words & {"const", "constexpr"} and "(" not in words
                    and any(self.text(i) in body for body in bodies)):
                self.unsupported(i, f"{self.text(i)}, a constant that {ARCH} chooses outside of functions: make it a macro (#define)")

    def read_dependent_macros(self):
        """Notes macros that use __CUDA_ARCH__, or another macro that does."""
        for directive, _ in self.directives:
            definition = DEFINE.match(directive.text)
            if definition is None or definition.group(1) in self.macros.of_arch:
                continue
            words = set(re.findall(r"\w+", directive.text[definition.end():]))
            used = words & self.macros.of_arch.keys()
            if used or ARCH in words:
                self.macros.of_arch[definition.group(1)] = [g for name in used for g in self.macros.of_arch[name]]
