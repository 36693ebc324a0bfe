"""The sockets' side: listening, and options that both ends of a long stream want."""

import asyncio
import os
import resource
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from anyio import to_thread

BACKLOG = 1024
AT_ONCE = 64  # connections accepted before anything else is done
RESERVED = 400  # descriptors for all else in the process, and for clients that are being turned away
BUFFER = 64 << 10  # bytes
_PROBES = (
    ("TCP_KEEPIDLE", 60),
    ("TCP_KEEPINTVL", 20),
    ("TCP_KEEPCNT", 4),
)  # a peer that vanished is noticed in 140 s


class Receiver(asyncio.BufferedProtocol):
    """Hands on what was received, read through one `buffer` for all connections of a loop.

    asyncio's plain protocols read into 256 kB that are allocated anew each time, which costs more than all the rest.
    """

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.received(bytes(self._buffer[:nbytes]))

    def received(self, data: bytes) -> None:
        raise NotImplementedError


def keep_alive(transport: asyncio.BaseTransport) -> None:
    """Let the kernel ask now and then whether the peer is still there: a stream may be silent for long."""
    held = transport.get_extra_info("socket")
    if held is None or held.family == socket.AF_UNIX:
        return
    with suppress(OSError):  # the peer has gone already
        held.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, seconds in _PROBES:
            if hasattr(socket, name):
                held.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)


async def listening(
    incoming: Callable[[], asyncio.BaseProtocol], host: str, port: int, path: str = ""
) -> asyncio.Server:
    """At `path`, or else at the TCP address. Raises OSError.

    asyncio takes one number for how many may wait and for how many it accepts in a row: the latter must be few, so that
    a crowd can be turned away before the process is out of descriptors.
    """
    loop = asyncio.get_running_loop()
    if path:
        held = await to_thread.run_sync(unix_listener, path)
        server = await loop.create_unix_server(incoming, sock=held, backlog=AT_ONCE)
    else:
        server = await loop.create_server(incoming, host, port, backlog=AT_ONCE)
    for one in server.sockets:
        with one.dup() as again:
            again.listen(BACKLOG)
    return server


def room_for(connections: int) -> int:
    """How many of so many clients, each with a connection to its upstream, the process has descriptors for.

    The soft limit, which is low on many systems for the sake of programs older than this, is raised as far as needed.
    """
    wanted = 2 * connections + RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return connections
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else max(soft, min(wanted, hard))
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, min(connections, (soft - RESERVED) // 2))


def unix_listener(path: str) -> socket.socket:
    """A listening socket at `path` that only its owner can connect to. What a dead process left there is replaced.

    Raises OSError; so it does where something else than a socket is in the way.
    """
    place = Path(path)
    listener = socket.socket(socket.AF_UNIX)
    try:
        if place.exists() and stat.S_ISSOCK(place.lstat().st_mode) and not _answers(path):
            place.unlink()
        listener.bind(path)
        os.chmod(path, 0o600)  # noqa: PTH101 - before it listens, so nobody was let in
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True
