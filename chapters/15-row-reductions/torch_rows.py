"""Times PyTorch, eager and compiled, on the rows of the ladder: `common/dev measure torch` runs it.

A group's one array is named after its operation, and is the part of the rows that repeats itself.
"""


def operations(torch, x):
    """{operation: the function of x}, with gamma and beta as the norms have them."""
    width = x.shape[1:]
    gamma, beta = torch.ones(width, dtype=x.dtype, device=x.device), torch.zeros(width, dtype=x.dtype, device=x.device)
    functional = torch.nn.functional
    return {
        "sum of rows": lambda x: x.sum(1, dtype=torch.float32),
        "sum of columns": lambda x: x.sum(0, dtype=torch.float32),
        "softmax": lambda x: torch.softmax(x, 1),
        "logsumexp": lambda x: torch.logsumexp(x, 1),
        "layer_norm": lambda x: functional.layer_norm(x, width, gamma, beta, 1e-5),
        "rms_norm": lambda x: functional.rms_norm(x, width, gamma, 1e-5),
        "argmax": lambda x: x.argmax(1),
        "topk": lambda x: torch.topk(x, 8, 1),
    }


def rows(torch, group, inputs):
    """The operation of the group, as it is and compiled."""
    for name, part in inputs.items():
        x = part.repeat(group["n"] // part.numel(), 1)
        operation = operations(torch, x)[name]
        writes_rows = name in ("softmax", "layer_norm", "rms_norm")
        for how, function in (("PyTorch", operation), ("PyTorch, compiled", torch.compile(operation))):
            yield {
                "name": f"torch {name}" if how == "PyTorch" else f"torch.compile {name}",
                "changed": how,
                "reset": None,
                "launch": lambda function=function: function(x),
                "bytes": x.nbytes * (2 if writes_rows else 1),
            }
        torch._dynamo.reset()  # a compiled function for each group: no recompilation is counted as a limit
