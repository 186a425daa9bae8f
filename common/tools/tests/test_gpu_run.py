"""A run on a GPU, with stand-ins for all that it calls: what fails, is missing or has no time hides nothing else."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

from tools.lib.checkout import TOP
from tools.measure import bring_in, gpu_run
from tools.measure.summary import SANITIZERS
from tools.tests.sample_course import Course, declared, results, row
from tools.tests.sample_results import sample

READS = ("common/dev",)

PROFILE = {"n": 64, "rungs": ["ours"], "counters": [{"name": "loads", "metric": "loads"}]}
LOG = [
    {"name": "01-x:lessons / 01-x-ladder", "result": "OK", "stdout": ""},
    {"name": "01-x:solutions / sum-solution", "result": "OK", "stdout": ""},
    {"name": "course:probe / finds-the-planted-error", "result": "OK", "stdout": ""},
]
RESULT = sample("passed", device="NVIDIA GPU X", checks={"passed": 3})
NCU = ['"ID","Kernel Name","Metric Name","Metric Value"', '"0","ours()","loads","8"']


class Run(unittest.TestCase):
    def setUp(self):
        self.course = Course(self)
        self.top = self.course.top
        self.chapter = self.course.chapter("01-x", declared(), profile=PROFILE)
        self.build, self.out, self.bin = self.top / "build", self.top / "out", self.top / "bin"
        self.bin.mkdir()
        log = "".join(json.dumps(entry) + "\n" for entry in LOG)
        self.tool("nvcc", "print('Cuda compilation tools, release 13.0, V13.0.48')")
        self.tool("nvidia-smi", "print('GPU 0' if arguments == ['-L'] else 'NVIDIA GPU X, 580.1' if 'driver' in arguments[0] else 'NVIDIA GPU X')")
        self.tool("ninja", f"print(*arguments, file=open({str(self.top / 'calls')!r}, 'a'))\n"
                  "print('01-x-ladder: phony' if 'targets' in arguments else 'compiled')")
        self.tool("meson", f"""
import os, pathlib, time
calls = open({str(self.top / 'calls')!r}, "a")
print(*arguments, os.environ.get("COURSE_TIMEOUT", ""), file=calls, flush=True)
if arguments[0] == "test":
    logs = pathlib.Path(arguments[arguments.index("-C") + 1]) / "meson-logs"
    setup = arguments[arguments.index("--setup") + 1]
    (logs / setup).mkdir(parents=True, exist_ok=True)
    (logs / f"testlog-{{setup}}.json").write_text({log!r})
    (logs / setup / "x.log").write_text("said by " + setup + chr(10))
    (logs.parent / "results").mkdir(exist_ok=True)
    (logs.parent / "results" / "sum-solution.json").write_text({json.dumps(RESULT)!r})
    time.sleep(float(os.environ.get("SLOW", "0")))
""")
        self.tool("ncu", f"""
if arguments == ["--version"]: print("Version 7"); sys.exit()
open(arguments[arguments.index("--log-file") + 1], "w").write({chr(10).join(NCU)!r})
""")
        self.ladder()

    def script(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!{sys.executable}\nimport sys\narguments = sys.argv[1:]\n{text}\n")
        file.chmod(0o755)

    def tool(self, name, text):
        """A program on PATH."""
        self.script(self.bin / name, text)

    def ladder(self, chapter="01-x", fails=False):
        """The ladder of a chapter, whose times differ from run to run."""
        content = results(chapter, row("ours", "rung", 20.0, operations=0), row("lib", "vendor", 30.0, operations=0))
        for made in content["rungs"][1:]:
            made["microseconds"]["samples"] = 20
        self.script(self.build / "chapters" / chapter / "ladder", f"""
