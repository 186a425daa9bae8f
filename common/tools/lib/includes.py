"""What a source of C++ includes: read from its text, without a compiler."""

import re

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([\"<][^\">\n]+[\">])", re.MULTILINE)


def headers_of(text):
    """What a text includes, in order: "name" or <name>, as it is written there."""
    return INCLUDE.findall(text)


def own_headers_of(text):
    """The names that a text includes in quotes."""
    return [header[1:-1] for header in headers_of(text) if header[0] == '"']


def find_header(name, folder, folders):
    """The file of this name beside its reader, which is in `folder`, or in the folders; None if it is in none of them."""
    return next((place / name for place in (folder, *folders) if (place / name).is_file()), None)


def reached(file, folders=(), names=own_headers_of, find=find_header):
    """The files that a file includes, directly or through others. `names` returns the names that a text includes; each is
    looked for beside its reader, then in the folders. A name that is in none of them is left out. For many files that include
    the same ones, `find` may remember what it has found.
    """
    found, remaining = {file}, [file]
    while remaining:
        reader = remaining.pop()
        for name in names(reader.read_text(encoding="utf-8")):
            header = find(name, reader.parent, folders)
            if header and header not in found:
                found.add(header)
                remaining.append(header)
    return found - {file}
