"""A local HTTP server that plays an LLM upstream as busy people know it: so many slots, and what it does when they are full.

    async with upstream(Character(slots=1, token_s=0.02)) as server:
        ...  # max_tokens=10 takes a slot for 0.2 s; hang up and it stops at the next token
    assert server.count("dream").abandoned == 1

When all slots are taken it lets calls wait, first come first served ("queue": Ollama, vLLM), refuses them at once
("reject": a hosted API) or runs all of them, each slower ("share": processor sharing). A call is a dream's when it
bears X-Dreamd-Purpose. It speaks OpenAI chat and Anthropic messages, whole and streamed, `GET .../models`, and about
itself `GET /counts`, `POST /reset`, `POST /slots/<n>`.

`upstream_beside` serves from a thread; `upstream_apart` (or `python -m tests.upstream '{"slots": 4}'`, which prints the
port) from a process of its own, for measurements.
"""

import asyncio
import json
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import anyio
import anyio.abc
import anyio.from_thread
import httptools

Kind = Literal["foreground", "dream"]
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


@dataclass(frozen=True, kw_only=True)
class Character:
    """`token_s` is a token's time in a slot; the first also waits `first_s` and `byte_s` for each byte of the request.

    Who hangs up is noticed after `noticed_s`. `refusal` and `refusal_headers` are the answer of a full server that
    rejects; `headers` come with every answer.
    """

    slots: int = 1
    full: Literal["queue", "reject", "share"] = "queue"
    token_s: float = 0.001
    first_s: float = 0.0
    byte_s: float = 0.0
    noticed_s: float = 0.0
    tokens: int = 10  # where the request sets no maximum
    refusal: int = 429
    refusal_headers: dict[str, str] = field(default_factory=lambda: {"retry-after-ms": "50"})
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Counts:
    """Of one kind of call. `running` and `waiting` are now; `abandoned` left before their end; `refused` were full.

    `tokens` were generated in all, `wasted` of them for calls that were abandoned.
    """

    calls: int = 0
    waiting: int = 0
    running: int = 0
    most_running: int = 0
    finished: int = 0
    abandoned: int = 0
    refused: int = 0
    tokens: int = 0
    wasted: int = 0


@dataclass
class Call:
    """One request, with what was made of it so far."""

    method: str = ""
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)  # names in lower case
    body: bytes = b""
    made: int = 0  # tokens

    @property
    def kind(self) -> Kind:
        return "dream" if "x-dreamd-purpose" in self.headers else "foreground"

    @property
    def asked(self) -> dict:
        return json.loads(self.body or b"{}")

    @property
    def stream(self) -> bool:
        return bool(self.asked.get("stream"))

    @property
    def anthropic(self) -> bool:
        return self.path.endswith("/messages")

    def wanted(self, tokens: int) -> int:
        return self.asked.get("max_completion_tokens") or self.asked.get("max_tokens") or tokens


class Slots:
    """Who runs. FIFO where the server lets calls wait."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.taken = 0
        self._waiting: deque[anyio.Event] = deque()

    @property
    def number(self) -> int:
        return self._number

    @number.setter
    def number(self, number: int) -> None:
        self._number = number
        self._let_in()

    @property
    def full(self) -> bool:
        return self.taken >= self._number

    async def wait(self) -> None:
        """Until a slot is this call's."""
        turn = anyio.Event()
        self._waiting.append(turn)
        self._let_in()
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self.leave()
            else:
                self._waiting.remove(turn)
            raise

    def leave(self) -> None:
        self.taken -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and not self.full:
            self.taken += 1
            self._waiting.popleft().set()


