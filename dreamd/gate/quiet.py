"""The agents' turns under way, as the tailed logs show them: rows of the store in, a number for the lane out.

Without a gateway they are all that is seen of the foreground.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from dreamd.stores.base import TurnState


def under_way(turns: Iterable[TurnState], agents: Collection[str], now: datetime, timeout_s: float) -> int:
    """How many turns of these agents are under way. One that began too long ago, in the future (a clock was wrong), or nobody knows when, has died."""
    timeout = timedelta(seconds=timeout_s)
    return sum(
        turn.busy and turn.agent in agents and turn.at is not None and now - timeout < turn.at < now + timeout
        for turn in turns
    )
