"""Compiles and links a program of the reader's own for the CPU device: only what has changed, files in parallel."""

import concurrent.futures
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.check import compile_errors
from tools.check.building import run_ninja
from tools.lib.checkout import TOP

SIMTCC = TOP / "common" / "build" / "simtcc.py"
MADE_BY_MESON = "common/build/device/simtcc.json"
GROUP = ("-Wl,--start-group", "-Wl,--end-group")
# What nvcc warns of, and a little more. The course's own code has more warnings; a reader's may be older than C++20, and
# need no braces around a row of an array. `__constant__` is `static` here, and rand() / RAND_MAX is for whom it is near enough.
FLAGS = ["-fdiagnostics-color=never", "-Wvla", "-Wno-extra", "-Wno-missing-braces", "-Wno-deprecated-volatile",
         "-Wno-deprecated-anon-enum-enum-conversion", "-Wno-deprecated-enum-enum-conversion",
         "-Wno-deprecated-enum-float-conversion", "-Wno-duplicate-decl-specifier", "-Wno-implicit-const-int-float-conversion"]


class NotBuilt(Exception):
    """The program cannot be built; the text says why. `code` is the exit code."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


def stamp(file):
    """What differs when a file has changed."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


class Made:
    """A file that was made of others, and how: in a record beside it."""

    def __init__(self, file):
        self.file = Path(file)
        self.record = Path(f"{file}.json")

    def is_current(self, how):
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
            return (record["how"] == how and self.file.exists()
                    and all(stamp(file) == then for file, then in record["files"].items()))
        except (OSError, ValueError, KeyError):
            return False

    def is_made(self, how, stamps):
        self.record.write_text(json.dumps({"how": how, "files": stamps}), encoding="utf-8")


# ---- the libraries ----------------------------------------------------------------------------------


def ninja_builds(build, targets):
    """Builds targets of the build folder. Raises NotBuilt with what ninja said."""
    ninja = os.environ.get("NINJA") or shutil.which("ninja") or shutil.which("ninja-build")
    if not ninja:
        raise NotBuilt("ninja was not found: run common/tools/setup.sh")
    with open(build / "meson-private" / "exercise.lock", "w") as lock:  # one ninja at a time, as for checks
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, output = run_ninja([ninja, "-C", str(build), *targets], shows_progress=True)
    if code != 0:
        raise NotBuilt("The CPU device's library cannot be built:\n" + "\n".join(output.splitlines()[-20:]))


def link_words(build):
    """How Meson links a program of the reader's own: the linker, and what comes after the objects."""
    settings = json.loads((build / MADE_BY_MESON).read_text(encoding="utf-8"))
    targets = json.loads((build / "meson-info" / "intro-targets.json").read_text(encoding="utf-8"))
    target = next(one for one in targets if one["name"] == settings["link_like"] and one["type"] == "executable")
    linker = next(part for part in target["target_sources"] if "linker" in part)
    # Meson lists its groups of libraries one inside the other, which linkers refuse: one group has the same effect.
    words = [word for word in linker["parameters"] if word not in GROUP]
    return linker["linker"], [GROUP[0], *words, GROUP[1]]


def prepare_libraries(build):
    """Builds what every program is linked with. Returns the linker and its last words."""
    ninja_builds(build, ["build.ninja"])
    linker, words = link_words(build)
    ninja_builds(build, [word for word in words if word.endswith(".a") and not os.path.isabs(word)])
    return linker, words


# ---- the program --------------------------------------------------------------------------------------


class Program:
    """A program of some sources, with the compiler's options `flags`, in a folder of its own in the build folder."""

    def __init__(self, build, sources, flags):
        self.build = build
        self.sources = sources
        self.flags = flags
        place = os.path.realpath(sources[0])
        self.folder = build / "run" / f"{Path(sources[0]).stem}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"
        self.file = self.folder / Path(sources[0]).stem
        self.warnings = []  # of the compiler, on the files that it has just compiled

    def make(self):
        """Makes the program. Raises NotBuilt."""
        linker, words = prepare_libraries(self.build)
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                done = list(pool.map(self.compile, range(len(self.sources))))
            problems = [problem for problem in done if problem]
            if problems:
                raise NotBuilt("\n\n".join(problems))
            self.link(linker, words)

    def object(self, number):
        return self.folder / f"{number}-{Path(self.sources[number]).stem}.o"

    def compile(self, number):
        """Makes the object of a source. Returns None, or the compiler's messages."""
        source, made = self.sources[number], Made(self.object(number))
        depfile = self.folder / f"{made.file.name}.d"
        shown = os.path.relpath(source)
        command = [
            sys.executable, "-B", str(SIMTCC), "--settings", str(self.build / MADE_BY_MESON), "--headers", "program",
            shown, "-o", str(made.file), "-MF", str(depfile), *FLAGS, *self.flags,
            *(["-rdc=true"] if len(self.sources) > 1 else []),
        ]
        if made.is_current(command):
            return None
        made.record.unlink(missing_ok=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode != 0:
            return f"{shown} does not compile:\n\n{compile_errors.explain(done.stdout, shown)}"
        self.warnings += compile_errors.warnings_in(done.stdout, os.path.dirname(source))
        made.is_made(command, {file: stamp(file) for file in files_of(depfile)})
        return None

    def link(self, linker, words):
        """Links the objects."""
        objects = [str(self.object(number)) for number in range(len(self.sources))]
        inputs = objects + [str(self.build / word) for word in words if word.endswith(".a")]
        new = f"{self.file}.new"
        command = [*linker, "-o", new, *objects, *words]
        stamps = {file: stamp(file) for file in inputs}
        made = Made(self.file)
        if made.is_current(command):
            return
        done = subprocess.run(command, cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        if done.returncode != 0:
            raise NotBuilt(explain_link_failure(done.stdout, self.sources))
        os.replace(new, self.file)  # it may be running
        made.is_made(command, stamps)


def files_of(depfile):
    """The files that a depfile of simtcc.py names."""
    text = depfile.read_text(encoding="utf-8", errors="surrogateescape").partition(":")[2]
    words = re.findall(r"(?:\\[^\n]|[^\s\\])+", text)
    return [os.path.abspath(re.sub(r"\\(.)", r"\1", word).replace("$$", "$")) for word in words]


def explain_link_failure(output, sources):
    """What a reader needs of a linker's message."""
    names = ", ".join(map(os.path.relpath, sources))
    if re.search(r"undefined (reference to|symbol:).*\bmain\b|__real_main", output):
        return f"There is no main() in {names}: a program needs one."
    missing = re.findall(r"undefined (?:reference to|symbol:) [`']?([^'\n]+?)'?$", output, re.MULTILINE)
    if missing:
        return "\n  ".join([f"{names} cannot be linked: nothing defines", *dict.fromkeys(missing)])
    return f"{names} cannot be linked:\n" + "\n".join(output.splitlines()[-20:])
