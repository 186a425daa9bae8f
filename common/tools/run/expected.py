"""Which findings of a program do not count: those that a comment allows, and those of a baseline."""

from dataclasses import replace

from tools.run.fingerprints import fingerprints_of
from tools.run.suppressions import that_allows


class Expected:
    """What is known before a run. `known`: fingerprints; `takes_all`: each finding is, as for a baseline that is being written."""

    def __init__(self, sources=None, known=(), takes_all=False):
        self.sources = sources
        self.known = frozenset(known)
        self.takes_all = takes_all

    def judged(self, findings, suppressions):
        """The findings, with what says that they do not count."""
        prints = fingerprints_of(findings, self.sources) if self.known else [None] * len(findings)
        result = []
        for finding, fingerprint in zip(findings, prints):
            allowed = that_allows(suppressions, finding)
            is_known = allowed is None and (self.takes_all or fingerprint in self.known)
            result.append(replace(finding, suppressed=allowed.reason if allowed else None, is_known=is_known))
        return tuple(result)
