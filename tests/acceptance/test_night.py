"""Whole nights over real files, SQLite and a real HTTP server that plays the LLM."""

import re
import signal
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from dreamd.clock import StillClock
from dreamd.night.run import run_night
from dreamd.night.watch import watch
from tests.acceptance.house import Dreamless, Home, honest, parts_of
from tests.llm_server import Answer, Request, llm_server, llm_server_beside
from tests.night.conftest import Enough, StillBell, Told, set_clock

MONDAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BRIDGE = ("How long is the bridge over the Elm?", "The Elm bridge is 320 metres long.")
PORT = ("Which port does the staging server use?", "The staging server listens on port 8443.")
WISH = ("From now on always write dates as 2026-03-02.", "Dates are written so.")


async def test_a_night_leaves_the_files_it_should_and_the_same_night_again_changes_none(
    tmp_path: Path,
) -> None:
    async with llm_server(honest) as server:
        home = Home(tmp_path, server.base_url)
        home.says(NOON, *BRIDGE, *PORT, *WISH)
        async with parts_of(home, StillClock(NOON + timedelta(hours=12))) as parts:
            await run_night(parts, MONDAY)
            files = home.files()
            assert sorted(Path(name).relative_to(home.work).as_posix() for name in files) == [
                "MEMORY.md", "memory/2026-03-02.md", "memory/dreams/2026-03-02.md",
            ]  # fmt: skip
            asked = [request.purpose for request in server.requests]
            assert (asked[0], asked[-1]) == ("daily-summary", "deep-dream")
            assert set(asked[1:-1]) == {"score", "distil"}
            assert "- The Elm bridge is 320 metres long." in home.memory.read_text().splitlines()
            again = await run_night(parts, MONDAY)
        assert home.files() == files
        assert len(server.requests) == len(asked)
        assert not any(outcome.new for outcome in again)


async def test_a_night_that_passes_midnight_files_under_its_date(tmp_path: Path) -> None:
    clock = StillClock(datetime(2026, 3, 2, 23, 56, tzinfo=UTC))

    def slowly(request: Request) -> str:
        set_clock(clock, timedelta(minutes=20))
        return honest(request)

    async with llm_server(slowly) as server:
        home = Dreamless(tmp_path, server.base_url)
        home.says(NOON, *BRIDGE)
        async with parts_of(home, clock) as parts:
            with pytest.raises(Enough):
                await watch(parts, bell=StillBell(clock, 3))
        assert clock.now().date() > MONDAY
    names = [Path(name).relative_to(home.work).as_posix() for name in home.files()]
    assert names == ["MEMORY.md", "memory/2026-03-02.md", "memory/dreams/2026-03-02.md"]


async def test_three_nights_slept_through_are_caught_up_in_order_without_a_second_call(
    tmp_path: Path,
) -> None:
    async with llm_server(honest) as server:
        home = Dreamless(tmp_path, server.base_url)
        for back in range(4):
            home.says(
                NOON - timedelta(days=back),
                f"How long is bridge {back}?",
                f"Bridge {back} is {back + 20} metres.",
            )
        clock, told = StillClock(NOON), Told()
        async with parts_of(home, clock, told) as parts:
            with pytest.raises(Enough):
                await watch(parts, bell=StillBell(clock, 40))
        days = [MONDAY - timedelta(days=back) for back in (3, 2, 1, 0)]
        assert [line["day"] for line in told.named("night.finished")] == days
        assert [line["day"] for line in told.named("night.missed")] == days[:3]
        assert max(Counter(request.body for request in server.requests).values()) == 1
        assert len(home.memory.read_text().strip().splitlines()) == 2 + 4


@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25)])
async def test_the_days_on_which_the_clocks_change_have_one_night_each(tmp_path: Path, day: date) -> None:
    start = datetime(day.year, day.month, day.day, 6, tzinfo=UTC) - timedelta(days=1)
    async with llm_server(honest) as server:
        home = Dreamless(tmp_path, server.base_url, zone="Europe/Berlin")
        clock, told = StillClock(start), Told()

        def speaks(ring: int) -> None:
            if ring in (1, 25, 49):
                home.says(clock.now(), f"How long is bridge {ring}?", f"Bridge {ring} is 4{ring} metres.")

        async with parts_of(home, clock, told) as parts:
            with pytest.raises(Enough):
                await watch(parts, bell=StillBell(clock, 75, then=speaks))
    days = [day + timedelta(days=n) for n in (-1, 0, 1)]
    assert [line["day"] for line in told.named("night.finished")] == days
    assert len(list((home.work / "memory").glob("*.md"))) == 3


