"""Reads an exercise file before it is compiled: what could decide the verdict in another way than by a right answer.

    python3 common tools.teach.reading --with FOLDER CHAPTER NAME FILE     prints {"refused": [...], "for_a_person": [...]}

clang reads the file, as CUDA, after all headers that an answer may include. Each name that the file's own lines use is one that
clang has resolved, macros expanded: to the file itself, to the course, to CUDA's functions, or to what vocabulary.py lists of
the C++ library. What clang's library does not show (names that depend on a template's parameter, some places in a declaration)
has to be a name of these lists, or the file's own.

What is compiled afterwards is as_compiled(): the text that was read, with its comments blank and its macros undefined at its end.
The second reader is objects.py: it sees what the compiler made of it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
from functools import lru_cache
from pathlib import Path

from tools.lib.checkout import TOP
from tools.lib.cpp_text import blank_comments
from tools.lib.failed import Failed
from tools.teach import libclang, text_rules
from tools.teach.reader import Reader

SECONDS = 10  # of processor time
PATIENCE = 6  # elapsed seconds for each: others use the machine, too
MEMORY = 1 << 30
MOST = 8  # sentences that are kept of each kind
LOCK = threading.Lock()
UNREADABLE = f"line 1: the file: clang could not read it within {SECONDS} s"


def as_compiled(text):
    """The text that is read and compiled: no comments, and at its end none of its macros is defined for the check."""
    blank = blank_comments(text)
    macros = [macro for macro in text_rules.macros_of(blank) if macro not in text_rules.KEYWORDS]
    if not macros:
        return blank
    return blank.rstrip("\n") + "\n" * (blank.count("\n") - blank.rstrip("\n").count("\n") or 1) + "#pragma once\n" + "".join(f"#undef {macro}\n" for macro in macros)


# ---- the process -------------------------------------------------------------------------------------


def prepare(folder):
    """Makes what `command` needs, once for a grading, in a folder that no answer can write."""
    libclang.Precompiled(folder).make()


def command(folder, chapter, name, file, top=TOP):
    """What reads an answer, in a process of its own: it needs SECONDS and MEMORY, the checkout `top`, `folder`, which
    prepare() has filled, and the file. It prints one line of JSON."""
    return [sys.executable, str(Path(top) / "common"), "tools.teach.reading", "--with", str(folder), chapter, name, str(file)]


def result_of(code, output):
    """(refused, for_a_person) of a process that has ended with this code, None for one that was ended, and has printed this."""
    try:
        found = json.loads(output) if code == 0 else None
        lists = found["refused"], found["for_a_person"]
        if all(isinstance(words, list) and all(isinstance(word, str) for word in words) for words in lists):
            return lists
    except (ValueError, KeyError, TypeError):
        pass
    return [UNREADABLE], []


@lru_cache(maxsize=None)
def prepared_folder():
    folder = tempfile.TemporaryDirectory(prefix="course-reading-")
    prepare(folder.name)
    return folder


def own_folder():
    """A folder with what is needed, for a program that has none of its own; several threads may ask for it."""
    with LOCK:
        return prepared_folder()


def read_answer(chapter, name, text, folder=None):
    """(refused, for_a_person) of a text, read in a process of its own with limits: sentences, none for nearly all answers."""
    folder = folder or own_folder().name
    with tempfile.TemporaryDirectory(prefix="answer-") as place:
        file = Path(place) / f"{name}.cuh"
        file.write_text(as_compiled(text), encoding="utf-8", errors="surrogatepass")
        try:
            done = subprocess.run(command(folder, chapter, name, file), capture_output=True, text=True, errors="replace", timeout=PATIENCE * SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return [UNREADABLE], []
        if done.returncode == 2:
            raise Failed(done.stderr.strip())
        return result_of(done.returncode, done.stdout)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Ready:
    """What reading needs, read once: libclang, and what `folder` has of the headers. Raises Failed where this machine lacks it."""

    def __init__(self, folder):
        self.precompiled = libclang.Precompiled(folder)
        self.cindex = libclang.bindings(self.precompiled.facts)
        self.precompiled.read()

    def print(self, chapter, name, data):
        """Reads an answer in this process, within the limits from here on, and prints the line of JSON; returns the exit code."""
        try:
            place = tempfile.TemporaryDirectory(prefix="read-")
            file = Path(place.name) / f"{name}.cuh"
            file.write_bytes(data)
            reader = Reader(chapter, name, file, self.precompiled)
        except (Failed, OSError) as problem:  # the machine's fault
            print(problem, file=sys.stderr)
            return 2
        limit_memory()
        with place:
            try:
                reader.read()
            except self.cindex.TranslationUnitLoadError:
                reader.refused.append(UNREADABLE)
            except Exception as problem:  # pylint: disable=broad-exception-caught  # one answer's outcome, whatever it is
                reader.mark(1, f"the file could not be read to its end ({type(problem).__name__})")
        print(json.dumps({"refused": reader.refused[:MOST], "for_a_person": reader.for_a_person[:MOST]}), flush=True)
        return 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="folder", required=True, metavar="FOLDER", help="what prepare() has made")
    parser.add_argument("chapter")
    parser.add_argument("name")
    parser.add_argument("file")
    options = parser.parse_args(arguments)
    try:
        return Ready(options.folder).print(options.chapter, options.name, Path(options.file).read_bytes())
    except (Failed, OSError) as problem:  # the machine's fault
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
