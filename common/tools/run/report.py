"""What ./course run says of a program's runs: findings, notes, counts."""

import signal

from tools.run.schedules import signal_name

FINDINGS_SHOWN = 5
NAME_WIDTH = 26


def findings(run):
    """The different findings of a run, the first ones in full."""
    texts, times = {}, {}
    for finding in run.findings:
        key = (finding["kind"], finding["kernel"], tuple(sorted(finding["places"])))
        texts.setdefault(key, finding["finding"])
        times[key] = times.get(key, 0) + 1
    parts = []
    for key in list(texts)[:FINDINGS_SHOWN]:
        more = f"\n(the same lines in {times[key]} launches)" if times[key] > 1 else ""
        parts.append(texts[key] + more)
    if len(texts) > FINDINGS_SHOWN:
        parts.append(f"(and {len(texts) - FINDINGS_SHOWN} more findings at other lines)")
    return "\n\n".join(parts)


MEANING = {
    signal.SIGSEGV: "an access to memory that is not there",
    signal.SIGBUS: "an access to memory that is not there",
    signal.SIGFPE: "a division of an integer by zero, or the like",
    signal.SIGABRT: "abort(), a failed assert(), or an exception that nothing catches",
    signal.SIGKILL: "killed from outside: is the memory full?",
}


def end_in_the_middle(run):
    """Why a program was ended, and where it was."""
    stop = run.stop or {}
    where = f" in the launch {stop['launch']}" if stop.get("launch") else ""
    lines = stop.get("lines") or []
    at = "".join(f"\n  {'at' if number == 0 else 'called at'} {line}" for number, line in enumerate(lines[:4]))
    if stop.get("stopped") == "time":
        return (f"OUT OF TIME{where or ' in host code'}: the program was stopped after {stop['seconds']:g} s of processor "
                f"time{at}\n  Does a loop never end? If it needs more time: put COURSE_CPU_SECONDS=600 before the command.")
    meaning = MEANING.get(-run.code, "")
    return f"CRASH{where or ' in host code'}: {signal_name(-run.code)}{', ' + meaning if meaning else ''}{at}"


def difference(found):
    """The line on an output that depends on the schedule."""
    run, number, expected, mine = found

    def quoted(line):
        return "missing" if line is None else f'"{line}"'

    return (f"The output depends on the schedule: line {number} is {quoted(expected)}, "
            f"and under schedule {run.seed} {quoted(mine)}.")
