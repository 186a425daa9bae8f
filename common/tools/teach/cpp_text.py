"""The tokens of a C++ text, its comments, and its preprocessor's lines: as reading.py needs them."""

import re

from tools.teach import vocabulary

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
      | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>::|->|\+\+|--|<<=|>>=|<=>|[-+*/%&|^=!<>]=|&&|\|\||\.\.\.|[^\s\w])
      | (?P<space>\s+)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
HARMLESS_DIRECTIVES = {"", "if", "ifdef", "ifndef", "elif", "else", "endif"}
CONDITIONS = {"defined", "__CUDA_ARCH__", "__CUDACC__", "__cplusplus", "COURSE_CPU_DEVICE", "true", "false", "CUDART_VERSION"}


class Token:
    """A piece of code: what kind it is, its text, and where it begins."""

    __slots__ = ("kind", "text", "at")

    def __init__(self, kind, text, at):
        self.kind, self.text, self.at = kind, text, at


def tokens_of(text):
    """The tokens of a text, comments and spaces included; what is no token of C++ is one of the kind "odd"."""
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None or (match.lastgroup == "sign" and not match.group().isascii()):
            tokens.append(Token("odd", text[at], at))
            at += 1
            continue
        tokens.append(Token(match.lastgroup, match.group(), at))
        at = match.end()
    return tokens


def blank_comments(text):
    """The text with spaces in place of its comments: lines and columns stay as they are."""
    return "".join(
        re.sub(r"[^\n]", " ", token.text) if token.kind == "comment" else token.text for token in tokens_of(text)
    )


def same_code(a, b):
    """True if two texts differ in comments and white space only."""
    return blank_comments(a).split() == blank_comments(b).split()


def characters(text):
    """What makes a text another one than it looks like."""
    tokens = tokens_of(text)
    reasons = []
    if re.search(r"\\[ \t]*\r?(\n|$)", text):
        reasons.append("it joins lines with a backslash")
    if re.search(r"\?\?[=/'()!<>-]", text):
        reasons.append("it has a trigraph")
    code = "".join(" " if token.kind in ("comment", "text") else token.text for token in tokens)
    if re.search(r"<:|:>|<%|%>|%:", code):
        reasons.append("it has a digraph")
    if re.search(r"\\", code) or any(token.kind == "text" and re.search(r"\\[uUN]", token.text) for token in tokens):
        reasons.append("it has a backslash outside of a text")
    if re.search(r"""\w["']""", "".join("\"\"" if token.kind == "text" else " " if token.kind == "comment" else
                                        re.sub(r"'", "", token.text) for token in tokens)):
        reasons.append("it has a text with a prefix or a suffix")
    if odd := {token.text for token in tokens if token.kind == "odd" or "\0" in token.text}:
        reasons.append(f"it has a character outside of ASCII or an open quote: {ascii(sorted(odd)[0])}")
    return reasons


# ---- the preprocessor --------------------------------------------------------------------------------


def split_directives(text):
    """(directives, code): (name, rest) of each line that begins with #, and the text with these lines blank."""
    directives, code = [], []
    for line in blank_comments(text).split("\n"):
        match = re.match(r"[ \t]*#[ \t]*(\w*)[ \t]*(.*?)[ \t\r]*$", line)
        if match:
            directives.append(match.groups())
        code.append("" if match else line)
    return directives, "\n".join(code)


def header_of(rest):
    """The name of an included header: <name> or "name", and None for anything else."""
    match = re.fullmatch(r'<([\w./]+)>|"([\w.]+)"', rest)
    return (match[1] or match[2]) if match else None


def read_directives(directives, taken, own_headers):
    """(reasons, {macro: its text}) of the lines that begin with #."""
    reasons, macros = [], {}
    for name, rest in directives:
        if name == "include":
            header = header_of(rest)
            if header is None or (header not in vocabulary.HEADERS and not (rest[0] == '"' and header in own_headers)):
                reasons.append(f"it includes {rest}")
        elif name == "define":
            macro, body = re.match(r"(\w*)(.*)", rest).groups()
            if macro in taken or macro in vocabulary.KEYWORDS or vocabulary.PLAIN.fullmatch(macro) or macro in vocabulary.STD:
                reasons.append(f"it redefines {macro}")
            if "#" in body:
                reasons.append(f"its macro {macro} makes names or texts")
            macros[macro] = body
        elif name == "pragma":
            if not re.fullmatch(r"once|unroll( *\(?\w*\)?)?", rest):
                reasons.append(f"it has #pragma {rest}")
        elif name not in HARMLESS_DIRECTIVES:
            reasons.append(f"it has #{name} {rest}".rstrip())
        elif strange := set(re.findall(r"[A-Za-z_]\w*", rest)) - CONDITIONS - set(macros):
            reasons.append(f"it asks for {sorted(strange)[0]} in #{name}")
    return reasons, macros
