"""One request and its answer, watched: bytes and seconds of the body, the answer's own headers, what is counted and told."""

from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import format_datetime
from typing import Final

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from dreamd.errors import DreamdError
from dreamd.events import REQUEST_FINISHED
from dreamd.http.desk import Desk
from dreamd.http.problems import CLOSE, Refused, headers_of, status_of, written

BODY_S: Final = 30.0  # for all of it
_DRAINED_BYTES, _DRAIN_S = 8 << 20, 2.0  # of a body that is too large, so that its sender comes to read why
BODIES_BYTES: Final = 32 << 20  # of all requests in flight
_UNTIMED: Final = "unknown"  # route of a request that met none


class Exchange:
    def __init__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        self._desk, self._scope, self._receive, self._send = desk, scope, receive, send
        self._most = desk.parts.config.http.max_body_bytes
        self._deadline = anyio.current_time() + BODY_S
        self._taken = 0
        self._whole = False
        self._status = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        counters, clock = self._desk.counters, self._desk.parts.clock
        began = clock.monotonic()
        counters.in_flight += 1
        try:
            yield
        finally:
            counters.in_flight -= 1
            counters.body_bytes -= self._taken
            method, route, seconds = self._scope["method"], self._route(), clock.monotonic() - began
            counters.requests[method, route, self._status] += 1
            counters.seconds[route] += seconds
            self._desk.parts.emit(
                REQUEST_FINISHED, method=method, route=route, status=self._status, seconds=round(seconds, 4)
            )

    def _route(self) -> str:
        """As declared: what a caller put into the path is nobody's business here."""
        return getattr(self._scope.get("route"), "path", _UNTIMED)

    async def check_length(self) -> None:
        """Raises Refused before anything of a body is read that says it is too large."""
        declared = Headers(scope=self._scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > self._most:
            if "expect" not in Headers(scope=self._scope):
                await self._drain()
            raise self._too_large()

    async def receive(self) -> Message:
        """As ASGI has it. Raises Refused when the body grows too large or is too slow."""
        if self._whole:
            return await self._receive()
        with anyio.move_on_after(self._deadline - anyio.current_time()):
            message = await self._receive()
            self._take(len(message.get("body", b"")))
            self._whole = not message.get("more_body", False)
            if self._taken <= self._most:
                return message
            await self._drain()
            raise self._too_large()
        raise Refused(408, f"the body took longer than {BODY_S:.0f} seconds", headers=CLOSE)

    def _take(self, size: int) -> None:
        counters = self._desk.counters
        self._taken += size
        counters.body_bytes += size
        if size and counters.body_bytes > max(BODIES_BYTES, 2 * self._most):
            again = (("retry-after", "1"), *CLOSE)
            raise Refused(503, "too much is being sent at once", hint="try again in a moment", headers=again)

    def _too_large(self) -> Refused:
        return Refused(
            413, f"the body is larger than {self._most} bytes", hint="see http.max_body_bytes", headers=CLOSE
        )

    async def _drain(self) -> None:
        taken = 0
        with anyio.move_on_after(_DRAIN_S):
            while not self._whole and taken < _DRAINED_BYTES:
                message = await self._receive()
                taken += len(message.get("body", b""))
                self._whole = not message.get("more_body", False)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["date"] = format_datetime(self._desk.parts.clock.now(), usegmt=True)
            headers["cache-control"] = "no-store"
            headers["x-content-type-options"] = "nosniff"
        await self._send(message)

    async def refuse(self, error: DreamdError) -> None:
        """Answer with the problem, unless an answer is under way: that one is cut off."""
        if self._status:
            return
        body = written(error)
        headers = [
            ("content-type", "application/problem+json"),
            ("content-length", str(len(body))),
            *headers_of(error),
        ]
        encoded = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers]
        await self.send({"type": "http.response.start", "status": status_of(error), "headers": encoded})
        await self.send({"type": "http.response.body", "body": body})
