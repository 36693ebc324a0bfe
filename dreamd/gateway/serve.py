"""The gateway: agents' own calls pass through it to their upstreams, each announced, so that dreams make way for it.

It belongs to one asyncio event loop; all its state changes there, in callbacks that never wait.
"""

import asyncio
import math
import secrets
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream

from dreamd.events import (
    GATEWAY_FAILED,
    GATEWAY_OPENED,
    UPSTREAM_REACHED,
    UPSTREAM_UNREACHABLE,
    Emit,
    silent,
)
from dreamd.gate.lanes import key_name
from dreamd.gateway.call import Counters
from dreamd.gateway.client import House, Incoming
from dreamd.gateway.message import PURPOSE, RequestHead, key_of
from dreamd.gateway.refusals import Refused
from dreamd.gateway.settings import Settings, Upstream, settled
from dreamd.gateway.sockets import BACKLOG, BUFFER, unix_listener
from dreamd.gateway.upstream import IDLE_S, Pool
from dreamd.parts import Foreground, ForegroundCall, Parts

Task = Callable[[], Coroutine[None, None, None]]

SWEEP_S = 1.0  # while there are connections
AGAIN_S = 30.0  # until it tries again to listen


class Gateway(House):
    """`clients` and the pools' `open` and `idle` are the connections there are; `counters` what they carried."""

    def __init__(
        self,
        settings: Settings,
        foreground: Foreground | None,
        start: Callable[[Task], object],
        *,
        tls: ssl.SSLContext | None = None,
        emit: Emit = silent,
        request_id: Callable[[], str] = lambda: f"dreamd-{secrets.token_hex(12)}",
    ) -> None:
        self.settings = settings
        self.counters = Counters()
        self.connect_timeout_s = settings.connect_timeout_s
        self.request_id = request_id
        self.time = asyncio.get_running_loop().time
        self.start = start
        self.buffer = memoryview(bytearray(BUFFER))
        self.clients: set[Incoming] = set()
        self.pools = {
            upstream.name: Pool(upstream, tls, self.time, self.buffer)
            for upstream in settings.upstreams.values()
        }
        self.port = 0  # where it listens, once it does
        self.foreground = foreground
        self.emit: Emit = emit
        self._unreachable: set[str] = set()
        self._stopping = False
        self._emptied = anyio.Event()
        self._sweeping: asyncio.TimerHandle | None = None

    def pool(self, upstream: Upstream) -> Pool:
        return self.pools[upstream.name]

    def arrived(self, upstream: Upstream, head: RequestHead) -> ForegroundCall | None:
        if self.foreground is None or PURPOSE in head.fields:
            return None
        return self.foreground.arrive(upstream.base_url, max(head.length, 0), key_name(key_of(head)))

    def stopping(self) -> bool:
        return self._stopping

    def reached(self, pool: Pool, refused: Refused | None) -> None:
        """Told on change only."""
        name = pool.upstream.name
        if refused is not None and name not in self._unreachable and not self._stopping:
            self._unreachable.add(name)
            self.emit(UPSTREAM_UNREACHABLE, upstream=name, reason=refused.message)
        elif refused is None and name in self._unreachable:
            self._unreachable.discard(name)
            self.emit(UPSTREAM_REACHED, upstream=name)

    def came(self, client: Incoming) -> bool:
        self.clients.add(client)
        if self._sweeping is None:
            self._sweep_later()
        return len(self.clients) <= self.settings.max_connections and not self._stopping

    def went(self, client: Incoming) -> None:
        self.clients.discard(client)
        if not self.clients:
            self._emptied.set()

    def _sweep_later(self) -> None:
        self._sweeping = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        now = self.time()
        for client in [client for client in self.clients if client.deadline < now]:
            client.expire()
        for pool in self.pools.values():
            pool.close_idle(now - IDLE_S)
        self._sweeping = None
        if self.clients or any(pool.open for pool in self.pools.values()):
            self._sweep_later()

    async def stop(self) -> None:
        """Let calls under way end for `stop_s`, then end them."""
        self._stopping = True
        for client in tuple(self.clients):
            client.stop()
        with anyio.move_on_after(self.settings.stop_s):
            await self._empty()
        for client in tuple(self.clients):
            client.abort()
        for pool in self.pools.values():
            for outgoing in tuple(pool.open):
                outgoing.transport.abort()
        await self._empty()
        if self._sweeping is not None:
            self._sweeping.cancel()

    async def _empty(self) -> None:
        while self.clients:
            self._emptied = anyio.Event()
            await self._emptied.wait()


