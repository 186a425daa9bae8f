"""What a file declares: by names alone, for launches."""

from build.rewriter.functions import specifiers
from build.rewriter.source import TAKES_PARENTHESES, Declared, Unsupported


def find(file):
    """Pass. What looks like a function at namespace scope, and the names of variables: file.declared, file.variables."""
    file.variables = {
        token.text for i, token in enumerate(file.tokens)
        if token.kind == "word" and (
            file.text(i + 1) in ("=", ";", "{") and (file.is_operand(i - 1) or file.text(i - 1) in (*"*&>",))
            or file.text(i - 1) == "*" and file.text(i - 2) == "(" and file.text(i + 1) in (")", "["))}
    head = 0  # the first token of the declaration
    for i, token in enumerate(file.tokens):
        if token.text in (";", "{", "}"):
            head = i + 1
        elif token.text == "template" and i == head and file.text(i + 1) == "<":
            head = after_parameters(file, i + 1)
        elif (file.at_namespace_scope[i] and file.text(i + 1) == "(" and file.is_operand(i)
              and token.text not in TAKES_PARENTHESES
              and (file.is_operand(i - 1) or file.text(i - 1) in (*"*&>", ")", "]"))):
            file.declared.append(Declared(token.text, [t.text for t in file.tokens[head:i]]))


def after_parameters(file, i):
    """Index after the parameters of a template; a < that compares hides where they end."""
    try:
        return file.after_angle(i)
    except Unsupported:
        return i


def function_names(file):
    """Names of functions at namespace scope."""
    for name, words in file.declared:
        if "=" not in words or any("__global__" in specifiers(file, word) for word in words):  # int j = a * k(1); declares no k
            yield name
