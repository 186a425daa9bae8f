#!/usr/bin/env python3
"""Runs hello_sum or hello_course, and reads what it prints.

    test_hello.py PROGRAM

Exit code: 77 where there is no GPU for a program that is built for one.
"""

import re
import subprocess
import sys

N, VALUE, SKIPPED = 100_000, 0.5, 77


def main():
    done = subprocess.run(sys.argv[1:2], capture_output=True, text=True)
    if done.returncode == 1 and re.search("no CUDA-capable device|driver version is insufficient", done.stderr):
        print(f"skipped: {done.stderr.strip()}")
        return SKIPPED
    said = re.fullmatch(rf"the sum of {N} numbers is ([0-9.]+); the kernel took [0-9.]+ ms\n", done.stdout)
    if done.returncode != 0 or done.stderr or not said:
        return f"exit code {done.returncode}; it said:\n{done.stdout}{done.stderr}"
    if float(said[1]) != N * VALUE:
        return f"the sum should be {N * VALUE}, and is {said[1]}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
