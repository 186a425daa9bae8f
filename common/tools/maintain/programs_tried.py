"""The table of other people's programs, in common/docs/cuda-programs.md, from the log common/docs/programs-tried.toml.

The log has a [[collection]] for each repository, and in it a line for each program:

    { file = "day01/vector_add.cu", outcome = "limit", why = "2^24 elements", with = "2^16 elements", again = "right" },

`outcome` is a name of OUTCOMES, and `why` says in a few words what it comes from. `with` is what was changed after that, in the
arguments or in a size of host code, and `again` is the outcome then.
"""

import tomllib

from tools.lib.documents import section
from tools.lib.failed import Failed

# In the order of the table: the head of the column, and what it stands for.
OUTCOMES = {
    "right": ("right", "it ran: its own check passes, or its output is right, or is what a GPU prints, too"),
    "fault": ("fault", "it ran, and a fault of the program was found, which was read in its source"),
    "refused": ("refused", "it uses something that is named above, and the error says so at its line"),
    "removed": ("not CUDA 13", "nvcc 13 does not compile it either"),
    "incomplete": ("incomplete", "it needs a library, a header or data that is neither in the repository nor in CUDA"),
    "limit": ("limit", "it reached the limit of time or of memory"),
    "ours": ("ours", "a false finding, a wrong result, or an error or a crash that is the CPU device's own"),
}
IN_FULL = ("right", "fault")


def read(file):
    """The log; Failed for an entry that says too little or something that has no meaning."""
    try:
        log = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Failed(f"{file.name}: {error}") from error
    problems = []
    for collection in log["collection"]:
        files = [one["file"] for one in collection["programs"]]
        if files != sorted(set(files)):
            problems.append(f"{collection['name']}: its programs are not sorted, or one is there twice")
        for one in collection["programs"]:
            place = f"{collection['name']}, {one['file']}"
            problems += [f"{place}: no outcome is named {one[key]!r}" for key in ("outcome", "again") if one.get(key, "right") not in OUTCOMES]
            if unknown := one.keys() - {"file", "outcome", "why", "with", "again"}:
                problems.append(f"{place}: nothing is named {', '.join(sorted(unknown))}")
            if one["outcome"] != "right" and not one.get("why"):
                problems.append(f"{place}: why is it {one['outcome']!r}?")
            if ("with" in one) != ("again" in one):
                problems.append(f"{place}: with and again come together")
    if problems:
        raise Failed("\n".join(f"{file.name}: {problem}" for problem in problems))
    return log


def counts_of(programs, changed=False):
    """{outcome: how many programs}, as they are, or with what was changed in some."""
    found = [one.get("again", one["outcome"]) if changed else one["outcome"] for one in programs]
    return {outcome: found.count(outcome) for outcome in OUTCOMES}


def row(head, counts):
    return f"| {head} | {' | '.join(str(counts[outcome] or '') for outcome in OUTCOMES)} | {sum(counts.values())} |"


def share(counts, outcomes):
    """181 of 200 (90.5 %)"""
    some, every = sum(counts[outcome] for outcome in outcomes), sum(counts.values())
    return f"{some} of {every} ({100 * some / max(every, 1):.1f} %)"


def table(log):
    """The log as Markdown."""
    everything = [one for collection in log["collection"] for one in collection["programs"]]
    lines = [f"| {log['date']} | {' | '.join(head for head, _ in OUTCOMES.values())} | all |", "|---" + "|--:" * (len(OUTCOMES) + 1) + "|"]
    for collection in log["collection"]:
        name = f"[{collection['name']}]({collection['address']}/tree/{collection['commit']}), {collection['chosen']}"
        lines.append(row(name, counts_of(collection["programs"])))
    as_they_are, changed = counts_of(everything), counts_of(everything, changed=True)
    lines += [row("**all, as they are**", as_they_are), row("**all, some with a smaller size**", changed), ""]
    lines += [f"- *{head}*: {meaning}." for head, meaning in OUTCOMES.values()]
    true = [outcome for outcome in OUTCOMES if outcome not in ("limit", "ours", "incomplete")]
    lines += [f"- Right or with a fault that was found: {share(as_they_are, IN_FULL)} as they are, {share(changed, IN_FULL)} with these changes.",
              f"- With those that the first line of an error explains, refused or not CUDA 13: {share(as_they_are, true)} and {share(changed, true)}."]
    return "\n".join(lines)


def documents(top):
    """The Document of the table."""
    docs = top / "common" / "docs"
    log = docs / "programs-tried.toml"
    return [section(docs / "cuda-programs.md", "tried", f"what is counted in {log.name}", table(read(log)))]
