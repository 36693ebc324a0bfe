"""Before any handler: whose request it is, how many and how large, and how long it may take. ASGI in, ASGI out.

A browser must not reach dreamd in somebody else's name: over TCP the Host must be ours (DNS rebinding), and a request
that a web page made (a foreign Origin, a cross-site fetch) is refused; there is no CORS.
"""

import math
import re
from typing import Final

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from dreamd.address import Address, is_loopback
from dreamd.errors import DreamdError
from dreamd.http.desk import Desk
from dreamd.http.exchange import Exchange
from dreamd.http.problems import CLOSE, Refused
from dreamd.http.rates import Rates

ANSWER_S: Final = 60.0
PROBES: Final = ("/healthz", "/readyz")
ENDLESS: Final = "/mcp"  # its streams last as long as the caller wants
_HOST = re.compile(r"(?P<name>[^:\[\]]*|\[[0-9A-Fa-f:.]*\])(:\d*)?")


class Guard:
    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app, self._desk = app, desk
        self._rates = Rates(desk.parts.config.http.requests_per_minute, desk.parts.clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(self._desk, scope, receive, send)
        with exchange.counted():
            try:
                await self._admit(scope)
                await self._answer(scope, exchange)
            except DreamdError as error:
                await exchange.refuse(error)

    async def _admit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if self._desk.where.path is None:
            refuse_foreigners(headers, self._desk.where)
        if scope["path"] in PROBES:
            return
        if wait_s := self._rates.wait_s(scope["client"][0] if scope.get("client") else "unix"):
            again = (("retry-after", str(math.ceil(wait_s))),)
            raise Refused(429, "too many requests", hint="see http.requests_per_minute", headers=again)
        if not self._desk.where.local or is_endless(scope):
            await self._desk.authorise(headers)

    async def _answer(self, scope: Scope, exchange: Exchange) -> None:
        with anyio.move_on_after(math.inf if is_endless(scope) else ANSWER_S) as limit:
            await exchange.check_length()
            await self._app(scope, exchange.receive, exchange.send)
        if limit.cancelled_caught:
            raise Refused(504, f"no answer within {ANSWER_S:.0f} seconds", headers=CLOSE)


def is_endless(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == ENDLESS


def refuse_foreigners(headers: Headers, where: Address) -> None:
    """Raises Refused for what a web page may have sent."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not (host := _HOST.fullmatch(hosts[0])):
        raise Refused(400, "there must be one Host header")
    if where.local and not is_loopback(host["name"].strip("[]")):
        raise Refused(403, "the Host header names another machine", hint=f"ask {where}")
    origins = headers.getlist("origin")
    sites = headers.getlist("sec-fetch-site")
    if any(origin.partition("://")[2] != hosts[0] for origin in origins) or any(
        site not in ("none", "same-origin") for site in sites
    ):
        raise Refused(403, "requests of web pages are not answered")
