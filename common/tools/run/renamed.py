"""A program that is read from standard input: the file that it is put into, and its name in all that is said."""

import contextlib
import os
import shutil
import tempfile
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

SHOWN = "stdin.cu"


@contextlib.contextmanager
def source_file(text, folder):
    """A file with this text in a new folder in `folder`, which is gone at the end: two commands at a time are two programs."""
    folder.mkdir(parents=True, exist_ok=True)
    own = Path(tempfile.mkdtemp(prefix="stdin-", dir=folder))
    try:
        (own / SHOWN).write_bytes(text)
        yield own / SHOWN
    finally:
        shutil.rmtree(own, ignore_errors=True)


def renamed(value, file):
    """A text, or a dataclass with all texts in it, with the name that is shown in place of the file's."""
    if isinstance(value, str):
        for name in sorted((str(file), os.path.relpath(file)), key=len, reverse=True):  # one may be a part of the other
            value = value.replace(name, SHOWN)
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(renamed(one, file) for one in value)
    if is_dataclass(value):
        return replace(value, **{field.name: renamed(getattr(value, field.name), file) for field in fields(value)})
    return value
