"""Of which tests of the CPU device, the headers and the tools, and of which trials on a whole build, the gate has to prove that they
pass again.

Whether a test in C++ passes follows from the content of some files, its source and what all verdicts depend on, and from the
compilers. So does one in Python whose module names in READS what it reads, beside these and the modules that it imports
(reads.py proves it).

RECORD keeps a digest of all that beside the test's name, as it was when it passed. Where the digest is another one, the test is due.
So are a part of the others, which one by the number of commits, and always the other tests in Python, which read files of the whole
repository.
"""

import ast
import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

from tools.lib import includes, testlog
from tools.lib.failed import Failed
from tools.verdicts import due
from tools.verdicts.reads import reads

RECORD = Path("common/tests/results/passed.toml")
RECORD_OF_NVCC = "results/nvcc.toml"  # of a folder: maintain/compile_with_nvcc.py writes it, and nothing else depends on it
FOLDERS = {"course": "common/tests", "simt": "common/simt/tests"}  # what a test's name begins with: where its source is
SUITES, TRIALS = ("tools", "simt"), ("trials",)
MODULE = re.compile(r"(?:(?:build|simt|tools)\.)?tests\.test_\w+")


def in_cpp(top):
    """{test: its source}, as the folders' meson.build name the tests."""
    return {
        f"{prefix}-{file.stem.removesuffix('_test').replace('_', '-')}": file
        for prefix, folder in FOLDERS.items()
        for file in sorted((top / folder).glob("*_test.c*"))
    }


def sources(top, build):
    """{test: its source} of all tests that are due only where what they depend on is another one."""
    found = in_cpp(top)
    for test in in_build(build, SUITES + TRIALS):
        for module in filter(MODULE.fullmatch, test["cmd"]):
            source = top / "common" / f"{module.replace('.', '/')}.py"
            if reads(source) is not None:
                found[test["name"]] = source
    return found


@cache
def imported(common, file):
    """The modules and packages of the tools that a file imports, in functions too."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = {tuple(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)}
    places = [place for path in ("/".join(part) for part in parts) for place in (common / f"{path}.py", common / path / "__init__.py")]
    return {file for file in places if file.is_file()}


def modules(common, files):
    """The modules and packages that the files import, directly or through others."""
    found, remaining = set(), [*files]
    while remaining:
        new = imported(common, remaining.pop()) - found
        found |= new
        remaining += new
    return found


def is_python(file):
    """True for a module, and for a program without an ending."""
    if file.is_symlink():
        file = file.resolve()
    return file.suffix == ".py" or (not file.suffix and file.is_file() and file.read_bytes()[:22] == b"#!/usr/bin/env python3")


def files_of(top, source):
    """The files that a test depends on, beside those of everything."""
    if source.suffix != ".py":
        return [source, *includes.reached(source, (source.parent,))]
    named = {name: [*top.glob(name)] for name in reads(source)}
    if missing := [name for name, found in named.items() if not found]:
        raise Failed(f"{source}: READS has what is not there: {' '.join(missing)}")
    found = {inside for files in named.values() for file in files for inside in (file, *(file.rglob("*") if file.is_dir() else ()))}
    no_input = {file for file in found if "__pycache__" in file.parts or file.match(RECORD_OF_NVCC)}
    own = [source, *(found - no_input)]
    packages = [folder / "__init__.py" for folder in source.parents[:2]]
    return [*own, *packages, top / "common/__main__.py", *modules(top / "common", filter(is_python, own))]


def rules_of(top, source):
    """The files that say how a test is built."""
    return [folder / "meson.build" for folder in (top, top / "common", source.parent)]


def covered(top, source):
    """All files of the checkout that the digest of a test is made of."""
    return [*rules_of(top, source), *files_of(top, source), *due.files_of_everything(top)]


@cache
def version_of_cpp():
    """The version of the compiler of plain C++."""
    return subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout


def content(top, source):
    """The digest of what a test depends on."""
    own = [*rules_of(top, source), *files_of(top, source), top / due.OF_OWN_PROGRAMS]
    if source.suffix == ".py":  # it may check an answer as a learner does
        own.append(top / due.FRONT_END)
    return due.digest(top, own, due.of_everything(top), version_of_cpp())


def recorded(top):
    """{test: the digest with which it passed}"""
    file = top / RECORD
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def in_build(build, suites):
    """The build's tests in these suites, in its order, as Meson lists them."""
    file = build / "meson-info" / "intro-tests.json"
    if not file.exists():
        raise Failed(f"{build}: is no build folder: meson setup {build} -Dself_tests=true")
    tests = json.loads(file.read_text(encoding="utf-8"))
    return [test for test in tests if any(suite.rpartition(":")[2] in suites for suite in test["suite"])]


def names(top, build, wants_all, suites=SUITES):
    """(those that are due, the others) of the build's tests in these suites."""
    source_of, known = sources(top, build), recorded(top)
    tests = in_build(build, suites)
    every = [test["name"] for test in tests]
    kept = [name for name in every if name in source_of and known.get(name) == content(top, source_of[name])]
    longest_first = [test["name"] for test in sorted(tests, key=lambda test: -test.get("priority", 0))]  # each in another turn
    left_out = set() if wants_all else {*kept} - {*due.in_turn(top, [name for name in longest_first if name in source_of])}
    return [name for name in every if name not in left_out], [name for name in every if name in left_out]


def record(top, build, log=None):
    """Keeps the digests of the tests that have passed in the run of the build whose log this is, by default the last one without
    --setup, and of those that did not run what was kept."""
    source_of, kept = sources(top, build), recorded(top)
    log = log or build / "meson-logs" / "testlog.json"
    if not log.exists():
        raise Failed(f"{log}: is not there; `meson test -C {build}` writes it")
    results = {test.name: test.result for test in testlog.read(log)}
    if failed := [name for name in source_of if results.get(name, "OK") != "OK"]:
        raise Failed(f"only what passes is recorded, and these did not: {' '.join(failed)}")
    found = {name: content(top, source) if name in results else kept.get(name) for name, source in sorted(source_of.items())}
    lines = [f'{name} = "{digest}"' for name, digest in found.items() if digest]
    (top / RECORD).parent.mkdir(parents=True, exist_ok=True)
    (top / RECORD).write_text("\n".join([
        "# The tests that have passed, each with the digest of what it depends on: `common/dev passed record` writes it.",
        *lines, "",
    ]), encoding="utf-8")
