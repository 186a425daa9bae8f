"""What the tests of a build say to a learner, as whole messages: what two builds say otherwise, and the samples on pages.

A page shows the message of a known-wrong answer, as its check says it of a learner's file, in the block of code below a line

    <!-- message EXERCISE-mistake-NAME -->
"""

import difflib
import re

from tools.lib import result
from tools.lib.documents import Document
from tools.lib.failed import Failed

# An answer that is made from a .diff has a folder of its own below the build's.
VARIANT = re.compile(r"[\w./-]*\bvariants/\w+/")


def message_of(found):
    """The message in a result: the verdict, and each failure with its details; paths as in a learner's file."""
    parts = [f"{failure['test']}\n{failure['text']}\n{failure['details']}" for failure in found["failures"]]
    return VARIANT.sub("", "\n".join([found["verdict"], *(parts or [found["reason"]])])).rstrip("\n")


def messages_of(build):
    """{test: message} of a build's last run; Failed without one."""
    files = sorted((build / "results").glob("*.json"))
    if not files:
        raise Failed(f"{build}: has no results of tests; `meson test -C {build} --setup all` writes them")
    return {file.stem: message_of(found) for file in files if (found := result.read(file))}


def differences(old, new):
    """The lines that say which messages of the build `new` are not those of `old`, and which tests have run in one of them alone."""
    before, after = messages_of(old), messages_of(new)
    lines = []
    for test in sorted(before.keys() & after.keys()):
        texts = [messages[test].splitlines() for messages in (before, after)]
        if texts[0] != texts[1]:
            lines += [test, *list(difflib.unified_diff(*texts, lineterm="", n=2))[2:], ""]
    for build, alone in ((old, before.keys() - after.keys()), (new, after.keys() - before.keys())):
        if alone:
            lines.append(f"{build} alone has results of {', '.join(sorted(alone))}")
    return lines


# ---- samples on pages ----------------------------------------------------------------------------

SAMPLE = re.compile(r"^<!-- message (?P<test>[\w-]+) -->\n```\n(?:.*\n)*?```\n", re.MULTILINE)
PAGES = ("README*.md", "chapters/*/README*.md", "common/docs/*.md", "common/simt/README.md")


def sample(build, test):
    """The message of a known-wrong answer as a learner would see it: its first failure. Failed if it has not been rejected."""
    found = result.load(build, test)
    if found is None or not found["failures"]:
        raise Failed(f"{build}: has no message of {test}: meson compile -C {build} variants && meson test -C {build} --setup all {test}")
    failure = found["failures"][0]
    exercise, mistake = test.split("-mistake-")
    folder = found["edit"].split("/mistakes/")[0].replace("chapters/", "exercises/")
    name = failure["test"].removeprefix(f"{mistake}: ")
    said = VARIANT.sub(f"{folder}/", f"{failure['text']}\n{failure['details']}").rstrip("\n").splitlines()
    return "\n".join([f"FAILED: {name}", *(f"  {line}" for line in said)])


def documents(top, build):
    """A Document for each page with samples."""

    def with_samples(text):
        return SAMPLE.sub(lambda match: f"<!-- message {match['test']} -->\n```\n{sample(build, match['test'])}\n```\n", text)

    pages = [page for pattern in PAGES for page in sorted(top.glob(pattern))]
    return [
        Document(page, "the message of a check, as a known-wrong answer gets it", with_samples)
        for page in pages if SAMPLE.search(page.read_text(encoding="utf-8"))
    ]  # fmt: skip
