"""The hints that a chapter's README gives to an exercise."""

import re

from tools.lib.markers import without_comments

WORDS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")  # a character of Chinese counts as one


def hints_of(readme, exercise):
    """The hints with a text that the README gives to an exercise, from its heading to the next; other <details> are none."""
    section = re.search(
        rf"^(#+) [^\n]*\b{exercise}\b[^\n]*\n(.*?)(?=^#{{1,3}} |\Z)", readme, re.MULTILINE | re.DOTALL
    )
    if not section:
        return []
    bodies = re.findall(r"<details>\s*<summary>(?:Hint|提示)\b.*?</summary>(.*?)</details>", section.group(2), re.DOTALL)
    bodies = [without_comments(body) for body in bodies]
    return [body for body in bodies if len(WORDS.findall(body)) >= 3]
