#!/usr/bin/env python3
"""Runs the program `sum_mpi` as a user does, with mpirun, and stops, kills and leaves out ranks, from outside.

    test_sum_mpi.py SUM_MPI_PROGRAM

On the CPU device with up to three ranks; on GPUs with up to one rank for each GPU, and with both engines.
Exit code: 77 where nothing can be run, with the reason: no MPI, no mpirun, no device.
"""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = ""
RANKS = 0  # the most that can be started here
CPU_DEVICE = False
ENGINES = []
SKIPPED = 77
TIMEOUT = 4  # seconds: --timeout where a rank is missing; small to be quick, and enough for a slow machine
LIMIT = 30  # seconds that all may take to end
START = 0.5  # seconds until a rank works, after MPI has started; CUDA and NCCL take longer
N = 10_007  # a prime: no number of ranks divides it


def mpirun(ranks):
    """The command that starts so many ranks."""
    command = ["mpirun", "-n", str(ranks), "--oversubscribe"]
    return command + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def text_of(done):
    return f"{' '.join(done.args)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"


class SumTest(unittest.TestCase):
    def setUp(self):
        # Through a link of its own, so that a process that is still running afterwards is known by its name.
        self.folder = Path(tempfile.mkdtemp(prefix="sum-mpi-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.program = self.folder / "sum_mpi"
        self.program.symlink_to(PROGRAM)
        self.addCleanup(self.end_those_left)

    def need(self, ranks):
        if ranks > RANKS:
            self.skipTest(f"needs {ranks} GPUs, and there {'is' if RANKS == 1 else 'are'} {RANKS}")

    def start(self, command, devices=8, meanwhile=lambda: None):
        """The command, when it has ended; meanwhile() is called while it runs."""
        words = [str(word) for word in command]
        env = {**os.environ, "SIMT_DEVICES": str(devices)}
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                              env=env, stdin=subprocess.DEVNULL) as process:
            try:
                meanwhile()
                stdout, stderr = process.communicate(timeout=100)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)

    def run_ranks(self, ranks, *arguments, code=0, devices=8):
        """The finished mpirun; its exit code has to be `code`."""
        done = self.start([*mpirun(ranks), self.program, *arguments], devices)
        self.assertEqual(done.returncode, code, text_of(done))
        return done

    def results(self, ranks, *arguments):
        """What the program writes as JSON."""
        self.run_ranks(ranks, *arguments, "--json", "results.json")
        return json.loads((self.folder / "results.json").read_text())

    def left_behind(self):
        """The ranks of this test that still run: the number of each one's process."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                variables = (folder / "environ").read_text()
            except OSError:  # it has just ended, or is another user's
                continue
            if words[0] == str(self.program).encode():
                rank = re.search(r"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", variables)
                found[int(rank[1]) if rank else 0] = int(folder.name)
        return found

    def end_those_left(self):
        for process in self.left_behind().values():
            os.kill(process, signal.SIGKILL)

    def said(self, done):
        """The program's own errors, without what mpirun says about them."""
        return [line for line in done.stderr.splitlines() if line.startswith("sum_mpi: ")]


