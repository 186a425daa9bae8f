"""Compiles and links a program of the reader's own for the CPU device. What has changed, Ninja knows."""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.check import compile_errors
from tools.check.building import STEP, Progress, find_ninja, run_ninja, wait_for
from tools.lib.checkout import TOP
from tools.lib.failed import Failed

MADE_BY_MESON = "common/build/device/simtcc.json"
FIRST_BUILD = "building the CPU device, once: about a minute of processor time"  # measured: 62 s
GROUP = ("-Wl,--start-group", "-Wl,--end-group")
# What nvcc warns of, and a little more. The course's own code has more warnings; a reader's may be older than C++20, and
# need no braces around a row of an array. `__constant__` is `static` here, and rand() / RAND_MAX is for whom it is near enough.
# A #pragma that turns off a warning of g++ is none of clang's business.
FLAGS = ["-fdiagnostics-color=never", "-Wvla", "-Wno-extra", "-Wno-missing-braces", "-Wno-deprecated-volatile",
         "-Wno-deprecated-anon-enum-enum-conversion", "-Wno-deprecated-enum-enum-conversion",
         "-Wno-deprecated-enum-float-conversion", "-Wno-duplicate-decl-specifier", "-Wno-unknown-warning-option",
         "-Wno-implicit-const-int-float-conversion"]
LACKS_MAIN = re.compile(r"undefined (reference to|symbol:).*\bmain\b|__real_main")  # a linker's words
TWO_MAINS = re.compile(r"(duplicate symbol:|multiple definition of) [`']?main\b")
# Of a file that takes the place of a source, the time may be older than that of the object: $version tells them apart. The
# program may be running while it is linked anew.
RULES = """\
builddir = {folder}
rule unit
  command = {compiler} $in -o $out -MF $out.d --refusals $out.refusals {flags} $flags # $version
  depfile = $out.d
  deps = gcc
  description = $number
rule program
  command = cd {build} && {linker} -o $out.new $in {words} && mv -f $out.new $out
  description = program
"""


# ---- the libraries ----------------------------------------------------------------------------------


def ninja_builds(build, targets, announcement=""):
    """Builds targets of the build folder. The announcement is for where no terminal shows the progress. Raises Failed with what ninja
    said."""
    ninja = find_ninja()
    with open(build / "meson-private" / "exercise.lock", "w") as lock, Progress(True) as progress:
        if announcement:
            progress.announce(announcement)
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
    libraries = [word for word in words if word.endswith(".a") and not os.path.isabs(word)]
    is_first = not all((build / library).exists() for library in libraries)
    ninja_builds(build, libraries, FIRST_BUILD if is_first else "")
    return linker, words


# ---- what cannot be made ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A line of a source, and what is said of it."""

    file: str
    line: int
    text: str


class NotMade(Failed):
    """Why there is no program, and the lines of the sources that are the reason. It is refused if the sources are right, as
    far as was seen, and use what the CPU device does not have."""

    def __init__(self, text, places=(), is_refused=False, lacks_main=False):
        super().__init__(text)
        self.places = tuple(places)
        self.is_refused = is_refused
        self.lacks_main = lacks_main


# ---- the program --------------------------------------------------------------------------------------


