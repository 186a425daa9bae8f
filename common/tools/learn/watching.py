"""./course watch: checks an exercise whenever it is saved; at a terminal, keys do what other commands do."""

import contextlib
import os
import select
import sys
import termios
import time
import tty
from argparse import Namespace

from tools.learn import checking, progress
from tools.learn.answers import show_diff
from tools.learn.asking import confirm, content
from tools.learn.finding import picture, show_hint, show_next
from tools.lib import terminal
from tools.lib.checkout import TOP, seen_from_the_shell
from tools.lib.failed import Failed
from tools.lib.terminal import paint

GONE_SECONDS = 3  # an editor that saves by renaming takes the file away for much less
KEYS = "keys: h hint, d diff, p picture, n next, s solution, q quit"


class Saves:
    """The files of exercises, and which of them have changed. It compares contents: times and inodes differ between file
    systems."""

    def __init__(self, exercises):
        self.exercises = exercises
        self.seen = {exercise.name: content(exercise.file) for exercise in exercises}
        self.candidates, self.gone_since = {}, {}

    def look(self):
        """(the exercises that have been saved with another content, those whose file stays away, each once)."""
        saved, gone = [], []
        for exercise in self.exercises:
            name, now = exercise.name, content(exercise.file)
            if now is None:
                since = self.gone_since.setdefault(name, time.monotonic())
                if since is not None and time.monotonic() - since > GONE_SECONDS:
                    gone.append(exercise)
                    self.gone_since[name] = None  # said
                continue
            self.gone_since.pop(name, None)
            if now == self.seen[name]:
                self.candidates.pop(name, None)
            elif self.candidates.get(name) != now:
                self.candidates[name] = now  # an editor may still be writing: look once more
            else:
                del self.candidates[name]
                self.seen[name] = now
                saved.append(exercise)
        return saved, gone


