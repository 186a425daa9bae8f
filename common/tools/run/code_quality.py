"""Findings as GitLab reads them, its "code quality": https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format."""

import json

from tools.run.fingerprints import fingerprints_of


def description(finding):
    """What GitLab shows on one line: what was found, and who did what where."""
    head, *lines = finding.text.split("\n")
    return f"{head}: " + "; ".join(" ".join(line.split()) for line in lines[: max(len(finding.accesses), 1)]) if lines else head


def report(outcomes, sources):
    """The text of the file, with the findings that count. GitLab knows nothing but findings at lines: what else there is to say is in the log."""
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    issues = [
        {
            "description": description(finding), "check_name": finding.kind, "fingerprint": fingerprint, "severity": "critical",
            "location": {"path": sources.path(finding.file), "lines": {"begin": max(finding.line, 1)}},
        }
        for finding, fingerprint in zip(findings, fingerprints_of(findings, sources))
        if finding.counts()
    ]  # fmt: skip
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"
