"""The tokens of C++: comments, text in quotes, numbers, words and signs.

Enough for brackets and names, as the rewriter of kernels, grading and `./course export` need them. '<' and '>' stay
single, because they may be around the arguments of a template.
"""

import collections
import functools
import re

TOKEN = re.compile(
    r"""(?P<comment>   //(?:\\\n|[^\n])* | /\*.*?\*/)
      | (?P<text>      (?:u8|[uUL])?R"(?P<tag>[^()\s\\"]*)\(.*?\)(?P=tag)"
                     | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
                     | (?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
      | (?P<number>    \.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
      | (?P<word>      [^\W\d]\w*(?:[ \t]*\#\#[ \t]*\w+)*)
      | (?P<sign>      <<=|>>=|<=>|\.\.\.|->|::|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|\S)""",
    re.S | re.M | re.X,
)
DIRECTIVE = r"""(?P<directive> ^[ \t]*\#(?:/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|\\.|[^\n])*)"""
TOKEN_OR_DIRECTIVE = re.compile(f"{DIRECTIVE} | {TOKEN.pattern}", TOKEN.flags)
Token = collections.namedtuple("Token", "kind text begin end")


@functools.lru_cache(maxsize=64)  # all variants of an answer include the same check
def tokens_of(text, with_directives=False):
    """The tokens of a text, comments included. `with_directives`: a line of the preprocessor is one token."""
    pattern = TOKEN_OR_DIRECTIVE if with_directives else TOKEN
    return tuple(Token(match.lastgroup, match.group(), *match.span()) for match in pattern.finditer(text))


def blank_comments(text):
    """The text with spaces in place of its comments: lines and columns stay as they are."""
    return TOKEN.sub(lambda token: re.sub(r"[^\n]", " ", token.group()) if token["comment"] else token.group(), text)


def same_code(a, b):
    """True if two texts differ in comments and white space only."""
    return blank_comments(a).split() == blank_comments(b).split()