async def test_a_night_interrupted_between_its_phases_goes_on_without_paying_twice(tmp_path: Path) -> None:
    first = True

    def once_silent(request: Request) -> Answer | str:
        nonlocal first
        if request.purpose == "deep-dream" and first:
            first = False
            return Answer(silent=True)
        return honest(request)

    async with llm_server(once_silent) as server:
        home = Dreamless(tmp_path, server.base_url)
        home.says(NOON, *BRIDGE)
        clock = StillClock(NOON + timedelta(hours=12))
        async with parts_of(home, clock) as parts, anyio.create_task_group() as tasks:
            tasks.start_soon(run_night, parts, MONDAY)
            await server.asked(2)
            tasks.cancel_scope.cancel()
        async with parts_of(home, clock) as parts:
            await run_night(parts, MONDAY)
        asked = Counter(request.purpose for request in server.requests)
    assert asked == {
        "daily-summary": 1,
        "deep-dream": 2,
    }  # the one that was never answered was never paid for
    assert "320 metres" in home.memory.read_text()


def test_no_text_prompt_or_key_is_in_the_logs_of_a_whole_night(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIGHT_KEY", "sk-night-0123456789")
    with llm_server_beside(honest) as server:
        home = Dreamless(tmp_path, server.base_url)
        home.configure('api_key_env = "NIGHT_KEY"')
        home.says(datetime.now(UTC) - timedelta(days=1), *BRIDGE, *PORT)
        with home.daemon() as daemon:
            daemon.waits_for("night.finished")
            daemon.process.send_signal(signal.SIGTERM)
            assert daemon.process.wait(10) == 0
        assert server.requests[0].key == "sk-night-0123456789"
    told = (tmp_path / "stderr").read_text()
    assert '"event":"phase.finished"' in told.replace(": ", ":")
    words = re.findall(r"\w+", " ".join([*BRIDGE, *PORT]))
    secret = {word for word in words if len(word) > 4} | {"sk-night", "dreamd:daily", "notes from an agent"}
    assert [word for word in secret if word in told] == []


def test_the_daemon_is_ready_runs_a_missed_night_and_stops_in_time(tmp_path: Path) -> None:
    home = Dreamless(tmp_path)
    home.says(datetime.now(UTC) - timedelta(days=1), *BRIDGE)
    with home.daemon() as daemon:
        daemon.told("READY=1")
        daemon.waits_for("night.finished")
        status = home.json("status")
        daemon.process.send_signal(signal.SIGTERM)
        daemon.told("STOPPING=1")
        assert daemon.process.wait(10) == 0
    assert isinstance(status, dict)
    assert status["daemon"]["pid"] == daemon.process.pid
    assert status["agents"][0]["last_night"][0]["state"] == "done"
    assert home.json("status")["daemon"] is None  # type: ignore[index]
    assert daemon.events()[-1]["event"] == "daemon.stopped"


def test_a_daemon_that_waits_for_a_silent_llm_stops_within_ten_seconds(tmp_path: Path) -> None:
    with llm_server_beside(lambda _request: Answer(silent=True)) as server:
        home = Dreamless(tmp_path, server.base_url)
        home.says(datetime.now(UTC) - timedelta(days=1), *BRIDGE)
        with home.daemon() as daemon:
            daemon.waits_for("night.started")
            daemon.process.send_signal(signal.SIGINT)
            assert daemon.process.wait(10) == 0
    assert home.files() == {}


def test_a_second_daemon_on_the_same_state_refuses_and_names_the_first(tmp_path: Path) -> None:
    home = Dreamless(tmp_path)
    with home.daemon() as daemon:
        daemon.told("READY=1")
        second = home.run("run")
        assert second.returncode == 1
        assert f"process {daemon.process.pid}" in second.stderr
        assert daemon.process.poll() is None


def test_sighup_takes_a_good_configuration_and_refuses_a_bad_one(tmp_path: Path) -> None:
    home = Dreamless(tmp_path)
    with home.daemon() as daemon:
        daemon.told("READY=1")
        home.configure("[night]\nat = 'never'")
        daemon.process.send_signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in daemon.told("RELOADING=1")
        daemon.told("READY=1")
        assert "night.at" in str(daemon.waits_for("config.refused")["reason"])
        home.configure("[night]\nat = '22:00'")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.told("RELOADING=1")
        daemon.told("READY=1")
        daemon.waits_for("config.reloaded")
        daemon.waits_for("daemon.ready", times=2)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(10) == 0
