"""Items with their lines in, in order; those that fit the budget out (pure).

Law: the estimate of the whole text never exceeds the budget. Standing items come along within their share, whatever else
there is; conclusions come before records, but leave them some room; what room is left in the end is given to either.
"""

from collections.abc import Sequence

from msgspec import Struct

from dreamd.pool.language import Tongue
from dreamd.pool.tokens import estimate
from dreamd.recall.rendering import framed

FOR_RECORDS = 0.3  # of the budget, where there are records


class Packed(Struct, frozen=True):
    """Places in the lists that were given, in order, and the text."""

    bearing: tuple[int, ...]
    standing: tuple[int, ...]
    records: tuple[int, ...]
    text: str
    tokens: int


def packed(
    bearing: Sequence[str],
    standing: Sequence[str],
    records: Sequence[str],
    *,
    budget: int,
    share: float,
    tongue: Tongue,
) -> Packed:
    """`share` of the budget is the standing items'. A line that does not fit is passed over; shorter ones may."""
    room = budget - estimate(framed(("-",), tongue))
    kept = _fitting(standing, min(int(budget * share), room))
    room -= _cost(standing, kept)
    reserve = min(int(budget * FOR_RECORDS), sum(map(_tokens, records)))
    first = _fitting(bearing, room - reserve)
    room -= _cost(bearing, first)
    quoted = _fitting(records, room)
    room -= _cost(records, quoted)
    more = _fitting([line if place not in first else "" for place, line in enumerate(bearing)], room)
    found = sorted({*first, *more})
    lines = [
        *(bearing[place] for place in found),
        *(standing[place] for place in kept),
        *(records[place] for place in quoted),
    ]
    text = framed(lines, tongue)
    return Packed(tuple(found), tuple(kept), tuple(quoted), text, estimate(text))


def _fitting(lines: Sequence[str], room: int) -> list[int]:
    taken = []
    for place, line in enumerate(lines):
        cost = _tokens(line)
        if line and cost <= room:
            taken.append(place)
            room -= cost
    return taken


def _cost(lines: Sequence[str], places: Sequence[int]) -> int:
    return sum(_tokens(lines[place]) for place in places)


def _tokens(line: str) -> int:
    """With its line break; each estimate is rounded up, so that lines together cost no more than one by one."""
    return estimate(line) + 2
