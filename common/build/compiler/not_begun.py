"""An exercise that has not been begun: its check is skipped, so it is not compiled either."""

from pathlib import Path

from tools.lib.checkout import is_started

TEXT = "#include <course/exercise.cuh>\n\nNOT_STARTED\n"


def exercise_not_begun(options):
    """The exercise's file that a check is compiled for, if its line NOT_STARTED is there; None if not."""
    if not options.is_of_learner:
        return None
    name = f"{Path(options.source).stem}.cuh"
    file = next((file for folder in options.include_folders() if (file := Path(folder, name)).is_file()), None)
    if file is None or is_started(file.read_text(encoding="utf-8", errors="replace")):
        return None
    return str(file)
