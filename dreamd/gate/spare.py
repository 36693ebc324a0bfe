"""How many slots stay free for the foreground, learned from calls that came when one was only just being left (pure).

A dream call that makes way is out of its slot when the server has noticed that nobody listens any more: at once, at its
next token, or when the prompt is read. A foreground call that needs that slot meanwhile leans on it: it waits or is
refused, if the server is slow. Then one slot more stays free, and one less after a while.
"""

from math import sqrt
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

FIRST = 1
FIRST_HOLD_S = 30.0  # before a slot less is tried; twice as long each time that was wrong
LONGEST_HOLD_S = 600.0
DEAR = 1000  # calls, besides, where a wrong try is paid for with a refusal
WEIGHT = 0.01  # of the newest call
TOLERATED, DEVIATIONS = 0.02, 3.0  # share of all calls that come late for leaning, and how far chance goes

Went = Literal["well", "late", "refused"]


class Spare(Struct, frozen=True, kw_only=True):
    """`slots` stay free, `least` at any rate; none is given up before `until`. `calls` came since the last change.

    Of the latest foreground calls `leaning` is the share of those that leaned, `usual` how many of the others came late,
    and `harmed` the share of those that leaned and came late, beyond the usual. Calls that began before `since` tell of
    the time before.
    """

    least: int
    slots: int
    until: float
    hold_s: float = FIRST_HOLD_S
    calls: int = 0
    lowered: bool = False  # by the last change
    leaning: float = 0.0
    usual: float = 0.05  # until it is known better
    harmed: float = 0.0
    since: float = float("-inf")


def starting(least: int, now: float) -> Spare:
    return Spare(least=least, slots=max(least, FIRST), until=now + FIRST_HOLD_S)


def after(
    spare: Spare, went: Went, most: int, began: float, now: float, *, leaned: bool, refuses: bool = False
) -> Spare:
    """After a foreground call to an upstream that waits or `refuses` when it is full. `most` slots can be kept free."""
    if began < spare.since:
        return spare
    spare = _counted(spare, went, leaned=leaned)
    if leaned and (went == "refused" or spare.harmed > _bar(spare)):
        hold_s = min(2 * spare.hold_s, LONGEST_HOLD_S) if spare.lowered else spare.hold_s
        slots = max(spare.slots, min(spare.slots + 1, most))
        return _changed(replace(spare, hold_s=hold_s, lowered=False), slots, now)
    rested = now >= spare.until and (spare.calls >= DEAR or not refuses)
    if leaned and rested and spare.slots > spare.least:
        return _changed(replace(spare, lowered=True), spare.slots - 1, now)
    return spare


def _counted(spare: Spare, went: Went, *, leaned: bool) -> Spare:
    late = went != "well"
    harm = late - spare.usual if leaned else 0.0
    return replace(
        spare,
        calls=spare.calls + 1,
        leaning=spare.leaning + WEIGHT * (leaned - spare.leaning),
        usual=spare.usual if leaned else spare.usual + WEIGHT * (late - spare.usual),
        harmed=max(0.0, spare.harmed + WEIGHT * (harm - spare.harmed)),
    )


def _bar(spare: Spare) -> float:
    """What chance alone does not reach: the standard deviation of an exponentially weighted mean, a few times."""
    variance = spare.usual * (1 - spare.usual) * spare.leaning
    return TOLERATED + DEVIATIONS * sqrt(variance * WEIGHT / 2)


def _changed(spare: Spare, slots: int, now: float) -> Spare:
    return replace(spare, slots=slots, until=now + spare.hold_s, calls=0, harmed=0.0, since=now)
