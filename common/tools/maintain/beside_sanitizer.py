"""The CPU device beside compute-sanitizer: what each finds in the same programs, and how long each takes for the same kernels.

`common/dev measure beside` writes what can be measured on this machine: with a GPU, what the tools of compute-sanitizer report of
the programs of common/simt/tests/programs/racy (the CPU device's tests hold it to a finding in each), and how long racecheck takes for the
kernels of common/simt/bench/kernels.cu; without one, how long the CPU device takes for them. The page any-cuda-file.md has both.
"""

import concurrent.futures
import datetime
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.lib import compact_json
from tools.lib.chapter_results import short_name
from tools.lib.documents import section
from tools.lib.failed import Failed
from tools.maintain import program_table
from tools.measure import sanitize

SCHEMA, VERSION = "course.beside", 1
FOLDER = Path("common") / "simt" / "bench"
ON_GPU, ON_CPU = "beside-gpu.json", "beside-cpu-device.json"
PROGRAMS = Path("common") / "simt" / "tests" / "programs"
KERNELS = ("copy", "stencil", "transpose", "add_to_one", "tree", "shuffles", "histogram", "scan", "weights", "last_block")
SIZES = (1 << 16, 1 << 20, 1 << 24)
RUNS = 3  # of which the median counts
MOST_SECONDS = 60  # of one run of a kernel
PROGRAM_SECONDS = 20  # of one run of a program
LONG_SECONDS = 8  # of all runs: no further one
BESIDE_EACH_OTHER = 8  # programs whose times do not count
EDITS = 5


# ---- measuring ------------------------------------------------------------------------------------------


def processor_seconds():
    """The processor time of all commands so far: other programs on the machine do not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def outcome_of(command, limit, clock=time.perf_counter):
    """(exit code, output, seconds) of a command; the exit code is None if it takes longer: then it and what it has started are killed."""
    start = clock()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output, clock() - start
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # a tool's program holds the pipe, too
        return None, process.communicate()[0], clock() - start


def seconds_of(command, clock=time.perf_counter):
    """How long a command takes, the median of some runs, or of one that takes long; None if it takes too long. Failed if it fails."""
    times = []
    while len(times) < (RUNS if sum(times) < LONG_SECONDS else 1):
        code, output, seconds = outcome_of(command, MOST_SECONDS, clock)
        if code is None:
            return None
        if code != 0:
            raise Failed(f"{' '.join(map(str, command))}: exit code {code}\n{output}")
        times.append(seconds)
    return round(statistics.median(times), 3)


def of_kernels(command_of, clock=time.perf_counter):
    """{kernel: {size: seconds}} of the ten kernels."""
    times = {}
    for kernel in KERNELS:
        times[kernel] = {str(n): seconds_of(command_of(kernel, n), clock) for n in SIZES}
        print(kernel, times[kernel], flush=True)
    return times


def said_by(tool, program):
    """The first line of a tool's first report on a program; "" without a report; else why there is no result."""
    code, output, _ = outcome_of(["compute-sanitizer", "--tool", tool, str(program)], PROGRAM_SECONDS)
    if code is None:
        return f"no end after {PROGRAM_SECONDS} s"
    run = sanitize.Run(output, code)
    if run.broken:
        return f"no result: {run.broken}"
    return run.reports()[0].partition("\n")[0] if run.errors else ""


def on_gpu(top, arch):
    """What is measured where there is a GPU."""

    def built(source, scratch):
        program = scratch / source.stem
        sources = sorted(source.rglob("*.c*")) if source.is_dir() else [source]
        relocatable = ["-rdc=true"] if len(sources) > 1 else []
        subprocess.run(["nvcc", "-std=c++20", f"-arch={arch}", "-lineinfo", *relocatable, *sources, "-o", program],
                       check=True, capture_output=True, timeout=300)
        return program

    def tried(one, scratch):
        try:
            program = built(top / PROGRAMS / one.path, scratch)
        except subprocess.CalledProcessError as error:
            return one.path, {"nvcc": (error.stderr or error.stdout).decode().strip().splitlines()[0]}
        return one.path, {tool: said_by(tool, program) for tool in sanitize.TOOLS}

    name = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True, check=True)
    with_mistakes = [one for one in program_table.read(top / PROGRAMS)[0] if one.outcome == "finding"]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        with concurrent.futures.ThreadPoolExecutor(BESIDE_EACH_OTHER) as pool:
            programs = dict(pool.map(lambda one: tried(one, scratch), with_mistakes))
        kernels = built(top / FOLDER / "kernels.cu", scratch)
        tool = ["compute-sanitizer", "--tool", "racecheck"]
        return {
            "device": name.stdout.splitlines()[0].strip(),
            "sanitizer": next(line.split()[1] for line in version.stdout.splitlines() if line.startswith("Version")),
            "plain": of_kernels(lambda kernel, n: [kernels, kernel, str(n)]),
            "racecheck": of_kernels(lambda kernel, n: [*tool, kernels, kernel, str(n)]),
            "programs": programs,
        }


