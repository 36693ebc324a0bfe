"""The gateway: agents' own calls pass through it to their upstreams, each announced, so that dreams make way for it.

It belongs to one asyncio event loop; all its state changes there, in callbacks that never wait.
"""

import asyncio
import math
import os
import secrets
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Protocol

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream
from msgspec import structs

from dreamd.address import Address
from dreamd.errors import DiskFull, StoreError
from dreamd.events import (
    GATEWAY_FAILED,
    GATEWAY_OPENED,
    UPSTREAM_REACHED,
    UPSTREAM_UNREACHABLE,
    Emit,
    silent,
)
from dreamd.gate.passing import GatewayShown, Passing, UpstreamShown, publish
from dreamd.gateway.asking import Ask
from dreamd.gateway.call import Counters
from dreamd.gateway.client import House, Incoming
from dreamd.gateway.message import PURPOSE
from dreamd.gateway.refusals import Refused
from dreamd.gateway.settings import Settings, Upstream, settled
from dreamd.gateway.sockets import BUFFER, listening, room_for
from dreamd.gateway.upstream import IDLE_S, Pool
from dreamd.parts import Foreground, ForegroundCall, Parts

Task = Callable[[], Coroutine[None, None, None]]
Show = Callable[[Passing], Coroutine[None, None, None]]

SWEEP_S = 1.0  # while there are connections
SHOW_S = 5.0  # at most so often
AGAIN_S = 30.0  # until it tries again to listen


class Gateway(House):
    """`clients` and the pools' `open` and `idle` are the connections there are; `counters` what they carried.

    Its settings may change while it runs: calls under way end as they began, the next ones go by the new ones.
    """

    def __init__(
        self,
        settings: Settings,
        foreground: Foreground | None,
        start: Callable[[Task], object],
        *,
        emit: Emit = silent,
        show: Show | None = None,
        request_id: Callable[[], str] = lambda: f"dreamd-{secrets.token_hex(12)}",
    ) -> None:
        self.settings = settings
        self.counters = Counters()
        self.request_id = request_id
        self.time = time.monotonic
        self.start = start
        self.buffer = memoryview(bytearray(BUFFER))
        self.clients: set[Incoming] = set()
        self.pools: dict[str, Pool] = {}
        self.port = 0  # where it listens, once it does
        self._room = settings.max_connections
        self.foreground = foreground
        self.emit: Emit = emit
        self.show = show
        self._shown: Passing | None = None
        self._shown_at = -math.inf
        self._retired: list[Pool] = []  # of upstreams that were changed or taken out, while their calls go on
        self._server: asyncio.Server | None = None
        self._tls: ssl.SSLContext | None = None
        self._unreachable: set[str] = set()
        self._stopping = False
        self._emptied = anyio.Event()
        self._sweeping: asyncio.TimerHandle | None = None
        self._repool()

    @property
    def connect_timeout_s(self) -> float:
        return self.settings.connect_timeout_s

    # what it goes by

    async def go_by(self, settings: Settings) -> None:
        """From here on; who came to another address ends the call under way, and no more. Raises OSError: cannot listen."""
        if any(upstream.tls for upstream in settings.upstreams.values()) and self._tls is None:
            self._tls = await to_thread.run_sync(ssl.create_default_context)
        before, self.settings = self.settings, settings
        self._room = room_for(settings.max_connections)
        self._repool()
        if self._server is None or settings.listen != before.listen:
            await self._leave_door(before.listen)
            for client in tuple(self.clients):
                client.stop()
            listen = settings.listen
            self._server = await listening(partial(Incoming, self), listen)
            self.port = listen.port or (0 if listen.path else self._server.sockets[0].getsockname()[1])

    def _repool(self) -> None:
        kept = self.pools
        self.pools = {
            upstream.name: kept[upstream.name]
            if upstream.name in kept and kept[upstream.name].upstream == upstream
            else Pool(upstream, self._tls, self.time, self.buffer)
            for upstream in self.settings.upstreams.values()
        }
        for pool in self.pools.values():
            pool.tls = self._tls
        retired = [pool for pool in kept.values() if pool not in self.pools.values()]
        for pool in retired:
            pool.retire()
        self._retired += retired
        self._unreachable &= self.pools.keys()

    async def _leave_door(self, listen: Address) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
            if listen.path:
                await to_thread.run_sync(partial(listen.path.unlink, missing_ok=True))

    def announce_to(self, foreground: Foreground | None) -> None:
        """Calls under way too, which the lanes before have known."""
        if foreground is not self.foreground:
            self.foreground = foreground
            for client in self.clients:
                client.announce_again()

    # what its connections ask

    def pool(self, upstream: Upstream) -> Pool:
        return self.pools[upstream.name]

    def arrived(self, ask: Ask) -> ForegroundCall | None:
        if self.foreground is None or PURPOSE in ask.head.fields:
            return None
        return self.foreground.arrive(ask.upstream.base_url, max(ask.head.length, 0), ask.key)

    def reached(self, pool: Pool, refused: Refused | None) -> None:
        """Told on change only."""
        name = pool.upstream.name
        if pool is not self.pools.get(name) or self._stopping:
            return
        if refused is not None and name not in self._unreachable:
            self._unreachable.add(name)
            self.emit(UPSTREAM_UNREACHABLE, upstream=name, reason=refused.message)
        elif refused is None and name in self._unreachable:
            self._unreachable.discard(name)
            self.emit(UPSTREAM_REACHED, upstream=name)

    def came(self, client: Incoming) -> int:
        self.clients.add(client)
        if self._sweeping is None:
            self._sweep_later()
        return -1 if self._stopping else self._room - len(self.clients)

    def went(self, client: Incoming) -> None:
        self.clients.discard(client)
        if not self.clients:
            self._emptied.set()

    # now and then

    def _sweep_later(self) -> None:
        self._sweeping = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        now = self.time()
        for client in [client for client in self.clients if client.deadline < now]:
            client.expire()
        for pool in self.pools.values():
            pool.close_idle(now - IDLE_S)
        self._retired = [pool for pool in self._retired if pool.open]
        self._sweeping = None
        if busy := bool(self.clients or any(pool.open for pool in self._all_pools)):
            self._sweep_later()
        self._show_news(now, last=not busy)

    @property
    def _all_pools(self) -> tuple[Pool, ...]:
        return (*self.pools.values(), *self._retired)

    def _show_news(self, now: float, *, last: bool) -> None:
        """For other processes that ask how things stand: now and then, and when all is quiet again."""
        if self.show is None or (now - self._shown_at < SHOW_S and not last):
            return
        seen = self.passing()
        if seen != self._shown:
            self._shown, self._shown_at = seen, now
            self.start(partial(self.show, seen))

    def passing(self) -> Passing:
        """How things stand."""
        return Passing(
            connections=len(self.clients),
            upstreams=tuple(
                UpstreamShown(name, len(pool.open), len(pool.idle), name not in self._unreachable)
                for name, pool in self.pools.items()
            ),
            **structs.asdict(self.counters),
        )

    # the end

    async def stop(self) -> None:
        """Let calls under way end for `stop_s`, then end them."""
        self._stopping = True
        await self._leave_door(self.settings.listen)
        for client in tuple(self.clients):
            client.stop()
        with anyio.move_on_after(self.settings.stop_s):
            await self._empty()
        for client in tuple(self.clients):
            client.abort()
        for pool in self._all_pools:
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
    settings: Settings, foreground: Foreground | None, *, emit: Emit = silent, show: Show | None = None
) -> AsyncIterator[Gateway]:
    """Listens while the block runs, then lets the calls under way end. Raises OSError when it cannot listen."""
    send, started = anyio.create_memory_object_stream[Task](math.inf)
    with send, started:
        gateway = Gateway(settings, foreground, send.send_nowait, emit=emit, show=show)
        await gateway.go_by(settings)
        failure: OSError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_run, started)
            try:
                yield gateway
            except OSError as error:  # a task group would wrap it
                failure = error
            finally:
                with anyio.CancelScope(shield=True):
                    await gateway.stop()
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure


