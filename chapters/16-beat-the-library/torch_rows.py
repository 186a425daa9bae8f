"""Times torch.index_add_ and torch.softmax on the arrays of the ladder: `common/dev measure torch` runs it."""

from tools.measure.torch_timing import index_add_row


def softmax_row(torch, part, rows):
    """torch.softmax of rows of floats, of which `part` has the first ones: it repeats itself."""
    x = part.repeat(rows // len(part), 1)
    return {
        "name": "torch.softmax",
        "changed": "PyTorch",
        "launch": lambda: torch.softmax(x, 1),
        "bytes": 2 * x.nbytes,
    }


def rows(torch, group, inputs):
    """index_add_ of rows of halves, or softmax of rows of floats."""
    if "softmax" in inputs:
        part = inputs["softmax"]
        yield softmax_row(torch, part, group["n"] // part.shape[1])
    else:
        yield index_add_row(torch, inputs, inputs["source"], 0)
