"""The Atom feed of CHANGELOG.md, feed.xml: an extension of Sphinx. Each point of the list of changes is an entry.

The date of an entry is that of its version; of what is not released yet, the day on which its first line was committed.
"""

import datetime
import hashlib
import html
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.lib import repository
from tools.lib.pages import anchor_of
from tools.site import pages

FILE = "feed.xml"
VERSION = re.compile(r"^## (.+?)(?: – (\d{4}-\d\d-\d\d))?$")
MOST_OF_A_TITLE = 110  # characters


@dataclass(frozen=True)
class Entry:
    """A point of the list of changes."""

    text: str
    date: str  # such as 2026-11-22
    anchor: str  # of its version, on the page of changes

    @property
    def title(self):
        """The first sentence, shortened."""
        first = re.split(r"(?<=[.:])\s", self.text, maxsplit=1)[0].rstrip(".:")
        return pages.shortened(first, MOST_OF_A_TITLE)


def committed(file):
    """The days on which the lines of a file were committed, by line; none where git does not know."""
    done = subprocess.run(["git", "-C", str(file.parent), "blame", "--line-porcelain", file.name], capture_output=True, text=True)
    times = re.findall(r"^committer-time (\d+)$", done.stdout, re.MULTILINE) if done.returncode == 0 else []
    return [datetime.datetime.fromtimestamp(int(time), datetime.timezone.utc).strftime("%Y-%m-%d") for time in times]


def entries_of(text, days):
    """The Entries of a list of changes, the newest first; `days` are those of its lines."""
    lines = text.split("\n")
    released = [date for _, date in filter(None, (found and found.groups() for found in map(VERSION.match, lines))) if date]
    entries, version, date, point, begin = [], "", None, [], 0

    def end():
        if point:
            day = date or (days[begin] if begin < len(days) else max(released, default="1970-01-01"))
            entries.append(Entry(pages.plain_text(" ".join(point)), day, anchor_of(version)))
            point.clear()

    for number, line in enumerate(lines):
        if found := VERSION.match(line):
            end()
            version, date = line[3:], found[2]
        elif line.startswith("- ") and version:
            end()
            point, begin = [line[2:]], number
        elif point and line.startswith("  "):
            point.append(line)
        else:
            end()
    end()
    return sorted(entries, key=lambda entry: entry.date, reverse=True)


def feed(title, base, entries):
    """The text of the feed of a site with this address."""
    def escaped(text):
        return html.escape(text, quote=False)

    parts = [
        '<?xml version="1.0" encoding="utf-8"?>', '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{escaped(title)}</title>", f"<id>{escaped(base)}</id>", f"<author><name>{escaped(title)}</name></author>",
        f'<link rel="self" type="application/atom+xml" href="{html.escape(base + FILE)}"/>', f'<link href="{html.escape(base)}CHANGELOG.html"/>',
        f"<updated>{max((entry.date for entry in entries), default='1970-01-01')}T00:00:00Z</updated>",
    ]  # fmt: skip
    for entry in entries:
        digest = hashlib.sha256(entry.text.encode()).hexdigest()[:16]
        parts.append(
            f"<entry><title>{escaped(entry.title)}</title><id>{escaped(base)}CHANGELOG.html#{digest}</id>"
            f"<updated>{entry.date}T00:00:00Z</updated><link href=\"{html.escape(base)}CHANGELOG.html#{html.escape(entry.anchor)}\"/>"
            f'<content type="text">{escaped(entry.text)}</content></entry>'
        )
    return "\n".join([*parts, "</feed>", ""])


def write(app, error):
    if error is None:
        file = Path(app.srcdir, "CHANGELOG.md")
        entries = entries_of(file.read_text(encoding="utf-8"), committed(file))
        text = feed(f"{app.config.project}: changes", app.config.html_baseurl, entries)
        Path(app.outdir, FILE).write_text(text, encoding="utf-8")


def setup(app):
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
