"""Slots that processes share, over both stores."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.clock import StillClock
from dreamd.errors import BudgetSpent, ProviderRefused, ProviderUnreachable, StoreBusy
from dreamd.events import BUDGET_SPENT, Emit, Event, silent
from dreamd.gate.leases import Leases, NotNow
from dreamd.parts import last_shortage
from dreamd.sections import Budget
from dreamd.stores import inmemory, sqlite
from dreamd.stores.base import Changes, Slot, Store, Written
from dreamd.stores.inmemory import InMemoryStore

PROMPT = Prompt(purpose="distil", system="s", user="u" * 300, max_tokens=50)
REPLY = Reply(text="hello there", stop="end", input_tokens=80, output_tokens=9)


@pytest.fixture(params=[inmemory.OPEN, sqlite.OPEN], ids=["inmemory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opening: Callable[[Path], Store] = request.param
    store = opening(tmp_path)
    yield store
    store.close()


def leases(
    store: Store,
    clock: StillClock,
    name: str = "a",
    lease_s: float = 30.0,
    emit: Emit = silent,
    **budget: int,
) -> Leases:
    numbers = count()
    return Leases(
        store,
        budget=Budget(**budget),
        lease_s=lease_s,
        clock=clock,
        new_id=lambda: f"{name}{next(numbers)}",
        emit=emit,
    )


async def taken(one: Leases, most: int = 9, agent: str = "ada") -> Slot:
    slot = await one.take("lane", agent, PROMPT, most=most)
    assert isinstance(slot, Slot)
    return slot


async def refused(one: Leases, most: int = 9, agent: str = "ada") -> NotNow:
    answer = await one.take("lane", agent, PROMPT, most=most)
    assert isinstance(answer, NotNow)
    return answer


async def held(store: Store) -> list[Slot]:
    return await to_thread.run_sync(store.slots)


async def test_two_processes_hold_no_more_slots_than_one_may(store: Store, clock: StillClock) -> None:
    one, other = leases(store, clock, "a"), leases(store, clock, "b")
    first = await taken(one, most=2)
    await taken(other, most=2)
    assert (await refused(one, most=2)).why == "shared"
    await one.give_back(first)
    await taken(other, most=2)


async def test_the_slot_of_a_process_that_died_is_free_when_its_lease_is_over(
    store: Store, clock: StillClock
) -> None:
    await taken(leases(store, clock, "dead"), most=1)
    other = leases(store, clock, "b")
    assert (await refused(other, most=1)).wait_s < 1
    clock.at += timedelta(seconds=30)
    await taken(other, most=1)


async def test_a_slot_is_held_on_for_as_long_as_its_call_runs(store: Store, clock: StillClock) -> None:
    one = leases(store, clock, lease_s=0.003)
    slot = await taken(one)
    assert slot.held_until
    async with one.held(slot):
        clock.at += timedelta(hours=1)
        while not (await held(store))[0].is_held(clock.at):
            continue
    await one.give_back(slot, REPLY)
    assert await held(store) == []


async def test_an_error_passes_as_it_is(store: Store, clock: StillClock) -> None:
    one = leases(store, clock)
    with pytest.raises(ProviderUnreachable, match="gone"):
        async with one.held(await taken(one)):
            raise ProviderUnreachable("gone")


async def test_what_a_call_took_is_what_its_provider_told(store: Store, clock: StillClock) -> None:
    one = leases(store, clock)
    await one.give_back(await taken(one), REPLY)
    (spent,) = await to_thread.run_sync(store.spent, clock.at)
    assert (spent.input_tokens, spent.output_tokens, spent.estimated) == (80, 9, 0)


async def test_what_nobody_told_is_estimated_and_said_to_be(store: Store, clock: StillClock) -> None:
    one = leases(store, clock)
    await one.give_back(await taken(one), Reply(text="hello there", stop="end"))
    (spent,) = await to_thread.run_sync(store.spent, clock.at)
    assert (spent.input_tokens > 99, 0 < spent.output_tokens < 9, spent.estimated) == (True, True, 1)


async def test_a_call_that_was_broken_off_took_its_prompt(store: Store, clock: StillClock) -> None:
    one = leases(store, clock)
    await one.give_back(await taken(one))
    (spent,) = await to_thread.run_sync(store.spent, clock.at)
    assert (spent.input_tokens > 99, spent.output_tokens) == (True, 0)


async def test_an_exhausted_budget_makes_calls_wait_and_is_told_in_words(
    store: Store, clock: StillClock
) -> None:
    one = leases(store, clock, calls_per_hour=1)
    await one.give_back(await taken(one))
    answer = await refused(one, agent="bob")
    assert (answer.why, "all agents" in answer.words) == ("budget", True)
    clock.at += timedelta(hours=1, seconds=1)
    await taken(one)


async def test_an_agents_own_share_that_is_used_up_keeps_nobody_waiting(
    store: Store, clock: StillClock
) -> None:
    one = leases(store, clock, agent_calls_per_hour=1)
    await one.give_back(await taken(one))
    with pytest.raises(BudgetSpent, match="of ada are used up"):
        await one.take("lane", "ada", PROMPT, most=9)
    assert await held(store) == []
    await taken(one, agent="bob")
    clock.at += timedelta(hours=1, seconds=1)
    await taken(one)


async def test_an_agents_budget_that_is_used_up_is_told_once_a_day_and_known_until_it_is_free(
    store: Store, clock: StillClock
) -> None:
    told: list[tuple[Event, dict[str, object]]] = []
    one = leases(
        store, clock, agent_calls_per_hour=1, emit=lambda event, /, **values: told.append((event, values))
    )
    began = clock.now()
    await one.give_back(await taken(one))
    for _ in range(3):
        with pytest.raises(BudgetSpent):
            await one.take("lane", "ada", PROMPT, most=9)
        clock.at += timedelta(minutes=10)
    assert [(event, values["agent"]) for event, values in told] == [(BUDGET_SPENT, "ada")]
    lack = await to_thread.run_sync(last_shortage, store, "ada")
    assert lack is not None
    assert (lack.until, lack.limits) == (began + timedelta(hours=1), (0, 1))
    assert lack.words == told[0][1]["reason"]
    assert await to_thread.run_sync(last_shortage, store, "bob") is None
    clock.at += timedelta(days=1)
    await one.give_back(await taken(one))
    with pytest.raises(BudgetSpent):
        await one.take("lane", "ada", PROMPT, most=9)
    assert len(told) == 2


async def test_a_call_that_no_day_has_tokens_for_fails_at_once_instead_of_waiting_for_ever(
    store: Store, clock: StillClock
) -> None:
    with pytest.raises(ProviderRefused, match="one call needs"):
        await leases(store, clock, agent_tokens_per_day=100).take("lane", "ada", PROMPT, most=9)
    assert await held(store) == []


async def test_what_calls_under_way_may_take_is_reserved(store: Store, clock: StillClock) -> None:
    one = leases(store, clock, tokens_per_day=300)
    slot = await taken(one)
    await refused(one)
    await one.give_back(slot, REPLY)
    await taken(one)


async def test_many_at_once_take_no_more_than_the_budget_has(store: Store, clock: StillClock) -> None:
    one, given_out = leases(store, clock, calls_per_hour=3), []

    async def ask() -> None:
        given_out.append(await one.take("lane", "ada", PROMPT, most=99))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(ask)
    assert sum(isinstance(each, Slot) for each in given_out) == 3


async def test_who_is_cancelled_while_asking_still_learns_what_was_given(
    store: Store, clock: StillClock
) -> None:
    one, given_out = leases(store, clock), []
    async with anyio.create_task_group() as tasks:
        tasks.cancel_scope.cancel()
        with suppress(anyio.get_cancelled_exc_class()):
            given_out.append(await one.take("lane", "ada", PROMPT, most=1))
    assert [slot.slot_id for slot in await held(store)] == [slot.slot_id for slot in given_out]


class _Busy(InMemoryStore):
    busy = False

    def write(self, changes: Changes) -> Written:
        if self.busy:
            raise StoreBusy("held")
        return super().write(changes)


async def test_a_slot_that_cannot_be_given_back_costs_nobody_the_reply(clock: StillClock) -> None:
    store = _Busy()
    one = leases(store, clock)
    slot = await taken(one)
    store.busy = True
    await one.give_back(slot, REPLY)
    store.busy = False
    clock.at += timedelta(seconds=30)
    assert not store.slots()[0].is_held(clock.at)


ACTS = st.tuples(st.sampled_from(["take", "give", "die", "wait"]), st.integers(0, 2), st.integers(1, 40))
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ACTS, max_size=40), st.integers(1, 4))
def test_whatever_processes_do_no_more_than_the_most_hold_slots_at_once(
    acts: list[tuple[str, int, int]], most: int
) -> None:
    clock, store = StillClock(NOON), InMemoryStore()
    processes = [leases(store, clock, f"p{number}-") for number in range(3)]
    mine: list[list[Slot]] = [[], [], []]
    for act, number, amount in acts:
        match act:
            case "take":
                answer = processes[number]._take("lane", "ada", PROMPT, most)
                mine[number] += [answer] if isinstance(answer, Slot) else []
            case "give" if mine[number]:
                slot = mine[number].pop()
                store.write(Changes(slots=[replace(slot, held_until=None)]))
            case "die":
                mine[number] = []
            case "wait":
                clock.at += timedelta(seconds=amount)
                mine = [[slot for slot in own if slot.is_held(clock.at)] for own in mine]
        held = [slot for slot in store.slots() if slot.is_held(clock.at)]
        assert len(held) <= most
        assert {slot.slot_id for own in mine for slot in own} <= {slot.slot_id for slot in held}
