"""Who is answered at all: hosts, web pages, tokens, rates, sizes and times."""

import anyio
import pytest
from starlette.datastructures import Headers

from dreamd.address import Address
from dreamd.http import exchange, guard
from dreamd.http.guard import refuse_foreigners
from dreamd.http.problems import Refused
from tests.http.conftest import TOKEN

LOOPBACK = Address(host="127.0.0.1", port=8378)


@pytest.mark.parametrize("host", ["127.0.0.1:8378", "localhost", "LOCALHOST:8378", "[::1]:8378", "127.0.0.2"])
def test_this_machine_is_known_by_its_names(host: str) -> None:
    assert refuse_foreigners(Headers({"host": host}), LOOPBACK) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8378", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]", "10.0.0.1", ""]
)  # fmt: skip
def test_a_name_that_was_bent_to_this_machine_is_refused(host: str) -> None:
    with pytest.raises(Refused) as refused:
        refuse_foreigners(Headers({"host": host}), LOOPBACK)
    assert refused.value.status == 403


@pytest.mark.parametrize(
    "hosts", [[], ["localhost", "localhost"], ["local host:x"], ["localhost:80:80"], ["a@localhost/"]]
)
def test_a_request_has_one_host(hosts: list[str]) -> None:
    raw = [(b"host", host.encode()) for host in hosts]
    with pytest.raises(Refused):
        refuse_foreigners(Headers(raw=raw), LOOPBACK)


@pytest.mark.parametrize(
    "page",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_what_a_web_page_sends_is_refused(page: dict[str, str]) -> None:
    with pytest.raises(Refused, match="web pages"):
        refuse_foreigners(Headers({"host": "127.0.0.1:8378", **page}), LOOPBACK)


def test_its_own_origin_and_a_typed_address_are_not() -> None:
    own = {"host": "127.0.0.1:8378", "origin": "http://127.0.0.1:8378", "sec-fetch-site": "none"}
    assert refuse_foreigners(Headers(own), LOOPBACK) is None


async def test_whoever_may_open_the_unix_socket_needs_no_token(opened) -> None:
    async with opened(token=False) as door:
        answer = await door.client.post("/v1/dreams", json={"agents": []})
    assert answer.status_code == 422  # it was read


@pytest.mark.parametrize(
    "header", [{}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {TOKEN}"}]
)
async def test_changes_over_tcp_need_the_token(opened, header: dict[str, str]) -> None:
    async with opened(tcp=True) as door:
        del door.client.headers["authorization"]
        refused = await door.client.post("/v1/remember", json={"text": "x"}, headers=header)
        read = await door.client.get("/v1/memories")
        mcp = await door.client.post("/mcp", json={})
        allowed = await door.client.post(
            "/v1/remember", json={"text": ""}, headers={"authorization": f"bearer {TOKEN}"}
        )
    assert (refused.status_code, read.status_code, mcp.status_code, allowed.status_code) == (
        401,
        200,
        401,
        422,
    )
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN not in refused.text


async def test_changes_over_tcp_are_refused_where_no_token_is_configured(opened) -> None:
    async with opened(tcp=True, token=False) as door:
        refused = await door.client.post(
            "/v1/remember", json={"text": "x"}, headers={"authorization": "Bearer x"}
        )
    assert refused.status_code == 403
    assert "http.token_file" in refused.json()["hint"]


async def test_a_foreign_host_is_refused_in_one_line(opened) -> None:
    async with opened(tcp=True) as door:
        refused = await door.client.get("/v1/status", headers={"host": "evil.example"})
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    assert "\n" not in refused.text
    assert "access-control-allow-origin" not in refused.headers


async def test_a_client_that_asks_too_often_is_told_when_to_come_again(opened) -> None:
    async with opened(requests_per_minute=6) as door:
        answers = [await door.client.get("/v1/memories") for _ in range(2)]
        probe = await door.client.get("/healthz")
    assert [one.status_code for one in answers] == [200, 429]
    assert answers[1].headers["retry-after"] == "10"
    assert probe.status_code == 200


async def test_a_body_that_is_too_large_is_refused_and_the_reason_read(opened) -> None:
    async with opened(max_body_bytes=4096) as door:
        declared = await door.client.post("/v1/recall", content=b"x" * 5_000_000)
        after = await door.client.get("/healthz")
    assert declared.status_code == 413
    assert declared.json()["hint"] == "see http.max_body_bytes"
    assert after.status_code == 200


async def test_a_body_that_grows_too_large_is_refused(opened) -> None:
    async def growing():
        for _ in range(100):
            yield b" " * 1024

    async with opened(max_body_bytes=4096) as door:
        answer = await door.client.post(
            "/v1/recall", content=growing(), headers={"content-type": "application/json"}
        )
    assert answer.status_code == 413


async def test_all_bodies_together_are_bounded_and_the_next_is_told_to_come_again(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "BODIES_BYTES", 8192)
    head = b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n"
    async with opened(max_body_bytes=4096, requests_per_minute=0) as door:
        heard: list[bytes] = []

        async def sends() -> None:
            async with await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
                await visitor.send(head + b" " * 3999)
                heard.append(await visitor.receive())
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(sends)
        while (await door.client.post("/v1/recall", json={"goal": "x" * 2000})).status_code == 503:
            pass  # the others' going was not noticed yet
    assert heard[0].startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in heard[0]


async def test_a_body_that_does_not_come_is_given_up(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "BODY_S", 0.05)
    async with opened() as door, await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
        await visitor.send(
            b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
        )
        assert b" 408 " in await visitor.receive()


async def test_an_answer_that_does_not_come_is_given_up(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "ANSWER_S", 0.05)
    async with opened() as door, await anyio.connect_unix(door.listen.removeprefix("unix:")) as visitor:
        await visitor.send(
            b"POST /v1/recall HTTP/1.1\r\nhost: d\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
        )
        assert b" 504 " in await visitor.receive()


async def test_every_answer_has_a_date_and_is_kept_by_nobody(opened) -> None:
    async with opened() as door:
        answer = await door.client.get("/healthz")
    assert answer.headers["date"] == "Mon, 02 Mar 2026 12:00:00 GMT"
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers
