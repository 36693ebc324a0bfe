"""What upstreams may do, and what comes of it."""

import gzip
import os

import anyio
import anyio.lowlevel
import pytest

from dreamd.gateway.call import STALE_S
from tests.gateway.house import Answer, Message, Wire, get, house, ok, post, saying, until

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def then(*pieces: bytes, end: str = "hang") -> Answer:
    """An upstream that says so much and then hangs, closes or resets."""

    async def answer(wire: Wire) -> None:
        await wire.message()
        for piece in pieces:
            await wire.send(piece)
        if end == "hang":
            await wire.gone()
        if end == "reset":
            wire.reset()

    return answer


async def test_a_stream_passes_chunk_by_chunk_with_its_trailers() -> None:
    body = b"6\r\ndata: \r\n1;x=y\r\n1\r\n0\r\nX-Sum: 7\r\n\r\n"
    async with house(saying(STREAM + body)) as h:
        answer = await h.ask(post())
    assert (answer.body, answer.trailers) == (b"data: 1", b"X-Sum: 7\r\n")


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_an_answer_cut_into_pieces_of_any_size_is_the_same(size: int) -> None:
    whole = STREAM + b"5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n"

    async def answer(wire: Wire) -> None:
        await wire.message()
        for at in range(0, len(whole), size):
            await wire.send(whole[at : at + size])
            await anyio.lowlevel.checkpoint()

    async with house(answer) as h:
        assert (await h.ask(post())).body == b"hello, world"


async def test_bodies_are_not_understood_gzip_and_wrong_types_pass() -> None:
    packed = gzip.compress(b"{}")
    async with house(saying(ok(packed, b"Content-Encoding: gzip", b"Content-Type: text/html"))) as h:
        assert (await h.ask(post())).body == packed


async def test_an_older_upstream_ends_its_answer_by_closing() -> None:
    async with house(then(b"HTTP/1.0 200 OK\r\n\r\nhello", end="close")) as h:
        answer = await h.ask(post())
        assert (answer.headers, answer.body) == ({"transfer-encoding": "chunked"}, b"hello")
        assert h.gateway.pools["up"].idle == []


