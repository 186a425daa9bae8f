"""Several programs in one command, ./course run --each: which files they are, and what the table at the end says."""

import fnmatch
import functools
import glob
import multiprocessing
import os
import signal
import sys

from tools.lib.failed import Failed
from tools.lib.names import quoted
from tools.run.outcome import CODE_OF, FAILED, FINDINGS, NOT_COMPILED, NOTHING, OUT_OF_MEMORY, OUT_OF_TIME, REFUSED, VERDICTS

OF_A_BUILD = ("CMakeCache.txt", "build.ninja", "meson-info", "CACHEDIR.TAG")  # a folder with one of these is made, not written
MADE = ("CMakeFiles",)
CUDA = (".cu",)
ENDING = (signal.SIGTERM, signal.SIGHUP)
NO_MAIN = "no main(): not a program of its own"


# ---- files ------------------------------------------------------------------------------------------


def programs_and_parts(names, parts, excluded, of_parts):
    """The files of --each, each of which is a program, and those of --with, which are linked into each and are no programs. Their
    names end with one of `of_parts`. Without those that match a pattern of --exclude. And the patterns that none matches.
    Raises Failed."""
    programs, shared = files_of(names), files_of(parts, of_parts)
    idle = [pattern for pattern in excluded if not any(fnmatch.fnmatch(file, pattern) for file in [*programs, *shared])]
    programs, shared = ([file for file in files if not any(fnmatch.fnmatch(file, pattern) for pattern in excluded)]
                        for files in (programs, shared))
    of_shared = set(map(os.path.realpath, shared))
    programs = [file for file in programs if os.path.realpath(file) not in of_shared]
    if not programs:
        raise Failed("No program is left: --exclude or --with takes each file.", 2)
    return programs, shared, idle


def files_of(names, endings=CUDA):
    """The files with one of these endings that files, folders and patterns name: each once, in this order, those of one name sorted.
    Raises Failed for a name that means none."""
    files = {}  # a true path: the file as it is shown
    for name in names:
        found = files_below(name, endings) if os.path.isdir(name) else [name] if os.path.isfile(name) else files_like(name, endings)
        if not found:
            raise Failed(why_none(name, endings), 2)
        for file in found:
            if not file.endswith(endings):
                raise Failed(f"{quoted(file)} is no {like(endings)} file" + (": --each compiles each file on its own." if endings == CUDA else "."), 2)
            files.setdefault(os.path.realpath(file), file)
    return list(files.values())


def like(endings):
    """.cu, .cpp or .c"""
    *others, last = endings
    return f"{', '.join(others)} or {last}" if others else last


def files_below(folder, endings):
    """The files with these endings in a folder and the folders below it, but for hidden ones and build folders."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and not is_made(os.path.join(place, name))]
        found += [os.path.join(place, name) for name in names if name.endswith(endings) and not name.startswith(".")]
    return sorted(map(os.path.normpath, found))


def is_made(folder):
    """True for a build folder."""
    return os.path.basename(folder) in MADE or any(os.path.exists(os.path.join(folder, name)) for name in OF_A_BUILD)


def files_like(pattern, endings):
    """The files with these endings that match a pattern, in which ** stands for any folders."""
    return sorted(file for file in glob.glob(pattern, recursive=True) if file.endswith(endings) and os.path.isfile(file))


def why_none(name, endings):
    """What to say of a name that means no file."""
    if os.path.isdir(name):
        return f"There is no {like(endings)} file in {quoted(name)}, without hidden folders and build folders."
    return f"No {like(endings)} file matches {quoted(name)}." if glob.has_magic(name) else f"There is no file {quoted(name)}."


# ---- runs -------------------------------------------------------------------------------------------


def in_parallel(function, tasks, jobs):
    """What a function gives for each task, in their order, as soon as it is there. At most so many run at a time."""
    with multiprocessing.get_context("fork").Pool(min(jobs, len(tasks)), wait_for_tasks) as pool:
        results = pool.imap(functools.partial(ended_by_signals, function), tasks)
        pool.close()  # the processes end after the last task; at an exception the pool ends them, and they their programs
        yield from results
        pool.join()


def wait_for_tasks():
    """How a process begins that takes tasks. The main process ends the others at Ctrl-C. Between tasks a handler in Python is of no use:
    a process that has just begun to wait for its turn would wait on, for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def ended_by_signals(function, task):
    """What a function gives for a task. A signal that ends the process ends its programs, too."""
    for number in ENDING:
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        return function(task)
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)


# ---- the result -------------------------------------------------------------------------------------


def exit_code_of(outcomes):
    """The exit code of a command with these programs."""
    programs = [outcome for outcome in outcomes if outcome.has_main]
    if not programs:
        return CODE_OF[NOT_COMPILED]
    verdicts = {outcome.verdict for outcome in programs}
    for verdict in (FINDINGS, NOT_COMPILED, OUT_OF_TIME, OUT_OF_MEMORY):
        if verdict in verdicts:
            return CODE_OF[verdict]
    if verdicts == {REFUSED}:
        return CODE_OF[REFUSED]
    return next((outcome.exit_code for outcome in programs if outcome.verdict not in (NOTHING, REFUSED)), 0)


def verdict_of(outcome):
    """The verdict in the table."""
    if not outcome.has_main:
        return NO_MAIN
    return f"exit code {outcome.exit_code}" if outcome.verdict == FAILED else outcome.verdict


def findings_text(outcome):
    """How many findings there are: those that count, and the others."""
    counted = sum(finding.counts() for finding in outcome.findings)
    others = [(sum(finding.is_known for finding in outcome.findings), "known"),
              (sum(finding.suppressed is not None for finding in outcome.findings), "allowed")]
    return ", ".join([str(counted), *(f"{number} {what}" for number, what in others if number)])


def table(files, outcomes):
    """A row for each program, and a line that counts them."""
    rows = [("file", "verdict", "findings", "time")]
    for file, outcome in zip(files, outcomes):
        is_run = bool(outcome.schedules)
        rows.append((file, verdict_of(outcome), findings_text(outcome) if is_run else "-", f"{outcome.seconds:.1f} s"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join([f"{row[0]:<{widths[0]}}", f"{row[1]:<{widths[1]}}", f"{row[2]:>{widths[2]}}", f"{row[3]:>{widths[3]}}"])
             for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join([*lines, "", summary(outcomes)]) + "\n"


def summary(outcomes):
    """4 programs (nothing found: 3, findings: 1)."""
    verdicts = [outcome.verdict for outcome in outcomes if outcome.has_main]
    counts = ", ".join(f"{verdict}: {verdicts.count(verdict)}" for verdict in VERDICTS if verdict in verdicts)
    return f"{len(verdicts)} program{'s' if len(verdicts) != 1 else ''}{f' ({counts})' if counts else ''}."
