"""Replaces later rounds of a loop by a remark, where they look like the first round."""

from collections import namedtuple

LONGEST_PERIOD = 12  # events of a loop's round that are looked for

# A run of rounds of a loop that look alike: `events` is how many one round has.
Fold = namedtuple("Fold", "events rounds")


def looks(event):
    """What of an event makes a row look as it does, without values and without the elements' numbers."""
    keys = ("op", "name", "file", "line", "lanes", "mask", "bytes", "sectors", "wavefronts", "addresses")
    return tuple(event.get(key) for key in keys) + (tuple(event.get("sources") or ()),)


def folded(events):
    """`events` with later rounds of a loop replaced by a Fold, where they look like the first round."""
    signs = [looks(event) for event in events]
    rows, i = [], 0
    while i < len(events):
        for period in range(1, LONGEST_PERIOD + 1):
            rounds = 1
            while signs[i + rounds * period : i + (rounds + 1) * period] == signs[i : i + period]:
                rounds += 1
            if rounds > 2 or (rounds == 2 and period > 1):
                rows += events[i : i + period]
                rows.append(Fold(period, rounds - 1))
                i += rounds * period
                break
        else:
            rows.append(events[i])
            i += 1
    return rows
