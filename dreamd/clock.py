"""Time, passed in. UTC inside, the agent's zone at the edge; a night belongs to a local date."""

import random
import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from typing import Protocol
from zoneinfo import ZoneInfo

import anyio


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware UTC wall time."""

    def monotonic(self) -> float:
        """Seconds that never go back; mixes with nothing."""

    async def sleep(self, seconds: float) -> None:
        """Wait; a cancellation point."""


_FIRST_YEAR, _LAST_YEAR = 1970, 9000


class SystemClock(Clock):
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def to_the_minute(at: datetime) -> str:
    """`2026-03-02 10:00 UTC`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def local_date(at: datetime, zone: ZoneInfo) -> date:
    """The local calendar day (the window) of an aware time."""
    return at.astimezone(zone).date()


def instant(day: date, at: time_of_day, zone: ZoneInfo) -> datetime:
    """The UTC instant of a local wall time: the first of two at a fold, the jump's far side in a gap."""
    # PEP 495: in a gap fold=0 means the offset before the jump, which lands on the jump's far side
    return datetime.combine(day, at, tzinfo=zone).astimezone(UTC)


def within_reach(day: date) -> None:
    """Raises ValueError near the calendar's ends, where a zone or a look back would leave it."""
    if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        raise ValueError(f"Expected a day of the years {_FIRST_YEAR} to {_LAST_YEAR}")


def night_moment(day: date, at: time_of_day, jitter_s: float, zone: ZoneInfo, seed: str) -> datetime:
    """When the night of a local date begins: a moment, random but fixed by `seed`, in the window ending at `at`."""
    end = instant(day, at, zone)
    draw = random.Random(f"{seed}:{day.isoformat()}").random()  # noqa: S311 - spreads load, guards nothing
    return end - timedelta(seconds=jitter_s * draw)


class StillClock(Clock):
    """A clock that stands where it is put: for tests, and for the demo's three days.

    `sleep` moves it on by what was asked and lets other tasks run.
    """

    def __init__(self, at: datetime) -> None:
        self.at = at
        self.ticks = 0.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.ticks

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.ticks += seconds
        await anyio.sleep(0)  # noqa: ASYNC115 - lowlevel is not loaded for it
