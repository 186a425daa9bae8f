"""Runs a learner's code, and the compiler on it, where it can reach nothing: under bubblewrap, with limits.

In the sandbox there is a process and a network namespace of its own, the system's programs, the course (read only), and one
folder that may be written. Memory, processes, processor time, elapsed time and output have limits. What the program
started is ended with it. Of /proc there is only what the compiler needs: an answer that runs has none.
"""

import contextlib
import os
import selectors
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30
MOST_RESULT = 10 * MIB  # bytes of a result
KEPT_OUTPUT = 100_000  # bytes of output that are kept: a check prints one screen
STEP = 0.05  # seconds between two looks at the memory
MOST_WORKERS = 1000
FIRST_USER = 2_000_000 + os.getpid() % 1_000_000 * MOST_WORKERS  # root runs answers as these users: one for each worker of
# each grading, because the system counts the processes of a user
KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES")


@dataclass
class Limits:
    """What a program may use. Memory is that of all its processes together; a file's size is that of one file."""

    seconds: float  # elapsed
    cpu_seconds: int  # of each process
    memory: int = 2 * GIB
    processes: int = 8
    file_size: int = 64 * MIB
    output: int = 10 * MIB


@dataclass
class Ended:
    """How a program ended: its exit code (negative: a signal), what it printed, what came through its socket, and why it
    was ended by us, which is empty if it was not."""

    code: int
    output: str
    result: bytes = b""
    why: str = ""


class Stopped(Exception):
    """The instructor has interrupted the grading."""


def path():
    """PATH, without the folders that a sandbox does not have."""
    there = ("/usr/", "/bin", "/sbin", "/opt/")
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(":") if folder.startswith(there)]
    return ":".join(folders or ["/usr/bin", "/bin"])


def is_root():
    return os.geteuid() == 0


