"""What becomes of one program under ./course run: its verdict, and all that is to be said of it."""

import signal
import time
from dataclasses import dataclass, replace
from typing import Optional

from tools.run import report
from tools.run.build_program import NotMade, Place
from tools.run.expected import Expected
from tools.run.fingerprints import lines_of
from tools.run.kinds import NOTE, kinds
from tools.run.schedules import first_difference, run_all
from tools.run.suppressions import suppressions_in
from tools.run.watching import WAITING_SECONDS

NOTHING, FINDINGS, REFUSED, NOT_COMPILED, OUT_OF_TIME, OUT_OF_MEMORY, CRASHED, FAILED = VERDICTS = (
    "nothing found", "findings", "refused", "does not compile", "out of time", "out of memory", "crashed", "failed",
)
ENDED = (OUT_OF_TIME, OUT_OF_MEMORY, CRASHED)  # before it was done
# Of ./course run: (the code, or which one; the verdict, or None; what it says).
EXIT_CODES = (
    (0, NOTHING, "nothing was found, and the program's own exit code is 0"),
    (66, FINDINGS, "the CPU device has found something"),
    (1, NOT_COMPILED, "it does not compile, or cannot be linked"),
    (69, REFUSED, "it uses what the CPU device does not have"),
    (124, OUT_OF_TIME, "it has run for more than 300 s of processor time under one schedule (`--time-limit 3600` allows more), "
                       f"or waited for {WAITING_SECONDS} s without computing"),
    (125, OUT_OF_MEMORY, "it held more memory than `--memory-limit` allows: by default 3/4 of what was available"),
    (2, None, "no such file, a wrong option, no build folder for the CPU device"),
    (130, None, "Ctrl-C"),
    ("128 + N", CRASHED, "signal N ended the program"),
    ("the program's", FAILED, "nothing was found; of several schedules the first code that is not 0"),
)
CODE_OF = {verdict: code for code, verdict, _ in EXIT_CODES if isinstance(code, int)}


@dataclass(frozen=True)
class Access:
    """Who did what where. Block and thread as messages print them, "3" or "(1,2)"; empty in host code."""

    kind: str  # "read", "atomic", "barrier"
    file: str
    line: int
    block: str
    thread: str
    device: int


@dataclass(frozen=True)
class Finding:
    """A finding, and how often the run under its schedule has it at the same lines."""

    kind: str  # an identifier of common/simt, such as data_race
    kernel: str  # empty in host code
    object: str  # the variable, "s"; empty if it has no name
    file: str  # the line that it points at first
    line: int
    text: str
    accesses: tuple
    seed: int
    times: int
    suppressed: Optional[str] = None  # the reason of the comment that allows it
    is_known: bool = False  # it is in the baseline

    def counts(self):
        """True if the program fails for it."""
        return self.suppressed is None and not self.is_known


@dataclass(frozen=True)
class Note:
    """A remark, which changes no verdict."""

    file: str
    line: int
    text: str  # with the place

    def remark(self):
        """The text without the place."""
        return self.text.removeprefix(f"{self.file}:{self.line}: ")


@dataclass(frozen=True)
class Schedule:
    """A schedule that has run, and the exit code under it."""

    seed: int
    exit_code: int


@dataclass(frozen=True)
class Outcome:
    """What has become of a program."""

    sources: tuple
    verdict: str
    exit_code: int  # of ./course run
    seconds: float  # for compiling and running it
    message: str = ""  # of a refusal, a compiler's error, a crash, and the end of the time or the memory
    places: tuple = ()  # lines of the sources that the message is about
    warnings: tuple = ()  # of the compiler
    findings: tuple = ()
    notes: tuple = ()
    schedules: tuple = ()  # that have run, in order
    decisive: Schedule = None  # the one that the verdict is of, or the first with another exit code than the first one's
    difference: str = ""  # how the output depends on the schedule
    output: bytes = b""  # the first run's
    errors: bytes = b""  # standard error of the decisive run, as far as it was not shown
    kernels: tuple = ()  # what each kernel asked of memory, if it was counted
    has_main: bool = True
    files: tuple = ()  # of the reader's own that it was made of
    suppressions: tuple = ()  # in these files

    def failed_schedule(self):
        """The first schedule under which the program ended with an exit code that is not 0, or None."""
        return next((schedule for schedule in self.schedules if schedule.exit_code), None)

    def is_stopped(self):
        """True if schedules after the last one were not run, because of what that one showed."""
        return self.decisive is not None and self.verdict in (FINDINGS, REFUSED, *ENDED)


def exit_text(outcome):
    """A sentence on the exit code of a program that has failed."""
    schedule = outcome.failed_schedule()
    return f"The program ends with exit code {schedule.exit_code} under schedule {schedule.seed}."


