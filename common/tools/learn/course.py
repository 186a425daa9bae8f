#!/usr/bin/env python3
"""The learner's loop: see what is there, solve it, get unstuck.

`./course COMMAND --help` says more about each command, with an example. The exercises are those of the
build folder: --build, else $COURSE_BUILD, else build/, else the only build folder that there is.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main() can end without a traceback

import argparse  # noqa: E402
import contextlib  # noqa: E402
import difflib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import select  # noqa: E402
import shlex  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.check.check_exercise import SKIPPED  # noqa: E402
from tools.learn import progress  # noqa: E402
from tools.lib import course_state, terminal  # noqa: E402
from tools.lib.checkout import TOP, is_started, seen_from_the_shell  # noqa: E402
from tools.lib.hints import hints_of  # noqa: E402
from tools.lib.terminal import paint  # noqa: E402

INTERRUPTED = 130
POLL_SECONDS = 0.4
PATIENCE_SECONDS = 10
GONE_SECONDS = 3  # an editor that saves by renaming takes the file away for much less


class Refused(Exception):
    """Nothing was done, for a reason that the learner can mend; the exit code is `code`."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


# ---- the build folder and its exercises -------------------------------------------------------------


def is_configured(folder):
    """True if Meson has set up this folder."""
    return (folder / "meson-info" / "intro-tests.json").is_file()


def default_build():
    """The build folder where none is named."""
    if is_configured(TOP / "build"):
        return TOP / "build"
    found = sorted(filter(is_configured, [*TOP.glob("build*"), *TOP.glob("chapters/*/build*")]))
    if len(found) == 1:
        return found[0]
    if found:
        names = "".join(f"\n  --build {seen_from_the_shell(folder)}" for folder in found)
        raise Refused(f"There are several build folders. Name one, here or in COURSE_BUILD:{names}", 2)
    place = "" if Path.cwd() == TOP else f"cd {shlex.quote(str(TOP))} && "
    raise Refused(f"There is no build folder yet. Make one:\n  {place}common/tools/setup.sh && meson setup build", 2)


