"""A name and a port in, a connected socket out: where the name leads, and which of those places answers first.

One thread at most asks for a name at a time, however many calls wait for it, for the system's resolver may take half a
minute to say no, and threads are few: names that are dead must not hold up those that are well. What was found serves for
a while, and longer when the resolver fails.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

import anyio

FRESH_S = 30.0
STAGGER_S = 0.25  # RFC 8305 5: until the next address is tried beside

Address = tuple[socket.AddressFamily, tuple[object, ...]]


class Dialler:
    def __init__(self, host: str, port: int, time: Callable[[], float]) -> None:
        self._host = host
        self._port = port
        self._time = time
        self._found: Sequence[Address] = _literal(host, port)
        self._fresh_until = float("inf") if self._found else float("-inf")
        self._asking: asyncio.Future[list[Address]] | None = None

    async def dial(self) -> socket.socket:
        """Raises OSError, UnicodeError."""
        known = self._time() < self._fresh_until
        try:
            return await _first(await self._addresses())
        except OSError:
            if not known or self._fresh_until == float("inf"):
                raise
        self._fresh_until = float("-inf")  # it may have moved
        return await _first(await self._addresses())

    async def _addresses(self) -> Sequence[Address]:
        if self._time() < self._fresh_until:
            return self._found
        if self._asking is None:
            loop = asyncio.get_running_loop()
            self._asking = loop.run_in_executor(None, _asked, self._host, self._port)
            self._asking.add_done_callback(self._told)
        try:
            return await asyncio.shield(self._asking)
        except OSError:
            if not self._found:
                raise
            return self._found

    def _told(self, asking: "asyncio.Future[list[Address]]") -> None:
        self._asking = None
        if not asking.cancelled() and asking.exception() is None:
            self._found, self._fresh_until = asking.result(), self._time() + FRESH_S


def _literal(host: str, port: int) -> Sequence[Address]:
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        return ()
    return ((socket.AF_INET if version == 4 else socket.AF_INET6, (host, port)),)  # noqa: PLR2004 - their names


def _asked(host: str, port: int) -> list[Address]:
    """The families in turn, beginning with the one that the system prefers."""
    found = [(one[0], one[4]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    preferred = [one for one in found if one[0] == found[0][0]]
    others = [one for one in found if one[0] != found[0][0]]
    return [one for one in chain.from_iterable(zip_longest(preferred, others)) if one is not None]


async def _first(addresses: Sequence[Address]) -> socket.socket:
    """Connected to the first that answers; each is tried a moment after the one before, or when that has failed."""
    connected: list[socket.socket] = []
    errors: list[OSError] = []
    async with anyio.create_task_group() as tasks:

        async def attempt(address: Address, failed: anyio.Event) -> None:
            try:
                one = await _connected(*address)
            except OSError as error:
                errors.append(error)
                failed.set()
                return
            if connected:
                one.close()
            connected.append(one)
            tasks.cancel_scope.cancel()

        for address in addresses:
            failed = anyio.Event()
            tasks.start_soon(attempt, address, failed)
            with anyio.move_on_after(STAGGER_S):
                await failed.wait()
    if not connected:
        raise errors[0] if errors else OSError("it has no address")
    return connected[0]


async def _connected(family: socket.AddressFamily, where: tuple[object, ...]) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle on
    try:
        one.setblocking(False)
        await asyncio.get_running_loop().sock_connect(one, where)
    except BaseException:
        one.close()
        raise
    return one
