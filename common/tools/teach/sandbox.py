"""Runs a learner's code, and the compiler on it, where it can reach nothing: under bubblewrap, with limits.

An answer has a sandbox of its own (Room), in which commands run one after the other: room.py is the program in it. In the sandbox
there is a process and a network namespace of its own, the system's programs, and one folder, in memory, that a compiler may write.
The compiler sees the course (read only) and /proc; an answer that runs sees neither, but its program's name, and can write nowhere. Memory, processes,
processor time, elapsed time, files and output have limits. What a command started is ended with it.

What an answer did and what the machine did are two things: a command that the limits have ended has a `why`; a sandbox that broke
raises Broken, and says nothing of the answer.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30
MOST_RESULT = 10 * MIB  # bytes of a result
KEPT_OUTPUT = 100_000  # characters of output that are kept: a check prints one screen
STEP = 0.05  # seconds between two looks at the memory
START = 60  # seconds that a sandbox may take to be there
MOST_WORKERS = 1000
FIRST_USER = 2_000_000 + os.getpid() % 1_000_000 * 2 * MOST_WORKERS  # root compiles and runs answers as these users: two for each
# worker of each grading, because the system counts the processes of a user, and because an answer may not read what its compiler may
READERS = 1_999_999  # as root: the group that may read the course, in which compilers are
KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES")
FOLDER = "/answer"  # in the sandbox
SPACE, FILES = 256 * MIB, 1000  # of an answer's folder
PROGRAM = "/room.py"


@dataclass
class Limits:
    """What a program may use. Memory is that of all its processes together; a file's size is that of one file."""

    seconds: float  # elapsed
    cpu_seconds: int  # of each process
    memory: int = 2 * GIB
    processes: int = 8
    file_size: int = 64 * MIB
    output: int = 10 * MIB
    open_files: int = 256


@dataclass
class Ended:
    """How a program ended: its exit code (negative: a signal), what it printed, what came through its socket, why it was ended by
    a limit, which is empty if it was not, how much processor time it took, and whether its folder was full then."""

    code: int
    output: str
    result: bytes = b""
    why: str = ""
    seconds: float = 0.0
    is_full: bool = False


class Stopped(Exception):
    """The instructor has interrupted the grading."""


class Broken(Exception):
    """The sandbox does not work: what was to run in it is not judged."""


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


def python():
    """The interpreter that a sandbox has."""
    return "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable


def bubblewrap(course):
    """The command line before that of room.py. Nothing of what bubblewrap makes can be written: room.py mounts what can, with a limit of
    files, for which it keeps the right to mount in the sandbox's own namespace."""
    own_user = [] if is_root() else ["--unshare-user", "--disable-userns"]
    return [
        "bwrap", *own_user, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
        "--die-with-parent", "--new-session", "--cap-add", "CAP_SYS_ADMIN", "--dev", "/dev", "--dir", "/tmp",
        *system_mounts(), *folders_above(course), "--proc", "/proc", "--dir", FOLDER, "--ro-bind", str(course), str(course),
        "--ro-bind", str(Path(__file__).with_name("room.py")), PROGRAM, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--",
        "unshare", "--mount", "--propagation", "private", "--",
    ]


def users_of(worker):
    """(that of the compiler, that of the answer) as root; (0, 0) else."""
    return (FIRST_USER + 2 * worker, FIRST_USER + 2 * worker + 1) if is_root() else (0, 0)


def limited(limits, worker, is_running, is_isolated=True):
    """The command line that sets the limits, and as root another user. The system counts the processes of a user, in a
    sandbox those in it: outside of it a limit would count all of yours."""
    user = str(users_of(worker)[is_running])
    groups = ["--clear-groups"] if is_running else ["--groups", str(READERS)]
    other_user = ["setpriv", "--reuid", user, "--regid", user, *groups, "--no-new-privs", "--bounding-set=-all",
                  "--inh-caps=-all", "--ambient-caps=-all", "--"]
    cpu = limits.cpu_seconds
    processes = [f"--nproc={limits.processes}"] if is_isolated or is_root() else []
    return [
        *(other_user if is_root() else ["setpriv", "--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all", "--"]),
        "prlimit", f"--cpu={cpu}:{cpu + 15}", *processes, f"--fsize={limits.file_size}", f"--nofile={limits.open_files}", "--core=0",
        "--memlock=0", "--msgqueue=0", "--",
    ]


