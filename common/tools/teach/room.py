"""The first program in the sandbox of one answer: it makes the answer's folder, and starts one command after the other in it.

    room.py SOCKET

The first line of JSON that comes through the socket has the settings: the folder, its files, its limits, the user, what is hidden from
an answer that runs. Each further line is a request, with the descriptors of a command's output and result; each answer is a line
that says how the command ended. Between two commands nothing of the first one runs.

The answer's folder is a file system in memory with a limit of bytes and of files, and the only place that can be written: it goes
with the sandbox, so that nothing is written to a disk, and nothing has to be removed. An answer that runs can write nowhere. A
filter refuses the system calls that make memory which no limit counts, reach other processes, or make other namespaces.

Only the standard library: it runs by itself in the sandbox.
"""

import contextlib
import ctypes
import json
import os
import platform
import signal
import socket
import struct
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 36, 38, 22, 2
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 1 << 12, 1 << 14, 1 << 18
CLONE_NEWNS = 0x20000
NEW_NAMESPACES = 0x7E020000  # the bits of clone() that make one
EPERM, ENOSYS = 1, 38
MOST_PART = 1 << 20

# {system call: its number on x86-64, and on aarch64; None: there is none}
REFUSED = {
    "memfd_create": (319, 279), "memfd_secret": (447, 447),  # memory that belongs to no process
    "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "userfaultfd": (323, 282), "perf_event_open": (298, 241), "bpf": (321, 280), "fanotify_init": (300, 262),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "process_madvise": (440, 440),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "kcmp": (312, 272),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "personality": (135, 92), "modify_ldt": (154, None), "syslog": (103, 116), "acct": (163, 89), "quotactl": (179, 60),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
}
REFUSED_WHILE_IT_RUNS = {  # a compiler's scripts may need these
    "socket": (41, 198),  # no network, also where there is no namespace for it; the CPU device asks addr2line through a socketpair()
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pkey_mprotect": (329, 288), "remap_file_pages": (216, 234),
}
# number of: clone, clone3, mmap, tgkill, prlimit64, mprotect
SPECIAL = {"x86_64": (56, 435, 9, 234, 302, 10), "aarch64": (220, 435, 222, 131, 261, 226)}
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000  # the bit of the other numbers of system calls on x86-64
SHARED_WITHOUT_A_FILE = 0x21  # of mmap(): its pages stay when the process has let them go
WITHOUT_A_FILE, EXECUTABLE = 0x20, 4  # code comes from files alone: those of the check and its libraries

LOAD, JUMP_IF_EQUAL, JUMP_IF_GREATER, MASK, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16


def bits_are(argument, mask, wanted, error):
    """Refuses if `wanted` is what the argument has below the mask; else goes on with the next call's test."""
    return [(LOAD, 0, 0, FIRST_ARGUMENT + 8 * argument), (MASK, 0, 0, mask), (JUMP_IF_EQUAL, 0, 1, wanted), (RETURN, 0, 0, REFUSE | error)]


def any_bit(argument, mask, error):
    return [(LOAD, 0, 0, FIRST_ARGUMENT + 8 * argument), (MASK, 0, 0, mask), (JUMP_IF_EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE | error)]