@pytest.mark.parametrize(
    ("method", "raw"),
    [
        (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
        (b"GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
        (b"GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"),
    ],
)
async def test_answers_without_a_body_have_none(method: bytes, raw: bytes) -> None:
    async def answer(wire: Wire) -> None:
        while True:
            await wire.message()
            await wire.send(raw)

    async with house(answer) as h:
        client = await h.client()
        for _ in range(2):
            await client.send(get(method=method))
            head = await client.message(bodiless=True)
            assert head.headers == ({"content-length": "99"} if b"99" in raw else {})
        assert h.server.accepted == 1


async def test_interim_answers_pass_and_are_not_the_answer() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    async with house(saying(early + early + ok())) as h:
        client = await h.client()
        await client.send(post())
        assert [(await client.head()).status for _ in range(2)] == [103, 103]
        assert (await client.message()).status == 200
        assert h.lanes.calls[0].status == 200


async def test_an_upstream_that_says_nothing_but_interim_answers_is_not_listened_to() -> None:
    async with house(saying(b"HTTP/1.1 102 Processing\r\n\r\n" * 2000)) as h:
        client = await h.client()
        await client.send(post())
        while (answer := await client.head()).status == 102:
            pass
        assert answer.status == 502


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nConte"])
async def test_an_upstream_that_breaks_off_before_its_answer_is_an_error_of_the_gateway(
    end: str, said: bytes
) -> None:
    async with house(then(said, end=end) if said else then(end=end)) as h:
        answer = await h.ask(post())
        assert answer.status == 502
        assert answer.json["error"]["code"] == "dreamd_gateway"


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize(
    "said",
    [
        STREAM,
        STREAM + b"5\r\nhel",
        STREAM + b"5\r\nhello\r\n",
        STREAM + b"5\r\nhello\r\n0\r\nX-Su",
        b"HTTP/1.1 200 OK\r\nContent-Length: 51\r\n\r\nhello",
    ],
)
async def test_an_answer_that_breaks_off_does_not_look_complete(end: str, said: bytes) -> None:
    async with house(then(said, end=end)) as h:
        client = await h.client()
        await client.send(post())
        heard = await client.gone()
        assert b"0\r\n\r\n" not in heard
        await h.settled()
        assert h.gateway.counters.broken_off + h.gateway.counters.refused == 1


async def test_nor_does_one_without_length_to_an_older_client() -> None:
    async with house(then(b"HTTP/1.0 200 OK\r\n\r\nhello", end="reset")) as h:
        client = await h.client()
        await client.send(post().replace(b"HTTP/1.1", b"HTTP/1.0"))
        await client.gone()
        await h.settled()
        assert h.gateway.counters.broken_off + h.gateway.counters.refused == 1


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
)
async def test_an_upstream_that_does_not_speak_http_is_an_error_of_the_gateway(said: bytes) -> None:
    async with house(then(said)) as h:
        assert (await h.ask(post())).status == 502
        await h.server.quiet()


async def test_chunks_that_are_none_break_the_answer_off() -> None:
    async with house(then(STREAM + b"2\r\nok\r\n", b"nonsense\r\n")) as h:
        client = await h.client()
        await client.send(post())
        assert b"0\r\n\r\n" not in await client.gone()


async def test_more_than_was_announced_is_not_passed_on_and_the_connection_not_used_again() -> None:
    async with house(then(ok(b"hello") + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")) as h:
        client = await h.client()
        await client.send(post())
        assert (await client.message()).body == b"hello"
        await client.send(post())
        assert (await client.message()).body == b"hello"
        assert h.server.accepted == 2


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n", STREAM, STREAM + b"2\r\nok\r\n"])
@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_client_that_goes_ends_the_upstreams_work_at_once(said: bytes, end: str) -> None:
    async with house(then(said) if said else then()) as h:
        client = await h.client()
        await client.send(post())
        await until(lambda: h.server.open)
        if end == "close":
            await client.close()
        else:
            client.reset()
        await h.server.quiet()
        assert h.gateway.counters.client_gone == 1
        assert h.lanes.calls[0].told[-1] == "done"


async def test_a_client_that_goes_while_its_request_is_under_way_ends_it() -> None:
    async def answer(wire: Wire) -> None:
        await wire.head()
        await wire.gone()

    async with house(answer) as h:
        client = await h.client()
        await client.send(post(b"x" * 100).removesuffix(b"x"))
        await until(lambda: h.server.open)
        await client.close()
        await h.server.quiet()


async def test_a_request_is_sent_again_when_a_kept_connection_turns_out_to_be_closed() -> None:
    seen: list[Message] = []

    async def answer(wire: Wire) -> None:
        seen.append(await wire.message())
        await wire.send(ok())
        seen.append(await wire.message())  # and closes without an answer

    async with house(answer) as h:
        client = await h.client()
        await client.send(post(b"1"))
        assert (await client.message()).status == 200
        await client.send(post(b"2"))
        assert (await client.message()).status == 200
        assert h.gateway.counters.repeated == 1
        assert [message.body for message in seen] == [b"1", b"2", b"2"]


async def test_but_not_when_the_upstream_may_have_worked_on_it_meanwhile() -> None:
    asked, ending = anyio.Event(), anyio.Event()

    async def answer(wire: Wire) -> None:
        await wire.message()
        await wire.send(ok())
        await wire.message()
        asked.set()
        await ending.wait()

    async with house(answer) as h:
        client = await h.client()
        await client.send(post())
        await client.message()
        await client.send(post())
        await asked.wait()
        now = h.gateway.time()
        h.gateway.time = lambda: now + STALE_S
        ending.set()
        assert (await client.message()).status == 502
        assert (h.gateway.counters.repeated, h.server.accepted) == (0, 1)


async def test_but_not_on_a_new_connection_nor_twice_nor_once_a_byte_was_answered() -> None:
    asked = 0

    async def answer(wire: Wire) -> None:
        nonlocal asked
        await wire.message()
        asked += 1
        if asked == 1:
            await wire.send(ok())
            await wire.message()
            asked += 1
            await wire.send(b"HTTP/1.1 2")

    async with house(answer) as h:
        client = await h.client()
        await client.send(post())
        assert (await client.message()).status == 200
        await client.send(post())
        assert (await client.message()).status == 502
        assert (await h.ask(post())).status == 502
        assert (h.gateway.counters.repeated, asked) == (0, 3)


async def test_a_request_too_large_to_keep_is_not_sent_again() -> None:
    async def answer(wire: Wire) -> None:
        await wire.message()
        await wire.send(ok())
        await wire.message()

    async with house(answer) as h:
        client = await h.client()
        await client.send(post())
        await client.message()
        await client.send(post(b"x" * 300_000))
        assert (await client.message()).status == 502


async def test_an_answer_before_the_end_of_the_request_passes_and_ends_both_connections() -> None:
    async def answer(wire: Wire) -> None:
        await wire.head()
        await wire.send(ok(b"too much", status=b"413 Content Too Large"))
        await wire.gone()

    async with house(answer) as h:
        client = await h.client()
        await client.send(post(b"x" * 1000).removesuffix(b"x"))
        answer_ = await client.message()
        assert (answer_.status, answer_.body, answer_.headers["connection"]) == (413, b"too much", "close")
        assert await client.gone() == b""
        await h.server.quiet()


async def test_an_upload_larger_than_any_buffer_arrives_whole() -> None:
    seen: list[Message] = []
    body = os.urandom(8 << 20)
    async with house(saying(ok(), seen=seen)) as h:
        assert (await h.ask(post(body))).status == 200
    assert seen[0].body == body


async def test_an_upstream_that_does_not_read_stops_the_client_from_being_read() -> None:
    go = anyio.Event()

    async def answer(wire: Wire) -> None:
        wire.writer.transport.pause_reading()
        await go.wait()
        wire.writer.transport.resume_reading()
        await wire.message()
        await wire.send(ok())

    async with house(answer) as h:
        client = await h.client()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.send, post(b"x" * (32 << 20)))
            await until(lambda: _held(h, outward=True) > 65536)
            for _ in range(200):
                await anyio.lowlevel.checkpoint()
            assert _held(h, outward=True) < 1 << 20
            go.set()
            assert (await client.message()).status == 200


async def test_a_client_that_does_not_read_stops_the_upstream_from_being_read() -> None:
    body = b"x" * (32 << 20)
    async with house(saying(ok(body))) as h:
        client = await h.client()
        client.writer.transport.pause_reading()
        await client.send(post())
        await until(lambda: _held(h, outward=False) > 65536)
        for _ in range(200):
            await anyio.lowlevel.checkpoint()
        assert _held(h, outward=False) < 1 << 20
        client.writer.transport.resume_reading()
        assert (await client.message()).body == body
        await client.send(post())
        assert (await client.message()).body == body


def _held(h, *, outward: bool) -> int:
    """Bytes that the gateway holds for the upstream, or for the client."""
    ends = h.gateway.pools["up"].open if outward else h.gateway.clients
    return sum((end.transport if outward else end._transport).get_write_buffer_size() for end in ends)


async def test_another_protocol_is_passed_through_both_ways_and_is_no_longer_foreground() -> None:
    async def answer(wire: Wire) -> None:
        request = await wire.head()
        assert (request.headers["connection"], request.headers["upgrade"]) == ("Upgrade", "websocket")
        switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
        await wire.send(switching + b"Sec-WebSocket-Accept: x\r\n\r\nhello")
        while data := await wire.reader.read(100):
            await wire.send(data.upper())

    async with house(answer) as h:
        client = await h.client()
        await client.send(get(b"/up/v1/realtime", b"Connection: Upgrade", b"Upgrade: websocket"))
        head = await client.head()
        assert (head.status, head.headers["upgrade"], head.headers["sec-websocket-accept"]) == (
            101,
            "websocket",
            "x",
        )
        assert await client.reader.readexactly(5) == b"hello"
        await client.send(b"\x00ping\r\n\r\n")
        assert await client.reader.readexactly(9) == b"\x00PING\r\n\r\n"
        assert h.lanes.calls[0].told == ["answered", "done"]
        await client.close()
        await h.server.quiet()


async def test_an_upgrade_that_the_upstream_declines_is_an_answer_like_any_other() -> None:
    async with house(saying(ok(status=b"426 Upgrade Required"))) as h:
        client = await h.client()
        for _ in range(2):
            await client.send(get(b"/up/x", b"Connection: Upgrade", b"Upgrade: websocket"))
            assert (await client.message()).status == 426


async def test_a_thousand_streams_at_once_all_come_to_their_end() -> None:
    many, here = 1000, anyio.Event()
    asked = 0

    async def answer(wire: Wire) -> None:
        nonlocal asked
        await wire.message()
        await wire.send(STREAM + b"2\r\nhi\r\n")
        asked += 1
        if asked == many:
            here.set()
        await here.wait()
        await wire.send(b"3\r\nbye\r\n0\r\n\r\n")
        await wire.gone()

    async with house(answer) as h:
        bodies: list[bytes] = []

        async def ask() -> None:
            bodies.append((await h.ask(post())).body)

        async with anyio.create_task_group() as tasks:
            for _ in range(many):
                tasks.start_soon(ask)
            await here.wait()
            assert (h.gateway.counters.under_way, h.gateway.counters.announced) == (many, many)
        assert bodies == [b"hibye"] * many
