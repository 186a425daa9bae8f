#!/usr/bin/env python3
"""Times torch.index_add_ on the rows of the ladder: see common/tools/measure/torch_timing.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from tools.measure.torch_timing import run  # pylint: disable=wrong-import-position


def rows(torch, group, inputs):
    """index_add_ of rows ("source") to a table of zeros."""
    if "source" not in inputs:
        return
    index, source, expected = inputs["index"], inputs["source"], inputs["expected"]
    table = torch.zeros(expected.shape, dtype=source.dtype, device=source.device)

    def errors(out):
        distance = (out.double() - expected.double()).abs()
        return float(distance.max()), float(distance.mean())

    yield {
        "name": "torch.index_add_",
        "changed": "PyTorch",
        "reset": table.zero_,
        "launch": lambda: table.index_add_(0, index, source),
        "result": lambda out: float(out.flatten()[0]),
        "errors": errors,
        "bytes": index.nbytes + source.nbytes + 2 * table.nbytes,
        "operations": source.numel(),
    }


run(rows)
