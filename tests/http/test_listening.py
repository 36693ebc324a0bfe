"""The door: open from the start, furnished at the first knock, shut in good order; trouble with it is told, not fatal."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.dream.phase import Dreamt
from dreamd.http.jobs import Errand, Job
from dreamd.http.listening import LONGEST_PAUSE_S, Door, Threshold, face
from dreamd.parts import Parts
from dreamd.sections import Http
from tests.http.conftest import client_of
from tests.night.conftest import House, house  # noqa: F401 - a fixture

HEAVY = "starlette", "uvicorn", "mcp", "pydantic", "httpx"


def test_no_web_framework_is_loaded_before_somebody_knocks(tmp_path: Path) -> None:
    code = f"""
import sys, anyio
from dreamd.config import Config
from dreamd.clock import SystemClock
from dreamd.events import silent
from dreamd.http.listening import Threshold, face
from dreamd.parts import Parts
from dreamd.stores.inmemory import InMemoryStore
import dreamd.supervisor.life
import pathlib

def loaded(): return sorted(name for name in {HEAVY!r} if name in sys.modules)

async def main():
    state = pathlib.Path({str(tmp_path)!r})
    parts = Parts(config=Config(), state=state, store=InMemoryStore(), clock=SystemClock(), emit=silent)
    async with Threshold() as threshold, anyio.create_task_group() as tasks:
        tasks.start_soon(face, parts, lambda: True, threshold)
        while not (state / "dreamd.sock").exists():
            await anyio.lowlevel.checkpoint()
        while True:
            try:
                visitor = await anyio.connect_unix(state / "dreamd.sock")
                break
            except ConnectionRefusedError:
                await anyio.lowlevel.checkpoint()
        print(*loaded(), sep=",")
        await visitor.send(b"GET /healthz HTTP/1.1\\r\\nhost: d\\r\\n\\r\\n")
        await visitor.receive()
        print(*loaded(), sep=",")
        tasks.cancel_scope.cancel()

anyio.run(main)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "starlette,uvicorn"]


async def test_whoever_comes_while_the_house_is_furnished_is_answered_all_the_same(opened) -> None:
    async with opened() as door, anyio.create_task_group() as tasks:
        answers: list[int] = []

        async def asks() -> None:
            async with client_of(door.listen) as client:
                answers.append((await client.get("/healthz")).status_code)

        for _ in range(20):
            tasks.start_soon(asks)
    assert answers == [200] * 20


class Host(asyncio.Protocol):
    def __init__(self) -> None:
        self.met: list[asyncio.BaseTransport] = []
        self.heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.met.append(transport)

    def data_received(self, data: bytes) -> None:
        self.heard += data


class Caller(asyncio.Transport):
    reading = True
    protocol: asyncio.BaseProtocol | None = None

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def is_closing(self) -> bool:
        return False


@pytest.mark.parametrize("late", [False, True])
def test_whoever_is_accepted_while_the_door_opens_is_shown_in_as_well(*, late: bool) -> None:
    """The loop makes a connection's protocol first, and tells it of the connection a moment later."""
    door, host, caller = Door(), Host(), Caller()
    waiting = door()
    if late:
        door.open(lambda: host)
    waiting.connection_made(caller)
    if not late:
        door.open(lambda: host)
    assert (host.met, caller.protocol, caller.reading) == ([caller], host, True)


def test_what_somebody_says_before_the_door_opens_is_passed_on_and_no_more_is_read_meanwhile() -> None:
    """A transport that is paused in `connection_made` reads all the same, before Python 3.11.4."""
    door, host, caller = Door(), Host(), Caller()
    waiting = cast("asyncio.Protocol", door())
    waiting.connection_made(caller)
    waiting.data_received(b"GET /healthz")
    assert not caller.reading
    door.open(lambda: host)
    assert (host.met, host.heard, caller.reading) == ([caller], b"GET /healthz", True)


async def test_the_socket_goes_with_the_face(opened, tmp_path: Path) -> None:
    async with opened():
        assert (tmp_path / "state" / "dreamd.sock").is_socket()
    assert list((tmp_path / "state").iterdir()) == []


async def test_nothing_listens_where_it_is_switched_off_and_the_task_goes_on(
    house,  # noqa: F811
    tmp_path: Path,
) -> None:
    home: House = house("anna")
    off = replace(home.parts, config=replace(home.parts.config, http=Http(listen="")))
    with anyio.move_on_after(0.05) as patience:
        await face(off, lambda: True, Threshold())
    assert patience.cancelled_caught
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize(
    ("listen", "reason"),
    [
        (f"unix:/tmp/{'d' * 120}", "longer than 107 bytes"),
        ("unix:/no/such/folder/d.sock", "No such file"),
        ("203.0.113.1:0", "others can reach"),
        ("nonsense", "write it as"),
        ("taken", "in use"),
    ],
)
async def test_what_keeps_it_from_listening_is_told_once_and_tried_again(
    house,  # noqa: F811
    listen: str,
    reason: str,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}" if listen == "taken" else listen
        home: House = house("anna")
        parts = replace(home.parts, config=replace(home.parts.config, http=Http(listen=listen)))
        async with Threshold() as threshold, anyio.create_task_group() as tasks:
            tasks.start_soon(face, parts, lambda: True, threshold)
            while home.clock.ticks < 4 * LONGEST_PAUSE_S:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    (told,) = home.told.named("http.unavailable")
    assert reason in str(told["reason"])
    assert told["listen"] == listen


