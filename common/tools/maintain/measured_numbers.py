"""Times, rates and ratios in sentences that no marker writes: a new run changes what is true, and the sentence stays as it is.

Reads the pages of the chapters, the front page and common/docs, without their code and what tools write into them. A number
with a unit of time or rate, or one that compares two times or says how much of a peak or of the copy bandwidth is reached, has to be in
a marker of tools/measure/prose_numbers.py. EXCEPTIONS are numbers that look measured and are not, each with why.
"""

import re

from tools.measure import lesson, prose_numbers
from tools.verdicts import messages

PAGES = ("README*.md", "chapters/*/README*.md", "common/docs/*.md")
MARKED = "§"  # stands for a number in a marker
NUMBER = rf"(?:(?<![\w.,/^§-])\d[\d,]*(?:\.\d+)?|{MARKED})"
BETWEEN = r"(?:\s?[,、–和到至对]\s*|,?\s+(?:and|to|or|against|instead\s+of)\s+)"
# "25.6 and 27.7 µs", "1.31 to 1.83 times": the last one has the unit of all.
NUMBERS = rf"{NUMBER}(?:{BETWEEN}{NUMBER})*"
UNIT = r"[\s*]*(?:µs|us|μs|ms|ns|[kMGT]B/s|(?:\w+\s+)?per\s+(?:ns|nanosecond))(?![\w/])"
COMPARED = r"\s+(?:as\s+(?:fast|long|quick|slow)|(?:faster|slower|longer|shorter|quicker|better)\b|the\s+(?:time|speed|rate|bandwidth)\b)"
IN_WORDS = r"\b(?:three|four|five|six|seven|eight|nine|ten|twelve|twenty|a\s+(?:hundred|thousand))"
LIMIT = r"\s+of\s+(?:its|the|their|DRAM's|the\s+L2\s+cache's)\s+(?:peak|copy\s+bandwidth|limit|speed)\b"
COSTS = r"\b(?:by|costs?|differ\s+by(?:\s+at\s+most|\s+up\s+to)?|within|DRAM(?:\s+is|\s+runs)?\s+at|DRAM\s+reaches)"
PATTERNS = [re.compile(pattern) for pattern in (
    rf"{NUMBERS}{UNIT}",
    rf"{NUMBER}\s*(?:\s(?:and|to|or|against|instead\s+of)|[–和到至对])\s*{MARKED}",  # a marker has its unit with it
    rf"{NUMBERS}\s+(?:times|x){COMPARED}",
    r"(?<![\w.,/^§-])\d+\.\d+\s+times\b",
    rf"{IN_WORDS}\s+times{COMPARED}",
    rf"{NUMBERS}\s+%(?:{LIMIT}|{COMPARED})",
    rf"{COSTS}\s+{NUMBERS}\s+%(?!\s+kept)",
    rf"\({NUMBERS}\s+%\)",
    rf"\befficiency\s+(?:of|is)\s+{NUMBERS}",
    rf"{NUMBERS}\s?(?:微秒|毫秒|纳秒)",
    rf"每纳秒[^，。；\n]{{0,6}}?{NUMBERS}",
    rf"{NUMBERS}\s?倍",
    rf"(?:峰值|带宽|用时|速度)[^，。；\n]{{0,6}}?{NUMBERS}\s?%",
)]  # fmt: skip
EXCEPTIONS = [  # (end of a path, a text of the line, why the number is no measured one)
    ("00-start-here/README.md", "256 times as fast", "is denied: as many times as there are threads"),
    ("00-start-here/README.zh-CN.md", "快到 256 倍", "the same"),
    ("README.md", "34.7 times", "a quotient of two sums, which follows from rounding and which selfcheck demands"),
    ("06-half2-dot/README.md", "off by 1 or 2 %", "an error of a wrong sum, which claims.cu computes"),
]
WHAT_TO_DO = "is in no marker: <!-- µs NAME -->, as common/tools/measure/prose_numbers.py describes; what no rung has, in <!-- measured WHEN: HOW -->"


def blank(match):
    """As many lines without a text."""
    return "\n" * match[0].count("\n")


def sentences(text):
    """A page's text without code, parts that tools write, and links' targets; a number in a marker is a MARKED. Lines stay where they are."""
    text = re.sub(r"^ *```.*?^ *```$", blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!-- (?!answers)([\w -]+):begin -->.*?<!-- \1:end -->", blank, text, flags=re.DOTALL)
    for generated in (lesson.COST, lesson.COUNTERS, lesson.DRAWING, messages.SAMPLE):
        text = generated.sub(blank, text)
    text = prose_numbers.BY_HAND.sub(MARKED, prose_numbers.NUMBER.sub(MARKED, text))
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`|\]\([^)\n]*\)", "`", text)


def places(file):
    """(number of the line, the words) of each number that has to be in a marker."""
    text = sentences(file.read_text(encoding="utf-8"))
    found = {}  # where a number begins: the longest match
    for match in (match for pattern in PATTERNS for match in pattern.finditer(text)):
        line = text[text.rfind("\n", 0, match.start()) + 1 : text.find("\n", match.end()) % (len(text) + 1)]
        is_allowed = any(file.as_posix().endswith(end) and words in line for end, words, _ in EXCEPTIONS)
        if re.search(rf"\d|{IN_WORDS}", match[0]) and not is_allowed:
            found[match.start()] = max(found.get(match.start(), ""), " ".join(match[0].split()), key=len)
    return [(text.count("\n", 0, start) + 1, words) for start, words in sorted(found.items())]


def problems_of(top):
    """A line for each number of a course's pages that has to be in a marker."""
    files = sorted(file for pattern in PAGES for file in top.glob(pattern))
    return [f"{file.relative_to(top)}:{number}: '{words}' {WHAT_TO_DO}" for file in files for number, words in places(file)]
