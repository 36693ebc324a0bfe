"""One HTTP exchange with an LLM server: JSON goes out, the body of a good answer comes back, or a classified error.

No connection outlives its call. A call takes seconds, a handshake milliseconds; in return nothing is left open, no call
meets a connection that the server is just closing, and a cancelled call is seen by the server at once.
"""

import logging
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, TypeVar

import anyio
import httpx
import msgspec
from anyio import to_thread

from dreamd import __version__
from dreamd.calls import Purpose
from dreamd.config import api_key
from dreamd.errors import ConfigError, ProviderError, ProviderRefused, ProviderUnreachable, ReplyUnusable
from dreamd.providers._answers import Answer, fault
from dreamd.providers._streams import CONTENT_TYPE, joined, speaks
from dreamd.providers.base import listener
from dreamd.sections import Llm

D = TypeVar("D")  # a provider's dialect

LARGEST_REPLY = 32 << 20  # bytes, decompressed

for _name in ("httpx", "httpcore"):  # they would log addresses and headers
    logging.getLogger(_name).setLevel(logging.WARNING)


class Server:
    """An LLM server as the configuration names it. `headers_of` makes its headers from the key, "" for none."""

    def __init__(self, llm: Llm, base_url: str, headers_of: Callable[[str], Mapping[str, str]]) -> None:
        self._llm = llm
        self._base = base_url.rstrip("/")
        self._headers_of = headers_of
        self._client: httpx.AsyncClient | None = None

    async def negotiate(
        self,
        path: str,
        purpose: Purpose,
        request: Callable[[D], object],
        dialect: D,
        other: Callable[[D, Answer], D | None],
    ) -> tuple[bytes, D]:
        """The body of a good answer, and the dialect the server took.

        While `other` names a dialect not yet tried, the request is sent again in it: a server that refuses how it is
        asked has done no work. Raises all kinds of ProviderError.
        """
        tried: list[D] = []
        while True:
            answer = await self._send(path, purpose, request(dialect))
            tried.append(dialect)
            next_one = other(dialect, answer)
            if next_one is None or next_one in tried:
                break
            dialect = next_one
        error = fault(answer, self.place(path), _hints(self._llm))
        if error is not None:
            raise error
        return answer.body, dialect

    async def _send(self, path: str, purpose: Purpose, body: object) -> Answer:
        client, headers = await to_thread.run_sync(self._prepared)
        return await self._exchange(
            client, path, msgspec.json.encode(body), {**headers, "X-Dreamd-Purpose": purpose}
        )

    def place(self, path: str) -> str:
        """The address for people: without user, password and query."""
        try:
            url = httpx.URL(self._base + path)
        except httpx.InvalidURL:
            return "llm.base_url"
        return str(url.copy_with(username=None, password=None, query=None))

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _prepared(self) -> tuple[httpx.AsyncClient, dict[str, str]]:
        """In a thread: the key and the certificates are files."""
        try:
            key = api_key(self._llm)
        except ConfigError as error:
            raise ProviderRefused(error.what, hint=error.hint) from error
        if self._client is None:
            self._client = _client(self._llm)
        return self._client, dict(self._headers_of(key))

    async def _exchange(
        self, client: httpx.AsyncClient, path: str, body: bytes, headers: Mapping[str, str]
    ) -> Answer:
        where = self.place(path)
        try:
            async with client.stream(
                "POST", self._base + path, content=body, headers=headers, extensions={"trace": _connected}
            ) as response:
                told = dict(response.headers)
                if follows := listener.get():
                    follows.answered(told)
                streamed = told.get("content-type", "").startswith(CONTENT_TYPE)
                whole = await self._body(response, where, streamed=streamed)
                return Answer(response.status_code, told, joined(whole) if streamed else whole)
        except TimeoutError as error:
            raise ProviderUnreachable(
                f"{where} stopped in the middle of its answer", timed_out=True
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise _transport_fault(error, where) from error

    async def _body(self, response: httpx.Response, where: str, *, streamed: bool) -> bytes:
        chunks = response.aiter_bytes()
        whole, spoken = bytearray(), False
        while True:
            with anyio.fail_after(self._llm.read_timeout_s):
                chunk = await anext(chunks, b"")
            if not chunk:
                return bytes(whole)
            whole += chunk
            if not spoken and response.is_success and (not streamed or speaks(whole)):
                spoken = True
                if follows := listener.get():
                    follows.first_byte()
            if len(whole) > LARGEST_REPLY:
                raise ReplyUnusable(f"{where} sent more than {LARGEST_REPLY >> 20} MB")


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes longer than all the rest of a call."""
    return httpx.create_ssl_context()


def _client(llm: Llm) -> httpx.AsyncClient:
    # before its first byte the server thinks, for as long as the deadline lets it: only then bytes are due
    timeout = httpx.Timeout(llm.read_timeout_s, connect=llm.connect_timeout_s, read=llm.deadline_s, pool=None)
    return httpx.AsyncClient(
        verify=_certificates(),
        timeout=timeout,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        headers={"Content-Type": "application/json", "User-Agent": f"dreamd/{__version__}"},
    )


async def _connected(event: str, info: Mapping[str, Any]) -> None:
    """Of each step httpcore tells: hand the new connection to who follows the call."""
    follows = listener.get()
    if follows is not None and event in (
        "connection.connect_tcp.complete",
        "connection.connect_unix_socket.complete",
    ):
        follows.connected(partial(_hang_up, info["return_value"].get_extra_info("socket")))


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):  # it is gone already
        connection.shutdown(socket.SHUT_RDWR)


def _transport_fault(error: Exception, where: str) -> ProviderError:
    """By class: 1. what no repeating helps, 2. a body that does not unpack, 3. everything that may pass."""
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ProviderRefused(f"{where} is no HTTP address", hint="set llm.base_url")
    if isinstance(error, httpx.LocalProtocolError):
        return ProviderRefused(
            f"the request to {where} cannot be sent", hint="check llm.base_url and the key"
        )
    if isinstance(error, httpx.DecodingError):
        return ReplyUnusable(f"{where} sent a body that does not unpack")
    late = isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout)
    return ProviderUnreachable(f"{where}: {_trouble(error)}", timed_out=late, hint="is the server up?")


def _trouble(error: BaseException) -> str:
    """The kind of trouble in words, found by class along the chain of causes."""
    kinds: tuple[tuple[type[BaseException], str], ...] = (
        (httpx.ConnectTimeout, "no connection in time"),
        (httpx.TimeoutException, "no answer in time"),
        (ssl.SSLError, "the TLS handshake failed"),
        (httpx.ConnectError, "cannot connect"),
        (httpx.ProxyError, "the proxy refused"),
    )
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    return next(
        (words for kind, words in kinds if any(isinstance(link, kind) for link in chain)),
        "the connection broke",
    )


def _hints(llm: Llm) -> dict[int, str]:
    named = f"${llm.api_key_env}" if llm.api_key_env else llm.api_key_file
    key = f"check the key in {named}" if named else "set llm.api_key_env or llm.api_key_file"
    address = "check llm.base_url"
    return {
        401: key,
        403: key,
        404: f"check llm.model ({llm.model!r}) and llm.base_url",
        405: address,
        **dict.fromkeys((301, 302, 303, 307, 308), address),
    }
