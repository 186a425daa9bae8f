"""Which files an output is made of, as make and Ninja read it."""

import os
import re
import sys
from pathlib import Path


def escape(path):
    return path.replace("$", "$$").replace("#", r"\#").replace(" ", r"\ ")


def read(depfile):
    """The files that the compiler's depfile names."""
    text = Path(depfile).read_text(encoding="utf-8", errors="surrogateescape").partition(":")[2]
    words = re.findall(r"(?:\\[^\n]|[^\s\\])+", text)
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


def write(depfile, output, files):
    names = dict.fromkeys(os.path.normpath(file) for file in files)
    text = f"{escape(output)}: {' '.join(map(escape, names))}\n"
    Path(depfile).write_text(text, encoding="utf-8", errors="surrogateescape")


def own_files():
    """What the running program consists of: a change of it changes what it makes."""
    return sorted(os.path.abspath(module.__file__) for name, module in sys.modules.items()
                  if name.partition(".")[0] in ("__main__", "build", "tools") and module.__file__)
