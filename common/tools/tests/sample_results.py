"""Results as checks write them, from the fields that a test is about."""

from tools.lib import result

FAILURE = {"test": "", "kind": "", "text": "", "details": "", "file": "", "line": 0, "finding": None, "values": None, "nearest_passed": ""}
FINDING = {"kind": "", "kernel": "", "object": "", "accesses": []}


def sample(verdict, **fields):
    """A whole result with these fields."""
    found = result.new(verdict, **fields)
    found["checks"] = {"passed": 0, "failed": 0, "skipped": 0, "comparisons": 0, **found["checks"]}
    found["failures"] = [{**FAILURE, **failure} for failure in found["failures"]]
    found["counts"] = [{"name": "", "what": "", "costs": "", "value": 0, **count} for count in found["counts"]]
    for failure in found["failures"]:
        if failure["finding"] is not None:
            failure["finding"] = {**FINDING, **failure["finding"]}
    return found
