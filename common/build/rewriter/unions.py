"""Unions over vectors: the copies that they have with nvcc, whose vectors are copied as plain bytes."""

import re

VECTOR = re.compile(
    r"(char|uchar|short|ushort|int|uint|long|ulong|longlong|ulonglong|float|double)[1-4](_(16|32)a)?|cu(Float|Double)?Complex")
PAIR = {"half2", "__half2", "nv_bfloat162", "__nv_bfloat162"}  # nvcc does not copy a union with one either
ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*([^;{}]*);|\btypedef\s+([^;{}]*?)\b(\w+)\s*;|#\s*define\s+(\w+)[ \t]+(.*)")


def rewrite(file):
    """Pass. A member with a copy of its own would forbid that of the union."""
    unions = file.find(["union"])
    aliases = vector_aliases(file) if unions else set()
    for at in unions:
        rewrite_union(file, at, aliases)


def rewrite_union(file, at, aliases):
    """Adds to the union, whose word is at `at`, its copies, and what it loses by having them. One without a name is
    copied by the struct around it."""
    name = file.after(at + 2) if file.text(at + 1) in ("alignas", "__align__", "__attribute__") else at + 1
    is_nameless = file.text(name) == "{"
    opening = name if is_nameless else name + 1
    if not is_nameless and not file.is_word(name) or file.text(opening) != "{":
        return  # no definition
    words = words_in(file, opening)
    if words & PAIR or file.text(at - 1) != ">" and not any(VECTOR.fullmatch(word) or word in aliases for word in words):
        return  # nothing to copy, which a template may have by its arguments
    if is_nameless and file.text(file.after(opening)) == ";":
        opening = max((i for i in file.classes if i < at < file.other_end(i)), default=0)
        name = opening - 1
        if "std" in words_in(file, opening) or is_braced(file, name):
            return
    if file.is_word(name) and (file.text(name - 1) in ("struct", "union") or file.text(name - 1) == ")"):
        add_copies(file, name, opening, is_nameless)


def add_copies(file, name, opening, is_struct):
    closing, name_text = file.other_end(opening), file.text(name)
    inside = range(opening + 1, closing)
    own = [i for i in inside if file.text(i) == name_text and file.text(i + 1) == "(" and file.text(i - 1) != "~"]
    is_assigned = any(file.text(i) == "operator" and file.text(i + 1) == "=" for i in inside)
    if is_assigned or any(name_text in words_in(file, i + 1) for i in own):
        return  # it copies itself
    text = f" SIMT_UNION_COPY({name_text}) "
    if is_struct and not own:
        text = f" {name_text}() = default;{text}"
    elif not own:
        first = first_member(file, opening)
        if first is None or is_designated(file, opening):
            return
        text = f" SIMT_UNION({name_text}, {first}) "
    place = file.tokens[closing].begin
    if not any(edit[0] == place for edit in file.edits):  # a struct with two such unions
        file.edits.append((place, place, text))


def vector_aliases(file):
    """Other names of float4 and the like."""
    names = set()
    for using, used, typed, typedef, macro, text in ALIAS.findall(file.source):
        if any(map(VECTOR.fullmatch, re.findall(r"\w+", used or typed or text))):
            names.add(using or typedef or macro)
    return names


def words_in(file, opening):
    return {token.text for token in file.tokens[opening:file.other_end(opening)]}


def first_member(file, opening):
    """The name of the first member; None if it has none."""
    i = opening + 1
    while file.text(i) not in (";", ",", "=", "", "}"):
        if file.text(i) == "{":
            return None  # a struct without a name
        i = file.after(i)
    i -= 1
    while file.text(i) == "]":
        i = file.other_end(i) - 1
    return file.text(i) if file.is_word(i) and i > opening + 1 else None


def is_designated(file, opening):
    """True if the file initialises a member by name, { .v = x }: a constructor would forbid it."""
    members = words_in(file, opening)
    return any(file.text(i) == "{" and file.text(i + 1) == "." and file.text(i + 2) in members
               for i in range(len(file.tokens)))


def is_braced(file, name):
    """True if the file gives an object of the struct its members in braces: a constructor would forbid it."""
    for i in range(len(file.tokens)):
        if file.text(i) != file.text(name) or i == name:
            continue
        j = i + 2 if file.is_word(i + 1) else i + 1
        while file.text(j) in ("[", "="):
            j = file.after(j)
        if file.text(j) == "{" and file.text(j + 1) != "}":
            return True
    return False
