"""Says how far a grading is: on one line of a terminal, anew every half second; elsewhere with a line after 5 s, and then
less and less often, up to one every half minute."""

import os
import shutil
import sys
import threading
import time

TICK_SECONDS = 0.5
FIRST_LINE_SECONDS, LINE_SECONDS = 5, 30  # to the first line where there is no terminal, and the most between two


def in_words(seconds):
    """40 s, 7 min, 2 h 5 min."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """What is done of what there is to do. A context manager, which shows it until it ends, also while no step comes."""

    def __init__(self, what, total=0, out=None):
        self.what, self.total, self.out = what, total, out or sys.stderr
        self.is_terminal = self.out.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        self.start, self.done, self.detail = time.monotonic(), 0, ""
        self.start_of_steps = self.start  # what comes before the first step says nothing of how long one takes
        self.next_line, self.over = FIRST_LINE_SECONDS, threading.Event()

    def text(self):
        """building the course: 12 of 40 (35 s), about 2 min left: 01-global-atomic/ticket"""
        now = time.monotonic()
        seconds, of_steps = now - self.start, now - self.start_of_steps
        parts = [f"{self.what}: {self.done} of {self.total} ({in_words(seconds)})" if self.total else f"{self.what} ({in_words(seconds)})"]
        if 0 < self.done < self.total and of_steps > 2:
            parts.append(f", about {in_words(of_steps / self.done * (self.total - self.done))} left")
        return "".join(parts) + (f": {self.detail}" if self.detail else "")

    def step(self, done, detail="", total=None):
        """So much is done, and what comes now or came last."""
        if total is not None and not self.total:
            self.total, self.start_of_steps = total, time.monotonic()
        self.done, self.detail = done, detail

    def show(self):
        """Writes the line of a terminal anew; elsewhere a line, if it is time for one."""
        if self.is_terminal:
            width = max(20, shutil.get_terminal_size().columns - 1)
            print(f"\r\033[K{self.text()[:width]}", end="", file=self.out, flush=True)
            return
        seconds = time.monotonic() - self.start
        if seconds >= self.next_line:
            self.next_line = seconds + min(seconds, LINE_SECONDS)
            print(self.text(), file=self.out, flush=True)

    def tick(self):
        while not self.over.wait(TICK_SECONDS):
            self.show()

    def __enter__(self):
        self.thread = threading.Thread(target=self.tick, daemon=True)
        if not self.is_terminal:
            print(f"{self.what} ...", file=self.out, flush=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        if self.is_terminal:
            print("\r\033[K", end="", file=self.out, flush=True)