def on_cpu(top, build):
    """What is measured where there is none: the kernels, and the time from an edit to a verdict."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.cu"
        shutil.copy(top / FOLDER / "kernels.cu", source)
        command = [top / "course", "run", source, "--build", build, "--schedule", "0", "--", "copy", "65536"]
        edits = []
        for number in range(EDITS + 1):  # the first one builds what every program is linked with
            with open(source, "a", encoding="utf-8") as text:
                text.write(f"// edit {number}\n")
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            edits.append(time.perf_counter() - start)
        program = next(file for file in (build / "run").glob("kernels-*/kernels") if file.stat().st_mtime > time.time() - edits[-1] - 1)
        return {
            "lines": len(source.read_text(encoding="utf-8").splitlines()),
            "edit_to_verdict": round(statistics.median(edits[1:]), 2),
            "kernels": of_kernels(lambda kernel, n: ["env", "SIMT_SEED=0", program, kernel, str(n)], processor_seconds),
        }


def measure(top, build, arch):
    """Writes what this machine can measure; returns the file."""
    has_gpu = shutil.which("nvidia-smi") is not None
    file = top / FOLDER / (ON_GPU if has_gpu else ON_CPU)
    content = on_gpu(top, arch) if has_gpu else on_cpu(top, build)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    compact_json.write(file, {"schema": SCHEMA, "version": VERSION, "date": date, "cores": os.cpu_count(), **content})
    return file


# ---- the page -------------------------------------------------------------------------------------------


def read(file):
    """What was measured; Failed for another schema."""
    content = json.loads(file.read_text(encoding="utf-8"))
    if (content.get("schema"), content.get("version")) != (SCHEMA, VERSION):
        raise Failed(f'{file}: has no "schema": "{SCHEMA}", "version": {VERSION}')
    return content


def has_reported(said):
    """Whether a tool has reported something about the program."""
    return bool(said) and not said.startswith(("no end after", "no result: "))


def programs_table(gpu):
    """Which tool reports how many programs, and which programs none does."""
    programs = gpu["programs"]
    lines = [f"| of {len(programs)} programs, reported by | |", "|---|--:|", f"| the CPU device | {len(programs)} |"]
    for tool in ("nvcc", *sanitize.TOOLS):
        count = sum(has_reported(said.get(tool, "")) for said in programs.values())
        lines.append(f"| {tool + (', as an error' if tool == 'nvcc' else '')} | {count} |")
    silent = [path for path, said in programs.items() if not any(map(has_reported, said.values()))]
    lines.append(f"| none of these five | {len(silent)} |")
    names = ", ".join(f"[{Path(path).stem}](../simt/tests/programs/{path})" for path in sorted(silent))
    return "\n".join(lines) + f"\n\n<details><summary>The {len(silent)} that none of the five reports</summary>\n\n{names}\n\n</details>"


def times_table(gpu, cpu):
    """How long racecheck and the CPU device take."""

    def cell(seconds):
        return f"over {MOST_SECONDS}" if seconds is None else f"{seconds:.3f}"

    sizes = [f"2^{n.bit_length() - 1}" for n in SIZES]
    heads = [f"{who}, {size}" for size in sizes for who in ("CPU device", "racecheck")]
    lines = [f"| seconds | {' | '.join(heads)} |", "|---" + "|--:" * len(heads) + "|"]
    for kernel in KERNELS:
        cells = [cell(times[kernel][str(n)]) for n in SIZES for times in (cpu["kernels"], gpu["racecheck"])]
        lines.append(f"| {kernel} | {' | '.join(cells)} |")
    return "\n".join(lines)


def documents(top):
    """The Document of both tables, once both have been measured."""
    files = [top / FOLDER / name for name in (ON_GPU, ON_CPU)]
    if not all(file.exists() for file in files):
        return []
    gpu, cpu = map(read, files)
    plain = [seconds for times in gpu["plain"].values() for seconds in times.values()]
    text = (
        f"The [test programs that have a mistake](cuda-programs.md#what-runs-and-what-does-not) on an "
        f"{gpu['device']}, {gpu['date']}, under the four tools of compute-sanitizer {gpu['sanitizer']}:\n\n"
        f"{programs_table(gpu)}\n\n"
        f"Ten kernels without a mistake ([kernels.cu](../simt/bench/kernels.cu)) on 2^16 to 2^24 elements, in seconds of the whole program: the CPU\n"
        f"device in processor time under one schedule ({cpu['date']}), racecheck on the {short_name(gpu['device'])}, where the programs take {min(plain):.1f} to\n"
        f"{max(plain):.1f} s without it. From an edit of that file of {cpu['lines']} lines to the CPU device's verdict: {cpu['edit_to_verdict']} s on {cpu['cores']} cores.\n\n"
        f"{times_table(gpu, cpu)}"
    )
    return [section(top / "common" / "docs" / "any-cuda-file.md", "beside", "what compute-sanitizer finds of the same, and how long it takes", text)]
