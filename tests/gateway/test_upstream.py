import ssl

import anyio

from dreamd.gateway.upstream import IDLE_S
from tests.gateway.house import Wire, house, ok, post, saying, until


async def test_calls_one_after_the_other_share_a_connection_whoever_makes_them() -> None:
    async with house(saying(ok())) as h:
        for _ in range(3):
            await h.ask(post())
        pool = h.gateway.pools["up"]
        assert (h.server.accepted, len(pool.open), pool.idle[0].calls) == (1, 1, 3)


async def test_a_connection_that_the_upstream_closes_is_forgotten() -> None:
    async def answer(wire: Wire) -> None:
        await wire.message()
        await wire.send(ok())

    async with house(answer) as h:
        await h.ask(post())
        await until(lambda: not h.gateway.pools["up"].open)
        assert h.gateway.pools["up"].idle == []


async def test_a_connection_of_which_the_upstream_says_that_it_closes_is_not_used_again() -> None:
    async with house(saying(ok(b"", b"Connection: close"))) as h:
        answers = [await h.ask(post()) for _ in range(2)]
        assert h.server.accepted == 2
        assert all("connection" not in answer.headers for answer in answers)


async def test_an_upstream_that_speaks_unasked_is_not_listened_to() -> None:
    go = anyio.Event()

    async def answer(wire: Wire) -> None:
        await wire.message()
        await wire.send(ok())
        await go.wait()
        await wire.send(ok(b"evil"))
        await wire.gone()

    async with house(answer) as h:
        await h.ask(post())
        go.set()
        await h.server.quiet()
        assert h.gateway.pools["up"].idle == []


async def test_a_connection_that_is_idle_for_long_is_closed() -> None:
    async with house(saying(ok())) as h:
        await h.ask(post())
        pool = h.gateway.pools["up"]
        pool.close_idle(pool.idle[0].idle_since)
        assert len(pool.idle) == 1
        pool.close_idle(pool.idle[0].idle_since + IDLE_S)
        await h.server.quiet()
        assert pool.idle == []


async def test_an_upstream_that_does_not_speak_tls_is_an_error_of_the_gateway() -> None:
    async def answer(wire: Wire) -> None:
        await wire.reader.read(1)
        await wire.send(b"what?")

    async with house(answer) as h:
        pool = h.gateway.pools["up"]
        pool.upstream = type(pool.upstream)(**{**_fields(pool.upstream), "tls": True})
        pool._tls = ssl.create_default_context()
        answer = await h.ask(post())
        assert answer.status == 502
        assert "cannot be reached" in answer.json["error"]["message"]


def _fields(struct) -> dict:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}
