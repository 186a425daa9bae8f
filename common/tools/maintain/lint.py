"""What is missing, misplaced or badly worded, told without a build."""

import shutil
import subprocess

from tools.maintain import (
    course_lint, front_page_rules, measured_numbers, missing_includes, plain_words, rooms, simt_layers, simt_readme, translations,
)  # fmt: skip
from tools.site import slide_choice

FORMATTED = ("*.cu", "*.cuh", "*.hpp", "*.cpp", "*.h")


def problems_of(top, files):
    """A line for each problem of the course; with `files`, of the words in these files alone."""
    if files:
        return plain_words.problems_of(top, files)
    return [
        *course_lint.problems_of(top),
        *front_page_rules.problems_of(top),
        *plain_words.problems_of(top, plain_words.all_files(top)),
        *measured_numbers.problems_of(top),
        # The pages of a release have lost sentences, in both languages.
        *([] if course_lint.is_release(top) else translations.problems_of(top)),
        *missing_includes.problems_of(top),
        *simt_layers.wrong_includes(top / "common" / "simt" / "src"),
        *simt_readme.without_comment(top),
        *rooms.wrong_imports(top / "common"),
        *slide_choice.problems_of(top),
        *badly_formatted(top),
    ]


def badly_formatted(top):
    """The places that clang-format would change."""
    if shutil.which("clang-format") is None:
        return ["clang-format is not installed: common/tools/setup.sh --contributor"]
    names = subprocess.run(["git", "-C", str(top), "ls-files", *FORMATTED], capture_output=True, text=True, check=True).stdout.splitlines()
    names = [name for name in names if (top / name).is_file()]
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *names], cwd=top, capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if ": error: " in line]
