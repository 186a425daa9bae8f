"""Notes what a process of Python opens of the checkout: files, the folders that it lists, and the files that are words of the commands
that it starts. It is for a test and for each Python that the test starts, which imports a module of this name where PYTHONPATH has it.

$COURSE_OPENED is the file that names them, a line each; a folder ends with a slash.
"""

import os
import sys

TOP = os.path.realpath(f"{__file__}/../../../../..")
NOT_READ = ("_fill_cache", "_rmtree_safe_fd")  # an import looks for its module; a folder is removed, whose names are not those of $PWD


def named(event, arguments):
    """What an event reads; a folder ends with a slash."""
    if event == "open" and not (arguments[2] or 0) & os.O_WRONLY:
        return [arguments[0]]
    if event in ("os.listdir", "os.scandir"):
        return [] if isinstance(arguments[0], int) else [f"{os.fsdecode(arguments[0] or '.')}/"]
    if event == "subprocess.Popen":
        program, words, folder = arguments[:3]
        return [os.path.join(os.fsdecode(folder or ""), os.fsdecode(word)) for word in (program, *words)]
    return []


def source_of(path):
    """The module that a file in __pycache__ is made from; another path as it is."""
    folder, name = os.path.split(path)
    return f"{os.path.dirname(folder)}/{name.split('.')[0]}.py" if os.path.basename(folder) == "__pycache__" else path


def noting(log):
    """The hook that writes to this file."""
    seen = set()

    def note(event, arguments):
        names = named(event, arguments)
        caller = names and sys._getframe().f_back  # None: Python itself, which opens its program
        if not names or (caller and caller.f_code.co_name in NOT_READ):
            return
        for name in (os.fsdecode(name) for name in names if not isinstance(name, int)):
            path, slash = os.path.abspath(name), name[-1:] == "/" and "/"
            if (path, slash) in seen:
                continue
            seen.add((path, slash))
            real = source_of(os.path.realpath(path))
            if f"{real}/".startswith(f"{TOP}/") and (slash or os.path.isfile(real)):
                with open(log, "a", encoding="utf-8") as file:
                    file.write(f"{os.path.relpath(real, TOP)}{slash or ''}\n")

    return note


if "COURSE_OPENED" in os.environ:
    sys.addaudithook(noting(os.environ["COURSE_OPENED"]))
