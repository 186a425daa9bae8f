"""What is said of an exercise beside its files: the task in a sentence, and the hints, which come one at a time.

They are in chapters/NN-topic/hints/EX.md, and in Chinese in hints/EX.zh-CN.md:

    # EX

    The task.

    ## Hint 1

    The text of the first hint. The others follow.
"""

import re

WORDS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")  # a character of Chinese counts as one
HEADING = re.compile(r"^## (?:Hint|提示) \d+\n", re.MULTILINE)


def file_of(chapter, exercise, page="README.md"):
    """The file of an exercise in a chapter's folder, in the language of this page."""
    return chapter / "hints" / page.replace("README", exercise)


def read(file):
    """(the task, the hints that have a text)."""
    task, *bodies = HEADING.split(file.read_text(encoding="utf-8"))
    bodies = [body.strip("\n") for body in bodies]
    return re.sub(r"\A# .*\n", "", task).strip("\n"), [body for body in bodies if len(WORDS.findall(body)) >= 3]
