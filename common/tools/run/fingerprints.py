"""What makes a finding the same one after lines have moved: the code of its lines, not their numbers."""

import hashlib
import json


def fingerprints_of(findings, sources):
    """A fingerprint for each finding: 32 hexadecimal digits that follow from its kind, kernel and object, its file, and the texts of its
    lines. Of findings that are equal in all that, the first in the file has number 1, the next one 2."""
    keys = [key_of(finding, sources) for finding in findings]
    order = sorted(range(len(findings)), key=lambda i: (keys[i], lines_of(findings[i])))
    numbers, times = {}, {}
    for i in order:
        times[keys[i]] = numbers[i] = times.get(keys[i], 0) + 1
    return [hashlib.sha256(f"{key} {numbers[i]}".encode()).hexdigest()[:32] for i, key in enumerate(keys)]


def lines_of(finding):
    """The different lines of a finding, in the order of the file: which access comes first depends on the schedule."""
    accesses = [(access.file, access.line) for access in finding.accesses]
    return sorted(set(accesses or [(finding.file, finding.line)]))


def key_of(finding, sources):
    """All that a fingerprint is made of, but for the number, as a text."""
    texts = sorted(sources.line(*line) for line in lines_of(finding))
    return json.dumps([finding.kind, finding.kernel, finding.object, sources.path(finding.file), texts])
