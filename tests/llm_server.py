"""A local HTTP server that plays the LLM, well or badly: real sockets, both protocols, in the test's own event loop.

    async with llm_server(["a reply", Answer(status=429, headers={"retry-after": "3"})]) as server:
        provider = OPEN(Llm(provider="openai", base_url=server.base_url, model="m"))
        ...
    assert server.requests[0].purpose == "deep-dream"

A script is a list of answers, one a request in order (when it has run out: status 500), or a function of the Request,
called for each. A str is a whole reply in the protocol that was spoken to. `llm_server_beside` serves from a thread of
its own, for tests that are not async or that run a program of their own.
"""

import gzip
import json
import math
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field

import anyio
import anyio.abc
import anyio.from_thread


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server does with one request. The default body is `text` in the protocol that was spoken to.

    `body` replaces that body, `error` puts an error of the protocol in its place: (type or code, message).
    `stop` is end, length or filter. `think_s` is the time to the first byte. The faults: `silent` reads the request and never answers; `hang_at` stops after so many
    bytes of the body and keeps the connection open; `cut_at` closes it there, `reset_at` resets it; `drip_s` sends
    one byte each so many seconds; `chunk` is how many bytes go out at a time.
    """

    text: str = "ok"
    stop: str = "end"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | str | None = None
    error: tuple[str, str] | None = None
    thinking: str = ""
    usage: bool = True
    gzip: bool = False
    think_s: float = 0.0
    silent: bool = False
    hang_at: int | None = None
    cut_at: int | None = None
    reset_at: int | None = None
    drip_s: float | None = None
    chunk: int = 65536


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body or b"{}")

    @property
    def anthropic(self) -> bool:
        return self.path.split("?")[0].endswith("/messages")

    @property
    def purpose(self) -> str:
        return self.headers.get("x-dreamd-purpose", "")

    @property
    def key(self) -> str:
        """What was sent as the API key, or ""."""
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def system(self) -> str:
        if self.anthropic:
            return self.json.get("system", "")
        return "".join(part["content"] for part in self.json["messages"] if part["role"] == "system")

    @property
    def user(self) -> str:
        return "".join(part["content"] for part in self.json["messages"] if part["role"] == "user")

    @property
    def max_tokens(self) -> int:
        return self.json.get("max_completion_tokens") or self.json.get("max_tokens") or 0


Script = Sequence[Answer | str] | Callable[[Request], Answer | str]


class LlmServer:
    """What the server saw. `open_connections` is how many clients hold now; `hung_up` how many left before the end."""

    def __init__(self, script: Script, port: int) -> None:
        self._script = script
        self.port = port
        self.requests: list[Request] = []
        self.open_connections = 0
        self.hung_up = 0
        self._changed = anyio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """For `llm.base_url`; good for both protocols."""
        return f"{self.url}/v1"

    async def asked(self, times: int = 1) -> None:
        """Waits until so many requests have come."""
        while len(self.requests) < times:
            await self._changed.wait()

    async def quiet(self) -> None:
        """Waits until no connection is open."""
        while self.open_connections:
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def answer_to(self, request: Request) -> Answer:
        self.requests.append(request)
        self._tell()
        if callable(self._script):
            given = self._script(request)
        elif len(self.requests) <= len(self._script):
            given = self._script[len(self.requests) - 1]
        else:
            given = Answer(status=500, error=("api_error", "the script has run out"))
        return Answer(text=given) if isinstance(given, str) else given

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        self.open_connections += 1
        try:
            async with stream:
                while (request := await _read(stream)) is not None:
                    await self._play(self.answer_to(request), request, stream)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            self.hung_up += 1
        finally:
            self.open_connections -= 1
            self._tell()

    async def _play(self, answer: Answer, request: Request, stream: anyio.abc.SocketStream) -> None:
        if answer.silent:
            await _until_gone(stream)
        await anyio.sleep(answer.think_s)
        body = _body(answer, request)
        sent = min(math.inf if at is None else at for at in (answer.hang_at, answer.cut_at, answer.reset_at))
        await stream.send(_head(answer, body))
        await _send(stream, body[: int(min(sent, len(body)))], answer)
        if answer.hang_at is not None:
            await _until_gone(stream)
        if answer.reset_at is not None:
            _reset(stream)
        if answer.cut_at is not None or answer.reset_at is not None:
            await stream.aclose()


async def _read(stream: anyio.abc.SocketStream) -> Request | None:
    """One request, or None when the client has nothing more to ask."""
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            data += await stream.receive()
        except anyio.EndOfStream:
            return None
        if not data[:1].isalpha():  # somebody speaks TLS
            await stream.send(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    method, path, _ = first.split(" ")
    return Request(method, path, headers, body)


async def _until_gone(stream: anyio.abc.SocketStream) -> None:
    """Waits for the client to hang up. Raises EndOfStream or BrokenResourceError then."""
    while True:
        await stream.receive()


async def _send(stream: anyio.abc.SocketStream, body: bytes, answer: Answer) -> None:
    step = 1 if answer.drip_s is not None else answer.chunk
    for at in range(0, len(body), step):
        await stream.send(body[at : at + step])
        if answer.drip_s is not None:
            await anyio.sleep(answer.drip_s)


def _reset(stream: anyio.abc.SocketStream) -> None:
    raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)
    with suppress(OSError):  # the client was quicker
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _head(answer: Answer, body: bytes) -> bytes:
    html = body.lstrip()[:1] == b"<"
    headers = {
        "content-type": "text/html" if html else "application/json",
        "content-length": str(len(body)),
    }
    if answer.gzip:
        headers["content-encoding"] = "gzip"
    lines = [f"HTTP/1.1 {answer.status} Because"]
    lines += [f"{name}: {value}" for name, value in (headers | answer.headers).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _body(answer: Answer, request: Request) -> bytes:
    body = answer.body
    if body is None:
        shape = _anthropic if request.anthropic else _openai
        body = json.dumps(shape(answer, request), ensure_ascii=False)
    raw = body.encode() if isinstance(body, str) else body
    return gzip.compress(raw) if answer.gzip else raw


def _openai(answer: Answer, request: Request) -> dict:
    if answer.error:
        kind, message = answer.error
        return {"error": {"type": kind, "code": kind, "message": message, "param": None}}
    stops = {"end": "stop", "length": "length", "filter": "content_filter"}
    message = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": request.json.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": stops.get(answer.stop, answer.stop)}],
    } | ({"usage": usage} if answer.usage else {})


def _anthropic(answer: Answer, request: Request) -> dict:
    if answer.error:
        kind, message = answer.error
        return {"type": "error", "error": {"type": kind, "message": message}}
    stops = {"end": "end_turn", "length": "max_tokens", "filter": "refusal"}
    thinking = (
        [{"type": "thinking", "thinking": answer.thinking, "signature": "x"}] if answer.thinking else []
    )
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.json.get("model"),
        "content": [*thinking, *_blocks(answer, request)],
        "stop_reason": stops.get(answer.stop, answer.stop),
    } | ({"usage": {"input_tokens": 11, "output_tokens": 7}} if answer.usage else {})


def _blocks(answer: Answer, request: Request) -> list[dict]:
    """A tool that must be called is called, with the text as its input."""
    if request.json.get("tool_choice"):
        with suppress(ValueError):
            name = request.json["tool_choice"]["name"]
            return [{"type": "tool_use", "id": "t1", "name": name, "input": json.loads(answer.text)}]
    return [{"type": "text", "text": answer.text}]


@asynccontextmanager
async def llm_server(script: Script = ()) -> AsyncIterator[LlmServer]:
    """Serves on a free port of 127.0.0.1 while the block runs."""
    async with AsyncExitStack() as stack:
        listener = await stack.enter_async_context(
            await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        )
        server = LlmServer(script, listener.extra(anyio.abc.SocketAttribute.local_port))
        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


@contextmanager
def llm_server_beside(script: Script = ()) -> Iterator[LlmServer]:
    """The same, from a thread of its own."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(llm_server(script)) as server,
    ):
        yield server