import json, random
if {fails}: print("no such device"); sys.exit(3)
content = json.loads({json.dumps(content)!r})
content["rungs"][1]["microseconds"]["median"] += random.random()
if arguments[0] == "--json": json.dump(content, open(arguments[1], "w"))
""")

    def run_it(self, parts=gpu_run.PARTS, minutes=None, options=(), path=None, **environment):
        """(exit code, the results, the summary)"""
        environment = {"PATH": path or f"{self.bin}:{os.environ['PATH']}", **environment}
        with (
            mock.patch.dict(os.environ, environment),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            code = gpu_run.run(self.out, self.build, parts, minutes, list(options), self.top)
        return code, json.loads((self.out / "results.json").read_text()), (self.out / "summary.md").read_text()

    def test_all_good(self):
        code, run, summary = self.run_it(options=["-Dchapters=01-x"])
        self.assertEqual((code, run["problems"]), (0, []), summary)
        self.assertEqual((run["schema"], run["version"], run["device"]), ("course.measured", 1, "NVIDIA GPU X"))
        self.assertEqual([list(run[part]) for part in ("ladders", "profiles", "verdicts")], [["01-x"]] * 3)
        timed = run["ladders"]["01-x"]["rungs"][1]["microseconds"]
        self.assertEqual((len(timed["runs"]), timed["samples"]), (3, 60))
        self.assertEqual(run["verdicts"]["01-x"]["tests"]["sum-solution"]["text"], "3 checks")
        self.assertIn("| 01-x | 2 passed | 0 rejected | clean, 2 | clean, 2 | clean, 2 | clean, 2 | 3 runs | yes |", summary)
        self.assertIn("- NVIDIA GPU X, 580.1, CUDA 13.0\n", summary)
        calls = (self.top / "calls").read_text()
        self.assertIn(f"-C {self.build} -k 0 all variants\n", calls)
        self.assertIn("-Ddevice=cuda -Dself_tests=true -Dchapters=01-x", calls)
        self.assertIn("--setup all --print-errorlogs 240\n", calls)
        self.assertLessEqual(len(list(self.out.iterdir())), 16)
        self.assertEqual((self.out / "memcheck.log").read_text(), "said by memcheck\n")
        self.assertEqual(len(bring_in.of_run(self.top, self.out, False)), 3)

    def test_a_chapter_whose_ladder_fails(self):
        self.ladder("02-y", fails=True)
        self.course.chapter("02-y")
        code, run, summary = self.run_it(("ladders",))
        self.assertEqual((code, list(run["ladders"])), (1, ["01-x"]))
        self.assertIn(f"-C {self.build} -k 0 01-x-ladder\n", (self.top / "calls").read_text())
        self.assertIn("02-y: the ladder ended with exit code 3: no such device", run["problems"])
        self.assertIn("| 01-x | not run | not run |", summary)

    def test_rows_of_other_programs(self):
        self.script(self.chapter / "torch_rows.py", "print('PyTorch is not installed'); sys.exit(77)")
        self.script(self.chapter / "mpi_rows.py", "print('mpirun broke'); sys.exit(1)")
        code, run, summary = self.run_it(("ladders",))
        self.assertEqual(code, 1)
        self.assertIn("01-x: PyTorch is not available: PyTorch is not installed", summary)
        self.assertEqual(run["problems"], ["01-x: the rows of MPI failed: see tests.log"])
        self.assertIn("mpirun broke", (self.out / "tests.log").read_text())

    def test_what_does_not_compile(self):
        self.tool("ninja", "print('x.cu:7: error: no'); sys.exit(1)")
        built, missing = self.build / "chapters" / "01-x" / "ladder", self.build / "common" / "sum-solution"
        (self.build / "chapters" / "02-y").mkdir()
        (self.build / "chapters" / "02-y" / "ladder").symlink_to("nowhere")
        (self.build / "meson-info").mkdir()
        starter = {"suite": ["01-x:exercises"], "cmd": ["/t/check_exercise.py", str(self.build / "starter")]}
        tests = [{"suite": ["01-x:lessons"], "cmd": ["/usr/bin/python3", "/t/common", "tools.check.check_ladder", str(built)]}, {"suite": ["01-x:solutions"], "cmd": [str(missing)]}, starter]
        (self.build / "meson-info" / "intro-tests.json").write_text(json.dumps(tests))
        code, run, _ = self.run_it(("tests", "ladders"))
        self.assertEqual((code, list(run["ladders"])), (1, ["01-x"]))
        self.assertEqual(run["problems"], ["not everything was built: see build.log", "02-y: the ladder was not built"])
        self.assertIn("x.cu:7: error", (self.out / "build.log").read_text())
        said = subprocess.run([missing], capture_output=True, text=True)
        self.assertEqual((said.returncode, said.stdout), (1, "this program was not built: see build.log\n"))
        self.assertEqual(missing.stat().st_mtime, 0)
        self.assertFalse((self.build / "starter").exists())  # its test builds it

    def test_no_build(self):
        self.tool("meson", "print('meson.build:1: ERROR'); sys.exit(1)")
        code, run, _ = self.run_it(("tests", "ladders"))
        self.assertEqual((code, run["problems"][0], run["ladders"]), (1, "`meson setup` failed: see build.log", {}))
        self.assertIn("meson.build:1: ERROR", (self.out / "build.log").read_text())

    def test_a_part_that_fails_hides_no_other(self):
        self.tool("meson", "sys.exit(7 if arguments[0] == 'test' else 0)")
        code, run, _ = self.run_it(("tests", "ladders"))
        self.assertEqual((code, list(run["ladders"])), (1, ["01-x"]))
        self.assertIn("tests: `meson test` ran nothing, and ended with exit code 7: see tests.log", run["problems"])

    def run_out_of_time(self, *parts):
        """Runs these parts; two seconds after the build the time is over, and each takes longer."""
        def build_all(run, *_):
            run.deadline = time.monotonic() + 2

        with mock.patch("tools.measure.gpu_run.Run.build_all", build_all):
            return self.run_it(parts, minutes=60, SLOW="300")

    def test_no_time(self):
        code, run, summary = self.run_out_of_time("tests", "ladders", "profile")
        self.assertEqual(code, 1)
        self.assertEqual(run["problems"][0], "no time was left in tests; not begun: ladders, profile")
        self.assertIn("- NOT RUN: no time was left in tests", summary)

    def test_no_time_for_the_sanitizers(self):
        code, run, _ = self.run_out_of_time("sanitizers")
        self.assertEqual(code, 1)
        self.assertIn("no time was left in sanitizers; not begun: nothing", run["problems"])
        self.assertTrue(all((self.out / f"{tool}.log").exists() for tool in SANITIZERS))

    def test_a_limit_from_outside(self):
        """What a job's limit of time does: a signal, while programs run."""
        code = (
            "from pathlib import Path; from tools.measure import gpu_run\n"
            f"gpu_run.run(Path({str(self.out)!r}), Path({str(self.build)!r}), ('sanitizers', 'tests'), None, [], Path({str(self.top)!r}))"
        )
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "SLOW": "300", "PYTHONPATH": str(TOP / "common")}
        with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL) as program:
            calls = self.top / "calls"
            while not (calls.exists() and "--setup synccheck" in calls.read_text()):
                time.sleep(0.05)
            program.send_signal(signal.SIGTERM)
            self.assertEqual(program.wait(120), 128 + signal.SIGTERM)
        run = json.loads((self.out / "results.json").read_text())
        self.assertIn("ended from outside in sanitizers; not begun: tests", run["problems"])
        self.assertIn("NOT RUN: ended from outside", (self.out / "summary.md").read_text())

    def test_no_gpu(self):
        (self.bin / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")  # as without a driver
        code, run, _ = self.run_it()
        self.assertEqual(code, 1)
        self.assertEqual(run["problems"][0], "not available: needs nvcc on PATH and a GPU")

    def test_no_profiles_without_ncu_or_its_permission(self):
        self.tool("ncu", "print('==ERROR== ERR_NVGPUCTRPERM - no permission'); sys.exit(1)")
        code, run, summary = self.run_it(("profile",))
        self.assertEqual((code, run["profiles"]), (1, {}))  # nothing at all was looked at
        self.assertIn("ncu may not read the counters here", summary)
        self.assertEqual(run["problems"], ["no chapter was looked at"])
        (self.bin / "ncu").unlink()
        self.assertIn("ncu is not available", self.run_it(("profile",), path=f"{self.bin}:/usr/bin:/bin")[2])

    def test_verdicts_that_are_not_known(self):
        with mock.patch.dict(RESULT, {"device": None}):
            self.setUp()
        code, run, _ = self.run_it(("tests",))
        self.assertEqual((code, run["verdicts"]), (1, {}))
        self.assertIn("no result of these tests names the device", run["problems"][0])

    def test_an_old_runs_files_are_gone(self):
        self.run_it()
        self.run_it(("ladders",))
        run = json.loads((self.out / "results.json").read_text())
        self.assertEqual((run["parts"], run["verdicts"]), (["ladders"], {}))


if __name__ == "__main__":
    unittest.main()
