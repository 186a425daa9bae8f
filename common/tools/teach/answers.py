"""Judges single answers: compiles and runs an exercise's check on a text, and keeps what came out.

Equal texts are judged once. What is known of an answer is a file below ANSWERS, from the moment on in which it is known:
a grading that was interrupted goes on with what is there.
"""

import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from tools.check import compile_errors
from tools.lib import result
from tools.teach import sandbox
from tools.teach.sandbox import GIB, MIB, Limits

COMPILE = Limits(seconds=300, cpu_seconds=200, memory=4 * GIB, processes=64, file_size=512 * MIB)
PATIENCE = 5  # elapsed seconds for each second of processor time: other answers run at the same time
COLOURS = re.compile("\x1b\\[[0-9;]*[mK]")
MOST_TEXT = 20_000  # characters of what a check said


def target(course, chapter, name):
    """The check of an exercise, as ninja calls it."""
    link = course / "build" / "chapters" / chapter / name
    return os.path.relpath(os.path.realpath(link), course / "build") if link.is_symlink() else \
        f"chapters/{chapter}/common/build/chapter/{name}"


class Commands:
    """How the check of an exercise is compiled and linked, with another folder for the answer and for what comes out."""

    def __init__(self, course, chapter, name):
        self.course, self.chapter = course, chapter
        self.program = target(course, chapter, name)
        ninja = shutil.which("ninja") or shutil.which("ninja-build")
        command = [ninja, "-C", str(course / "build"), "-t", "commands", self.program]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        self.lines = [line for line in lines if f"{self.program}.p/" in line]  # of this check alone

    def script(self, folder):
        """The shell's lines that leave folder/check."""
        text = "\n".join(self.lines)
        text = text.replace(f"{self.course}/exercises/{self.chapter}", f"{folder}/exercises/{self.chapter}")
        text = re.sub(re.escape(self.program) + r"\.p/", f"{folder}/", text)
        text = re.sub(rf"(?<=-o ){re.escape(self.program)}(?=\s|$)", f"{folder}/check", text)
        return f"set -e\ncd {shlex.quote(str(self.course / 'build'))}\n{text}\n"


class Judge:
    """Judges answers for a course that is built; several threads may use one."""

    def __init__(self, course, answers, seconds, is_isolated):
        self.course, self.answers, self.seconds, self.is_isolated = course, answers, seconds, is_isolated
        self.stop = threading.Event()
        self.commands, self.lock = {}, threading.Lock()
        self.free_workers = list(range(sandbox.MOST_WORKERS))

    def file_of(self, chapter, name, text):
        """Where what is known of an answer is kept."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return self.answers / chapter / name / f"{digest[:32]}.json"

    def known(self, chapter, name, text):
        """What is known of an answer; None if it has not been judged."""
        try:
            return json.loads(self.file_of(chapter, name, text).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def judge(self, chapter, name, text):
        """Judges an answer, and keeps what came out; raises sandbox.Stopped if that was interrupted."""
        if (found := self.known(chapter, name, text)) is not None:
            return found
        with self.lock:
            if (chapter, name) not in self.commands:
                self.commands[chapter, name] = Commands(self.course, chapter, name)
            worker = self.free_workers.pop(0)
        try:
            with tempfile.TemporaryDirectory(prefix="grade-", ignore_cleanup_errors=True) as folder:
                found = self.compile_and_run(Path(folder), chapter, name, text, worker)
        finally:
            with self.lock:
                self.free_workers.insert(0, worker)
        result.write(self.file_of(chapter, name, text), found)
        return found

    def run(self, command, folder, limits, worker, **more):
        return sandbox.run(command, folder, self.course, limits, self.stop, worker=worker, is_isolated=self.is_isolated, **more)

    def compile_and_run(self, folder, chapter, name, text, worker):
        """{"verdict", "reason", "text", "checks", "schedules"} of an answer."""
        edit = f"exercises/{chapter}/{name}.cuh"
        exercise = folder / edit
        exercise.parent.mkdir(parents=True)
        exercise.write_text(text, encoding="utf-8", errors="surrogatepass")
        if sandbox.is_root():
            for path in (folder, *folder.rglob("*")):
                os.chown(path, sandbox.FIRST_USER + worker, sandbox.FIRST_USER + worker)
        script = self.commands[chapter, name].script(folder)
        built = self.run(["sh", "-c", script], folder, COMPILE, worker, has_proc=True)
        output = COLOURS.sub("", built.output).replace(os.path.relpath(folder, self.course / "build") + "/", f"{folder}/")
        if built.why or built.code != 0:
            reason = f"The compiler was ended: {built.why}." if built.why else compile_errors.explain(output, exercise)
            return self.kept(folder, result.DOES_NOT_COMPILE, reason, f"{name} does not compile:\n\n{reason}")
        limits = Limits(seconds=PATIENCE * self.seconds + 30, cpu_seconds=int(self.seconds) + 10)
        word = secrets.token_hex(16)
        ended = self.run(
            [str(folder / "check")], folder, limits, worker, word=word, COURSE_ALL="1", COURSE_EDIT=edit, COURSE_RERUN=f"./course check {name}",
            COURSE_CPU_SECONDS=str(self.seconds), COURSE_WARNINGS=compile_errors.warnings_of(output, exercise),
        )
        return self.read(folder, ended, word)

    def read(self, folder, ended, word):
        """What a check's end and its result say."""
        output = ended.output[:MOST_TEXT]
        if ended.why:
            reason = f"The check was ended: {ended.why}."
            return self.kept(folder, result.TIMED_OUT, reason, f"{output}\n{reason}")
        if found := result.proven(ended.result, word, ended.code):
            return self.kept(folder, found["verdict"], found["reason"], output, found)
        if ended.code < 0 or ended.code > 128:
            reason = "The check crashed, or one of its limits ended it."
            return self.kept(folder, result.CRASHED, reason, f"{output}\n{reason}")
        reason = f"The check was ended early, with exit code {ended.code}: does your file end the program?"
        return self.kept(folder, result.ENDED_EARLY, reason, f"{output}\n{reason}")

    def kept(self, folder, verdict, reason, text, found=None):
        """The record of an answer, with the paths that a learner knows."""
        def short(words):
            return words.replace(f"{folder}/", "").replace(f"{self.course}/", "")[:MOST_TEXT + 1000]

        found = found or result.new(verdict)
        return {"verdict": verdict, "reason": short(str(reason)), "text": short(text).strip(), "checks": found["checks"],
                "schedules": found["schedules"]}
