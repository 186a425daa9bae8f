"""One source file as the rewriter's passes see it: its tokens, its brackets and their partners, and the edits.

An edit keeps the number of every line. Inside a comment, a literal or a directive nothing is rewritten.
"""

import bisect
import collections
import re

from tools.lib.cpp_text import TOKEN_OR_DIRECTIVE, Token, tokens_of
from tools.lib.failed import Failed

OPENING = {")": "(", "]": "[", "}": "{"}
CLOSING = {opening: closing for closing, opening in OPENING.items()}

# Words that have parentheses of their own before or inside a type.
TAKES_PARENTHESES = {"alignas", "__align__", "__attribute__", "__launch_bounds__", "__cluster_dims__", "decltype",
                     "__typeof__"}
# Words that end what came before them: the next word begins an expression.
STATEMENT_WORDS = {"return", "else", "do", "co_return", "co_yield", "throw", "case", "goto"}


UNSUPPORTED = "not supported on the CPU device: "


class Unsupported(Failed):
    """Something the rewriter cannot translate: where, and what to write instead. The first one of a file is reported, with all others of its pass `unsupported`."""

    def __init__(self, text, position):
        super().__init__(text)
        self.position = position


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def one_line(text):
    """The text as a message shows it: without comments, directives and line ends."""

    def drop(match):
        return " " if match.lastgroup in ("comment", "directive") else match.group()

    return " ".join(TOKEN_OR_DIRECTIVE.sub(drop, text).split())


def unsupported_text(what):
    """What a message says of CUDA that the CPU device does not have."""
    return UNSUPPORTED + what


def is_unsupported(text):
    """True for such a message, which may have gone through the compiler."""
    return text.startswith(UNSUPPORTED)


class Unit:
    """What the files of one translation unit say that matters in the next of them: their #defines, and names."""

    def __init__(self, is_linked=False, is_exercise=False):
        self.is_linked = is_linked  # with other files that may use this one's constants
        self.is_exercise = is_exercise  # which nvcc compiles without --expt-relaxed-constexpr
        self.specifiers = {}  # HD -> {"__host__", "__device__"}
        self.spaces = {}  # DEVICE -> "__device__", for a macro before a variable
        self.external = set()  # constants that are declared as extern
        self.shared = {}  # name of a __shared__ variable outside of functions -> its declaration in one
        self.of_arch = {}  # name -> [(names, directives)] that __CUDA_ARCH__ changes, for macros that depend on it


Macro = collections.namedtuple("Macro", "file position parameters")
Function = collections.namedtuple("Function", "opening closing specifiers")
Declared = collections.namedtuple("Declared", "name words")
Shared = collections.namedtuple("Shared", "name declared is_pointer")  # declared: the index of its name; 0 for one outside of functions


