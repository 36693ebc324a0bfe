"""What clients may do, and what comes of it."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import anyio
import anyio.lowlevel
import pytest

from dreamd.gateway.client import Incoming
from dreamd.gateway.serve import Gateway
from dreamd.gateway.settings import settled
from dreamd.gateway.upstream import Outgoing
from dreamd.sections import Gateway as Section
from tests.gateway.house import PATH, House, Lanes, Message, Wire, get, house, ok, post, saying, until

CHUNKED = b"POST %b HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" % PATH


async def test_a_request_may_come_byte_by_byte() -> None:
    seen: list[Message] = []
    async with house(saying(ok(), seen=seen)) as h:
        client = await h.client()
        for byte in post(b'{"a": 1}'):
            await client.send(bytes([byte]))
            await anyio.lowlevel.checkpoint()
        assert (await client.message()).status == 200
    assert seen[0].body == b'{"a": 1}'


async def test_requests_sent_ahead_are_answered_in_turn() -> None:
    seen: list[Message] = []
    async with house(saying(ok(b"1"), ok(b"2"), ok(b"3"), seen=seen)) as h:
        client = await h.client()
        await client.send(post(b"a") + get() + post(b"c"))
        assert [(await client.message()).body for _ in range(3)] == [b"1", b"2", b"3"]
    assert [request.body for request in seen] == [b"a", b"", b"c"]


async def test_more_sent_ahead_than_is_held_waits_in_the_clients_socket_and_is_answered_too() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        many = 40
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.send, post(b"x" * 10_000) * many)
            for _ in range(many):
                assert (await client.message()).status == 200


async def test_a_request_in_chunks_with_trailers_passes_so() -> None:
    seen: list[Message] = []
    async with house(saying(ok(), seen=seen)) as h:
        client = await h.client()
        await client.send(
            CHUNKED + b"Trailer: X-Sum\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 6\r\n\r\n"
        )
        assert (await client.message()).status == 200
    assert (seen[0].body, seen[0].trailers) == (b"hello!", b"X-Sum: 6\r\n")


async def test_what_follows_a_chunked_request_in_one_piece_ends_the_connection_after_the_answer() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(CHUNKED + b"\r\n0\r\n\r\n" + get())
        assert (await client.gone()).count(b"HTTP/1.1 200") == 1


async def test_a_client_that_waits_for_leave_to_send_gets_it_and_its_upstream_is_not_asked() -> None:
    seen: list[Message] = []
    async with house(saying(ok(), seen=seen)) as h:
        client = await h.client()
        await client.send(post(b"body", b"Expect: 100-continue").removesuffix(b"body"))
        assert (await client.head()).status == 100
        await client.send(b"body")
        assert (await client.message()).status == 200
    assert (seen[0].body, "expect" in seen[0].headers) == (b"body", False)


async def test_an_older_client_is_answered_without_chunks_and_its_connection_closed() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    async with house(saying(chunked)) as h:
        client = await h.client()
        await client.send(b"GET %b HTTP/1.0\r\nHost: localhost\r\n\r\n" % PATH)
        head, _, body = (await client.gone()).partition(b"\r\n\r\n")
    assert body == b"ok"
    assert b"Connection: close" in head
    assert b"ransfer" not in head


async def test_a_client_that_says_close_is_closed_and_the_upstreams_connection_kept() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(post(b"{}", b"Connection: close"))
        assert b"Connection: close" in await client.gone()
        assert len(h.gateway.pools["up"].idle) == 1


@pytest.mark.parametrize(
    "request_",
    [
        CHUNKED + b"Content-Length: 3\r\n\r\n0\r\n\r\n",
        post(b"abc", b"Content-Length: 4"),
        b"POST %b HTTP/1.1\nHost: localhost\n\n\r\n\r\n" % PATH,
        b"CONNECT up:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\r\n\r\n",
    ],
)
async def test_what_could_be_read_in_two_ways_reaches_no_upstream(request_: bytes) -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(request_)
        assert (await client.message()).status == 400
        assert await client.gone() == b""
        assert h.server.accepted == 0


async def test_a_body_that_is_no_chunks_ends_the_call_and_the_upstreams_connection() -> None:
    async def answer(wire: Wire) -> None:
        await wire.head()
        assert b"0\r\n\r\n" not in await wire.gone()

    async with house(answer) as h:
        client = await h.client()
        await client.send(CHUNKED + b"\r\n2\r\nok\r\n")
        await until(lambda: h.server.open)
        await client.send(b"nonsense\r\n")
        assert (await client.message()).status == 400
        await h.server.quiet()


async def test_nor_is_anything_left_when_it_comes_with_the_head() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(CHUNKED + b"\r\nnonsense\r\n")
        assert (await client.message()).status == 400
        assert h.lanes.calls[0].told == ["done"]


async def test_whatever_clients_and_upstreams_say_in_whatever_pieces_nothing_is_left_of_it() -> None:
    """Without sockets: bytes cut, changed, left out and repeated, then both sides go."""
    lanes = Lanes()
    settings = settled(Section(listen="127.0.0.1:1", upstreams={"up": "http://127.0.0.1:2"}))
    gateway = Gateway(settings, lanes, lambda _task: None)
    asks = post(b"body") + CHUNKED + b"\r\n4\r\nbody\r\n0\r\nX-T: 1\r\n\r\n" + get(method=b"HEAD")
    stream = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    answers = ok(b"hello") + b"HTTP/1.1 100 Continue\r\n\r\n" + stream + ok(b"")
    draw = random.Random(7)
    for _ in range(3000):
        outgoing, incoming = Outgoing(gateway.pools["up"]), Incoming(gateway)
        outgoing.connection_made(Still())
        gateway.pools["up"].give(outgoing)
        incoming.connection_made(Still())
        pieces = [(incoming, piece) for piece in _cut(_changed(asks, draw), draw)]
        pieces += [(outgoing, piece) for piece in _cut(_changed(answers, draw), draw)]
        if draw.random() < 0.5:
            draw.shuffle(pieces)
        for end, piece in pieces:
            if not transport(end).is_closing():
                end.received(piece)
        for end in draw.sample([incoming, outgoing], 2):
            end.connection_lost(None)
        counters = gateway.counters
        assert (counters.under_way, counters.announced, len(gateway.clients)) == (0, 0, 0)
        assert (gateway.pools["up"].open, gateway.pools["up"].idle) == (set(), [])
    assert all(call.told.count("done") == 1 for call in lanes.calls)
    assert {call.status for call in lanes.calls} >= {0, 200}


def transport(end: Incoming | Outgoing) -> asyncio.Transport:
    return end._transport if isinstance(end, Incoming) else end.transport


class Still(asyncio.Transport):
    """A transport that goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.closing = False

    def write(self, data: bytes) -> None:
        assert data

    def write_eof(self) -> None: ...

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        self.closing = True

    abort = close

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0


