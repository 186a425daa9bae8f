"""Times torch.index_add_ on the arrays of the ladder: `common/dev measure torch` runs it."""

from tools.measure.torch_timing import index_add_row


def rows(torch, group, inputs):
    """index_add_ of single halves ("values") or of rows of them ("source")."""
    source = inputs["source"] if "source" in inputs else inputs["values"]
    yield index_add_row(torch, inputs, source, source.numel())
