"""Judges single answers: compiles and runs an exercise's check on a text, and keeps what came out.

Equal texts are judged once. What is known of an answer is a file below ANSWERS, from the moment on in which it is known:
a grading that was interrupted goes on with what is there.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import traceback
from pathlib import Path

from tools.check import compile_errors
from tools.lib import result
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import objects, sandbox
from tools.teach.sandbox import GIB, MIB, Limits

COMPILE = Limits(seconds=300, cpu_seconds=60, memory=4 * GIB, processes=64, file_size=sandbox.SPACE)
PATIENCE = 5  # elapsed seconds for each second of processor time: other answers run at the same time
# An index of a container or an array in an answer stays inside of it, or the program crashes: on the host, and of a kernel's local
# variables, also of the last array of a struct, and of an address of a local variable where its function has it.
GUARDS = {
    "clang": "-D_GLIBCXX_ASSERTIONS -fsanitize=array-bounds,local-bounds -fsanitize-trap=array-bounds,local-bounds -fstrict-flex-arrays=3 -Xclang -fno-validate-pch",
    "gcc": "-D_GLIBCXX_ASSERTIONS -fsanitize=bounds-strict -fsanitize-undefined-trap-on-error",
}
GUARDED = re.compile("SIGILL|SIGABRT")  # how a guard ends a check
TRANSCRIPT = re.compile("[0-9a-f]{16}")
COLOURS = re.compile("\x1b\\[[0-9;]*[mK]")
MOST_TEXT = 20_000  # characters of what a check said
NEVER_AN_ANSWER = "the machine"  # a doubt that begins so is no fault of an answer, however often it comes
NOT_STARTED = (126, 127)  # exit codes of what starts a check
MACHINE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EIO, errno.EROFS)
# What compilers and checks say of a machine without space, memory or processes. An answer can make them say it, too: these words are a
# reason to try the solution in the same place, and decide nothing themselves.
MACHINE = re.compile("|".join([
    *(re.escape(os.strerror(number)) for number in MACHINE_ERRORS), "PLEASE submit a bug report", "LLVM ERROR", "bad_alloc", "MemoryError",
    "out of memory", "error while loading shared libraries", "Traceback \\(most recent call last\\)", "unable to execute command",
    "internal compiler error", "cannot execute", r"\bKilled\b", r"signal 9\b", "SIGKILL",
]))


def target(course, chapter, name):
    """The check of an exercise, as ninja calls it."""
    link = course / "build" / "chapters" / chapter / name
    return os.path.relpath(os.path.realpath(link), course / "build") if link.is_symlink() else \
        f"chapters/{chapter}/common/build/chapter/{name}"


def settings_of(course):
    """The file that a build for the CPU device has for its compiler."""
    return Path(course) / "build/common/build/device/simtcc.json"


class Commands:
    """How the check of an exercise is compiled and linked, with another folder for the answer and for what comes out."""

    def __init__(self, course, chapter, name):
        self.course, self.chapter = course, chapter
        self.program = target(course, chapter, name)
        ninja = shutil.which("ninja") or shutil.which("ninja-build")
        command = [ninja, "-C", str(course / "build"), "-t", "commands", self.program]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        self.lines = [line for line in lines if f"{self.program}.p/" in line]  # of this check alone
        settings = settings_of(course)
        family = json.loads(settings.read_text(encoding="utf-8"))["compiler"].partition("\n")[0] if settings.exists() else ""
        self.guards = GUARDS.get(family, "")

    def script(self, folder, guards=True):
        """The shell's lines that leave folder/check."""
        text = "\n".join(self.lines).replace(" --learner ", f" --learner {self.guards if guards else ''} ")
        text = text.replace(f"{self.course}/exercises/{self.chapter}", f"{folder}/exercises/{self.chapter}")
        text = re.sub(re.escape(self.program) + r"\.p/", f"{folder}/", text)
        text = re.sub(rf"(?<=-o ){re.escape(self.program)}(?=\s|$)", f"{folder}/check", text)
        return f"set -e\ncd {shlex.quote(str(self.course / 'build'))}\n{text}\n"


def not_judged(reason):
    """The record of an answer that the machine, or this program, could not judge: it is not kept."""
    return record(result.new(result.NOT_JUDGED, reason), reason)


