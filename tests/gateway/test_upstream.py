import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from dreamd.gateway.dialling import Dialler
from dreamd.gateway.upstream import IDLE_S
from tests.gateway.house import House, Message, Wire, house, ok, post, saying, until


async def test_calls_one_after_the_other_share_a_connection_whoever_makes_them() -> None:
    async with house(saying(ok())) as h:
        for _ in range(3):
            await h.ask(post())
        pool = h.gateway.pools["up"]
        assert (h.server.accepted, len(pool.open), pool.idle[0].calls) == (1, 1, 3)


async def test_neither_end_of_a_call_holds_back_the_last_bytes_of_what_it_sends() -> None:
    async with house(saying(ok())) as h:
        client = await h.client()
        await client.send(post())
        await client.message()
        (incoming,), (outgoing,) = h.gateway.clients, h.gateway.pools["up"].open
        for end in (incoming._transport, outgoing.transport):
            assert end.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


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


async def over_tls(h: House, trusting: ssl.SSLContext) -> Message:
    pool = h.gateway.pools["up"]
    pool.upstream = replace(pool.upstream, tls=True, host="localhost")
    pool.tls = trusting
    pool._dialler = Dialler("localhost", pool.upstream.port, h.gateway.time)
    return await h.ask(post(b"x" * 200_000))


async def test_an_upstream_that_does_not_speak_tls_is_an_error_of_the_gateway() -> None:
    async def answer(wire: Wire) -> None:
        await wire.reader.read(1)
        await wire.send(b"what?")

    async with house(answer) as h:
        answer_ = await over_tls(h, ssl.create_default_context())
        assert answer_.status == 502
        assert "cannot be reached" in answer_.json["error"]["message"]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of localhost, signed by itself, made now; with its key in one file."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("needs openssl")
    made = tmp_path / "cert.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    words = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    subprocess.run(
        [openssl, *words, *names, "-keyout", made, "-out", tmp_path / "c"], check=True, capture_output=True
    )
    made.write_bytes(made.read_bytes() + (tmp_path / "c").read_bytes())
    return made


@pytest.fixture
def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


@pytest.fixture
def speaking(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


async def test_a_call_passes_over_tls_and_its_connection_is_kept(
    trusting: ssl.SSLContext, speaking: ssl.SSLContext
) -> None:
    async with house(saying(ok(b"y" * 200_000)), tls=speaking) as h:
        for _ in range(2):
            assert (await over_tls(h, trusting)).body == b"y" * 200_000
        assert h.server.accepted == 1


async def test_a_certificate_that_nobody_vouches_for_is_refused(speaking: ssl.SSLContext) -> None:
    async with house(saying(ok()), tls=speaking) as h:
        answer = await over_tls(h, ssl.create_default_context())
        assert answer.status == 502
        assert "self-signed" in answer.json["error"]["message"]