class Keyboard:
    """Single keys, where standard input and output are a terminal; elsewhere none comes. A context manager."""

    def __init__(self):
        self.is_there = sys.stdin.isatty() and sys.stdout.isatty()

    def __enter__(self):
        if self.is_there:
            self.lines = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin, termios.TCSANOW)  # what was typed stays
        return self

    def __exit__(self, *_):
        if self.is_there:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, self.lines)

    def key(self, seconds):
        """The key that is pressed within some seconds, or ""."""
        if not self.is_there:
            time.sleep(seconds)
            return ""
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return ""
        key = os.read(sys.stdin.fileno(), 1)
        if not key:  # the terminal has gone
            raise KeyboardInterrupt
        return key.decode(errors="replace")

    @contextlib.contextmanager
    def given_back(self):
        """For what reads whole lines."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()


class Status:
    """At a terminal, one last line that says where the learner stands. It goes before anything else is written."""

    def __init__(self, course):
        self.course, self.text, self.verdict, self.since = course, "", "", 0.0
        self.is_shown_here = terminal.has_colour()

    def set(self, exercise, verdict):
        """The last verdict."""
        rows = [self.course.known_state(one) for one in self.course.exercises if one.chapter == exercise.chapter]
        self.verdict = f"{verdict}; {rows.count(progress.SOLVED)} of {len(rows)} solved in {exercise.chapter}"
        self.since = time.monotonic()

    def show(self):
        """Writes the line anew if it has changed."""
        if not self.verdict or not self.is_shown_here:
            return
        seconds = time.monotonic() - self.since
        age = f"{seconds // 60:.0f} min ago" if seconds >= 60 else "now" if seconds < 10 else f"{seconds // 10:.0f}0 s ago"
        text = f"{age}: {self.verdict}"[: terminal.width() - 1]
        if text != self.text:
            print(f"\r\033[K{paint(text, 'quiet')}", end="", flush=True)
            self.text = text

    def hide(self):
        """Takes the line away."""
        if self.text:
            print("\r\033[K", end="", flush=True)
            self.text = ""


class Watch:
    """A session: the exercises that are watched, and the one that the keys are about."""

    def __init__(self, course, watched, every, keyboard):
        self.course, self.every, self.keyboard = course, every, keyboard
        self.status = Status(course)
        self.watch(watched)
        self.current = watched[0]

    def watch(self, exercises):
        """These from now on."""
        self.saves = Saves(exercises)

    def greet(self, is_named):
        """The first lines."""
        exercises = self.saves.exercises
        what = seen_from_the_shell(exercises[0].file) if len(exercises) == 1 else f"{len(exercises)} exercises"
        following = progress.next_of([(one, self.course.known_state(one)) for one in exercises])
        self.current = following or exercises[0]
        print(f"Watching {what}: save, and the check runs. Ctrl-C ends it.")
        if following and not is_named:
            print(f"next:  {seen_from_the_shell(following.file)}")
        if self.keyboard.is_there:
            print(KEYS)
        sys.stdout.flush()

    def run(self):
        """Until a key or Ctrl-C ends it."""
        while True:
            self.status.show()
            key = self.keyboard.key(self.every)
            if key == "q":
                self.status.hide()
                return
            if key:
                self.act(key)
            for exercise in self.saved():
                self.check(exercise)

    def saved(self):
        """The exercises that were saved; says which files are gone."""
        saved, gone = self.saves.look()
        for exercise in gone:
            self.status.hide()
            print(f"{clock()}  {seen_from_the_shell(exercise.file)} is gone. "
                  f"{self.course.command('reset', exercise.name)} brings the starter back.", flush=True)
        return saved

    def check(self, exercise):
        """Checks it, and once more for each time that it is saved meanwhile; then what else was saved."""
        others = []

        def is_saved_again():
            saved = self.saved()
            others.extend(one for one in saved if one is not exercise and one not in others)
            return exercise in saved

        self.current = exercise
        code = None
        while code is None:
            self.status.hide()
            heading = f"── {clock()} {exercise.name} "
            print("\n" + paint(heading + "─" * max(2, min(72, terminal.width()) - len(heading)), "strong"))
            start = time.monotonic()
            code = checking.check(self.course, exercise, "save the file", is_saved_again, self.every)
            if code is None:
                print(f"\n{clock()}  saved again: the check begins anew", flush=True)
        verdict, style = checking.verdict_of(self.course, exercise, code)
        print(paint(f"{clock()}  {verdict}", style) + f"  ({time.monotonic() - start:.0f} s)")
        checking.print_what_helps(self.course, exercise, code)
        self.status.set(exercise, verdict)
        for other in others:
            self.check(other)

    def act(self, key):
        """What a key asks for, about the exercise that was checked last."""
        name = self.current.name
        actions = {
            "h": lambda: show_hint(self.course, Namespace(name=name, all=False, again=False)),
            "d": lambda: show_diff(self.course, Namespace(name=name, yes=False)),
            "p": lambda: picture(self.course, Namespace(name=name, open=False)),
            "n": self.go_on,
            "s": self.show_solution,
        }
        self.status.hide()
        with self.keyboard.given_back():
            try:
                actions.get(key, lambda: print(KEYS))()
            except Failed as refusal:
                print(refusal)
        sys.stdout.flush()

    def go_on(self):
        """Shows the next exercise; a watch of one exercise then watches that one."""
        following = progress.next_of([(one, self.course.known_state(one)) for one in self.course.exercises])
        if following:
            self.current = following
            if len(self.saves.exercises) == 1:
                self.watch([following])
        show_next(self.course, Namespace(fast=False, edit=False))

    def show_solution(self):
        """The solution, after a question."""
        solution = TOP / "solutions" / self.current.chapter / self.current.file.name
        if not solution.is_file():
            raise Failed(f"There is no solution of {self.current.name} here.")
        confirm(f"Show the solution of {self.current.name}?", False, "it was not shown")
        print(solution.read_text(encoding="utf-8"))


def watch(course, arguments):
    """checks an exercise whenever you save it; Ctrl-C ends it"""
    watched = [course.find(arguments.name)] if arguments.name else course.exercises
    with Keyboard() as keyboard:
        session = Watch(course, watched, arguments.every, keyboard)  # what is saved from here on is seen
        try:
            session.greet(bool(arguments.name))
            if arguments.name:
                session.check(watched[0])
            session.run()
            code = 0
        except KeyboardInterrupt:
            code = checking.INTERRUPTED
        # The terminal has written ^C, or has a line of its own: the last line takes its place.
        print("\r" + ("\033[K" if session.status.text else "") + paint(f"{clock()}  the watch has ended", "quiet"))
    return code


def clock():
    """The time of day."""
    return time.strftime("%H:%M:%S")