def system_mounts():
    """The system's programs and libraries, and no file of a person."""
    mounts = ["--ro-bind", "/usr", "/usr", "--perms", "0755", "--dir", "/etc"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(name):
            mounts += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            mounts += ["--ro-bind", name, name]
    for name in ("/opt", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"):
        mounts += ["--ro-bind-try", name, name]
    for device in sorted(Path("/dev").glob("nvidia*")):
        mounts += ["--dev-bind", str(device), str(device)]
    return mounts


def folders_above(*paths):
    """The folders that lead to these, which all users may pass: bubblewrap would make them its own."""
    parents = {parent for path in paths for parent in Path(path).parents} - {Path("/"), Path("/tmp"), Path("/usr"), Path("/opt")}
    return [word for parent in sorted(parents) for word in ("--perms", "0755", "--dir", str(parent))]


def bubblewrap(folder, course, has_proc):
    """The command line before that of a program that runs in `folder`."""
    own_user = [] if is_root() else ["--unshare-user", "--disable-userns"]
    return [
        "bwrap", *own_user, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
        "--die-with-parent", "--new-session", "--dev", "/dev", "--perms", "1777", "--size", str(256 * MIB), "--tmpfs", "/tmp",
        *system_mounts(), *folders_above(course, folder), *(["--proc", "/proc"] if has_proc else []),
        "--ro-bind", str(course), str(course), "--bind", str(folder), str(folder), "--chdir", str(folder), "--",
    ]


def limited(limits, worker, is_isolated=True):
    """The command line that sets the limits, and as root another user. The system counts the processes of a user, in a
    sandbox those in it: outside of it a limit would count all of yours."""
    user = str(FIRST_USER + worker)
    other_user = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs", "--bounding-set=-all",
                  "--inh-caps=-all", "--"]
    cpu = limits.cpu_seconds
    processes = [f"--nproc={limits.processes}"] if is_isolated or is_root() else []
    return [
        *(other_user if is_root() else ["setpriv", "--no-new-privs", "--"]),
        "prlimit", f"--cpu={cpu}:{cpu + 15}", *processes, f"--fsize={limits.file_size}", "--core=0",
        "--memlock=0", "--msgqueue=0", "--",
    ]


def problem():
    """Why bubblewrap cannot be used here, in a line; empty if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: sudo apt-get install bubblewrap"
    for program in ("prlimit", "setpriv"):
        if shutil.which(program) is None:
            return f"there is no {program}: it is part of util-linux"
    command = [*bubblewrap("/tmp", "/usr", has_proc=False), *limited(Limits(10, 10), 0), "true"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return f"bubblewrap does not start here ({said})"


def descendants(pid):
    """A process and all that descend from it: their numbers."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                found += map(int, Path(f"/proc/{parent}/task/{task}/children").read_text().split())
    return found


def memory_of(pid):
    """The bytes of memory that a process and its descendants have filled."""
    pages = 0
    for number in descendants(pid):
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages += int(Path(f"/proc/{number}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def end(process):
    """Ends a program, and what it has started. In a sandbox nothing of it is left when bubblewrap has gone."""
    if process.returncode is None:
        for number in reversed(descendants(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Collector:
    """Takes what a program prints and sends, without keeping more than the limits."""

    def __init__(self, streams):
        self.kept = {name: bytearray() for name in streams}
        self.most = {"output": KEPT_OUTPUT, "result": MOST_RESULT}
        self.seen = dict.fromkeys(streams, 0)
        self.selector = selectors.DefaultSelector()
        for name, stream in streams.items():
            os.set_blocking(stream, False)
            self.selector.register(stream, selectors.EVENT_READ, name)

    def take(self, seconds):
        """Waits for something to come, and takes it; True if something came."""
        events = self.selector.select(seconds) if self.selector.get_map() else []
        if not events:
            if not self.selector.get_map():
                time.sleep(seconds)
            return False
        for key, _ in events:
            try:
                data = os.read(key.fd, 65536)
            except BlockingIOError:
                continue
            except OSError:  # the other end of the socket has gone with unread bytes
                data = b""
            if not data:
                self.selector.unregister(key.fd)
                continue
            self.seen[key.data] += len(data)
            kept = self.kept[key.data]
            kept += data[:max(0, self.most[key.data] - len(kept))]
        return True


def supervise(process, collector, limits, stop):
    """Waits for a program's end; returns why it had to be ended, or nothing."""
    last = time.monotonic() + limits.seconds
    while process.poll() is None:
        collector.take(STEP)
        if stop.is_set():
            end(process)
            raise Stopped
        if sum(collector.seen.values()) > limits.output:
            return f"it printed more than {limits.output // MIB} MiB"
        if memory_of(process.pid) > limits.memory:
            return f"it needs more than {limits.memory / GIB:g} GiB of memory"
        if time.monotonic() > last:
            return f"it did not end within {limits.seconds:g} seconds"
    return ""


def run(command, folder, course, limits, stop, *, worker=0, is_isolated=True, has_proc=False, word=None, **environment):
    """Runs a command in `folder`; returns an Ended.

    With a `word` it gets a socket, COURSE_RESULT=socket:N, from which it reads the word, and through which its result comes.
    """
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    environment = {**kept, "PATH": path(), "HOME": "/nonexistent", "TMPDIR": "/tmp", "PWD": str(folder), **environment}
    front = bubblewrap(folder, course, has_proc) if is_isolated else []
    ours, theirs = socket.socketpair()
    with ours, theirs:
        if word is not None:
            ours.sendall(word.encode())
            environment["COURSE_RESULT"] = f"socket:{theirs.fileno()}"
        process = subprocess.Popen(
            [*front, *limited(limits, worker, is_isolated), *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            pass_fds=[theirs.fileno()] if word is not None else [],
        )
        theirs.close()
        collector = Collector({"output": process.stdout.fileno(), **({"result": ours.fileno()} if word is not None else {})})
        try:
            with process.stdout:
                try:
                    why = supervise(process, collector, limits, stop)
                finally:
                    end(process)
                for _ in range(KEPT_OUTPUT // 1000):  # what came before the end, and no more of what still comes
                    if not collector.take(0):
                        break
        finally:
            collector.selector.close()
    return Ended(process.returncode, collector.kept["output"].decode("utf-8", "replace"),
                 bytes(collector.kept.get("result", b"")), why)