async def _run(started: MemoryObjectReceiveStream[Task]) -> None:
    """What callbacks have started: they are in no task, and may not start one themselves."""
    async with anyio.create_task_group() as tasks:
        async for task in started:
            tasks.start_soon(task)


class Life(Protocol):
    """A gateway outlives a change of the configuration: the parts as they are now, and when there will be others."""

    parts: Parts
    changed: anyio.Event


async def serve(life: Life) -> None:
    """Run until cancelled, through all changes of the parts and of the settings, without ending a call.

    An address that cannot be had is told once and tried again. Raises ConfigError.
    """
    told = False
    while True:
        parts, changed = life.parts, life.changed
        settings = await to_thread.run_sync(_wanted, parts)
        if settings is None:
            await changed.wait()
            continue
        try:
            show, foreground = partial(_show_of, life), await _announced_to(parts)
            async with opened(settings, foreground, emit=parts.emit, show=show) as gateway:
                told = False
                await _while_wanted(life, gateway)
            await _show(life.parts, Passing(), listen="")
        except OSError as error:
            parts = life.parts
            if not told:
                await _show(parts, Passing(), listen="")
                parts.emit(GATEWAY_FAILED, listen=parts.config.gateway.listen, reason=error.strerror)
            told = True
            await parts.clock.sleep(AGAIN_S)


async def _while_wanted(life: Life, gateway: Gateway) -> None:
    """Raises OSError: it cannot listen where it should now."""
    new = True
    while True:
        parts, changed = life.parts, life.changed
        settings = await to_thread.run_sync(_wanted, parts)
        if settings is None:
            return
        gateway.emit = parts.emit
        gateway.announce_to(await _announced_to(parts))
        if new or settings != gateway.settings:
            await gateway.go_by(settings)
            await _show_of(life, gateway.passing())
            parts.emit(GATEWAY_OPENED, listen=parts.config.gateway.listen, upstreams=len(settings.upstreams))
        new = False
        await changed.wait()


async def _announced_to(parts: Parts) -> Foreground | None:
    """In a thread, for the lanes may have to be loaded."""
    return await to_thread.run_sync(parts.foreground) if parts.foreground else None


async def _show_of(life: Life, seen: Passing) -> None:
    await _show(life.parts, seen, listen=life.parts.config.gateway.listen)


async def _show(parts: Parts, seen: Passing, *, listen: str) -> None:
    shown = GatewayShown(listen, os.getpid(), parts.clock.now(), seen)
    with suppress(StoreError, DiskFull):  # it is shown the next time
        await to_thread.run_sync(publish, parts.store, shown)


def _wanted(parts: Parts) -> Settings | None:
    return settled(parts.config.gateway) if parts.config.gateway.listen else None
