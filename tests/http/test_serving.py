"""How the face ends: answers under way may finish, streams may not, nothing is left behind."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from dreamd.http import serving
from dreamd.parts import Parts
from tests.http.test_mounting import loading


async def test_an_answer_under_way_is_finished_before_the_face_closes(opened) -> None:
    """The body of the request comes when the face is closing already."""
    async with opened() as door:
        visitor = await anyio.connect_unix(door.listen.removeprefix("unix:"))
        await visitor.send(
            b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n"
        )
        await door.client.get("/healthz")  # by now the head of the other was read
        await visitor.send(b"{}")
    async with visitor:
        assert (await visitor.receive()).startswith(b"HTTP/1.1 422 ")


async def test_a_stream_that_does_not_end_is_ended(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "STOP_S", 0.05)
    loading(monkeypatch, lambda: streaming)
    async with opened() as door:
        visitor = await anyio.connect_unix(door.listen.removeprefix("unix:"))
        await visitor.send(b"GET /mcp HTTP/1.1\r\nhost: d\r\n\r\n")
        assert b"200 OK" in await visitor.receive()
    async with visitor:
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await heard(visitor)


async def heard(visitor: anyio.abc.ByteReceiveStream) -> None:
    while True:
        await visitor.receive()


@asynccontextmanager
async def streaming(_parts: Parts) -> AsyncIterator[ASGIApp]:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await anyio.sleep_forever()

    yield app


async def test_an_idle_connection_is_closed_at_once(opened) -> None:
    async with opened() as door:
        visitor = await anyio.connect_unix(door.listen.removeprefix("unix:"))
        await visitor.send(b"GET /healthz HTTP/1.1\r\nhost: d\r\n\r\n")
        await visitor.receive()
    async with visitor:
        with pytest.raises(anyio.EndOfStream):
            await visitor.receive()


async def test_a_job_does_not_keep_the_face_from_closing(opened) -> None:
    async with opened() as door:
        job = (await door.client.post("/v1/nights", json={"agents": ["anna"]})).json()
    assert job["state"] == "running"
