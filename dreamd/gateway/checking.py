"""Whether the gateway can open as configured and its upstreams answer: the parts in, findings for `dreamd check` out.

Sends nothing but what a connection takes; leaves nothing open.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress

import anyio
from anyio import to_thread

from dreamd.address import Address, too_long
from dreamd.check import Finding
from dreamd.errors import ConfigError
from dreamd.gateway.call import why
from dreamd.gateway.settings import Settings, Upstream, settled, upstream
from dreamd.locks import DAEMON, holder
from dreamd.parts import Parts

_LISTEN = "set gateway.listen to a free address of this machine"


async def of_gateway(parts: Parts) -> list[Finding]:
    gateway = parts.config.gateway
    if not gateway.listen:
        return [Finding("ok", "gateway", "switched off")]
    try:
        settings = await to_thread.run_sync(settled, gateway)
    except ConfigError as error:
        return [Finding("error", "gateway", error.what, error.hint or "correct [gateway]")]
    found = [await to_thread.run_sync(_of_address, parts, settings.listen), *_of_lanes(parts, settings)]
    if not settings.upstreams:
        todo = 'name one: gateway.upstreams.openai = "https://api.openai.com"'
        found.append(Finding("warning", "gateway", "there are no upstreams, so no call can pass", todo))
    tls = await to_thread.run_sync(ssl.create_default_context)
    return found + [await _of_upstream(one, settings, tls) for one in settings.upstreams.values()]


def _of_address(parts: Parts, listen: Address) -> Finding:
    """Beside a running daemon it should answer, else it should be free."""
    where, runs = parts.config.gateway.listen, holder(parts.state / DAEMON) is not None
    if listen.path and too_long(listen.path):
        return Finding("error", "gateway", f"the path {listen.path} is too long for a socket", "shorten it")
    try:
        (_knock if runs else _try)(listen)
    except OSError as error:
        if runs:
            what = f"the daemon does not answer at {where}: {why(error)}"
            return Finding("error", "gateway", what, "reload it (SIGHUP), and see what it logs")
        return Finding("error", "gateway", f"cannot listen at {where}: {why(error)}", _LISTEN)
    return Finding("ok", "gateway", f"answers at {where}" if runs else f"can listen at {where}")


def _knock(listen: Address) -> None:
    if listen.path:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(listen.path))
    else:
        socket.create_connection((listen.host, listen.port), 2.0).close()


def _try(listen: Address) -> None:
    """Raises OSError where the daemon could not listen."""
    if not listen.path:
        family, *_ = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM)[0]
        socket.create_server((listen.host, listen.port), family=family).close()
        return
    if listen.path.exists() and not listen.path.is_socket():
        raise FileExistsError(17, "something else than a socket is there")
    if not os.access(listen.path.parent, os.W_OK | os.X_OK):
        raise PermissionError(13, f"{listen.path.parent} is not there or not writable")


def _of_lanes(parts: Parts, settings: Settings) -> Iterator[Finding]:
    """What would keep the gate from seeing that two calls go to one upstream."""
    bases = {"llm.base_url": parts.config.llm.base_url}
    bases |= {f"agents.{name}.upstream": agent.upstream for name, agent in parts.config.enabled.items()}
    for key, url in bases.items():
        if url and _is_own(url, settings.listen):
            what = f"{key} is the gateway, so dreams would not make way for the calls that pass it"
            yield Finding("error", "gateway", what, f"set {key} to the upstream's own URL")


def _is_own(url: str, listen: Address) -> bool:
    with suppress(ConfigError):
        return upstream("it", url).is_at(listen)
    return False


async def _of_upstream(one: Upstream, settings: Settings, tls: ssl.SSLContext) -> Finding:
    about = f"gateway.upstreams.{one.name}"
    try:
        with anyio.fail_after(settings.connect_timeout_s):
            _, writer = await asyncio.open_connection(one.host, one.port, ssl=tls if one.tls else None)
    except TimeoutError:
        reason = "it did not take the connection in time"
    except OSError as error:
        reason = why(error)
    else:
        writer.transport.abort()
        return Finding("ok", about, f"{one.host} takes connections")
    return Finding(
        "warning", about, f"{one.host} cannot be reached: {reason}", "start it, or correct its URL"
    )
