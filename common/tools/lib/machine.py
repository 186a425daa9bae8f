"""What this machine has: processors and memory that programs may use."""

import contextlib
import os
from pathlib import Path

GIB = 1 << 30


def cores():
    """How many processors this program may use."""
    return len(os.sched_getaffinity(0))


def memory_for_programs(jobs):
    """The GiB that each of so many programs at a time may hold: of what is available now, a quarter is left for others."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        available = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
        with contextlib.suppress(OSError, ValueError):  # a container's own limit; "max" is none
            group = Path("/sys/fs/cgroup")
            counts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            of_files = int(counts.get("active_file", 0)) + int(counts.get("inactive_file", 0))  # the kernel can take it back
            used = int((group / "memory.current").read_text()) - of_files
            available = min(available, max(0, int((group / "memory.max").read_text()) - used))
        return 0.75 * available / jobs / GIB
    return float("inf")  # only Linux tells
