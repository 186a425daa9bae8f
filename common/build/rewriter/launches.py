"""Launches: kernel<<<grid, block>>>(arguments) and course::launch(kernel, ...), and which functions are kernels."""

from .functions import Functions
from .tokens import OPENING, STATEMENT_WORDS, TAKES_PARENTHESES, Unsupported, c_string, one_line


class Launches(Functions):
    """A file whose launches are rewritten."""

    def __init__(self, path, source, macros=None):
        super().__init__(path, source, macros)
        self.launched = []  # (name of the kernel, index of <<<)
        self.files_before = []  # those that this one includes, and that were included before

    def functions(self):
        """(name, index of the name, is it a kernel) of every function at namespace scope."""
        for name, i, words in self.declared_functions():
            is_kernel = any("__global__" in self.specifiers(word) for word in words)
            if is_kernel or "=" not in words:  # int j = a * k(1); declares no k
                yield name, i, is_kernel

    def declared_functions(self):
        """(name, index of the name, the words before it) of what looks like a function at namespace scope."""
        head = 0  # the first token of the declaration
        for i, token in enumerate(self.tokens):
            if token.text in (";", "{", "}"):
                head = i + 1
            elif token.text == "template" and i == head and self.text(i + 1) == "<":
                head = self.after_parameters(i + 1)
            elif (self.at_namespace_scope[i] and self.text(i + 1) == "(" and self.is_operand(i)
                  and token.text not in TAKES_PARENTHESES
                  and (self.is_operand(i - 1) or self.text(i - 1) in (*"*&>", ")", "]"))):
                yield token.text, i, [t.text for t in self.tokens[head:i]]

    def is_pointer(self, name):
        """True for a variable that the host has to read. Where there is a function of the name, too, that is launched."""
        files = {file.path: file for file in [*self.files_before, self]}.values()
        return any(file.has_variable(name) for file in files) and not any(
            name == function for file in files for function, _, _ in file.functions())

    def has_variable(self, name):
        """True if a variable of this name is declared somewhere: Kernel name = k; or void (*name)(int*)."""
        if not hasattr(self, "variables_"):
            self.variables_ = {
                token.text for i, token in enumerate(self.tokens)
                if token.kind == "word" and (
                    self.text(i + 1) in ("=", ";", "{") and (self.is_operand(i - 1) or self.text(i - 1) in (*"*&>",))
                    or self.text(i - 1) == "*" and self.text(i - 2) == "(" and self.text(i + 1) in (")", "["))}
        return name in self.variables_

    def member_functions(self):
        """Names of functions that a class has."""
        for begin in self.classes:
            i = begin + 1
            while i < self.partner.get(begin, 0):
                if self.is_word(i) and self.text(i + 1) == "(":
                    yield self.text(i)
                i = self.after(i)

    def after_parameters(self, i):
        """Index after the parameters of a template; a < that compares hides where they end."""
        try:
            return self.after_angle(i)
        except Unsupported:
            return i

    def warn_of_calls(self):
        """Warns of calls from device code to functions of the host, and from the host to functions of the device, which
        nvcc refuses. By the name alone: where there is something else of the name, nothing is said."""
        of_host, of_device, other = set(), set(), set(self.macros.names)
        for file in {file.path: file for file in [*self.files_before, self]}.values():
            other.update(file.member_functions())
            for name, _, words in file.declared_functions():
                where = set().union(*map(file.specifiers, words))
                is_both = bool({"template", "constexpr", "consteval", "=", "friend"} & {*words})
                kind = other if is_both or where not in (set(), {"__device__"}) else of_device if where else of_host
                kind.add(name)
        for name, i in self.plain_calls():
            here = self.function_at(i)
            if name in of_host - of_device - other and here and "__host__" not in here:
                text = f"{name}() is a function of the host, and is called in device code, which nvcc refuses: write __device__ before it"
            elif name in of_device - of_host - other and not here - {"__host__"} and not self.is_unevaluated(i):
                text = f"{name}() is a function of the device, and is called on the host, which nvcc refuses: write __host__ __device__ before it"
            else:
                continue
            if name in self.head_of(i):
                continue
            position = self.tokens[i].begin
            self.edits.append((position, position, f" _Pragma({c_string('GCC warning ' + c_string(text))}) "))

    def is_unevaluated(self, i):
        """True in decltype(f(1)) and the like: only the type of the call counts."""
        words = ("decltype", "sizeof", "noexcept", "requires")
        return any(self.text(opening - 1) in words and opening < i < closing for opening, closing in self.partner.items())

    def head_of(self, i):
        """The words of the declaration of the function around the token i, which may declare a parameter of any name."""
        around = [opening for opening in self.partner if self.text(opening) == "{" and opening < i < self.partner[opening]]
        opening = head = min(around, default=0)
        while self.text(head - 1) not in ("", ";", "{", "}"):
            head -= 1
        return {token.text for token in self.tokens[head:i]} - {self.text(i)} | {
            token.text for token in self.tokens[head:opening]}

    def plain_calls(self):
        """(name, index of the name) of every call f(...) in a function, of members not."""
        local = {self.text(i - 1) for i, token in enumerate(self.tokens)
                 if token.text == "=" and not self.at_namespace_scope[i - 1]}
        for i, token in enumerate(self.tokens):
            if (token.kind == "word" and self.text(i + 1) == "(" and not self.at_namespace_scope[i]
                    and token.text not in local and not self.is_operand(i - 1)
                    and self.text(i - 1) not in (".", "->", *"*&>~")
                    and not (self.text(i - 1) == "::" and self.text(i - 2) == ">")):
                yield token.text, i

    def message_text(self, text):
        """Code as a string literal for messages."""
        return c_string(text)

    def rewrite_launch(self, at):
        begin, is_name = self.kernel_begin(at)
        if is_name and begin == at - 1 and self.is_pointer(self.text(begin)):
            is_name = False  # evaluated now: a kernel must not read the host's variable
        elif is_name:
            last = self.before_angle(at - 1) if self.text(at - 1) == ">" else at
            self.launched.append((self.text(last - 1), at))
        end = self.configuration_end(at)
        opening = end + 3
        if self.text(opening) != "(":
            self.fail(end, "a launch needs its arguments in parentheses after >>>")
        closing = self.other_end(opening)
        kernel = one_line(self.between(begin, at))
        arguments = one_line(self.source[self.tokens[opening].end:self.tokens[closing].begin])
        # A name may stand for a template or several overloads, so the call must be written with
        # it. Any other expression is evaluated once, as a launch on a GPU does.
        capture, callee = ("=", kernel) if is_name else (f"simt_kernel = {kernel}", "simt_kernel")
        parameters, call = "auto&... simt_args", f"SIMT_CALL({callee})"
        arguments_as_written = self.only_as_written(opening, closing)
        if any(arguments_as_written):
            capture = "=" if is_name else "=, " + capture
            parameters = ", ".join("auto&" if written else f"auto& simt_{i}"
                                   for i, written in enumerate(arguments_as_written))
            passed = ", ".join(written or f"simt_{i}"
                               for i, written in enumerate(arguments_as_written))
            call = f"{callee}({passed})"
        self.replace(begin, at + 1,
                     f" ::simt::launch({{{self.message_text(kernel)}, {self.message_text(arguments)}}}, "
                     f"[{capture}]({parameters}) {{ {call}; }}, ")
        self.replace(end, end + 3, ")")

    def name_launch(self, at):
        """course::launch(kernel, grid, arguments...): hands on a call of the kernel, which may be a
        template, and the texts that messages need."""
        opening = at + 1
        if self.text(opening) != "(":
            return  # its own definition, or a using
        closing, end = self.other_end(opening), opening + 1
        while self.is_word(end) or self.text(end) == "::":
            end += 1
        if self.text(end) == "<":
            end = self.after_angle(end)
        comma = end  # the one after the grid
        while comma < closing and (comma == end or self.text(comma) != ","):
            comma = self.after(comma)
        if end == opening + 1 or self.text(end) != ",":
            self.fail(at, "course::launch(kernel, {blocks, threads}, arguments...) begins with the name of a kernel")
        kernel = one_line(self.between(opening + 1, end))
        arguments = "" if comma >= closing else one_line(self.source[self.tokens[comma].end:self.tokens[closing].begin])
        self.launched.append((self.text(self.before_angle(end - 1) - 1) if self.text(end - 1) == ">"
                              else self.text(end - 1), at))
        self.replace(opening + 1, end, f"{{{c_string(kernel)}, {c_string(arguments)}}}, "
                     f"[=](auto&... simt_args) {{ SIMT_CALL({kernel}); }}")

    def kernel_begin(self, at):
        """Index of the kernel's first token, and whether it is just a name: k, k<T>, a::k, ::k.

        Reads the expression before <<< from right to left, link by link: f, f<T>, f(x), f[x]
        or (x), joined by :: . or ->
        """
        i, is_name = at, True
        while True:
            if self.text(i - 1) in (")", "]"):
                is_name = False
                i = self.other_end(i - 1)
                if self.text(i) == "(" and not self.is_called(i):
                    break
                continue
            if self.text(i - 1) == ">":
                i = self.before_angle(i - 1)
            i -= 1
            if not self.is_word(i) or self.text(i) in STATEMENT_WORDS | {"operator"}:
                self.fail(at, "cannot find the name of the kernel before <<<")
            link = i - 2 if self.text(i - 1) == "template" else i - 1
            if self.text(link) in (".", "->"):
                i, is_name = link, False
            elif self.text(link) == "::":
                i = link
                if not (self.is_operand(i - 1) or self.text(i - 1) == ">"):
                    break
            else:
                break
        if not self.is_word(i - 1) and self.text(i - 1) not in ("", *";{}(),:?]!", "&&", "||"):
            self.fail(at, "cannot find where the name of the kernel begins: put comparisons among "
                      "template arguments in parentheses")
        return i, is_name

    def is_called(self, i):
        """True for the ( of f(x), false for that of (x) as an expression of its own."""
        if self.text(i - 1) == ")":  # f(x)(y), but not if (x) (y)
            before = self.other_end(i - 1) - 1
            return self.is_word(before) and self.text(before) not in ("if", "constexpr", "for",
                                                                      "while", "switch")
        return self.is_operand(i - 1) or self.text(i - 1) in ("]", ">")

    def configuration_end(self, at):
        """Index of the first > of >>>."""
        i, commas = at + 1, 0
        while True:
            text = self.text(i)
            if text in ("", ";", "<<<", *OPENING):
                self.fail(at, "this <<< has no >>>")
            if text == ">" and self.is_triple(i):
                break
            commas += text == ","
            i = self.after(i)
        if commas == 0:
            self.fail(at, "a launch needs a grid and a block: kernel<<<grid, block>>>(...)")
        return i

    def is_triple(self, i):
        """True for >>> in one piece, or >> > before a parenthesis; of >>>> the first one belongs to a template."""
        three = self.tokens[i:i + 3]
        return ([token.text for token in three] == [">"] * 3 and self.text(i + 3) != ">"
                and three[1].end - three[0].begin == 2 and (three[2].begin == three[1].end or self.text(i + 3) == "("))

    def only_as_written(self, opening, closing):
        """The text of each argument that no variable can replace, None for the others. Such an
        argument is evaluated in the call of the kernel; the launch passes a stand-in."""
        texts, first, i = [], opening + 1, opening + 1
        while first < closing:
            if i < closing and self.text(i) != ",":
                i = self.after(i)
                continue
            written = self.text(first) == "{" or self.spell(range(first, i)) in ("0", "NULL")
            texts.append(one_line(self.between(first, i)) if written else None)
            if written:
                self.replace(first, i, "nullptr")
            first = i = i + 1
        return texts
