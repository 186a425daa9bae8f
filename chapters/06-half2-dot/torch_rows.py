#!/usr/bin/env python3
"""Times torch.dot on the arrays of the ladder: see common/tools/measure/torch_timing.py"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from tools.measure.torch_timing import run


def rows(torch, group, inputs):
    if "a" not in inputs or "b" not in inputs:
        return
    a, b = inputs["a"], inputs["b"]
    yield {
        "name": "torch.dot",
        "changed": "the result is a half; PyTorch",
        "reset": None,
        "launch": lambda: torch.dot(a, b),
        "result": float,
        "bytes": a.numel() * a.element_size() + b.numel() * b.element_size(),
    }


run(rows)
