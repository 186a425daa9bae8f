#!/usr/bin/env python3
"""Times torch.index_add_ on the arrays of the ladder: see common/tools/measure/torch_timing.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from tools.measure.torch_timing import index_add_row, run  # pylint: disable=wrong-import-position


def rows(torch, group, inputs):
    """index_add_ of single halves ("values") or of rows of them ("source")."""
    source = inputs["source"] if "source" in inputs else inputs["values"]
    yield index_add_row(torch, inputs, source, source.numel())


run(rows)
