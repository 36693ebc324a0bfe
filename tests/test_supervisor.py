"""The rules of the supervisor; its life as a process is in acceptance/test_night.py."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from dreamd.config import Config, load
from dreamd.errors import ConfigError, StoreBusy
from dreamd.hand.plan import LEFT
from dreamd.night.pulse import Pulse
from dreamd.sections import Agent, Llm, State
from dreamd.stores.base import Changes
from dreamd.stores.inmemory import InMemoryStore
from dreamd.supervisor import LONGEST_PAUSE_S, Health, _forgotten, _kept, _usable, _warn, _watchdog_fed
from tests.acceptance.house import Home
from tests.night.conftest import Enough, House, house  # noqa: F401 - a fixture

Build = Callable[..., House]


class Weak:
    """A task that fails so often, then ends the test."""

    def __init__(self, times: int, error: Exception) -> None:
        self.left, self.error = times, error

    async def __call__(self) -> None:
        if not self.left:
            raise anyio.get_cancelled_exc_class()
        self.left -= 1
        raise self.error


async def kept(home: House, task: Weak) -> Health:
    health = Health(Pulse(home.clock))
    with pytest.raises(anyio.get_cancelled_exc_class()):
        await _kept("follow", task, home.parts, health)
    return health


async def test_a_task_that_fails_is_told_and_begun_again_after_longer_and_longer_pauses(house: Build) -> None:  # noqa: F811
    home = house()
    await kept(home, Weak(11, StoreBusy("another process holds the store")))
    told = home.told.named("task.failed")
    assert [line["again_in_s"] for line in told] == [
        1,
        2,
        4,
        8,
        16,
        32,
        64,
        128,
        256,
        LONGEST_PAUSE_S,
        LONGEST_PAUSE_S,
    ]
    assert told[0]["error"] == "StoreBusy"
    assert told[0]["reason"] == "another process holds the store"


async def test_of_a_bug_the_class_and_place_are_told_and_not_its_words(house: Build) -> None:  # noqa: F811
    home = house()
    await kept(home, Weak(1, ExceptionGroup("many", [KeyError("a line of a log")])))
    (told,) = home.told.named("task.failed")
    assert told["error"] == "KeyError"
    assert "a line of a log" not in str(told)


async def test_what_goes_on_failing_is_not_well_and_what_overslept_neither(house: Build) -> None:  # noqa: F811
    home = house()
    assert (await kept(home, Weak(5, StoreBusy("busy")))).well()
    assert not (await kept(home, Weak(6, StoreBusy("busy")))).well()
    health = Health(Pulse(home.clock))
    with health.pulse.asleep(at_most_s=10):
        assert health.well()
        home.clock.ticks += 11
        assert not health.well()


@pytest.mark.parametrize(("store", "fed"), [(InMemoryStore, True), (None, False)])
async def test_the_watchdog_is_fed_only_after_a_real_read(
    house: Build,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    store: type[InMemoryStore] | None,
    fed: bool,
) -> None:
    class Stuck(InMemoryStore):
        def meta(self, key: str) -> str | None:
            raise StoreBusy("another process holds the store")

    home = house()
    parts = replace(home.parts, store=(store or Stuck)())
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(tmp_path / "notify"))
        channel.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "10000000")
        with anyio.move_on_after(0.05):
            await _watchdog_fed(parts, Health(Pulse(home.clock)))
        assert home.clock.monotonic() >= 5
        if fed:
            assert channel.recv(100) == b"WATCHDOG=1"
        else:
            with pytest.raises(BlockingIOError):
                channel.recv(100)


async def test_what_a_crash_left_half_forgotten_is_finished_at_the_start(house: Build) -> None:  # noqa: F811
    home = house("anna")
    home.parts.store.write(Changes(meta={LEFT: '{"step": "purge", "memories": ["a"], "lines": 2}'}))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_forgotten, home.parts)
        with anyio.fail_after(60):
            while not home.told.named("memories.forgotten"):  # noqa: ASYNC110 - it is told, not signalled
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert home.told.named("memories.forgotten") == [{"memories": 1, "lines": 2, "files": []}]
    assert home.parts.store.meta(LEFT) == ""


async def test_forgetting_that_cannot_be_finished_now_is_tried_again_and_told_once(house: Build) -> None:  # noqa: F811
    home = house("anna")
    work = home.root / "anna"
    memory = work / "MEMORY.md"
    memory.write_text("- one\n- two\n")
    cut = {"path": str(memory), "root": str(work), "page": "memory", "raws": ["- one\n"]}
    left = {"step": "files", "cuts": [cut], "memories": ["a"]}
    work.rename(home.root / "away")
    home.parts.store.write(Changes(meta={LEFT: json.dumps(left)}))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_forgotten, home.parts)
        with anyio.fail_after(60):
            while home.clock.monotonic() < 3 * LONGEST_PAUSE_S:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            assert len(home.told.named("forgetting.delayed")) == 1
            (home.root / "away").rename(work)
            while not home.told.named("memories.forgotten"):  # noqa: ASYNC110 - it has no event
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert memory.read_text() == "- two\n"


def test_no_agents_and_a_workspace_that_is_not_there_are_warned_of_in_the_log(house: Build) -> None:  # noqa: F811
    home = house("anna", "bert")
    (home.root / "bert").rename(home.root / "gone")
    _warn(home.parts)
    assert [line["agent"] for line in home.told.named("workspace.missing")] == ["bert"]
    assert home.told.named("agents.missing") == []
    _warn(replace(home.parts, config=Config()))
    assert "dreamd init" in str(home.told.named("agents.missing"))


def test_a_configuration_that_moves_the_state_or_names_no_provider_is_not_usable(tmp_path: Path) -> None:
    state = tmp_path / "state"
    good = Config(state=State(dir=str(state)))
    assert _usable(lambda: good, state) is good
    with pytest.raises(ConfigError, match=r"state\.dir"):
        _usable(lambda: Config(state=State(dir=str(tmp_path / "other"))), state)
    with pytest.raises(ConfigError, match="slumber"):
        _usable(lambda: replace(good, llm=Llm(provider="slumber")), state)
    with pytest.raises(ConfigError, match=r"agents\.anna\.format.*did you mean 'codex'"):
        _usable(lambda: replace(good, agents={"anna": Agent(format="kodex")}), state)
    home = Home(tmp_path)
    home.configure('[night]\nat = "never"')
    with pytest.raises(ConfigError, match=r"night\.at"):
        _usable(lambda: load(home.config), state)