def filter_for(machine, own_number, is_running):
    """The program of the system calls' filter: bytes; none for a machine whose numbers are not here."""
    if machine not in AUDIT:
        return b""
    column = list(AUDIT).index(machine)
    clone, clone3, mmap, tgkill, prlimit, mprotect = SPECIAL[machine]
    lines = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 1, 0, AUDIT[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if machine == "x86_64":
        lines += [(JUMP_IF_GREATER, 0, 1, X32), (RETURN, 0, 0, REFUSE | ENOSYS)]
    for numbers in {**REFUSED, **(REFUSED_WHILE_IT_RUNS if is_running else {})}.values():
        if numbers[column] is not None:
            lines += [(JUMP_IF_EQUAL, 0, 1, numbers[column]), (RETURN, 0, 0, REFUSE | EPERM)]
    parts = {clone3: [(RETURN, 0, 0, REFUSE | ENOSYS)],  # its flags are in memory; the C library then calls clone()
             clone: any_bit(0, NEW_NAMESPACES, EPERM)}
    if is_running:
        new_code = any_bit(3, WITHOUT_A_FILE, EPERM)
        parts[mmap] = [*bits_are(3, SHARED_WITHOUT_A_FILE, SHARED_WITHOUT_A_FILE, EPERM),
                       (LOAD, 0, 0, FIRST_ARGUMENT + 8 * 2), (MASK, 0, 0, EXECUTABLE), (JUMP_IF_EQUAL, len(new_code), 0, 0), *new_code]
        parts[mprotect] = any_bit(2, EXECUTABLE, EPERM)
        parts[tgkill] = bits_are(0, 0xFFFFFFFF, own_number, EPERM)
        parts[prlimit] = any_bit(0, 0xFFFFFFFF, EPERM)  # of another process
    for number, part in parts.items():
        ends = [*part, (RETURN, 0, 0, ALLOW)]
        lines += [(JUMP_IF_EQUAL, 0, len(ends), number), *ends]
    lines.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount_memory(place, options, flags=MS_NOSUID | MS_NODEV):
    check(libc.mount(b"memory", os.fsencode(place), b"tmpfs", ctypes.c_ulong(flags), options.encode()), f"mount {place}")


def set_filter(program):
    """From here on the filter holds, for this process and for all that descend from it."""
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if program:
        lines = ctypes.create_string_buffer(program, len(program))

        class Program(ctypes.Structure):
            _fields_ = [("count", ctypes.c_ushort), ("lines", ctypes.c_void_p)]

        head = Program(len(program) // 8, ctypes.addressof(lines))
        check(libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(head), 0, 0), "seccomp")


class Room:
    """The folder of an answer, and what runs in it."""

    def __init__(self, settings):
        self.settings = settings
        self.folder, self.is_isolated = settings["folder"], settings["is_isolated"]
        check(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")  # what leaves its parent comes to this process
        if self.is_isolated:
            mount_memory(self.folder, f"size={settings['bytes']},nr_inodes={settings['files']},mode=0711")
        os.mkdir(os.path.join(self.folder, "tmp"))
        for name, text in settings["texts"].items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(text.encode("utf-8", "surrogatepass"))
        os.chmod(self.folder, 0o711)  # as root, an answer that runs is another user: it may start its check, and no more
        if user := settings["user"]:  # as root: that of the compiler
            for place, _, names in os.walk(self.folder):
                for path in (place, *(os.path.join(place, name) for name in names)):
                    os.chown(path, user, user)

    def prepare(self, is_running):
        """Between fork() and exec()."""
        if self.is_isolated and is_running:  # it sees no course, and of /proc the name of its program
            check(libc.unshare(CLONE_NEWNS), "unshare")
            check(libc.mount(None, b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None), "private mounts")
            for place in self.settings["hidden"]:
                mount_memory(place, "size=4k,nr_inodes=3,mode=0755")
                if place == "/proc":  # the CPU device reads the program's own table of symbols
                    os.mkdir("/proc/self", 0o755)
                    os.symlink(os.path.join(self.folder, "check"), "/proc/self/exe")
                check(libc.mount(None, os.fsencode(place), None, ctypes.c_ulong(MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV), None), f"read-only {place}")
            flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV
            check(libc.mount(None, os.fsencode(self.folder), None, ctypes.c_ulong(flags), None), "read-only folder")
        set_filter(filter_for(platform.machine(), os.getppid(), is_running))

    def run(self, request, descriptors):
        """Runs a command to its end; returns how it ended."""
        environment = request["environment"]
        if len(descriptors) > 1:
            environment["COURSE_RESULT"] = f"socket:{descriptors[1]}"
        before = os.times()
        program = subprocess.Popen(request["command"], env=environment, stdin=subprocess.DEVNULL, stdout=descriptors[0],
                                   stderr=subprocess.STDOUT, pass_fds=descriptors[1:], start_new_session=True, cwd=self.folder,
                                   preexec_fn=lambda: self.prepare(request["is_running"]))
        for descriptor in descriptors:
            os.close(descriptor)
        code = program.wait()
        self.end_all()
        after = os.times()
        space = os.statvfs(self.folder)
        return {"code": code, "seconds": after.children_user + after.children_system - before.children_user - before.children_system,
                "is_full": self.is_isolated and (space.f_bavail == 0 or space.f_favail == 0)}

    def end_all(self):
        """Ends what a command has left running, until there is nothing."""
        while True:
            if self.is_isolated:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(-1, signal.SIGKILL)  # all in this process namespace but this process and its init
            else:
                for number in self.children():
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(number, signal.SIGKILL)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return

    @staticmethod
    def children():
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(number) for number in file.read().split()]


def line_from(control):
    """(what a line of JSON says, the descriptors that came with it); None at the end."""
    data, descriptors, _, _ = socket.recv_fds(control, MOST_PART, 2)
    parts = [data]
    while parts[-1] and not parts[-1].endswith(b"\n"):
        parts.append(control.recv(MOST_PART))
    return (json.loads(b"".join(parts)), descriptors) if parts[-1] else None


def main():
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    os.umask(0o022)
    room = Room(line_from(control)[0])
    control.sendall(b"{}\n")
    while request := line_from(control):
        control.sendall(json.dumps(room.run(*request)).encode() + b"\n")


if __name__ == "__main__":
    main()
