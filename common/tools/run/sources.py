"""Where a report's lines are: paths from the top of the reader's repository, and the texts of the lines."""

import os
from pathlib import Path


def root_of(folder):
    """The top of the Git repository that a folder is in; the folder itself if it is in none."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


class Sources:
    """The files that a report names, whose paths are from the folder where the command ran."""

    def __init__(self, folder):
        self.folder = Path(os.path.realpath(folder))
        self.root = root_of(self.folder)
        self.lines = {}

    def path(self, file):
        """A file's path from the top of the repository; an absolute one if it is elsewhere."""
        whole = Path(os.path.normpath(self.folder / file))
        return whole.relative_to(self.root).as_posix() if whole.is_relative_to(self.root) else whole.as_posix()

    def line(self, file, number):
        """The text of a line, with one blank where there are several; "" for one that is not there."""
        if file not in self.lines:
            try:
                text = (self.folder / file).read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            self.lines[file] = text.splitlines()
        found = self.lines[file][number - 1 : number] if number > 0 else []
        return " ".join(" ".join(found).split())
