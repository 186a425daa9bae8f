"""The learner's build folder: which one it is, its exercises, and how its commands are typed."""

import contextlib
import difflib
import json
import os
import shlex
import shutil
import sys
from pathlib import Path

from tools.learn import progress
from tools.lib import chapter as chapters
from tools.lib import checkout, course_state, hints
from tools.lib.checkout import seen_from_the_shell
from tools.lib.failed import Failed


def is_configured(folder):
    """True if Meson has set up this folder."""
    return (folder / "meson-info" / "intro-tests.json").is_file()


def default_build():
    """The build folder where none is named."""
    if is_configured(checkout.TOP / "build"):
        return checkout.TOP / "build"
    found = sorted(filter(is_configured, [*checkout.TOP.glob("build*"), *checkout.TOP.glob("chapters/*/build*")]))
    if len(found) == 1:
        return found[0]
    if found:
        names = "".join(f"\n  --build {seen_from_the_shell(folder)}" for folder in found)
        raise Failed(f"There are several build folders. Name one, here or in COURSE_BUILD:{names}", 2)
    place = "" if Path.cwd() == checkout.TOP else f"cd {shlex.quote(str(checkout.TOP))} && "
    raise Failed(f"There is no build folder yet. Make one:\n  {place}common/tools/setup.sh && meson setup build", 2)


