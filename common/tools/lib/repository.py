"""The repository's address on GitHub: its owner is in one line of meson.build, and all files that name it follow."""

import re

from tools.lib.documents import Document
from tools.lib.failed import Failed

NAME = "cuda-atomics-course"
OWNER = re.compile(r"^repository_owner = '([\w.-]+)'$", re.MULTILINE)
ADDRESS = re.compile(rf"((?:github\.com|codespaces\.new|colab\.research\.google\.com/github)/)[\w.-]+/{NAME}\b")
FILES = ["README.md", "README.zh-CN.md", "CITATION.cff", "common/docs/colab.ipynb", "common/docs/classroom50/autograder.py", "common/docs/gradescope/settings", "common/simt/README.md"]


def owner(top):
    found = OWNER.search((top / "meson.build").read_text(encoding="utf-8"))
    if not found:
        raise Failed("meson.build: needs a line such as repository_owner = 'name'")
    return found[1]


def address(top):
    return f"https://github.com/{owner(top)}/{NAME}"


def with_owner(text, name):
    """A text whose links to the repository name this owner."""
    return ADDRESS.sub(lambda found: f"{found[1]}{name}/{NAME}", text)


def documents(top):
    """The Documents that name the repository; a release for learners has not all of them."""
    name = owner(top)
    return [
        Document(top / file, "the repository's address, from repository_owner in meson.build", lambda text: with_owner(text, name))
        for file in FILES if (top / file).exists()
    ]  # fmt: skip
