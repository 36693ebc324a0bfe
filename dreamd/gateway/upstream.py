"""Connections to the upstreams: one call at a time on each, kept for the next ones while the upstream keeps them."""

import asyncio
import math
import ssl
from collections.abc import Callable
from typing import Protocol, cast

from dreamd.gateway.dialling import Dialler
from dreamd.gateway.settings import Upstream
from dreamd.gateway.sockets import Receiver, keep_alive

IDLE_S = 15.0  # servers close idle connections after 5 to 75 s; ours go first where they can


class User(Protocol):
    """The call that a connection serves now."""

    def answered(self, data: bytes) -> None:
        """Bytes of the answer are in."""

    def upstream_lost(self, error: Exception | None) -> None:
        """The connection ended; with no error the upstream ended it in good order."""

    def upstream_full(self, full: bool) -> None:
        """The upstream takes no more for now, or again."""


class Outgoing(Receiver):
    """One connection. `calls` is how many it has served, `idle_since` when the last one ended."""

    def __init__(self, pool: "Pool") -> None:
        super().__init__(pool.buffer)
        self._pool = pool
        self.user: User | None = None
        self.calls = 0
        self.idle_since = 0.0
        self.transport = cast("asyncio.Transport", None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        keep_alive(transport)
        self._pool.open.add(self)

    def received(self, data: bytes) -> None:
        if self.user is None:  # it speaks unasked: whatever comes next would be out of step
            self.transport.abort()
        else:
            self.user.answered(data)

    def pause_writing(self) -> None:
        if self.user is not None:
            self.user.upstream_full(True)

    def resume_writing(self) -> None:
        if self.user is not None:
            self.user.upstream_full(False)

    def connection_lost(self, exc: Exception | None) -> None:
        self._pool.gone(self)
        user, self.user = self.user, None
        if user is not None:
            user.upstream_lost(exc)


class Pool:
    """The connections to one upstream. `open` are all, `idle` those that serve no call, longest idle first."""

    def __init__(
        self, upstream: Upstream, tls: ssl.SSLContext | None, time: Callable[[], float], buffer: memoryview
    ) -> None:
        self.upstream = upstream
        self.tls = tls
        self.buffer = buffer
        self._time = time
        self._retired = False
        self._dialler = Dialler(upstream.host, upstream.port, time)
        self.open: set[Outgoing] = set()
        self.idle: list[Outgoing] = []

    def take(self) -> Outgoing | None:
        """One that was used last and is still open, if there is one."""
        while self.idle:
            outgoing = self.idle.pop()
            if not outgoing.transport.is_closing():
                return outgoing
        return None

    async def connect(self) -> Outgoing:
        """A new one. Raises OSError, UnicodeError."""
        upstream = self.upstream
        dialled = await self._dialler.dial()
        try:
            _, outgoing = await asyncio.get_running_loop().create_connection(
                lambda: Outgoing(self),
                sock=dialled,
                ssl=(self.tls or True) if upstream.tls else None,
                server_hostname=upstream.host if upstream.tls else None,
            )
        except BaseException:
            dialled.close()
            raise
        return outgoing

    def give(self, outgoing: Outgoing) -> None:
        """It has served its call and is good for another."""
        outgoing.user = None
        if self._retired:
            outgoing.transport.close()
            return
        outgoing.idle_since = self._time()
        self.idle.append(outgoing)

    def gone(self, outgoing: Outgoing) -> None:
        self.open.discard(outgoing)
        if outgoing in self.idle:
            self.idle.remove(outgoing)

    def retire(self) -> None:
        """No further call comes: a connection is closed as soon as it serves none."""
        self._retired = True
        self.close_idle(math.inf)

    def close_idle(self, since: float) -> None:
        """Those that have been idle since before then."""
        while self.idle and self.idle[0].idle_since < since:
            self.idle.pop(0).transport.close()
