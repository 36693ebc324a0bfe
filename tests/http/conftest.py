"""A small house whose face is open: on a real socket, in the test's own loop, with a client at its door."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
import anyio.lowlevel
import httpx
import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.http.listening import Threshold, face
from dreamd.indexes.sqlite import SqliteIndex
from dreamd.memories import Memory
from dreamd.sections import Agent, Http
from dreamd.stores.base import Changes
from tests.night.conftest import House, house  # noqa: F401 - a fixture

TOKEN = "a-token-of-this-house"


@dataclass
class Door:
    """`client` speaks to the face; it bears the token where one is needed."""

    house: House
    client: httpx.AsyncClient
    listen: str

    def pools(self, *memories: Memory) -> None:
        self.house.parts.store.write(Changes(memories=memories))


def memory(memory_id: str, content: str = "Tea at four", agent: str = "anna", **fields: object) -> Memory:
    at = datetime.fromisoformat("2026-03-02T09:00:00Z")
    plain = Memory(
        memory_id=memory_id, type="raw", content=content, agent=agent, window=at.date(), received_at=at, role="user",
        origin="human", session_id="s", timestamp=at,
    )  # fmt: skip
    return replace(plain, **fields)


Opened = Callable[..., object]


@pytest.fixture
def opened(house: Callable[..., House], tmp_path: Path):  # noqa: F811
    """`async with opened() as door`; `tcp=True` on a loopback port, else on a Unix socket. `ready` is what readyz asks."""

    @asynccontextmanager
    async def opening(
        *agents: str,
        tcp: bool = False,
        listen_on: str = "127.0.0.1",
        token: bool = True,
        ready: Callable[[], bool] = lambda: True,
        **http: object,
    ) -> AsyncIterator[Door]:
        home = house(*(agents or ("anna",)), zone="UTC")
        (tmp_path / "token").write_text(TOKEN)
        settings = Http(
            listen=f"{listen_on}:0" if tcp else "unix",
            token_file=str(tmp_path / "token") if token else "",
            **http,
        )
        known = {
            **home.parts.config.agents,
            "tracy": Agent(format="trace", logs=(str(tmp_path / "traces"),), zone="UTC"),
        }
        home.parts = replace(
            home.parts,
            config=replace(home.parts.config, http=settings, agents=known),
            index=await to_thread.run_sync(SqliteIndex, home.parts.state),
        )
        async with Threshold() as threshold, anyio.create_task_group() as tasks:
            tasks.start_soon(face, home.parts, ready, threshold)
            while not home.told.named("http.opened"):
                await anyio.lowlevel.checkpoint()
            listen = str(home.told.named("http.opened")[0]["listen"])
            async with client_of(listen, token=token) as client:
                yield Door(home, client, listen)
            tasks.cancel_scope.cancel()
        await to_thread.run_sync(home.parts.index.close)

    return opening


_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # a client's own would read all the world's certificates


def client_of(listen: str, *, token: bool = True) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {TOKEN}"} if token else {}
    path = listen.removeprefix("unix:") if listen.startswith("unix:") else None
    transport = httpx.AsyncHTTPTransport(verify=_NO_TLS, uds=path)
    base = "http://dreamd" if path else f"http://{listen}"
    return httpx.AsyncClient(transport=transport, base_url=base, headers=headers, timeout=30)
