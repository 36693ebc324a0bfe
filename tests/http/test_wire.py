"""What a connection bears: large heads, slow heads, too many, no HTTP at all."""

import re

import anyio
import httpx
import pytest

from dreamd.http import wire
from tests.http.conftest import Door

GET = b"GET /healthz HTTP/1.1\r\nhost: d\r\n"


async def spoken(door: Door, *pieces: bytes) -> bytes:
    """All that comes back until the face closes the connection."""
    heard = b""
    async with await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
        try:
            for piece in pieces:
                await visitor.send(piece)
            while True:
                heard += await visitor.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return heard


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"HELO there\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nhost: d\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
        b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-length: -3\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost : d\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused_in_one_line(opened, nonsense: bytes) -> None:
    async with opened() as door:
        heard = await spoken(door, nonsense)
        assert (await door.client.get("/healthz")).status_code == 200
    head, _, body = heard.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"application/problem+json" in head
    assert b"\n" not in body


@pytest.mark.parametrize(
    "head",
    [
        (GET + b"x: " + b"y" * wire.HEAD_BYTES + b"\r\n\r\n",),
        (GET, *(b"x-%d: y\r\n" % number for number in range(8000)), b"\r\n"),
        (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n",),
        (GET + b"x: ", *(b"y" * 8192 for _ in range(100))),  # one header that never ends
    ],
    ids=["long", "many", "path", "endless"],
)
async def test_a_head_that_is_too_large_is_refused(opened, head: tuple[bytes, ...]) -> None:
    async with opened() as door:
        assert (await spoken(door, *head)).startswith(b"HTTP/1.1 431 ")


async def test_trailers_count_as_head(opened) -> None:
    start = b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
    async with opened() as door:
        heard = await spoken(door, start, *(b"x-%d: y\r\n" % number for number in range(8000)))
    assert b" 431 " in heard or heard == b""


async def test_whoever_takes_too_long_to_ask_is_left(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "HEAD_S", 0.05)
    async with opened() as door:
        assert await spoken(door) == b""
        assert await spoken(door, b"GET /healthz HT") == b""
        assert await spoken(door, b"\r\n") == b""


async def test_an_idle_connection_is_closed_after_its_answer(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dreamd.http.serving.KEEP_ALIVE_S", 0.05)
    async with opened() as door:
        assert (await spoken(door, GET + b"\r\n")).startswith(b"HTTP/1.1 200 OK")


async def test_an_answer_that_nobody_reads_is_given_up(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "UNREAD_S", 0.05)
    many = (b"GET /openapi.json HTTP/1.1\r\nhost: d\r\n\r\n") * 200
    async with opened(requests_per_minute=0) as door:
        with pytest.raises(anyio.BrokenResourceError):
            await asks_for_ever(door, many)
        assert (await door.client.get("/healthz")).status_code == 200


async def asks_for_ever(door: Door, question: bytes) -> None:
    async with await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
        while True:
            await visitor.send(question)


async def test_an_upgrade_is_answered_and_the_connection_closed(opened) -> None:
    asked = GET + b"connection: upgrade\r\nupgrade: h2c\r\n\r\n"
    async with opened() as door:
        heard = await spoken(door, asked)
    assert heard.startswith(b"HTTP/1.1 200 OK")
    assert b"connection: close" in heard


async def test_pipelined_requests_are_answered_in_order(opened) -> None:
    async with opened() as door:
        heard = await spoken(
            door,
            GET + b"\r\n",
            b"GET /nothing HTTP/1.1\r\nhost: d\r\n\r\n" + GET + b"connection: close\r\n\r\n",
        )
    assert [heard.index(b" 200 "), heard.index(b" 404 "), heard.rindex(b" 200 ")] == sorted(
        [heard.index(b" 200 "), heard.index(b" 404 "), heard.rindex(b" 200 ")]
    )
    assert heard.count(b"HTTP/1.1 ") == 3


NONSENSE = b"nonsense\r\n\r\n"
RECALL = b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-type: application/json\r\n"
CHUNKED = RECALL + b"transfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("pieces", "statuses"),
    [
        ((GET + b"\r\n" + NONSENSE,), [b"200"]),
        ((CHUNKED + b"2\r\n{}\r\n0\r\n\r\n" + GET + b"\r\n" + NONSENSE,), [b"422", b"200"]),
        ((GET + b"\r\n" + CHUNKED + b"zz\r\n",), [b"200"]),
        ((CHUNKED, b"zz\r\n"), [b"400"]),
        ((CHUNKED + b"2\r\n{}\r\n", b"zz\r\n"), [b"400"]),
        (((GET + b"\r\n") * 5000,), [b"200"] * (wire.MOST_WAITING + 1)),
    ],
    ids=["after one", "after two", "a body behind another", "a body at once", "a body", "a pile"],
)
async def test_answers_that_are_owed_are_given_whole_before_the_rest_is_refused(
    opened, pieces: tuple[bytes, ...], statuses: list[bytes]
) -> None:
    async with opened(requests_per_minute=0) as door:
        heard = await spoken(door, *pieces)
        failed = door.house.told.named("request.failed")
    assert re.findall(rb"HTTP/1\.1 (\d+)", heard) == statuses
    assert failed == []


async def test_a_large_body_between_two_heads_is_not_part_of_them(opened) -> None:
    body = b"{" + b" " * wire.HEAD_BYTES + b"}"
    first = RECALL + b"content-length: %d\r\n\r\n" % len(body) + body
    async with opened() as door:
        heard = await spoken(door, first[:9], first[9:] + GET, b"connection: close\r\n\r\n")
    assert re.findall(rb"HTTP/1\.1 (\d+)", heard) == [b"422", b"200"]


async def test_whoever_has_said_all_still_hears_the_answer(opened) -> None:
    async with opened() as door, await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
        await visitor.send(GET + b"\r\n")
        await visitor.send_eof()
        assert b" 200 OK" in await visitor.receive()
        with pytest.raises(anyio.EndOfStream):
            await visitor.receive()


async def test_whoever_goes_amid_a_body_is_no_bug(opened) -> None:
    async with opened() as door:
        async with await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
            await visitor.send(RECALL + b"content-length: 9\r\n\r\n{")
        assert (await door.client.get("/healthz")).status_code == 200
        assert door.house.told.named("request.failed") == []


async def test_whoever_waits_for_leave_to_send_is_not_kept_waiting(opened) -> None:
    start = (
        b"POST /v1/recall HTTP/1.1\r\nhost: d\r\nexpect: 100-continue\r\ncontent-type: application/json\r\n"
    )
    async with opened() as door:
        async with await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
            await visitor.send(start + b"content-length: 2\r\n\r\n")
            assert await visitor.receive() == b"HTTP/1.1 100 Continue\r\n\r\n"
            await visitor.send(b"{}")
            assert b" 422 " in await visitor.receive()
        async with await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
            await visitor.send(start + b"content-length: 99999999\r\n\r\n")
            assert b" 413 " in await visitor.receive()


async def test_there_are_only_so_many_connections_and_the_next_is_told(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MOST_CONNECTIONS", 2)
    async with opened() as door:
        assert (await door.client.get("/healthz")).status_code == 200
        path = door.listen.removeprefix("unix:")
        async with await anyio.connect_unix(path) as one:
            await one.send(GET + b"\r\n")
            await one.receive()
            heard = await spoken(door, GET + b"\r\n")
        assert heard.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in heard
        metrics = (await door.client.get("/metrics")).text
    assert "dreamd_http_turned_away_total 1\n" in metrics


def test_a_process_that_may_open_few_files_takes_few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _what: (64, 64))
    assert wire.most_connections() == 16
    monkeypatch.setattr("resource.getrlimit", lambda _what: (-1, -1))
    assert wire.most_connections() == wire.MOST_CONNECTIONS


async def test_uvicorn_says_nothing(opened, capfd: pytest.CaptureFixture[str]) -> None:
    async with opened() as door:
        await spoken(door, b"nonsense\r\n\r\n")
        await spoken(door, GET + b"connection: upgrade\r\nupgrade: h2c\r\n\r\n")
        assert isinstance(door.client, httpx.AsyncClient)
    assert capfd.readouterr() == ("", "")
