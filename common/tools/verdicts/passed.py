"""Of which C++ tests the gate has to prove that they pass again: those of the CPU device, and of the headers that chapters share.

Whether one passes follows from the content of some files, its source and what all verdicts depend on, and from the compilers.
RECORD keeps a digest of them beside its name, as it was when it passed. Where the digest is another one, the test is due. So are
a part of the others, which one by the number of commits, and always the tests in Python, which read files of the whole repository.
"""

import json
import subprocess
import tomllib
from functools import cache
from pathlib import Path

from tools.lib import includes, testlog
from tools.lib.failed import Failed
from tools.verdicts import due

RECORD = Path("common/tests/results/passed.toml")
FOLDERS = {"course": "common/tests", "simt": "common/simt/tests"}  # what a test's name begins with: where its source is
SUITES = ("tools", "simt")


def sources(top):
    """{test: its source}, as the folders' meson.build name the tests."""
    return {
        f"{prefix}-{file.stem.removesuffix('_test').replace('_', '-')}": file
        for prefix, folder in FOLDERS.items()
        for file in sorted((top / folder).glob("*_test.c*"))
    }


@cache
def version_of_cpp():
    """The version of the compiler of plain C++."""
    return subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout


def content(top, source):
    """The digest of what a test depends on."""
    headers = includes.reached(source, (source.parent,))
    build = [folder / "meson.build" for folder in (top, top / "common", source.parent)]
    return due.digest(top, [source, *build, *headers], due.of_everything(top), version_of_cpp())


def recorded(top):
    """{test: the digest with which it passed}"""
    file = top / RECORD
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def in_build(build):
    """The names of the build's tests in these suites, in its order."""
    file = build / "meson-info" / "intro-tests.json"
    if not file.exists():
        raise Failed(f"{build}: is no build folder: meson setup {build} -Dself_tests=true")
    tests = json.loads(file.read_text(encoding="utf-8"))
    return [test["name"] for test in tests if any(suite.rpartition(":")[2] in SUITES for suite in test["suite"])]


def names(top, build, wants_all):
    """(those that are due, the others) of the build's tests in these suites."""
    source_of, known = sources(top), recorded(top)
    every = in_build(build)
    kept = [name for name in every if name in source_of and known.get(name) == content(top, source_of[name])]
    left_out = set() if wants_all else {*kept} - {*due.in_turn(top, [name for name in every if name in source_of])}
    return [name for name in every if name not in left_out], [name for name in every if name in left_out]


def record(top, build):
    """Keeps the digests of the tests that have passed in the build's last run, and of those that did not run what was kept."""
    source_of, kept = sources(top), recorded(top)
    log = build / "meson-logs" / "testlog.json"
    if not log.exists():
        raise Failed(f"{log}: is not there; `meson test -C {build}` writes it")
    results = {test.name: test.result for test in testlog.read(log)}
    if failed := [name for name in source_of if results.get(name, "OK") != "OK"]:
        raise Failed(f"only what passes is recorded, and these did not: {' '.join(failed)}")
    found = {name: content(top, source) if name in results else kept.get(name) for name, source in sorted(source_of.items())}
    lines = [f'{name} = "{digest}"' for name, digest in found.items() if digest]
    (top / RECORD).parent.mkdir(parents=True, exist_ok=True)
    (top / RECORD).write_text("\n".join([
        "# The C++ tests that have passed, each with the digest of what it depends on: `common/dev passed record` writes it.",
        *lines, "",
    ]), encoding="utf-8")