def find_build(asked):
    """The build folder to use. Raises Failed, with the command that makes one, if there is none."""
    build = Path(asked).resolve() if asked else default_build()
    shown = shlex.quote(asked or seen_from_the_shell(build))
    if not is_configured(build):
        raise Failed(f"{shown} is not a build folder. Make it one: meson setup {shown}", 2)
    try:
        info = json.loads((build / "meson-info" / "meson-info.json").read_text(encoding="utf-8"))
        source = Path(info["directories"]["source"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"{shown} cannot be read ({error}). Set it up again: {set_up_again(build)}", 2) from error
    if source.resolve() != checkout.TOP and checkout.TOP not in source.resolve().parents:
        raise Failed(
            f"{shown} was set up for {source}, and this is {checkout.TOP}.\nTake another one, or set it up again: "
            f"rm -r {shown} && meson setup {shown}", 2,
        )
    return build


def set_up_again(build):
    """The command that sets up a damaged build folder anew, with its options where Meson still knows them."""
    source = "" if Path.cwd() == checkout.TOP else f" {shlex.quote(seen_from_the_shell(checkout.TOP))}"
    shown = shlex.quote(seen_from_the_shell(build))
    if (build / "meson-private" / "cmd_line.txt").is_file():
        return f"meson setup --wipe {shown}{source}"
    return f"rm -r {shown} && meson setup {shown}{source}"


class Course:
    """A build folder, its exercises, and how its commands are typed."""

    def __init__(self, asked):
        self.build = find_build(asked or os.environ.get("COURSE_BUILD"))
        try:
            self.exercises = progress.exercises(self.build)
        except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
            shown = seen_from_the_shell(self.build)
            raise Failed(f"{shown} cannot be read ({error}). Set it up again: {set_up_again(self.build)}", 2) from error
        if not self.exercises:
            raise Failed(f"{seen_from_the_shell(self.build)} has no exercises: -Dchapters leaves all of them out.", 2)
        self.options = ["--build", asked] if asked and self.build != self.unasked_build() else []

    @staticmethod
    def unasked_build():
        """The build folder without --build, or None."""
        with contextlib.suppress(Failed):
            return find_build(os.environ.get("COURSE_BUILD"))
        return None

    def command(self, *words):
        """A command of this program, as the learner would type it here."""
        return shlex.join([program_name(), *words, *self.options])

    def of_chapter(self, name):
        """The exercises of a chapter by its number or its folder's name; none for another name."""
        start = f"{name:0>2}-" if name.isdigit() else f"{name}/"
        return [one for one in self.exercises if f"{one.chapter}/".startswith(start)]

    def find(self, name):
        """The exercise that a name, a unique part of one, or its file's path means, with or without its chapter: 01/word_count."""
        if name is None:
            following = progress.next_of([(one, self.known_state(one)) for one in self.exercises])
            which = f" The next one is {following.name}." if following else ""
            raise Failed(f"Which exercise?{which} {self.command('list')} shows all of them.", 2)
        part = Path(name).name.removesuffix(".cuh").lower()
        if chapter := self.of_chapter(part):
            raise Failed(f"{name} is a chapter. Which exercise: {one_of(exercise.name for exercise in chapter)}?", 2)
        exercises = self.of_chapter(Path(name).parent.name) or self.exercises
        names = {exercise.name: exercise for exercise in exercises}
        if part in names:
            return names[part]
        fitting = [exercise for exercise in exercises if part and part in exercise.name]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise Failed(f"{name} may be {one_of(exercise.name for exercise in fitting)}. Which one?", 2)
        elsewhere = sorted(checkout.TOP.glob("exercises/*/*.cuh"))
        for file in elsewhere:
            chapter = file.parent.name
            if part == file.stem or part.zfill(2) in (chapter, chapter[:2]):
                what = f"{part} belongs to {chapter}" if part == file.stem else f"{name} is {chapter}"
                raise Failed(
                    f"{what}, which {seen_from_the_shell(self.build)} leaves out.\n"
                    f"A build folder for it: meson setup build-{chapter[:2]} chapters/{chapter}", 2,
                )
        of_its_chapter = names if exercises is not self.exercises else []
        near = nearest(part, [*names, *(file.stem for file in elsewhere)]) or list(of_its_chapter)
        way_out = f"Did you mean {one_of(near)}?" if near else f"{self.command('list')} shows all of them."
        raise Failed(f"There is no exercise {name}. {way_out}", 2)

    def require_file(self, exercise):
        """Raises Failed, with the command that brings the file back, if the learner has deleted it."""
        if not exercise.file.is_file():
            way_back = self.command("reset", exercise.name)
            raise Failed(f"{seen_from_the_shell(exercise.file)} is gone: {way_back} brings it back.")

    def known_state(self, exercise):
        """The state as far as it is known without running anything; what is begun may be solved already."""
        return progress.state_at_rest(exercise, self.build) or progress.BEGUN

    def fast(self):
        """The names of the exercises that their chapters cannot do without."""
        folders = {checkout.TOP / "chapters" / exercise.chapter for exercise in self.exercises}
        return frozenset(name for folder in folders for name in chapters.read(folder).core)

    def states(self, names=None):
        """Yields (exercise, state), in order, of all exercises or of these. Runs the checks whose verdict is not known, and says so meanwhile."""
        shows = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        for exercise in self.exercises:
            if names is not None and exercise.name not in names:
                continue
            state = progress.state_at_rest(exercise, self.build)
            if state is None:
                if shows:
                    print(f"checking {exercise.name} ...", end="", file=sys.stderr, flush=True)
                try:
                    state = progress.state_after_check(exercise, self.build)
                finally:
                    if shows:
                        print("\r\033[K", end="", file=sys.stderr, flush=True)
            yield exercise, state

    def hints(self, exercise):
        """The texts of its hints; none where their file is gone."""
        try:
            return hints.read(self.file_of_hints(exercise))[1]
        except OSError:
            return []

    @staticmethod
    def file_of_hints(exercise):
        return hints.file_of(checkout.TOP / "chapters" / exercise.chapter, exercise.name)

    def hints_shown(self, exercise):
        """How many hints of an exercise were shown already."""
        return max(0, course_state.load(self.build).get(exercise.name, {}).get("hints", 0))

    def remember_hints(self, exercise, count):
        """Remembers how many hints were shown; where it cannot, says so."""
        try:
            with course_state.change(self.build) as state:
                state.setdefault(exercise.name, {})["hints"] = count
        except OSError as error:
            print(f"(not remembered: {error.strerror}: {error.filename})", file=sys.stderr)


def program_name():
    """This program, as the learner has typed it, or would."""
    typed = sys.argv[0]
    if typed.endswith(".py"):  # Meson has called it
        typed = seen_from_the_shell(checkout.TOP / "course")
    elif (found := shutil.which(os.path.basename(typed))) and os.path.realpath(found) == os.path.realpath(typed):
        return os.path.basename(typed)
    return typed if "/" in typed else f"./{typed}"


def nearest(typed, names):
    """At most three of the names that look like what was typed, or begin like it."""
    def likeness(name):
        return max(difflib.SequenceMatcher(None, typed, part).ratio() for part in (name, name[: len(typed) + 1]))

    ranked = sorted(dict.fromkeys(names), key=likeness, reverse=True)
    return [name for name in ranked if likeness(name) >= 0.6][:3]


def one_of(names):
    """a, b or c"""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
