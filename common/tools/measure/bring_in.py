"""Puts what was measured into the chapters' folders of results."""

import json

from tools.lib import compact_json
from tools.lib.chapter_results import PROFILE, SECTORS, TIMES, VERDICTS, VERSION, file_of
from tools.lib.failed import Failed
from tools.measure.gpu_run import RESULTS, SCHEMA

KINDS = {"ladders": TIMES, "profiles": PROFILE, "sectors": SECTORS, "verdicts": VERDICTS}


def read_run(folder):
    """What `run` wrote into a folder; Failed if it is something else."""
    file = folder / RESULTS
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failed(f"{file}: {error}; `common/dev measure run {folder}` writes it, on a machine with a GPU") from error
    if (run.get("schema"), run.get("version")) != (SCHEMA, VERSION):
        raise Failed(f"{file}: has no \"schema\": \"{SCHEMA}\", \"version\": {VERSION}")
    return run


def of_run(top, folder, anyway, machine=None):
    """Writes the results in a folder of `run` into the chapters, under the name of the `machine` if it has one; returns the files."""
    run = read_run(folder)
    if run["problems"] and not anyway:
        raise Failed("\n".join([
            f"{folder}: not everything was as it should be:", *(f"  {problem}" for problem in run["problems"]),
            "Results of the other parts can be taken with --anyway.",
        ]))  # fmt: skip
    written = []
    for part, kind in KINDS.items():
        for name, content in run[part].items():
            chapter = top / "chapters" / name
            if not chapter.is_dir():
                raise Failed(f"{folder / RESULTS}: there is no chapter {name}")
            content["device"] = machine or content["device"]
            file = file_of(chapter, content["device"], kind)
            compact_json.write(file, content)
            written.append(file)
    return written
