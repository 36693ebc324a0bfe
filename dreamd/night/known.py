"""What the night has to know of this moment, asked of the clock, the configuration and the store. Blocking."""

import os
from datetime import date, timedelta

from dreamd.config import night_time, zone_of
from dreamd.night.due import LIVED, REMEMBERED, Known, Schedule, Sleeper
from dreamd.parts import Parts
from dreamd.stores.base import Changes

_SEED = "night.seed"
AHEAD = timedelta(days=1)  # the local date of a zone may be a day on


def known(parts: Parts, day: date | None = None) -> Known:
    """The enabled agents with their days, and the ledger of the two months before now, or before `day` if earlier.

    A row of a later day, left by a clock that was set back since, says nothing yet: a dream of 2100 is nobody's last.
    """
    now = parts.clock.now()
    since = min(now.date(), day or now.date()) - REMEMBERED
    until = max(now.date(), day or now.date()) + AHEAD
    enabled = parts.config.enabled
    return Known(
        now=now,
        schedule=schedule(parts),
        sleepers=[
            Sleeper(agent=name, zone=zone_of(agent), windows=parts.store.windows(name, LIVED))
            for name, agent in enabled.items()
        ],
        rows=[row for row in parts.store.ledger(since=since) if row.agent in enabled and row.day <= until],
        short={name: lack.until for name in enabled if (lack := parts.shortage(name)) is not None},
        candidates=parts.config.deep_dream.candidates if parts.config.deep_dream.enabled else 0,
    )


def schedule(parts: Parts) -> Schedule:
    night = parts.config.night
    return Schedule(
        at=night_time(parts.config),
        jitter_s=night.jitter_s,
        catch_up_days=night.catch_up_days,
        max_attempts=night.max_attempts,
        seed=parts.store.meta(_SEED) or "",
    )


def seeded(parts: Parts) -> None:
    """Draw this installation's own seed for the moments of its nights, once for ever."""
    if parts.store.meta(_SEED) is None:
        parts.store.write(Changes(meta={_SEED: os.urandom(8).hex()}))
