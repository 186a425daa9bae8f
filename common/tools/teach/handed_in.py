"""Finds what learners handed in: checkouts, folders of files, zip files, and the downloads of Moodle and Canvas.

Nothing is unpacked and no link is followed. What is found is {learner: HandedIn}, with the files that could be an exercise.
What is inside of a submission is the learner's word, and so are the names there: they are never those of learners. Only in a download that
the instructor names as one do names inside say whose a file is.
"""

import hashlib
import io
import itertools
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from tools.lib.checkout import is_started
from tools.lib.failed import Failed
from tools.teach.regular import GradeError, read_below

MOST_BYTES = 200_000  # of an exercise file
MOST_ZIP_BYTES = 20_000_000  # of a zip file that a learner handed in
MADE_ON_WINDOWS = 0  # create_system of an entry whose folders may be joined by \\: elsewhere that is a letter of a name
MOST_FILES = 20_000  # that are looked at in one folder or zip file
DEEPEST = 5  # folders
MOST_PLACES = 10  # that are read for one exercise
MOST_ZIPS = 5  # that are opened in what one learner handed in
MOST_NAMED = 5  # in a sentence
MOST_NAME_BYTES = 200  # of a learner's name: it is the name of a folder
KEPT_OF_NAME = 60  # characters of a name that can be none
ZIP_ERRORS = (OSError, RuntimeError, ValueError, EOFError, OverflowError, struct.error, zipfile.BadZipFile, zlib.error)  # of a file that is none
# What a download of a platform puts before the files of a learner. Moodle numbers learners anew for each assignment; the first
# number of Canvas is the learner's. Both are written with and without a folder for each learner.
MOODLE = re.compile(r"(?P<name>[^/]+?)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<rest>/?.*)", re.DOTALL)
CANVAS = re.compile(r"(?P<name>[^/_]+)_(?P<late>LATE_)?(?P<number>\d+)_\d+_(?P<rest>[^/]+)", re.DOTALL)
# Names that systems give to a second copy, and to a text file: "ticket (1).cuh", "ticket-1.cuh", "ticket - Copy.cuh", "ticket.cuh.txt".
NAME = re.compile(r"(?P<stem>\w+?)(?: ?\(\d+\)|-\d+| - \w+(?: \(\d+\))?)?\.cuh(?:\.txt)?", re.IGNORECASE)
JUNK = ("__MACOSX", ".git", ".DS_Store", "Thumbs.db", "build")


def no_file(reason):
    """What reads a file that is not read: it raises GradeError."""
    def read():
        raise GradeError(reason)

    return read


def some_of(names):
    """a, b, ...: the first names."""
    names = sorted(names)
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")


# ---- texts ---------------------------------------------------------------------------------------


def text_of(data):
    """An exercise's text, as editors of all systems save it: UTF-8 or UTF-16, with line ends of any kind."""
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        text = data.decode("utf-32", errors="replace")
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    elif data[:200].count(b"\0") > len(data[:200]) // 4:
        raise GradeError("it is no text in UTF-8, or in UTF-16 with a byte order mark: save it as UTF-8")
    else:
        text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ---- folders and zip files: {path: function that returns the bytes} ----------------------------------


def is_junk(name):
    return name in JUNK or name.startswith("._")


def files_in(folder):
    """What is below a folder. Of a checkout, only its own files and those of exercises/."""
    found, looked_at, waiting = {}, 0, [(Path(folder), 0)]
    while waiting and looked_at < MOST_FILES:
        place, depth = waiting.pop(0)
        try:
            with os.scandir(place) as entries:
                entries = sorted(itertools.islice(entries, MOST_FILES - looked_at), key=lambda entry: entry.name)
        except OSError:
            continue
        looked_at += len(entries)
        in_checkout = any(entry.name == "exercises" and entry.is_dir(follow_symlinks=False) for entry in entries)
        for entry in entries:
            path = os.path.relpath(entry.path, folder)
            if is_junk(entry.name):
                continue
            if not entry.is_dir(follow_symlinks=False) or entry.name.endswith(".cuh"):
                most = MOST_ZIP_BYTES if path.lower().endswith(".zip") else MOST_BYTES
                found[path] = lambda path=path, most=most: read_below(folder, path, most)
            elif depth < DEEPEST and (not in_checkout or entry.name == "exercises"):
                waiting.append((Path(entry.path), depth + 1))
    return found


