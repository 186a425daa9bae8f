"""Puts a check and all variants of an exercise's solution, wrong ones and right ones, into one file, each in a namespace.

    all_variants.py OUTPUT.cu DEPFILE SOLUTION.cuh CHECK.cu VARIANT.diff ...

Most of the time that a check takes to build goes into headers and templates, which are the same for
every answer: eleven answers in one program build three times as fast as eleven programs. Each answer is
made of its .diff (variants.py) and written to variants/VARIANT/SOLUTION.cuh beside the output. Its test cases
are called "VARIANT: ...", so that the program runs one answer's checks with the argument "VARIANT: *".
"""

import sys
from pathlib import Path

from build import variants
from build.compiler import depfile
from tools.lib import includes
from tools.lib.failed import Failed


def headers_of(files):
    """What the files include: "name" or <name>."""
    return {header for file in files for header in includes.headers_of(file.read_text(encoding="utf-8"))}


def write_answers(folder, solution, diffs):
    """Makes the answers of the .diffs as folder/NAME/SOLUTION.cuh; returns these files."""
    answers = []
    for diff in diffs:
        answer = folder / diff.stem / solution.name
        text = variants.answer_of(diff, solution)
        answer.parent.mkdir(parents=True, exist_ok=True)
        answer.write_text(text, encoding="utf-8")
        answers.append(answer)
    return answers


def unit(check, answers):
    """The text of the file. All headers come first, outside of the namespaces."""
    own = f'"{answers[0].name}"'  # the check includes its answer, which precedes it here
    lines = [f"#include {header}" for header in sorted(headers_of([check, *answers]) - {own})]
    for answer in answers:
        name = answer.parent.name
        lines += [
            f"namespace variant_{name} {{",
            "#undef TEST_CASE",
            f'#define TEST_CASE(...) INTERNAL_CATCH_TESTCASE("{name}: " __VA_ARGS__)',
            f'#include "{answer}"',
            f'#include "{check}"',
            f"}}  // namespace variant_{name}",
        ]
    return "\n".join(lines) + "\n"


def main():
    output, names, solution, check, *diffs = (Path(argument).resolve() for argument in sys.argv[1:])
    try:
        answers = write_answers(output.parent / "variants", solution, diffs)
    except Failed as error:
        sys.exit(f"error: {error}")
    depfile.write(names, sys.argv[1], [str(solution), *depfile.own_files()])
    output.write_text(unit(check, answers), encoding="utf-8")


if __name__ == "__main__":
    main()
