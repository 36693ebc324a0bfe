"""The [gateway] section -> where to listen, which upstreams there are, who may call (pure, but for the token's file)."""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from dreamd.config import secret
from dreamd.errors import ConfigError
from dreamd.sections import Gateway


class Listen(Struct, frozen=True):
    """A TCP address, or the path of a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    @property
    def here(self) -> bool:
        """Only this machine reaches it."""
        return bool(self.path) or is_loopback(self.host)

    def leads_to(self, upstream: "Upstream") -> bool:
        """Whether calls to it would come here, to go there, and so on."""
        if self.path or not self.port or upstream.port != self.port:
            return False
        here = is_loopback(self.host) or self.host in ("0.0.0.0", "::")  # noqa: S104 - compared only
        return upstream.host == self.host or (here and is_loopback(upstream.host))


class Upstream(Struct, frozen=True):
    """`authority` is its Host, `prefix` the path that every target gets in front."""

    name: str
    base_url: str
    host: str
    port: int
    tls: bool
    authority: bytes
    prefix: bytes


class Settings(Struct, frozen=True, kw_only=True):
    listen: Listen
    upstreams: Mapping[bytes, Upstream]
    token: bytes = b""
    connect_timeout_s: float = 10.0
    stop_s: float = 8.0
    max_connections: int = 2000


def settled(gateway: Gateway) -> Settings:
    """Raises ConfigError: an address or base URL that is none, a door open to others without a token, a circle."""
    listen = listening(gateway.listen)
    named = gateway.token_env or gateway.token_file
    if not listen.here and not named:
        raise ConfigError(
            f"gateway.listen is {gateway.listen}, which others reach",
            hint="set gateway.token_env or token_file, or listen on 127.0.0.1",
        )
    token = secret(gateway.token_env, gateway.token_file, "token of the gateway") if named else ""
    upstreams = {name.encode(): upstream(name, url) for name, url in gateway.upstreams.items()}
    for one in upstreams.values():
        if listen.leads_to(one):
            raise ConfigError(
                f"gateway.upstreams.{one.name} is the gateway itself", hint="name the upstream's own URL"
            )
    return Settings(
        listen=listen,
        upstreams=upstreams,
        token=token.encode(),
        connect_timeout_s=gateway.connect_timeout_s,
        stop_s=gateway.stop_s,
        max_connections=gateway.max_connections,
    )


def listening(text: str) -> Listen:
    """Raises ConfigError."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:").removeprefix("//")
        if path.startswith("/"):
            return Listen(path=path)
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if host and port.isdecimal() and int(port) < 1 << 16:
        return Listen(host, int(port))
    raise ConfigError(f"gateway.listen is {text!r}", hint='write "127.0.0.1:8377" or "unix:/path"')


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_host(host: str) -> bool:
    try:
        return bool(host) and bool(host.encode("idna"))
    except UnicodeError:  # an empty label, or one that is too long
        return False


def upstream(name: str, url: str) -> Upstream:
    """Raises ConfigError."""
    place = f"gateway.upstreams.{name}"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ConfigError(f"{place}: no good name", hint="use letters, digits, dash and underscore")
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise ConfigError(f"{place} is no URL: {error}") from error
    if parts.username is not None:  # the text is not shown: it holds a password
        raise ConfigError(f"{place} holds a user name", hint="agents send their keys themselves")
    plain = url.isascii() and url.isprintable() and not (parts.query or parts.fragment or " " in url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not _is_host(host) or not plain:
        raise ConfigError(f"{place} is {url!r}", hint='write a base URL such as "https://api.openai.com"')
    return Upstream(
        name=name,
        base_url=url,
        host=host,
        port=port,
        tls=parts.scheme == "https",
        authority=parts.netloc.encode(),
        prefix=parts.path.rstrip("/").encode(),
    )