class SourceFile:
    """One source file, or what a macro stands for: a text, its tokens, and edits of it."""

    def __init__(self, path, source, unit=None, macro=None):
        self.path, self.source = path, source
        self.unit = unit or Unit()
        self.macro = macro  # of a macro's text: the file and the position that it begins at, and the macro's parameters
        self.guard_depth = 0  # 1 if the file is in an #ifndef of its own
        self.is_hidden = False  # included in an #if, which the compiler may skip
        self.files_before = []  # those that this one includes, and that were included before
        self.edits = []  # (begin, end, replacement), as positions in source; or a function that makes the replacement
        self.tokens = []  # without comments and directives
        self.places = collections.defaultdict(list)  # text -> indices of the tokens that have it
        self.directives = []  # (token, how many #if are open there)
        self.partner = {}  # index of a bracket -> index of the bracket it belongs to
        self.at_namespace_scope = []  # for every token
        self.classes = []  # indices of the { of classes
        self.functions = []  # of CUDA, each with its specifiers: the pass functions.find
        self.shared = []  # __shared__ variables of functions: the pass variables.rewrite_shared
        self.declared = []  # functions at namespace scope: the pass declarations.find
        self.variables = set()  # names of variables: the pass declarations.find
        self.read()
        if macro:  # where it is used is not known
            self.at_namespace_scope = [token.text in ("__device__", "__constant__", "__managed__") for token in self.tokens]

    def read(self):
        unclosed = []  # (index of a bracket, does it open a namespace)
        branches = []  # `unclosed` at every open #if: #else starts from there again
        statement = 0  # index of the first token after the last ; { or }
        for token in tokens_of(self.source, with_directives=True):
            kind, text = token.kind, token.text
            if kind == "comment":
                continue
            if kind == "directive":
                word = re.match(r"\W*(\w*)", text).group(1)
                if word in ("if", "ifdef", "ifndef"):
                    branches.append(unclosed[:])
                elif word.startswith("el") and branches:
                    unclosed = branches[-1][:]
                elif word == "endif" and branches:
                    branches.pop()
                self.directives.append((token, len(branches)))
                continue
            if text == "<" and self.joins(token):
                continue
            i = len(self.tokens)
            self.tokens.append(token)
            self.at_namespace_scope.append(not unclosed or unclosed[-1][1])
            if kind != "sign":
                continue
            if text in CLOSING:
                opens_namespace = False
                if text == "{":
                    head = [token.text for token in self.tokens[statement:i]]
                    opens_namespace = "namespace" in head or len(head) == 2 and head[0] == "extern"
                    if not opens_namespace and self.is_class(head):
                        self.classes.append(i)
                unclosed.append((i, opens_namespace))
            elif text in OPENING:
                # A } also ends what was left open inside of it; the compiler will complain.
                while text == "}" and unclosed and self.text(unclosed[-1][0]) != "{":
                    unclosed.pop()
                if unclosed and self.text(unclosed[-1][0]) == OPENING[text]:
                    opening, _ = unclosed.pop()
                    self.partner[i], self.partner[opening] = opening, i
            if text in ("{", "}", ";"):
                statement = i + 1
        for i, token in enumerate(self.tokens):
            self.places[token.text].append(i)

    def joins(self, token):
        """Makes << of two < that touch, and <<< of << and another one: some formatters take a launch apart, and nvcc does not
        mind. Not of operator<< <int>(...)."""
        if not self.tokens or self.tokens[-1].text not in ("<", "<<"):
            return False
        before = self.tokens[-1]
        between = self.source[before.end:token.begin]
        if between and (before.text == "<" or not between.isspace() or self.text(len(self.tokens) - 2) == "operator"):
            return False
        self.tokens[-1] = Token("sign", before.text + "<", before.begin, token.end)
        return True

    def is_class(self, head):
        """True for struct S and template <class T> class C, not for template <class T> void f()."""
        if "struct" not in head and "class" not in head and "union" not in head:
            return False
        depth = 0
        for text in head:
            depth += {"<": 1, ">": -1}.get(text, 0)
            if depth == 0 and text in ("struct", "class", "union"):
                return True
        return False

    # What a token is, and where.

    def find(self, texts):
        """Indices of the tokens that have one of the texts, in order."""
        return sorted(i for text in texts for i in self.places.get(text, ()))

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_word(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "word"

    def is_operand(self, i):
        return self.is_word(i) and self.text(i) not in STATEMENT_WORDS

    def is_attribute(self, i):
        return self.text(i) == "[" and self.text(i + 1) == "["

    def line(self, position):
        if self.macro:
            return self.macro.file.line(self.macro.position + position)
        return self.source.count("\n", 0, position) + 1

    def is_conditional(self, position):
        """True where an #if may hide the position from the compiler, or a macro may never be used."""
        before = bisect.bisect(self.directives, position, key=lambda entry: entry[0].begin) - 1
        return self.macro is not None or self.is_hidden or before >= 0 and self.directives[before][1] > self.guard_depth

    # Refusals.

    def fail(self, i, message):
        """Refuses the token i."""
        self.fail_at(self.tokens[i].begin, message)

    def fail_at(self, position, message):
        raise Unsupported(f"{self.path}:{self.line(position)}: error: {message}", position)

    def unsupported(self, i, what):
        """Refuses the token i, which needs what the CPU device has not."""
        self.refuse(i, unsupported_text(what))

    def refuse(self, i, message):
        """Refuses the token i if the compiler gets to see it."""
        position = self.tokens[i].begin
        if not self.is_conditional(position):
            self.fail_at(position, message)
        self.edits.append((position, position, f" _Pragma({c_string('GCC error ' + c_string(message))}) "))

    # Texts.

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

    def message_text(self, text):
        """Code as a string literal for messages. A macro's parameter is shown as what the macro is given: k<<<1, n>>>() with #k."""
        if not self.macro:
            return c_string(text)
        parts, position = [], 0
        for token in tokens_of(text, with_directives=True):
            if token.kind == "word" and token.text in self.macro.parameters:
                parts += [c_string(text[position:token.begin]), "#" + token.text]
                position = token.end
        parts.append(c_string(text[position:]))
        return " ".join(part for part in parts if part != '""') or '""'

    def alias(self, beginning, name):
        """A name of our own that goes with a variable's name."""
        return f"{beginning}##{name}" if self.macro and name in self.macro.parameters else beginning + name

    # Brackets: from one end to the other.

    def other_end(self, i):
        if i not in self.partner:
            bracket = self.text(i)
            other = CLOSING.get(bracket) or OPENING.get(bracket)
            self.fail(i, f"this {bracket} has no {other}")
        return self.partner[i]

    def after(self, i):
        """Index after token i, or after the whole ( ), [ ] or { } that it opens."""
        return self.other_end(i) + 1 if self.text(i) in CLOSING else i + 1

    def after_angle(self, i):
        """Index after the > that closes the < at i."""
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
        return self.render(0, len(self.source))

    def render(self, first, last):
        """The source between two positions, edited."""
        text, position = [], first
        for begin, end, replacement in sorted(self.edits, key=lambda edit: edit[:2]):
            if first <= begin and end <= last:
                text += [self.source[position:begin], replacement if isinstance(replacement, str) else replacement()]
                position = end
        return "".join(text) + self.source[position:last]
