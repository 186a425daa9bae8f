#!/usr/bin/env python3
"""cu2cpp.py INPUT.cu OUTPUT.cpp DEPFILE [-Idir ...]

How CUDA gets past a C++ compiler: most of it is C++ already once `__global__` and its kin are
macros, and the few constructs that are not become calls of the CPU device (common/simt):

    kernel<T><<<grid, block>>>(a, n);   ->  ::simt::launch({texts}, ..., grid, block)(a, n);
    __shared__ float s[32];             ->  a reference to the block's own storage
    extern __shared__ float s[];        ->  a pointer to the block's dynamic shared memory
    __device__ int counter;             ->  the same, and its address made known to the checker

Included .cuh files are pulled in and rewritten, too; other headers stay includes. Every line keeps
its file and number, so that the compiler and the checker name the learner's own lines. Comments,
strings and macros are left alone. What cannot be understood is an error at file:line, not a guess.

Arguments are evaluated once, at the launch, and handed on as variables. Only a braced list, and a 0
or NULL that may mean a pointer, cannot be variables: the call of the kernel has them as written.

A function that is launched must be declared `__global__`, as nvcc asks.

Limits: a kernel that is called through a global or member variable needs parentheses:
(member_)<<<1, 32>>>(n). A `__device__` variable that is a class member or local to a function is not
made known to the checker.
"""
import collections
import os
import re
import sys


class Unsupported(Exception):
    """Something the rewriter cannot translate: where, and what to write instead."""


# ---- Reading C++ --------------------------------------------------------------------------------

# Just enough of C++'s tokens to find brackets and names. Inside a comment, a literal or a directive
# nothing is rewritten. '>' stays single, because it may close a template's arguments.
TOKEN = re.compile(
    r"""(?P<comment>   //(?:\\\n|[^\n])* | /\*.*?\*/)
      | (?P<directive> ^[ \t]*\#(?:/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|\\.|[^\n])*)
      | (?P<literal>   (?:u8|[uUL])?R"(?P<tag>[^()\s\\"]*)\(.*?\)(?P=tag)"
                     | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
                     | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<number>    \.?\d(?:'?[\w.])*)
      | (?P<word>      [A-Za-z_]\w*)
      | (?P<other>     <<<|<<|<=>?|>=|->|::|[=!]=|&&|\|\||\S)""",
    re.S | re.M | re.X,
)
Token = collections.namedtuple("Token", "kind text begin end")

OPENING = {")": "(", "]": "[", "}": "{"}
CLOSING = {opening: closing for closing, opening in OPENING.items()}

# Words that have parentheses of their own in front of or inside a type.
TAKES_PARENTHESES = {"alignas", "__align__", "__attribute__", "__launch_bounds__", "decltype",
                     "__typeof__"}
# Words that end what came before them: the next word begins an expression.
STATEMENT_WORDS = {"return", "else", "do", "co_return", "co_yield", "throw", "case", "goto"}


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def one_line(text):
    """The text as a message shows it: without comments, directives and line ends."""

    def drop(match):
        return " " if match.lastgroup in ("comment", "directive") else match.group()

    return " ".join(TOKEN.sub(drop, text).split())


