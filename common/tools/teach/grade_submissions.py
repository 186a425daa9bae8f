#!/usr/bin/env python3
"""Grades learners' exercise files in a clean checkout of this course, and writes their scores.

    grade_submissions.py --out FOLDER [--points FILE] [--chapters NAMES] SUBMISSION ...

A SUBMISSION is a learner's checkout: a folder with exercises/; the learner's name is the folder's.
Of all that is in there, only regular files exercises/CHAPTER/EXERCISE.cuh that this course knows are
copied, each into a fresh copy of the last commit here, without solutions. There each begun exercise is
built and checked. FOLDER gets scores.csv, scores.json and, in learners/, Meson's logs of each.

An exercise is refused, has no points and is named with its reason if it is a link or no regular file,
or if its text could decide the verdict in another way than by a right answer: it ends the program,
reads the environment or files, redefines a name that the check uses, includes other headers than the course's.
    --accept LEARNER/CHAPTER/EXERCISE   accepts such a file: you have read it

THIS RUNS THE LEARNERS' CODE, as the user who calls it. Use a container without a network, or an account
that has nothing to lose. What is safe and what is not: common/docs/grading.md.
Exit code: 0; 1 if a submission has no score.
"""

import argparse
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib.checkout import TOP, is_started  # noqa: E402
from tools.teach import grade  # noqa: E402

REFUSED = "refused"
MOST_BYTES = 200_000  # of an exercise file
FILE_SIZE = 2 << 30  # bytes that a process may write into one file
KEPT_ENVIRONMENT = [
    "PATH", "LANG", "LC_ALL", "CXX", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES",
]