def find_build(asked):
    """The build folder to use. Raises Refused, with the command that makes one, if there is none."""
    build = Path(asked).resolve() if asked else default_build()
    shown = shlex.quote(asked or seen_from_the_shell(build))
    if not is_configured(build):
        raise Refused(f"{shown} is no build folder. Make it one: meson setup {shown}", 2)
    try:
        info = json.loads((build / "meson-info" / "meson-info.json").read_text(encoding="utf-8"))
        source = Path(info["directories"]["source"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refused(f"{shown} cannot be read ({error}). Set it up anew: meson setup --wipe {shown}", 2) from error
    if source.resolve() != TOP and TOP not in source.resolve().parents:
        raise Refused(
            f"{shown} was set up for {source}, and this is {TOP}.\nTake another one, or set it up anew: "
            f"rm -r {shown} && meson setup {shown}", 2,
        )
    return build


class Course:
    """A build folder, its exercises, and how its commands are typed."""

    def __init__(self, asked):
        self.build = find_build(asked or os.environ.get("COURSE_BUILD"))
        try:
            self.exercises = progress.exercises(self.build)
        except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
            shown = seen_from_the_shell(self.build)
            raise Refused(f"{shown} cannot be read ({error}). Set it up anew: meson setup --wipe {shown}", 2) from error
        if not self.exercises:
            raise Refused(f"{seen_from_the_shell(self.build)} has no exercises: -Dchapters leaves all of them out.", 2)
        self.options = ["--build", asked] if asked and self.build != self.unasked_build() else []

    @staticmethod
    def unasked_build():
        """The build folder without --build, or None."""
        with contextlib.suppress(Refused):
            return find_build(os.environ.get("COURSE_BUILD"))
        return None

    def command(self, *words):
        """A command of this program, as the learner would type it here."""
        return shlex.join([program_name(), *words, *self.options])

    def find(self, name):
        """The exercise that a name, a unique part of one, or its file's path means."""
        if name is None:
            following = progress.next_of([(one, self.known_state(one)) for one in self.exercises])
            which = f" The next one is {following.name}." if following else ""
            raise Refused(f"Which exercise?{which} {self.command('list')} shows all of them.", 2)
        part = Path(name).name.removesuffix(".cuh").lower()
        names = {exercise.name: exercise for exercise in self.exercises}
        if part in names:
            return names[part]
        fitting = [exercise for exercise in self.exercises if part and part in exercise.name]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise Refused(f"{name} may be {one_of(exercise.name for exercise in fitting)}. Which one?", 2)
        elsewhere = sorted(TOP.glob("exercises/*/*.cuh"))
        for file in elsewhere:
            if file.stem == part:
                chapter = file.parent.name
                raise Refused(
                    f"{part} belongs to {chapter}, which {seen_from_the_shell(self.build)} leaves out.\n"
                    f"A build folder for it: meson setup build-{chapter[:2]} chapters/{chapter}", 2,
                )
        near = nearest(part, [*names, *(file.stem for file in elsewhere)])
        way_out = f"Did you mean {one_of(near)}?" if near else f"{self.command('list')} shows all of them."
        raise Refused(f"There is no exercise {name}. {way_out}", 2)

    def known_state(self, exercise):
        """The state as far as it is known without running anything; what is begun may be solved already."""
        return progress.state_at_rest(exercise, self.build) or progress.BEGUN

    def states(self):
        """Yields (exercise, state), in order. Runs the checks whose verdict is not known, and says so meanwhile."""
        shows = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        for exercise in self.exercises:
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
        """The texts of the hints in the chapter's README."""
        readme = TOP / "chapters" / exercise.chapter / "README.md"
        try:
            return hints_of(readme.read_text(encoding="utf-8"), exercise.name)
        except OSError:
            return []

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
        typed = seen_from_the_shell(TOP / "course")
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


def ask(question):
    """True for a yes, False for a no, and None where nobody can answer."""
    if not sys.stdin.isatty():
        return None
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    # A Ctrl-C that comes right before a wait is only seen behind it: no wait is long.
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        pass
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):  # Ctrl-D
        print(file=sys.stderr)
    return answer.strip().lower() in ("y", "yes")


def confirm(question, yes, undone):
    """Returns after a yes; raises Refused, which says what was not done, after anything else."""
    answer = True if yes else ask(question)
    if answer is None:
        raise Refused(f"{question}\nNobody is here to answer: {undone}. --yes goes on without asking.")
    if not answer:
        raise Refused(f"{undone[0].upper()}{undone[1:]}.")


# ---- the commands -------------------------------------------------------------------------------------


def show_list(course, _):
    """the board: what is solved, begun, not begun, and what comes next"""
    rows = list(course.states())
    print(progress.board(rows))
    following = progress.next_of(rows)
    if following:
        print(f"Next: {seen_from_the_shell(following.file)}")
        print(f"      {course.command('check', following.name)}")
    return 0


def question_of(text):
    """What an exercise asks: the comment that its file begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//") or line.startswith("// Try it:"):
            break
        lines.append(line[2:].removeprefix(" "))
    text = re.sub(r"\AExercise \w+: ", "", "\n".join(lines)).strip()
    return text[:1].upper() + text[1:]


def show_next(course, arguments):
    """the exercise to go on with: its question, its file, the command that checks it"""
    rows = []
    for row in course.states():
        rows.append(row)
        if row[1] == progress.BEGUN:
            break
    exercise = progress.next_of(rows)
    if exercise is None:
        solved = sum(state == progress.SOLVED for _, state in rows)
        where = f"exercises of {seen_from_the_shell(course.build)} are solved"
        rest = "." if solved == len(rows) else ", and the others cannot run here."
        print(f"{solved} of {len(rows)} {where}{rest}")
        return 0
    state = dict((one.name, state) for one, state in rows)[exercise.name]
    print(f"{paint(exercise.name, 'strong')} of {exercise.chapter}, {state}")
    if state == progress.MISSING:
        print(f"\nIts file is gone: {course.command('reset', exercise.name)} brings it back.")
        return 0
    print()
    question = question_of(exercise.file.read_text(encoding="utf-8", errors="replace"))
    print(terminal.from_markdown(question, "  "))
    print(f"\nread:  {seen_from_the_shell(TOP / 'chapters' / exercise.chapter / 'README.md')}")
    remark = "" if state == progress.BEGUN else "  (delete its NOT_STARTED line)"
    print(f"edit:  {seen_from_the_shell(exercise.file)}{remark}")
    print(f"check: {course.command('check', exercise.name)}")
    if arguments.edit:
        edit(exercise.file)
    return 0


def edit(file):
    """Becomes the editor that $EDITOR names. Raises Refused where it names none that runs."""
    try:
        words = shlex.split(os.environ.get("EDITOR", ""))
    except ValueError as error:
        raise Refused(f"EDITOR is {os.environ['EDITOR']}: {error}.") from error
    if not words:
        raise Refused("EDITOR names no editor: EDITOR=nano, for example, in front of the command.")
    sys.stdout.flush()
    try:
        os.execvp(words[0], [*words, str(file)])
    except OSError as error:
        raise Refused(f"EDITOR is {words[0]}, which cannot be run: {error.strerror}.") from error


def check(course, exercise, rerun):
    """Runs an exercise's check, which speaks for itself. Returns its exit code."""
    sys.stdout.flush()
    environment = {**os.environ, "COURSE_RERUN": rerun}
    try:
        process = subprocess.Popen(exercise.command, cwd=course.build, env=environment)
    except OSError as error:
        raise Refused(f"The check cannot be started: {error}.") from error
    try:
        try:
            code = process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            if sys.stderr.isatty():
                print("... still at it (the first check in a build folder builds the course's libraries, too)",
                      file=sys.stderr)
            code = process.wait()
    except BaseException:  # Ctrl-C
        progress.stop(process)
        raise
    return code if code >= 0 else 128 - code


def verdict_of(course, exercise, code):
    """What the exit code of a check means, and its style."""
    if code == 0 and course.known_state(exercise) == progress.SOLVED:
        return f"{exercise.name} is solved", "good"
    if code == 0:  # one schedule only, or saved while it was checked
        return f"{exercise.name} has passed, but not the whole check as the file is now", "open"
    if code == SKIPPED:
        begun = course.known_state(exercise) != progress.NOT_STARTED
        return f"{exercise.name} {'cannot be checked here' if begun else 'is not begun'}", "quiet"
    return f"{exercise.name} is not right yet", "open"


def print_what_helps(course, exercise, code):
    """Behind a verdict: the commands that may come next."""
    if code == 0:
        print(f"compare: {course.command('diff', exercise.name)}")
        rows = [(one, course.known_state(one)) for one in course.exercises]
        following = progress.next_of(rows)
        print(f"next:    {seen_from_the_shell(following.file)}" if following else f"All {len(rows)} exercises are solved.")
    elif code != SKIPPED:
        shown, there = course.hints_shown(exercise), len(course.hints(exercise))
        if shown < there:
            print(f"hint:  {course.command('hint', exercise.name)}  ({shown + 1} of {there})")
    sys.stdout.flush()


def show_check(course, arguments):
    """checks one exercise, and says why it is not right yet"""
    exercise = course.find(arguments.name)
    code = check(course, exercise, course.command("check", exercise.name))
    if code == 0:
        verdict, style = verdict_of(course, exercise, code)
        print(paint(f"{verdict}.", style))
    print_what_helps(course, exercise, code)
    return code


def show_hint(course, arguments):
    """the next hint for an exercise, one at a time"""
    exercise = course.find(arguments.name)
    hints = course.hints(exercise)
    if not hints:
        raise Refused(f"chapters/{exercise.chapter}/README.md has no hints for {exercise.name}.")
    shown = min(course.hints_shown(exercise), len(hints))
    if arguments.all:
        numbers = range(1, len(hints) + 1)
    elif arguments.again:
        if shown == 0:
            raise Refused(f"No hint for {exercise.name} was shown yet: {course.command('hint', exercise.name)}")
        numbers = range(1, shown + 1)
    elif shown == len(hints):
        again = course.command("hint", exercise.name, "--again")
        print(f"All {len(hints)} hints for {exercise.name} were shown. Once more: {again}")
        return 0
    else:
        numbers = [shown + 1]
    for number in numbers:
        print(paint(f"Hint {number} of {len(hints)} for {exercise.name}", "strong") + "\n")
        print(terminal.from_markdown(hints[number - 1], "  ") + "\n")
    if not arguments.again and numbers[-1] > shown:
        course.remember_hints(exercise, numbers[-1])
    if numbers[-1] < len(hints):
        print(f"The next one: {course.command('hint', exercise.name)}")
    else:
        print("That is the last one.")
    return 0


def show_diff(course, arguments):
    """your file against the solution"""
    exercise = course.find(arguments.name)
    solution = TOP / "solutions" / exercise.chapter / exercise.file.name
    mine = seen_from_the_shell(exercise.file)
    if not solution.is_file():
        raise Refused(f"This copy of the course has no solution of {exercise.name}.")
    if not exercise.file.is_file():
        raise Refused(f"{mine} is gone: {course.command('reset', exercise.name)} brings it back.")
    if course.known_state(exercise) != progress.SOLVED:
        confirm(
            f"The check has not passed {mine} as it is now.\nShow the solution anyway?", arguments.yes,
            "the solution was not shown",
        )
    sys.stdout.flush()
    if exercise.file.read_bytes() == solution.read_bytes():
        print("Your file is the same as the solution.")
    elif not git_diff(exercise.file, solution):
        plain_diff(exercise.file, solution)
    return 0


def git_diff(mine, solution):
    """Prints the difference; False where there is no Git that can."""
    colour = "--color=always" if terminal.has_colour() else "--color=never"
    command = ["git", "--no-pager", "diff", "--no-index", "--no-ext-diff", colour, "--"]
    try:
        done = subprocess.run([*command, os.path.relpath(mine, TOP), os.path.relpath(solution, TOP)], cwd=TOP,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    if done.returncode != 1 or not done.stdout:
        return False
    print(done.stdout.decode(errors="replace"), end="")
    return True


def plain_diff(mine, solution):
    """Prints the difference without Git's help."""
    texts = [file.read_text(encoding="utf-8", errors="replace").splitlines() for file in (mine, solution)]
    names = [os.path.relpath(file, TOP) for file in (mine, solution)]
    for line in difflib.unified_diff(*texts, *names, lineterm=""):
        style = {"+": "good", "-": "bad", "@": "quiet"}.get(line[0])
        print(paint(line, style) if style else line)


def content(file):
    """A file's bytes; None while it is not there."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def watch(course, arguments):
    """checks an exercise whenever you save it; Ctrl-C ends it"""
    watched = [course.find(arguments.name)] if arguments.name else course.exercises
    what = seen_from_the_shell(watched[0].file) if len(watched) == 1 else f"{len(watched)} exercises"
    seen = {exercise.name: content(exercise.file) for exercise in watched}
    print(f"Watching {what}: save, and the check runs. Ctrl-C ends it.", flush=True)
    following = progress.next_of([(one, course.known_state(one)) for one in watched])
    if following and not arguments.name:
        print(f"next:  {seen_from_the_shell(following.file)}", flush=True)
    try:
        if arguments.name:
            check_and_say(course, watched[0])
        poll(course, watched, seen, arguments.every)
    except KeyboardInterrupt:
        # The terminal has written ^C: the last line is one of its own.
        print("\r" + terminal.paint(f"{clock()}  the watch has ended", "quiet"))
    return INTERRUPTED


def poll(course, watched, seen, seconds):
    """Looks at the files for ever. The content decides: times and inodes differ between file systems."""
    candidates = {}
    gone_since = {}
    while True:
        time.sleep(seconds)
        for exercise in watched:
            name, now = exercise.name, content(exercise.file)
            if now is None:
                since = gone_since.setdefault(name, time.monotonic())
                if since is not None and time.monotonic() - since > GONE_SECONDS:
                    print(f"{clock()}  {seen_from_the_shell(exercise.file)} is gone. "
                          f"{course.command('reset', name)} brings the starter back.", flush=True)
                    gone_since[name] = None  # said
                continue
            gone_since.pop(name, None)
            if now == seen[name]:
                candidates.pop(name, None)
            elif candidates.get(name) != now:
                candidates[name] = now  # an editor may still be writing: look once more
            else:
                del candidates[name]
                seen[name] = now
                check_and_say(course, exercise)


def check_and_say(course, exercise):
    """One check in the watch: a line before it, and the verdict behind it."""
    heading = f"── {clock()} {exercise.name} "
    print("\n" + paint(heading + "─" * max(2, min(72, terminal.width()) - len(heading)), "strong"))
    start = time.monotonic()
    code = check(course, exercise, "save the file")
    verdict, style = verdict_of(course, exercise, code)
    print(paint(f"{clock()}  {verdict}", style) + f"  ({time.monotonic() - start:.0f} s)")
    print_what_helps(course, exercise, code)


def clock():
    """The time of day."""
    return time.strftime("%H:%M:%S")


def picture(course, arguments):
    """a drawing of what your kernel did, lane by lane"""
    exercise = course.find(arguments.name)
    tool = TOP / "common" / "tools" / "trace" / "picture.py"
    sys.stdout.flush()
    command = [sys.executable, str(tool), "--exercise", exercise.name, "--build", str(course.build)]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait()
    except BaseException:  # Ctrl-C has not reached it: it and what it has started end without a word
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise


def reset(course, arguments):
    """brings the starter back; your file is kept under another name"""
    exercise = course.find(arguments.name)
    mine = seen_from_the_shell(exercise.file)
    starter = starter_of(exercise.file)
    answer = content(exercise.file)
    if answer == starter:
        print(f"{mine} is the starter already.")
        return 0
    if answer is not None:
        confirm(f"Your file will be kept beside it.\nReplace {mine} by the starter?", arguments.yes, "nothing was changed")
    try:
        backup = keep(exercise.file, answer) if answer is not None else None
        exercise.file.parent.mkdir(exist_ok=True)
        exercise.file.write_bytes(starter)
    except OSError as error:
        raise Refused(f"{mine} was not reset: {error.strerror}: {seen_from_the_shell(error.filename or exercise.file)}") from error
    if course.hints_shown(exercise):
        course.remember_hints(exercise, 0)
    print(f"{mine} is the starter again.")
    if backup:
        kept = seen_from_the_shell(backup)
        print(f"your file: {kept}")
        print(f"undo:      {shlex.join(['cp', kept, mine])}")
    return 0


def starter_of(file):
    """The starter of an exercise: the newest version in Git's history that has its NOT_STARTED line."""
    name = file.relative_to(TOP).as_posix()

    def git(*words):
        # Without the option Git refuses a checkout that belongs to somebody else; here it is only read.
        command = ["git", "-c", "safe.directory=*", "-C", str(TOP), *words]
        try:
            return subprocess.run(command, capture_output=True).stdout
        except OSError:
            return b""

    for commit in git("log", "--format=%H", "--", name).decode().split():
        text = git("show", f"{commit}:./{name}")
        if text and not is_started(text.decode(errors="replace")):
            return text
    raise Refused(
        f"No version of {name} in Git's history has a NOT_STARTED line, so none is known to be the starter.\n"
        "Copy the file from the repository that you got the course from."
    )


def keep(file, answer):
    """Writes an answer into a new file beside the exercise, and returns its path."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        backup = file.with_name(f"{file.stem}.{stamp}{f'-{number}' if number > 1 else ''}.bak")
        with contextlib.suppress(FileExistsError), open(backup, "xb") as new:
            new.write(answer)
            return backup
    raise FileExistsError(0, "no name is free", str(backup))


# ---- the command line ---------------------------------------------------------------------------------

NAME = "an exercise, a part of its name that fits no other, or its file"
EXIT_CODES = """exit code: 0 done; 1 refused, or the check failed; 2 a name, an option or a build folder is wrong;
77 the check was skipped; 130 ended by Ctrl-C"""


def parser():
    """What can be typed."""
    form = argparse.RawDescriptionHelpFormatter
    build = argparse.ArgumentParser(add_help=False)
    build.add_argument("--build", metavar="DIR", help="the build folder (default: $COURSE_BUILD, else build)")
    main_parser = argparse.ArgumentParser("./course", description=__doc__, epilog=EXIT_CODES, formatter_class=form)
    commands = main_parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name, function, detail, example):
        one = commands.add_parser(
            name, parents=[build], help=function.__doc__.splitlines()[0], formatter_class=form,
            description=f"{name}: {function.__doc__.splitlines()[0]}\n\n{detail}",
            epilog="example:\n" + "".join(f"  {line}\n" for line in example.splitlines()),
        )
        one.set_defaults(function=function)
        return one

    command("list", show_list, (
        "Checks whose verdict on the present content of a file is not known are run first."
    ), "./course list\n./course list --build build-01")
    one = command("next", show_next, (
        "An exercise that is begun comes before those that are not."
    ), "./course next\nEDITOR=vim ./course next --edit")
    one.add_argument("--edit", action="store_true", help="open the file in $EDITOR")
    one = command("check", show_check, (
        "As `meson test -C build NAME`, without Meson's own lines. The exit code is the check's."
    ), "./course check word_count\n./course check word\n./course check exercises/01-global-atomic/word_count.cuh")
    one.add_argument("name", metavar="NAME", nargs="?", help=NAME)
    one = command("hint", show_hint, (
        "They are those of the chapter's README. Each call shows one more."
    ), "./course hint word_count\n./course hint word_count --again")
    one.add_argument("name", metavar="NAME", nargs="?", help=NAME)
    which = one.add_mutually_exclusive_group()
    which.add_argument("--again", action="store_true", help="those that were shown already")
    which.add_argument("--all", action="store_true", help="all of them at once")
    one = command("diff", show_diff, (
        "Asks first if the check has not passed the file as it is now."
    ), "./course diff word_count\n./course diff word_count --yes")
    one.add_argument("name", metavar="NAME", nargs="?", help=NAME)
    one.add_argument("--yes", action="store_true", help="do not ask")
    one = command("watch", watch, (
        "Without NAME all exercises are watched, and the one that changes is checked. A save that\n"
        "changes nothing runs nothing. Ends with exit code 130."
    ), "./course watch\n./course watch word_count")
    one.add_argument("name", metavar="NAME", nargs="?", help=NAME)
    one.add_argument("--every", metavar="SECONDS", type=seconds, default=POLL_SECONDS,
                     help="how often to look (default: %(default)s)")
    one = command("picture", picture, (
        "Runs the check on the CPU device, records what the lanes do, and writes an SVG and a page to\n"
        "step through into the build folder: common/tools/trace/picture.py --exercise NAME."
    ), "./course picture word_count")
    one.add_argument("name", metavar="NAME", nargs="?", help=NAME)
    one = command("reset", reset, (
        "The starter is the newest version in Git's history with a NOT_STARTED line. Hints begin anew."
    ), "./course reset word_count\n./course reset word_count --yes")
    one.add_argument("name", metavar="NAME", nargs="?", help=NAME)
    one.add_argument("--yes", action="store_true", help="do not ask")
    return main_parser


def seconds(text):
    """A positive number of seconds."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def set_shell_folder():
    """Makes PWD, which paths are shown relative to, the true folder of the learner's shell."""
    here = os.getcwd()
    if (Path(here) / "build.ninja").exists():  # Meson may have changed into it
        here = os.path.realpath(os.environ.get("PWD") or here)
    os.environ["PWD"] = here


def end(*_):
    """Ends the program as Ctrl-C does, when it is told to end."""
    sys.exit(1)


def main():
    terminal.prepare()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `./course list | head -1` is no error
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if len(sys.argv) == 1:
            parser().print_help()
            return 0
        arguments = parser().parse_args()
        set_shell_folder()
        return arguments.function(Course(arguments.build), arguments)
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return refusal.code
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
