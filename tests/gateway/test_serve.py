"""The gateway as a whole: what its clients and its upstreams see, on real sockets."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.events import GATEWAY_FAILED, GATEWAY_OPENED, UPSTREAM_REACHED, UPSTREAM_UNREACHABLE, Event
from dreamd.gate.lanes import key_name
from dreamd.gate.passing import Passing, published
from dreamd.gateway import client
from dreamd.gateway.refusals import Refused
from dreamd.gateway.serve import AGAIN_S, serve
from dreamd.parts import Parts
from dreamd.sections import Gateway as Section
from dreamd.stores.inmemory import InMemoryStore
from tests.gateway.house import Answer, Lanes, Message, Wire, get, house, ok, post, saying, until


async def test_a_call_and_its_answer_pass_unchanged_and_are_announced() -> None:
    seen: list[Message] = []
    async with house(saying(ok(b"\x00\xff", b"X-Odd: 1", status=b"299 So"), seen=seen)) as h:
        answer = await h.ask(post(b'{"a": 1}', b"Authorization: Bearer sk-1", b"X-Stainless-Lang: python"))
    assert (answer.first, answer.body) == ("HTTP/1.1 299 So", b"\x00\xff")
    assert answer.headers == {"x-odd": "1", "content-length": "2"}
    (request,) = seen
    assert request.first == "POST /v1/chat/completions HTTP/1.1"
    assert request.body == b'{"a": 1}'
    assert request.headers == {
        "host": f"127.0.0.1:{h.server.port}",
        "authorization": "Bearer sk-1",
        "x-stainless-lang": "python",
        "content-length": "8",
    }
    (call,) = h.lanes.calls
    assert call.told == ["answered", "first byte", "done"]
    assert (call.upstream, call.prompt_bytes) == (f"http://127.0.0.1:{h.server.port}", 8)
    assert call.key == key_name("sk-1")
    assert (call.status, call.headers[b"x-odd"]) == (299, b"1")


async def test_calls_of_dreamd_itself_are_not_foreground_and_keep_their_purpose() -> None:
    seen: list[Message] = []
    async with house(saying(ok(), seen=seen)) as h:
        await h.ask(post(b"{}", b"X-Dreamd-Purpose: distil"))
        assert h.lanes.calls == []
    assert seen[0].headers["x-dreamd-purpose"] == "distil"


async def test_one_connection_carries_many_calls_on_both_sides() -> None:
    async with house(saying(ok())) as h:
        await h.ask(*[post()] * 5)
        assert h.server.accepted == 1


async def test_what_the_upstream_says_first_arrives_before_it_says_more() -> None:
    async def answer(wire: Wire) -> None:
        await wire.message()
        await wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(3):
            await wire.send(b"1\r\n%d\r\n" % number)
            assert await wire.reader.read(1) == b""  # not before the client has it and goes

    async with house(answer) as h:
        client = await h.client()
        await client.send(post())
        assert (await client.head()).headers["transfer-encoding"] == "chunked"
        assert await client.chunk() == b"0"
        assert h.lanes.calls[0].told == ["answered", "first byte"]


async def test_an_upstream_that_is_down_is_told_in_the_apis_own_shape_and_once_as_an_event() -> None:
    async with house(saying(ok())) as h:
        openai = await h.ask(post(path=b"/down/v1/chat/completions"))
        anthropic = await h.ask(post(path=b"/down/v1/messages"))
        named = [values["upstream"] for event, values in h.events if event is UPSTREAM_UNREACHABLE]
        assert named == ["down"]
    assert (openai.status, anthropic.status) == (502, 502)
    assert openai.json["error"]["type"] == "server_error"
    assert "'down' cannot be reached: Connection refused" in openai.json["error"]["message"]
    assert openai.headers["x-request-id"] in openai.json["error"]["message"]
    assert anthropic.json["error"]["type"] == "api_error"
    assert anthropic.headers["request-id"] == anthropic.json["request_id"]


async def test_an_upstream_that_comes_back_is_told_too() -> None:
    async with house(saying(ok())) as h:
        h.gateway.reached(h.gateway.pools["up"], Refused(502, "down"))
        assert (await h.ask(post())).status == 200
        assert [event for event, _ in h.events] == [UPSTREAM_UNREACHABLE, UPSTREAM_REACHED]


async def test_more_connections_than_allowed_are_turned_away() -> None:
    async with house(saying(ok()), max_connections=1) as h:
        first = await h.client()
        await first.send(post())
        await first.message()
        second = await h.client()
        assert (await second.message()).status == 503
        await first.send(post())
        assert (await first.message()).status == 200


async def test_of_a_crowd_most_are_turned_away_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TURNED_AWAY", 1)
    async with house(saying(ok()), max_connections=1) as h:
        clients = [await h.client() for _ in range(4)]
        await clients[0].send(post())
        assert (await clients[0].message()).status == 200
        said = [await one.gone() for one in clients[1:]]
        assert sorted(text[:12] for text in said) == [b"", b"", b"HTTP/1.1 503"]


async def test_a_call_under_way_may_end_when_the_gateway_stops_and_no_other_begins() -> None:
    answering, asked = anyio.Event(), anyio.Event()

    async def answer(wire: Wire) -> None:
        await wire.message()
        asked.set()
        await answering.wait()
        await wire.send(ok())

    async with anyio.create_task_group() as tasks:
        stop = anyio.Event()

        async def until_stopped() -> None:
            async with house(answer, stop_s=10.0) as h:
                clients.append(await h.client())
                clients.append(await h.client())
                tasks.start_soon(clients[0].send, post())
                await asked.wait()
                stop.set()
                h.wires.clear()

        clients: list[Wire] = []
        tasks.start_soon(until_stopped)
        await stop.wait()
        assert await clients[1].gone() == b""  # it was idle
        answering.set()
        answer_to_it = await clients[0].message()
        assert (answer_to_it.status, answer_to_it.headers["connection"]) == (200, "close")
        for client in clients:
            await client.close()


async def test_a_call_that_takes_longer_than_the_stop_is_cut() -> None:
    async def answer(wire: Wire) -> None:
        await wire.message()
        await wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await wire.gone()

    async with house(answer) as h:
        client = await h.client()
        h.wires.clear()
        await client.send(post())
        await client.head()
    assert b"0\r\n" not in await client.gone()
    await client.close()


async def test_any_method_passes() -> None:
    seen: list[Message] = []
    async with house(saying(ok(), seen=seen)) as h:
        for method in (b"GET", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"PROPFIND"):
            assert (await h.ask(get(method=method))).status == 200
    assert [request.first.split(" ")[0] for request in seen][-2:] == ["OPTIONS", "PROPFIND"]


class Living:
    """What the supervisor tells the gateway of its parts."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.changed = anyio.Event()

    def goes_on(self, parts: Parts) -> None:
        self.parts = parts
        self.changed.set()
        self.changed = anyio.Event()


