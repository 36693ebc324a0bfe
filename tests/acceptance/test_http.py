"""The life of the daemon's socket: open with it, moved by a reload, opened again after a kill, and never the end of it."""

import os
import signal
from pathlib import Path

import httpx

from tests.acceptance.house import Home


def healthy(path: Path) -> bool:
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=str(path)), base_url="http://d", timeout=30
    ) as client:
        return client.get("/healthz").status_code == 200


def listening(path: Path, more: str = "") -> str:
    return f'[http]\nlisten = "unix:{path}"\n{more}'


def test_a_reload_moves_the_socket_and_a_killed_daemons_is_taken_over(tmp_path: Path) -> None:
    old, new = tmp_path / "old.sock", tmp_path / "new.sock"
    home = Home(tmp_path, extra=listening(old))
    with home.daemon() as daemon:
        daemon.waits_for("http.opened")
        assert healthy(old)
        home.configure(listening(new))
        daemon.process.send_signal(signal.SIGHUP)
        daemon.waits_for("http.opened", times=2)
        assert healthy(new)
        assert not old.exists()
        daemon.process.kill()
        daemon.process.wait()
    assert new.exists()
    with home.daemon() as daemon:
        daemon.waits_for("http.opened", times=3)
        assert healthy(new)
        daemon.process.terminate()
        assert daemon.process.wait(10) == 0
    assert not os.path.lexists(new)


def test_a_daemon_that_cannot_listen_says_so_and_does_its_work(tmp_path: Path) -> None:
    home = Home(tmp_path, extra=listening(tmp_path / ("d" * 120)))
    with home.daemon() as daemon:
        daemon.told("READY=1")
        told = daemon.waits_for("http.unavailable")
        assert "longer than" in str(told["reason"])
        daemon.process.terminate()
        assert daemon.process.wait(10) == 0
