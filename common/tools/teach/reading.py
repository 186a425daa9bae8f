"""Reads an exercise file before it is compiled: what could decide the verdict in another way than by a right answer.

All is an allow-list. Headers, names and namespaces are those of vocabulary.py; any other name has to be declared by the
file itself, in a scope that reaches to where it is used. The text that is compiled afterwards is the text that was
read: comments are blanked, and what another reader could take for something else is refused.
"""

import ctypes
import re
from functools import lru_cache

from tools.lib.cpp_text import blank_comments, tokens_of
from tools.teach import vocabulary
from tools.teach.characters import characters, header_of, read_directives, split_directives

LIBRARY = ctypes.CDLL(None)
OUTSIDE = ("namespace", "nameless")  # where functions stand
CONSTANT = {"constexpr", "__constant__", "__device__", "__shared__", "__managed__", "consteval", "const"}


@lru_cache(maxsize=None)
def is_of_the_c_library(name):
    """True for a function of the C library: an overload of the file's own would let the library's be called."""
    return hasattr(LIBRARY, name) and not vocabulary.PLAIN.fullmatch(name)


class Bracket:
    """An open bracket, and the names that were declared in it. `waiting` are those of a function's parentheses, for
    the block that follows."""

    def __init__(self, kind, what=""):
        self.kind, self.what = kind, what  # what opened a "{": "namespace", "type", "code" ...
        self.names, self.waiting = set(), set()
        self.declaration = -1  # the statement in which a type has come: "int a = 1, b"
        self.later = []  # in a type: names that may be those of members below


