"""What ./course run says of a program's runs: findings, notes, counts."""

import signal

from tools.run.schedules import signal_name

FINDINGS_SHOWN = 5
NAME_WIDTH, WIDTHS = 22, (9, 10, 9, 10, 11, 10, 10, 9)  # of the table's columns


def text_of(findings):
    """Different findings, the first ones in full."""
    parts = []
    for finding in findings[:FINDINGS_SHOWN]:
        more = f"\n(found {finding.times} times at the same lines)" if finding.times > 1 else ""
        parts.append(finding.text + more)
    if len(findings) > FINDINGS_SHOWN:
        more = len(findings) - FINDINGS_SHOWN
        parts.append(f"(and {more} more finding{'s' if more > 1 else ''} at other lines)")
    return "\n\n".join(parts)


def others_text(findings):
    """Findings that do not count: a line for each."""
    lines = [f"allowed: {first_line(finding)} (\"{finding.suppressed}\")" for finding in findings if finding.suppressed is not None]
    known = [finding for finding in findings if finding.is_known]
    if known:
        lines += [f"{len(known)} known finding{'s' if len(known) > 1 else ''}:", *(f"  {first_line(finding)}" for finding in known)]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


def first_line(finding):
    """race.cu:2: DATA RACE in kernel k on x[0]"""
    head = finding.text.partition("\n")[0]
    return head if f"{finding.file}:{finding.line}" in head or not finding.line else f"{finding.file}:{finding.line}: {head}"


MEANING = {
    signal.SIGSEGV: "an access to memory that is not there",
    signal.SIGBUS: "an access to memory that is not there",
    signal.SIGFPE: "a division of an integer by zero, or the like",
    signal.SIGILL: "the end of a function that has not returned its value, __builtin_trap(), or the like",
    signal.SIGABRT: "abort(), a failed assert(), or an exception that nothing catches",
}
SIXTEEN_BYTES = "A byte of device memory that kernels use takes about 16 bytes here."
# Of a loop in host code.
WAITING = (" Kernels and callbacks run while the host waits in a CUDA call: a loop around a\n"
           "  flag that they set needs one, such as cudaStreamQuery.")


def ending(run):
    """Why a program was ended, and where it was."""
    stop = run.stop or {}
    where = f"in the launch {stop['launch']}" if stop.get("launch") else "in host code"
    at = "".join(f"\n  {'called at' if number else 'at'} {line}" for number, line in enumerate(stop.get("lines", [])[:4]))
    told = f" {where}" if "lines" in stop else ""  # a program that this tool stops may not be able to tell
    if run.is_out_of_memory():
        return (f"OUT OF MEMORY{told}: the program was stopped at {stop['gib']:.1f} GiB{at}\n  {SIXTEEN_BYTES}\n"
                "  Run the program with a smaller size. If the machine has more memory: --memory-limit GIB.")
    if run.is_out_of_time() and "waited" in stop:
        return (f"OUT OF TIME{told}: the program has waited for {stop['waited']:g} s without computing{at}\n"
                "  Does it wait for a thread, a lock, a process or a signal that never comes?")
    if run.is_out_of_time():
        return (f"OUT OF TIME {where}: the program was stopped after {stop['seconds']:g} s of processor time{at}\n"
                "  Is the size one for a GPU? Kernels run on one core here, which takes longer: try a smaller size.\n"
                f"  Does a loop never end?{'' if stop.get('launch') else WAITING}"
                " If the program needs more time: --time-limit 3600.")
    if -run.code == signal.SIGKILL:  # the program could not say where it was
        return f"KILLED from outside. Was the memory full?\n  {SIXTEEN_BYTES}\n  Run the program with a smaller size."
    meaning = MEANING.get(-run.code)
    return f"CRASH {where}: {signal_name(-run.code)}{', ' + meaning if meaning else ''}{at}"


def names_of(schedules):
    """schedule 3; 4 schedules"""
    return f"schedule {schedules[0].seed}" if len(schedules) == 1 else f"{len(schedules)} schedules"


def difference(first, run, number, expected, mine):
    """What to say of a line of the output that depends on the schedule."""

    def quoted(line):
        return "is missing" if line is None else f'is "{line}"'

    return (f"The output depends on the schedule: under schedule {first.seed} line {number} {quoted(expected)}, "
            f"under schedule {run.seed} it {quoted(mine)}.")


LEGEND = """requests: loads and stores of global memory, one per instruction of a warp; sectors: 32-byte pieces that
a request touches, on average; shared: requests to shared memory; wavefronts: passes that a shared request takes,
on average, 1 without a bank conflict; atomics: one per thread; addresses: distinct addresses per warp, summed
over warps; barriers: __syncthreads(), counted once per block"""


def table(kernels):
    """What each kernel asked of memory."""

    def average(total, requests):
        return f"{total / requests:.1f}" if requests else "-"

    rows = [("kernel", "launches", "requests", "sectors", "shared", "wavefronts", "atomics", "addresses", "barriers")]
    for kernel in kernels:
        c = kernel["kernel_counts"]
        requests = c["loads"] + c["stores"]
        rows.append((kernel["kernel"], c["launches"], requests, average(c["sectors"], requests), c["shared"],
                     average(c["wavefronts"], c["shared"]), c["atomics"], c["addresses"], c["barriers"]))
    lines = []
    for name, *numbers in rows:
        if len(name) >= NAME_WIDTH:  # a line of its own
            lines.append(name)
            name = ""
        lines.append(f"{name:<{NAME_WIDTH}}" + "".join(f"{number:>{width}}" for number, width in zip(numbers, WIDTHS)))
    lines.insert(1, "-" * (NAME_WIDTH + sum(WIDTHS)))
    return f"{LEGEND}\n\n" + "\n".join(lines)