async def test_an_address_that_is_taken_is_told_once_and_had_as_soon_as_it_is_free(
    clock: StillClock, tmp_path: Path
) -> None:
    told: list[Event] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        section = Section(listen=f"127.0.0.1:{taken.getsockname()[1]}")
        parts = Parts(
            config=Config(gateway=section),
            state=tmp_path,
            store=InMemoryStore(),
            clock=clock,
            emit=lambda event, /, **_values: told.append(event),
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve, Living(parts))
            await until(lambda: clock.ticks > 5 * AGAIN_S)
            taken.close()
            await until(lambda: GATEWAY_OPENED in told)
            tasks.cancel_scope.cancel()
    assert told == [GATEWAY_FAILED, GATEWAY_OPENED]


@asynccontextmanager
async def served(
    told: list[Event], clock: StillClock, path: Path, answer: Answer | None = None
) -> AsyncIterator[tuple[Living, Wire, Callable[..., Parts]]]:
    """`serve` on a socket, a client of it, and what makes its parts."""

    def parts(lanes: Lanes, **keys: object) -> Parts:
        return Parts(
            config=Config(
                gateway=Section(**{"upstreams": {"up": f"http://127.0.0.1:{h.server.port}"}} | keys)
            ),
            state=path.parent,
            store=InMemoryStore(),
            clock=clock,
            emit=lambda event, /, **_values: told.append(event),
            foreground=lambda: lanes,
        )

    async with house(answer or saying(ok())) as h, anyio.create_task_group() as tasks:
        life = Living(parts(Lanes(), listen=f"unix:{path}"))
        tasks.start_soon(serve, life)
        await until(lambda: GATEWAY_OPENED in told)
        client = Wire(*await asyncio.open_unix_connection(path))
        yield life, client, parts
        await client.close()
        tasks.cancel_scope.cancel()


async def test_a_change_of_the_configuration_ends_no_connection_and_its_calls_go_to_the_new_lanes(
    clock: StillClock, tmp_path: Path
) -> None:
    told: list[Event] = []
    async with served(told, clock, tmp_path / "g") as (life, client, parts):
        await client.send(post())
        await client.message()
        new = Lanes()
        life.goes_on(parts(new, listen=f"unix:{tmp_path / 'g'}"))
        while not new.calls:
            await client.send(post())
            assert (await client.message()).status == 200
        assert told == [GATEWAY_OPENED]