class Upstream:
    """What the server does and has seen. `slots.number` may be changed while it runs."""

    def __init__(self, character: Character, port: int) -> None:
        self.character = character
        self.port = port
        self.slots = Slots(character.slots)
        self.counts: dict[Kind, Counts] = {"foreground": Counts(), "dream": Counts()}
        self.open_connections = 0
        self._changed = anyio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def count(self, kind: Kind) -> Counts:
        return self.counts[kind]

    async def until(self, kind: Kind, what: str, at_least: int = 1) -> None:
        """Waits until a count has come to that."""
        while getattr(self.counts[kind], what) < at_least:
            await self._changed.wait()

    async def quiet(self) -> None:
        """Waits until nothing runs, waits or is connected."""
        while self.open_connections or any(one.running or one.waiting for one in self.counts.values()):
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        """One connection: requests one after another; whoever hangs up ends what runs for it."""
        self.open_connections += 1
        reader = _Reader()
        try:
            async with stream, anyio.create_task_group() as tasks:
                tasks.start_soon(self._answers, reader, stream)
                while data := await _received(stream):
                    reader.feed(data)
                tasks.cancel_scope.cancel()
        finally:
            self.open_connections -= 1
            self._tell()

    async def _answers(self, reader: "_Reader", stream: anyio.abc.SocketStream) -> None:
        while True:
            call = await reader.next()
            try:
                await (
                    self._play(call, stream)
                    if call.method == "POST" and call.body
                    else self._tells(call, stream)
                )
            except GONE:
                return

    async def _tells(self, call: Call, stream: anyio.abc.SocketStream) -> None:
        """What is no call of a model."""
        match call.path.strip("/").split("/"):
            case ["counts"]:
                said = {kind: asdict(counts) for kind, counts in self.counts.items()} | {
                    "open_connections": self.open_connections
                }
            case ["reset"]:
                self._forget()
                said = {}
            case ["slots", number]:
                self.slots.number = int(number)
                said = {"slots": self.slots.number}
            case [*_, "models"]:
                said = {
                    "object": "list",
                    "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "us"}],
                }
            case _:
                await stream.send(
                    self._whole(404, {"error": {"type": "not_found", "message": "no such path"}})
                )
                return
        await stream.send(self._whole(200, said))

    def _forget(self) -> None:
        """Counts of what is over."""
        for kind, one in self.counts.items():
            self.counts[kind] = Counts(waiting=one.waiting, running=one.running, most_running=one.running)

    async def _play(self, call: Call, stream: anyio.abc.SocketStream) -> None:
        counts = self.counts[call.kind]
        counts.calls += 1
        if self.character.full == "reject" and self.slots.full:
            counts.refused += 1
            self._tell()
            return await stream.send(self._refusal(call))
        ended = False
        try:
            await self._work(call, stream)
            ended = True
        finally:
            now = self.counts[call.kind]
            now.finished += ended
            now.abandoned += not ended
            now.wasted += 0 if ended else call.made
            self._tell()

    async def _work(self, call: Call, stream: anyio.abc.SocketStream) -> None:
        if self.character.full == "share":
            self.slots.taken += 1
        else:
            await self._turn(call)
        self._run(call, 1)
        ended = False
        try:
            await self._speak(call, stream)
            ended = True
        finally:
            self._run(call, -1)
            if ended or not self.character.noticed_s:
                self.slots.leave()
            else:
                asyncio.get_running_loop().call_later(self.character.noticed_s, self.slots.leave)

    async def _turn(self, call: Call) -> None:
        self.counts[call.kind].waiting += 1
        self._tell()
        try:
            await self.slots.wait()
        finally:
            self.counts[call.kind].waiting -= 1

    def _run(self, call: Call, change: int) -> None:
        counts = self.counts[call.kind]
        counts.running += change
        counts.most_running = max(counts.most_running, counts.running)
        self._tell()

    async def _speak(self, call: Call, stream: anyio.abc.SocketStream) -> None:
        tokens = call.wanted(self.character.tokens)
        async for token in self._tokens(call, tokens):
            if call.stream:
                head = (
                    self._head(200, "text/event-stream", "transfer-encoding: chunked") if token == 0 else b""
                )
                opening = _opening(call) if token == 0 else b""
                await stream.send(head + _chunk(opening + _piece(call, token)))
        if call.stream:
            await stream.send(_chunk(_closing(call, tokens)) + b"0\r\n\r\n")
        else:
            await stream.send(self._whole(200, _reply(call, tokens)))

    async def _tokens(self, call: Call, tokens: int) -> AsyncIterator[int]:
        due = anyio.current_time()
        for token in range(tokens):
            first = self.character.first_s + self.character.byte_s * len(call.body) if token == 0 else 0.0
            shared = max(1.0, self.slots.taken / self.slots.number) if self.character.full == "share" else 1.0
            due += (self.character.token_s + first) * shared
            await anyio.sleep(max(0.0, due - anyio.current_time()))
            call.made += 1
            self.counts[call.kind].tokens += 1
            self._tell()
            yield token

    def _refusal(self, call: Call) -> bytes:
        kind = "overloaded_error" if self.character.refusal == 529 else "rate_limit_error"
        error = {"type": kind, "code": kind, "message": "all slots are taken"}
        body = {"type": "error", "error": error} if call.anthropic else {"error": error}
        return self._whole(self.character.refusal, body, self.character.refusal_headers)

    def _whole(self, status: int, body: object, more: dict[str, str] | None = None) -> bytes:
        raw = json.dumps(body).encode()
        lines = [f"content-length: {len(raw)}", *(f"{name}: {value}" for name, value in (more or {}).items())]
        return self._head(status, "application/json", *lines) + raw

    def _head(self, status: int, content_type: str, *lines: str) -> bytes:
        more = [f"{name}: {value}" for name, value in self.character.headers.items()]
        head = [f"HTTP/1.1 {status} Because", f"content-type: {content_type}", *lines, *more]
        return ("\r\n".join(head) + "\r\n\r\n").encode("latin-1")


