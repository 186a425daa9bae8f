"""The examples in the headers of common/include/course are those of common/tests/examples_test.cu.

A header's first comment ends with the line "// Example (common/tests/examples_test.cu):"; below it is what
the test has between "// [NAME.cuh]" and "// [end]", so that every example compiles and does what it says.
A header without an example, and an example without a header, are errors.
exercise.cuh needs none: each exercise shows its one line.
"""

import re
import textwrap

from tools.lib.documents import Document
from tools.lib.failed import Failed

WITHOUT = {"exercise.cuh"}
MARK = "// Example (common/tests/examples_test.cu):"
EXAMPLE = re.compile(rf"^{re.escape(MARK)}\n(?://(?: {{3}}.*)?\n)*", re.MULTILINE)
IN_TEST = re.compile(r"^ *// \[(?P<name>\w+\.cuh)\]\n(?P<code>.*?)^ *// \[end\]$", re.MULTILINE | re.DOTALL)


def with_example(file, text, lines):
    """The header's text with this example; Failed if it has no mark for one."""
    comment = [MARK, "//", *(f"//   {line}".rstrip() for line in lines)]
    new, count = EXAMPLE.subn(lambda _: "\n".join(comment) + "\n", text)
    if count != 1:
        raise Failed(f'{file}: its first comment has not exactly one line "{MARK}"')
    return new


def documents(top):
    """A Document for each header; Failed if a header has no example in the tests, or an example no header."""
    tests = top / "common" / "tests" / "examples_test.cu"
    headers = {file.name: file for file in sorted((top / "common" / "include" / "course").glob("*.cuh")) if file.name not in WITHOUT}
    examples = {
        match["name"]: textwrap.dedent(match["code"]).rstrip("\n").split("\n")
        for match in IN_TEST.finditer(tests.read_text(encoding="utf-8"))
    }
    wrong = [f"{headers[name]}: {tests} has no // [{name}]" for name in headers if name not in examples]
    wrong += [f"{tests}: there is no header {name}" for name in examples if name not in headers]
    if wrong:
        raise Failed("\n".join(wrong))
    return [
        Document(file, f"the header's example, from {tests.name}",
                 lambda text, file=file, lines=examples[name]: with_example(file, text, lines))
        for name, file in headers.items()
    ]  # fmt: skip