def problem():
    """Why bubblewrap cannot be used here, in a line; empty if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: sudo apt-get install bubblewrap"
    for program in ("prlimit", "setpriv", "unshare"):
        if shutil.which(program) is None:
            return f"there is no {program}: it is part of util-linux"
    remove_old_groups()
    try:
        ended = run(["true"], "/usr/share", Limits(30, 10), threading.Event())
    except Broken as error:
        return f"bubblewrap does not start here ({error})"
    return "" if ended.code == 0 else f"bubblewrap does not start here (exit code {ended.code}: {ended.output.strip()})"


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


def clipped(text, most):
    """A text of at most so many characters and a line between: its begin and its end."""
    return text if len(text) <= most else f"{text[:most // 2]}\n[{len(text) - most // 2 * 2} characters]\n{text[-(most // 2):]}"


class Collector:
    """Takes what a program prints and sends, without keeping more than the limits."""

    def __init__(self, streams):
        self.kept, self.most = {}, {"output": KEPT_OUTPUT, "result": MOST_RESULT, "control": MIB}
        self.seen, self.open = {}, {}
        self.selector = selectors.DefaultSelector()
        for name, stream in streams.items():
            self.seen[name] = 0
            self.add(name, stream, bytearray())

    def add(self, name, number, kept):
        os.set_blocking(number, False)
        self.kept[name], self.open[name] = kept, number
        self.selector.register(number, selectors.EVENT_READ, name)

    def remove(self, name):
        self.selector.unregister(self.open.pop(name))

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
            except OSError:  # the other end of the control socket has gone with unread bytes
                data = b""
            if not data:
                self.remove(key.data)
                continue
            if key.data in self.seen:
                self.seen[key.data] += len(data)
            kept, most = self.kept[key.data], self.most[key.data]
            kept += data
            if key.data == "output":  # its begin and its end
                del kept[most:-most]
            else:
                del kept[most:]
        return True


class ControlGroup:
    """A group of processes whose memory the system itself counts and limits: with files in memory and what no process has mapped.
    Where this program may make none, `folder` is None, and only what processes have mapped is counted (memory_of)."""

    def __init__(self, name):
        self.folder, self.is_first_version = None, False
        for parent, self.is_first_version in control_groups():
            folder = parent / f"course-grade-{os.getpid()}-{name}"
            with contextlib.suppress(OSError):
                folder.mkdir(exist_ok=True)
                if (folder / self.limit).exists() and os.access(folder / "cgroup.procs", os.W_OK):
                    self.folder = folder
                    return
                folder.rmdir()

    @property
    def limit(self):
        return "memory.limit_in_bytes" if self.is_first_version else "memory.max"

    def set(self, memory):
        """Sets the limit of memory, and allows no swapping."""
        if self.folder:
            (self.folder / self.limit).write_text(str(memory))
            with contextlib.suppress(OSError):  # a system without swap has no such file
                (self.folder / ("memory.swappiness" if self.is_first_version else "memory.swap.max")).write_text("0")

    def ended(self):
        """How many processes the system has ended for their memory."""
        if not self.folder:
            return 0
        text = (self.folder / ("memory.oom_control" if self.is_first_version else "memory.events")).read_text()
        return int(dict(line.split() for line in text.splitlines()).get("oom_kill", 0))

    def front(self):
        """The command line before that of a program which is to be in the group with all that it starts."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.folder / "cgroup.procs")] if self.folder else []

    def remove(self):
        """Removes the group once its processes have gone."""
        end = time.monotonic() + 5
        while self.folder and self.folder.exists() and time.monotonic() < end:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.02)


def control_groups():
    """[(folder in which this program may make control groups of memory, True for the first version of these)]"""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    found = []
    for _, place, kind, options, *_ in mounts:
        if kind == "cgroup" and "memory" in options.split(","):
            inner = next((path for _, names, path in own if "memory" in names.split(",")), "/")
            found += [(Path(place + inner), True), (Path(place), True)]
        elif kind == "cgroup2":
            inner = next((path for number, _, path in own if number == "0"), "/")
            folders = [Path(place + inner), *Path(place + inner).parents]
            found += [(folder, False) for folder in folders if str(folder).startswith(place) and has_memory_below(folder)]
    return [(folder, first) for folder, first in found if os.access(folder, os.W_OK)]


def remove_old_groups():
    """Removes the control groups of gradings that were killed."""
    for parent, _ in control_groups():
        for folder in parent.glob("course-grade-*"):
            if not Path("/proc", folder.name.split("-")[2]).exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()


def has_memory_below(folder):
    with contextlib.suppress(OSError):
        return "memory" in (folder / "cgroup.subtree_control").read_text().split()
    return False


