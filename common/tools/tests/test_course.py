#!/usr/bin/env python3
"""The board of exercises."""

import os
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS))
import progress  # noqa: E402

TOP = TOOLS.parents[1]
FILES = TOP / "exercises" / "01-global-atomic"


def rows(**states):
    return [("01-global-atomic", name, FILES / f"{name}.cuh", state) for name, state in states.items()]


class Board(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        os.environ["PWD"] = str(TOP)

    def test_what_is_begun_comes_next(self):
        text = progress.board(
            rows(word_count=progress.SOLVED, lost_update=progress.NOT_STARTED, ticket=progress.BEGUN),
            TOP / "build",
        )
        self.assertEqual(
            text,
            "01-global-atomic\n"
            "  word_count               solved\n"
            "  lost_update              not started\n"
            "  ticket                   begun, not right yet\n"
            "\n"
            "1 of 3 solved.\n"
            "Next: exercises/01-global-atomic/ticket.cuh\n"
            "      meson test -C build ticket",
        )

    def test_all_solved(self):
        text = progress.board(rows(word_count=progress.SOLVED), TOP / "build")
        self.assertTrue(text.endswith("1 of 1 solved."))

    def test_states_follow_from_exit_codes(self):
        def state(code, text=""):
            return progress.state_of([sys.executable, "-c", f"print({text!r}); exit({code})"], "/")

        self.assertEqual(state(0), progress.SOLVED)
        self.assertEqual(state(1), progress.BEGUN)
        self.assertEqual(state(77, "Not started. Open it."), progress.NOT_STARTED)
        self.assertEqual(state(77, "no GPU"), progress.UNKNOWN)


if __name__ == "__main__":
    unittest.main()
