from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from msgspec.structs import replace

from dreamd.clock import StillClock
from dreamd.config import zone_of
from dreamd.errors import DiskFull
from dreamd.events import NIGHT_STARTED, Event
from dreamd.locks import one_night
from dreamd.night.known import schedule
from dreamd.night.watch import Drift, look, watch
from dreamd.providers.scripted import ScriptedProvider
from dreamd.stores.base import Changes, Written
from dreamd.stores.inmemory import InMemoryStore
from tests.night.conftest import Enough, House, StillBell, asking, set_clock

MONDAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
Build = Callable[..., House]


async def watched(home: House, bell: StillBell) -> None:
    with pytest.raises(Enough):
        await watch(home.parts, bell=bell)
    assert bell.closed


async def test_the_night_begins_at_its_moment_and_not_before(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    await watched(home, StillBell(home.clock, 10))
    assert not home.daily("anna", MONDAY).exists()
    await watched(home, StillBell(home.clock, 2))
    row = home.parts.store.ledger("anna", "daily")[0]
    moment = schedule(home.parts).moment(MONDAY, zone_of(home.parts.config.agents["anna"]))
    assert row.finished_at == moment
    assert home.daily("anna", MONDAY).exists()


async def test_a_night_happens_once_however_long_the_watch_goes_on(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    await watched(home, StillBell(home.clock, 60))
    assert [line["day"] for line in home.told.named("night.finished")] == [MONDAY]
    assert home.told.named("night.missed") == []


async def test_nights_that_were_slept_through_are_caught_up_oldest_first(house: Build) -> None:
    home = house("anna")
    for back in range(4):
        home.says(
            "anna", NOON - timedelta(days=back), f"How long is bridge {back}?", f"It is {back + 20} metres."
        )
    await watched(home, StillBell(home.clock, 1))
    days = [MONDAY - timedelta(days=back) for back in (3, 2, 1)]
    assert [line["day"] for line in home.told.named("night.missed")] == days
    assert [line["day"] for line in home.told.named("night.finished")] == days
    assert all(home.daily("anna", day).exists() for day in days)


async def test_a_suspend_of_a_night_is_noticed_and_the_night_caught_up(house: Build) -> None:
    home = house("anna", at=datetime(2026, 3, 2, 21, 30, tzinfo=UTC))
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")

    def sleeps(ring: int) -> None:
        if ring == 1:
            set_clock(home.clock, timedelta(hours=8.5))

    await watched(home, StillBell(home.clock, 2, then=sleeps))
    assert home.told.named("clock.jumped")[0]["seconds"] == 8.5 * 3600
    assert home.told.named("night.missed") == [{"day": MONDAY, "agent": "anna"}]
    assert home.daily("anna", MONDAY).exists()


@pytest.mark.parametrize("hours", [-1, 1, -25, 25])
async def test_a_clock_that_is_set_makes_no_second_night(house: Build, hours: int) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")

    def jumps(ring: int) -> None:
        if ring == 13:
            set_clock(home.clock, timedelta(hours=hours))

    await watched(home, StillBell(home.clock, 80, then=jumps))
    assert len(home.told.named("clock.jumped")) == 1
    assert [line["day"] for line in home.told.named("night.finished")] == [MONDAY]


@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25)])
async def test_a_day_of_23_or_25_hours_has_one_night(house: Build, day: date) -> None:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=6)
    home = house("anna", at=start)
    home.says("anna", start + timedelta(hours=12), "How long is the bridge?", "It is 320 metres long.")
    await watched(home, StillBell(home.clock, 60))
    assert [line["day"] for line in home.told.named("night.finished")] == [day]


async def test_late_records_are_filed_under_their_day_the_night_after(house: Build) -> None:
    home = house("anna", at=datetime(2026, 3, 2, 22, 58, tzinfo=UTC))
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    await look(home.parts)
    before = home.daily("anna", MONDAY).read_text()
    home.says("anna", NOON + timedelta(hours=10.9), "How high is the tower?", "It is 84 metres high.")
    await look(home.parts)
    assert home.daily("anna", MONDAY).read_text() == before
    set_clock(home.clock, timedelta(days=1))
    await look(home.parts)
    assert home.daily("anna", MONDAY).read_text().startswith(before.rstrip())
    assert "84 metres" in home.daily("anna", MONDAY).read_text()
    assert not home.daily("anna", MONDAY + timedelta(1)).exists()


async def test_a_night_that_somebody_else_runs_is_asked_about_again_soon(house: Build) -> None:
    home = house("anna")
    async with one_night(home.parts.state, home.clock):
        assert await look(home.parts) - home.clock.now() == timedelta(minutes=1)


async def test_a_moment_that_passes_while_a_night_is_caught_up_is_not_overlooked(house: Build) -> None:
    home = house("anna", at=datetime(2026, 3, 2, 22, 40, tzinfo=UTC))
    for back in (0, 1):
        home.says(
            "anna", NOON - timedelta(days=back), f"How long is bridge {back}?", f"It is {back + 20} metres."
        )

    def slow(event: Event, /, **values: object) -> None:
        home.told(event, **values)
        if event == NIGHT_STARTED and values["day"] != MONDAY:
            home.clock.at += timedelta(minutes=30)

    parts = replace(home.parts, emit=slow)
    again_at = await look(parts)
    assert again_at <= home.clock.now()
    await look(parts)
    assert [line["day"] for line in home.told.named("night.finished")] == [MONDAY - timedelta(days=1), MONDAY]


async def test_a_full_disk_is_told_and_waited_for_and_pays_for_nothing(house: Build) -> None:
    class Full(InMemoryStore):
        def write(self, changes: Changes) -> Written:
            if changes.ledger or changes.journal:
                raise DiskFull("no space left")
            return super().write(changes)

    home = house("anna")
    llm = ScriptedProvider([])
    parts = asking(replace(home.parts, store=Full()), llm)
    home = House(parts, home.told, home.clock, home.root)
    home.says("anna", NOON - timedelta(days=1), "How long is the bridge?", "It is 320 metres long.")
    assert await look(parts) - home.clock.now() == timedelta(minutes=10)
    assert len(home.told.named("disk.full")) == 1
    assert llm.prompts == []


def test_drift_is_what_the_wall_clock_did_and_the_other_did_not(clock: StillClock) -> None:
    drift = Drift(clock)
    clock.at += timedelta(seconds=60)
    clock.ticks += 60
    assert abs(drift.seconds()) < 0.001
    set_clock(clock, timedelta(hours=-1))
    assert drift.seconds() == pytest.approx(-3600)
    assert drift.seconds() == 0
