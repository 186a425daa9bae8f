"""Code that turns a pointer into one of another type: an object may then lie at an address that its type does not allow."""

import re
from pathlib import Path

# reinterpret_cast but to an integer, static_cast<T*>, and (T*)x.
CAST = re.compile(
    r"\breinterpret_cast\s*<(?!\s*(?:std\s*::\s*)?(?:u?intptr_t|size_t|uint64_t|unsigned long(?: long)?)\s*>)"
    r"|\bstatic_cast\s*<[^;()]*[*&]\s*(?:const\s*)?>"
    r"|\(\s*(?:(?:const|volatile|struct)\s+)*[A-Za-z_][\w:]*(?:<[^;()]*>)?\s*(?:(?:const|volatile)\s*)?\*+\s*(?:__restrict__\s*)?\)\s*[\w(&*]"
)


def casts_pointers(files, library):
    """True if one of the files does, but for those in the folders `library`."""
    own = (Path(file) for file in files if not any(Path(file).is_relative_to(folder) for folder in library))
    return any(CAST.search(file.read_text(encoding="utf-8", errors="replace")) for file in own)
