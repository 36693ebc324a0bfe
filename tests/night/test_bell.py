from datetime import UTC, datetime, timedelta

import anyio
import pytest

from dreamd.night import bell as bells
from dreamd.night.bell import ScheduledBell


async def test_the_bell_rings_at_its_moment() -> None:
    bell, moment = ScheduledBell(), datetime.now(UTC) + timedelta(milliseconds=30)
    with anyio.fail_after(20):
        await bell.wait_until(moment)
        assert datetime.now(UTC) >= moment
        await bell.wait_until(datetime.now(UTC) - timedelta(days=1))
    bell.close()


async def test_a_bell_that_is_not_due_lets_go_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bells, "LOOK_S", 0.01)
    bell = ScheduledBell()
    with anyio.fail_after(20):
        await bell.wait_until(datetime.now(UTC) + timedelta(days=1))
    bell.close()


async def test_a_cancelled_wait_ends_at_once() -> None:
    bell = ScheduledBell()
    with anyio.move_on_after(0.01) as scope:
        await bell.wait_until(datetime.now(UTC) + timedelta(days=1))
    assert scope.cancelled_caught
    bell.close()
