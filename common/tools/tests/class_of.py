"""Makes the submissions of a class: right answers, wrong ones and attacks, each with the verdict that it must get."""

import os
import re
from pathlib import Path

from build import variants
from tools.lib.checkout import TOP
from tools.tests import attacks

CHAPTER = "01-global-atomic"
EXERCISES = ("lost_update", "ticket")


def starter(name):
    return (TOP / "exercises" / CHAPTER / f"{name}.cuh").read_text(encoding="utf-8")


def begun(name):
    return re.sub(r"^NOT_STARTED.*\n", "", starter(name), flags=re.MULTILINE)


def solution(name):
    return (TOP / "solutions" / CHAPTER / f"{name}.cuh").read_text(encoding="utf-8")


def answers_to(name):
    """[(text or None for a link, verdict)] of an exercise, the kinds of answers in turn."""
    wrong = sorted((TOP / "chapters" / CHAPTER / "mistakes" / name).glob("*.diff"))
    refused = [begun(name) + "#include <vector>\n" + text for text, _ in attacks.REFUSED.values()]
    kinds = [[(solution(name), "passed"), (solution(name).replace("stride", "step"), "passed"), (solution(name) + "// mine\n", "passed")],
             [(variants.answer_of(diff), "failed") for diff in wrong],
             [(text, "refused") for text in refused],
             [(starter(name), "not started"), (begun(name), "failed"), (begun(name) + "inline int no() { return 1 }\n", "failed"), (None, "refused")]]
    turn = []
    for i in range(max(map(len, kinds))):
        turn += [kind[i % len(kind)] for kind in kinds]
    return turn


def write(folder, name, text):
    """Writes an exercise's file into a submission; None is a link to a device."""
    file = folder / "exercises" / CHAPTER / f"{name}.cuh"
    file.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        file.symlink_to("/dev/zero")
    else:
        file.write_text(text, encoding="utf-8")


def make(folder, count, attackers=len(attacks.RUN)):
    """Makes `count` submissions in `folder`, and those of so many attackers; returns {learner: {exercise: verdict}}, and the --accept options.

    Each learner's file has a comment of its own, and one in three has a name of its own as well, which the compiler sees.
    """
    folder, expected, accepts = Path(folder), {}, []
    turns = {name: answers_to(name) for name in EXERCISES}
    for number in range(count):
        learner = f"learner{number:03}"
        expected[learner] = {}
        for at, name in enumerate(EXERCISES):
            text, verdict = turns[name][(number * (at + 1) + at) % len(turns[name])]
            if text is not None:
                text += f"// by {learner}\n"
                if number % 3 == 0:
                    text += f"constexpr int kNumberOf{number} = {number};\n"
            write(folder / learner, name, text)
            expected[learner][name] = verdict
    kinds = list(attacks.RUN.values())
    for number in range(attackers):
        learner = f"attacker{number}"
        text, verdict, _ = kinds[number % len(kinds)]
        write(folder / learner, "ticket", begun("ticket") + text + f"constexpr int kAttack{number} = 0;\n")
        expected[learner] = {"ticket": verdict, "lost_update": "not run"}
        accepts.append(f"--accept={learner}/{CHAPTER}/ticket")
    write(folder / "reader", "ticket", None)
    os.mkfifo(folder / "reader/exercises" / CHAPTER / "lost_update.cuh")
    expected["reader"] = {name: "refused" for name in EXERCISES}
    return expected, accepts
