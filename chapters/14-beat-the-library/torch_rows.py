#!/usr/bin/env python3
"""Times torch.index_add_ on the arrays of the ladder: see common/tools/measure/torch_timing.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from tools.measure.torch_timing import index_add_row, run  # pylint: disable=wrong-import-position


def rows(torch, group, inputs):
    """index_add_ of rows of halves."""
    yield index_add_row(torch, inputs, inputs["source"], 0)


run(rows)