class Sums(SumTest):
    def test_any_number_of_ranks_has_the_same_sum(self):
        for engine in ENGINES:
            values = {}
            for ranks in range(1, min(RANKS, 3) + 1):
                with self.subTest(engine=engine, ranks=ranks):
                    found = self.results(ranks, "--n", N, "--engine", engine, "--samples", 3)
                    self.assertEqual((found["ranks"], found["hosts"], found["n"]), (ranks, 1, N))
                    self.assertTrue(found["engine"].startswith(engine.upper()), found["engine"])
                    for name in ["sum", "reduction"]:
                        times = found[name]
                        self.assertLess(0, times["p10_us"])
                        self.assertLessEqual(times["p10_us"], times["median_us"])
                        self.assertLessEqual(times["median_us"], times["p90_us"])
                    self.assertIsNone(found["vector"])
                    values[ranks] = found["value"]
            self.assertEqual(len(set(values.values())), 1, values)

    def test_fewer_elements_than_ranks(self):
        ranks = min(RANKS, 3)
        self.need(2)
        for engine in ENGINES:
            self.run_ranks(ranks, "--n", ranks - 1, "--engine", engine, "--samples", 1)

    def test_a_vector(self):
        ranks = min(RANKS, 3)
        self.need(2)
        for engine in ENGINES:
            with self.subTest(engine=engine):
                vector = self.results(ranks, "--n", 100, "--engine", engine, "--vector", 4 * N)["vector"]
                self.assertEqual(vector["bytes"], 4 * N)
                wanted = 2 * (ranks - 1) / ranks * 4 * N / vector["median_us"] / 1000
                self.assertAlmostEqual(vector["bus_gbps"], wanted)

    def test_without_mpirun_it_is_one_rank(self):
        done = self.start([self.program, "--n", "2^10", "--vector", 4])
        self.assertEqual(done.returncode, 0, text_of(done))
        self.assertRegex(done.stdout, r"1 rank on 1 host, .*\nthe sum of 1024 floats: [\d.]+, exact\n")

    def test_only_one_rank_speaks(self):
        ranks = min(RANKS, 3)
        done = self.run_ranks(ranks, "--n", 100, "--samples", 1)
        self.assertEqual(done.stdout.count("exact"), 1, text_of(done))
        self.assertEqual(done.stdout.count("rank"), 1, text_of(done))

    def test_a_file_that_cannot_be_written_is_told_before_the_work(self):
        done = self.run_ranks(min(RANKS, 2), "--n", 100, "--json", "no/such/folder/file", code=1)
        self.assertEqual(len(self.said(done)), 1, text_of(done))
        self.assertIn("no/such/folder/file: cannot be written: No such file", done.stderr)
        self.assertNotIn("exact", done.stdout)

    def test_options(self):
        for arguments, says in [(["--n", "0"], "--n: 0"), (["--n", "1x"], "--n: 1x"), (["--vector", "6"], "multiple of 4"),
                                (["--engine", "magic"], "--engine"), (["--samples", "0"], "--samples"),
                                (["--timeout", "0"], "--timeout"), (["more"], "more")]:
            with self.subTest(arguments=arguments):
                done = self.start([self.program, *arguments])
                self.assertEqual(done.returncode, 2, text_of(done))
                self.assertEqual(done.stderr.count("\n"), 1, text_of(done))
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertEqual(len(self.said(self.run_ranks(min(RANKS, 2), "--n", "-", code=2))), 1)

    def test_help(self):
        done = self.start([self.program, "--help"])
        self.assertEqual(done.returncode, 0, text_of(done))
        for word in ["--n", "--vector", "--engine", "--samples", "--timeout", "--json", "Exit codes"]:
            self.assertIn(word, done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 110)

    def test_no_nccl(self):
        if "nccl" in ENGINES:
            self.skipTest("NCCL is here")
        done = self.start([self.program, "--engine", "nccl"])
        self.assertEqual(done.returncode, 2, text_of(done))
        self.assertIn("without NCCL", done.stderr)


