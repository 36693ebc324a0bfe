"""The agents' turns under way, as the tailed logs show them: rows of the store in, those that are alive out (pure).

Without a gateway they are all that is seen of the foreground.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from dreamd.stores.base import TurnState


def under_way(
    turns: Iterable[TurnState], agents: Collection[str], now: datetime, timeout_s: float
) -> tuple[TurnState, ...]:
    """Those of these agents. One that began too long ago, in the future (a clock was wrong), or nobody knows when, has died."""
    timeout = timedelta(seconds=timeout_s)
    return tuple(
        turn
        for turn in turns
        if turn.busy
        and turn.agent in agents
        and turn.at is not None
        and now - timeout < turn.at < now + timeout
    )


def is_given_up(silent_s: float, waited_s: float, patience_s: float, *, before: bool) -> bool:
    """Whether a turn is taken for dead: its log is `silent_s` old and a call has waited for it, or it was so `before`.

    A killed agent says no word of its end. One that lives makes no call before its log has grown (a long tool run), and
    then its turn counts anew within a second or two: where no slot is free, the dream call makes way.
    """
    return silent_s >= patience_s and (before or waited_s >= patience_s)
