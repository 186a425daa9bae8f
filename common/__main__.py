"""Runs a module of the tools as a program: `python3 common tools.tests.test_lesson`. Modules are found in this folder."""

import os
import runpy
import sys

sys.path[0] = os.path.abspath(sys.path[0])  # a program may go to another folder
del sys.argv[0]
module = sys.argv[0]


def run():
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if ".tests.test_" in module:
    from tools.verdicts.reads import run_test

    run_test(module, run)
else:
    run()