@asynccontextmanager
async def opened(
    settings: Settings, foreground: Foreground | None, *, emit: Emit = silent
) -> AsyncIterator[Gateway]:
    """Listens while the block runs, then lets the calls under way end. Raises OSError when it cannot listen."""
    secure = any(upstream.tls for upstream in settings.upstreams.values())
    tls = await to_thread.run_sync(ssl.create_default_context) if secure else None
    send, started = anyio.create_memory_object_stream[Task](math.inf)
    with send, started:
        gateway = Gateway(settings, foreground, send.send_nowait, tls=tls, emit=emit)
        server = await _listening(gateway)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_run, started)
            try:
                yield gateway
            finally:
                with anyio.CancelScope(shield=True):
                    await _closed(server, gateway)
                tasks.cancel_scope.cancel()


async def _run(started: MemoryObjectReceiveStream[Task]) -> None:
    """What callbacks have started: they are in no task, and may not start one themselves."""
    async with anyio.create_task_group() as tasks:
        async for task in started:
            tasks.start_soon(task)


async def _closed(server: asyncio.Server, gateway: Gateway) -> None:
    server.close()
    await gateway.stop()
    if path := gateway.settings.listen.path:
        await to_thread.run_sync(partial(Path(path).unlink, missing_ok=True))


async def _listening(gateway: Gateway) -> asyncio.Server:
    loop, listen = asyncio.get_running_loop(), gateway.settings.listen

    def incoming() -> Incoming:
        return Incoming(gateway)

    if listen.path:
        held = await to_thread.run_sync(unix_listener, listen.path)
        return await loop.create_unix_server(incoming, sock=held)
    server = await loop.create_server(incoming, listen.host, listen.port, backlog=BACKLOG)
    gateway.port = server.sockets[0].getsockname()[1]
    return server


class Life(Protocol):
    """A gateway outlives a change of the configuration: the parts as they are now, and when there will be others."""

    parts: Parts
    changed: anyio.Event


async def serve(life: Life) -> None:
    """Run until cancelled, on new parts without ending a call, on new settings anew.

    An address that cannot be had is told once and tried again. Raises ConfigError.
    """
    told = False
    while True:
        parts, changed = life.parts, life.changed
        settings = await to_thread.run_sync(_wanted, parts)
        if settings is None:
            await changed.wait()
            continue
        listen = parts.config.gateway.listen
        try:
            async with opened(settings, parts.foreground, emit=parts.emit) as gateway:
                parts.emit(GATEWAY_OPENED, listen=listen, upstreams=len(settings.upstreams))
                told = False
                await _until_others_are_wanted(life, gateway)
        except OSError as error:
            if not told:
                parts.emit(GATEWAY_FAILED, listen=listen, reason=error.strerror)
            told = True
            await parts.clock.sleep(AGAIN_S)


async def _until_others_are_wanted(life: Life, gateway: Gateway) -> None:
    while True:
        parts, changed = life.parts, life.changed
        if await to_thread.run_sync(_wanted, parts) != gateway.settings:
            return
        gateway.foreground, gateway.emit = parts.foreground, parts.emit
        await changed.wait()


def _wanted(parts: Parts) -> Settings | None:
    return settled(parts.config.gateway) if parts.config.gateway.listen else None
