"""Describes the events of a trace: what they cost, and a sentence for each."""

from tools.trace.places import BANKS, WORD, places_text
from tools.trace.recording import MEMORY, WARP, lanes_of, per_lane


def count(number, what):
    """"1 sector", "4 sectors", "2 addresses"."""
    if number == 1:
        return f"1 {what}"
    return f"{number} {what}{'es' if what.endswith(('s', 'ch')) else 's'}"


def lanes_text(mask):
    """"all 32 lanes", "lane 0", "lanes 0 to 15", "16 lanes"."""
    lanes = lanes_of(mask)
    if len(lanes) == WARP:
        return "all 32 lanes"
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if lanes and lanes[-1] - lanes[0] + 1 == len(lanes):
        return f"lanes {lanes[0]} to {lanes[-1]}"
    return count(len(lanes), "lane")


def shuffle_text(event):
    """Who gets what: "from 16 lanes further on", "pairs 1 apart swap", "all take lane 0's"."""
    sources = per_lane(event, "sources")
    moved = {lane: source for lane, source in sources.items() if lane != source}
    if not sources:
        return ""
    if not moved:
        return "every lane keeps its own"
    if len(set(sources.values())) == 1 and len(sources) > 1:
        return f"all take lane {next(iter(sources.values()))}'s"
    if len({lane ^ source for lane, source in sources.items()}) == 1:
        lane, source = next(iter(sources.items()))
        return f"partners: lane number xor {lane ^ source}"
    steps = {source - lane for lane, source in moved.items()}
    if len(steps) == 1:
        step = steps.pop()
        return f"from {count(abs(step), 'lane')} {'further on' if step > 0 else 'further back'}"
    return f"from {count(len(set(sources.values())), 'lane')}"


def other_blocks(launch, event):
    """The blocks whose shared memory an access reaches, without its own: in a launch with clusters."""
    return {launch["arrays"][array].get("block", event["block"]) for array, _ in per_lane(event, "places").values()} - {event["block"]}


def cost(launch, event):
    """What an event costs, in the hardware's own units; "" for what has no count."""
    op = event["op"]
    if op in ("load", "store") and (owners := other_blocks(launch, event)):  # wavefronts are those of one SM
        return f"in the shared memory of {'another block' if len(owners) == 1 else count(len(owners), 'other block')}"
    if op in ("load", "store") and "wavefronts" in event:
        passes = event["wavefronts"]
        fewest = -(-len(lanes_of(event["lanes"])) * event["bytes"] // (BANKS * WORD))
        return count(passes, "wavefront") + (": bank conflict" if passes > fewest else "")
    if op in ("load", "store") and "sectors" in event:
        return count(event["sectors"], "sector")
    if op == "atomic" and "addresses" in event:
        return f"{count(event['addresses'], 'address')}, {count(len(lanes_of(event['lanes'])), 'lane')}"
    if op == "shuffle":
        return shuffle_text(event)
    if op == "barrier":
        return "the whole block waits here"
    if op == "cluster_barrier":
        return "all blocks of the cluster wait for each other" if event["name"].endswith("sync") else (
            "the block has arrived, and goes on" if event["name"].endswith("arrive") else "waits until all blocks have arrived")
    if op == "syncwarp":
        return "the lanes of the mask wait here"
    if op == "fence":
        return "what was written before is seen before what is written after"
    if op == "return":
        return f"{lanes_text(event['lanes'])} {'leaves' if len(lanes_of(event['lanes'])) == 1 else 'leave'}"
    return ""


def sentence(launch, event):
    """One event in words, for a reader who does not see the drawing."""
    who = lanes_text(event["lanes"])
    text = f"{event['name']} by {who}"
    if event["op"] in MEMORY and (where := places_text(launch, event)):
        text = f"{event['name']} of {where} by {who}"
    if event["op"] in ("vote", "reduce", "match", "activemask"):
        results = list(dict.fromkeys(per_lane(event, "values").values()))
        if len(results) == 1:
            text += f": {results[0]}"
        elif results:
            text += f": {count(len(results), 'different result')}"
    if what := cost(launch, event):
        text = f"{event['name']}: {what}" if event["op"] in ("barrier", "cluster_barrier", "return") else f"{text}: {what}"
    return text
