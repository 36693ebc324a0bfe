"""What clients may do, and what comes of it."""

import anyio
import anyio.lowlevel
import pytest

from tests.gateway.house import PATH, Message, Wire, get, house, ok, post, saying, until

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
