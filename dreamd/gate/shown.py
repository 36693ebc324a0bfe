"""What other processes may know of the lane that dream calls go through: kept in the store while it is used."""

import os
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dreamd.gate.state import LaneState, Why, why
from dreamd.stores.base import Changes, Store

KEY = "gate"


class LaneShown(Struct, frozen=True, kw_only=True):
    """The lane as process `pid` last saw it.

    `limit` is how many calls the upstream is known to take at once, `failed` the least number known to be too many (0:
    none), `spare` how many slots stay free for the foreground. `waits_s` is how long the longest waiting dream call has
    waited, and `why`. `made_way` and `refused` count since the process began.
    """

    lane: str
    pid: int
    at: datetime
    limit: int
    failed: int
    spare: int = 0
    foreground: int
    turns: int
    dreams: int
    waiting: int
    waits_s: float = 0.0
    why: Why = ""
    cooling_until: datetime | None = None
    quota_until: datetime | None = None
    made_way: int = 0
    refused: int = 0


def shown(lane: str, state: LaneState, now: datetime, *, made_way: int, refused: int) -> LaneShown:
    """As the state stands `now`."""
    first = min(state.waiting, key=lambda dream: dream.came, default=None)
    return LaneShown(
        lane=lane,
        pid=os.getpid(),
        at=now,
        limit=state.limit.calls,
        failed=state.limit.failed,
        spare=state.spare,
        foreground=state.foreground,
        turns=state.turns,
        dreams=len(state.dreams),
        waiting=len(state.waiting),
        waits_s=0.0 if first is None else round(state.now - first.came, 1),
        why="" if first is None else why(state, first),
        cooling_until=_moment(state.cooling_until, state, now),
        quota_until=_moment(state.quota_until, state, now),
        made_way=made_way,
        refused=refused,
    )


def is_news(one: LaneShown, before: LaneShown | None) -> bool:
    """Whether more than the time has changed."""
    return before is None or replace(one, at=before.at, waits_s=before.waits_s) != before


def publish(store: Store, one: LaneShown) -> None:
    """Raises StoreError, DiskFull."""
    store.write(Changes(meta={KEY: msgspec.json.encode(one).decode()}))


def published(store: Store) -> LaneShown | None:
    """What was last published. None where nothing was, or another version of dreamd did it."""
    kept = store.meta(KEY)
    try:
        return msgspec.json.decode(kept, type=LaneShown) if kept else None
    except msgspec.DecodeError:
        return None


def _moment(until: float, state: LaneState, now: datetime) -> datetime | None:
    return now + timedelta(seconds=round(until - state.now, 3)) if until > state.now else None
