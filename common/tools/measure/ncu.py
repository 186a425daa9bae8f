"""Asks ncu (Nsight Compute) for counters of one launch of a program's kernel."""

import csv
import datetime
import subprocess
import tempfile
from pathlib import Path

from tools.lib.failed import Failed


def run(command):
    """The output of a command; Failed, with what it said, if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def parse(text):
    """The first kernel in ncu's CSV: its name, and {metric: value}. Other lines are passed over."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        said = "\n".join(line for line in lines if line.startswith("==")) or text.strip()
        raise Failed(f"ncu profiled no kernel:\n{said}")
    kernel, identity, metrics = None, None, {}
    for row in csv.DictReader(line for line in lines[begin:] if line.startswith('"')):
        identity = identity or row["ID"]
        if row["ID"] != identity:
            break
        kernel = row["Kernel Name"]
        try:
            value = float(row["Metric Value"].replace(",", ""))
            metrics[row["Metric Name"]] = int(value) if value.is_integer() else value
        except ValueError:  # a metric that this GPU does not have: "n/a"
            metrics[row["Metric Name"]] = None
    if kernel is None:
        raise Failed("ncu profiled no kernel: its table is empty")
    return kernel, metrics


def options(metrics, kernel=None, skip=0):
    """ncu's options for these metrics of one launch: the first, or the first whose kernel's name matches
    `kernel`, after `skip` such launches."""
    chosen = ["--kernel-name", f"regex:{kernel}"] if kernel else []
    chosen += ["--launch-skip", str(skip)] if skip else []
    return ["--clock-control", "none", *chosen, "--launch-count", "1", "--metrics", ",".join(metrics)]


def profile(program, metrics, kernel=None, skip=0, ncu="ncu"):
    """Name and {metric: value} of one launch of `program`, a command; values in ncu's base units."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        own = ["--csv", "--print-units", "base", "--log-file", str(log)]
        run([ncu, *options(metrics, kernel, skip), *own, *program])
        return parse(log.read_text(encoding="utf-8"))


def where_and_when(ncu="ncu"):
    """The device, ncu's version and the date, as results keep them."""
    return {
        "device": run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]).strip().splitlines()[0],
        "ncu": run([ncu, "--version"]).strip().splitlines()[-1],
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
