"""What a source of C++ includes: read from its text, without a compiler."""

import re

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([\"<][^\">\n]+[\">])", re.MULTILINE)


def headers_of(text):
    """What a text includes, in order: "name" or <name>, as it is written there."""
    return INCLUDE.findall(text)


def own_headers_of(text):
    """The names that a text includes in quotes."""
    return [header[1:-1] for header in headers_of(text) if header[0] == '"']


def reached(file, folders=(), names=own_headers_of):
    """The files that a file includes, directly or through others. `names` returns the names that a text includes; each is
    looked for beside its reader, then in the folders. A name that is in none of them is left out.
    """
    found, remaining = {file}, [file]
    while remaining:
        reader = remaining.pop()
        for name in names(reader.read_text(encoding="utf-8")):
            header = next((place / name for place in (reader.parent, *folders) if (place / name).is_file()), None)
            if header and header not in found:
                found.add(header)
                remaining.append(header)
    return found - {file}
