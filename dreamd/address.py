"""Where dreamd listens: a key of the configuration as an address, and the address as a socket that nobody else may use."""

import errno
import ipaddress
import os
import socket
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import Struct

from dreamd.errors import ConfigError

_LONGEST_PATH = 107  # bytes of a Unix socket's path; the kernel takes no more


class Address(Struct, frozen=True):
    """A Unix socket's path, or a host and a port (0: a free one)."""

    path: Path | None = None
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"unix:{self.path}" if self.path else f"{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether this machine alone can reach it."""
        return self.path is not None or is_loopback(self.host)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address(listen: str, key: str) -> Address:
    """`key` is where it is written. Raises ConfigError for what is none."""
    if listen.startswith("unix:"):
        path = Path(listen.removeprefix("unix:").removeprefix("//")).expanduser()
        if path.is_absolute():  # a daemon's own folder is none that a person thinks of
            return Address(path)
    host, _, port = listen.rpartition(":")
    if host and port.isascii() and port.isdigit() and int(port) < 1 << 16:
        return Address(host=host.strip("[]"), port=int(port))
    raise ConfigError(f"{key} is {listen!r}", hint='write it as "unix:/path" or "127.0.0.1:8377"')


def too_long(path: Path) -> bool:
    """For a Unix socket."""
    return len(os.fsencode(path)) > _LONGEST_PATH


def bound(where: Address) -> socket.socket:
    """A socket that is bound and does not listen yet. Blocking. Raises OSError.

    A Unix socket is its owner's alone (0600) before anybody can connect. What a killed daemon left behind is
    replaced; what lives, or is no socket, stays.
    """
    return bound_at(where.path) if where.path else _tcp(where)


def bound_at(path: Path) -> socket.socket:
    """The same of a Unix socket."""
    if too_long(path):
        raise OSError(errno.ENAMETOOLONG, f"the path is longer than {_LONGEST_PATH} bytes")
    _clear(path)
    with ExitStack() as unless_bound:
        one = unless_bound.enter_context(socket.socket(socket.AF_UNIX))
        one.bind(str(path))
        path.chmod(0o600)
        unless_bound.pop_all()
    return one


def _tcp(where: Address) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(
        where.host, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with ExitStack() as unless_bound:
        one = unless_bound.enter_context(socket.socket(family, kind, protocol))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(place)
        unless_bound.pop_all()
    return one


def _clear(path: Path) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise FileExistsError(errno.EEXIST, "something else stands there")
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(1)
            if one.connect_ex(str(path)) != errno.ECONNREFUSED:  # it may be too busy to take one more
                raise FileExistsError(errno.EEXIST, "somebody listens there already")
        path.unlink()


def removed(where: Address, inode: int) -> None:
    """Take the Unix socket's file away, unless it is another's by now. Blocking."""
    with suppress(OSError):
        if where.path and where.path.lstat().st_ino == inode:
            where.path.unlink()


def inode(where: Address) -> int:
    """Of the Unix socket's file; 0 for TCP."""
    return where.path.lstat().st_ino if where.path else 0
