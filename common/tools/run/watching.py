"""Watches a program while it runs: how much memory it holds, and whether it computes or waits."""

import contextlib
import os
import select
import selectors
import signal
import stat
import subprocess
import time
from pathlib import Path

from tools.lib.machine import GIB

TICK = 0.2  # seconds between two looks at the program
WAITING_SECONDS = "60"  # without processor time
LAST_WORDS_SECONDS = 12  # for a program that is stopped, to tell where it was; its own alarm comes after 10
LEFT_SECONDS = 1  # for reading what is in the pipe when the program has ended
OVER_THE_LIMIT = 1.2  # what a program may hold while it tells where it was
PAGE = os.sysconf("SC_PAGE_SIZE")


def family(pid):
    """A process, and those that it has started and that are still there."""
    pids = [pid]
    for one in pids:  # it grows
        for file in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                pids += map(int, file.read_text().split())
    return pids


def resident(pids):
    """The bytes of memory that processes hold; a page that two have counts twice."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    return total


def own_memory(pids):
    """The bytes of memory that processes hold without pages of files, which the kernel can take back; a page that two have counts
    once. It takes longer than resident(), which is never less."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                    total += int(line.split()[1]) << 10
    return total


def processor_ticks(pids):
    """The processor time of each process and of the children that it has waited for, in ticks of the kernel."""
    ticks = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # "pid (name) state ..."
            ticks[pid] = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[11:15]
    return ticks


def may_get_input(stdin):
    """True if a program with this standard input may get more of it: at a terminal, or from a pipe whose other end is open."""
    if stdin == subprocess.DEVNULL:
        return False
    number = stdin if isinstance(stdin, int) else stdin.fileno()
    if os.isatty(number):
        return True
    mode = os.fstat(number).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    poll = select.poll()
    poll.register(number, 0)
    return not poll.poll(0)  # else it is closed


class Watch:
    """Looks at a running program, and stops one that holds more memory than its limit, or that waits for ever. `stop`: why, a record as
    those of the program, or None."""

    def __init__(self, process, stdin):
        self.process = process
        self.stdin = stdin
        self.limit = float(os.environ.get("COURSE_MEMORY_GIB", "inf")) * GIB
        self.waiting_limit = float(os.environ.get("COURSE_WAITING_SECONDS", WAITING_SECONDS))
        self.stop = None
        self.stopped_at = 0
        self.last_look = time.monotonic()
        self.ticks = None
        self.waited = 0  # seconds

    def look(self):
        """Looks at the program, if the last look was a while ago."""
        now = time.monotonic()
        passed = now - self.last_look
        if passed < TICK or self.process.poll() is not None:
            return
        self.last_look = now
        pids = family(self.process.pid)
        held = self.memory(pids)
        if self.stop:
            if now - self.stopped_at > LAST_WORDS_SECONDS or held > OVER_THE_LIMIT * self.limit:
                self.process.kill()
        elif held > self.limit:
            self.end({"stopped": "memory", "gib": held / GIB}, pids, now)
        elif self.has_waited(pids, passed):
            self.end({"stopped": "waiting", "waited": self.waiting_limit}, pids, now)

    def hear(self):
        """To call when the program has written something."""
        self.waited = 0

    def memory(self, pids):
        """The memory that processes hold, exactly if it may be too much."""
        held = resident(pids)
        return own_memory(pids) if held > self.limit else held

    def has_waited(self, pids, passed):
        """True if the program has not computed for so long that it is stopped."""
        ticks = processor_ticks(pids)
        if ticks != self.ticks or not ticks or may_get_input(self.stdin):
            self.ticks, self.waited = ticks, 0
        else:
            self.waited += min(passed, 2 * TICK)  # the machine, or this process, may have slept
        return self.waited >= self.waiting_limit

    def end(self, why, pids, now):
        """Stops the program, which tells then where it was, as at the end of its time; what it has started ends at once."""
        self.stop, self.stopped_at = why, now
        self.process.send_signal(signal.SIGXCPU)
        for pid in pids[1:]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def output_of(process, look):
    """What a program writes to standard output, piece by piece, until it has ended; a child that outlives it may hold the pipe for
    longer. Calls `look` all the while."""
    last = None  # when the reading ends
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while last is None or time.monotonic() < last:
            has_ended = process.poll() is not None  # before the look at the pipe: what it wrote is there
            is_ready = selector.select(0 if has_ended else TICK)
            if is_ready:
                piece = os.read(process.stdout.fileno(), 1 << 16)
                if not piece:
                    break
                yield piece
            if has_ended:
                if not is_ready:
                    break
                last = last or time.monotonic() + LEFT_SECONDS
            look()
    while process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(TICK)
        look()
