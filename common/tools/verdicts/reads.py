"""What a test in Python reads of the checkout: as its module says in READS, and as it is when the test runs.

    READS = ("course", "chapters/*/chapter.toml", "common/simt/tests/programs")  # files, and folders with all that is in them

READS names what the test reads beside the modules that it imports and what all verdicts depend on. A test that opens another file
fails; so does one that lists a folder which is not in READS, but for the pattern of what it looks for there. Files that are
opened by a program that is not written in Python are not seen.
"""

import ast
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path

from tools.lib.checkout import TOP

HOOK = TOP / "common" / "tools" / "verdicts" / "opened"
NOT_READ = re.compile(r"\.git(/|$)|build[^/]*/|common/tools/verdicts/opened/$")  # the repository, build folders, and what PYTHONPATH has


def reads(source):
    """The names in READS of a test in Python; None if it has none."""
    for statement in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "READS":
            return ast.literal_eval(statement.value)
    return None


def looked_for(pattern):
    """The folders' patterns in which a pattern of READS looks for names: chapters of chapters/*/chapter.toml."""
    parts = pattern.split("/")
    return ["/".join(parts[:index]) for index, part in enumerate(parts) if "*" in part]


def unnamed(top, opened, names, files):
    """What was opened that is neither one of the files, nor in the names of READS, which may be patterns, or in a folder of them."""
    found = {file.resolve() for name in names for file in top.glob(name)}
    known = {*found, *(file.resolve() for file in files)}
    listed = {file.resolve() for name in names for pattern in looked_for(name) for file in (top.glob(pattern) if pattern else [top])}
    from tools.verdicts import due  # now that the log is read: the test imports less

    wrong = []
    for name in opened:
        if name.endswith("/") and name.startswith(tuple(f"{folder}/" for folder in due.SHARED)) and not due.TEXTS.search(name):
            continue  # all files in it are covered
        path = top / name
        inside = {path, *path.parents} & found
        if not inside and (path not in listed if name.endswith("/") else path not in known):
            wrong.append(name)
    return wrong


def run_test(module, run):
    """Runs a test; where its module has READS, exits with 1 if it opens more than what it depends on."""
    source = TOP / "common" / f"{module.replace('.', '/')}.py"
    names = reads(source)
    if names is None:
        return run()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "opened")
        log.touch()
        os.environ["COURSE_OPENED"] = str(log)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HOOK), os.environ.get("PYTHONPATH"))))
        runpy.run_path(str(HOOK / "sitecustomize.py"))
        try:
            run()
        finally:
            opened = [name for name in sorted({*log.read_text(encoding="utf-8").splitlines()}) if not NOT_READ.match(name)]
            from tools.verdicts import passed  # now that the log is read: the test imports less

            if wrong := unnamed(TOP, opened, names, passed.covered(TOP, source)):
                print(f"{source.relative_to(TOP)}: READS names neither these nor their folders:", *wrong, sep="\n  ", file=sys.stderr)
                sys.exit(1)
