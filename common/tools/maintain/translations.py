"""Where a page in Chinese is out of date, and the version of the English page that it follows.

A page README.zh-CN.md follows the README.md beside it: the same headings in the same order, and the same blocks of code and
markers of generated lines; comments in commands may be translated. Its last lines have the version, as a hash of each of
README.md's sections without what tools write into it (tools/measure and tools/verdicts write that in both languages) and what leads to answers,
and of each exercise's task and hints.
"""

import hashlib
import re

from tools.lib import markers
from tools.lib.failed import Failed
from tools.lib.pages import CARD
from tools.measure import lesson, prose_numbers
from tools.verdicts import messages

COMMAND = "common/dev translate record"
RECORD = re.compile(r"\n<!-- sections of README\.md that this page follows\n(?P<sections>(?:[0-9a-f]{8} .*\n)*)-->\n\Z")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pages(top):
    """The pages in Chinese."""
    return [file for pattern in ("README.zh-CN.md", "chapters/*/README.zh-CN.md") for file in sorted(top.glob(pattern))]


def written_by_hand(text):
    """A page's text without what tools write into it; the markers stay."""
    text, _ = markers.without_answers(RECORD.sub("\n", text))
    text = re.sub(r"(<!-- ([\w-]+):begin -->).*?(<!-- \2:end -->)", "", text, flags=re.DOTALL)
    for name, generated in (("kernel", lesson.KERNEL), ("cost", lesson.COST), ("counters", lesson.COUNTERS), ("drawing", lesson.DRAWING)):
        text = generated.sub(lambda match, name=name: f"<!-- {name} {match[1]} -->\n", text)
    text = prose_numbers.NUMBER.sub(lambda match: f"<!-- {match['kind']} {match['what']} -->", text)
    text = CARD.sub(lambda match: f"<!-- exercise {match['marker']} -->\n", text)
    return messages.SAMPLE.sub(lambda match: f"<!-- message {match['test']} -->\n", text)


def sections(text):
    """[(heading, text)] of a page, as it is written by hand; a heading has its #."""
    found, in_code = [("", [])], False
    for line in written_by_hand(text).splitlines():
        in_code ^= line.startswith("```")
        if not in_code and re.match(r"#{1,6} ", line):
            found.append((line, []))
        found[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in found if heading or any(line.strip() for line in lines)]


def version(text):
    """Of a section: how lines are broken does not matter."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8]


def versions(text):
    """[(heading, version)] of a page's sections."""
    return [(heading, version(body)) for heading, body in sections(text)]


def versions_beside(page):
    """[(name, version)] of what a translation of README.md follows: its sections, and the tasks and hints of its exercises."""
    files = sorted(file for file in (page.parent / "hints").glob("*.md") if file.with_suffix("").suffix == "")
    return versions(page.read_text(encoding="utf-8")) + [(f"hints/{file.name}", version(file.read_text(encoding="utf-8"))) for file in files]


def recorded(text):
    """The same as a translation says it; None if it says nothing."""
    match = RECORD.search(text)
    return [tuple(reversed(line.split(" ", 1))) for line in match["sections"].splitlines()] if match else None


def without_comments(language, code):
    """A block of code as both languages have it."""
    return re.sub(r" *#.*", "", code) if language == "sh" else code


def code_of(section):
    """What has to be the same in both languages: blocks of code, and markers of generated lines."""
    blocks = [(match[1], without_comments(match[1], match[2])) for match in FENCE.finditer(section)]
    numbers = [f"<!-- {match['kind']} {match['what']} -->" for match in prose_numbers.NUMBER_BEGINS.finditer(section)]
    lines = re.findall(r"^<!-- (?:kernel|cost|counters|drawing|exercise|message|command) .*-->$", FENCE.sub("", section), re.MULTILINE)
    return blocks + lines + sorted(numbers)  # a sentence may name them in another order


def differences(english, chinese):
    """Where a translation is built otherwise than its original, in words."""
    ours, theirs = sections(chinese), sections(english)
    for (heading, body), (original, original_body) in zip(ours, theirs):
        if heading.partition(" ")[0] != original.partition(" ")[0]:
            return [f"'{heading}' is where README.md has '{original}'"]
        if code_of(body) != code_of(original_body):
            return [f"under '{heading}' the code or the markers are not those of README.md's '{original}'"]
    if len(ours) != len(theirs):
        return [f"has {len(ours)} sections, and README.md {len(theirs)}"]
    return []


def changes(now, known):
    """The headings of README.md and the files whose texts are new or changed, and those that are gone."""
    changed = [heading for heading, number in now if (heading, number) not in known]
    gone = [heading for heading, _ in known if heading not in dict(now)]
    return changed + [f"{heading} (gone)" for heading in gone]


def problems_of_page(top, page):
    """What is wrong with a translation."""
    name, text = page.relative_to(top), page.read_text(encoding="utf-8")
    original = page.with_name("README.md")
    if not original.exists():
        return [f"{name}: there is no README.md beside it"]
    english = original.read_text(encoding="utf-8")
    known = recorded(text)
    if known is None:
        return [f"{name} does not say which version of README.md it follows; run: {COMMAND} {name}"]
    found = [f"{name}: {difference}" for difference in differences(english, text)]
    if changed := changes(versions_beside(original), known):
        listed = "\n".join(f"    {heading}" for heading in changed)
        found.append(f"{name} is out of date: of README.md these sections changed:\n{listed}\n  translate them, then run: {COMMAND} {name}")
    return found


def record(top, page, today):
    """Writes into a translation which version of README.md it follows; Failed if it is built otherwise."""
    english = page.with_name("README.md").read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    if found := differences(english, text):
        raise Failed(f"{page.relative_to(top)}: {found[0]}")
    now = versions_beside(page.with_name("README.md"))
    if recorded(text) == now:
        return
    whole = version(" ".join(number for _, number in now))
    said = f"> 本页译自[英文版](README.md)，与其 {today} 的版本（`{whole}`）一致。"
    text = markers.replaced(page, RECORD.sub("", text).rstrip("\n"), "follows", said)
    lines = "".join(f"{number} {heading}\n" for heading, number in now)
    page.write_text(f"{text}\n\n<!-- sections of README.md that this page follows\n{lines}-->\n", encoding="utf-8")


def problems_of(top):
    """What is wrong with all translations of a course."""
    return [problem for page in pages(top) for problem in problems_of_page(top, page)]
