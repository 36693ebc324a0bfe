"""Items with their lines in, in order; those that fit the budget out (pure).

Law: the estimate of the whole text never exceeds the budget. Standing items come along within their share, whatever else
there is; conclusions come before records, but leave them some room; what room is left in the end is given to either.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from dreamd.pool.language import Tongue
from dreamd.pool.tokens import estimate
from dreamd.recall.rendering import framed

T = TypeVar("T")
R = TypeVar("R")

FOR_RECORDS = 0.3  # of the budget, where there are records
_RECORD = 40  # tokens of a usual record
_PASSED = 3  # lines that may be too long before it is enough
_SHORTEST = 12  # tokens of a line: with less room none is tried


class Items(Generic[T]):
    """Things with their lines, each made when it is asked for: most never are."""

    def __init__(self, things: Sequence[T], line: Callable[[T], str]) -> None:
        self.things = things
        self._line = line
        self._made: dict[int, str] = {}

    def line(self, place: int) -> str:
        if place not in self._made:
            self._made[place] = self._line(self.things[place])
        return self._made[place]

    def fitting(self, room: int, besides: Sequence[int] = ()) -> tuple[list[int], int]:
        """Those that fit, in order, and the room that is left. One that does not is passed over; a few are tried in its place."""
        taken, passed = [], 0
        for place in (each for each in range(len(self.things)) if each not in besides):
            if room < _SHORTEST or passed > _PASSED:
                break
            cost = _tokens(self.line(place))
            if cost <= room:
                taken.append(place)
                room -= cost
            else:
                passed += 1
        return taken, room


class Packed(Struct, frozen=True):
    """Places in the lists that were given, in order, and the text."""

    bearing: tuple[int, ...]
    standing: tuple[int, ...]
    records: tuple[int, ...]
    text: str
    tokens: int


def packed(
    bearing: Items[T], standing: Items[T], records: Items[R], *, budget: int, share: float, tongue: Tongue
) -> Packed:
    """`share` of the budget is the standing items'."""
    whole = budget - estimate(framed(("-",), tongue))
    mine = min(int(budget * share), whole)
    kept, left = standing.fitting(mine)
    room = whole - (mine - left)
    reserve = min(int(budget * FOR_RECORDS), len(records.things) * _RECORD)
    first, left = bearing.fitting(room - reserve)
    quoted, room = records.fitting(left + reserve)
    more, _ = bearing.fitting(room, besides=first)
    found = sorted((*first, *more))
    lines = (*map(bearing.line, found), *map(standing.line, kept), *map(records.line, quoted))
    text = framed(lines, tongue)
    return Packed(tuple(found), tuple(kept), tuple(quoted), text, estimate(text))


def _tokens(line: str) -> int:
    """With its line break, and what is lost to rounding: lines together cost no more than one by one."""
    return estimate(line) + 1
