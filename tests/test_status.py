import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import anyio
import msgspec
import pytest
from msgspec.structs import replace

from dreamd.clock import to_the_minute
from dreamd.gate.limit import starting
from dreamd.gate.passing import GatewayShown, Passing
from dreamd.gate.passing import publish as gateway_publish
from dreamd.gate.shown import publish, shown
from dreamd.gate.state import LaneState, Rules, came, put_off, told
from dreamd.locks import DAEMON, exclusive
from dreamd.night.run import run_night
from dreamd.parts import Shortage, shortage_key
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Budget
from dreamd.status import Status, listed, status
from dreamd.stores.base import Changes, Held, LedgerRow, Slot
from dreamd.tail.sync import sync
from tests.acceptance.house import Home
from tests.night.conftest import House, asking, house  # noqa: F401 - a fixture

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SLOW = ("httpx", "apscheduler", "structlog", "rich", "watchfiles", "asyncio", "zstandard")
Build = Callable[..., House]


def wrong(home: House) -> str:
    return "\n".join(status(home.parts).wrong)


def test_it_tells_of_the_last_and_the_next_night_and_what_is_in_no_daily(house: Build) -> None:  # noqa: F811
    home = house("anna")
    home.says("anna", NOON - timedelta(days=1), "How long is the bridge?", "It is 320 metres long.")
    anyio.run(run_night, home.parts, NOON.date() - timedelta(days=1))
    home.says("anna", NOON, "How high is the tower?", "It is 84 metres high.")
    now = status(home.parts)
    (anna,) = now.agents
    assert [(row.phase, row.state) for row in anna.last_night] == [
        ("daily", "done"),
        ("dream", "done"),
        ("deep_dream", "skipped"),
    ]
    assert anna.next_night is not None
    assert anna.next_night.isoformat().startswith("2026-03-02T23:5")
    assert str(anna.next_night.tzinfo) == "Europe/Berlin"
    assert (anna.backlog.records, anna.backlog.days) == (2, (NOON.date(),))
    assert now.wrong == ()
    assert now.daemon is None


def test_what_is_wrong_is_said_with_what_to_do(house: Build) -> None:  # noqa: F811
    home = house("anna", "bert")
    failed = LedgerRow(
        agent="anna",
        day=NOON.date(),
        phase="daily",
        state="failed",
        attempts=5,
        reason="no space left",
        finished_at=NOON,
    )
    home.parts.store.write(Changes(ledger=(failed, replace(failed, phase="deep_dream", attempts=2))))
    home.says("bert", NOON - timedelta(days=30), "How long is the bridge?", "It is 320 metres long.")
    (home.root / "bert").rename(home.root / "gone")
    held = Held(
        agent="anna",
        day=NOON.date(),
        path="p",
        base_sha256="",
        content="",
        diary="",
        reason="r",
        detail="",
        at=NOON,
    )
    home.parts.store.write(Changes(held=(held,)))
    told = wrong(home)
    assert (
        "anna: daily of 2026-03-02 failed (5 of 5): no space left; given up; run `dreamd night --agent anna"
        in told
    )
    assert "anna: deep dream of 2026-03-02 failed (2 of 5): no space left; it is tried again" in told
    assert "dreamd held" in told
    assert "bert: the workspace" in told
    assert "bert: days before 2026-02-23 that are in no daily: 2026-01-31; run `dreamd night" in told


def test_a_night_that_failed_long_ago_is_wrong_until_it_is_done(house: Build) -> None:  # noqa: F811
    home = house("anna")
    day = date(2025, 6, 1)
    failed = LedgerRow(agent="anna", day=day, phase="daily", state="failed", reason="no such model")
    dream = replace(failed, phase="deep_dream")
    home.parts.store.write(Changes(ledger=(failed, dream)))
    assert wrong(home) == (
        "anna: daily of 2025-06-01 failed (1 of 5): no such model; too long ago to be tried again; "
        "run `dreamd night --agent anna --date 2025-06-01`\n"
        "anna: deep dream of 2025-06-01 failed (1 of 5): no such model; too long ago to be tried again; "
        "run `dreamd night --agent anna --date 2025-06-01`"
    )
    assert [row.day for row in status(home.parts).agents[0].last_night] == [day, day]
    later = replace(dream, day=day + timedelta(days=2), state="done")
    home.parts.store.write(Changes(ledger=(replace(failed, state="done"), later)))
    assert wrong(home) == ""


