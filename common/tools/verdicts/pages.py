"""Verdicts of the CPU device and of a GPU side by side: the table of all, and the tally in common/docs/verdicts.md."""

from tools.lib import result
from tools.lib.chapter_results import CPU, VERDICTS, chapters_of, of_cpu, of_gpu
from tools.lib.documents import section
from tools.verdicts.record import SUITES

TEXT_SHOWN = 90


def of_devices(top):
    """{chapter: {device: {test: verdict}}} of the CPU device and the reference GPU, and the GPU's name or None."""
    chapters, gpu = {}, None
    for chapter in chapters_of(top):
        found = [results for results in (of_cpu(chapter, VERDICTS), of_gpu(chapter, VERDICTS)) if results]
        chapters[chapter.name] = {results["device"]: results["tests"] for results in found}
        gpu = gpu or next((results["device"] for results in found if results["device"] != CPU), None)
    return chapters, gpu


def short(device):
    """A GPU's name as tables have it."""
    return device.removeprefix("NVIDIA ") if device else "GPU"


def cell(entry):
    """A verdict as a cell of a table."""
    if entry is None:
        return "not run yet"
    text = entry["text"].replace("|", "\\|").replace("<", "&lt;")
    text = text if len(text) <= TEXT_SHOWN else text[: TEXT_SHOWN - 1].rstrip() + "…"
    if entry["verdict"] == result.PASSED:
        return f"passed: {text}" if text else "passed"
    if entry["verdict"] == result.REJECTED:
        return f"**rejected**: {text}"
    return f"{entry['verdict']}: {text}"


def shown_name(name, suite):
    """A test's name as a cell of a table."""
    for of_suite, word in (("mistakes", "-mistake-"), ("alternatives", "-alternative-")):
        if suite == of_suite:
            exercise, variant = name.split(word)
            return f"`{exercise}`: {variant.replace('_', ' ')}"
    return f"`{name}`"


def table(chapter, tests, gpu):
    """The table of one chapter."""
    lines = [f"## {chapter}", "", f"| | {CPU} | {short(gpu)} |", "|---|---|---|"]
    suite_of = {name: entry["suite"] for of in tests.values() for name, entry in of.items()}
    for name in sorted(suite_of, key=lambda name: (SUITES.index(suite_of[name]), name)):
        cells = " | ".join(cell(tests.get(device, {}).get(name)) for device in (CPU, gpu))
        lines.append(f"| {shown_name(name, suite_of[name])} | {cells} |")
    return lines


def page(top, chosen):
    """The tables of the chosen chapters, or of all."""
    chapters, gpu = of_devices(top)
    shown = {name: tests for name, tests in chapters.items() if not chosen or name in chosen}
    return "\n\n".join("\n".join(table(name, tests, gpu)) for name, tests in shown.items())


def tally(top):
    """In how many do both agree? The table in common/docs/verdicts.md."""
    chapters, gpu = of_devices(top)
    counts = {"both": 0, CPU: 0, "not run": 0, gpu: 0, "neither": 0}
    good = {CPU: 0, gpu: 0}
    for tests in chapters.values():
        for name in {name for of in tests.values() for name in of}:
            entries = {device: tests.get(device, {}).get(name) for device in (CPU, gpu)}
            suite = next(entry["suite"] for entry in entries.values() if entry)
            if suite != "mistakes":
                for device, entry in entries.items():
                    good[device] += bool(entry and entry["verdict"] == result.PASSED)
                continue
            rejected = [device for device, entry in entries.items() if entry and entry["verdict"] == result.REJECTED]
            kind_of = "both" if len(rejected) == 2 else rejected[0] if rejected else "neither"
            counts["not run" if kind_of == CPU and entries[gpu] is None else kind_of] += 1
    return "\n".join([
        "| | |",
        "|---|--:|",
        f"| lessons, solutions and other right answers that pass on the {CPU} | {good[CPU]} |",
        f"| that pass on the {short(gpu)} | {good[gpu]} |",
        f"| known-wrong answers that both reject | {counts['both']} |",
        f"| that the {CPU} rejects, and a GPU may let through: not run there | {counts[CPU]} |",
        f"| that the {CPU} rejects, and the {short(gpu)} has not run yet | {counts['not run']} |",
        f"| that the {short(gpu)} alone rejects | {counts[gpu]} |",
        f"| that neither rejects | {counts['neither']} |",
    ])


def documents(top):
    """The Documents that are made from the verdicts."""
    page_of_verdicts = top / "common" / "docs" / "verdicts.md"
    return [section(page_of_verdicts, "verdicts", "in how many verdicts both devices agree", tally(top))]
