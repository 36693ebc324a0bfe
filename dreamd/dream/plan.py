"""What goes into which call: sizes in tokens in, a partition in order out; and how many calls a group will take (pure).

Law: no chunk is over its room, whatever there is, and calls grow no faster than what there is to read: each merge takes
at least `FAN` summaries, for none is larger than that part of the room.
"""

from collections.abc import Sequence
from math import ceil

FAN = 4  # summaries that always fit into one call
MOST_MERGED = 8  # summaries in one call, however short they are


def chunks(sizes: Sequence[int], room: int, most: int) -> list[range]:
    """`range(len(sizes))` cut in order: at most `most` items each, evenly, and `room` tokens unless it is one item alone."""
    even = ceil(len(sizes) / ceil(len(sizes) / most)) if sizes else 0
    found: list[range] = []
    start, held = 0, 0
    for at, size in enumerate(sizes):
        if at > start and (held + size > room or at - start == even):
            found.append(range(start, at))
            start, held = at, 0
        held += size
    return [*found, range(start, len(sizes))] if sizes else []


def straight(sizes: Sequence[int], room: int, subgroup: int) -> bool:
    """So few that one call reads them and draws the conclusions: three calls would not do better."""
    return len(sizes) <= 2 * subgroup and sum(sizes) <= room


def calls(leaves: int) -> int:
    """Calls for a group cut into so many chunks of records, when nothing goes wrong and no summary is over its part.

    An upper bound for the levels: reality merges up to `MOST_MERGED` at a time.
    """
    total = level = leaves
    while level > FAN:
        level = ceil(level / FAN)
        total += level
    return total + (leaves > 1)
