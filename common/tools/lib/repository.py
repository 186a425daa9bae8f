"""The repository's version, and its address on GitHub: its owner is in one line of meson.build, and all files that name it follow."""

import os
import re

from tools.lib.documents import Document
from tools.lib.failed import Failed

NAME = "cuda-atomics-course"
OWNER = re.compile(r"^repository_owner = '([\w.-]+)'$", re.MULTILINE)
VERSION = re.compile(r"^  version: '([\w.-]+)',$", re.MULTILINE)
ADDRESS = re.compile(
    rf"((?:github\.com|raw\.githubusercontent\.com|codespaces\.new|colab\.research\.google\.com/github)/|\buses: )[\w.-]+/{NAME}\b"
)
FILES = [
    "README.md", "README.zh-CN.md", "CITATION.cff", "common/docs/any-cuda-file.md", "common/docs/colab.ipynb",
    "common/docs/classroom50/autograder.py", "common/docs/gradescope/settings", ".github/actions/check-cuda/gitlab-ci.yml", "common/simt/README.md",
]  # fmt: skip


def of_meson(top, line, example):
    """What a line of meson.build says, in its group; Failed without such a line."""
    found = line.search((top / "meson.build").read_text(encoding="utf-8"))
    if not found:
        raise Failed(f"meson.build: needs a line such as {example}")
    return found[1]


def owner(top):
    return of_meson(top, OWNER, "repository_owner = 'name'")


def version(top):
    """The course's version."""
    return of_meson(top, VERSION, "  version: '1.0',")


def address(top):
    return f"https://github.com/{owner(top)}/{NAME}"


def site(top):
    """Where the course is published: the address in COURSE_SITE, or that of the owner's GitHub Pages."""
    return os.environ.get("COURSE_SITE") or f"https://{owner(top).lower()}.github.io/{NAME}/"


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
