"""Checks that the CPU device's runtime library is built in layers; prints what is not, exit code 1 if anything is.

    python3 common tools.maintain.simt_layers [--library LIBRARY] [SOURCES]

With LIBRARY also that no early object (SIMT_EARLY) needs one of another file: simt_early.py.

SOURCES is common/simt/src; each of its folders is a layer. A file may include and call what is in its own layer and
in those below. LIBRARY is the library as it was built, libsimt.a.

What it sees: every quoted #include; and in LIBRARY every function and variable that one object file takes from another
(binutils' `nm` lists them), however it was declared. What it does not see: calls through a pointer to a function,
which is how a lower layer may call a higher one; what a header's inline functions do, beyond what that header
includes; who calls whom within a layer; and functions of the compiler and the C library, whose names begin with two
underscores and which the layer `device` defines instead of them.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from tools.lib import includes
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.maintain.simt_early import early_uses


# From the bottom to the top, with what each owns.
LAYERS = {
    "base": "what everything needs",
    "report": "where findings go",
    "memory": "the devices' address space",
    "kernel": "the state of the launch that runs",
    "counters": "what a request costs",
    "trace": "the recording of a launch",
    "checker": "happens-before",
    "scheduler": "the order of threads",
    "device": "the entries from compiled kernels",
    "api": "the CUDA runtime API, and of `testing.hpp` what waits for the queues",
    "libraries": "functions of CUDA's libraries, each of which is a launch",
}
PUBLIC = "simt/"  # common/simt/include: declarations that device code and the program share with the library
# nm's letters for what an object file takes from others. Capitals and u are what it has for others.
NEEDED = "Uvw"


def layer_of(path):
    """The number of a path's layer, such as "checker/rules.hpp"; None if it has none."""
    folder = path.partition("/")[0]
    return list(LAYERS).index(folder) if "/" in path and folder in LAYERS else None


def wrong_includes(sources):
    """What is wrong with the files' places and includes."""
    problems = []
    for file in sorted(file for file in sources.rglob("*") if file.suffix in (".cpp", ".hpp", ".def", ".S")):
        name = file.relative_to(sources).as_posix()
        if layer_of(name) is None:
            problems.append(f"{name} is in no layer: they are the folders {', '.join(LAYERS)}")
            continue
        for included in includes.own_headers_of(file.read_text(encoding="utf-8")):
            if included.startswith(PUBLIC):
                continue
            if layer_of(included) is None or not (sources / included).is_file():
                problems.append(f'{name} includes "{included}": name a file by its layer, as in "memory/shadow.hpp"')
            elif layer_of(included) > layer_of(name):
                problems.append(f'{name} includes "{included}", which is in a layer above it')
    return problems


def symbols(library):
    """(object file, kind, symbol) of all that `nm` lists."""
    listing = subprocess.run(["nm", "-A", "-P", library], capture_output=True, text=True, check=False).stdout
    for line in listing.splitlines():  # libsimt.a[FOLDER/api_queues.cpp.o]: _ZN4simt6finishE T 10 3c
        member, _, rest = line.partition("]: ")
        name, kind = rest.split()[:2]
        yield member.rpartition("[")[2].rpartition("/")[2], kind, name


def plain_name(symbol):
    """A symbol as the source has it."""
    done = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=False)
    return done.stdout.strip() or symbol


def name_of_the_system(symbol):
    """True for __tsan_read4 and __assert_fail, but not for the start of a section, such as __start_simt_built_in."""
    return symbol.startswith("__") and not symbol.startswith(("__start_", "__stop_"))


def wrong_calls(sources, library):
    """What an object file of the library takes from one of a layer above its own."""
    files = {}  # by the object file's name, which has _ for /
    for file in sources.rglob("*.[cS]*"):
        name = file.relative_to(sources).as_posix()
        files[name.replace("/", "_") + ".o"] = name
    needed, owners = [], {}
    for member, kind, symbol in symbols(library):
        file = files.get(member)
        if file is None or layer_of(file) is None or name_of_the_system(symbol):
            continue
        if kind in NEEDED:
            needed.append((file, symbol))
        elif kind.isupper() or kind == "u":  # an inline function is in many object files
            owners.setdefault(symbol, set()).add(file)
    if not needed:
        return [f"{library}: no object file of {sources} is in it"]
    problems = []
    for user, symbol in needed:
        owner = min(owners.get(symbol, {user}), key=layer_of)
        if layer_of(owner) > layer_of(user):
            problems.append(f"{user} calls or uses {plain_name(symbol)} of {owner}, which is in a layer above it")
    return problems


def unordered_objects(library):
    """Early objects that need one of another file."""
    try:
        return [f"{user}: an early object (SIMT_EARLY) that is made or destroyed uses {plain_name(symbol)} of {owner}: "
                "which of the two is there first is not defined" for user, owner, symbol in early_uses(library)]
    except Failed as failure:
        return [str(failure)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", help="libsimt.a, for the calls; without it, includes alone are checked")
    parser.add_argument("sources", nargs="?", type=Path, default=TOP / "common/simt/src")
    options = parser.parse_args()
    problems = wrong_includes(options.sources)
    if options.library:
        problems += wrong_calls(options.sources, options.library) + unordered_objects(options.library)
    for problem in problems:
        print(problem)
    if not problems:
        print("simt_layers: includes" + (" and calls" if options.library else "") + " go downward only")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