# ---- what is in a file -----------------------------------------------------------------------------

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>(?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<text>"(?:\\.|[^"\\\n])*"|(?<!\w)(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')""",
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*(?:\#|%:)[ \t]*(\w*)[ \t]*(.*)$", re.MULTILINE)
HARMLESS = {"", "if", "ifdef", "ifndef", "elif", "else", "endif"}
PLAIN_HEADER = re.compile(r'<(course/)?[a-z_0-9]+(\.cuh|\.hpp|\.h)?>|"[A-Za-z_0-9]+\.(cuh|hpp|h)"')
# What a kernel and its launcher have no use for. With "(" the names that could be something else.
NAMES = re.compile(
    r"""\b(
      exit | _exit | _Exit | quick_exit | at_quick_exit | atexit | on_exit | pthread_exit | setjmp | longjmp | sigaction
    | getenv | secure_getenv | setenv | putenv | unsetenv | environ | __environ
    | [io]?fstream | fopen | freopen | fdopen | filesystem | mmap | mprotect | dlopen | dlsym
    | syscall | popen | v?fork | exec[lv]p?e? | posix_spawnp? | ptrace | _?_?asm_?_?
    | _?_?(?:constructor | destructor | ifunc | section)_?_? | init_priority | _Pragma
    | Catch | INTERNAL_CATCH\w* | TEST_CASE | REQUIRE\w* | CHECK\w* | simt
    | NOT_STARTED | exercise_not_started | course_not_started | remember_verdict
    | (?:main | open | openat | kill | signal | system)(?=\s*\()
    )\b""",
    re.VERBOSE,
)


def without_comments(text):
    """The text as the preprocessor sees it: lines spliced, comments a space, other text in quotes empty."""
    def first(token):
        return " " if token["comment"] else '""' if token["raw"] else token.group()

    lines = []
    for line in TOKEN.sub(first, re.sub(r"\\[ \t]*\r?\n", "", text)).splitlines():
        is_include = re.match(r"\s*(#|%:)\s*include\b", line)
        lines.append(line if is_include else TOKEN.sub('""', line))
    return "\n".join(lines)


def suspicions(text, check):
    """Why an exercise's text cannot be graded before a person has read it: reasons, none for nearly all.

    `check` is the text of its check, whose names no macro may change.
    """
    code = without_comments(text)
    taken = set(re.findall(r"\b[A-Za-z_]\w+\b", check))
    reasons = ["it has a trigraph"] if re.search(r"\?\?[=/]", text) else []
    for name, rest in DIRECTIVE.findall(code):
        if name == "include":
            if not PLAIN_HEADER.fullmatch(rest.strip()):
                reasons.append(f"it includes {rest.strip()}")
        elif name in ("define", "undef"):
            macro = (re.findall(r"\w+", rest) or [""])[0]
            if macro in taken:
                reasons.append(f"it redefines {macro}, which the check uses")
            if "##" in rest or "%:%:" in rest:
                reasons.append(f"its macro {macro} makes names")
        elif name == "pragma":
            if not re.match(r"(once|unroll)\b", rest):
                reasons.append(f"it has #pragma {rest.strip()}")
        elif name not in HARMLESS:
            reasons.append(f"it has #{name}")
    plain = DIRECTIVE.sub(lambda line: line.group(2) if line.group(1) in ("define", "") else "", code)
    reasons += [f"it uses {name}" for name in NAMES.findall(re.sub(r"\bcudaDevice\w+|\bCUDA_CHECK\w*", "", plain))]
    return list(dict.fromkeys(reasons))


def same_code(a, b):
    """True if two texts differ in comments and white space only."""
    return without_comments(a).split() == without_comments(b).split()


# ---- a submission ----------------------------------------------------------------------------------


def read_regular(file):
    """The bytes of a regular file that is no link; raises GradeError for anything else."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "it is a link" if file.is_symlink() else f"it cannot be read: {error.strerror}"
        raise grade.GradeError(reason) from error
    with open(descriptor, "rb") as data:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise grade.GradeError("it is no regular file")
        if status.st_size > MOST_BYTES:
            raise grade.GradeError(f"it has {status.st_size} bytes, and {MOST_BYTES} are the most")
        return data.read(MOST_BYTES)


def take(submission, course, exercises, accepted):
    """Copies the known files of a submission into `course`; returns ({exercise: reason of a refusal}, [note]).

    Raises GradeError if it is no submission.
    """
    folder = Path(submission) / "exercises"
    if folder.is_symlink() or not folder.is_dir():
        raise grade.GradeError(f"{submission} has no folder exercises/ (a link is none)")
    refused, notes, known = {}, [], set()
    for chapter, name in exercises:
        file = folder / chapter / f"{name}.cuh"
        known.add(file)
        try:
            if file.parent.is_symlink():
                raise grade.GradeError("its folder is a link")
            if not os.path.lexists(file):
                continue
            data = read_regular(file)
            text = data.decode("utf-8", errors="replace")
            check = (TOP / "chapters" / chapter / "checks" / f"{name}.cu").read_text(encoding="utf-8")
            if is_started(text) and (chapter, name) not in accepted and (found := suspicions(text, check)):
                raise grade.GradeError("; ".join(found))
            (course / "exercises" / chapter / f"{name}.cuh").write_bytes(data)
            solution = TOP / "solutions" / chapter / f"{name}.cuh"
            if solution.exists() and same_code(text, solution.read_text(encoding="utf-8")):
                notes.append(f"{chapter}/{name} is the published solution")
        except grade.GradeError as error:
            refused[chapter, name] = str(error)
    chapters = {chapter for chapter, _ in exercises}
    there = [file for file in sorted(folder.glob("*/*")) if file.parent.name in chapters]
    if extra := [str(file.relative_to(folder)) for file in there if file not in known]:
        notes.append(f"not copied: {', '.join(extra[:5])}{', ...' if len(extra) > 5 else ''}")
    return refused, notes


# ---- building and checking -------------------------------------------------------------------------


def run(command, folder, log, seconds=None, **environment):
    """Runs a command in a session of its own, with little of our environment; returns its exit code."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))

    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    environment = {**kept, "PWD": str(folder), "HOME": str(folder.parent / "home"), **environment}
    with open(log, "ab") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=limits,
        )
        try:
            return process.wait(seconds)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it started and left running
            except ProcessLookupError:
                pass


