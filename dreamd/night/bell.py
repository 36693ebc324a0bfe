"""Rings at a moment of the wall clock.

APScheduler only rings: its executor swallows exceptions and cancellation, its timer stands still while the machine
is asleep, and it would ring twice where the clock is set back. So nobody works in its jobs, nobody trusts it to ring,
and what is due is asked of the ledger (`due`).
"""

from datetime import UTC, datetime
from typing import Protocol

import anyio
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger

LOOK_S = 60.0  # the wall clock is looked at this often, whether it rang or not


class Bell(Protocol):
    async def wait_until(self, moment: datetime) -> None:
        """Return at `moment` or after about a minute, whichever comes first."""

    def close(self) -> None: ...


class ScheduledBell(Bell):
    """To be made and used inside one event loop."""

    def __init__(self) -> None:
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._scheduler.start()

    async def wait_until(self, moment: datetime) -> None:
        rung = anyio.Event()

        async def ring() -> None:
            rung.set()

        self._scheduler.add_job(
            ring,
            DateTrigger(moment, timezone=UTC),
            id="night",
            replace_existing=True,
            misfire_grace_time=None,
        )
        with anyio.move_on_after(LOOK_S):
            await rung.wait()

    def close(self) -> None:
        self._scheduler.shutdown(wait=False)
