from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from msgspec.structs import replace

from dreamd.night.known import known, schedule, seeded
from dreamd.records import Amendment
from dreamd.sections import DeepDream
from dreamd.stores.base import Changes, LedgerRow, MemoryQuery
from tests.night.conftest import House

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
Build = Callable[..., House]


def test_the_seed_is_drawn_once_and_kept(house: Build) -> None:
    home = house("anna")
    assert schedule(home.parts).seed == ""
    seeded(home.parts)
    drawn = schedule(home.parts).seed
    seeded(home.parts)
    assert schedule(home.parts).seed == drawn
    assert len(drawn) == 16


def test_disabled_agents_and_rows_of_strangers_are_not_known(house: Build) -> None:
    home = house("anna", "bert")
    agents = dict(home.parts.config.agents)
    agents["bert"] = replace(agents["bert"], enabled=False)
    parts = replace(home.parts, config=replace(home.parts.config, agents=agents))
    rows = [
        LedgerRow(agent=name, day=NOON.date(), phase="daily", state="done")
        for name in ("anna", "bert", "carl")
    ]
    parts.store.write(Changes(ledger=rows))
    seen = known(parts)
    assert [s.agent for s in seen.sleepers] == ["anna"]
    assert [row.agent for row in seen.rows] == ["anna"]


def test_the_ledger_is_known_for_two_months_before_now_or_the_day_in_question(house: Build) -> None:
    home = house("anna")
    long_ago = NOON.date() - timedelta(days=400)
    row = LedgerRow(agent="anna", day=long_ago, phase="daily", state="done")
    home.parts.store.write(Changes(ledger=(row,)))
    assert known(home.parts).rows == []
    assert known(home.parts, long_ago + timedelta(days=1)).rows == [row]


def test_scheduled_turns_make_no_day_worth_a_night(house: Build) -> None:
    home = house("anna")
    home.says("anna", NOON, "How long is the bridge?", "It is 320 metres long.")
    home.says("anna", NOON - timedelta(days=1), "[SCHEDULED] ping", "pong")
    for memory in list(home.parts.store.memories(MemoryQuery(agent="anna"))):
        if memory.window == date(2026, 3, 1):
            timer = Amendment(identity=memory.memory_id, origin="scheduled")
            home.parts.store.write(Changes(amendments=[(memory.memory_id, timer)]))
    assert [w.window for w in known(home.parts).sleepers[0].windows] == [date(2026, 3, 2)]


def test_without_deep_dream_nobody_is_a_candidate(house: Build) -> None:
    home = house("anna", candidates=3)
    assert known(home.parts).candidates == 3
    off = replace(home.parts, config=replace(home.parts.config, deep_dream=DeepDream(enabled=False)))
    assert known(off).candidates == 0


def test_what_a_clock_that_ran_ahead_left_behind_is_nobodys_last_dream(house: Build) -> None:
    home = house("anna")
    ahead = LedgerRow(agent="anna", day=date(2100, 1, 1), phase="deep_dream", state="done")
    tomorrow = LedgerRow(agent="anna", day=NOON.date() + timedelta(days=1), phase="daily", state="done")
    home.parts.store.write(Changes(ledger=(ahead, tomorrow)))
    assert known(home.parts).rows == [tomorrow]
    assert ahead in known(home.parts, ahead.day).rows