class Program:
    """A program of some sources, in a folder of its own in the build folder. `options` of a compiler belong to each source."""

    def __init__(self, build, sources, options=None, libraries=(), link=None, folder=None):
        self.build = build
        self.sources = sources
        self.options = options or {}
        self.libraries = list(libraries)  # the linker's options -L and -l
        place = os.path.realpath(sources[0])
        self.folder = folder or build / "run" / f"{Path(sources[0]).stem}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"
        self.file = self.folder / Path(sources[0]).stem
        self.link = link  # what prepare_libraries() gave, if one command makes several programs
        self.warnings = []  # of the compiler, on the files that it has just compiled

    def make(self):
        """Makes the program. Raises NotMade for what is wrong with the sources, Failed for the rest."""
        linker, words = self.link or prepare_libraries(self.build)
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "build.ninja"
        with open(self.folder / "lock", "w") as lock, Progress(not self.link) as progress:
            wait_for(lock, progress)
            file.write_text(self.build_file(linker, words), encoding="utf-8", errors="surrogateescape")
            # In the reader's folder, where the names in messages come from. One that does not compile hides no other one.
            code, output = run_ninja([find_ninja(), "-f", str(file), "-k", "0"], progress)
        self.tell(code, output)

    def build_file(self, linker, words):
        """The rules for a unit and for the program, and what is made by them."""
        compiler = [sys.executable, str(TOP / "common"), "build.simtcc", "--settings", str(self.build / MADE_BY_MESON),
                    "--headers", "program", "--learner"]
        flags = [*FLAGS, *(["-rdc=true"] if len(self.sources) > 1 else [])]
        text = RULES.format(folder=in_variable(str(self.folder)), compiler=in_command(compiler), flags=in_command(flags),
                            build=in_command([str(self.build)]), linker=in_command(linker), words=in_command([*self.libraries, *words]))
        objects = []
        for number, source in enumerate(self.sources):
            objects.append(in_path(str(self.object(number))))
            status = os.stat(source)
            text += (f"build {objects[-1]}: unit {in_path(os.path.relpath(source))}\n"
                     f"  number = {number}\n  version = {status.st_mtime_ns} {status.st_size}\n"
                     f"  flags = {in_command(self.flags_of(source))}\n")
        libraries = [in_path(str(self.build / word)) for word in words if word.endswith(".a")]
        return text + f"build {in_path(str(self.file))}: program {' '.join(objects)} | {' '.join(libraries)}\n"

    def flags_of(self, source):
        options = self.options.get(source)
        return options.flags(is_cuda=source.endswith(".cu")) if options else []

    def other_standard(self, source):
        """What to add to an error if the source is meant for an older language."""
        standard = self.options[source].standard if source in self.options else None
        is_other = standard and source.endswith(".cu") and standard not in ("c++20", "gnu++20")
        return f"\n\nA .cu file is compiled as C++20 here, not as -std={standard}." if is_other else ""

    def files(self):
        """The files of the reader's own that it was made of, as they are shown."""
        done = subprocess.run([find_ninja(), "-f", str(self.folder / "build.ninja"), "-t", "deps"], stdout=subprocess.PIPE, text=True,
                              errors="surrogateescape", check=False)
        read = [line[4:] for line in done.stdout.splitlines() if line.startswith("    ")]
        others = ("/usr", self.build, *(TOP / "common" / part for part in ("simt/include", "include", "build", "tools")))
        own = (file for file in read if not any(Path(os.path.abspath(file)).is_relative_to(folder) for folder in others))
        return list(dict.fromkeys(os.path.relpath(file) for file in [*self.sources, *own]))

    def object(self, number):
        """The object file of a source."""
        return self.folder / f"{number}-{Path(self.sources[number]).stem}.o"

    def refusals(self, number):
        """Places of what a source uses and the CPU device does not have, if that is all that is wrong with it."""
        refusals = json.loads(Path(f"{self.object(number)}.refusals").read_text(encoding="utf-8"))
        return [Place(**refusal) for refusal in refusals]

    def tell(self, code, output):
        """Notes the warnings in Ninja's output. Raises NotMade with what a reader needs of its errors."""
        said = what_was_said(output)
        problems, places, is_refused = [], [], True
        for number, source in enumerate(self.sources):
            failed, text = said.get(str(number), (False, ""))
            if failed:
                shown = os.path.relpath(source)
                refusals = self.refusals(number)
                heading = f"{shown} {'is refused' if refusals else 'does not compile'}:"
                problems.append(f"{heading}\n\n{compile_errors.explain(text, shown)}{self.other_standard(source)}")
                is_refused = is_refused and bool(refusals)
                places += refusals or [Place(*place) for place in compile_errors.places_of(text, shown)]
            else:
                self.warnings += compile_errors.warnings_in(text, os.path.dirname(source))
        if problems:
            raise NotMade("\n\n".join(problems), places, is_refused)
        if code != 0:
            failed, text = said.get("program", (False, ""))
            if failed and LACKS_MAIN.search(text):
                raise NotMade(f"There is no main() in {', '.join(map(os.path.relpath, self.sources))}: a program needs one.", lacks_main=True)
            raise NotMade(explain_link_failure(text, self.sources, is_one_of_several=bool(self.link)) if failed else output)


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


def explain_link_failure(output, sources, is_one_of_several):
    """What a reader needs of a linker's message."""
    names = ", ".join(map(os.path.relpath, sources))
    missing = re.findall(r"undefined (?:reference to|symbol:) [`']?([^'\n]+?)'?$", output, re.MULTILINE)
    if TWO_MAINS.search(output):
        way_out = " --exclude leaves out a file of --with." if is_one_of_several else ""
        return f"{names} cannot be linked: more than one of them defines main().{way_out}"
    if missing:
        question = "\nIs it in another file? --with FILE links one into each program." if is_one_of_several else ""
        return "\n  ".join([f"{names} cannot be linked: nothing defines", *dict.fromkeys(missing)]) + question
    return f"{names} cannot be linked:\n" + "\n".join(output.splitlines()[-20:])
