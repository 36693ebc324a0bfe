import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from dreamd.errors import StoreBusy
from dreamd.night.pulse import Pulse
from dreamd.stores.inmemory import InMemoryStore
from dreamd.supervisor.health import Health, watchdog_fed
from dreamd.supervisor.kept import Failures
from tests.night.conftest import House, house  # noqa: F401 - a fixture

Build = Callable[..., House]


def test_what_goes_on_failing_is_not_well_and_what_overslept_neither(house: Build) -> None:  # noqa: F811
    home = house()
    assert Health(Pulse(home.clock), Failures(follow=5)).well()
    assert not Health(Pulse(home.clock), Failures(follow=6)).well()
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
            await watchdog_fed(parts, Health(Pulse(home.clock)))
        assert home.clock.monotonic() >= 5
        if fed:
            assert channel.recv(100) == b"WATCHDOG=1"
        else:
            with pytest.raises(BlockingIOError):
                channel.recv(100)
