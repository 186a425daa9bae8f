"""What is read of an exercise file as a text, before clang reads it: its characters, and the lines of its preprocessor."""

import re

from tools.lib.cpp_text import tokens_of
from tools.teach import vocabulary

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)((?:\\\n|[^\n])*)", re.M)
CONDITIONAL = {"if", "ifdef", "ifndef", "elif", "else", "endif"}
WORD = re.compile(r"[A-Za-z_]\w*")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def directives(text):
    """[(match, name, rest)] of the lines that begin with #."""
    return [(match, match[1], re.sub(r"\\\n", " ", match[2]).strip()) for match in DIRECTIVE.finditer(text)]


def without_directives(text):
    """The text with its directives blank: lines and columns stay."""
    return DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def read_characters(text):
    """Reasons: what makes a text another one than it looks like."""
    found = []

    def add(offset, reason):
        found.append(f"line {line_of(text, offset)}: {reason}")

    code = without_directives(text)
    if match := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        add(match.start(), f"{ascii(match.group())}: a control character can hide what is in a line")
    if match := re.search(r"\\[ \t]*\r?(\n|$)", code):
        add(match.start(), "\\: it joins lines, outside of a #define")
    if match := re.search(r"\?\?[=/'()!<>-]|%:", text):
        add(match.start(), f"{match.group()}: it stands for another character")
    for token in tokens_of(text):
        if token.kind == "text" and "R" in token.text[:3] and '"' in token.text[:4]:
            add(token.begin, "R: a raw string can hide where a text ends")
        elif token.kind != "text" and (odd := next((character for character in token.text if not character.isascii()), None)):
            add(token.begin, f"{odd!a}: a letter outside of ASCII, outside of texts and comments")
        elif token.kind != "text" and token.text == "\\" and code[token.begin] == "\\":
            add(token.begin, "\\: a backslash outside of texts")
    return found


def macros_of(text):
    """{name: its line} of the macros that the file defines."""
    return {WORD.match(rest).group(): line_of(text, match.start()) for match, name, rest in directives(text)
            if name == "define" and WORD.match(rest)}


def read_directives(text, quoted, words):
    """Reasons in the lines that begin with #. `quoted` are the chapter's headers; `words` those that other headers use: a macro
    of that name, defined before them, changes them."""
    found, macros = [], macros_of(text)
    defined = set()
    for match, name, rest in directives(text):
        line = line_of(text, match.start())
        if name == "include":
            header = re.fullmatch(r'<([\w./]+)>|"([\w.]+)"', rest)
            file = header and (header[1] or header[2])
            if header is None or not (is_listed(file) if header[1] else file in quoted or is_listed(file)):
                found.append(f"line {line}: {rest or '#include'}: this header is not among those that an exercise may include")
            elif changed := sorted(defined & words):
                found.append(f"line {line}: {rest}: it is included after the macro {changed[0]}, which changes it; put the #include above the #define")
        elif name == "define":
            found += [f"line {line}: {reason}" for reason in read_macro(rest)]
            defined |= {found_name.group() for found_name in [WORD.match(rest)] if found_name}
        elif name == "undef":
            if rest not in macros:
                found.append(f"line {line}: {rest}: #undef of a macro that is not this file's own")
        elif name == "pragma":
            if not re.fullmatch(r"once|unroll( *\(?\w*\)?)?|nv_diag_suppress[\w ]*|nv_diag_default[\w ]*", rest):
                found.append(f"line {line}: #pragma {rest}: of the pragmas only once and unroll may be used")
        elif name in CONDITIONAL:
            if strange := [word for word in WORD.findall(rest) if word not in vocabulary.CONDITIONS and word not in macros]:
                if not (name == "ifndef" and rest in macros):
                    found.append(f"line {line}: {strange[0]}: a condition of the preprocessor asks for it, and what it is worth here is not known")
        elif name or rest:
            found.append(f"line {line}: #{name}: this directive is not for exercises")
    return found


def is_listed(header):
    course = re.fullmatch(r"course/(\w+)\.cuh", header)
    return header in vocabulary.HEADERS or bool(course and course[1] in vocabulary.COURSE_HEADERS)


def read_macro(rest):
    name = WORD.match(rest)
    if not name:
        return [f"#define {rest}: it has no name"]
    name, body = name.group(), rest[name.end():]
    if name in KEYWORDS or vocabulary.PLAIN.fullmatch(name) or vocabulary.MACROS.fullmatch(name) or name in vocabulary.STD or name.startswith("__") \
            or re.match(r"_[A-Z]", name) or name in ("defined", "NOT_STARTED"):
        return [f"{name}: it is a macro here, and has a meaning already"]
    if "##" in re.sub(r'"(?:\\.|[^"\\])*"', "", body):
        return [f"{name}: the macro makes names of pieces (##), which cannot be read"]
    return []


KEYWORDS = frozenset("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl concept const consteval
constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false
final float for friend goto if import inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private
protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
""".split())


def branches(text):
    """The texts in which each line is outside of a branch that is left out: the text itself, and one for each further
    branch that its conditions have. Include guards stay."""
    conditions = [(match, name, rest) for match, name, rest in directives(text) if name in CONDITIONAL]
    macros = macros_of(text)
    guard = conditions[0][0] if conditions and conditions[0][1] == "ifndef" and conditions[0][2] in macros else None
    if not conditions or (guard and len(conditions) == 2):
        return [text]
    open_groups, groups = [], []
    for match, name, rest in conditions:
        if name in ("if", "ifdef", "ifndef"):
            open_groups.append([match])
        elif open_groups:
            open_groups[-1].append(match)
            if name == "endif":
                groups.append(open_groups.pop())
    texts = [text]
    for branch in range(max((len(group) for group in groups), default=1) - 1):
        edits = []
        for group in groups:
            if guard is group[0]:
                continue
            chosen = min(branch, len(group) - 2)
            if group[chosen][1] == "if" and re.fullmatch(r"\s*(0|false)\s*", group[chosen][2]):
                continue  # no compiler reads it
            for number, match in enumerate(group[:-1]):
                word = "if" if number == 0 else "elif"
                edits.append((match, f"#{word} {int(number == chosen)}"))
        other = text
        for match, line in sorted(edits, key=lambda edit: -edit[0].start()):
            other = other[:match.start()] + line + "\n" * match.group().count("\n") + other[match.end():]
        texts.append(other)
    return texts
