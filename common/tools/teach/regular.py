"""Reads what learners handed in: regular files only, and never through a link."""

import os
import stat
from pathlib import Path

from tools.lib.failed import Failed


class GradeError(Failed):
    """Why a learner, or an exercise of one, has no score; `learner` is the name where it is another than that of the file."""

    def __init__(self, text, learner=None):
        super().__init__(text)
        self.learner = learner


def read_below(folder, name, most):
    """The bytes of the regular file `name` below `folder`; None if it is not there.

    Raises GradeError if it or a folder on the way is a link, if it is a pipe, a device or the like, or larger than `most`.
    """
    *folders, last = Path(name).parts
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in folders:
            if stat.S_ISLNK(os.stat(part, dir_fd=descriptor, follow_symlinks=False).st_mode):
                raise GradeError(f"its folder {part} is a link")
            inner = os.open(part, flags | os.O_DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        status = os.stat(last, dir_fd=descriptor, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):  # seen before it is opened: to open a device can do something
            raise GradeError("it is a link" if stat.S_ISLNK(status.st_mode) else "it is no regular file")
        file = os.open(last, flags, dir_fd=descriptor)
        with open(file, "rb") as data:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise GradeError("it is no regular file")
            text = data.read(most + 1)
            if len(text) > most:
                raise GradeError(f"it has {status.st_size} bytes, and {most} are the most")
            return text
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GradeError(f"it cannot be read: {error.strerror}") from error
    finally:
        if descriptor is not None:
            os.close(descriptor)
