"""Compiles and links a program of the reader's own for the CPU device. What has changed, Ninja knows."""

import hashlib
import json
import os
import re
import shlex
import sys
from pathlib import Path

from tools.check import compile_errors
from tools.check.building import STEP, Progress, find_ninja, run_ninja, wait_for
from tools.lib.checkout import TOP
from tools.lib.failed import Failed

MADE_BY_MESON = "common/build/device/simtcc.json"
GROUP = ("-Wl,--start-group", "-Wl,--end-group")
# What nvcc warns of, and a little more. The course's own code has more warnings; a reader's may be older than C++20, and
# need no braces around a row of an array. `__constant__` is `static` here, and rand() / RAND_MAX is for whom it is near enough.
# A #pragma that turns off a warning of g++ is none of clang's business.
FLAGS = ["-fdiagnostics-color=never", "-Wvla", "-Wno-extra", "-Wno-missing-braces", "-Wno-deprecated-volatile",
         "-Wno-deprecated-anon-enum-enum-conversion", "-Wno-deprecated-enum-enum-conversion",
         "-Wno-deprecated-enum-float-conversion", "-Wno-duplicate-decl-specifier", "-Wno-unknown-warning-option",
         "-Wno-implicit-const-int-float-conversion"]
# Of a file that takes the place of a source, the time may be older than that of the object: $version tells them apart. The
# program may be running while it is linked anew.
RULES = """\
builddir = {folder}
rule unit
  command = {compiler} $in -o $out -MF $out.d {flags} # $version
  depfile = $out.d
  deps = gcc
  description = $number
rule program
  command = cd {build} && {linker} -o $out.new $in {words} && mv -f $out.new $out
  description = program
"""


# ---- the libraries ----------------------------------------------------------------------------------


def ninja_builds(build, targets):
    """Builds targets of the build folder. Raises Failed with what ninja said."""
    ninja = find_ninja()
    with open(build / "meson-private" / "exercise.lock", "w") as lock, Progress(True) as progress:
        wait_for(lock, progress, build)
        code, output = run_ninja([ninja, "-C", str(build), *targets], progress)
    if code != 0:
        raise Failed("The CPU device's library cannot be built:\n" + "\n".join(output.splitlines()[-20:]))


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
        """Makes the program. Raises Failed."""
        linker, words = prepare_libraries(self.build)
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "build.ninja"
        with open(self.folder / "lock", "w") as lock, Progress(True) as progress:
            wait_for(lock, progress)
            file.write_text(self.build_file(linker, words), encoding="utf-8", errors="surrogateescape")
            # In the reader's folder, where the names in messages come from. One that does not compile hides no other one.
            code, output = run_ninja([find_ninja(), "-f", str(file), "-k", "0"], progress)
        self.tell(code, output)

    def build_file(self, linker, words):
        """The rules for a unit and for the program, and what is made by them."""
        compiler = [sys.executable, str(TOP / "common"), "build.simtcc", "--settings", str(self.build / MADE_BY_MESON),
                    "--headers", "program", "--learner"]
        flags = [*FLAGS, *self.flags, *(["-rdc=true"] if len(self.sources) > 1 else [])]
        text = RULES.format(folder=in_variable(str(self.folder)), compiler=in_command(compiler), flags=in_command(flags),
                            build=in_command([str(self.build)]), linker=in_command(linker), words=in_command(words))
        objects = []
        for number, source in enumerate(self.sources):
            objects.append(in_path(str(self.folder / f"{number}-{Path(source).stem}.o")))
            status = os.stat(source)
            text += (f"build {objects[-1]}: unit {in_path(os.path.relpath(source))}\n"
                     f"  number = {number}\n  version = {status.st_mtime_ns} {status.st_size}\n")
        libraries = [in_path(str(self.build / word)) for word in words if word.endswith(".a")]
        return text + f"build {in_path(str(self.file))}: program {' '.join(objects)} | {' '.join(libraries)}\n"

    def tell(self, code, output):
        """Notes the warnings in Ninja's output. Raises Failed with what a reader needs of its errors."""
        said = what_was_said(output)
        problems = []
        for number, source in enumerate(self.sources):
            failed, text = said.get(str(number), (False, ""))
            if failed:
                shown = os.path.relpath(source)
                problems.append(f"{shown} does not compile:\n\n{compile_errors.explain(text, shown)}")
            else:
                self.warnings += compile_errors.warnings_in(text, os.path.dirname(source))
        if problems:
            raise Failed("\n\n".join(problems))
        if code != 0:
            failed, text = said.get("program", (False, ""))
            raise Failed(explain_link_failure(text, self.sources) if failed else output)


def in_variable(text):
    """A text as a build file has it."""
    return text.replace("$", "$$")


def in_command(words):
    """Words of a command as a rule has them."""
    return in_variable(shlex.join(words))


def in_path(path):
    """A path as it is between others."""
    return re.sub(r"[ :]", r"$\g<0>", in_variable(path))


def what_was_said(output):
    """{description: (whether it failed, what it said)} of the steps in Ninja's output."""
    said, parts = {}, re.split(f"^{STEP.pattern}(.*)\n", output, flags=re.MULTILINE)
    for description, text in zip(parts[3::4], parts[4::4]):
        lines = [line for line in text.splitlines() if not line.startswith("ninja: ")]
        failed = bool(lines) and lines[0].startswith("FAILED: ")
        said[description] = failed, "\n".join(lines[2:] if failed else lines)  # without the command
    return said


def explain_link_failure(output, sources):
    """What a reader needs of a linker's message."""
    names = ", ".join(map(os.path.relpath, sources))
    if re.search(r"undefined (reference to|symbol:).*\bmain\b|__real_main", output):
        return f"There is no main() in {names}: a program needs one."
    missing = re.findall(r"undefined (?:reference to|symbol:) [`']?([^'\n]+?)'?$", output, re.MULTILINE)
    if missing:
        return "\n  ".join([f"{names} cannot be linked: nothing defines", *dict.fromkeys(missing)])
    return f"{names} cannot be linked:\n" + "\n".join(output.splitlines()[-20:])