class Reader:
    """Goes through the tokens of a file once, with the names that are declared where it is."""

    def __init__(self, text, check=frozenset(), names=(), types=(), api=frozenset()):
        self.tokens = [token for token in tokens_of(text) if token.kind != "comment"]
        self.check, self.api = check, api
        self.types = {*vocabulary.TYPES, *types}
        self.open = [Bracket("{", "namespace")]
        self.open[0].names |= set(names)
        self.ways = {}  # a namespace's alias: the namespace
        self.reasons = []
        self.statement = 0  # the first token of the one that is open

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_name(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "word"

    def knows(self, name):
        return any(name in bracket.names or name in bracket.waiting for bracket in self.open)

    def declare(self, name, i, here=None):
        bracket = here or self.open[-1]
        bracket.names.add(name)
        if len(self.open) == 1 or (bracket.kind == "{" and bracket.what in OUTSIDE):
            if name in self.api or self.text(i) != name:
                return
            if name in self.check:
                self.reasons.append(f"it declares {name}, which the check uses")
            elif is_of_the_c_library(name):
                self.reasons.append(f"it declares {name}, which the C library has")

    # -- what opens and closes

    def kind_of_block(self, i):
        """What a "{" at i belongs to."""
        words = [self.text(k) for k in range(self.statement, i)]
        before = self.text(i - 1)
        if "namespace" in words:
            return "nameless" if words[-1] == "namespace" else "namespace"
        if "enum" in words and "(" not in words:
            return "enum"
        if {"struct", "class", "union"} & set(words) and "(" not in words and "=" not in words:
            return "type"
        if before in (")", "]", ";", "{", "}", "", "else", "do", "try", "const", "noexcept", "override", "mutable", ":"):
            return "code"
        return "code" if "->" in words and ")" in words and "=" not in words and "return" not in words else "value"

    def step_bracket(self, i, sign):
        if sign in "([{":
            what = self.kind_of_block(i) if sign == "{" else ""
            bracket = Bracket(sign, what)
            if what in ("code", "type"):
                bracket.names |= self.open[-1].waiting
                self.open[-1].waiting = set()
            self.open.append(bracket)
            if sign == "{" and what != "value":
                self.statement = i + 1
        elif len(self.open) > 1:
            closed = self.open.pop()
            if sign in ")]":
                self.open[-1].waiting |= closed.names | closed.waiting
            elif closed.what in ("enum", "nameless"):
                self.open[-1].names |= closed.names
            if sign == "}":
                self.end_of_block(i, closed)
            for name in closed.later:
                if name not in closed.names:
                    self.use(name)

    def end_of_block(self, i, closed):
        outer = self.open[-1]
        if closed.what == "type" and outer.what in OUTSIDE and self.text(i + 1) not in (";", ""):
            self.reasons.append("it has an object after a type, outside of a function")
        if outer.kind == "{" and closed.what != "value":
            self.statement = i + 1

    # -- declarations

    def is_type_end(self, i, depth=0):
        """True if the tokens up to i are a type: a name of one, "> " of a template, or these with const, * and &."""
        while self.text(i) in ("*", "&", "&&", "const", "volatile", "constexpr", "static", "__restrict__", "...") and depth < 8:
            if self.text(i) in ("const", "volatile", "constexpr", "static") and self.text(i - 1) in (";", "{", "}", "(", ","):
                return False
            i, depth = i - 1, depth + 1
        if self.text(i) == ">" or self.text(i) == ">>":
            level, k = 0, i
            while k >= self.statement:
                text = self.text(k)
                level += 1 if text == ">" else -1 if text == "<" else 0
                if level == 0:
                    return self.is_name(k - 1) and (self.text(k - 1) in self.types or self.is_qualified_type(k - 1))
                k -= 1
            return False
        if self.text(i) == ")" and "__launch_bounds__" in [self.text(k) for k in range(max(self.statement, i - 12), i)]:
            return True
        if self.text(i) == ")" and "decltype" in [self.text(k) for k in range(max(self.statement, i - 12), i)]:
            return True
        if self.text(i) == "]" and self.text(self.statement) == "auto":
            return True
        return self.is_name(i) and (self.text(i) in self.types or self.is_qualified_type(i))

    def is_qualified_type(self, i):
        if self.text(i - 1) != "::":
            return False
        space = self.ways.get(self.text(i - 2), self.text(i - 2))
        return space == "cooperative_groups" or self.text(i) in vocabulary.QUALIFIED_TYPES.get(space, ()) or \
            self.text(i - 2) in self.types

    def declares(self, i):
        """True if the name at i is one that is declared here."""
        before, after = self.before_name(i), self.text(i + 1)
        if before in ("struct", "class", "union", "typename", "concept", "enum", "__align__"):
            return before != "typename" or after in (",", ">", "=")
        if before in (".", "->", "::"):
            return False
        if before == "using":
            return after == "="
        if self.open[-1].kind == "{" and self.open[-1].what == "enum":
            return before in ("{", ",") and after in (",", "}", "=")
        if before in (",", "[", "&") and after in (",", "]") and self.is_binding(i):
            return True
        if before in ("*", "&") and self.text(i - 2) == "(" and after == ")" and self.is_type_end(i - 3):
            return True  # int (&values)[8]
        if after not in ("=", ";", ",", ")", "(", "{", "[", ":", ">", "..."):
            return False
        if self.is_type_end(i - 1):
            self.open[-1].declaration = self.statement
            return True
        return before in (",", "*", "&") and after in ("=", ";", ",", "(", "{", "[", ")", ":") and self.follows_a_declaration(i)

    def before_name(self, i):
        """The token before a name: `struct` of `struct alignas(8) Pair`."""
        k = i - 1
        if self.text(k) == ")":
            while k > self.statement and self.text(k) != "(":
                k -= 1
            if self.text(k - 1) == "alignas":
                return self.text(k - 2)
        return self.text(i - 1)

    def is_binding(self, i):
        """auto [a, b] = ...;"""
        k = i
        while k > self.statement and self.text(k) != "[":
            k -= 1
        return self.text(k) == "[" and self.text(k - 1) in ("auto", "&", "&&") and "auto" in (self.text(k - 1), self.text(k - 2))

    def follows_a_declaration(self, i):
        """int a = 1, b;  float *x, *y;"""
        # Not one in the list of a template: int a = pair<x, y>(). What follows a variable or a number compares.
        words = [self.text(k) for k in range(self.statement, i) if self.text(k) != "<" or not self.is_value_end(k - 1)]
        return self.open[-1].declaration == self.statement and words.count("<") <= words.count(">") + 2 * words.count(">>")

    def is_value_end(self, k):
        """True if the token at k ends a value: a < after it compares."""
        if self.is_name(k):
            return self.knows(self.text(k)) and self.text(k) not in self.types
        return self.text(k) in (")", "]") or self.text(k)[:1].isdigit()

    def step_declaration(self, i, name):
        before = self.before_name(i)
        if before in ("struct", "class", "union", "enum", "concept") or (before == "using" and self.text(i + 1) == "="):
            self.types.add(name)
            here = next(bracket for bracket in reversed(self.open) if bracket.kind == "{")
            self.declare(name, i, here)
        elif before == "typename" or (before == "class" and self.text(i + 1) in (",", ">")):
            self.types.add(name)
            self.open[-1].waiting.add(name)
        elif self.text(self.statement) == "template" and "<" in [self.text(k) for k in range(self.statement, i)] \
                and self.in_template_head(i):
            self.open[-1].waiting.add(name)
        elif self.text(self.statement) == "typedef":
            self.types.add(name)
            self.declare(name, i)
        else:
            self.declare(name, i, self.open[-2] if self.open[-1].kind == "[" and self.is_binding(i) else None)

    def in_template_head(self, i):
        level = 0
        for k in range(self.statement + 1, i):
            level += {"<": 1, ">": -1, ">>": -2}.get(self.text(k), 0)
            if level == 0:
                return False
        return True

    # -- uses

    def step_use(self, i, name):
        before = self.text(i - 1)
        if before in (".", "->"):
            return
        if before == "::":
            self.use_qualified(i, name)
        elif self.text(i + 1) == "::" and name in vocabulary.NAMESPACES:
            pass
        else:
            self.use(name)

    def use(self, name):
        """A name that stands alone: it is a reason unless it is declared, or one of the vocabulary."""
        if self.knows(name) or name in self.types or name in self.ways or vocabulary.PLAIN.fullmatch(name):
            return
        own_type = next((bracket for bracket in reversed(self.open) if bracket.what == "type"), None)
        if own_type is not None:
            own_type.later.append(name)
        else:
            self.reasons.append(f"it uses {name}")

    def use_qualified(self, i, name):
        if not self.is_name(i - 2) or self.text(i - 2) in vocabulary.KEYWORDS:  # ::name
            if self.text(i - 2) == ">":  # numeric_limits<int>::max
                return
            if not self.knows(name) and name not in vocabulary.NAMESPACES and not vocabulary.PLAIN.fullmatch(name) \
                    and name not in vocabulary.TYPES:
                self.reasons.append(f"it uses ::{name}")
            return
        space = self.ways.get(self.text(i - 2), self.text(i - 2))
        if space in self.types or space in vocabulary.COURSE_TYPES or (self.knows(space) and space not in vocabulary.NAMESPACES):
            return
        first = i - 2
        while self.text(first - 1) == "::" and self.is_name(first - 2):
            first -= 2
        if first < i - 2 and self.text(first) in vocabulary.NAMESPACES:  # std::numbers::pi, std::chrono::steady_clock::now
            return
        allowed = vocabulary.NAMESPACES.get(space, ())
        if self.text(self.statement) == "using" and self.text(i + 1) == ";" and (allowed is None or name in allowed):
            self.types.add(name)
            self.declare(name, -1)
        elif allowed is not None and name not in allowed:
            self.reasons.append(f"it uses {space}::{name}")

    # -- statements

    def step_namespace(self, i):
        name, after = self.text(i + 1), self.text(i + 2)
        if self.text(i - 1) == "using":
            if name not in vocabulary.NAMESPACES and not self.knows(name):
                self.reasons.append(f"it uses the namespace {name}")
        elif name == "{":
            pass
        elif after == "=":
            words = "".join(self.text(k) for k in range(i + 3, i + 6))
            if words.startswith("cooperative_groups;"):
                self.ways[name] = "cooperative_groups"
            else:
                self.reasons.append(f"it gives a namespace another name: {name}")
        elif after != "{" or not self.is_name(i + 1) or name in self.check or name in vocabulary.NAMESPACES \
                or re.match(r"_|simt$|Catch$|fmt$|nlohmann$|cuda$|cub$|thrust$|nvcuda$", name):
            self.reasons.append(f"it opens the namespace {name}")
        else:
            self.declare(name, -1)

    def step_specialisation(self, i):
        """template <> struct Mine<float>: of the file's own templates only."""
        head = []
        while i < len(self.tokens) and self.text(i) not in ("{", ";", "("):
            head.append(self.text(i))
            i += 1
        if set(head) & set(vocabulary.NAMESPACES) - {"cooperative_groups"} or not any(name in self.open[0].names for name in head):
            self.reasons.append("it specialises a template that is not its own")

    def end_of_statement(self, i):
        """At a ";": a variable outside of functions is a constant, or its initialiser runs before the check."""
        words = [self.text(k) for k in range(self.statement, i)]
        outer = self.open[-1]
        outer.waiting = set()
        self.statement = i + 1
        if not words or "using" in words[:1] or (words[0] == "template" and "using" in words):
            return
        if words[0] in ( "typedef", "static_assert", "public", "private", "protected", "}", "concept", "namespace"):
            return
        is_static_member = outer.what == "type" and "static" in words
        if (outer.what in OUTSIDE or is_static_member) and not CONSTANT & set(words):
            if "(" in words and "=" not in words[:words.index("(")] and words[-1] in (")", "const", "noexcept", "delete", "default"):
                return  # a function's declaration
            if "=" in words and all(re.fullmatch(r"[-+]|true|false|[\d.][\w.']*", word) for word in words[words.index("=") + 1:]) \
                    and words[-1] != "=":
                return  # a number: no code runs for it
            if words[0] not in ("struct", "class", "enum", "template") or "=" in words:
                self.reasons.append(f"it has a variable outside of a function: {' '.join(words[:6])}")
        elif outer.what in OUTSIDE and "const" in words and not (CONSTANT - {"const"}) & set(words) and {"(", "{"} & set(words) \
                and "=" in words:
            self.reasons.append(f"it has a variable outside of a function: {' '.join(words[:6])}")

    def read(self):
        """The reasons, in the order of the file."""
        for i, token in enumerate(self.tokens):
            text = token.text
            if token.kind == "sign":
                if text in "()[]{}":
                    self.step_bracket(i, text)
                elif text == ";" and self.open[-1].kind == "{":
                    self.end_of_statement(i)
                elif text == ":" and self.text(i - 1) in ("public", "private", "protected"):
                    self.statement = i + 1
            elif token.kind == "word":
                self.step_name(i, text)
        return self.reasons

    def step_name(self, i, name):
        if name == "namespace":
            self.step_namespace(i)
        elif self.text(i - 1) == "namespace" or (self.text(i - 3) == "namespace" and self.text(i - 1) == "="):
            pass
        elif name == "operator":  # a member is one of the file's own types
            if self.open[-1].what in OUTSIDE and f"operator{self.text(i + 1)}" not in self.api:
                self.reasons.append(f"it defines operator{self.text(i + 1)}")
        elif name == "template":
            if self.text(i + 1) == "<" and self.text(i + 2) == ">":
                self.step_specialisation(i)
        elif name == "extern":
            if self.text(i + 1) != "__shared__":
                self.reasons.append("it uses extern")
        elif name in vocabulary.KEYWORDS:
            pass
        elif self.declares(i):
            self.step_declaration(i, name)
        else:
            self.step_use(i, name)


@lru_cache(maxsize=None)
def api_of(*answers):
    """(names, types) that texts declare outside of functions: an exercise's starter and solution, or a header."""
    names, types = set(), set()
    for answer in answers:
        reader = Reader(split_directives(answer)[1])
        reader.read()
        names |= reader.open[0].names
        names |= {f"operator{sign}" for sign in re.findall(r"\boperator\s*([^\s\w(]+|\(\))", blank_comments(answer))}
        types |= reader.types
    return frozenset(names), frozenset(types)


@lru_cache(maxsize=None)
def names_in(text):
    """All names in a text, but for those in its comments and quoted texts, and for parameters of its templates, which hide an
    answer's name."""
    words = (token.text for token in tokens_of(text) if token.kind == "word")
    heads = re.findall(r"^template <([^<>]*)>", text, re.MULTILINE)
    parameters = {name for head in heads for name in re.findall(r"\b(?:class|typename) (\w+)", head)}
    return frozenset(name for word in words for name in word.split("##")) - parameters


def included(directives, own_headers):
    """The texts of the chapter's own headers that are included, and of those that these include."""
    texts, names = {}, [header_of(rest) for name, rest in directives if name == "include" and rest.startswith('"')]
    while names:
        name = names.pop()
        if name in own_headers and name not in texts:
            texts[name] = own_headers[name]
            names += re.findall(r'^\s*#\s*include\s*"(\w+\.cuh)"', texts[name], re.MULTILINE)
    return tuple(texts.values())


def suspicions(text, check, answers=(), own_headers=None):
    """Why an exercise's text cannot be graded before a person has read it: reasons, none for nearly all.

    `check` is the text of its check, whose names the file may not declare again unless the course's `answers`, starter and
    solution, do; `own_headers` is {name: text} of the chapter's headers, which it may include.
    """
    reasons = characters(text)
    taken = names_in(check)
    directives, code = split_directives(text)
    found, macros = read_directives(directives, taken, own_headers or {})
    reasons += found
    names, types = api_of(*included(directives, own_headers or {}))
    for macro, body in macros.items():  # a macro's text is code, with its parameters as names
        match = re.match(r"\(([^)]*)\)", body)
        own = re.findall(r"\w+", match.group(1)) if match else []
        part = Reader(body[match.end():] if match else body, taken, {*macros, *names, *own}, types)
        reasons += [f"{reason}, in the macro {macro}" for reason in part.read()]
        if "namespace" in body:
            reasons.append(f"its macro {macro} has a namespace")
    reasons += Reader(code, taken, {*macros, *names}, types, api_of(*answers)[0]).read()
    return list(dict.fromkeys(reasons))
