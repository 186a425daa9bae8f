"""Times torch.dot on the arrays of the ladder: `common/dev measure torch` runs it."""


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
