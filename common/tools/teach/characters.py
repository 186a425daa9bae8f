"""What makes a C++ text another one than it looks like, and its preprocessor's lines: as reading.py needs them."""

import re

from tools.lib.cpp_text import TOKEN, blank_comments, tokens_of
from tools.teach import vocabulary

HARMLESS_DIRECTIVES = {"", "if", "ifdef", "ifndef", "elif", "else", "endif"}
CONDITIONS = {"defined", "__CUDA_ARCH__", "__CUDACC__", "__cplusplus", "COURSE_CPU_DEVICE", "true", "false", "CUDART_VERSION"}


def quotes_alone(token):
    """A token as what matters to prefixes and suffixes of texts: no comment, no apostrophe of a number. R is a prefix that
    changes where a text ends; u and L change no more than its characters."""
    if token["text"]:
        return '""' if token["tag"] is None else 'R""'
    return " " if token["comment"] else token.group().replace("'", "")


def characters(text):
    """What makes a text another one than it looks like."""
    texts = [token.text for token in tokens_of(text) if token.kind == "text"]
    code = TOKEN.sub(lambda token: " " if token["comment"] or token["text"] else token.group(), text)
    reasons = []
    if re.search(r"\\[ \t]*\r?(\n|$)", text):
        reasons.append("it joins lines with a backslash")
    if re.search(r"\?\?[=/'()!<>-]", text):
        reasons.append("it has a trigraph")
    if re.search(r"<:|:>|<%|%>|%:", code):
        reasons.append("it has a digraph")
    if re.search(r"\\", code) or any(re.search(r"\\[uUN]", quoted) for quoted in texts):
        reasons.append("it has a backslash outside of a text")
    if re.search(r"""\w["']""", TOKEN.sub(quotes_alone, text)):
        reasons.append("it has a text with a prefix or a suffix")
    if odd := {character for character in code if not character.isascii()} | ({"\0"} & {*text}):
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
