"""C++ as tokens: brackets and their partners, what a file's lines are, and edits that keep each line's number.

Just enough of C++'s tokens to find brackets and names. Inside a comment, a literal or a directive
nothing is rewritten. '>' stays single, because it may close a template's arguments.
"""

import bisect
import collections
import re


class Unsupported(Exception):
    """Something the rewriter cannot translate: where, and what to write instead."""


TOKEN = re.compile(
    r"""(?P<comment>   //(?:\\\n|[^\n])* | /\*.*?\*/)
      | (?P<directive> ^[ \t]*\#(?:/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|\\.|[^\n])*)
      | (?P<literal>   (?:u8|[uUL])?R"(?P<tag>[^()\s\\"]*)\(.*?\)(?P=tag)"
                     | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
                     | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<number>    \.?\d(?:'?[\w.])*)
      | (?P<word>      operator\s*<<(?=\s+<) | [A-Za-z_]\w*(?:[ \t]*\#\#[ \t]*\w+)*)
      | (?P<other>     <<\s*<|<<|<=>?|>=|->|::|[=!]=|&&|\|\||\S)""",
    re.S | re.M | re.X,
)
Token = collections.namedtuple("Token", "kind text begin end")
OPENS_LAUNCH = re.compile(r"<<\s*<")  # some formatters take <<< and >>> apart, and nvcc does not mind

OPENING = {")": "(", "]": "[", "}": "{"}
CLOSING = {opening: closing for closing, opening in OPENING.items()}

# Words that have parentheses of their own before or inside a type.
TAKES_PARENTHESES = {"alignas", "__align__", "__attribute__", "__launch_bounds__", "__cluster_dims__", "decltype",
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


def unsupported_text(what):
    """What a message says of CUDA that the CPU device does not have; simtcc.py looks for it."""
    return f"not supported on the CPU device: {what}"


class Macros:
    """What all files so far say that matters in the next one: their #defines, and names."""

    def __init__(self, is_linked=False):
        self.is_linked = is_linked  # with other files that may use this one's constants
        self.specifiers = {}  # HD -> {"__host__", "__device__"}
        self.spaces = {}  # DEVICE -> "__device__", for a macro before a variable
        self.external = set()  # constants that are declared as extern
        self.shared = {}  # name of a __shared__ variable outside of functions -> its declaration in one
        self.names = set()  # of all macros
        self.of_arch = {}  # name -> [(names, directives)] that __CUDA_ARCH__ changes, for macros that depend on it


class SourceFile:
    """One source file as tokens, and edits of it."""

    is_whole = True  # not the replacement of a macro

    def __init__(self, path, source, macros=None):
        self.path, self.source = path, source
        self.macros = macros or Macros()
        self.guard_depth = 0  # 1 if the file is in an #ifndef of its own
        self.is_hidden = False  # included in an #if, which the compiler may skip
        self.edits = []  # (begin, end, replacement), as positions in source; or a function that makes the replacement
        self.tokens = []  # without comments and directives
        self.directives = []  # (token, how many #if are open there)
        self.partner = {}  # index of a bracket -> index of the bracket it belongs to
        self.at_namespace_scope = []  # for every token
        self.unclosed = []  # indices of brackets that have no partner
        self.classes = []  # indices of the { of classes
        self.read()

    def read(self):
        unclosed = []  # (index of a bracket, does it open a namespace)
        branches = []  # `unclosed` at every open #if: #else starts from there again
        statement = 0  # index of the first token after the last ; { or }
        for match in TOKEN.finditer(self.source):
            kind = match.lastgroup
            if kind == "comment":
                continue
            text = match.group()
            if text[0] == "<" and OPENS_LAUNCH.fullmatch(text):
                text = "<<<"
            token = Token(kind, text, *match.span())
            if kind == "directive":
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
            if kind == "word":
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
                while token.text == "}" and unclosed and self.text(unclosed[-1][0]) != "{":
                    unclosed.pop()
                if unclosed and self.text(unclosed[-1][0]) == OPENING[token.text]:
                    opening, _ = unclosed.pop()
                    self.partner[i], self.partner[opening] = opening, i
            if text in ("{", "}", ";"):
                statement = i + 1
        self.unclosed = [i for i, _ in unclosed]

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

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_word(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "word"

    def is_operand(self, i):
        return self.is_word(i) and self.text(i) not in STATEMENT_WORDS

    def line(self, position):
        return self.source.count("\n", 0, position) + 1

    def fail(self, i, message):
        """Refuses the token i."""
        self.fail_at(self.tokens[i].begin, message)

    def fail_at(self, position, message):
        raise Unsupported(f"{self.path}:{self.line(position)}: error: {message}")

    def is_conditional(self, position):
        """True where an #if may hide the position from the compiler."""
        before = bisect.bisect(self.directives, position, key=lambda entry: entry[0].begin) - 1
        return self.is_hidden or before >= 0 and self.directives[before][1] > self.guard_depth

    def unsupported(self, i, what):
        """Refuses the token i if the compiler gets to see it."""
        message = unsupported_text(what)
        position = self.tokens[i].begin
        if not self.is_conditional(position):
            self.fail_at(position, message)
        self.edits.append((position, position, f" _Pragma({c_string('GCC error ' + c_string(message))}) "))

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
