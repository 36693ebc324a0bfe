import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreamd import sdnotify


@pytest.fixture(params=["path", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    name = str(tmp_path / "s") if request.param == "path" else f"@dreamd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(name.replace("@", "\0"))
        channel.settimeout(5)
        yield name, channel


def test_systemd_is_told_over_its_socket(systemd: tuple[str, socket.socket]) -> None:
    name, channel = systemd
    sdnotify.notify(sdnotify.READY, sdnotify.status("2 agents"), environ={"NOTIFY_SOCKET": name})
    assert channel.recv(1024) == b"READY=1\nSTATUS=2 agents"


def test_a_reload_carries_its_time(systemd: tuple[str, socket.socket]) -> None:
    name, channel = systemd
    sdnotify.notify(sdnotify.reloading(), environ={"NOTIFY_SOCKET": name})
    first, second = channel.recv(1024).decode().split("\n")
    assert first == "RELOADING=1"
    assert int(second.removeprefix("MONOTONIC_USEC=")) > 0


@pytest.mark.parametrize(
    "environ", [{}, {"NOTIFY_SOCKET": "/nowhere/at/all"}, {"NOTIFY_SOCKET": "vsock:2:1"}]
)
def test_without_a_systemd_nothing_happens(environ: dict[str, str]) -> None:
    sdnotify.notify(sdnotify.READY, environ=environ)
    assert sdnotify.watchdog_s(environ) is None


def test_the_watchdog_is_fed_twice_as_often_as_it_asks_and_only_by_whom_it_watches() -> None:
    assert sdnotify.watchdog_s({"WATCHDOG_USEC": "30000000"}) == 15
    assert sdnotify.watchdog_s({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}) == 15
    assert sdnotify.watchdog_s({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}) is None
    assert sdnotify.watchdog_s({"WATCHDOG_USEC": "soon"}) is None
