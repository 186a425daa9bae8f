#!/usr/bin/env python3
"""The table that gpu_check.sh ends with: a row a chapter, a column each way of looking at it.

    gpu_summary.py FOLDER

FOLDER has the logs of Meson's tests, testlog-all.json and testlog-TOOL.json of each sanitizer, the
results of the ladders, NN-topic.json, and steps.txt, a line "OK TEXT" or "BAD TEXT" for each step before.
Writes summary.md there, prints it, and exits with 1 if anything is not as it should be: a test that
failed, a sanitizer that reported something, overlooked its planted error or looked at nothing, a ladder
without results.
"""

import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib import testlog  # noqa: E402

SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
BAD = "**BAD**"


class Summary:
    """What the logs in a folder say. `problems` has a line for all that is not as it should be."""

    def __init__(self, folder):
        self.folder = folder
        self.problems = []
        self.steps = self.read_steps()
        self.logs = {name: self.read_log(name) for name in ("all", *SANITIZERS)}

    def read_steps(self):
        file = self.folder / "steps.txt"
        steps = [line.split(" ", 1) for line in file.read_text().splitlines()] if file.exists() else []
        self.problems += [text for state, text in steps if state != "OK"]
        return steps

    def read_log(self, name):
        file = self.folder / f"testlog-{name}.json"
        if file.exists():
            return testlog.read(file)
        self.problems.append(f"{file.name} is missing: `meson test --setup {name}` did not come to its end")
        return []

    def chapters(self):
        return sorted({test.project for test in self.logs["all"] if test.project[:2].isdigit()})

    def tests(self, chosen, done):
        """A cell for these tests; `done` is what a passed one is called."""
        count = Counter(test.result for test in chosen)
        bad = [test for test in chosen if test.result not in ("OK", "SKIP")]
        self.problems += [f"{test.name}: {test.result}: {test.last_line()}" for test in bad]
        text = f"{count['OK']} {done}"
        text += f", {count['SKIP']} skipped" if count["SKIP"] else ""
        return f"{BAD} {len(bad)} failed, {text}" if bad else text

    def sanitizer(self, tool, chapter):
        """A cell: what this tool says of the chapter's lessons and solutions."""
        looked, bad = 0, 0
        for test in self.logs[tool]:
            if test.project != chapter or test.suite not in ("lessons", "solutions"):
                continue
            if test.result == "OK":
                looked += 1
            elif test.result != "SKIP" or "a test in Python" not in test.output:
                bad += 1
                self.problems.append(f"{tool}, {test.name}: {test.result}: {test.last_line()}")
        if looked == 0 and bad == 0:
            self.problems.append(f"{tool}: looked at no program of {chapter}")
        return f"clean, {looked}" if looked and not bad else f"{BAD} {bad} of {looked + bad}"

    def planted(self):
        """The sanitizers that found their planted error; the silence of the others is worth nothing."""
        for tool in SANITIZERS:
            found = [test for test in self.logs[tool] if test.suite == "probe" and test.result == "OK"]
            if not found:
                self.problems.append(f"{tool}: has not found the error planted in sanitizer_probe: not believed")

    def ladder(self, chapter):
        if (self.folder / f"{chapter}.json").exists():
            return "3 runs"
        self.problems.append(f"{chapter}.json is missing: the chapter's ladder did not come to its end")
        return f"{BAD} no results"

    def markdown(self):
        """The whole summary."""
        rows = []
        for chapter in self.chapters():
            mine = [test for test in self.logs["all"] if test.project == chapter]
            rows.append([
                chapter,
                self.tests([test for test in mine if test.suite in ("lessons", "solutions")], "passed"),
                self.tests([test for test in mine if test.suite == "mistakes"], "rejected"),
                *(self.sanitizer(tool, chapter) for tool in SANITIZERS),
                self.ladder(chapter),
            ])
        if not rows:
            self.problems.append("no chapter was tested")
        own = [test for test in self.logs["all"] if not test.project[:2].isdigit()]
        self.planted()
        lines = [f"- {text}" for _, text in self.steps]
        if own:
            lines.append(f"- tests of the headers and the tools: {self.tests(own, 'passed')}")
        lines += [
            "",
            "| chapter | lessons and solutions | mistakes | " + " | ".join(SANITIZERS) + " | ladder |",
            "|---|" + "---|" * (len(SANITIZERS) + 3),
            *("| " + " | ".join(row) + " |" for row in rows),
            "",
            "A sanitizer is clean after it has found an error planted for it; the number is the programs it looked at.",
        ]
        if self.problems:
            lines += ["", f"{BAD}:", "", *(f"- {problem}" for problem in self.problems)]
        return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: gpu_summary.py FOLDER")
    folder = Path(sys.argv[1])
    summary = Summary(folder)
    text = summary.markdown()
    (folder / "summary.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 1 if summary.problems else 0


if __name__ == "__main__":
    sys.exit(main())