def test_of_many_failed_nights_the_newest_are_told(house: Build) -> None:  # noqa: F811
    home = house("anna")
    failed = LedgerRow(agent="anna", day=date(2025, 6, 1), phase="daily", state="failed", reason="r")
    rows = [replace(failed, day=failed.day + timedelta(days=count)) for count in range(30)]
    home.parts.store.write(Changes(ledger=rows))
    told = status(home.parts).wrong
    assert len(told) == 20
    assert "2025-06-30" in told[0]


def test_who_waits_for_a_deep_dream_sees_who_is_first(house: Build) -> None:  # noqa: F811
    home = house("anna", "bert", "idle")
    done = LedgerRow(agent="anna", day=NOON.date(), phase="daily", state="done", finished_at=NOON)
    home.parts.store.write(Changes(ledger=(done, replace(done, agent="bert"))))
    assert [agent.dreams_after for agent in status(home.parts).agents] == [(), ("anna",), None]


def test_days_are_named_or_when_they_are_many_counted() -> None:
    days = [NOON.date() + timedelta(days=count) for count in range(9)]
    assert listed(days[:2]) == "2026-03-02, 2026-03-03"
    assert listed(days).endswith("2026-03-09, 2026-03-10 and 2 before")


def test_a_log_that_is_not_understood_is_told_in_the_words_of_the_tail(house: Build) -> None:  # noqa: F811
    home = house("anna")
    (home.root / "logs" / "anna" / "0.jsonl").write_text(
        '{"type": "novelty", "sessionId": "s", "uuid": "u", "parentUuid": null}\n' * 100
    )
    sync(home.parts)
    assert "nothing was understood" in wrong(home)


def test_an_agents_budget_that_is_used_up_is_told_with_when_it_is_free(house: Build) -> None:  # noqa: F811
    home = house("anna")
    config = replace(home.parts.config, budget=Budget(agent_calls_per_hour=9))
    parts = replace(asking(home.parts, ScriptedProvider([])), config=config)
    until = home.clock.now() + timedelta(minutes=30)
    lack = Shortage("the 9 calls an hour of anna are used up", until, (0, 9), NOON.date())
    parts.store.write(Changes(meta={shortage_key("anna"): msgspec.json.encode(lack).decode()}))
    (sentence,) = status(parts).wrong
    assert sentence.startswith(f"anna: {lack.words}")
    assert to_the_minute(until) in sentence
    raised = replace(config, budget=Budget(agent_calls_per_hour=99))
    assert status(replace(parts, config=raised)).wrong == ()
    for at in (until, until - timedelta(days=400)):  # it is over; a clock that was wrong has written it
        home.clock.at = at
        assert status(parts).wrong == ()


