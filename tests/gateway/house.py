"""A gateway between a raw client and a raw server, with nothing left over when it ends.

async with house(answer) as h:                      # `answer` is called with each connection of the upstream
    client = await h.client()
    await client.send(post(b"{}"))
    assert (await client.answer()).status == 200
"""

import asyncio
import json
import math
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel

from dreamd.events import Event
from dreamd.gateway.serve import Gateway, opened
from dreamd.gateway.settings import settled
from dreamd.parts import Foreground, ForegroundCall
from dreamd.sections import Gateway as Section

PATH = b"/up/v1/chat/completions"


async def until(true: Callable[[], object]) -> None:
    """Lets all others run until it is so."""
    with anyio.fail_after(10):
        while not true():
            await anyio.lowlevel.checkpoint()


class Announced(ForegroundCall):
    def __init__(self, upstream: str, prompt_bytes: int, key: str) -> None:
        self.upstream = upstream
        self.prompt_bytes = prompt_bytes
        self.key = key
        self.told: list[str] = []
        self.status = 0
        self.headers: dict[bytes, bytes] = {}

    def answered(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self.told.append("answered")
        self.status = status
        self.headers = dict(headers)

    def first_byte(self) -> None:
        self.told.append("first byte")

    def done(self) -> None:
        self.told.append("done")


class Lanes(Foreground):
    def __init__(self) -> None:
        self.calls: list[Announced] = []

    def arrive(self, upstream: str, prompt_bytes: int = 0, key: str = "") -> Announced:
        self.calls.append(Announced(upstream, prompt_bytes, key))
        return self.calls[-1]

    def busy(self) -> bool:
        return any("done" not in call.told for call in self.calls)


@dataclass
class Message:
    first: str
    headers: dict[str, str]
    body: bytes = b""
    trailers: bytes = b""

    @property
    def status(self) -> int:
        return int(self.first.split(" ")[1])

    @property
    def json(self) -> dict:
        return json.loads(self.body)


class Wire:
    """One raw connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> Message:
        """Raises IncompleteReadError when the connection ends before it."""
        raw = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = raw[:-4].decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return Message(first, {name.lower(): value.strip() for name, _, value in pairs})

    async def message(self, *, bodiless: bool = False) -> Message:
        message = await self.head()
        if bodiless:
            return message
        if message.headers.get("transfer-encoding") == "chunked":
            while chunk := await self.chunk():
                message.body += chunk
            while (line := await self.reader.readline()) != b"\r\n":
                message.trailers += line
        elif "content-length" in message.headers:
            message.body = await self.reader.readexactly(int(message.headers["content-length"]))
        elif message.first.startswith("HTTP/"):
            message.body = await self.reader.read()
        return message

    async def chunk(self) -> bytes:
        line = await self.reader.readuntil(b"\r\n")
        size = int(line, 16)
        data = await self.reader.readexactly(size)
        if size:
            await self.reader.readexactly(2)
        return data

    async def gone(self) -> bytes:
        """What still came before the other side closed or reset."""
        data = b""
        with suppress(ConnectionError):
            while piece := await self.reader.read(65536):
                data += piece
        return data

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()

    def reset(self) -> None:
        held = self.writer.get_extra_info("socket")
        held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Answer = Callable[[Wire], Awaitable[None]]


class Server:
    """The upstream. `open` connections now, `accepted` in all; `seen` are the requests that `say` has answered."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._changed = anyio.Event()
        self.open = self.accepted = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.accepted += 1
        try:
            await self._answer(Wire(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.open -= 1
            self._changed.set()
            self._changed = anyio.Event()

    async def quiet(self) -> None:
        """Waits until no connection is open."""
        while self.open:
            await self._changed.wait()


@dataclass
class House:
    gateway: Gateway
    lanes: Lanes
    server: Server
    events: list[tuple[Event, dict]] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)

    async def client(self) -> Wire:
        wire = Wire(*await asyncio.open_connection("127.0.0.1", self.gateway.port, limit=1 << 20))
        self.wires.append(wire)
        return wire

    async def ask(self, *requests: bytes) -> Message:
        """The answer to the last of them, over one connection."""
        client = await self.client()
        for request in requests:
            await client.send(request)
            answer = await client.message()
        await client.close()
        return answer

    def expire(self) -> None:
        """Let every connection's time be up."""
        for client in self.gateway.clients:
            client.deadline = -1.0 if client.deadline < math.inf else math.inf
        self.gateway._sweep()

    async def settled(self) -> None:
        """Waits until no call is under way."""
        await until(lambda: not self.gateway.counters.under_way)


@asynccontextmanager
async def house(answer: Answer, *, tls: ssl.SSLContext | None = None, **keys: object) -> AsyncIterator[House]:
    server = Server(answer)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 20, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    section = Section(
        listen="127.0.0.1:0",
        upstreams={"up": f"http://127.0.0.1:{server.port}", "down": "http://127.0.0.1:1"},
        **{"stop_s": 0.0} | keys,
    )
    lanes, events = Lanes(), []

    def emit(event: Event, /, **values: object) -> None:
        events.append((event, values))

    async with opened(settled(section), lanes, emit=emit) as gateway:
        h = House(gateway, lanes, server, events)
        try:
            yield h
        finally:
            for wire in h.wires:
                await wire.close()
            listener.close()
    with anyio.fail_after(10):
        await server.quiet()
    nothing_is_left(h)


def nothing_is_left(h: House) -> None:
    counters = h.gateway.counters
    assert (counters.under_way, counters.announced, len(h.gateway.clients)) == (0, 0, 0)
    for pool in h.gateway.pools.values():
        assert (len(pool.open), len(pool.idle)) == (0, 0)
    assert all(call.told.count("done") == 1 and call.told[-1] == "done" for call in h.lanes.calls)
    assert counters.foreground == len(h.lanes.calls)


def post(body: bytes = b"{}", *lines: bytes, path: bytes = PATH, method: bytes = b"POST") -> bytes:
    head = [b"%b %b HTTP/1.1" % (method, path), b"Host: localhost", *lines, b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*head, b"", body])


def get(path: bytes = PATH, *lines: bytes, method: bytes = b"GET") -> bytes:
    return b"\r\n".join([b"%b %b HTTP/1.1" % (method, path), b"Host: localhost", *lines, b"", b""])


def ok(body: bytes = b'{"ok":true}', *lines: bytes, status: bytes = b"200 OK") -> bytes:
    return b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"Content-Length: %d" % len(body), b"", body])


def saying(*answers: bytes, seen: list[Message] | None = None) -> Answer:
    """An upstream that reads a request and says one of these, in turn on each connection, the last one for ever."""

    async def answer(wire: Wire) -> None:
        turns = list(answers)
        while True:
            request = await wire.message()
            if seen is not None:
                seen.append(request)
            await wire.send(turns.pop(0) if len(turns) > 1 else turns[0])

    return answer
