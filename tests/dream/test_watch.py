"""Who dreams when, in the daemon."""

from datetime import timedelta

import anyio
import anyio.lowlevel
import msgspec
import pytest
from msgspec.structs import replace

from dreamd.dream.watch import LOOK_S, UNTIL_THERE_IS_SPACE_S, Seen, look, undreamt, watch, without
from dreamd.errors import DiskFull
from dreamd.locks import NIGHT, dream_lock, exclusive
from dreamd.parts import Shortage, shortage_key
from dreamd.records import Turn
from dreamd.sections import Agent, Dream
from dreamd.stores.base import Changes
from tests.dream.conftest import House

TABS = "I prefer tabs over spaces in Makefiles."


async def after(house: House, seen: Seen, seconds: float) -> Seen:
    house.clock.at += timedelta(seconds=seconds)
    return (await look(house.parts, seen))[0]


def dreamt(house: House) -> list[object]:
    return [told["agent"] for told in house.told("dream.finished")]


async def test_a_task_that_ended_is_dreamt_of_after_a_quiet_minute(house: House) -> None:
    seen = await after(house, undreamt(house.parts), 0)
    house.says(TABS, at=house.clock.now())
    house.store.write(Changes(turns=(("cat", Turn("t1", busy=True, at=house.clock.now())),)))
    seen = await after(house, seen, 600)
    assert dreamt(house) == []
    house.store.write(Changes(turns=(("cat", Turn("t1", busy=False, at=house.clock.now())),)))
    seen = await after(house, seen, 10)
    assert [one.trigger for one in seen.waiting] == ["task"]
    seen = await after(house, seen, 59)
    assert dreamt(house) == []
    seen = await after(house, seen, 1)
    assert dreamt(house) == ["cat"]
    assert (seen.waiting, dict(seen.tallies)) == ((), {})
    await after(house, seen, 10_000)
    assert dreamt(house) == ["cat"]


async def test_agents_dream_one_after_the_other_whoever_waited_longest_first(house: House) -> None:
    house.says(TABS, agent="dog", at=house.clock.now())
    seen = await after(house, undreamt(house.parts), 890)
    house.says(TABS, agent="cat", at=house.clock.now() - timedelta(seconds=880))
    seen = await after(house, seen, 15)
    assert [one.agent for one in seen.waiting] == ["dog"]
    seen = await after(house, seen, 15)
    await after(house, seen, 120)
    assert dreamt(house) == ["dog", "cat"]


async def test_what_a_daemon_finds_at_its_start_is_dreamt_of_when_the_agent_is_idle(house: House) -> None:
    house.says(TABS, at=house.clock.now())
    house.says("A scheduled thing.", origin="scheduled")
    seen = undreamt(house.parts)
    assert {agent: tally.fresh for agent, tally in seen.tallies.items()} == {"cat": 1}
    seen = await after(house, seen, 900)
    await after(house, seen, 60)
    assert dreamt(house) == ["cat"]


async def test_a_pool_that_was_counted_is_not_counted_again(house: House) -> None:
    for number in range(3):
        house.says(f"A scheduled thing {number}.", origin="scheduled")
    seen = await after(house, undreamt(house.parts), 0)
    assert seen == Seen(seq=3)
    house.says(TABS)
    assert (await after(house, seen, 0)).seq == 4


async def test_who_has_no_budget_left_waits_for_it_without_trying(house: House) -> None:
    house.model(lambda _: "")
    until = house.clock.now() + timedelta(hours=2)
    lack = Shortage("the 9 calls an hour of cat are used up", until, (0, 0), house.clock.now().date())
    house.store.write(Changes(meta={shortage_key("cat"): msgspec.json.encode(lack).decode()}))
    house.says(TABS, at=house.clock.now())
    seen = await after(house, undreamt(house.parts), 3600)
    assert [one.agent for one in seen.waiting] == ["cat"]
    assert dreamt(house) == []
    await after(house, seen, 3600)
    assert dreamt(house) == ["cat"]


async def test_nobody_dreams_here_while_a_night_runs_or_a_person_has_the_agent_dream(house: House) -> None:
    house.says(TABS, at=house.clock.now())
    seen = await after(house, undreamt(house.parts), 900)
    for lock in (NIGHT, dream_lock("cat")):
        async with exclusive(house.state / lock, house.clock, what="somebody works"):
            seen = await after(house, seen, 60)
        assert dreamt(house) == []
        assert len(seen.waiting) == 1
    await after(house, seen, 1)
    assert dreamt(house) == ["cat"]


async def test_a_disabled_agent_does_not_dream(house: House) -> None:
    house.configure(agents={"cat": Agent(zone="UTC", enabled=False)})
    house.says(TABS, at=house.clock.now())
    seen = await after(house, undreamt(house.parts), 900)
    await after(house, seen, 60)
    assert dreamt(house) == []


async def test_a_full_disk_is_told_and_waited_out(house: House) -> None:
    house.says(TABS, at=house.clock.now())
    seen = await after(house, undreamt(house.parts), 900)
    house.clock.at += timedelta(seconds=60)

    class Full:
        def __getattr__(self, name: str) -> object:
            return getattr(house.store, name)

        def write(self, _changes: Changes) -> object:
            raise DiskFull("no space left")

    parts = replace(house.parts, store=Full())
    assert await look(parts, seen) == (seen, UNTIL_THERE_IS_SPACE_S)
    assert house.told("disk.full")


def test_after_a_dream_what_it_left_calls_for_no_other_one(house: House) -> None:
    house.says(TABS)
    seen = undreamt(house.parts)
    assert without(seen, "cat") == Seen(seq=seen.seq)
    assert without(seen, "dog") == seen


class Enough(Exception):
    pass


async def test_the_watch_looks_again_and_again_and_not_at_all_when_dreams_are_off(house: House) -> None:
    house.says(TABS, at=house.clock.now())
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        house.clock.at += timedelta(seconds=seconds)
        await anyio.lowlevel.checkpoint()
        if len(pauses) > 100:
            raise Enough

    house.clock.sleep = sleep  # type: ignore[method-assign]
    with pytest.raises(Enough):
        await watch(house.parts)
    assert set(pauses) == {LOOK_S}
    assert dreamt(house) == ["cat"]
    house.configure(dream=Dream(enabled=False))
    with anyio.move_on_after(0) as scope:
        await watch(house.parts)
    assert scope.cancelled_caught
    assert len(pauses) == 101