def record(found, text):
    """What is known of an answer, from the result of its check."""
    return {"verdict": found["verdict"], "reason": found["reason"], "text": text.strip(), "checks": found["checks"],
            "schedules": found["schedules"], "transcript": found["transcript"], "skips": found["skips"], "object": None, "for_a_person": []}


def differences(found, measure):
    """What is unusual about a pass, in sentences, if `measure` is the record of the solution. The run of an answer cannot prove that
    it passed: it is compared with a run that did."""
    def ran(each):
        return [each["checks"][name] for name in ("passed", "failed", "skipped")], each["schedules"]

    mine, theirs = found["checks"], measure["checks"]
    if ran(found) != ran(measure) or found["transcript"] != measure["transcript"]:
        return [f"The check made {mine['comparisons']} comparisons in {mine['passed']} test cases under {found['schedules']} schedules,"
                f" and {theirs['comparisons']} in {theirs['passed']} under {measure['schedules']} with the solution; or others, or in another"
                " order."]
    if found["reason"] != measure["reason"]:
        return [f"The check said '{found['reason']}', and '{measure['reason']}' with the solution."]
    if left_out := [each for each in found["skips"] if each not in measure["skips"]]:
        more = f", and cases of {len(left_out) - 1} more" if len(left_out) > 1 else ""
        return [f"The check left cases out, which it tried with the solution: of '{left_out[0]['test']}' ({left_out[0]['reason']}){more}."]
    if {} in (found["object"], measure["object"]):
        return ["What the compiler made of it could not be read."]
    if found["object"] and measure["object"]:
        return [f"What the compiler made of it: {said}." for said in objects.unexpected(found["object"], measure["object"])]
    return []