async def test_a_change_of_the_gateways_own_settings_ends_no_connection(
    clock: StillClock, tmp_path: Path
) -> None:
    told: list[Event] = []
    async with served(told, clock, tmp_path / "g") as (life, client, parts):
        life.goes_on(parts(Lanes(), listen=f"unix:{tmp_path / 'g'}", upstreams={}))
        await until(lambda: told == [GATEWAY_OPENED] * 2)
        await client.send(get())
        assert (await client.message()).status == 404
        life.goes_on(parts(Lanes()))
        await until(lambda: not (tmp_path / "g").exists())


async def test_at_another_address_it_opens_at_once_and_the_call_under_way_ends_well(
    clock: StillClock, tmp_path: Path
) -> None:
    told: list[Event] = []
    answering, asked = anyio.Event(), anyio.Event()

    async def answer(wire: Wire) -> None:
        await wire.message()
        asked.set()
        await answering.wait()
        await wire.send(ok())

    async with served(told, clock, tmp_path / "g", answer) as (life, client, parts):
        await client.send(post())
        await asked.wait()
        life.goes_on(parts(Lanes(), listen=f"unix:{tmp_path / 'h'}", stop_s=3600.0))
        await until(lambda: told == [GATEWAY_OPENED] * 2)
        assert not (tmp_path / "g").exists()
        other = Wire(*await asyncio.open_unix_connection(tmp_path / "h"))
        answering.set()
        for wire in (client, other):
            if wire is other:
                await wire.send(post())
            assert (await wire.message()).status == 200
        assert await client.gone() == b""
        await other.close()


async def test_calls_under_way_are_foreground_in_the_new_lanes_too() -> None:
    asked = anyio.Event()

    async def answer(wire: Wire) -> None:
        await wire.message()
        asked.set()
        await wire.gone()

    async with house(answer) as h:
        client = await h.client()
        await client.send(post(b"{}", b"Authorization: Bearer sk-1"))
        await asked.wait()
        before, new = h.lanes, Lanes()
        h.gateway.announce_to(new)
        assert [call.told for call in before.calls] == [["done"]]
        (call,) = new.calls
        assert (call.key, call.told) == (key_name("sk-1"), [])
        client.reset()
        await h.settled()
        assert call.told == ["done"]


async def test_calls_to_an_upstream_that_is_taken_out_end_well_and_leave_no_connection() -> None:
    answering, asked = anyio.Event(), anyio.Event()

    async def answer(wire: Wire) -> None:
        await wire.message()
        asked.set()
        await answering.wait()
        await wire.send(ok())
        await wire.gone()

    async with house(answer) as h:
        client = await h.client()
        await client.send(post())
        await asked.wait()
        await h.gateway.go_by(structs.replace(h.gateway.settings, upstreams={}))
        answering.set()
        assert (await client.message()).status == 200
        with anyio.fail_after(10):
            await h.server.quiet()


async def test_how_things_stand_is_published_when_it_changes_and_not_at_rest() -> None:
    shown: list[Passing] = []

    async def show(seen: Passing) -> None:
        shown.append(seen)

    async with house(saying(ok())) as h:
        h.gateway.show = show
        client = await h.client()
        await client.send(post())
        await client.message()
        h.gateway._sweep()
        await until(lambda: shown)
        assert (shown[0].calls, shown[0].connections, shown[0].under_way) == (1, 1, 0)
        assert [(one.name, one.open, one.idle) for one in shown[0].upstreams] == [
            ("up", 1, 1),
            ("down", 0, 0),
        ]
        h.gateway._sweep()
        assert len(shown) == 1


async def test_other_processes_see_it_in_the_store(clock: StillClock, tmp_path: Path) -> None:
    told: list[Event] = []
    async with served(told, clock, tmp_path / "g") as (life, client, _):
        seen: list[tuple[str, int]] = []

        def carried() -> int:
            shown = published(life.parts.store, os.getpid())
            seen.extend([(shown.listen, shown.passing.calls)] if shown else [])
            return seen[-1][1] if seen else -1

        assert carried() == 0  # it is there before anybody calls
        await client.send(post())
        await client.message()
        await until(lambda: carried() == 1)
        assert {listen for listen, _ in seen} == {f"unix:{tmp_path / 'g'}"}
