"""Words that a learner would stumble over, and what to write: in pages, tasks, messages and comments.

Reads Markdown, and comments and texts of sources. A word
that is right in its place is in ALLOWED: the end of a file's path, and a text that its line has.
"""

import re
import subprocess
from pathlib import Path

from tools.lib.markers import without_comments

THINGS = (
    r"atomics?|atomicAdds?|loads?|stores?|barriers?|additions?|REDs?|bytes?|numbers?|elements?|threads?|sums?|tickets?|shuffles?|"
    r"floats?|bits|packs?|trees?|launch(?:es)?|process(?:es)?|columns?|rows?|requests?|sectors?|instructions?|warps?|copies"
)
UNITS = (
    r"block|thread|warp|element|lane|launch|tile|load|request|row|device|key|half|number|store|line|pair|rank|GPU|bin|"
    r"target|cell|step|level|column|second|nanosecond"
)
# What is found, and what to write.
WORDS = [
    (rf"\b({THINGS}|one|\d+) an? ({UNITS})\b", "'per': one atomic per block"),
    (r"\badd(s|ed|ing)?( \w+){0,2} up\b", "sum, reduce"),
    (r"\b(no|some|every)body\b", "no lane, some thread, all threads"),
    (r"(?<!streaming )\bmultiprocessors?\b", "SM; streaming multiprocessor where it is introduced"),
    (r"\bin the place of\b", "instead of"),
    (r"\b(stands?|standing|stood) still\b", "stagnate"),
    (r"\bby turns\b", "alternately"),
    (r"\bin front of\b", "before"),
    (r"\bbehind\b", "after, past the end"),
    (r"\b(stands?|stood) (in|below|there|above|beside|here|on|at|behind|before|between|outside|under)\b", "is in, is shown below"),
    (r"\brun(s|ning)? at once\b", "are resident"),
    (r"\bcomes? to an end\b", "terminates, times out"),
    (r"\bprogram's CUDA\b", "a sticky error: the context is lost"),
]
HAN = r"\u3400-\u9fff"
# The same in pages in Chinese.
WORDS_OF_CHINESE = [
    (rf"[{HAN}]`*[,:;?!(]|[,;]`*[{HAN}]", "the full-width mark: ，：；？！（）"),
    (rf"^(?:(?!\*\*).|\*\*(?:(?!\*\*).)*\*\*)*?\*\*(?:(?!\*\*).)*[，。：；？！、）]\*\*[{HAN}\w]", "the mark after the asterisks: Markdown sees no bold text otherwise"),
    (rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]", "a space between Chinese and Latin letters or digits"),
]
def compiled(words):
    """The words as patterns, after one that finds where any of them is: most lines have none."""
    return re.compile("|".join(word for word, _ in words), re.IGNORECASE), [(re.compile(word, re.IGNORECASE), better) for word, better in words]


PATTERNS, PATTERNS_OF_CHINESE = compiled(WORDS), compiled(WORDS_OF_CHINESE)
ALLOWED = [  # (end of a path, text of the line)
    ("tests/test_plain_words.py", ""),
    ("CONTRIBUTING.md", 'not "one atomic a block"'),
    ("04-coalesced-access/README.md", "From stride 8 to 16 a request stays"),
]
COMMENTS = {".cu": "//", ".cuh": "//", ".cpp": "//", ".hpp": "//", ".py": "#", ".sh": "#", ".toml": "#", ".build": "#"}
ANCHOR = re.compile(r"(?<=[(\w])#[^()\s]+\)")  # the end of a link's target, which no reader sees
TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')


def words_of(line, suffix):
    """What a reader sees of a line: all of a page's, the comment and the texts of a source's."""
    if suffix in (".md", ".diff"):
        return line if suffix == ".md" or not line.startswith(("+", "-", " ")) else ""
    code, mark, comment = line.partition(COMMENTS[suffix])
    if suffix in (".cu", ".cuh", ".cpp", ".hpp") and code.endswith(":"):  # a web address in a text
        code, comment = line, ""
    return " ".join(TEXTS.findall(code)) + f" {comment}"


def places(file):
    """(number of the line, word, what to write) of each word to replace in a file."""
    found = []
    in_code = in_docstring = False
    in_chinese = file.name.endswith(".zh-CN.md")
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if file.suffix == ".md" and line.startswith("```"):
            in_code = not in_code
        if in_code:
            continue
        quotes = line.count('"""') if file.suffix == ".py" else 0
        said = line if in_docstring or quotes else words_of(line, file.suffix)
        in_docstring ^= quotes % 2 == 1
        if in_chinese:
            said = "" if line.startswith("<!-- ") else re.sub(r"`[^`]*`", "`", without_comments(ANCHOR.sub(")", line)))
        any_word, patterns = PATTERNS_OF_CHINESE if in_chinese else PATTERNS
        if said.isspace() or not any_word.search(said):
            continue
        for pattern, better in patterns:
            for match in pattern.finditer(said):
                if not any(str(file).endswith(end) and text in line for end, text in ALLOWED):
                    found.append((number, match[0], better))
    return found


def all_files(top):
    """The files that Git knows and that a learner or a contributor reads."""
    done = subprocess.run(["git", "-C", str(top), "ls-files"], capture_output=True, text=True, check=True)
    files = [top / name for name in done.stdout.splitlines()]
    return [
        file for file in files
        if file.suffix in (".md", ".diff", *COMMENTS) and file.name != Path(__file__).name and file.is_file() and not file.is_symlink()
    ]  # fmt: skip


def problems_of(top, files):
    """A line for each place in these files."""
    return [
        f"{file.relative_to(top) if file.is_relative_to(top) else file}:{number}: '{word}': write {better}"
        for file in files for number, word, better in places(file)
    ]  # fmt: skip
