"""The table at the end of a run on a GPU: a row for each chapter, a column for each kind of check.

It is made from results.json and from Meson's logs of tests, testlog-all.json and testlog-TOOL.json of each
sanitizer. A problem is a test that failed, a sanitizer that reported something,
overlooked its planted error or looked at nothing, a ladder without results, a part that was not run to its end.
"""

from collections import Counter

from tools.lib import testlog
from tools.measure.sanitize import NOTHING_TO_LOOK_AT

SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
BAD = "**BAD**"
NOT_RUN = "not run"


class Summary:
    """What a run in `folder` found. `problems` has a line for all that is not as it should be."""

    def __init__(self, folder, results):
        self.folder = folder
        self.results = results
        self.parts = results["parts"]
        self.problems = [step["text"] for step in results["steps"] if step["state"] != "OK"]
        wanted = ["all"] * ("tests" in self.parts) + [*SANITIZERS] * ("sanitizers" in self.parts)
        self.logs = {name: self.read_log(name) for name in wanted}

    def read_log(self, name):
        """The tests of one run of `meson test`."""
        file = self.folder / f"testlog-{name}.json"
        if file.exists():
            return testlog.read(file)
        self.problems.append(f"{file.name} is missing: `meson test --setup {name}` did not come to its end")
        return []

    def chapters(self):
        """The chapters that were looked at in any way."""
        tested = {test.project for log in self.logs.values() for test in log if test.project[:2].isdigit()}
        return sorted(tested | self.results["ladders"].keys() | self.results["profiles"].keys())

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
            elif test.result != "SKIP" or NOTHING_TO_LOOK_AT not in test.output:
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
        """A cell: whether the chapter's ladder has results."""
        if chapter in self.results["ladders"]:
            return "3 runs"
        self.problems.append(f"{chapter}: its ladder has no results")
        return f"{BAD} no results"

    def row(self, chapter):
        """One chapter's row."""
        cells = [chapter]
        mine = [test for test in self.logs.get("all", []) if test.project == chapter]
        for suites, done in ((("lessons", "solutions", "alternatives"), "passed"), (("mistakes",), "rejected")):
            chosen = [test for test in mine if test.suite in suites]
            cells.append(self.tests(chosen, done) if "tests" in self.parts else NOT_RUN)
        cells += [self.sanitizer(tool, chapter) if "sanitizers" in self.parts else NOT_RUN for tool in SANITIZERS]
        cells.append(self.ladder(chapter) if "ladders" in self.parts else NOT_RUN)
        return [*cells, "yes" if chapter in self.results["profiles"] else "no"]

    def markdown(self):
        """The whole summary."""
        rows = [self.row(chapter) for chapter in self.chapters()]
        if not rows:
            self.problems.append("no chapter was looked at")
        own = [test for test in self.logs.get("all", []) if not test.project[:2].isdigit()]
        if "sanitizers" in self.parts:
            self.planted()
        lines = [f"- {'' if step['state'] == 'OK' else step['state'] + ': '}{step['text']}" for step in self.results["steps"]]
        if own:
            lines.append(f"- tests of the headers and the tools: {self.tests(own, 'passed')}")
        lines += [
            "",
            "| chapter | lessons, solutions, alternatives | mistakes | " + " | ".join(SANITIZERS) + " | ladder | profile |",
            "|---|" + "---|" * (len(SANITIZERS) + 4),
            *("| " + " | ".join(row) + " |" for row in rows),
            "",
            "A sanitizer is clean after it has found an error planted for it; the number is the programs it looked at.",
        ]
        if self.problems:
            lines += ["", f"{BAD}:", "", *(f"- {problem}" for problem in self.problems)]
        return "\n".join(lines) + "\n"
