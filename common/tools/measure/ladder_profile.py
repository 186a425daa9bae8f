"""The profile of a chapter: which counters of ncu (Nsight Compute) its rungs are asked for, and their table.

The table [profile] of chapter.toml: n = 16777216, rungs = ["sum_shared_tree", ...], counters = [{name =
"sectors per load", metric = "l1tex__t_sectors_...", per = "l1tex__t_requests_..."}, ...]. A counter with "per"
is the quotient of two metrics. Where the launch to look at is not the first of its run, a rung is {rung =
"sum_two_kernels", kernel = "sum_partials"}, and "skip" is the number of this kernel's launches that come
before it: a group of a ladder launches each rung 24 times. `n` is what the ladder is given as --n; rows_n, of all
rungs or of one, is what the rungs' rows then have as n, where that is another number.
"""

import re
import shlex

from tools.lib.chapter_results import PROFILE, SCHEMAS, VERSION
from tools.lib.failed import Failed
from tools.lib.rows import NONE
from tools.measure import ncu


def as_rung(rung):
    """(name, kernel, skip) of a rung in [profile]."""
    return (rung, None, 0) if isinstance(rung, str) else (rung["rung"], rung.get("kernel"), rung.get("skip", 0))


def rows_n(plan, name):
    """The n of a rung's rows; the plan's own n where nothing else is said."""
    of_rung = next((rung for rung in plan["rungs"] if as_rung(rung)[0] == name), name)
    own = None if isinstance(of_rung, str) else of_rung.get("rows_n")
    return own or plan.get("rows_n", plan["n"])


def kernel_name(measured):
    """The name of the kernel that ncu looked at, without its type and parameters; of template arguments only numbers stay,
    which tell two kernels of a template apart."""
    return re.match(r"(?:void )?(\w+(?:<[\d, ]+>)?)", measured["kernel"])[1]


def metrics_of(plan):
    """All metrics that the counters need, each once."""
    return list(dict.fromkeys(c[key] for c in plan["counters"] for key in ("metric", "per") if key in c))


# ---- measuring -----------------------------------------------------------------------------------


def measure(plan, ladder, profiler="ncu"):
    """The results of the rungs in `plan`: one run of the program `ladder` for each, one launch of it."""
    rungs = []
    for name, pattern, skip in map(as_rung, plan["rungs"]):
        command = [ladder, "--only", name, "--n", str(plan["n"])]
        try:
            kernel, metrics = ncu.profile(command, metrics_of(plan), pattern, skip, profiler)
        except Failed as failed:
            raise Failed(f"{name}: {failed}") from failed
        rungs.append({"name": name, "kernel": kernel, "metrics": metrics})
    return {"schema": SCHEMAS[PROFILE], "version": VERSION, **ncu.where_and_when(profiler), "n": plan["n"], "rungs": rungs}


# ---- the table -----------------------------------------------------------------------------------


def value_of(counter, metrics):
    """The number in a cell; None where ncu had none."""
    value = metrics.get(counter["metric"])
    if value is None or "per" not in counter:
        return value
    divisor = metrics.get(counter["per"])
    return value / divisor if divisor else None


def shown(value):
    """A number with three digits, and integers in full."""
    if value is None:
        return NONE
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def command_of(chapter, plan):
    """What to type for one rung, the last one."""
    name, kernel, skip = as_rung(plan["rungs"][-1])
    metrics = metrics_of(plan)
    options = [word for word in ncu.options(["METRICS"], kernel, skip) if word != "METRICS"]
    text = ",\\\n".join(metrics)
    return f"ncu {shlex.join(options)} \\\n{text} \\\n  build/chapters/{chapter}/ladder --only {shlex.quote(name)} --n {plan['n']}"


def section(chapter, plan, results):
    """The command of one rung, and the table of what it showed for all; `chapter` is NN-topic."""
    lines = ["```sh", command_of(chapter, plan), "```", ""]
    if results is None:
        return "\n".join([*lines, "Not measured yet."])
    counters = plan["counters"]
    if results["n"] != plan["n"]:
        raise Failed(f"{chapter}: the profile is of n = {results['n']}, chapter.toml asks for {plan['n']}")
    version = results["ncu"].removeprefix("Version ").split()[0]
    lines += [
        f"{results['device']}, ncu {version}, n = {plan.get('rows_n', plan['n']):,}, {results['date'][:10]}:",
        "",
        "| rung | " + " | ".join(counter["name"] for counter in counters) + " |",
        "|---|" + "--:|" * len(counters),
    ]
    measured = {rung["name"]: rung for rung in results["rungs"]}
    for name, _, _ in map(as_rung, plan["rungs"]):
        if name not in measured:
            raise Failed(f"{chapter}: the profile has no rung {name}: measure again")
        cells = [shown(value_of(counter, measured[name]["metrics"])) for counter in counters]
        own = rows_n(plan, name)
        other_n = "" if own == plan.get("rows_n", plan["n"]) else f", n = {own:,}"
        lines.append(f"| `{name}`{other_n} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
