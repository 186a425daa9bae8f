#!/usr/bin/env python3
"""Runs hello_sum or hello_course, and reads what it prints.

    test_hello.py PROGRAM

A build for a GPU prints the kernel's time, and one for the CPU device, which does not model time, prints none.
Exit code: 77 where there is no GPU for a program that is built for one.
"""

import re
import subprocess
import sys
from pathlib import Path

N, VALUE, SKIPPED = 100_000, 0.5, 77
COMPILER = "common/build/device/simtcc.json"  # in a build folder for the CPU device


def is_for_cpu_device(program):
    return any((folder / COMPILER).exists() for folder in Path(program).resolve().parents)


def main():
    done = subprocess.run(sys.argv[1:2], capture_output=True, text=True)
    if done.returncode == 1 and re.search("no CUDA-capable device|driver version is insufficient", done.stderr):
        print(f"skipped: {done.stderr.strip()}")
        return SKIPPED
    time = "" if is_for_cpu_device(sys.argv[1]) else r"the kernel took [0-9.]+ ms\n"
    said = re.fullmatch(rf"the sum of {N} numbers is ([0-9.]+)\n{time}", done.stdout)
    if done.returncode != 0 or done.stderr or not said:
        return f"exit code {done.returncode}; it said:\n{done.stdout}{done.stderr}"
    if float(said[1]) != N * VALUE:
        return f"the sum should be {N * VALUE}, and is {said[1]}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
