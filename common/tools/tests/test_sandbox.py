"""What a program can reach in the sandbox, and which limits end it."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from tools.lib.checkout import TOP
from tools.teach import sandbox
from tools.teach.sandbox import GIB, MIB, Limits

READS = ("common/tools/teach/room.py",)

REASON = sandbox.problem()
PYTHON = "/usr/bin/python3"


def running(mark, seconds=0.0):
    """The processes whose command line has this mark, after at most so many seconds in which they may end."""
    end = time.monotonic() + seconds
    while (found := running_now(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def running_now(mark):
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in file.read_bytes():
                found.append(int(file.parent.name))
        except OSError:
            pass
    return [number for number in found if number != os.getpid()]


def is_sleep(number):
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().startswith(b"sleep\0")
    except OSError:
        return False


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sandbox-test-")
        self.addCleanup(folder.cleanup)
        self.course = Path(folder.name) / "course"
        self.course.mkdir()
        (self.course / "checks").write_text("checks\n")
        (Path(folder.name) / "secret").write_text("of another learner\n")
        if sandbox.is_root():
            os.chmod(folder.name, 0o755)

    def run_it(self, *command, **more):
        limits = Limits(**{"seconds": 20, "cpu_seconds": 20, **more.pop("limits", {})})
        return sandbox.run(command, self.course, limits, more.pop("stop", threading.Event()), **more)

    def shell(self, script, **more):
        return self.run_it("/bin/sh", "-c", script, **more)

    def python(self, script, **more):
        return self.run_it(PYTHON, "-c", script, **more)


@unittest.skipIf(REASON, REASON)
class Sandbox(Folder):
    def test_what_it_prints_and_how_it_ends(self):
        ended = self.shell("echo said; echo and more >&2; exit 3")
        self.assertEqual((ended.code, ended.output, ended.result, ended.why), (3, "said\nand more\n", b"", ""))
        self.assertEqual(self.shell("kill -9 $$", is_running=False).code, -signal.SIGKILL)

    def test_a_compiler_reads_the_course_and_writes_in_its_folder(self):
        ended = self.shell(f"cat {self.course}/checks exercises/x; echo x >mine && cat mine; ls /proc | grep -c ^self; ls {TOP} /work /home;"
                           f" for f in {self.course}/checks / /tmp /dev /dev/shm /etc /room.py; do echo x >>$f/x || echo refused; done;"
                           f" cat {self.course.parent}/secret", is_running=False, texts={"exercises/x": "\udcff answer\n"})
        self.assertIn("checks\n\ufffd\ufffd\ufffd answer\nx\n1\n", ended.output)
        self.assertEqual(ended.output.count("refused\n"), 7, ended.output)
        self.assertNotIn("another learner", ended.output)
        self.assertEqual((self.course / "checks").read_text(), "checks\n")

    def test_an_answer_that_runs_sees_no_course_and_writes_nowhere(self):
        ended = self.shell(f"ls /proc {self.course} | cat; ls {TOP} {Path.home()} /work /home {self.course.parent}/secret;"
                           " for f in /answer /answer/tmp / /tmp /dev /dev/shm /etc; do echo x >$f/x || echo refused; done; find / -writable -type d")
        self.assertEqual(ended.output.count("refused\n"), 7, ended.output)
        self.assertIn(f"/proc:\nself\n\n{self.course}:\n", ended.output)
        self.assertEqual(self.shell("ls /proc/self; readlink /proc/self/exe").output, "exe\n/answer/check\n")  # its own program's name
        self.assertNotIn("checks", ended.output)
        self.assertGreaterEqual(ended.output.count("No such file"), 4, ended.output)

    def test_a_folder_has_limits_of_bytes_and_files(self):
        start = time.monotonic()
        ended = self.shell("i=0; while echo >f$i; do i=$((i+1)); done; echo $i", is_running=False)
        self.assertLess(int(ended.output.split()[-1]), sandbox.FILES)
        self.assertTrue(ended.is_full)
        ended = self.shell("head -c 3000000000 /dev/zero >large; stat -c %s large", is_running=False, limits={"file_size": 4 * GIB})
        self.assertLessEqual(int(ended.output.split()[-1]), sandbox.SPACE)
        self.assertTrue(ended.is_full)
        nest = "import os\nfor i in range(3000):\n  os.mkdir('d'); os.chdir('d')\n"
        self.assertIn("No space left", self.python(nest, is_running=False).output)
        self.assertLess(time.monotonic() - start, 60)

    def test_nothing_of_a_folder_is_on_a_disk(self):
        with tempfile.TemporaryDirectory() as place, mock.patch.object(tempfile, "tempdir", place):
            with sandbox.Room(self.course, threading.Event(), texts={"a": "a"}) as room:
                room.run(["sh", "-c", "mkdir -p a/b/c; echo x >a/b/c/d; chmod 000 a"], Limits(20, 20), is_running=False)
                self.assertEqual(os.listdir(place), [])
            self.assertEqual(os.listdir(place), [])

    def test_memory_that_no_process_has_mapped(self):
        calls = {"memfd_create": (319, 0x7000), "shmget": (29, 0, 1 << 20, 0o1600), "msgget": (68, 0, 0o1600), "semget": (64, 0, 1, 0o1600),
                 "io_uring_setup": (425, 8, 0), "userfaultfd": (323, 0), "keyctl": (250, 0, 0), "unshare": (272, 0x10000000),
                 "clone into a namespace": (56, 0x10000011, 0), "ptrace": (101, 0), "kill": (62, -1, 9), "tgkill": (234, 2, 2, 9)}
        if os.uname().machine != "x86_64":
            self.skipTest("the numbers of the calls are those of x86-64")
        script = ("import ctypes, errno, mmap, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nfor what, call in %r.items():\n"
                  "  if libc.syscall(*call) != -1 or ctypes.get_errno() != errno.EPERM: print(what, ctypes.get_errno())\n"
                  "try: mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_EXEC); print('code')\nexcept PermissionError: pass\n"
                  "place = ctypes.addressof(ctypes.create_string_buffer(1 << 16)) + 4095 & ~4095\n"
                  "if libc.mprotect(ctypes.c_void_p(place), 4096, 5) == 0: print('memory that becomes code')\n"
                  "try: mmap.mmap(-1, 4096); print('shared memory')\nexcept PermissionError: print('end')" % calls)
        self.assertEqual(self.python(script).output, "end\n")

    def test_it_cannot_end_its_sandbox(self):
        script = ("import os, resource, signal\nfor number in {*range(1, 40)} - {os.getpid()}:\n  for act in (lambda: os.kill(number, 9), "
                  "lambda: resource.prlimit(number, resource.RLIMIT_CPU, (0, 0))):\n    try: act()\n    except OSError: pass\nprint('still here')")
        ended = self.python(script)
        self.assertEqual((ended.code, ended.output), (0, "still here\n"))

    def test_it_is_another_user_without_rights(self):
        text = self.shell("id -u; setpriv --dump | grep -c -e 'no_new_privs: 1' -e 'Ambient capabilities: .none' -e 'Inheritable capabilities: .none';"
                          " mount -t tmpfs x /tmp || echo no mount").output
        self.assertIn("\n3\n", text)
        self.assertIn("no mount", text)
        if sandbox.is_root():
            self.assertTrue(text.startswith(f"{sandbox.FIRST_USER + 1}\n"), text)

    def test_there_is_no_network(self):
        code = ("import socket\ntry:\n  s = socket.socket(); print('a socket'); s.settimeout(2)\n"
                "  s.connect(('127.0.0.1', %d)); print('connected')\nexcept OSError: print('none')")
        import socket
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.assertEqual(self.python(code % server.getsockname()[1]).output, "none\n")
            self.assertEqual(self.python(code % server.getsockname()[1], is_running=False).output, "a socket\nnone\n")

    def test_the_environment_is_not_handed_on(self):
        with mock.patch.dict(os.environ, TOKEN="a secret word"):
            self.assertNotIn("secret", self.shell("env").output)

    def test_processes_that_stay_are_ended(self):
        mark = f"sleep 71{os.getpid()}.5"
        ended = self.shell(f"setsid sh -c 'trap \"\" TERM; {mark}; true' & sleep 0.2; exit 0")
        self.assertEqual((ended.code, ended.why), (0, ""))
        self.assertEqual(running(mark.split()[1], seconds=5), [])

    def test_limits(self):
        hog = "x = []\nwhile True: x.append(bytearray(64 << 20))"
        for what, command, limits, said in (
            ("time", ["sleep", "60"], {"seconds": 0.5}, "did not end within 0.5 seconds"),
            ("output", ["yes"], {"output": MIB}, "printed more than 1 MiB"),
            ("memory", [PYTHON, "-c", hog], {"memory": GIB // 4}, "more than 0.25 GiB of memory"),
        ):
            with self.subTest(what):
                start = time.monotonic()
                ended = self.run_it(*command, limits=limits)
                self.assertIn(said, ended.why)
                self.assertNotEqual(ended.code, 0)
                self.assertLess(time.monotonic() - start, 15)
                self.assertLessEqual(len(ended.output), sandbox.KEPT_OUTPUT + 30)

    def test_a_long_output_keeps_its_begin_and_its_end(self):
        ended = self.shell("echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo end")
        self.assertRegex(ended.output, r"^begin\nx+\n\[\d+ characters\]\nx+end\n$")
        self.assertLess(len(ended.output), sandbox.KEPT_OUTPUT + 30)

    def test_processor_time_processes_and_files(self):
        self.assertEqual(self.run_it(PYTHON, "-c", "while True: pass", limits={"cpu_seconds": 1}).code, -signal.SIGXCPU)
        bomb = "import os, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(5); os._exit(0)\n    n += 1\nexcept OSError: print(n < 12)"
        self.assertEqual(self.run_it(PYTHON, "-c", bomb).output, "True\n")
        ended = self.shell("head -c 3000000 /dev/zero >large; stat -c %s large", limits={"file_size": MIB}, is_running=False)
        self.assertEqual(ended.output.split()[-1], str(MIB))

    def test_an_interrupted_grading_ends_it(self):
        stop = threading.Event()
        threading.Timer(0.3, stop.set).start()
        with self.assertRaises(sandbox.Stopped):
            self.run_it("sleep", f"72{os.getpid()}.5", stop=stop)
        self.assertEqual(running(f"72{os.getpid()}.5", seconds=5), [])

    def test_a_killed_grading_leaves_nothing(self):
        mark = f"73{os.getpid()}.5"
        code = ("import sys, threading; from tools.teach import sandbox\n"
                "sandbox.run(['sleep', sys.argv[2]], sys.argv[1], sandbox.Limits(60, 60), threading.Event())")
        grading = subprocess.Popen([sys.executable, "-c", code, str(self.course), mark],
                                   env={**os.environ, "PYTHONPATH": str(TOP / "common")})
        deadline = time.monotonic() + 20
        while not any(is_sleep(number) for number in running(mark)) and time.monotonic() < deadline:
            time.sleep(0.05)
        grading.kill()
        grading.wait()
        self.assertEqual(running(mark, seconds=10), [])


    def test_between_two_commands_nothing_runs(self):
        with sandbox.Room(self.course, threading.Event()) as room:
            room.run(["sh", "-c", "setsid sh -c 'while :; do echo x >>log; sleep 0.01; done' & sleep 0.2"], Limits(20, 20), is_running=False)
            count = "wc -c <log; sleep 0.2; wc -c <log"
            first, second = room.run(["sh", "-c", count], Limits(20, 20), is_running=False).output.split()
            self.assertEqual(first, second)

    def test_a_sandbox_that_breaks_is_not_the_answers(self):
        for what, patch in {
            "there is no bubblewrap": mock.patch.object(sandbox, "bubblewrap", lambda course: ["/nonexistent/bwrap"]),
            "bubblewrap fails": mock.patch.object(sandbox, "bubblewrap", lambda course: ["bwrap", "--bind", "/nonexistent", "/x"]),
            "it is killed": mock.patch.object(sandbox, "bubblewrap", lambda course: ["sh", "-c", "kill -9 $$"]),
        }.items():
            with self.subTest(what), patch, self.assertRaisesRegex(sandbox.Broken, "the sandbox (ended|does not start)"):
                self.shell("true")
        with sandbox.Room(self.course, threading.Event()) as room, self.assertRaisesRegex(sandbox.Broken, "the sandbox ended with"):
            threading.Timer(0.3, room.process.kill).start()
            room.run(["sleep", "20"], Limits(20, 20))


@unittest.skipIf(REASON, REASON)
class Memory(Folder):
    """Where the system lets this program make control groups, it counts the memory itself."""

    FILL = "x = open('x', 'wb')\nfor i in range(200): x.write(bytes(1 << 20)); x.flush()\nprint('filled')"  # no process has it mapped

    def test_what_no_process_has_mapped_counts(self):
        if not sandbox.control_groups():
            self.skipTest("this program may make no control groups here")
        ended = self.python(self.FILL, is_running=False, limits={"memory": 100 * MIB, "file_size": GIB})
        self.assertIn("more than 0.0976562 GiB of memory", ended.why)
        self.assertEqual(self.python(self.FILL, is_running=False, limits={"file_size": GIB}).output, "filled\n")

    def test_without_control_groups_only_what_is_mapped(self):
        with mock.patch.object(sandbox, "control_groups", list):
            self.assertEqual(self.python(self.FILL, is_running=False, limits={"memory": 100 * MIB, "file_size": GIB}).output, "filled\n")
            hog = "x = []\nwhile True: x.append(bytearray(64 << 20))"
            self.assertIn("of memory", self.python(hog, limits={"memory": GIB // 4}).why)

    def test_no_group_is_left(self):
        self.shell("true")
        self.assertEqual([name for folder, _ in sandbox.control_groups() for name in os.listdir(folder) if f"course-grade-{os.getpid()}-" in name], [])

    def test_the_second_version_of_control_groups(self):
        """With a stand-in: a folder whose files have the names of the second version."""
        folder = self.course / "group"
        for name, text in {"memory.max": "max", "memory.swap.max": "max", "cgroup.procs": "", "memory.events": "low 0\noom 2\noom_kill 1\n"}.items():
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        with mock.patch.object(sandbox, "control_groups", lambda: [(self.course, False)]), mock.patch.object(Path, "mkdir"), \
                mock.patch.object(sandbox.os, "getpid", lambda: 1):
            folder.rename(self.course / "course-grade-1-0")
            group = sandbox.ControlGroup(0)
        group.set(4096)
        self.assertEqual(((group.folder / "memory.max").read_text(), (group.folder / "memory.swap.max").read_text(), group.ended()), ("4096", "0", 1))


class Without(Folder):
    def test_without_bubblewrap_a_reason_is_given(self):
        with mock.patch("shutil.which", lambda name: None):
            self.assertIn("apt-get install bubblewrap", sandbox.problem())

    def test_limits_hold_without_it_too(self):
        self.assertIn("printed more than", self.run_it("yes", is_isolated=False, limits={"output": MIB}).why)
        mark = f"74{os.getpid()}.5"
        self.assertEqual(self.shell(f"setsid sleep {mark} & sleep 0.2; exit 4", is_isolated=False).code, 4)
        self.assertEqual(running(mark, seconds=5), [])

    def test_a_tree_of_any_kind_is_removed(self):
        nest = "import os\nfor i in range(3000):\n  os.mkdir('d'); os.chdir('d')\nos.mkdir('closed', 0)"
        with tempfile.TemporaryDirectory() as place, mock.patch.object(tempfile, "tempdir", place):
            os.chmod(place, 0o755)
            self.assertEqual(self.python(nest, is_isolated=False, is_running=False).output, "")
            self.assertEqual(os.listdir(place), [])

    @unittest.skipUnless(sandbox.is_root(), "only root can make it another user")
    def test_an_answer_is_another_user_than_its_compiler(self):
        os.chown(self.course, 0, sandbox.READERS)
        os.chmod(self.course, 0o750)
        with sandbox.Room(self.course, threading.Event(), is_isolated=False, texts={"a": "a\n"}) as room:
            compiler = room.run(["sh", "-c", f"cat {self.course}/checks; cp /bin/true check; echo x >mine; id -u"], Limits(20, 20), is_running=False)
            self.assertEqual(compiler.output, f"checks\n{sandbox.FIRST_USER}\n")
            answer = room.run(["sh", "-c", f"./check && echo ran; cat {self.course}/checks; echo y >mine; echo y >other; ls; id -u"], Limits(20, 20))
        self.assertEqual((answer.output.count("ermission denied"), answer.output.split()[0], answer.output.split()[-1]),
                         (4, "ran", str(sandbox.FIRST_USER + 1)), answer.output)


if __name__ == "__main__":
    unittest.main()