def _changed(data: bytes, draw: random.Random) -> bytes:
    at, to = sorted(draw.choices(range(len(data)), k=2))
    how = draw.randrange(5)
    if how == 0:
        return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    if how == 1:
        return data[:at] + data[to:]
    return data if how == 2 else data[:to] + data[at:] if how == 3 else data[:at]


def _cut(data: bytes, draw: random.Random) -> list[bytes]:
    places = sorted(draw.choices(range(len(data) + 1), k=draw.randrange(6)))
    return [piece for at, to in pairwise([0, *places, len(data)]) if (piece := data[at:to])]


async def test_a_head_without_end_is_refused() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(b"GET /up/ HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000)
        assert (await client.message()).status == 431


async def test_a_head_that_is_too_long_is_refused_though_complete() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(get(PATH, b"X: " + b"x" * 70_000))
        assert (await client.message()).status == 431


async def test_a_long_head_within_the_limit_passes() -> None:
    async with house(saying(ok())) as h:
        assert (await h.ask(get(PATH, b"X: " + b"x" * 60_000))).status == 200


async def test_a_head_that_does_not_come_to_its_end_is_not_waited_for() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(b"GET /up/ HTTP/1.1\r\nHost: ")
        await until(lambda: any(one._data for one in h.gateway.clients))
        h.expire()
        assert (await client.message()).status == 408


async def test_a_body_that_stops_coming_is_not_waited_for_and_its_upstream_let_go() -> None:
    async def answer(wire: Wire) -> None:
        await wire.head()
        await wire.gone()

    async with house(answer) as h:
        client = await h.client()
        await client.send(post(b"x" * 10).removesuffix(b"xx"))
        await until(lambda: h.server.open)
        h.expire()
        assert (await client.message()).status == 408
        await h.server.quiet()


async def test_a_connection_that_is_idle_for_long_is_closed_without_a_word() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(post())
        await client.message()
        h.expire()
        assert await client.gone() == b""


@asynccontextmanager
async def hardly_reading() -> AsyncIterator[tuple[House, Incoming, Wire]]:
    """An answer of which much is still in the gateway, though its call is over."""
    async with house(saying(ok(b"x" * 80_000))) as h:
        client = await h.client()
        client.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.writer.transport.pause_reading()
        await until(lambda: h.gateway.clients)
        (incoming,) = h.gateway.clients
        held = incoming._transport.get_extra_info("socket")
        held.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        await client.send(post())
        await until(lambda: h.gateway.counters.calls == 1)
        await h.settled()
        assert incoming._transport.get_write_buffer_size() > 0
        yield h, incoming, client


async def test_a_client_that_reads_slowly_has_its_answer_whole() -> None:
    async with hardly_reading() as (h, incoming, client):
        h.expire()
        before = incoming._transport.get_write_buffer_size()
        client.writer.transport.resume_reading()
        await until(lambda: incoming._transport.get_write_buffer_size() < before)
        h.expire()
        assert (await client.message()).body == b"x" * 80_000


async def test_one_that_stopped_reading_is_cut_off_at_last() -> None:
    async with hardly_reading() as (h, _, client):
        h.expire()
        assert h.gateway.clients
        h.expire()
        h.expire()
        await until(lambda: not h.gateway.clients)
        client.writer.transport.resume_reading()
        assert len(await client.gone()) < 80_000


async def test_a_call_that_waits_for_its_answer_is_never_too_late() -> None:
    asked, late = anyio.Event(), anyio.Event()

    async def answer(wire: Wire) -> None:
        await wire.message()
        asked.set()
        await late.wait()
        await wire.send(ok())

    async with house(answer) as h:
        client = await h.client()
        await client.send(post())
        await asked.wait()
        h.expire()
        late.set()
        assert (await client.message()).status == 200


async def test_a_refusal_reaches_a_client_that_still_sends() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.send, post(b"x" * 3_000_000, path=b"/nowhere/v1"))
            assert (await client.message()).status == 404


async def test_a_client_that_does_not_go_after_a_refusal_is_cut_off() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(post(path=b"/nowhere/v1"))
        await client.message()
        await client.send(b"still here")
        h.expire()
        await client.gone()
        await until(lambda: not h.gateway.clients)
        assert h.gateway.counters.refused == 1