class Judge:
    """Judges answers for a course that is built; several threads may use one.

    What is kept is a verdict on the answer. Where a compiler or a check ended in a way that the machine may have caused, the solution is
    judged in the same place: if it does not pass there, the grading ends; if it does, the answer is judged once more, and what happens
    to it in the same way twice is its own. What never comes from an answer, such as a compiler that was killed, is not judged.
    """

    def __init__(self, course, answers, seconds, is_isolated):
        self.course, self.answers, self.seconds, self.is_isolated = course, answers, seconds, is_isolated
        self.stop = threading.Event()
        self.commands, self.lock, self.control_lock = {}, threading.Lock(), threading.Lock()
        self.free_workers = list(range(sandbox.MOST_WORKERS))
        self.word = None

    def file_of(self, chapter, name, text):
        """Where what is known of an answer is kept."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return self.answers / chapter / name / f"{digest[:32]}.json"

    def known(self, chapter, name, text):
        """What is known of an answer; None if it has not been judged."""
        try:
            found = json.loads(self.file_of(chapter, name, text).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and set(not_judged("")) <= set(found) else None

    def first_word(self):
        """The word that all transcripts of this folder's answers begin with, the solutions' too: no one outside knows it."""
        with self.lock:
            file = self.answers / "word"
            if self.word is None and not file.exists():
                result.write(file, secrets.token_hex(16))
            self.word = self.word or json.loads(file.read_text(encoding="utf-8"))
        return self.word

    def judge(self, chapter, name, text):
        """Judges an answer, and keeps what came out. Raises sandbox.Stopped if that was interrupted, and Failed if this machine does not
        judge; whatever else goes wrong concerns this answer alone."""
        if (found := self.known(chapter, name, text)) is not None:
            return found
        try:
            found = self.judged_anew(chapter, name, text)
            if found["verdict"] != result.NOT_JUDGED:
                result.write(self.file_of(chapter, name, text), found)
        except (sandbox.Stopped, Failed):
            raise
        except OSError as error:
            if error.errno in MACHINE_ERRORS:
                raise Failed(f"this machine cannot go on: {error}") from error
            found = not_judged(self.problem(f"{chapter}/{name}", error))
        except Exception as error:  # pylint: disable=broad-exception-caught
            found = not_judged(self.problem(f"{chapter}/{name}", error))
        return found

    def problem(self, what, error):
        """Keeps the trace of an exception in problems.log; returns what is said of it."""
        trace = "".join(traceback.format_exception(error))
        with contextlib.suppress(OSError):
            self.answers.parent.mkdir(parents=True, exist_ok=True)
        with self.lock, contextlib.suppress(OSError), open(self.answers.parent / "problems.log", "a", encoding="utf-8", errors="replace") as log:
            log.write(f"{what}\n{trace}\n")
        return f"The grader itself failed at it: {type(error).__name__}. Its problems.log has the details."

    def judged_anew(self, chapter, name, text):
        found, doubt = self.attempt(chapter, name, text)
        if not doubt and found["verdict"] in (result.FAILED, result.CRASHED) and GUARDED.search(found["text"]):
            plain, doubt = self.attempt(chapter, name, text, guards=False)  # says what the learner sees at home
            found = found if plain["verdict"] == result.PASSED else plain
        if not doubt:
            return found
        self.control(chapter, name, doubt)
        again, doubt_again = self.attempt(chapter, name, text)
        if not doubt_again or (kind_of(doubt_again) == kind_of(doubt) and not doubt.startswith(NEVER_AN_ANSWER)):
            return again
        return not_judged(f"The grader could not judge it: {doubt_again}.")

    def control(self, chapter, name, doubt):
        """Judges the course's own answer, or its starter where there is no solution; raises Failed if that does not end as it must."""
        solution = TOP / "solutions" / chapter / f"{name}.cuh"
        starter = self.course / "exercises" / chapter / f"{name}.cuh"
        wanted = (result.PASSED, result.SKIPPED) if solution.exists() else (result.NOT_STARTED, result.SKIPPED)
        text = (solution if solution.exists() else starter).read_text(encoding="utf-8")
        with self.control_lock:
            found, its_doubt = self.attempt(chapter, name, text)
        if its_doubt or found["verdict"] not in wanted:
            said = its_doubt or found["reason"].partition("\n")[0]
            raise Failed(f"this machine does not judge now: of an answer to {chapter}/{name}, {doubt}; of the course's own, {said}")

    def attempt(self, chapter, name, text, guards=True):
        """(the record of an answer, why the machine may have caused it: empty if it cannot have)."""
        with self.lock:
            if (chapter, name) not in self.commands:
                self.commands[chapter, name] = Commands(self.course, chapter, name)
            worker = self.free_workers.pop(0)
        try:
            texts = {f"exercises/{chapter}/{name}.cuh": text}
            with sandbox.Room(self.course, self.stop, worker=worker, is_isolated=self.is_isolated, texts=texts) as room:
                return self.compile_and_run(room, chapter, name, text, guards)
        except sandbox.Broken as error:
            doubt = f"{NEVER_AN_ANSWER}: {error}"
        except OSError as error:
            if error.errno not in MACHINE_ERRORS:
                raise
            doubt = f"{NEVER_AN_ANSWER}: {error}"
        finally:
            with self.lock:
                self.free_workers.insert(0, worker)
        return not_judged(doubt), doubt

    def compile_and_run(self, room, chapter, name, text, guards):
        script = self.commands[chapter, name].script(room.folder, guards)
        built = room.run(["sh", "-c", script], COMPILE, is_running=False)
        edit = f"exercises/{chapter}/{name}.cuh"
        with tempfile.TemporaryDirectory(prefix="answer-") as place:  # where messages show the answer's lines from
            exercise = Path(place, edit)
            exercise.parent.mkdir(parents=True)
            exercise.write_text(text, encoding="utf-8", errors="surrogatepass")
            output = COLOURS.sub("", built.output).replace(os.path.relpath(room.folder, self.course / "build") + "/", f"{place}/")
            output = output.replace(f"{room.folder}/", f"{place}/")
            if built.why or built.code != 0:
                doubt, reason = doubt_of_compiler(built, output)
                reason = reason or compile_errors.explain(output, exercise) or f"The compiler ended with exit code {built.code}."
                return self.ended(result.DOES_NOT_COMPILE, reason, f"{name} does not compile:\n\n{reason}", place), doubt
            warnings = compile_errors.warnings_of(output, exercise).replace(f"{place}/", "")
        made = self.read_object(room, name)
        limits = Limits(seconds=PATIENCE * self.seconds + 30, cpu_seconds=int(self.seconds) + 10)
        try:
            ended = room.run([f"{room.folder}/check"], limits, has_result=True, COURSE_ALL="1", COURSE_EDIT=edit, COURSE_WARNINGS=warnings,
                             COURSE_RERUN=f"./course check {name}", COURSE_CPU_SECONDS=str(self.seconds), COURSE_TRANSCRIPT=self.first_word())
        except sandbox.Broken as error:
            return self.ended(result.CRASHED, "The check ended its sandbox.", "The check ended its sandbox."), str(error)
        found, doubt = self.read(ended)
        return {**found, "object": made if found["verdict"] == result.PASSED else None}, doubt

    def read_object(self, room, name):
        """What objects.py keeps of the answer's object, nothing of one that it cannot read; None where the CPU device's compiler did not
        make it. It is read in the sandbox, before anything of the answer has run."""
        if not settings_of(self.course).exists():
            return None
        read = room.run(["sh", "-c", objects.script(f"{room.folder}/{name}.cu.o")], COMPILE, is_running=False)
        try:
            return objects.facts_of(objects.made_of(read.output))
        except Failed:
            return {}

    def read(self, ended):
        """(the record, the doubt) of a check's end and its result."""
        output = sandbox.clipped(ended.output, MOST_TEXT)
        if ended.why:
            reason = f"The check was ended: {ended.why}."
            return self.ended(result.TIMED_OUT, reason, f"{output}\n{reason}"), ended.why if "did not end" in ended.why else ""
        if found := result.received(ended.result, ended.code):
            said = TRANSCRIPT.fullmatch(found["transcript"]) and ended.output.rstrip().endswith(found["reason"].rstrip())
            if found["verdict"] == result.PASSED and not said:
                reason = "A result came, and the check did not say that it passed: does your file end the program?"
                return self.ended(result.ENDED_EARLY, reason, f"{output}\n{reason}"), ""
            reason = found["reason"] if found["verdict"] == result.FAILED else ""
            doubt = f"its check says what one on a machine without memory says ({reason.partition(chr(10))[0]})" if MACHINE.search(reason) else ""
            return record({**found, "reason": self.short(found["reason"])}, self.short(output)), doubt
        if result.parse(ended.result) is None and ended.result:
            reason = "The check was ended before its result was complete: does your file end the program?"
            return self.ended(result.ENDED_EARLY, reason, f"{output}\n{reason}"), "its result cannot be read"
        if ended.code in NOT_STARTED:
            reason = f"The check did not start: {output.strip()}"
            return self.ended(result.CRASHED, reason, reason), f"its check did not start (exit code {ended.code})"
        if ended.code < 0 or ended.code > 128:
            reason = "The check crashed, or one of its limits ended it."
            doubt = "its check was killed" if ended.code in signals(signal.SIGKILL) else ""
            return self.ended(result.CRASHED, reason, f"{output}\n{reason}"), doubt
        reason = f"The check was ended early, with exit code {ended.code}: does your file end the program?"
        return self.ended(result.ENDED_EARLY, reason, f"{output}\n{reason}"), ""

    def short(self, words, *places):
        """Words of a program, with the paths that a learner knows."""
        for place in (*places, sandbox.FOLDER, self.course):
            words = words.replace(f"{place}/", "")
        return words

    def ended(self, verdict, reason, text, *places):
        """The record of an answer whose check sent no result."""
        return record(result.new(verdict, self.short(str(reason), *places)), self.short(text, *places))


