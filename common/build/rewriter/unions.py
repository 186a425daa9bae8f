"""Unions over vectors: the copies that they have with nvcc, whose vectors are copied as plain bytes."""

import re

from .functions import Functions

VECTOR = re.compile(
    r"(char|uchar|short|ushort|int|uint|long|ulong|longlong|ulonglong|float|double)[1-4](_(16|32)a)?|cu(Float|Double)?Complex")
PAIR = {"half2", "__half2", "nv_bfloat162", "__nv_bfloat162"}  # nvcc does not copy a union with one either
ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*([^;{}]*);|\btypedef\s+([^;{}]*?)\b(\w+)\s*;|#\s*define\s+(\w+)[ \t]+(.*)")


class Unions(Functions):
    """A file whose unions can be copied, as with nvcc: a member with a copy of its own would forbid it."""

    def rewrite_union(self, at):
        """Adds to the union, whose word is at `at`, its copies, and what it loses by having them. One without a name is
        copied by the struct around it."""
        name = self.after(at + 2) if self.text(at + 1) in ("alignas", "__align__", "__attribute__") else at + 1
        is_nameless = self.text(name) == "{"
        opening = name if is_nameless else name + 1
        if not is_nameless and not self.is_word(name) or self.text(opening) != "{":
            return  # no definition
        words = self.words_in(opening)
        if words & PAIR or self.text(at - 1) != ">" and not any(map(self.is_vector, words)):
            return  # nothing to copy, which a template may have by its arguments
        if is_nameless and self.text(self.after(opening)) == ";":
            opening = max((i for i in self.classes if i < at < self.other_end(i)), default=0)
            name = opening - 1
            if "std" in self.words_in(opening) or self.is_braced(name):
                return
        if self.is_word(name) and (self.text(name - 1) in ("struct", "union") or self.text(name - 1) == ")"):
            self.add_copies(name, opening, is_nameless)

    def add_copies(self, name, opening, is_struct):
        closing, name_text = self.other_end(opening), self.text(name)
        inside = range(opening + 1, closing)
        own = [i for i in inside if self.text(i) == name_text and self.text(i + 1) == "(" and self.text(i - 1) != "~"]
        is_assigned = any(self.text(i) == "operator" and self.text(i + 1) == "=" for i in inside)
        if is_assigned or any(name_text in self.words_in(i + 1) for i in own):
            return  # it copies itself
        text = f" SIMT_UNION_COPY({name_text}) "
        if is_struct and not own:
            text = f" {name_text}() = default;{text}"
        elif not own:
            first = self.first_member(opening)
            if first is None or self.is_designated(opening):
                return
            text = f" SIMT_UNION({name_text}, {first}) "
        place = self.tokens[closing].begin
        if not any(edit[0] == place for edit in self.edits):  # a struct with two such unions
            self.edits.append((place, place, text))

    def is_vector(self, word):
        """True for float4 or another name of such a type."""
        if not hasattr(self, "aliases_"):
            self.aliases_ = set()
            for using, used, typed, typedef, macro, text in ALIAS.findall(self.source):
                if any(map(VECTOR.fullmatch, re.findall(r"\w+", used or typed or text))):
                    self.aliases_.add(using or typedef or macro)
        return VECTOR.fullmatch(word) is not None or word in self.aliases_

    def words_in(self, opening):
        return {token.text for token in self.tokens[opening:self.other_end(opening)]}

    def first_member(self, opening):
        """The name of the first member; None if it has none."""
        i = opening + 1
        while self.text(i) not in (";", ",", "=", "", "}"):
            if self.text(i) == "{":
                return None  # a struct without a name
            i = self.after(i)
        i -= 1
        while self.text(i) == "]":
            i = self.other_end(i) - 1
        return self.text(i) if self.is_word(i) and i > opening + 1 else None

    def is_designated(self, opening):
        """True if the file initialises a member by name, { .v = x }: a constructor would forbid it."""
        members = self.words_in(opening)
        return any(self.text(i) == "{" and self.text(i + 1) == "." and self.text(i + 2) in members
                   for i in range(len(self.tokens)))

    def is_braced(self, name):
        """True if the file gives an object of the struct its members in braces: a constructor would forbid it."""
        for i in range(len(self.tokens)):
            if self.text(i) != self.text(name) or i == name:
                continue
            j = i + 2 if self.is_word(i + 1) else i + 1
            while self.text(j) in ("[", "="):
                j = self.after(j)
            if self.text(j) == "{" and self.text(j + 1) != "}":
                return True
        return False
