#!/usr/bin/env python3
"""Makes a copy of the course for learners: without solutions and their variants.

    release.py OUT_FOLDER [--chapters NN-topic,NN-topic,...]

OUT_FOLDER must not exist, or be empty. It becomes a Git repository with one commit: what the last
commit of this one has, without solutions/, chapters/*/mistakes, chapters/*/alternatives and what only they need. What a page has
between <!-- answers:begin --> and <!-- answers:end --> is left out, too. --chapters keeps these chapters only.

What that protects and what not: common/docs/release.md.
Exit code: 0, or 1 with what was wrong; nothing is left in OUT_FOLDER then.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import markers  # noqa: E402
from tools.lib.checkout import TOP  # noqa: E402

# Patterns of what is left out. The gate proves solutions; the page of verdicts names every mistake.
LEFT_OUT = [
    "solutions", "chapters/*/mistakes", "chapters/*/alternatives", "chapters/*/results/*-verdicts.json", ".ci",
    "chapters/*/results/nvcc.toml", "common/tests/results",  # they are of the solutions, too
    ".github/workflows",  # they run the gate, and publish the site with the pages of the solutions
    "common/docs/verdicts.md",
]
# A page may not lead a learner to what is not there. What these pages say is about this repository.
LEADS_THERE = re.compile(r"\bsolutions/|\bmistakes/|\balternatives/")
PAGES_LEFT_ALONE = [
    "CONTRIBUTING.md", "common/docs/architecture.md", "common/docs/instructors.md", "common/docs/grading.md", "common/docs/release.md",
]

def git(folder, *arguments, **options):
    """What a Git command prints; ends the program, and says why, where it fails."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"release.py: git {arguments[0]} in {folder}: {done.stderr.strip()}")
    return done.stdout.strip()


# ---- pages ---------------------------------------------------------------------------------------


def without_links_to(places, text):
    """The text without rows that begin with a link to one of these folders or files; other links become text."""
    names = "|".join(map(re.escape, places))
    text = re.sub(rf"^\| *\[[^\]]*\]\([^)]*\b(?:{names})\b[^)]*\).*\n", "", text, flags=re.MULTILINE)
    return re.sub(rf"\[([^\]]*)\]\((?!https?:)[^)]*\b(?:{names})\b[^)]*\)", r"\1", text)


# ---- the release -----------------------------------------------------------------------------------


def digests(files):
    """The SHA-256 of each file that is not empty."""
    return {hashlib.sha256(file.read_bytes()).hexdigest(): file for file in files if file.stat().st_size > 0}


def files_in(folder):
    """The regular files below a folder, Git's own left out; or the one that it is itself."""
    if folder.is_file():
        return [folder]
    found = sorted(file for file in folder.rglob("*") if ".git" not in file.parts)
    return [file for file in found if file.is_file() and not file.is_symlink()]


def remove(out, pattern):
    """Removes what matches below `out`; returns the files' digests, and prints how many there were."""
    gone = {}
    found = sorted(out.glob(pattern))
    for place in found:
        gone.update(digests(files_in(place)))
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    if found:
        print(f"left out: {pattern} ({len(gone)} files)")
    return gone


def chapters_of(top):
    """The names of a course's chapters."""
    return sorted(file.parent.name for file in top.glob("chapters/[0-9][0-9]-*/chapter.toml"))


def drop_chapters(out, keep):
    """Removes every chapter that is not in `keep`; returns their names."""
    dropped = [name for name in chapters_of(out) if name not in keep]
    for name in dropped:
        for folder in [place for place in out.rglob(name) if place.is_dir()]:
            shutil.rmtree(folder)
        print(f"left out: chapter {name}")
    return dropped


def rewrite_pages(out, places_gone):
    """Takes out of every page what leads to something that is not there; prints the sentences."""
    for page in sorted(out.rglob("*.md")):
        name = page.relative_to(out).as_posix()
        if name in PAGES_LEFT_ALONE:
            continue
        text, dropped = markers.without_answers(page.read_text(encoding="utf-8"))
        page.write_text(without_links_to(places_gone, text), encoding="utf-8")
        for sentence in dropped:
            print(f"left out: {name}: {sentence}")


def verify(out, gone):
    """Ends the program if an answer is still there under another name, or a page leads to one."""
    here = digests(files_in(out))
    for digest in sorted(set(here) & set(gone)):
        sys.exit(f"release.py: {here[digest].relative_to(out)} is a copy of {gone[digest].relative_to(out)}")
    for page in sorted(out.rglob("*.md")):
        name = page.relative_to(out).as_posix()
        if name not in PAGES_LEFT_ALONE and LEADS_THERE.search(page.read_text(encoding="utf-8")):
            sys.exit(f"release.py: {name} still leads to an answer: put that between <!-- answers:begin --> and <!-- answers:end -->")


def commit(out, source):
    """Makes the folder a repository with one commit, whose author and date tell nothing about this machine."""
    date = git(TOP, "log", "-1", "--format=%cI")
    stamp = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    settings = ["-c", "user.name=cuda-atomics-course", "-c", "user.email=course@localhost",
                "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null", "-c", "core.excludesFile="]
    git(out, "init", "--quiet", "--initial-branch=main", "--template=")
    git(out, "add", "--all")
    git(out, *settings, "commit", "--quiet", "-m", f"The course for learners, made from {source[:12]}",
        env={**os.environ, **stamp})


def make(out, chapters):
    """Fills the empty folder `out`."""
    source = git(TOP, "rev-parse", "HEAD")
    if git(TOP, "status", "--porcelain"):
        print("note: this checkout has changes that are not committed: the release is made without them")
    archive = subprocess.Popen(["git", "-C", str(TOP), "archive", source], stdout=subprocess.PIPE)
    unpacked = subprocess.run(["tar", "-x", "-C", str(out)], stdin=archive.stdout).returncode
    if archive.wait() or unpacked:
        sys.exit(f"release.py: could not copy the files of {source}")
    gone = {}
    for pattern in LEFT_OUT:
        gone.update(remove(out, pattern))
    chapters_gone = drop_chapters(out, chapters) if chapters else []
    rewrite_pages(out, ["verdicts.md", *chapters_gone])
    verify(out, gone)
    commit(out, source)
    print(f"{out}: {len(files_in(out))} files, one commit, made from {source[:12]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT_FOLDER")
    parser.add_argument(
        "--chapters", metavar="NAMES", help="keep these chapters only, such as 01-global-atomic,03-shared-reduce"
    )
    options = parser.parse_args()
    out = options.out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        sys.exit(f"release.py: {options.out} is not an empty folder: name one that does not exist")
    if TOP in out.parents:
        sys.exit(f"release.py: {options.out} lies inside this checkout: name a folder outside of it")
    if not (TOP / "solutions").is_dir():
        sys.exit("release.py: this is a release already: it has no solutions/")
    chapters = [name for name in (options.chapters or "").split(",") if name]
    if unknown := sorted(set(chapters) - set(there := chapters_of(TOP))):
        sys.exit(f"release.py: there is no chapter {', '.join(unknown)}. There are {', '.join(there)}.")
    out.mkdir(parents=True, exist_ok=True)
    try:
        make(out, chapters)
    except BaseException:
        shutil.rmtree(out)
        raise


if __name__ == "__main__":
    main()