def test_a_full_disk_is_wrong(house: Build, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    home = house("anna")
    assert "no space" not in wrong(home)
    monkeypatch.setattr("dreamd.status.LITTLE", 1 << 62)
    assert "no space left" in wrong(home)


def test_no_agents_is_wrong(house: Build) -> None:  # noqa: F811
    assert "dreamd init" in wrong(house())


def test_a_running_daemon_is_named(house: Build) -> None:  # noqa: F811
    home = house("anna")

    async def beside() -> Status:
        async with exclusive(home.parts.state / DAEMON, home.clock, what="dreamd runs"):
            return await anyio.to_thread.run_sync(status, home.parts)

    assert anyio.run(beside).daemon is not None
    assert status(home.parts).daemon is None


def test_what_the_gateway_carried_is_told_of_a_daemon_that_runs_and_of_no_other(house: Build) -> None:  # noqa: F811
    home = house("anna")
    gateway = GatewayShown("127.0.0.1:8377", os.getpid(), NOON, Passing(calls=3))
    gateway_publish(home.parts.store, gateway)
    assert status(home.parts).gateway is None

    async def beside() -> Status:
        async with exclusive(home.parts.state / DAEMON, home.clock, what="dreamd runs"):
            return await anyio.to_thread.run_sync(status, home.parts)

    assert anyio.run(beside).gateway == gateway


def test_a_glance_loads_nothing_slow(tmp_path: Path) -> None:
    home = Home(tmp_path)
    code = (
        "import json, sys\nfrom dreamd.cli import main\n"
        f"try: main(['--config', {str(home.config)!r}, 'status', '--json'])\n"
        "except SystemExit: pass\n"
        f"print(json.dumps([name for name in {SLOW!r} if name in sys.modules]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["wrong"] == []
    assert json.loads(done.stderr) == []


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_health_check_fails_when_no_daemon_runs(tmp_path: Path, options: list[str]) -> None:
    home = Home(tmp_path)
    assert home.run("status", *options).returncode == 0
    assert home.run("status", "--running", *options).returncode == 1


def test_it_counts_insights_and_tells_of_dreams_that_failed_or_left_something(house: Build) -> None:  # noqa: F811
    home = house("anna")
    home.says("anna", NOON, "I prefer tabs over spaces in Makefiles.", "All right.")
    failed = LedgerRow(
        agent="anna",
        day=NOON.date() - timedelta(days=3),
        phase="dream",
        state="failed",
        reason="no space left",
    )
    waits = '{"parked": [{"key": "k", "ids": ["x"], "reason": "no usable answer"}]}'
    home.parts.store.write(Changes(ledger=(failed,), meta={"dream:anna": waits}))
    before = wrong(home)
    assert "the next dream tries again; or run `dreamd dream --agent anna`" in before
    assert "groups of records that wait for the next dream: 1; no usable answer" in before
    anyio.run(run_night, home.parts, NOON.date())
    assert wrong(home) == ""
    (anna,) = status(home.parts).agents
    assert (anna.long_term, anna.candidates, anna.dreaming) == (0, 1, None)


def test_it_tells_what_dreamds_own_calls_took_and_which_run(house: Build) -> None:  # noqa: F811
    home = house("anna")
    now = home.clock.now()
    done = Slot(
        slot_id="1",
        lane="here",
        agent="anna",
        purpose="distil",
        began_at=now,
        input_tokens=70,
        output_tokens=7,
    )
    running = replace(done, slot_id="2", agent="bert", held_until=now + timedelta(seconds=30))
    home.parts.store.write(Changes(slots=(done, running)))
    seen = status(home.parts)
    assert [(use.agent, use.calls_today, use.tokens_today) for use in seen.use] == [
        ("", 2, 154),
        ("anna", 1, 77),
        ("bert", 1, 77),
    ]
    assert seen.calls == 1


def test_it_shows_the_lane_of_dreamds_own_calls_as_another_process_left_it(house: Build) -> None:  # noqa: F811
    parts = house("anna").parts
    assert status(parts).gate is None
    state = told(LaneState(rules=Rules(2), limit=starting(1, 8)), 0, cooling_until=90).state
    one = shown("http://x:80", state, parts.clock.now(), made_way=2, refused=1)
    publish(parts.store, one)
    assert status(parts).gate == one


def test_a_call_that_waits_for_the_budget_is_told_while_it_does(house: Build) -> None:  # noqa: F811
    home = house("anna")
    parts, state = home.parts, came(LaneState(rules=Rules(2), limit=starting(1, 8)), 1, 0, 0).state
    state = put_off(state, 1, 60, "budget", 0).state
    publish(parts.store, shown("http://x:80", state, parts.clock.now(), made_way=0, refused=0))
    assert "1 call(s) of dreamd wait for the budget" in wrong(home)
    home.clock.at += timedelta(minutes=2)
    assert "budget" not in wrong(home)
