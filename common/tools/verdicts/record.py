"""The verdicts of every lesson, solution, other right answer and known-wrong answer, as a build's last run has them.

chapters/NN-topic/results/DEVICE-verdicts.json keeps them. Which tests ran, and how they ended, is in Meson's log; what
they found is in BUILD/results.
"""

import json

from tools.lib import chapter as chapters
from tools.lib import compact_json, result, testlog
from tools.lib.chapter_results import CPU, SCHEMAS, VERDICTS, VERSION, file_of
from tools.lib.failed import Failed

SUITES = ("lessons", "solutions", "alternatives", "mistakes")
ALIKE = 0.1  # so far counts may differ from those that are recorded
COUNTED = "-counted"  # what the name of a test has that counts a solution
AGAIN = "common/dev verdicts record"


def first_line(text):
    """The first line of a text, or "" if there is none."""
    return next(iter(text.strip().splitlines()), "")


def verdict(test, found, counters=()):
    """What one test says, as it is kept: {"suite", "verdict", "text", "finding", "counts"}, the counts of a solution in these
    counters. Failed if it did not end well."""
    if test.result == "SKIP":
        return {"suite": test.suite, "verdict": result.SKIPPED, "text": first_line(found["reason"])}
    if test.result != "OK":
        raise Failed(f"{test.name}: {test.result}: {test.last_line()}\n  Only a run in which nothing failed is recorded.")
    if test.suite == "mistakes":
        failure = next(iter(found["failures"]), None)
        if found["verdict"] != result.REJECTED or failure is None:
            raise Failed(f"{test.name}: passed, but its result does not say what rejected it")
        entry = {"suite": test.suite, "verdict": result.REJECTED, "text": first_line(failure["text"])}
        return {**entry, "finding": failure["finding"]["kind"]} if failure["finding"] else entry
    passed, skipped = (found["checks"][key] for key in ("passed", "skipped"))
    text = f"{passed} checks" if passed else ""
    entry = {"suite": test.suite, "verdict": result.PASSED, "text": text + (f", {skipped} skipped" if skipped else "")}
    counts = {count["name"]: count["value"] for count in found["counts"] if count["name"] in counters}
    return {**entry, "counts": counts} if counts else entry


def counters_of(top, test):
    """The counters in which an answer to this exercise is compared; none for a test that is no solution's."""
    if test.suite != "solutions":
        return []
    passed = chapters.read(top / "chapters" / test.project).passed
    return passed.get(test.name.removesuffix("-solution"), {}).get("counters", [])


def kind(entry):
    """What must agree between runs: the verdict and, of a rejection, whether a finding made it."""
    return entry["verdict"], entry.get("finding")


def alike(count, other):
    """Whether two counts are nearly the same."""
    return abs(count - other) <= ALIKE * other


def of_build(top, build, logs):
    """(device, {chapter: {test: verdict}}, the solutions that were counted, problems) of the tests of a build folder, as these logs
    name them."""
    chapters, problems, device = {}, [], None
    tests = [test for log in logs for test in testlog.read(log)]
    counted = {test.name.removesuffix(COUNTED) for test in tests if test.suite == "counted"}
    for test in tests:
        if test.suite not in SUITES or not test.project[:2].isdigit():
            continue
        # The test of a ladder, or of another program, writes none.
        found = result.load(build, test.name) or result.new("", test.last_line())
        device = device or found["device"]
        if test.name in counted:
            found["counts"] = (result.load(build, test.name + COUNTED) or result.new(""))["counts"]
        try:
            chapters.setdefault(test.project, {})[test.name] = verdict(test, found, counters_of(top, test))
        except Failed as failed:
            problems.append(str(failed))
    if not chapters:
        raise Failed("\n".join([*problems, "the logs have no test of a chapter"]))
    if not device:
        raise Failed(f"{build / 'results'}: no result of these tests names the device that it comes from")
    return device, chapters, counted, problems


def as_file(device, tests, content):
    """What a file of verdicts has; `content` is {exercise: what its verdicts depend on}, empty for a GPU."""
    ordered = {name: tests[name] for name in sorted(tests)}
    found = {"schema": SCHEMAS[VERDICTS], "version": VERSION, "device": device, "tests": ordered}
    return {**found, "content": content} if content else found


def file_kept(chapter, device):
    """The file of verdicts as it was recorded for this device, without any if it never was."""
    file = file_of(chapter, device, VERDICTS)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"tests": {}}


def content_of(top, build, chapter, tests, kept):
    """{exercise: what its verdicts depend on}: today's where the exercise's solution was counted and all of its variants ran; of
    the others what was kept. So for the lessons. `tests`: the names of what ran and, of solutions, was counted."""
    from tools.verdicts import due  # ./course, which reads what is recorded, has no use for a compiler

    found = {}
    if tests >= {*due.in_build(build).get(chapter, {}).get(due.LESSONS, [])}:
        found[due.LESSONS] = due.content_of_lessons(top, chapter)
    elif due.LESSONS in kept:
        found[due.LESSONS] = kept[due.LESSONS]
    for exercise in chapters.read(top / "chapters" / chapter).exercises:
        variants = [f"{exercise}-{file.parts[-3].removesuffix('s')}-{file.stem}" for file in due.variants_of(top, chapter, exercise)]
        if tests >= {f"{exercise}-solution", *variants}:
            found[exercise] = due.content(top, chapter, exercise)
        elif exercise in kept:
            found[exercise] = kept[exercise]
    return found


def differences(chapter, old, new):
    """Lines that say which verdicts are not those of the file."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        before, now = (kind(tests[name]) if name in tests else None for tests in (old, new))
        if before != now:
            lines.append(f"{chapter}, {name}: recorded {said(before)}, and now {said(now)}")
            continue
        was, counts = (tests[name].get("counts", {}) for tests in (old, new))
        if was.keys() != counts.keys() or not all(alike(counts[counter], was[counter]) for counter in was):
            lines.append(f"{chapter}, {name}: recorded with {was}, and now with {counts}")
    return lines


def tests_of(build):
    """The names of all tests that a build folder has, whether they ran or not."""
    file = build / "meson-info" / "intro-tests.json"
    return {test["name"] for test in json.loads(file.read_text(encoding="utf-8"))} if file.exists() else set()


def said(of_kind):
    """A verdict in words."""
    if of_kind is None:
        return "not at all"
    return " by ".join(part for part in of_kind if part)


def record(top, build, logs, check):
    """Writes the verdicts of a build, or compares them. Of a test that the build has, and that did not run, the file keeps its
    verdict; of a solution that was not counted, its counts."""
    device, found, counted, problems = of_build(top, build, logs)
    if problems:
        raise Failed("\n".join(problems))
    wrong, names = [], tests_of(build)
    for name, tests in sorted(found.items()):
        chapter = top / "chapters" / name
        kept = file_kept(chapter, device)
        uncounted = {test for test, entry in tests.items() if entry["suite"] == "solutions"} - counted
        for test in uncounted & kept["tests"].keys():
            tests[test] |= {key: value for key, value in kept["tests"][test].items() if key == "counts"}
        did_not_run = {test: entry for test, entry in kept["tests"].items() if test in names - tests.keys()}
        wrong += differences(name, kept["tests"], {**did_not_run, **tests})
        if not check:
            content = content_of(top, build, name, tests.keys() - uncounted, kept.get("content", {})) if device == CPU else {}
            compact_json.write(file_of(chapter, device, VERDICTS), as_file(device, {**did_not_run, **tests}, content))
    if check and wrong:
        raise Failed("\n".join([*wrong, f"If that is right: {AGAIN} {build}"]))
