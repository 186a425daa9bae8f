"""Headers that nearly every file includes are read once, as a precompiled header, which is made when a file needs it.

Ninja does not make it. Meson has no way to say that every object of every chapter needs it first. And Ninja makes a file
again when one of its headers is newer; clang refuses a precompiled header when the time of one of its headers has changed
in any way, as it does when a package is replaced. So a record beside it holds the time and the size of each.
"""

import fcntl
import json
import os

from build.compiler.compiling import compile_file
from build.rewriter.translation import rewrite


class PrecompiledHeader:
    """What the compiler makes of the headers that nearly every file of one kind includes."""

    def __init__(self, compiler, name):
        self.compiler = compiler
        self.source = compiler.headers[name]
        self.stem = compiler.folder / f"{name}_headers"
        is_clang = compiler.family == "clang"
        self.file = self.stem.with_suffix(".pch" if is_clang else ".hpp.gch")
        if is_clang:
            self.how_to_make = ["-fpch-instantiate-templates"]
            self.how_to_use = ["-include-pch", str(self.file)]
        else:  # g++ looks for the .gch; where it refuses it, it takes the empty file
            self.how_to_make = []
            self.how_to_use = ["-include", str(self.stem.with_suffix(".hpp"))]
        self.record = self.stem.with_suffix(".json")  # what it was made of

    def how(self):
        """What makes it, but for the files: the command, and which compiler that is."""
        return [self.compiler.version, *self.compiler.command(), *self.how_to_make]

    def is_current(self):
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
            return (record["how"] == self.how() and self.file.exists()
                    and all(stamp(file) == then for file, then in record["files"].items()))
        except (OSError, ValueError, KeyError):
            return False

    def make(self):
        """Makes it if it is not there. Programs that are built at the same time wait for the first of them."""
        if self.is_current():
            return
        with open(self.stem.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.is_current():
                return
            self.record.unlink(missing_ok=True)
            files = [*self.compile(), os.path.realpath(self.compiler.program[-1])]
            record = {"how": self.how(), "files": {os.path.abspath(file): stamp(file) for file in files}}
            self.record.write_text(json.dumps(record), encoding="utf-8")

    def compile(self):
        """Writes the file; returns what it was made of."""
        text = str(self.stem.with_suffix(".cu.cpp"))
        files = rewrite(self.source, text, self.compiler.include_folders)
        self.stem.with_suffix(".hpp").touch()
        command = [*self.compiler.command(), *self.how_to_make, "-x", "c++-header", text, "-o", str(self.file)]
        return files + compile_file(command, str(self.stem.with_suffix(".d")))


def stamp(file):
    """What differs when a file has changed."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]
