"""The listener: the socket opens with the daemon, the house behind it is furnished when somebody knocks.

Nothing here ticks, and nothing here loads a web framework: an idle daemon pays for a file descriptor.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, Self, cast

import anyio
from anyio import CancelScope, to_thread

from dreamd import _plugins
from dreamd.address import Address, address, bound, inode, removed
from dreamd.config import Config, secret
from dreamd.errors import ConfigError
from dreamd.events import HTTP_OPENED, HTTP_UNAVAILABLE
from dreamd.parts import Parts

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0  # between two tries to listen
SOCKET = "dreamd.sock"  # in the state folder
_MOST_WAITING = 256  # connections while the house is being furnished
_BACKLOG = 128

Connect = Callable[[], asyncio.Protocol]


class Furnish(Protocol):
    """`http.serving.OPEN`: the protocol of a connection, while inside; leaving ends all connections in good order."""

    def __call__(
        self, parts: Parts, where: Address, ready: Callable[[], bool], errands: dict[str, Any]
    ) -> AbstractAsyncContextManager[Connect]: ...


class Threshold:
    """The socket that the face listens on, kept from one configuration to the next: who comes between them waits.

    `errands` are of those who came, by their ids (`http.jobs.Errand`); they are kept as well.
    """

    def __init__(self) -> None:
        self.errands: dict[str, Any] = {}
        self._wanted = Address()
        self._where = Address()
        self._socket: socket.socket | None = None
        self._inode = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with CancelScope(shield=True):
            await to_thread.run_sync(self.close)

    @property
    def awaited(self) -> bool:
        """Whether an errand of theirs is not done yet."""
        return any(errand.running for errand in self.errands.values())

    def opened(self, parts: Parts) -> tuple[Address, socket.socket]:
        """The address, and a handle of the socket that may be closed. Blocking. Raises ConfigError, OSError."""
        wanted = address_of(parts)
        if not wanted.local and not token(parts.config):
            raise ConfigError(
                f"http.listen is {wanted}, which others can reach", hint="set http.token_env or token_file"
            )
        if self._socket is None or wanted != self._wanted or not self._in_place():
            self.close()
            one = bound(wanted)
            port = wanted.port if wanted.path else one.getsockname()[1]
            self._wanted, self._where = wanted, Address(wanted.path, wanted.host, port)
            self._socket, self._inode = one, inode(wanted)
        return self._where, self._socket.dup()

    def _in_place(self) -> bool:
        """Whether a Unix socket's file is still the one."""
        try:
            return inode(self._where) == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Nobody can come any more. Blocking."""
        if self._socket:
            self._socket.close()
            removed(self._where, self._inode)
        self._socket = None


async def face(parts: Parts, ready: Callable[[], bool], threshold: Threshold) -> None:
    """Listen and answer until cancelled, or where `http.listen` is "" do only what was asked for before. Never raises for a socket.

    What keeps it from listening is told once and tried again: the daemon's work does not depend on it. The `threshold`
    is its owner's to close.
    """
    if not parts.config.http.listen:
        await to_thread.run_sync(threshold.close)
        if threshold.awaited:
            finish = await to_thread.run_sync(_plugins.load, "http", "jobs", "finish")
            await cast("Callable[..., Awaitable[None]]", finish)(parts, threshold.errands)
        await anyio.sleep_forever()
    async with _listening(parts, threshold) as (door, where):
        if not threshold.awaited:
            await door.knocked.wait()
        furnish = cast("Furnish", await to_thread.run_sync(_plugins.load, "http", "serving", "OPEN"))
        async with furnish(parts, where, ready, threshold.errands) as connect:
            door.open(connect)
            try:
                await anyio.sleep_forever()
            finally:
                door.shut()


class Door:
    """Makes the protocol of each connection; those that come too early wait before it, with their first words kept."""

    def __init__(self) -> None:
        self.knocked = anyio.Event()
        self.server: asyncio.Server | None = None
        self._connect: Connect | None = None
        self._waiting: dict[_Visitor, asyncio.Transport] = {}

    def __call__(self) -> asyncio.Protocol:
        return self._connect() if self._connect else _Visitor(self)

    def wait(self, visitor: "_Visitor", transport: asyncio.Transport) -> None:
        if self._connect:  # the door was opened while this one was being accepted
            visitor.show_in(transport, self._connect)
        elif len(self._waiting) >= _MOST_WAITING:
            transport.abort()
        else:
            self._waiting[visitor] = transport
            self.knocked.set()

    def leave(self, visitor: "_Visitor") -> None:
        self._waiting.pop(visitor, None)

    def open(self, connect: Connect) -> None:
        self._connect = connect
        waiting, self._waiting = self._waiting, {}
        for visitor, transport in waiting.items():
            visitor.show_in(transport, connect)

    def shut(self) -> None:
        """Nobody comes in any more."""
        if self.server:
            self.server.close()
        for transport in self._waiting.values():
            transport.abort()


class _Visitor(asyncio.Protocol):
    """A connection that waits for the door to open.

    What it says meanwhile is kept, and only then is no more read: a transport that is paused as soon as it is made
    reads all the same before Python 3.11.4, and what came would be lost.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._transport: asyncio.Transport | None = None
        self._said = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._door.wait(self, self._transport)

    def data_received(self, data: bytes) -> None:
        self._said += data
        if self._transport:
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._door.leave(self)

    def show_in(self, transport: asyncio.Transport, connect: Connect) -> None:
        """Hand the connection over, as if it came now."""
        protocol = connect()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if transport.is_closing():
            return
        transport.resume_reading()
        if self._said:
            protocol.data_received(self._said)


@asynccontextmanager
async def _listening(parts: Parts, threshold: Threshold) -> AsyncIterator[tuple[Door, Address]]:
    door, (where, one) = Door(), await _bound(parts, threshold)
    listen = asyncio.get_running_loop().create_unix_server if where.path else _tcp_server
    door.server = await listen(door, sock=one, backlog=_BACKLOG)
    parts.emit(HTTP_OPENED, listen=where)
    try:
        yield door, where
    finally:
        door.shut()


async def _bound(parts: Parts, threshold: Threshold) -> tuple[Address, socket.socket]:
    """However long it takes."""
    pause, told = FIRST_PAUSE_S, ""
    while True:
        try:
            return await to_thread.run_sync(threshold.opened, parts)
        except ConfigError as error:
            reason = str(error)
        except OSError as error:
            reason = error.strerror or str(error)
        if reason != told:
            parts.emit(HTTP_UNAVAILABLE, listen=parts.config.http.listen, reason=reason)
        told, pause = reason, min(2 * pause, LONGEST_PAUSE_S)
        await parts.clock.sleep(pause)


async def _tcp_server(door: Door, *, sock: socket.socket, backlog: int) -> asyncio.Server:
    return await asyncio.get_running_loop().create_server(door, sock=sock, backlog=backlog)


def address_of(parts: Parts) -> Address:
    """`http.listen`. Raises ConfigError."""
    listen = parts.config.http.listen
    return Address(parts.state / SOCKET) if listen == "unix" else address(listen, "http.listen")


def token(config: Config) -> str:
    """What a caller must bear for changes; "" when none is configured. Blocking. Raises ConfigError."""
    return secret(config.http.token_env, config.http.token_file, "token of http")
