"""Kernels: what is between __global__ and the body, and the entry that lets the host launch one by its address."""

from .tokens import TAKES_PARENTHESES, SourceFile, one_line

# Words of a type that cannot be the name of a parameter.
TYPE_WORDS = {"auto", "bool", "char", "const", "double", "float", "int", "long", "short", "signed", "unsigned", "void",
              "volatile", "__restrict__", "__restrict", "__grid_constant__"}
NUMBERS = {"bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned"}
SPECIFIERS = {"const", "extern", "inline", "static", "volatile", "__attribute__", "__forceinline__", "__launch_bounds__"}
QUALIFIERS = {"const", "volatile", "__restrict__", "__restrict", "__grid_constant__", "struct", "class", "typename",
              "union", "enum"}


class Kernels(SourceFile):
    """A file whose kernels are made known to the CPU device."""

    def kernel_parts(self, at):
        """Index of the ( of the parameters and of the { of the body of the kernel whose __global__ is at `at`; None
        for a declaration."""
        i, parameters = at + 1, None
        while self.text(i) not in ("", ";", "}") and not (parameters is not None and self.text(i) == "{"):
            if self.text(i) == "(" and self.text(i - 1) not in TAKES_PARENTHESES and parameters is None:
                parameters = i
            i = self.after(i)
        return (parameters, i) if self.text(i) == "{" else None

    def rewrite_kernel(self, at):
        """cudaLaunchKernel() gets an address: the kernel itself says what it takes."""
        parts = self.kernel_parts(at)
        if parts is None:
            return
        opening, body = parts
        self.refuse_result(at, opening)
        self.refuse_references(opening)
        begin, end = self.tokens[opening].begin, self.tokens[body].end
        if (self.other_end(opening) + 1 != body or not self.is_word(opening - 1)
                or any(begin < directive.begin < end for directive, _ in self.directives)):
            return
        parameters = self.parameters(opening)
        if parameters is None:
            return
        names = ", ".join(name.removesuffix("...") for name in parameters)
        types = ", ".join(f"decltype({name.removesuffix('...')}){'...' if name.endswith('...') else ''}"
                          for name in parameters)
        text = (f" SIMT_KERNEL({self.message_text(self.text(opening - 1))}, {self.message_text(names)}, "
                f"void({types}){self.cluster_dims(at, opening)});")
        self.edits.append((end, end, text))

    def refuse_result(self, at, opening):
        """A kernel has no caller in its thread. What is not a type of the language may be void by another name."""
        words, i = [], at + 1
        while i < opening - 1:
            words.append(self.text(i))
            i = self.after(i + 1) if self.text(i + 1) == "(" else i + 1
        if any(word in NUMBERS for word in words) and all(word in NUMBERS | SPECIFIERS for word in words):
            self.unsupported(at, "a kernel that returns a value, which nvcc refuses, too: write __global__ void, and store the value in device memory")

    def refuse_references(self, opening):
        """A kernel gets copies: what a reference refers to is on the host."""
        i = opening + 1
        while i < self.other_end(opening):
            if self.text(i) in ("&", "&&") and self.text(i - 1) not in ("(", "="):
                self.unsupported(i, "a reference as a kernel's parameter: pass a value, or a pointer to device memory")
            if self.text(i) == "=":  # a default
                return
            i = self.after_angle(i) if self.text(i) == "<" else self.after(i)

    def cluster_dims(self, begin, end):
        """", 2, 1, 1" of __cluster_dims__(2, 1, 1) in the declaration between two tokens; empty without one."""
        for i in range(begin, end):
            if self.text(i) == "__cluster_dims__" and self.text(i + 1) == "(":
                return ", " + one_line(self.source[self.tokens[i + 1].end:self.tokens[self.other_end(i + 1)].begin])
        return ""

    def parameters(self, opening):
        """The names of the parameters, a pack as `name...`; None if one has a name that cannot be found. One without
        a name gets one."""
        closing, names = self.other_end(opening), []
        if closing == opening + 1 or (closing == opening + 2 and self.text(opening + 1) == "void"):
            return names
        part, i = [], opening + 1  # tokens of one parameter, brackets left out
        while i <= closing:
            text = self.text(i)
            if i == closing or text == ",":
                name = self.parameter_name(part) or self.new_name(part, len(names))
                if name is None:
                    return None
                names.append(name)
                part, i = [], i + 1
                continue
            if text in ("alignas", "__align__", "__attribute__") and self.text(i + 1) == "(":
                i = self.after(i + 1)
                continue
            part.append(i)
            i = self.after_angle(i) if text == "<" else self.after(i)
        return names

    def parameter_name(self, part):
        texts = [self.text(i) for i in part]
        if "=" in texts:
            texts, default = texts[:texts.index("=")], texts[texts.index("="):]
            if "<" in default:
                return None
        while texts and texts[-1] == "[":
            texts.pop()
        if not texts:
            return None
        if texts[-1] == "(":  # int (*name)(int)
            return self.name_of_function_pointer(part[:len(texts)])
        *kind, name = texts
        kind = [word for word in kind if word not in QUALIFIERS]
        if not (name[0].isalpha() or name[0] == "_") or name in TYPE_WORDS or not kind or kind[-1] == "::":
            return None
        return name + "..." if kind[-1] == "." else name

    def new_name(self, part, number):
        """A name for the parameter, which has none; None if it is no plain type."""
        texts = [self.text(i) for i in part]
        last = part[texts.index("=") - 1 if "=" in texts else -1] if part else None
        is_macro = len(texts) == 1 and len(texts[0]) > 1 and texts[0].isupper()  # it may have a name in it
        if last is None or is_macro or {"(", "["} & set(texts):
            return None
        end = self.tokens[self.after_angle(last) - 1 if self.text(last) == "<" else last].end
        self.edits.append((end, end, f" simt_unnamed_{number} [[maybe_unused]]"))
        return f"simt_unnamed_{number}" + ("..." if self.text(last) == "." else "")

    def name_of_function_pointer(self, part):
        brackets = [i for i in part if self.text(i) == "("]
        if len(brackets) != 2 or self.text(brackets[0] + 1) != "*" or self.other_end(brackets[0]) != brackets[0] + 3:
            return None
        return self.text(brackets[0] + 2)