def prepare(work, options, exercises):
    """A built copy of the last commit in work/clean: what all exercises share. It is only good at work/course."""
    course, log = work / "course", options.out / "prepare.log"
    (work / "home").mkdir()
    if (TOP / "solutions").exists():
        command = [sys.executable, str(TOP / "common/tools/teach/release.py"), str(course)]
    else:  # a release itself
        command = ["git", "clone", "--quiet", str(TOP), str(course)]
    chapters = ",".join(sorted({chapter for chapter, _ in exercises}))
    setup = ["meson", "setup", "build", f"-Ddevice={options.device}", f"-Dchapters={chapters}"]
    first = ["ninja", "-C", "build", "chapters/{}/{}".format(*exercises[0])]  # brings what all others need
    copied = run(command, work, log, HOME=os.environ.get("HOME", "/"))  # Git may need your settings there
    if copied or run(setup, course, log) or run(first, course, log):
        sys.exit(f"grade_submissions.py: the course itself does not build: see {log}")
    shutil.copytree(course, work / "clean", symlinks=True)


def grade_one(submission, work, options, exercises):
    """The Learner of one submission."""
    name = Path(submission).resolve().name
    learner = grade.Learner(name)
    accepted = {tuple(text.split("/")[-2:]) for text in options.accept if text.rsplit("/", 2)[0] == name}
    folder = options.out / "learners" / name
    folder.mkdir(parents=True)
    course = work / "course"
    shutil.rmtree(course, ignore_errors=True)
    shutil.copytree(work / "clean", course, symlinks=True)
    try:
        refused, notes = take(submission, course, exercises, accepted)
        run(["meson", "test", "-C", "build", "--no-rebuild", "--suite", "exercises"], course, folder / "log.txt",
            seconds=len(exercises) * (options.seconds + 300), COURSE_TIMEOUT=str(options.seconds))
        log = course / "build" / "meson-logs" / grade.LOG
        (folder / grade.LOG).write_bytes(read_log_file(log))
        verdicts, _ = grade.read_log(folder / grade.LOG, set(exercises), course / "build")
    except (grade.GradeError, subprocess.TimeoutExpired) as error:
        learner.error = str(error)
        return learner
    learner.verdicts = {exercise: verdicts.get(exercise, grade.NOT_RUN) for exercise in exercises}
    learner.verdicts.update({exercise: REFUSED for exercise in refused})
    learner.notes = [f"{'/'.join(key)} is refused: {reason}" for key, reason in refused.items()] + notes
    return learner


def read_log_file(log):
    """The log that Meson wrote in a folder where a learner's code ran: no link, no more than a log has."""
    if log.is_symlink() or not log.is_file() or log.stat().st_size > grade.MOST_BYTES:
        raise grade.GradeError(f"Meson left no {grade.LOG}")
    return log.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("submissions", nargs="+", metavar="SUBMISSION")
    add("--out", required=True, type=Path, metavar="FOLDER", help="where scores and logs go; new or empty")
    add("--points", metavar="FILE", help="as for grade.py")
    add("--chapters", metavar="NAMES", help="these only, such as 01-global-atomic,03-shared-reduce")
    add("--seconds", type=float, default=60, help="that a check may take (%(default)s); building has 300 at most")
    add("--device", choices=["cpu", "cuda"], default="cpu", help="where kernels run (%(default)s)")
    add("--accept", action="append", default=[], metavar="LEARNER/CHAPTER/EXERCISE", help="do not refuse this file")
    options = parser.parse_args()

    exercises = grade.exercises_of(TOP)
    if options.chapters:
        wanted = options.chapters.split(",")
        if unknown := set(wanted) - {chapter for chapter, _ in exercises}:
            sys.exit(f"grade_submissions.py: there is no chapter {', '.join(sorted(unknown))}")
        exercises = [exercise for exercise in exercises if exercise[0] in wanted]
    points = grade.read_points(options.points, exercises)
    names = [Path(submission).resolve().name for submission in options.submissions]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        sys.exit(f"grade_submissions.py: two submissions are called '{grade.shown(twice[0])}': rename one")
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        sys.exit(f"grade_submissions.py: {options.out} is not an empty folder")
    options.out.mkdir(parents=True, exist_ok=True)
    options.out = options.out.resolve()

    with tempfile.TemporaryDirectory(prefix="grade-") as work:
        prepare(Path(work), options, exercises)
        learners = []
        for submission in options.submissions:
            learners.append(grade_one(submission, Path(work), options, exercises))
            print(f"graded {grade.shown(learners[-1].name)}", file=sys.stderr)
    return grade.report(learners, points, options.out / "scores.csv", options.out / "scores.json")


if __name__ == "__main__":
    sys.exit(main())