class Room:
    """The sandbox of one answer; a context. `texts` are the files that its folder has at the beginning."""

    def __init__(self, course, stop, *, worker=0, is_isolated=True, texts=None):
        self.stop, self.worker, self.is_isolated = stop, worker, is_isolated
        self.course, self.texts = Path(course), texts or {}
        self.folder = FOLDER

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            if not self.is_isolated:
                self.folder = tempfile.mkdtemp(prefix="grade-")
                stack.callback(remove_tree, self.folder)
            self.group = ControlGroup(self.worker)
            stack.callback(self.group.remove)
            self.errors = stack.enter_context(tempfile.TemporaryFile())
            self.control, theirs = socket.socketpair()
            stack.enter_context(self.control)
            with theirs:
                self.process = self.started(theirs.fileno())
            stack.callback(end, self.process)
            self.send({"folder": self.folder, "is_isolated": self.is_isolated, "bytes": SPACE, "files": FILES, "texts": self.texts,
                       "user": users_of(self.worker)[0], "hidden": ["/proc", str(self.course)]}, [])
            collector = Collector({})
            stack.callback(collector.selector.close)
            if why := self.wait(collector, Limits(START, START), 0)[1]:
                raise Broken(f"the sandbox was ended: {why}")
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def started(self, control):
        """The process of the sandbox, with room.py in it."""
        front = bubblewrap(self.course) if self.is_isolated else []
        place = PROGRAM if self.is_isolated else str(Path(__file__).with_name("room.py"))
        try:
            return subprocess.Popen(
                [*self.group.front(), *front, python(), "-I", "-S", place, str(control)], cwd="/", env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors, start_new_session=True, pass_fds=[control],
            )
        except OSError as error:
            raise Broken(f"the sandbox does not start: {error}") from error

    def environment(self):
        kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
        return {**kept, "PATH": path(), "HOME": "/nonexistent", "TMPDIR": f"{self.folder}/tmp", "PWD": self.folder}

    def send(self, request, descriptors):
        os.set_blocking(self.control.fileno(), True)
        try:
            socket.send_fds(self.control, [json.dumps(request).encode() + b"\n"], descriptors)
        except OSError as error:
            raise self.broken() from error

    def broken(self):
        """What to raise when room.py has gone."""
        end(self.process)
        self.errors.seek(0)
        said = self.errors.read(KEPT_OUTPUT).decode("utf-8", "replace").strip().splitlines()
        return Broken(f"the sandbox ended with {self.process.returncode}{': ' + said[-1] if said else ''}")

    def wait(self, collector, limits, ended_before):
        """(room.py's answer, why the command had to be ended): one of both."""
        last = time.monotonic() + limits.seconds
        answer = bytearray()
        collector.add("control", self.control.fileno(), answer)
        while not answer.endswith(b"\n"):
            collector.take(STEP)
            if self.stop.is_set():
                end(self.process)
                raise Stopped
            if sum(collector.seen.values()) > limits.output:
                return None, f"it printed more than {limits.output // MIB} MiB"
            if self.group.ended() > ended_before or memory_of(self.process.pid) > limits.memory:
                return None, f"it needs more than {limits.memory / GIB:g} GiB of memory"
            if time.monotonic() > last:
                return None, f"it did not end within {limits.seconds:g} seconds"
            if "control" not in collector.open or (self.process.poll() is not None and not collector.take(0)):
                raise self.broken()
        collector.remove("control")
        return json.loads(answer), ""

    def run(self, command, limits, *, is_running=True, has_result=False, **environment):
        """Runs a command in the folder; returns an Ended. With a result it gets a socket for it, COURSE_RESULT=socket:N.
        A command that was ended by a limit was the last one of this sandbox."""
        ended_before = self.group.ended()
        self.group.set(limits.memory)
        request = {"command": [*limited(limits, self.worker, is_running, self.is_isolated), *command],
                   "environment": {**self.environment(), **environment}, "is_running": is_running}
        streams, theirs = {}, []
        for name in ["output", *(["result"] if has_result else [])]:
            streams[name], other = os.pipe()
            theirs.append(other)
        collector = Collector(streams)
        try:
            try:
                self.send(request, theirs)
            finally:
                for other in theirs:
                    os.close(other)
            answer, why = self.wait(collector, limits, ended_before)
            if why:
                end(self.process)
            for _ in range(KEPT_OUTPUT // 1000):  # what came before the end, and no more of what still comes
                if not collector.take(0):
                    break
        finally:
            collector.selector.close()
            for ours in streams.values():
                os.close(ours)
        answer = answer or {"code": -signal.SIGKILL, "seconds": 0.0, "is_full": False}
        output = clipped(collector.kept["output"].decode("utf-8", "replace"), KEPT_OUTPUT)
        return Ended(answer["code"], output, bytes(collector.kept.get("result", b"")), why,
                     answer["seconds"], answer["is_full"])


def remove_tree(folder):
    """No tree is too deep or too closed for these two programs."""
    subprocess.run(["chmod", "-R", "u+rwX", folder], stderr=subprocess.DEVNULL, check=False)
    subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL, check=False)


def run(command, course, limits, stop, *, worker=0, is_isolated=True, texts=None, **more):
    """Runs one command in a sandbox of its own."""
    with Room(course, stop, worker=worker, is_isolated=is_isolated, texts=texts) as room:
        return room.run(command, limits, **more)