class CudaFile:
    """One source file as tokens, and the edits that turn it into C++."""

    def __init__(self, path, source):
        self.path, self.source = path, source
        self.edits = []  # (begin, end, replacement), as positions in source
        self.tokens = []  # without comments and directives
        self.directives = []  # (token, how many #if are open there)
        self.partner = {}  # index of a bracket -> index of the bracket it belongs to
        self.at_namespace_scope = []  # for every token
        self.launched = []  # (name of the kernel, index of <<<)
        self.read()

    def read(self):
        unclosed = []  # (index of a bracket, does it open a namespace)
        branches = []  # `unclosed` at every open #if: #else starts from there again
        statement = 0  # index of the first token behind the last ; { or }
        for match in TOKEN.finditer(self.source):
            token = Token(match.lastgroup, match.group(), match.start(), match.end())
            if token.kind == "comment":
                continue
            if token.kind == "directive":
                word = re.match(r"\W*(\w*)", token.text).group(1)
                if word in ("if", "ifdef", "ifndef"):
                    branches.append(unclosed[:])
                elif word.startswith("el") and branches:
                    unclosed = branches[-1][:]
                elif word == "endif" and branches:
                    branches.pop()
                self.directives.append((token, len(branches)))
                continue
            i = len(self.tokens)
            self.tokens.append(token)
            self.at_namespace_scope.append(not unclosed or unclosed[-1][1])
            if token.text in CLOSING:
                head = self.tokens[statement:i]
                opens_namespace = token.text == "{" and (
                    any(t.text == "namespace" for t in head)
                    or len(head) == 2 and head[0].text == "extern")
                unclosed.append((i, opens_namespace))
            elif token.text in OPENING:
                # A } also ends what was left open inside of it; the compiler will complain.
                while token.text == "}" and unclosed and self.text(unclosed[-1][0]) != "{":
                    unclosed.pop()
                if unclosed and self.text(unclosed[-1][0]) == OPENING[token.text]:
                    opening, _ = unclosed.pop()
                    self.partner[i], self.partner[opening] = opening, i
            if token.text in ("{", "}", ";"):
                statement = i + 1

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_word(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "word"

    def line(self, position):
        return self.source.count("\n", 0, position) + 1

    def fail(self, i, message):
        """Refuses the token i."""
        self.fail_at(self.tokens[i].begin, message)

    def fail_at(self, position, message):
        raise Unsupported(f"{self.path}:{self.line(position)}: error: {message}")

    def between(self, begin, end):
        """The source from token begin up to, and without, token end."""
        return self.source[self.tokens[begin].begin:self.tokens[end - 1].end]

    def spell(self, indices):
        """These tokens with one space where the source has some, or where two words would touch."""
        text = ""
        for i in indices:
            token = self.tokens[i]
            apart = token.begin > self.tokens[i - 1].end
            touch = re.search(r"\w$", text) and re.match(r"\w", token.text)
            text += (" " if text and (apart or touch) else "") + token.text
        return text

    # Brackets: from one end to the other.

    def other_end(self, i):
        if i not in self.partner:
            bracket = self.text(i)
            other = CLOSING.get(bracket) or OPENING.get(bracket)
            self.fail(i, f"this {bracket} has no {other}")
        return self.partner[i]

    def after(self, i):
        """Index behind token i, or behind the whole ( ), [ ] or { } that it opens."""
        return self.other_end(i) + 1 if self.text(i) in CLOSING else i + 1

    def after_angle(self, i):
        """Index behind the > that closes the < at i."""
        depth, j = 0, i
        while j < len(self.tokens) and self.text(j) != ";":
            depth += {"<": 1, ">": -1}.get(self.text(j), 0)
            if depth == 0:
                return j + 1
            j = self.after(j)
        self.fail(i, "this < has no >")

    def before_angle(self, i):
        """Index of the < that the > at i closes."""
        depth, j = 0, i
        while j >= 0 and self.text(j) not in (";", "{", "}"):
            depth += {">": 1, "<": -1}.get(self.text(j), 0)
            if depth == 0:
                return j
            j = self.other_end(j) - 1 if self.text(j) in OPENING else j - 1
        self.fail(i, "this > has no <")

    # Edits.

    def replace(self, begin, end, text):
        """Replaces the tokens from begin up to, and without, end; later lines keep their place."""
        first, last = self.tokens[begin].begin, self.tokens[end - 1].end
        for directive, _ in self.directives:
            if first < directive.begin < last:
                self.fail_at(directive.begin, "this directive splits a declaration or the name of "
                             "a kernel: put it around the whole statement")
        missing = self.source.count("\n", first, last) - text.count("\n")
        self.edits.append((first, last, text + "\n" * missing))

    def result(self):
        text, position = [], 0
        for begin, end, replacement in sorted(self.edits):
            text += [self.source[position:begin], replacement]
            position = end
        return "".join(text) + self.source[position:]

    def rewrite(self):
        for directive, _ in self.directives:
            self.check_macro(directive)
        known = 0  # the variables in front of this token are known to the checker
        for i, token in enumerate(self.tokens):
            if token.text == "<<<":
                self.rewrite_launch(i)
            elif token.text == "launch" and self.spell(range(i - 2, i)) == "course::":
                self.name_launch(i)
            elif token.text == "__shared__":
                self.rewrite_shared(i)
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

    # ---- kernel<<<grid, block>>>(arguments) ----

    def functions(self):
        """(name, index of the name, is it a kernel) of every function at namespace scope."""
        head = 0  # the first token of the declaration
        for i, token in enumerate(self.tokens):
            if token.text in (";", "{", "}"):
                head = i + 1
            elif token.text == "template" and i == head and self.text(i + 1) == "<":
                head = self.after_parameters(i + 1)
            elif (self.at_namespace_scope[i] and self.text(i + 1) == "(" and self.is_operand(i)
                  and token.text not in TAKES_PARENTHESES
                  and (self.is_operand(i - 1) or self.text(i - 1) in (*"*&>", ")", "]"))):
                words = [t.text for t in self.tokens[head:i]]
                is_kernel = "__global__" in words
                if is_kernel or "=" not in words:  # int j = a * k(1); declares no k
                    yield token.text, i, is_kernel

    def after_parameters(self, i):
        """Index behind the parameters of a template; a < that compares hides where they end."""
        try:
            return self.after_angle(i)
        except Unsupported:
            return i

    def plain_calls(self):
        """(name, index of the name) of every call f(...) in a function, of members not."""
        local = {self.text(i) for i in range(len(self.tokens))
                 if self.text(i + 1) == "=" and not self.at_namespace_scope[i]}
        for i, token in enumerate(self.tokens):
            if (self.is_word(i) and self.text(i + 1) == "(" and not self.at_namespace_scope[i]
                    and token.text not in local and not self.is_operand(i - 1)
                    and self.text(i - 1) not in (".", "->", *"*&>~")):
                yield token.text, i

    def rewrite_launch(self, at):
        begin, is_name = self.kernel_begin(at)
        if is_name:
            last = self.before_angle(at - 1) if self.text(at - 1) == ">" else at
            self.launched.append((self.text(last - 1), at))
        end = self.configuration_end(at)
        opening = end + 3
        if self.text(opening) != "(":
            self.fail(end, "a launch needs its arguments in parentheses behind >>>")
        closing = self.other_end(opening)
        kernel = one_line(self.between(begin, at))
        arguments = one_line(self.source[self.tokens[opening].end:self.tokens[closing].begin])
        # A name may stand for a template or several overloads, so the call must be written with
        # it. Any other expression is evaluated once, as a launch on a GPU does.
        capture, callee = ("=", kernel) if is_name else (f"simt_kernel = {kernel}", "simt_kernel")
        parameters, passed = "auto&... simt_args", "simt_args..."
        arguments_as_written = self.only_as_written(opening, closing)
        if any(arguments_as_written):
            capture = "=" if is_name else "=, " + capture
            parameters = ", ".join("auto&" if written else f"auto& simt_{i}"
                                   for i, written in enumerate(arguments_as_written))
            passed = ", ".join(written or f"simt_{i}"
                               for i, written in enumerate(arguments_as_written))
        self.replace(begin, at + 1,
                     f" ::simt::launch({{{c_string(kernel)}, {c_string(arguments)}}}, "
                     f"[{capture}]({parameters}) {{ {callee}({passed}); }}, ")
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
        comma = end  # the one behind the grid
        while comma < closing and (comma == end or self.text(comma) != ","):
            comma = self.after(comma)
        if end == opening + 1 or self.text(end) != ",":
            self.fail(at, "course::launch(kernel, {blocks, threads}, arguments...) begins with the name of a kernel")
        kernel = one_line(self.between(opening + 1, end))
        arguments = "" if comma >= closing else one_line(self.source[self.tokens[comma].end:self.tokens[closing].begin])
        self.launched.append((self.text(self.before_angle(end - 1) - 1) if self.text(end - 1) == ">"
                              else self.text(end - 1), at))
        self.replace(opening + 1, end, f"{{{c_string(kernel)}, {c_string(arguments)}}}, "
                     f"[=](auto&... simt_args) {{ {kernel}(simt_args...); }}")

    def kernel_begin(self, at):
        """Index of the kernel's first token, and whether it is just a name: k, k<T>, a::k, ::k.

        Reads the expression in front of <<< from right to left, link by link: f, f<T>, f(x), f[x]
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
                self.fail(at, "cannot find the name of the kernel in front of <<<")
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
                      "template arguments into parentheses")
        return i, is_name

    def is_operand(self, i):
        return self.is_word(i) and self.text(i) not in STATEMENT_WORDS

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
        """True for >>> in one piece; of >>>> the first one belongs to a template."""
        three = self.tokens[i:i + 3]
        return ([token.text for token in three] == [">"] * 3 and self.text(i + 3) != ">"
                and three[2].end - three[0].begin == 3)

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

    # ---- Declarations ----

    def declaration(self, at):
        """Index of the first token and of the ; of the declaration that has the specifier at."""
        begin = at
        while True:
            before = self.text(begin - 1)
            if before == ">":
                begin = self.before_angle(begin - 1)
            elif before in (")", "]"):
                opening = self.other_end(begin - 1)
                if before == ")" and self.text(opening - 1) not in TAKES_PARENTHESES:
                    break
                begin = opening
            elif (self.is_operand(begin - 1) or before in ("::", "*", "&")
                  or before == '"C"'):
                begin -= 1
            else:
                break
        end = at
        while self.text(end) != ";":
            if self.text(end) in ("", *OPENING):
                self.fail(at, "this declaration has no ;")
            end = self.after(end)
        return begin, end

    def is_attribute(self, i):
        return self.text(i) == "[" and self.text(i + 1) == "["

    def declarators(self, begin, end, dropped):
        """The declaration split at its commas, without alignments, attributes and dropped words.

        Each part is a list of pieces, each piece a range of token indices: one token, one pair of
        brackets with what is inside, or the arguments of a template.
        """
        parts, i = [[]], begin
        initialiser = angle = False
        while i < end:
            text, next_i = self.text(i), self.after(i)
            if text in ("alignas", "__align__", "__attribute__"):
                i = self.after(i + 1)
                continue
            if text in dropped or self.is_attribute(i):
                i = next_i
                continue
            if text == ",":
                if angle:
                    self.fail(i, "put the initialiser in front of this comma into parentheses")
                parts.append([])
            else:
                initialiser = initialiser or text == "="
                if text in ("decltype", "__typeof__") and not initialiser:
                    next_i = self.after(i + 1)
                elif text == "<" and not initialiser:
                    next_i = self.after_angle(i)
                angle = initialiser and (angle or text in "<>")
                parts[-1].append(range(i, next_i))
            i = next_i
        return parts

    def first_texts(self, pieces):
        return [self.text(piece[0]) for piece in pieces]

    # ---- __shared__ ----

    def rewrite_shared(self, at):
        if self.at_namespace_scope[at]:
            self.fail(at, "declare __shared__ memory inside the kernel that uses it")
        begin, end = self.declaration(at)
        external = "extern" in (token.text for token in self.tokens[begin:end])
        declare = self.dynamic_shared if external else self.static_shared
        base, text = None, ""
        for pieces in self.declarators(begin, end, ("__shared__", "extern", "static")):
            kind, name, extents = self.shared_variable(at, pieces)
            if base is None:
                stars = [i for i, word in enumerate(self.first_texts(kind)) if word in "*&"]
                base = kind[:stars[0]] if stars else kind
                if not base:
                    self.fail(at, f"cannot find the type of {self.text(name)}")
            else:
                kind = base + kind
            # Every variable goes to the line of its name.
            line = self.source.count("\n", self.tokens[begin].begin, self.tokens[name].begin)
            text += "\n" * (line - text.count("\n")) + declare(kind, name, extents) + " "
        self.replace(begin, end + 1, text[:-1])

    def shared_variable(self, at, pieces):
        """Type, name and extents of one variable; only the first of a declaration has a type."""
        texts = self.first_texts(pieces)
        if "{" in texts and {"struct", "union", "class", "enum"} & set(texts):
            self.fail(at, "define this type in front of the kernel and use its name here")
        for i, text in enumerate(texts):
            if text == "(" and self.text(pieces[i][0] + 1) in ("*", "&"):
                self.fail(at, "give this type a name first (using Name = ...;)")
            if text in ("=", "{", "("):
                self.fail(at, "a __shared__ variable cannot have an initialiser: let the threads "
                          "of the block write it, then __syncthreads()")
        last = len(pieces)
        while last > 0 and texts[last - 1] == "[":
            last -= 1
        if last == 0 or not self.is_word(pieces[last - 1][0]):
            self.fail(at, "cannot find the name of this __shared__ variable")
        if "[" in texts[:last]:
            self.fail(at, "this declaration has no ;")
        return pieces[:last - 1], pieces[last - 1][0], pieces[last:]

    def spell_pieces(self, pieces):
        return self.spell(i for piece in pieces for i in piece)

    def dynamic_shared(self, kind, name, extents):
        name_text = self.text(name)
        if not extents or len(extents[0]) > 2:
            self.fail(name, "extern __shared__ memory is an array without a size: "
                      f"extern __shared__ {self.spell_pieces(kind)} {name_text}[];")
        return (f"auto* const {name_text} = ::simt::dynamic_shared_array<"
                f'{self.spell_pieces(kind + extents[1:])}>("{name_text}");')

    def static_shared(self, kind, name, extents):
        name_text = self.text(name)
        if extents and len(extents[0]) == 2:
            self.fail(name, f"give {name_text} a size, or write extern for dynamic shared memory")
        alias = f"simt_type_{name_text}"
        return (f"using {alias} = {self.spell_pieces(kind + extents)}; "
                f'{alias}& {name_text} = ::simt::shared<{alias}>("{name_text}", [] {{}});')

    # ---- __device__, __constant__ and __managed__ variables ----

    def rewrite_global(self, at):
        """Makes variables known to the checker; returns the index of the declaration's end."""
        begin, end = self.declaration(at)
        words = [token.text for token in self.tokens[begin:at + 1]]
        if "template" in words:
            self.fail(at, "a __device__ variable cannot be a template here")
        parts = self.declarators(begin, end, ())
        first = self.first_texts(parts[0])
        if "extern" in first and "=" not in first:
            return end  # its definition will be made known
        if "{" in first and {"struct", "union", "class", "enum"} & set(first):
            self.fail(at, "define this type first, then declare the variable")
        kind = next(kind for kind in ("constant", "managed", "device") if f"__{kind}__" in first)
        # One object for all translation units, if the variable itself is that.
        storage = "inline" if "inline" in first and "static" not in first else "static"
        base_size = next((i for i, text in enumerate(first) if text in ("*", "&", "(")), len(first))
        base_const = {"const", "constexpr"} & set(first[:base_size])
        known = ""
        for part in parts:
            name, is_const = self.variable_name(at, part, base_const)
            # Constants are data of the program: every kernel may read them.
            if kind == "constant" or not (is_const or "constexpr" in first):
                symbol = "simt_global_" + name.replace("::", "_")
                known += (f' {storage} ::simt::GlobalVariable {symbol}("{name}", (void*)&{name}, '
                          f"sizeof {name}, ::simt::type_of<decltype({name})>(), "
                          f"::simt::GlobalKind::{kind});")
        position = self.tokens[end].end
        self.edits.append((position, position, known))
        return end

    def declares_variable(self, at):
        """False if the specifier at belongs to a function or a lambda."""
        i = at
        while True:
            text = self.text(i)
            if text in ("", "operator", *OPENING):
                return False
            if text in ("=", ";", "[", "{", ",") and not self.is_attribute(i):
                return True
            if text == "(":
                break
            if text in TAKES_PARENTHESES and self.text(i + 1) == "(":
                i = self.after(i + 1)
            elif text == "<":
                i = self.after_angle(i)
            else:
                i = self.after(i)
        if self.text(i + 1) in ("*", "&"):  # int (*p)(int), but not int (*function(int))(int)
            return "(" not in (token.text for token in self.tokens[i + 1:self.other_end(i)])
        if self.tokens[i + 1].kind in ("number", "literal") or self.text(i + 1) == "-":
            self.fail(i, "write the initial value of a __device__ variable with =")
        return False

    def variable_name(self, at, pieces, base_const):
        """Name of the variable that these pieces declare, and whether it is constant itself."""
        texts = self.first_texts(pieces)
        size = next((i for i, text in enumerate(texts) if text in ("=", "{")), len(texts))
        indices = [piece[0] for piece in pieces[:size]]
        if "(" in texts[:size]:  # int (*name[2])(int)
            opening = indices[texts.index("(")]
            indices = [i for part in self.declarators(opening + 1, self.other_end(opening), ())
                       for i in (piece[0] for piece in part)]
        while indices and self.text(indices[-1]) == "[":
            indices.pop()
        if not indices or not self.is_word(indices[-1]):
            self.fail(at, "cannot find the name of this variable")
        begin = len(indices) - 1
        while begin >= 2 and self.text(indices[begin - 1]) == "::":
            begin -= 2
        in_front = [self.text(i) for i in indices[:begin]]
        if "*" in in_front:
            is_const = "const" in in_front[len(in_front) - in_front[::-1].index("*"):]
        else:
            is_const = base_const
        return self.spell(indices[begin:]), is_const


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

        `hidden`: the include lies in an #if, so that another one may have to stand in for it.
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
        """Refuses the launch of a function that is no kernel, and the call of a kernel that is no
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
                    definition.fail(position, f"{name} is launched with <<<>>> ({place}), but is "
                                    f"no kernel: write __global__ void {name}(...)")
            for name, at in file.plain_calls():
                if name in kernels and name not in others:
                    file.fail(at, f"{name} is a kernel, and a kernel is launched: "
                              f"{name}<<<blocks, threads>>>(...)")

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
        file.write(f"{escape_for_make(output)}: "
                   f"{' '.join(escape_for_make(path) for path in translation.files)}\n")


if __name__ == "__main__":
    main()
