"""A program at a terminal: python3-pexpect plays the terminal, and the tests look at what is written there."""

import time
import unittest

try:
    import pexpect
except ImportError:
    pexpect = None

needs_terminal = unittest.skipUnless(pexpect, "no python3-pexpect: common/tools/setup.sh --contributor installs it")


class Screen:
    """A program at a terminal of its own, which it is the foreground of."""

    def __init__(self, command, columns=80, **options):
        self.written = ""
        # env finds a program whose path is relative to `cwd`, and becomes it.
        self.child = pexpect.spawn(
            "/usr/bin/env", [str(word) for word in command], dimensions=(24, columns), encoding="utf-8", **options,
        )

    @property
    def text(self):
        """All that was written, with Unix's ends of lines."""
        return self.written.replace("\r\n", "\n")

    def read(self, seconds):
        """Takes in what is written within some seconds; False when the program has closed the terminal."""
        try:
            self.written += self.child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            return False
        return True

    def wait_for(self, text, seconds=20, times=1):
        end = time.monotonic() + seconds
        while self.text.count(text) < times:
            if not self.read(0.1) or time.monotonic() > end:
                raise AssertionError(f"{text!r} did not come, but:\n{self.text}")

    def send(self, text):
        self.child.send(text)

    def finish(self, seconds=20):
        """Waits for the end; returns the exit code and all that was written."""
        end = time.monotonic() + seconds
        while self.read(0.1):
            if time.monotonic() > end:
                self.close()
                raise AssertionError(f"no end, but:\n{self.text}")
        self.child.wait()
        code = self.child.exitstatus
        return -self.child.signalstatus if code is None else code, self.text

    def close(self):
        """Ends the program if it still runs."""
        self.child.close(force=True)