async def test_a_port_that_comes_free_is_taken(house) -> None:  # noqa: F811
    home: House = house("anna")
    taken = socket.create_server(("127.0.0.1", 0))
    listen = f"127.0.0.1:{taken.getsockname()[1]}"
    parts = replace(home.parts, config=replace(home.parts.config, http=Http(listen=listen)))
    async with Threshold() as threshold, anyio.create_task_group() as tasks:
        tasks.start_soon(face, parts, lambda: True, threshold)
        while not home.told.named("http.unavailable"):
            await anyio.lowlevel.checkpoint()
        taken.close()
        while not home.told.named("http.opened"):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert [str(line["listen"]) for line in home.told.named("http.opened")] == [listen]


async def test_an_address_that_others_can_reach_needs_a_token_for_all_but_the_probes(opened) -> None:
    async with opened(tcp=True, listen_on="0.0.0.0") as door:
        answers = [(await door.client.get(path)).status_code for path in ("/v1/status", "/healthz")]
        del door.client.headers["authorization"]
        refused = [
            (await door.client.get(path)).status_code for path in ("/v1/status", "/metrics", "/healthz")
        ]
    assert answers == [200, 200]
    assert refused == [401, 401, 200]


GET = b"GET /healthz HTTP/1.1\r\nhost: d\r\nconnection: close\r\n\r\n"


@asynccontextmanager
async def living(home: House, threshold: Threshold, listen: str = "unix") -> AsyncIterator[None]:
    """One life of a daemon's face."""
    parts = replace(home.parts, config=replace(home.parts.config, http=Http(listen=listen)))
    home.told.events.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(face, parts, lambda: True, threshold)
        while not home.told.named("http.opened"):
            await anyio.lowlevel.checkpoint()
        yield
        tasks.cancel_scope.cancel()


async def test_whoever_comes_between_two_configurations_is_answered_by_the_next(
    house,  # noqa: F811
    tmp_path: Path,
) -> None:
    home, threshold, place = house("anna"), Threshold(), tmp_path / "state" / "dreamd.sock"
    async with living(home, threshold):
        pass
    async with await anyio.connect_unix(place) as visitor:
        await visitor.send(GET)
        async with living(home, threshold):
            assert b" 200 OK" in await visitor.receive()
    await to_thread.run_sync(threshold.close)
    assert not place.exists()


async def test_what_a_reload_broke_off_goes_on_under_the_next_configuration_though_nobody_knocks(
    house,  # noqa: F811
) -> None:
    home, threshold = house("anna"), Threshold()

    async def dreams(parts: Parts) -> tuple[Dreamt, ...]:
        assert parts.store is home.parts.store
        return ()

    errand = Errand(Job(id="1", kind="dreams", asked_at=home.clock.now()), dreams)
    threshold.errands["1"] = errand
    async with living(home, threshold):
        while errand.running:
            await anyio.lowlevel.checkpoint()
    assert (errand.job.state, errand.job.dreams) == ("done", ())
    await to_thread.run_sync(threshold.close)


async def test_what_a_reload_broke_off_is_ended_though_the_next_configuration_has_no_http(
    house,  # noqa: F811
) -> None:
    home, threshold = house("anna"), Threshold()

    async def dreams(_parts: Parts) -> tuple[Dreamt, ...]:
        return ()

    errand = Errand(Job(id="1", kind="dreams", asked_at=home.clock.now()), dreams)
    threshold.errands["1"] = errand
    off = replace(home.parts, config=replace(home.parts.config, http=Http(listen="")))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(face, off, lambda: True, threshold)
        with anyio.fail_after(60):
            while errand.running:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert errand.job.state == "done"


async def test_another_address_and_a_file_that_is_gone_make_a_new_socket(
    house,  # noqa: F811
    tmp_path: Path,
) -> None:
    home, threshold, place = house("anna"), Threshold(), tmp_path / "state" / "dreamd.sock"
    other = tmp_path / "other.sock"
    async with living(home, threshold):
        await to_thread.run_sync(place.unlink)
    async with living(home, threshold):
        assert place.is_socket()
    async with living(home, threshold, f"unix:{other}"):
        assert not place.exists()
        assert other.is_socket()
    await to_thread.run_sync(threshold.close)
    assert not other.exists()
