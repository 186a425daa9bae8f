"""A course of made-up chapters in a folder of its own, for the tests of what is written from results."""

import json
import tempfile
from pathlib import Path

from tools.lib import compact_json, documents
from tools.lib.failed import Failed
from tools.maintain.generate import makers
from tools.maintain.simt_layers import LAYERS

GPU = "NVIDIA GPU X"
README = "# x\nbetween\n<!-- map:begin -->\n<!-- map:end -->\n<!-- size:begin -->\n<!-- size:end -->\nafter\n"
RESULTS = "# results\n<!-- front:begin -->\n<!-- front:end -->\nbehind\n"
VERDICTS = "before\n<!-- verdicts:begin -->\n<!-- verdicts:end -->\n"
PARTS = ("ladder", "results", "sectors")


def toml(value):
    """A value in TOML's words: inside of a line, tables are written in braces."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def row(name, kind, median=None, **more):
    """A row of a ladder's results."""
    made = {"name": name, "kind": kind, "group": 0, "changed": f"how {name} works", "n": 4096, "bytes": 40_000,
            "expected": 5.0, "result": 5.0}
    if median is not None:
        made["microseconds"] = {"p10": median, "median": median, "p90": median, "runs": [0.99 * median, median]}
        made["gb_per_s"], made["percent_of_copy"] = 12.5, 0.5
    return {**made, **more}


def results(chapter, *rows, device=GPU, date="2026-01-02"):
    """A ladder's results; the first row is the reference."""
    return {
        "schema": "course.ladder", "version": 1, "chapter": chapter, "device": device, "cuda": "13.0", "n": 4096,
        "n_means": "elements", "file": None, "date": f"{date}T03:04:05Z", "copy_gb_per_s": 4000.0,
        "rungs": [row("by hand", "reference"), *rows],
    }  # fmt: skip


def declared(**more):
    """A [headline]; without the keys whose value is None."""
    head = {
        "what": "the sum of {n} floats", "group": {"reference": "how by hand works", "n": 4096}, "rung": "ours",
        "vendor": "lib", **more,
    }  # fmt: skip
    return {key: value for key, value in head.items() if value is not None}


class Course:
    """The folder; `top` is its path. `generate` writes the generated texts, and `problems` says what is out of step."""

    def __init__(self, test):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.readme = self.top / "README.md"
        self.readme.write_text(README)
        (self.top / "meson.build").write_text("repository_owner = 'someone'\n")
        docs = self.top / "common" / "docs"
        docs.mkdir(parents=True)
        (docs / "verdicts.md").write_text(VERDICTS)
        (docs / "cuda-programs.md").write_text("<!-- programs:begin -->\n<!-- programs:end -->\n<!-- tried:begin -->\n<!-- tried:end -->\n")
        (docs / "course-run.md").write_text("<!-- exit-codes:begin -->\n<!-- exit-codes:end -->\n")
        (docs / "programs-tried.toml").write_text("date = 2026-11-28\ncollection = []\n")
        (docs / "contracts.md").write_text("<!-- promises:begin -->\n<!-- promises:end -->\n")
        simt = self.top / "common" / "simt"
        for layer in LAYERS:
            (simt / "src" / layer).mkdir(parents=True)
        (simt / "include" / "simt").mkdir(parents=True)
        (simt / "include" / "simt" / "counters.def").write_text("")
        (simt / "README.md").write_text("".join(f"<!-- {part}:begin -->\n<!-- {part}:end -->\n" for part in ("layers", "counters")))
        (self.top / "common" / "tests").mkdir()
        (self.top / "common" / "tests" / "examples_test.cu").write_text("")
        self.results = docs / "results.md"
        self.results.write_text(RESULTS)
        self.profiling = docs / "profiling.md"
        self.profiling.write_text("")

    def generate(self, chapters=(), build=None):
        """Writes the generated texts of these chapters, or of all of it; Failed if one cannot be written."""
        documents.write(self.top, makers(self.top, chapters, build))

    def problems(self, chapters=(), build=None):
        """What is out of step; "" if all is in step."""
        try:
            documents.check(self.top, makers(self.top, chapters, build))
        except Failed as failed:
            return str(failed)
        return ""

    def chapter(self, name, head=None, profile=None, before=(), exercises=(), prose="", pictures=(), compared=()):
        """Writes a chapter's README and chapter.toml, anew if there is one."""
        folder = self.top / "chapters" / name
        (folder / "results").mkdir(parents=True, exist_ok=True)
        lines = ['question = "How | fast is it?"', 'learn = "how fast it is."', f"before = {toml(list(before))}"]
        lines += [f"exercises = {toml(list(exercises))}", f"stars = {toml(dict.fromkeys(exercises, 2))}"]
        lines += [f"core = {toml(list(exercises)[:1])}"] if exercises else []
        says = {"takeaway": "It is fast.", "counters": list(compared)}
        lines += [f"passed = {toml(dict.fromkeys(exercises, says))}"] if compared else []
        lines += [f"headline = {toml(head)}"] if head else []
        lines += [f"profile = {toml(profile)}"] if profile else []
        lines += [f"picture = {toml(list(pictures))}"] if pictures else []
        (folder / "chapter.toml").write_text("\n".join(lines) + "\n")
        for exercise in exercises:
            for file in (folder / "checks" / f"{exercise}.cu", *(self.top / tree / name / f"{exercise}.cuh" for tree in ("exercises", "solutions"))):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("")
        markers = "".join(f"<!-- {part}:begin -->\n<!-- {part}:end -->\n" for part in PARTS)
        (folder / "README.md").write_text(f"before\n{markers}after\n{prose}\n")
        marker = f"<!-- profile {name}:begin -->\n<!-- profile {name}:end -->\n"
        if profile and marker not in self.profiling.read_text():
            self.profiling.write_text(self.profiling.read_text() + marker)
        return folder

    def measured(self, name, *rows, head=None, **more):
        """Writes a chapter with results of these rows."""
        folder = self.chapter(name, head or declared(), **more)
        compact_json.write(folder / "results" / "gpu-x.json", results(name, *rows))
        return folder
