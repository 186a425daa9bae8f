"""Runs the compiler on C++: what it says, and which files it has read."""

import subprocess
import sys

from build.compiler import depfile
from build.compiler.messages import in_our_words, unsupported_in
from tools.lib.failed import Failed


def compile_file(command, file):
    """Runs the compiler, with `file` for its depfile; returns the files that it has read."""
    done = subprocess.run([*command, "-MD", "-MQ", "object", "-MF", file], stderr=subprocess.PIPE, text=True, errors="replace")
    said = unsupported_in(done.stderr) or in_our_words(done.stderr)
    if done.returncode != 0:
        raise Failed(said.rstrip("\n"), done.returncode)
    sys.stderr.write(said)
    return depfile.read(file)
