"""The kinds of findings, as reports describe them."""

import tomllib
from pathlib import Path

KINDS = Path(__file__).parent / "kinds.toml"
NOTE = "note"  # what all notes are


def kinds():
    """{identifier: what kinds.toml says} of all kinds of findings, and of notes."""
    return tomllib.loads(KINDS.read_text(encoding="utf-8"))
