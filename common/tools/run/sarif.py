"""Outcomes as SARIF 2.1.0, which code scanning on GitHub and editors read."""

import itertools
import json
import re
from urllib.parse import quote

from tools.lib import repository
from tools.lib.checkout import TOP
from tools.run.fingerprints import fingerprints_of
from tools.run.kinds import NOTE, kinds
from tools.run.outcome import CRASHED, ENDED, FAILED, NOT_COMPILED, OUT_OF_MEMORY, OUT_OF_TIME, REFUSED, exit_text

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"  # which code scanning takes for the top of the repository
# What keeps the checker from a verdict, or is no finding: notifications of the tool.
NOTIFICATIONS = {
    REFUSED: ("refused", "The program uses what the CPU device does not have: it was not checked."),
    NOT_COMPILED: ("does-not-compile", "The program does not compile, or cannot be linked: it was not checked."),
    OUT_OF_TIME: ("out-of-time", "The program was stopped because its time was over: it was checked up to there."),
    OUT_OF_MEMORY: ("out-of-memory", "The program was stopped because it held too much memory: it was checked up to there."),
    CRASHED: ("crashed", "A signal ended the program: it was checked up to there."),
    FAILED: ("failed", "The program was checked, and ended with an exit code that is not 0."),
}
NARROWEST = 80  # columns that a message's lines have at least, where they are wrapped
OUTPUT_DEPENDS = ("output-depends-on-schedule", "What the program writes depends on the schedule.")


# ---- the tool ---------------------------------------------------------------------------------------


def rule(kind, about):
    """The rule of a kind."""
    markdown = about["help"].strip()
    text = markdown.replace("`", "")
    links = [(title, f"{repository.address(TOP)}/blob/main/{page}") for title, page in about["pages"]]
    markdown += "\n\nRead more:\n\n" + "\n".join(f"- [{title}]({link})" for title, link in links)
    level = "note" if kind == NOTE else "error"
    return {
        "id": kind, "name": about["name"], "shortDescription": {"text": about["short"]}, "fullDescription": {"text": text},
        "help": {"text": text + "".join(f"\n{title}: {link}" for title, link in links), "markdown": markdown},
        "helpUri": links[0][1], "defaultConfiguration": {"level": level},
        "properties": {"tags": ["cuda", "correctness"], "problem.severity": "recommendation" if kind == NOTE else "error"},
    }  # fmt: skip


def driver(about_kinds):
    """The tool, and all that it can say."""
    return {
        "name": "course run", "fullName": "./course run, the checker of the CPU device", "version": repository.version(TOP),
        "informationUri": f"{repository.address(TOP)}/blob/main/common/docs/any-cuda-file.md",
        "rules": [rule(kind, about) for kind, about in about_kinds.items()],
        "notifications": [{"id": name, "shortDescription": {"text": text}} for name, text in (*NOTIFICATIONS.values(), OUTPUT_DEPENDS)],
    }  # fmt: skip


# ---- places -------------------------------------------------------------------------------------------


def location(sources, file, line, **more):
    """A line of a file; line 0 is none."""
    path = sources.path(file)
    artifact = {"uri": "file://" + quote(path)} if path.startswith("/") else {"uri": quote(path), "uriBaseId": ROOT}
    region = {"region": {"startLine": line}} if line else {}
    return {"physicalLocation": {"artifactLocation": artifact, **region}, **more}


# ---- what is said ---------------------------------------------------------------------------------------


def who(access):
    """read by block 1 thread 0"""
    by = [f"{name} {rank}" for name, rank in (("block", access.block), ("thread", access.thread)) if rank]
    return " by ".join([access.kind, *([" ".join(by)] if by else [])])


class Message:
    """A finding's text for a page: sentences in place of a terminal's lines. The places of two accesses are links, whose numbers are
    the ids of related locations; lines of the finding's own file are "line 7"."""

    def __init__(self, finding, sources):
        self.finding, self.sources = finding, sources
        self.whos = [who(access) for access in finding.accesses]
        head, *lines = finding.text.split("\n")
        linked = list(itertools.takewhile(bool, (self.linked(*one) for one in enumerate(zip(lines, finding.accesses)))))
        said = "; ".join(linked)
        separator = "" if not said else ", " if said.startswith("at ") else ": "
        self.text = f"{self.short(head)}{separator}{said}.\n\n{self.short(unwrapped(lines[len(linked):]))}".strip()

    def linked(self, number, line_and_access):
        """The line of an access with a link; "" if the line is not that of this access."""
        line, access = line_and_access
        place = re.search(rf" ?\bat {re.escape(f'{access.file}:{access.line}')}\b", line)
        if not place:
            return ""
        before, after = (" ".join(part.split()) for part in (line[: place.start()], line[place.end() :]))
        self.whos[number] = self.short(f"{before or access.kind} {after}".strip())
        shown = self.short(f"{access.file}:{access.line}")
        link = f"at [{shown}]({number + 1})" if len(self.finding.accesses) > 1 else f"at {shown}"
        return re.sub(r" (?=[:,;])", "", " ".join(part for part in (self.short(before), link, self.short(after)) if part))

    def short(self, text):
        """The text with places as the page needs them."""
        for file in {self.finding.file, *(access.file for access in self.finding.accesses)} - {""}:
            path = "line " if file == self.finding.file else f"{self.sources.path(file)}:"
            text = re.sub(rf"(?<![\w./-]){re.escape(file)}:(?=\d)", lambda _, path=path: path, text)
        return text