def files_in_zip(data, shown):
    """What is in a zip file: bytes, or the path of one. Only what is asked for is unpacked, in memory, up to a limit."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
    except ZIP_ERRORS as error:
        raise GradeError(f"{shown} cannot be read as a zip file: {error}") from error
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise GradeError(f"{shown} has {len(entries)} files, and {MOST_FILES} are the most")
    found = {}
    for info in entries:
        path = info.filename.replace("\\", "/") if info.create_system == MADE_ON_WINDOWS else info.filename
        parts = path.split("/")
        if info.is_dir() or any(map(is_junk, parts)):
            continue
        if path.startswith("/") or ".." in parts or re.match("[A-Za-z]:", path):
            found[path.lstrip("/")] = no_file("its path leads out of the zip file")
        elif stat.S_ISLNK(info.external_attr >> 16):
            found[path] = no_file("it is a link")
        elif path in found:
            found[path] = no_file("the zip file has it twice")
        else:
            found[path] = lambda info=info: bytes_in_zip(archive, info)
    return found


def bytes_in_zip(archive, info):
    """The bytes of one file in a zip file."""
    most = MOST_ZIP_BYTES if info.filename.lower().endswith(".zip") else MOST_BYTES
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise GradeError("it is packed in a way that zip programs seldom use: pack it anew")
    try:
        with archive.open(info) as file:
            data = file.read(most + 1)
    except ZIP_ERRORS as error:
        raise GradeError(f"it cannot be unpacked: {error}") from error
    if len(data) > most:
        raise GradeError(f"it has {info.file_size} bytes, and {most} are the most")
    return data


# ---- learners ------------------------------------------------------------------------------------


@dataclass
class HandedIn:
    """What one learner handed in. `places` is {(chapter, exercise): [(rank, path, function that returns the bytes)]}: the lower the
    rank, the more the name and the folder are those of the course. With an `error` nothing could be read."""

    places: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    error: str = ""

    def text(self, key):
        """The text of an exercise; None if it was not handed in. Raises GradeError where it cannot be told which text counts."""
        begun, starters, reasons = defaultdict(dict), [], []
        for rank, path, read in sorted(self.places.get(key, ()), key=lambda place: place[:2])[:MOST_PLACES]:
            try:
                data = read()
                if data is not None:
                    text = text_of(data)
                    if is_started(text):
                        begun[rank].setdefault(text, path)
                    else:
                        starters.append(text)
            except GradeError as error:
                reasons.append(str(error))
        if begun:
            texts = begun[min(begun)]
            if len(texts) > 1:
                raise GradeError(f"{len(texts)} different files could be it, and one is expected: {some_of(texts.values())}")
            return next(iter(texts))
        if reasons:
            raise GradeError(reasons[0])
        return starters[0] if starters else None


def exercise_of(path, exercises):
    """(the exercise, its rank) that a file's path may stand for, or None."""
    *folders, name = path.split("/")
    match = NAME.fullmatch(unicodedata.normalize("NFC", name))
    chapter = match and exercises.get(match["stem"].lower())
    if not chapter or folders[:1] == ["exercises"] and folders[1:] != [chapter]:
        return None
    stem = match["stem"].lower()
    exact = name == f"{stem}.cuh"
    return (chapter, stem), 0 if exact and folders == ["exercises", chapter] else 1 if exact else 2


def opened(files):
    """The same files, with what is in those that are zip files. Raises GradeError for one that is none."""
    found = dict(files)
    for path in [path for path in sorted(files) if path.lower().endswith(".zip")][:MOST_ZIPS]:
        try:
            inner = files_in_zip(files[path]() or b"", path)
        except GradeError as error:
            raise GradeError(str(error) if path in str(error) else f"{path}: {error}") from error
        found.update({f"{path}/{without_wrapper(name, inner)}": read for name, read in inner.items()})
    return found


