"""The HTML page that steps through a trace, event by event; everything that it shows is in the file."""

import json
import re
from pathlib import Path

from tools.lib.svg import escape
from tools.trace.choosing import describe_launch, named_places
from tools.trace.recording import source_lines
from tools.trace.sentences import cost, count, sentence
from tools.trace.svg_style import lane_colours

EVENTS_OF_A_PAGE = 4000  # of all its launches: some megabytes


def is_worth_a_look(launch):
    """False for a launch that did nothing and in which nothing was found."""
    return bool(launch["events"] or launch["findings"])


def launches_of_page(launches, chosen):
    """The numbers of the launches that fit on a page: the chosen one, then as many as fit from the first on."""
    kept, room = {chosen}, EVENTS_OF_A_PAGE - len(launches[chosen]["events"])
    for number, launch in enumerate(launches):
        if number != chosen and is_worth_a_look(launch) and len(launch["events"]) <= room:
            kept.add(number)
            room -= len(launch["events"])
    return sorted(kept)


def data_of_page(trace, choice):
    """What the page's script reads."""
    numbers = launches_of_page(trace["launches"], choice.launch)
    launches, files = [], set()
    for number in numbers:
        launch = trace["launches"][number]
        events = [
            {**event, "sentence": sentence(launch, event), "cost": cost(launch, event)} for event in launch["events"]
        ]
        named = named_places(launch)
        files.update([event["file"] for event in events] + [file for file, _ in named])
        title = describe_launch(launch)
        launches.append({**launch, "events": events, "number": number + 1, "title": title, "named": named})
    left_out = sum(map(is_worth_a_look, trace["launches"])) - len(numbers) + trace.get("launches_left_out", 0)
    return {
        "program": trace["program"],
        "omitted": f"{count(left_out, 'launch')} of this run left out" if left_out > 0 else "",
        "launches": launches,
        "chosen": {"launch": numbers.index(choice.launch), "block": choice.block, "warp": choice.warp},
        "sources": {file: source_lines(file) for file in sorted(files)},
    }


def page(trace, choice):
    """The HTML of the stepper, which opens at `choice`."""
    # No text of a source may end the <script> element that holds it, nor open a comment there.
    text = json.dumps(data_of_page(trace, choice), separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e")
    here = Path(__file__).parent
    parts = {
        "TITLE": escape(f"{trace['program']}: {describe_launch(trace['launches'][choice.launch])}"),
        "LANES": "\n".join(f".L{lane} {{ --lane: {colour}; }}" for lane, colour in enumerate(lane_colours())),
        "STYLE": (here / "stepper.css").read_text(encoding="utf-8").rstrip(),
        "SCRIPT": (here / "stepper.js").read_text(encoding="utf-8").rstrip(),
        "DATA": text,
    }
    template = (here / "stepper.html").read_text(encoding="utf-8")
    return re.sub(f"@({'|'.join(parts)})@", lambda found: parts[found[1]], template)