def unwrapped(lines):
    """A terminal's lines as one paragraph. A line that has room for the next word, and no sign at its end, ends a sentence."""
    text = ""
    for line, following in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        word = following.split()[:1]
        is_end = bool(word) and line[-1:].isalnum() and word[0][0].isupper() and len(f"{line} {word[0]}") < NARROWEST
        text += line + (". " if is_end else " ")
    return " ".join(text.split())


def result(finding, number, fingerprint, sources):
    """A finding. `number`: of its rule."""
    accesses, message = finding.accesses, Message(finding, sources)
    primary = (accesses[0].file, accesses[0].line) if accesses else (finding.file, finding.line)
    kernel = {"logicalLocations": [{"name": finding.kernel, "kind": "function"}]} if finding.kernel else {}
    related = [location(sources, access.file, access.line, id=i, message={"text": message.whos[i - 1]})
               for i, access in enumerate(accesses, 1)] if len(accesses) > 1 else []
    return {
        "ruleId": finding.kind, "ruleIndex": number, "level": "error", "message": {"text": message.text},
        "locations": [location(sources, *primary, **kernel)], **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"courseRun/v1": fingerprint}, **({} if finding.counts() else {"suppressions": [suppression(finding)]}),
        "properties": {"schedule": finding.seed, "object": finding.object, "times": finding.times},
    }  # fmt: skip


def suppression(finding):
    """Why a finding does not count: a comment in the source, or the baseline."""
    if finding.suppressed is None:
        return {"kind": "external", "justification": "It is in the baseline."}
    return {"kind": "inSource", "justification": finding.suppressed}


def remark(note, number, sources):
    """A note."""
    return {"ruleId": NOTE, "ruleIndex": number, "level": "note", "message": {"text": unwrapped(note.remark().split("\n"))},
            "locations": [location(sources, note.file, note.line)]}  # fmt: skip


def notifications(outcome, sources):
    """What the tool says of the run, and of no line of code."""

    def notification(kind, level, text, places):
        return {"descriptor": {"id": kind[0]}, "level": level, "message": {"text": text}, "locations": places}

    whole = [location(sources, outcome.sources[0], 0)]
    if outcome.verdict == FAILED:
        yield notification(NOTIFICATIONS[FAILED], "warning", exit_text(outcome), whole)
    elif outcome.verdict in (REFUSED, NOT_COMPILED):
        for place in outcome.places:
            yield notification(NOTIFICATIONS[outcome.verdict], "error", place.text, [location(sources, place.file, place.line)])
    if outcome.message and not (outcome.places and outcome.verdict in (REFUSED, NOT_COMPILED)):
        kind = NOTIFICATIONS.get(outcome.verdict, NOTIFICATIONS[CRASHED])
        places = [location(sources, place.file, place.line) for place in outcome.places] or whole
        yield notification(kind, "error", outcome.message, places)
    if outcome.difference:
        yield notification(OUTPUT_DEPENDS, "note", outcome.difference, whole)


def report(outcomes, sources, exit_code):
    """The text of the file."""
    about = kinds()
    numbers = {kind: number for number, kind in enumerate(about)}
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    results = [result(finding, numbers[finding.kind], fingerprint, sources)
               for finding, fingerprint in zip(findings, fingerprints_of(findings, sources))]
    results += [remark(note, numbers[NOTE], sources) for outcome in outcomes for note in outcome.notes]
    said = [one for outcome in outcomes for one in notifications(outcome, sources)]
    is_checked = not any(outcome.verdict in (REFUSED, NOT_COMPILED, *ENDED) for outcome in outcomes)
    run = {
        "tool": {"driver": driver(about)},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The top of the repository that the sources are in."}}},
        "invocations": [{"executionSuccessful": is_checked, "exitCode": exit_code, "toolExecutionNotifications": said}],
        "results": results,
    }  # fmt: skip
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"