class Missing(SumTest):
    """Each ends soon, with an exit code that is not 0 and one line that names the rank that is missing."""

    def setUp(self):
        super().setUp()
        self.need(2)
        self.ranks = min(RANKS, 3)

    def works(self, engine):
        """The words of a program that works for longer than any test."""
        return [self.program, "--n", N, "--samples", 1_000_000, "--engine", engine, "--timeout", TIMEOUT, "--json", "results.json"]

    def ends(self, command, says, meanwhile=lambda: None):
        """The command has to end by itself, within the limit, which begins when meanwhile() has ended."""
        (self.folder / "results.json").unlink(missing_ok=True)
        begin = time.monotonic()

        def then_begin():
            nonlocal begin
            meanwhile()
            begin = time.monotonic()

        done = self.start(command, meanwhile=then_begin)
        self.assertLess(time.monotonic() - begin, LIMIT)
        self.assertNotEqual(done.returncode, 0, text_of(done))
        self.assertEqual(len(re.findall(says, done.stderr)), 1, text_of(done))
        self.assertLessEqual(done.stderr.count("sum_mpi: no answer from"), 1, text_of(done))
        self.assertEqual(done.stdout, "", text_of(done))
        deadline = time.monotonic() + 5
        while self.left_behind() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.left_behind(), {})
        return done

    def ends_after(self, number, engine, rank, says):
        """The rank gets a signal of this number while all work."""

        def send():
            deadline = time.monotonic() + LIMIT
            while not (self.folder / "results.json").exists():  # rank 0 makes it before the work
                self.assertLess(time.monotonic(), deadline, "the program does not begin to work")
                time.sleep(0.05)
            time.sleep(START)
            os.kill(self.left_behind()[rank], number)

        return self.ends([*mpirun(self.ranks), *self.works(engine)], says, send)

    def test_a_rank_is_stopped(self):
        for engine, rank in itertools.product(ENGINES, [0, 1]):
            with self.subTest(engine=engine, rank=rank):
                self.ends_after(signal.SIGSTOP, engine, rank, rf"sum_mpi: no answer from rank {rank}: ")

    def test_a_rank_is_killed(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                done = self.ends_after(signal.SIGKILL, engine, 1, r"process rank 1 .* on signal 9")
                self.assertEqual(done.returncode, 128 + 9)

    def test_a_rank_is_left_out(self):
        last = self.ranks - 1
        for engine in ENGINES:
            with self.subTest(engine=engine):
                self.ends([*mpirun(last), *self.works(engine), ":", "-n", 1, "sleep", 100],
                          rf"sum_mpi: no answer from rank {last}: MPI_Init ")

    def test_more_ranks_than_devices(self):
        if not CPU_DEVICE:
            self.skipTest("GPUs cannot be taken away")
        done = self.run_ranks(3, "--n", N, devices=2, code=1)
        self.assertEqual(len(self.said(done)), 1, text_of(done))
        self.assertIn("sum_mpi: rank 2: needs device 2, and its host has 2: mpirun --map-by ppr:2:node", done.stderr)


def skip_all(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def look_around():
    """Finds out what can be run here. Does not return where that is nothing."""
    global RANKS, CPU_DEVICE, ENGINES, START
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        done = subprocess.run([PROGRAM, "--engine", "mpi", "--n", "1", "--samples", "1", "--json", str(file)],
                              capture_output=True, text=True, timeout=100)
        if done.returncode == SKIPPED or re.search("cudaErrorNoDevice|cudaErrorInsufficientDriver", done.stderr):
            skip_all(done.stderr)
        if done.returncode != 0:
            sys.exit(text_of(done))
        CPU_DEVICE = "CPU device" in json.loads(file.read_text())["device"]
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True) if shutil.which("mpirun") else None
    if version is None or "Open MPI" not in version.stdout:
        skip_all("there is no mpirun of Open MPI (package openmpi-bin)")
    if CPU_DEVICE:
        RANKS, ENGINES = 3, ["mpi"]
        return
    START = 8
    gpus = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    RANKS = len(re.findall("^GPU ", gpus, re.MULTILINE))
    if chosen := os.environ.get("CUDA_VISIBLE_DEVICES"):  # which nvidia-smi does not look at
        RANKS = min(RANKS, len(chosen.split(",")))
    nccl = subprocess.run([PROGRAM, "--engine", "nccl", "--n", "1", "--samples", "1"], capture_output=True, text=True, timeout=100)
    ENGINES = ["mpi"] if "without NCCL" in nccl.stderr else ["mpi", "nccl"]


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop())
    look_around()
    unittest.main()
