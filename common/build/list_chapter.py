"""Prints a chapter's list for Meson, one entry per line, its parts separated by tabs.

    list_chapter.py CHAPTER_FOLDER BUILD_FOLDER

    lesson NAME                       a program made of NAME.cu, and its test
    exercise NAME
    mistake EXERCISE NAME yes|no      a known-wrong answer; yes: a GPU may let it through
    alternative EXERCISE NAME         a right answer in another style
    score EXERCISE                    a challenge: scores/EXERCISE.cu times it for ./course score
    vendor NAME, optional NAME        libraries
    devices NUMBER                    tests also run on a machine with this many devices
    program NAME TEST INSTEAD         with lines `source NAME FILE`, `kernels NAME FILE`, `needs NAME WHAT`

An invalid entry ends it with exit code 1 and the reason on standard error.

Meson puts programs below the folder of the meson.build that names them, and that is
BUILD_FOLDER/common/build/chapter. In BUILD_FOLDER, links lead there: build/chapters/NN-topic/ladder.
"""

import os
import sys
from pathlib import Path

from build import variants
from tools.lib import chapter as chapters
from tools.lib.failed import Failed

MADE_IN = "common/build/chapter"
LESSONS = ("ladder", "selfcheck")
MORE_LESSONS = ("races", "counts", "claims")  # where a chapter has them


def listing(chapter):
    """The lines, each a tuple."""
    lines = [("lesson", name) for name in LESSONS]
    lines += [("lesson", name) for name in MORE_LESSONS if (chapter.folder / f"{name}.cu").exists()]
    for exercise in chapter.exercises:
        lines.append(("exercise", exercise))
        for file in chapter.mistakes(exercise):
            slips = variants.parse(file.read_text(encoding="utf-8"), str(file)).slips
            lines.append(("mistake", exercise, file.stem, "yes" if slips else "no"))
        lines += [("alternative", exercise, file.stem) for file in chapter.alternatives(exercise)]
        if chapter.score(exercise).exists():
            lines.append(("score", exercise))
    lines += [("devices", str(number)) for number in chapter.devices]
    lines += [("vendor", name) for name in chapter.vendor_libraries]
    lines += [("optional", name) for name in chapter.optional_libraries]
    for program in chapter.programs:
        lines.append(("program", program.name, program.test, program.instead))
        lines += [("source", program.name, file) for file in program.sources]
        lines += [("kernels", program.name, file) for file in program.kernels]
        lines += [("needs", program.name, what) for what in program.needs]
    return lines


def programs_of(lines):
    """The names of all programs that Meson makes of a listing."""
    names = [line[1] for line in lines if line[0] in ("lesson", "exercise", "program")]
    names += [f"{line[1]}-solution" for line in lines if line[0] == "exercise"]
    names += [f"{line[1]}-score" for line in lines if line[0] == "score"]
    return names + sorted({f"{line[1]}-variants" for line in lines if line[0] in ("mistake", "alternative")})


def link(build, names):
    """Makes the links from `build` to the programs, which need not be there yet."""
    build.mkdir(parents=True, exist_ok=True)
    for name in names:
        place, target = build / name, os.path.join(MADE_IN, name)
        if place.is_symlink() and os.readlink(place) == target:
            continue
        place.unlink(missing_ok=True)
        place.symlink_to(target)


def main():
    folder, build = (Path(argument) for argument in sys.argv[1:])
    try:
        lines = listing(chapters.load(folder))
    except Failed as error:
        sys.exit(str(error))
    link(build, programs_of(lines))
    print("\n".join("\t".join(line) for line in lines))


if __name__ == "__main__":
    main()
