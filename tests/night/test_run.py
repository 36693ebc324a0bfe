from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import count

import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.deep_dream.sources import gather
from dreamd.errors import DiskFull, StateLocked, StoreBusy
from dreamd.gate.gated import GatedProvider
from dreamd.gate.journal import Journalled
from dreamd.gate.lane import Lane
from dreamd.gate.leases import Leases
from dreamd.gate.order import agent_of
from dreamd.locks import NIGHT, dream_lock, exclusive, one_night
from dreamd.memories import Memory
from dreamd.night.run import run_night
from dreamd.night.watch import look
from dreamd.parts import Metered, Outcome
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Archive, Budget, Daily, DeepDream, Dream, Gate
from dreamd.stores.base import Changes, MemoryQuery, Written
from dreamd.stores.inmemory import InMemoryStore
from dreamd.stores.sqlite import SqliteStore
from tests.night.conftest import House, asking, set_clock

MONDAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
Build = Callable[..., House]


def states(outcomes: list[Outcome]) -> dict[tuple[str, str], str]:
    return {(outcome.row.agent, outcome.row.phase): outcome.row.state for outcome in outcomes}


async def test_a_night_writes_a_daily_for_every_agent_that_was_active(house: Build) -> None:
    home = house("anna", "bert", "idle")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    home.says("bert", NOON, "桥有多长?", "桥长 320 米。")
    outcomes = await run_night(home.parts, MONDAY)
    assert states(outcomes)["anna", "daily"] == states(outcomes)["bert", "daily"] == "done"
    assert ("idle", "daily") not in states(outcomes)
    assert "320 metres" in home.files()[str(home.daily("anna", MONDAY))].decode()
    assert "320 米" in home.files()[str(home.daily("bert", MONDAY))].decode()
    (line,) = home.told.named("night.finished")
    assert (line["day"], line["done"], line["calls"]) == (MONDAY, 4, 0)  # two dailies, two dreams