def learner_of(files, exercises, checkout=None):
    """A HandedIn of the files of one learner: those below the folder `checkout`, or in a zip file."""
    handed = HandedIn()

    def known_in(some):
        return {path: found for path in some if (found := exercise_of(path, exercises))}

    known, not_listed = known_in(files), (".md",)
    if not known:
        not_listed = (".md", ".zip")  # what is in these is listed
        try:
            files = opened(files)
        except GradeError as error:
            return HandedIn(error=str(error))
        known = known_in(files)
    for path, (key, rank) in known.items():
        handed.places.setdefault(key, []).append((rank, path, files[path]))
    course_folder = checkout and checkout / "exercises"
    if course_folder and course_folder.is_symlink():
        return HandedIn(error="its folder exercises is a link")
    has_folder = course_folder and course_folder.is_dir()
    if has_folder:  # a folder below it that is a link is named as one
        for name, chapter in exercises.items():
            if (course_folder / chapter).is_symlink():
                handed.places.setdefault((chapter, name), []).append((0, "", no_file(f"its folder {chapter} is a link")))
    elif not known:
        return HandedIn(error=f"there is no folder exercises/ and no file such as ticket.cuh in it; there is {some_of(files) or 'nothing'}")
    others = [path.removeprefix("exercises/") for path in files
              if path not in known and not path.lower().endswith(not_listed) and (not has_folder or path.startswith("exercises/"))]
    if others:
        handed.notes.append(f"not read: {some_of(others)}")
    return handed


def without_wrapper(path, files):
    """A path without the one folder that all of these files are in, unless that is exercises/."""
    first, _, rest = path.partition("/")
    only = rest and first != "exercises" and all(name.startswith(f"{first}/") for name in files)
    return rest if only else path


def folders_of(files):
    """{folder: {path in it: read}} of the files' outermost folders."""
    folders = defaultdict(dict)
    for path, read in files.items():
        folder, _, rest = path.partition("/")
        if rest:
            folders[folder][rest] = read
    return folders


