"""The copy of the course in which answers are judged: made once for a folder of grades, and built further for more chapters."""

import json
import os
import re
import shutil
import subprocess
import sys

from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import sandbox
from tools.teach.answers import settings_of, target
from tools.teach.progress import Progress

STEP = re.compile(r"\[(\d+)/(\d+)\] ")


def version():
    """The commit that is graded with; empty where Git knows none."""
    done = subprocess.run(["git", "-C", str(TOP), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def run_logged(command, folder, log, progress):
    """Runs a command of ours, with its output at the end of `log`; returns its exit code."""
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] "}
    with open(log, "ab") as out, subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        try:
            for line in process.stdout:
                out.write(line)
                out.flush()
                if step := STEP.match(line.decode("utf-8", "replace")):
                    progress.step(int(step[1]), total=int(step[2]))
                else:
                    progress.step(progress.done)
        except BaseException:
            process.terminate()
            raise
    return process.returncode


def compile_kernel(course):
    """Compiles a kernel as the checks of exercises are: in a sandbox nothing can be written here."""
    kernel = course / "build" / "kernel.cu"
    kernel.write_text("__global__ void kernel() {}\n", encoding="utf-8")
    return [sys.executable, str(course / "common"), "build.simtcc", "--settings", str(settings_of(course)), str(kernel), "-o", f"{kernel}.o"]


def is_there(ready, wanted):
    """True if the copy has all that is wanted. A file without content says that it has everything."""
    if not ready.exists():
        return False
    text = ready.read_text(encoding="utf-8")
    if not text:
        return True
    there = json.loads(text)
    return all(there[key] == wanted[key] for key in ("course", "device")) and set(wanted["chapters"]) <= set(there["chapters"])


def build_course(course, commit, exercises, device, log):
    """Makes `course`: the last commit of this one without solutions, with what all checks of these exercises share compiled. What is
    there of the same version is kept, and chapters are added to it."""
    ready = course.with_name("course.ready")
    wanted = {"course": commit, "device": device, "chapters": sorted({chapter for chapter, _ in exercises})}
    if is_there(ready, wanted):
        return
    before = json.loads(ready.read_text(encoding="utf-8")) if ready.exists() else {}
    more = all(before.get(key) == wanted[key] for key in ("course", "device"))
    if more:
        wanted["chapters"] = sorted({*wanted["chapters"], *before["chapters"]})
    else:
        ready.unlink(missing_ok=True)
        shutil.rmtree(course, ignore_errors=True)
    if (TOP / "solutions").exists():
        copy = [sys.executable, str(TOP / "common/tools/teach/release.py"), str(course)]
    else:  # a release itself
        copy = ["git", "clone", "--quiet", str(TOP), str(course)]
    ninja = shutil.which("ninja") or shutil.which("ninja-build") or "ninja"
    chapters = ",".join(wanted["chapters"])
    print(f"the course is built for chapter{'s' if ',' in chapters else ''} {chapters}: that takes a minute or two, once", file=sys.stderr, flush=True)
    with Progress("building the course") as progress:
        steps = [] if more else [(copy, TOP)]
        steps.append((["meson", "setup", *(["--reconfigure"] if more else []), "build", f"-Ddevice={device}", f"-Dchapters={chapters}"], course))
        for command, folder in steps:
            if run_logged(command, folder, log, progress):
                raise Failed(f"the course itself does not build: see {log}")
        # The check of one exercise brings the libraries that all others need; a kernel, the headers that the compiler reads once.
        steps = [[ninja, "-C", "build", target(course, *exercises[0])], *([compile_kernel(course)] if settings_of(course).exists() else [])]
        for command in steps:
            if run_logged(command, course, log, progress):
                raise Failed(f"the course itself does not build: see {log}")
    if sandbox.is_root():  # compilers and answers run as other users, and only compilers may read the checks
        subprocess.run(["chown", "-R", f":{sandbox.READERS}", str(course)], check=True)
        subprocess.run(["chmod", "-R", "g+rX,o=", str(course)], check=True)
        os.chmod(course.parent, os.stat(course.parent).st_mode | 0o011)
    ready.write_text(json.dumps(wanted) + "\n", encoding="utf-8")
