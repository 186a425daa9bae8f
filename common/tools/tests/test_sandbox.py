"""What a program can reach in the sandbox, and which limits end it."""

import json
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

from tools.lib import result
from tools.lib.checkout import TOP
from tools.teach import answers, sandbox
from tools.teach.sandbox import GIB, MIB, Limits

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
        self.folder = Path(folder.name) / "unit"
        self.course = Path(folder.name) / "course"
        for place in (self.folder, self.course):
            place.mkdir()
        (self.course / "checks").write_text("checks\n")
        (Path(folder.name) / "secret").write_text("of another learner\n")
        if sandbox.is_root():
            os.chown(self.folder, sandbox.FIRST_USER, sandbox.FIRST_USER)
            os.chmod(folder.name, 0o755)

    def run_it(self, *command, is_isolated=True, **more):
        limits = Limits(**{"seconds": 20, "cpu_seconds": 20, **more.pop("limits", {})})
        return sandbox.run(command, self.folder, self.course, limits, more.pop("stop", threading.Event()), is_isolated=is_isolated, **more)

    def shell(self, script, **more):
        return self.run_it("/bin/sh", "-c", script, **more)


@unittest.skipIf(REASON, REASON)
class Sandbox(Folder):
    def test_what_it_prints_and_how_it_ends(self):
        ended = self.shell("echo said; echo and more >&2; exit 3")
        self.assertEqual((ended.code, ended.output, ended.result, ended.why), (3, "said\nand more\n", b"", ""))

    def test_the_course_can_be_read_and_only_the_own_folder_written(self):
        ended = self.shell(f"cat {self.course}/checks; echo x >mine && cat mine; echo x >{self.course}/checks || echo refused;"
                           f" cat {self.folder.parent}/secret; ls {Path.home()} /work /home; ls /proc")
        self.assertIn("checks\nx\n", ended.output)
        self.assertIn("refused", ended.output)
        self.assertNotIn("another learner", ended.output)
        self.assertGreaterEqual(ended.output.count("No such file"), 4, ended.output)  # the secret, the folders, /proc
        self.assertEqual((self.course / "checks").read_text(), "checks\n")

    def test_it_is_another_user_without_rights(self):
        text = self.shell("id -u; setpriv --dump | grep -c 'no_new_privs: 1'; mount -t tmpfs x /tmp || echo no mount").output
        self.assertIn("1\n", text)
        self.assertIn("no mount", text)
        if sandbox.is_root():
            self.assertTrue(text.startswith(f"{sandbox.FIRST_USER}\n"), text)

    def test_there_is_no_network(self):
        code = ("import socket\nprint([name for _, name in socket.if_nameindex()])\n"
                "s = socket.socket(); s.settimeout(2)\n"
                "try:\n  s.connect(('127.0.0.1', %d)); print('connected')\nexcept OSError: print('none')")
        import socket
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.assertEqual(self.run_it(PYTHON, "-c", code % server.getsockname()[1]).output, "['lo']\nnone\n")

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
                self.assertLessEqual(len(ended.output), sandbox.KEPT_OUTPUT)

    def test_processor_time_processes_and_files(self):
        self.assertEqual(self.run_it(PYTHON, "-c", "while True: pass", limits={"cpu_seconds": 1}).code % 128, signal.SIGXCPU)
        bomb = "import os, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(5); os._exit(0)\n    n += 1\nexcept OSError: print(n < 12)"
        self.assertEqual(self.run_it(PYTHON, "-c", bomb).output, "True\n")
        ended = self.shell("head -c 3000000 /dev/zero >large; stat -c %s large", limits={"file_size": MIB})
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
                "sandbox.run(['sleep', sys.argv[3]], sys.argv[1], sys.argv[2], sandbox.Limits(60, 60), threading.Event())")
        grading = subprocess.Popen([sys.executable, "-c", code, str(self.folder), str(self.course), mark],
                                   env={**os.environ, "PYTHONPATH": str(TOP / "common")})
        deadline = time.monotonic() + 20
        while not any(is_sleep(number) for number in running(mark)) and time.monotonic() < deadline:
            time.sleep(0.05)
        grading.kill()
        grading.wait()
        self.assertEqual(running(mark, seconds=10), [])


@unittest.skipIf(REASON, REASON)
class Proof(Folder):
    """A stand-in for a check sends its result."""

    def verdict(self, send, code=0):
        judge = answers.Judge(self.course, self.folder, 60, True)
        program = (f"import json, os, sys\ns = int(os.environ['COURSE_RESULT'].split(':')[1])\nword = os.read(s, 100).decode()\n"
                   f"r = {json.dumps(result.new('passed')).replace('null', 'None')}\n{send}\nos._exit({code})")
        ended = self.run_it(PYTHON, "-c", program, word="a word")
        return judge.read(self.folder, ended, "a word")["verdict"]

    def test_who_knows_the_word_is_believed(self):
        send = "os.write(s, json.dumps({**r, 'proof': word}).encode())"
        self.assertEqual(self.verdict(send), "passed")
        self.assertEqual(self.verdict(send, code=1), "ended_early")

    def test_no_one_else_is(self):
        for what, send in {
            "nothing": "pass", "no word": "os.write(s, json.dumps(r).encode())",
            "another word": "os.write(s, json.dumps({**r, 'proof': 'a guess'}).encode())",
            "two results": "os.write(s, json.dumps(r).encode() + json.dumps({**r, 'proof': word}).encode())",
            "no JSON": "os.write(s, b'passed')", "a lot": "os.write(s, b'[' * 3_000_000)",
            "a list of lists": "os.write(s, b'[' * 100_000)",
        }.items():
            self.assertEqual(self.verdict(send), "ended_early", what)


@unittest.skipIf(REASON, REASON)
class Compiling(Folder):
    def test_the_compiler_reaches_no_more_than_the_answer(self):
        judge = answers.Judge(self.course, self.folder.parent / "answers", 60, True)
        script = f'echo x >{self.course}/checks; echo "x.cuh:1:1: error: $(cat {self.folder.parent}/secret 2>&1)"; exit 1'
        judge.commands["c", "x"] = mock.Mock(script=lambda folder: script)
        found = judge.judge("c", "x", "int a;\n")
        self.assertEqual(found["verdict"], "does_not_compile")
        self.assertRegex(found["text"], "error: .*No such file")
        self.assertNotIn("another learner", found["text"])
        self.assertEqual((self.course / "checks").read_text(), "checks\n")


class Without(Folder):
    def test_without_bubblewrap_a_reason_is_given(self):
        with mock.patch("shutil.which", lambda name: None):
            self.assertIn("apt-get install bubblewrap", sandbox.problem())

    def test_limits_hold_without_it_too(self):
        self.assertIn("printed more than", self.run_it("yes", is_isolated=False, limits={"output": MIB}).why)
        mark = f"74{os.getpid()}.5"
        self.assertEqual(self.shell(f"sleep {mark} & exit 4", is_isolated=False).code, 4)
        self.assertEqual(running(mark, seconds=5), [])


if __name__ == "__main__":
    unittest.main()