class _Reader:
    """Bytes in, requests out."""

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._call = Call()
        self._calls: deque[Call] = deque()
        self._more = anyio.Event()

    def feed(self, data: bytes) -> None:
        self._parser.feed_data(data)

    async def next(self) -> Call:
        while not self._calls:
            self._more = anyio.Event()
            await self._more.wait()
        return self._calls.popleft()

    def on_url(self, url: bytes) -> None:
        self._call.path += url.split(b"?")[0].decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._call.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._call.body += body

    def on_message_complete(self) -> None:
        self._call.method = self._parser.get_method().decode()
        self._calls.append(self._call)
        self._call = Call()
        self._more.set()


async def _received(stream: anyio.abc.SocketStream) -> bytes:
    try:
        return await stream.receive()
    except GONE:
        return b""


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _event(data: dict, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _usage(call: Call, tokens: int) -> dict:
    asked = len(call.body) // 4
    if call.anthropic:
        return {"input_tokens": asked, "output_tokens": tokens}
    return {"prompt_tokens": asked, "completion_tokens": tokens, "total_tokens": asked + tokens}


def _reply(call: Call, tokens: int) -> dict:
    text = "word " * tokens
    usage = _usage(call, tokens)
    if call.anthropic:
        content = [{"type": "text", "text": text}]
        return _message(call, usage) | {"content": content, "stop_reason": "end_turn"}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return _completion(call, "chat.completion", choice) | {"usage": usage}


def _message(call: Call, usage: dict) -> dict:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": call.asked.get("model"),
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _completion(call: Call, kind: str, choice: dict) -> dict:
    return {"id": "c1", "object": kind, "created": 0, "model": call.asked.get("model"), "choices": [choice]}


def _opening(call: Call) -> bytes:
    if not call.anthropic:
        return b""
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    start = {"type": "message_start", "message": _message(call, _usage(call, 0))}
    return _event(start, "message_start") + _event(block, "content_block_start")


def _piece(call: Call, token: int) -> bytes:
    if call.anthropic:
        delta = {"type": "text_delta", "text": f"word{token} "}
        return _event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    delta = {"role": "assistant", "content": f"word{token} "}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return _event(_completion(call, "chat.completion.chunk", choice))


def _closing(call: Call, tokens: int) -> bytes:
    usage = _usage(call, tokens)
    if call.anthropic:
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        end = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": tokens}}
        return (
            _event({"type": "content_block_stop", "index": 0}, "content_block_stop")
            + _event(end, "message_delta")
            + _event({"type": "message_stop"}, "message_stop")
        )
    choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
    last = _completion(call, "chat.completion.chunk", choice) | {"usage": usage}
    return _event(last) + b"data: [DONE]\n\n"


@asynccontextmanager
async def upstream(character: Character) -> AsyncIterator[Upstream]:
    """Serves on a free port of 127.0.0.1 while the block runs."""
    async with AsyncExitStack() as stack:
        listener = await stack.enter_async_context(
            await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0, backlog=2048)
        )
        server = Upstream(character, listener.extra(anyio.abc.SocketAttribute.local_port))
        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


@contextmanager
def upstream_beside(character: Character) -> Iterator[Upstream]:
    """The same, from a thread of its own."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(upstream(character)) as server,
    ):
        yield server


@contextmanager
def upstream_apart(character: Character) -> Iterator[str]:
    """The same, from a process of its own: its base URL."""
    command = [sys.executable, "-m", "tests.upstream", json.dumps(asdict(character))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent) as process:
        try:
            assert process.stdout
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


async def _main() -> None:
    async with upstream(Character(**json.loads((*sys.argv, "{}")[1]))) as server:
        print(server.port, flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(_main)
