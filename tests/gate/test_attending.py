from datetime import timedelta

import anyio
import pytest

from dreamd.clock import StillClock
from dreamd.errors import ProviderRefused, StoreBusy
from dreamd.events import DREAM_WAITS, DREAM_WAITS_LONG, Event
from dreamd.gate.attending import Attendant
from dreamd.gate.lane import Lane
from dreamd.gate.order import DREAM, PERSON
from dreamd.gate.shown import published
from dreamd.gate.turns import Turns
from dreamd.records import Turn
from dreamd.sections import Gate
from dreamd.stores.base import Changes, TurnState
from dreamd.stores.inmemory import InMemoryStore


class House:
    def __init__(self, clock: StillClock, store: InMemoryStore) -> None:
        self.clock, self.store = clock, store
        self.told: list[tuple[Event, dict[str, object]]] = []
        self.lane = Lane("x", Gate(), concurrency=8, clock=clock, emit=self._emit)
        self.attendant = Attendant(
            self.lane,
            store,
            turns=Turns(store, {"kit"}, timeout_s=3600, patience_s=900, clock=clock),
            exhausted=str,
            long_wait_s=60,
            clock=clock,
            emit=self._emit,
        )

    def _emit(self, event: Event, /, **values: object) -> None:
        self.told.append((event, values))


async def test_a_turn_under_way_is_seen_before_the_call_wants_to_start(clock: StillClock) -> None:
    store = InMemoryStore()
    at = clock.now() - timedelta(seconds=5)
    store.write(Changes(turns=(("kit", Turn("s", busy=True, at=at)),)))
    house = House(clock, store)
    async with house.attendant.beside():
        assert house.lane.state.turns == 1


async def test_errors_of_the_call_pass_as_they_are(clock: StillClock) -> None:
    house = House(clock, InMemoryStore())
    with pytest.raises(ProviderRefused):
        async with house.attendant.beside():
            raise ProviderRefused("no")


async def test_the_lane_is_shown_when_the_last_call_has_gone(clock: StillClock) -> None:
    house = House(clock, InMemoryStore())
    async with house.attendant.beside():
        assert published(house.store) is None
    one = published(house.store)
    assert one is not None
    assert one.lane == "x"


async def test_a_busy_store_is_no_reason_to_fail(clock: StillClock) -> None:
    class Busy(InMemoryStore):
        def turns(self, agent: str | None = None) -> list[TurnState]:
            raise StoreBusy("busy")

    house = House(clock, Busy())
    async with house.attendant.beside():
        await anyio.lowlevel.checkpoint()
    assert house.lane.state.turns == 0


async def test_a_long_wait_is_told_with_its_reason_and_again_only_when_it_has_doubled(
    clock: StillClock,
) -> None:
    house = House(clock, InMemoryStore())
    someone = house.lane.arrive(10)
    call = house.lane.come(DREAM, 10)
    for seconds in (59, 2, 30, 40):
        clock.ticks += seconds
        house.lane.turns(0)
        house.attendant._tell_long_waits()
    assert [(event, values["why"], values["waits_s"]) for event, values in house.told] == [
        (DREAM_WAITS_LONG, "foreground", 61),
        (DREAM_WAITS_LONG, "foreground", 131),
    ]
    house.lane.leave(call, finished=False)
    someone.done()


async def test_a_person_who_waits_is_told_for_whose_turn(clock: StillClock) -> None:
    store = InMemoryStore()
    store.write(Changes(turns=(("kit", Turn("s", busy=True, at=clock.now())),)))
    house = House(clock, store)
    await house.attendant._look()
    call = house.lane.come(PERSON, 10)
    for _second in range(5):
        house.attendant._tell_waits()
        clock.ticks += 1
    assert [(event, values["why"]) for event, values in house.told] == [(DREAM_WAITS, "turn")]
    assert "agent kit" in str(house.told[0][1]["what"])
    house.lane.leave(call, finished=False)


async def test_a_killed_agent_holds_the_only_slot_no_longer_than_patience(clock: StillClock) -> None:
    store = InMemoryStore()
    store.write(Changes(turns=(("kit", Turn("s", busy=True, at=clock.now())),)))
    house = House(clock, store)
    await house.attendant._look()
    call = house.lane.come(DREAM, 10)
    await clock.sleep(899)
    await house.attendant._look()
    assert not call.door.is_set()
    await clock.sleep(1)
    await house.attendant._look()
    assert call.door.is_set()
    house.lane.leave(call, finished=False)