def kind_of(doubt):
    """What is compared of two doubts: not what a program has printed, which an answer may change from one attempt to the next."""
    return doubt.partition(" (")[0]


def signals(number):
    """The exit codes of a program that this signal has ended: its own, and those of a shell and of a Python program that started it, and
    pass it on."""
    return -number, 128 + number, 256 - number


def doubt_of_compiler(built, output):
    """(why the machine may have caused a compiler's end, what a learner is told if it did not, if that is not in the output)."""
    why = built.why
    if built.code in signals(signal.SIGXCPU) or built.seconds >= COMPILE.cpu_seconds:
        why = f"it needs more than {COMPILE.cpu_seconds} s of processor time"
    elif built.is_full or os.strerror(errno.ENOSPC) in output:  # it has only its own folder
        why = f"it needs more than {sandbox.SPACE // MIB} MiB, or {sandbox.FILES} files"
    if why:
        return f"its compiler was ended: {why}", f"The compiler was ended: {why}."
    if built.code in signals(signal.SIGKILL):
        return f"{NEVER_AN_ANSWER}: its compiler was killed", ""
    if built.code < 0 or built.code > 128 or MACHINE.search(output) or "error: " not in output:
        line = next((line for line in output.splitlines() if MACHINE.search(line)), f"exit code {built.code}").strip()
        return f"its compiler did not end in an ordinary way ({line[:200]})", ""
    return "", ""