def outcome_of(program, seeds, arguments=(), stdin=None, settings=None, shown_on=None, tell_warnings=lambda warnings: None,
               expected=Expected()):
    """The Outcome of a Program with these arguments under these schedules. `stdin`: an Input. `settings`: variables for the first
    run, which writes to `shown_on`. `tell_warnings` is called before that run. Findings that are `expected` do not
    count. Raises Failed for what is not of the program."""
    start = time.monotonic()
    try:
        program.make()
        files = program.files()
        suppressions = suppressions_of(files)
    except NotMade as problem:
        verdict = REFUSED if problem.is_refused else NOT_COMPILED
        outcome = Outcome(tuple(program.sources), verdict, CODE_OF[verdict], 0, str(problem), problem.places,
                          has_main=not problem.lacks_main)
    else:
        tell_warnings(program.warnings)
        command = [str(program.file), *arguments]
        judge = lambda run: expected.judged(findings_of(run), suppressions)
        runs = run_all(command, seeds, settings or {}, stdin, shown_on, lambda run: has_new(judge(run)))
        outcome = outcome_of_runs(program, runs, lambda: first_difference(command, runs, settings or {}, stdin), judge)
        outcome = replace(outcome, files=tuple(files), suppressions=tuple(suppressions))
    return replace(outcome, seconds=time.monotonic() - start, warnings=tuple(program.warnings))


def has_new(findings):
    """True if one of them counts."""
    return any(finding.counts() for finding in findings)


def suppressions_of(files):
    """The suppressions in these files. Raises NotMade for one that is wrong."""
    found, places = [], []
    for file in files:
        those, problems = suppressions_in(file, [kind for kind in kinds() if kind != NOTE])
        found += those
        places += [Place(file, line, text) for line, text in problems]
    if places:
        raise NotMade("\n".join(f"{place.file}:{place.line}: error: {place.text}" for place in places), places)
    return found


def outcome_of_runs(program, runs, find_difference, judge):
    """The Outcome of what has run. `judge`: what gives the findings of a run, and says which of them count."""
    last = decisive = runs[-1]
    message, places, difference = "", (), ""
    if last.refusal:
        places = (Place(last.refusal["file"], last.refusal["line"], last.refusal["refused"]),)
        message = f"{places[0].file}:{places[0].line}: error: {places[0].text}"
        verdict = REFUSED
    elif last.is_ended():
        message, places = report.ending(last), places_of_stop(last)
        verdict = OUT_OF_TIME if last.is_out_of_time() else OUT_OF_MEMORY if last.is_out_of_memory() else CRASHED
    else:
        found = None if has_new(judge(last)) else find_difference()
        difference = report.difference(runs[0], *found) if found else ""
        decisive = next((run for run in runs if run.code != runs[0].code), runs[0])
        verdict = FAILED if runs[0].code or decisive.code else NOTHING
    findings = {}  # those of runs before the last one do not count
    for run in runs:
        for finding in judge(run):
            findings.setdefault((finding.kind, finding.kernel, tuple(lines_of(finding))), finding)
    if has_new(findings.values()):
        decisive, verdict = last, FINDINGS
    code = CODE_OF.get(verdict, runs[0].exit_code() or decisive.exit_code())
    return Outcome(
        tuple(program.sources), verdict, code, 0, message, places,
        findings=tuple(findings.values()), notes=notes_of(runs, verdict != NOTHING or bool(difference)),
        schedules=tuple(schedule_of(run) for run in runs), decisive=schedule_of(decisive), difference=difference,
        output=runs[0].output, errors=decisive.errors, kernels=tuple(runs[0].kernels),
    )  # fmt: skip


def places_of_stop(run):
    """The line where a program was ended, if it could tell."""
    lines = (run.stop or {}).get("lines", [])[:1]
    parts = [line.rpartition(":") for line in lines]
    return tuple(Place(file, int(number), report.ending(run).partition("\n")[0]) for file, _, number in parts if number.isdigit())


def schedule_of(run):
    """The Schedule of a Run."""
    return Schedule(int(run.seed), run.exit_code())


def findings_of(run):
    """The different findings of a run."""
    firsts, times = {}, {}
    for record in run.findings:
        accesses = tuple(Access(**access) for access in record["accesses"])
        key = (record["kind"], record["kernel"], tuple(sorted((access.file, access.line) for access in accesses)))
        firsts.setdefault(key, (record, accesses))
        times[key] = times.get(key, 0) + 1
    return tuple(
        Finding(record["kind"], record["kernel"], record["object"], record["file"], record["line"], record["finding"], accesses,
                int(run.seed), times[key])
        for key, (record, accesses) in firsts.items()
    )  # fmt: skip


def notes_of(runs, with_clues):
    """The different notes of all runs. Clues help with a wrong result; right programs have them, too."""
    notes = {}
    for is_clue in (False, True) if with_clues else (False,):
        for record in (record for run in runs for record in run.notes if record["is_clue"] == is_clue):
            # Of those that are the same up to threads and values, which follow on further lines, the first.
            notes.setdefault(record["note"].partition("\n")[0], Note(record["file"], record["line"], record["note"]))
    return tuple(notes.values())
