"""Times torch.index_add_ on the arrays of the ladder: `common/dev measure torch` runs it."""

from tools.measure.torch_timing import index_add_row


def rows(torch, group, inputs):
    """index_add_ of rows of halves."""
    yield index_add_row(torch, inputs, inputs["source"], 0)