async def test_the_same_night_again_changes_nothing(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    first = await run_night(home.parts, MONDAY)
    files, ledger = home.files(), home.parts.store.ledger()
    again = await run_night(home.parts, MONDAY)
    assert (home.files(), home.parts.store.ledger()) == (files, ledger)
    assert states(again).items() <= states(first).items()
    assert not any(outcome.new for outcome in again)


async def test_a_dry_run_writes_nothing_and_shows_what_it_would(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    outcomes = await run_night(home.parts, MONDAY, dry_run=True)
    assert home.files() == {}
    assert home.parts.store.ledger() == []
    assert "+" in outcomes[0].diff
    assert not (home.parts.state / NIGHT).exists()


async def test_one_agent_in_trouble_does_not_stop_the_others(house: Build) -> None:
    home = house("anna", "bert")
    for agent in ("anna", "bert"):
        home.says(agent, NOON, "How long is the bridge?", "It is 320 metres long.")
    (home.root / "anna" / "memory").write_text("a file where the folder should be")
    outcomes = await run_night(home.parts, MONDAY)
    assert states(outcomes)["anna", "daily"] == "failed"
    assert states(outcomes)["bert", "daily"] == "done"
    row = home.parts.store.ledger("anna", "daily")[0]
    assert (row.state, row.attempts) == ("failed", 1)
    assert "memory" in row.reason
    assert home.told.named("night.finished")[0]["failed"] == 1


async def test_an_agent_that_used_up_its_own_budget_holds_up_nobody_else_and_comes_later(
    house: Build,
) -> None:
    home = house("anna", "bert", at=NOON + timedelta(hours=13))
    for agent, day in (("anna", NOON - timedelta(days=1)), ("anna", NOON), ("bert", NOON)):
        home.says(agent, day, "How long is the bridge?", "It is 320 metres long.")
    leases = Leases(
        home.parts.store,
        budget=Budget(agent_calls_per_hour=1),
        lease_s=30,
        clock=home.clock,
        new_id=partial(next, map(str, count())),
    )
    lane = Lane("local", Gate(), concurrency=1, clock=home.clock, emit=home.told)
    llm = ScriptedProvider(lambda _: "- User: bridge -> Reply: It is 320 metres long [E1]")

    def chain(job: str) -> Metered:
        gated = GatedProvider(lane, llm, agent=agent_of(job), leases=leases)
        return Journalled(gated, store=home.parts.store, job=job, clock=home.clock, emit=home.told)

    dailies_only = replace(
        home.parts.config,
        dream=Dream(enabled=False),
        deep_dream=DeepDream(enabled=False),
        budget=Budget(agent_calls_per_hour=1),
    )
    parts = replace(home.parts, provider=chain, config=dailies_only)
    look_again = await look(parts)
    assert [home.daily(name, MONDAY).exists() for name in ("anna", "bert")] == [False, True]
    row = home.parts.store.ledger("anna", "daily", since=MONDAY)[0]
    assert (row.state, row.attempts) == ("failed", 0)
    assert row.reason == "the 1 calls an hour of anna are used up; it is tried again"
    assert look_again - home.clock.now() == timedelta(hours=1)  # it would only be refused again before
    assert home.told.named("phase.failed") == []  # the gate tells of it, once a day
    set_clock(home.clock, timedelta(hours=1, seconds=1))
    await look(parts)
    assert home.daily("anna", MONDAY).exists()
    assert len(llm.prompts) == 3


async def test_a_failed_phase_counts_its_attempts(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    (home.root / "anna" / "memory").write_text("a file where the folder should be")
    for attempts in (1, 2, 3):
        await run_night(home.parts, MONDAY)
        assert home.parts.store.ledger("anna", "daily")[0].attempts == attempts


async def test_what_a_phase_raises_is_a_failed_row_of_that_agent_alone(house: Build) -> None:
    class BusyForAnna(InMemoryStore):
        def memories(self, query: MemoryQuery) -> Iterator[Memory]:
            if query.agent == "anna" and query.window == MONDAY:
                raise StoreBusy("another process holds the store")
            return super().memories(query)

    home = house("anna", "bert")
    home = House(replace(home.parts, store=BusyForAnna()), home.told, home.clock, home.root)
    for agent in ("anna", "bert"):
        home.says(agent, NOON, "How long is the bridge?", "It is 320 metres long.")
    outcomes = states(await run_night(home.parts, MONDAY))
    assert (outcomes["anna", "daily"], outcomes["bert", "daily"]) == ("failed", "done")
    row = home.parts.store.ledger("anna", "daily")[0]
    assert (row.state, row.attempts, row.reason) == ("failed", 1, "another process holds the store")
    (failed,) = home.told.named("phase.failed")
    assert (failed["agent"], failed["error"]) == ("anna", "StoreBusy")


async def test_the_night_is_exclusive_and_says_who_is_in_it(house: Build) -> None:
    home = house("anna")
    async with one_night(home.parts.state, home.clock):
        with pytest.raises(StateLocked, match="process"):
            await run_night(home.parts, MONDAY)


async def test_phases_that_are_switched_off_do_not_run(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    config = replace(home.parts.config, daily=Daily(enabled=False), deep_dream=DeepDream(enabled=False))
    assert await run_night(replace(home.parts, config=config), MONDAY) == []


async def test_a_full_disk_is_no_failed_row_that_cannot_be_written(house: Build) -> None:
    class Full(InMemoryStore):
        def write(self, changes: Changes) -> Written:
            if changes.ledger:
                raise DiskFull("no space left")
            return super().write(changes)

    home = house("anna")
    home = House(replace(home.parts, store=Full()), home.told, home.clock, home.root)
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    with pytest.raises(DiskFull):
        await run_night(home.parts, MONDAY)
    assert home.files() == {}


async def test_a_bug_met_in_one_phase_leaves_the_night_but_rests_like_a_failure(house: Build) -> None:
    class Buggy(InMemoryStore):
        def memories(self, query: MemoryQuery) -> Iterator[Memory]:
            if query.agent == "anna" and query.window == MONDAY:
                raise ZeroDivisionError
            return super().memories(query)

    home = house("anna", "bert")
    home = House(replace(home.parts, store=Buggy()), home.told, home.clock, home.root)
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    home.says("bert", NOON, "How long is the bridge?", "It is 320 metres long.")
    set_clock(home.clock, timedelta(hours=12))
    with pytest.raises(ZeroDivisionError):
        await look(home.parts)
    assert home.parts.store.ledger("anna", "daily")[0].reason.startswith("ZeroDivisionError, a bug in dreamd")
    await look(home.parts)
    assert home.parts.store.ledger("bert", "daily")[0].state == "done"


async def test_a_person_need_not_wait_for_a_deep_dream_that_failed_or_was_given_up(house: Build) -> None:
    home = house("anna")
    failing = asking(home.parts, ScriptedProvider([]))
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    assert states(await run_night(failing, MONDAY))["anna", "deep_dream"] == "failed"
    row = home.parts.store.ledger("anna", "deep_dream")[0]
    home.parts.store.write(Changes(ledger=(replace(row, attempts=5),)))
    assert states(await run_night(home.parts, MONDAY))["anna", "deep_dream"] == "skipped"


async def test_who_waits_for_a_deep_dream_is_told_for_whom_and_keeps_no_row(house: Build) -> None:
    home = house("anna", "bert")
    failing = asking(home.parts, ScriptedProvider([]))
    for agent in ("anna", "bert"):
        home.says(agent, NOON, "How long is the bridge?", "It is 320 metres long.")
    outcomes = await run_night(failing, MONDAY)
    assert states(outcomes)["anna", "deep_dream"] == "failed"
    (bert,) = (one for one in outcomes if one.row.agent == "bert" and one.row.phase == "deep_dream")
    assert (bert.row.reason, bert.new) == ("waits its turn: anna dreams first", False)
    assert home.parts.store.ledger("bert", "deep_dream") == []


async def test_the_night_dreams_before_deep_dream_which_reads_what_it_found(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON - timedelta(days=1), "I prefer tabs over spaces in Makefiles.", "All right.")
    home.says("anna", NOON, "As ever, I prefer tabs over spaces in Makefiles.", "All right.")
    outcomes = await run_night(home.parts, MONDAY)
    assert [outcome.row.phase for outcome in outcomes] == ["daily", "dream", "deep_dream"]
    (insight,) = home.parts.store.memories(
        MemoryQuery(types=("insight",), statuses=("candidate", "long_term"))
    )
    assert "tabs" in insight.content
    material = await to_thread.run_sync(gather, home.parts, "anna", MONDAY, 1)
    assert {source.text for source in (*material.insights, *material.waiting)} == {insight.content}


async def test_a_dream_that_fails_is_told_and_the_deep_dream_goes_on(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "I prefer tabs over spaces in Makefiles.", "All right.")
    async with exclusive(home.parts.state / dream_lock("anna"), home.clock, what="somebody dreams"):
        outcomes = await run_night(home.parts, MONDAY)
    assert [(one.row.phase, one.row.state) for one in outcomes] == [
        ("daily", "done"),
        ("dream", "failed"),
        ("deep_dream", "skipped"),
    ]
    assert home.parts.store.ledger("anna", "dream")[0].state == "failed"


@pytest.mark.parametrize(("after_days", "moved"), [(0, 0), (1, 2), (9, 0)])
async def test_old_records_are_archived_at_the_end_of_a_night(
    house: Build, after_days: int, moved: int
) -> None:
    home = house("anna")
    home.says("anna", NOON - timedelta(days=3), "How long is the bridge?", "It is 320 metres long.")
    home.says("anna", NOON, "And the tower?", "It is 40 metres tall.")
    store = await to_thread.run_sync(SqliteStore, home.parts.state)
    memories = list(home.parts.store.memories(MemoryQuery()))
    await to_thread.run_sync(store.write, Changes(memories=memories))
    config = replace(home.parts.config, archive=Archive(after_days=after_days))
    await run_night(replace(home.parts, store=store, config=config), MONDAY)
    told = home.told.named("records.archived")
    assert told == ([{"day": MONDAY, "records": moved}] if moved else [])
    read = await to_thread.run_sync(lambda: list(store.memories(MemoryQuery(types=("raw",)))))
    assert [memory.content for memory in read] == [memory.content for memory in memories]
    assert [memory.archived for memory in read] == [bool(moved)] * 2 + [False] * 2
    await to_thread.run_sync(store.close)