class Finder:
    """Collects learners from the arguments of a command line."""

    def __init__(self, exercises):
        self.exercises = {name: chapter for chapter, name in exercises}
        self.learners, self.where, self.warnings = {}, {}, []
        self.loose = defaultdict(dict)  # {(name, number, platform): {path: read}} of a platform's download
        self.listing_of = {}  # {(name, platform): the zip file or folder that has this learner's files}
        self.marked_late, self.typed = set(), set()

    def enter(self, name, handed, where):
        if name in ("", ".", "..") or "/" in name or "\0" in name or len(os.fsencode(name)) > MOST_NAME_BYTES:
            row = re.sub("[./\0]", "_", name[:KEPT_OF_NAME]) + "~" + hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
            self.warnings.append(f"{name[:KEPT_OF_NAME]}{'...' if len(name) > KEPT_OF_NAME else ''} cannot be a learner's name: the row is called '{row}'")
            name = row
        if name in self.learners:
            raise Failed(f"{where} and {self.where[name]} are both called '{name}': rename one")
        self.learners[name], self.where[name] = handed, where

    def of_platform(self, path, read, listing):
        """True if a path is one of a platform's download, the zip file or folder `listing`: its file is taken for the learner that it names."""
        if match := MOODLE.fullmatch(path):
            learner = match["name"], match["number"], "Moodle"
            if match["kind"] == "onlinetext":
                self.typed.add(learner)
        elif match := CANVAS.fullmatch(path):
            learner = match["name"], match["number"], "Canvas"
            self.marked_late |= {learner} if match["late"] else set()
        else:
            return False
        name, number, platform = learner
        whose = (name, platform) if platform == "Moodle" else (f"{name}_{number}", platform)
        if (other := self.listing_of.setdefault(whose, listing)) != listing:
            raise Failed(f"{other} and {listing} both have files of '{whose[0]}': name one of them in a command, or rename one if these are two learners")
        files = self.loose[learner]
        if platform == "Canvas" or match["kind"] == "file":
            files[match["rest"].strip("/")] = read
        return True

    def named_by_platform(self, files):
        """The files, perhaps without one folder around them, if a platform's download names files so; None if not."""
        short = {without_wrapper(path, files): read for path, read in files.items()}
        for these in (files, short):
            if any(MOODLE.fullmatch(path) or CANVAS.fullmatch(path) for path in these) and not any(
                    "/" not in path and exercise_of(path, self.exercises) or path.startswith("exercises/") for path in these):
                return these
        return None

    def folders_with_answers(self, files):
        """The folders that could be several learners': each has exercises, and none has the name of the course's own; [] if there is one."""
        found = [folder for folder, inner in folders_of(files).items() if any(exercise_of(name, self.exercises) for name in inner)]
        return sorted(found) if len(found) > 1 and not set(found) & {"exercises", *self.exercises.values()} else []

    def download(self, text):
        """What a platform gave for a whole class: a zip file or a folder, whose inner names are learners."""
        path = Path(os.path.abspath(text))
        if not path.exists():
            raise Failed(f"--download {text}: there is no such file or folder")
        files = files_in(path) if path.is_dir() else files_in_zip(path, path.name)
        if (named := self.named_by_platform(files)) is not None:
            self.warnings += [f"{inner} names no learner: it is not read" for inner, read in named.items() if not self.of_platform(inner, read, path)]
            return
        files = {without_wrapper(name, files): read for name, read in files.items()}
        if not self.folders_with_answers(files):
            raise Failed(f"--download {text}: nothing in it is named as Moodle or Canvas name what learners hand in, and it has no folders of several "
                         "learners: without --download it is one learner's")
        for folder, inner in folders_of(files).items():
            self.enter(folder, learner_of(inner, self.exercises), f"{path.name}/{folder}")

    def of_one(self, name, path, files, checkout=None):
        """Enters what an argument names as one learner's, whatever the names inside of it are."""
        short = {without_wrapper(inner, files): read for inner, read in files.items()}
        if self.named_by_platform(files) is not None:
            handed = HandedIn(error=f"its files are named as those of a whole class in a download of Moodle or Canvas: {some_of(files)}")
            self.warnings.append(f"{path} is taken for one learner's: if it is a platform's download of a class, name it as --download {path}")
        else:
            handed = learner_of(files if checkout else short, self.exercises, checkout=checkout)
            if folders := self.folders_with_answers(short):
                self.warnings.append(f"{path} is taken for one learner's: if its folders {some_of(folders)} are learners, name it as --download {path}")
        self.enter(name, handed, path)

    def argument(self, text):
        """What an instructor names as one learner's: a folder, a zip file, or a file or folder of a platform's unpacked download."""
        path = Path(os.path.abspath(text))
        if path.is_dir() and MOODLE.fullmatch(path.name):
            for name, read in files_in(path).items() or {"": None}.items():  # an empty one is of a learner, too
                self.of_platform(f"{path.name}/{name}", read, path.parent)
        elif path.is_dir():
            self.of_one(path.name, path, files_in(path), checkout=path)
        elif not path.exists():
            raise Failed(f"{text}: there is no such file or folder")
        elif path.suffix.lower() == ".zip" and not MOODLE.fullmatch(path.name) and not CANVAS.fullmatch(path.name):
            try:
                self.of_one(path.stem, path, files_in_zip(path, path.name))
            except GradeError as error:
                self.enter(path.stem, HandedIn(error=str(error)), path)
        elif not self.of_platform(path.name, lambda: read_below(path.parent, path.name, MOST_ZIP_BYTES), path.parent):
            raise Failed(f"{text} is a file: a submission is a learner's folder, a zip file, or a file that a platform has named")

    def finish(self):
        """{learner: HandedIn} of all arguments."""
        names = [name for name, *_ in self.loose]
        for (name, number, platform), files in sorted(self.loose.items()):
            called = f"{name}_{number}" if platform == "Canvas" else name
            if platform == "Moodle" and names.count(name) > 1:
                called = f"{name}_{number}"
                self.warnings.append(f"Moodle has another {name}: this one is called '{called}', and so only in this assignment")
            files = {path: read for path, read in files.items() if path}
            is_typed = (name, number, platform) in self.typed
            if is_typed and not files:
                handed = HandedIn(error="a text was typed into Moodle, and no file was handed in: typed text is not read")
            else:
                handed = learner_of(files, self.exercises)
                handed.notes += ["a text was typed into Moodle as well: it is not read"] if is_typed else []
            if (name, number, platform) in self.marked_late:
                handed.notes.append("Canvas has marked it as late")
            self.enter(called, handed, f"the download of {platform}")
        return self.learners


def find(arguments, exercises, downloads=()):
    """({learner: HandedIn}, [what the instructor should know]) of the arguments of a command line. Raises Failed."""
    if not arguments and not downloads:
        raise Failed("no submission is named: name learners' folders and zip files, such as submissions/*, or --download and a platform's zip file")
    finder = Finder(exercises)
    for text in downloads:
        finder.download(str(text))
    for text in arguments:
        finder.argument(str(text))
    return finder.finish(), finder.warnings
