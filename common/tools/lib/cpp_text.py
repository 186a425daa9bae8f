"""What of a C++ source is no code: comments and text in quotes."""

import re

# A match is a comment, a raw string, or another text in quotes; an apostrophe within a number is none of them.
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>(?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<text>"(?:\\.|[^"\\\n])*"|(?<!\w)(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')""",
    re.VERBOSE | re.DOTALL,
)
