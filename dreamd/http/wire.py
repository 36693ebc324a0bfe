"""A connection: uvicorn's protocol without uvicorn's server, with the bounds that it leaves to a proxy in front of it.

Nothing ticks, no WebSockets, no log of its own. A head may take so long and be so large, an answer must be read, and
there are only so many connections and requests in one; whoever is refused comes to read why. Answers never mix: what
cannot be read ends the connection after those that are owed.
"""

import asyncio
import logging
import resource
from http import HTTPStatus
from typing import Any, Final, NoReturn, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from dreamd.errors import DreamdError
from dreamd.http.counters import Counters
from dreamd.http.problems import CLOSE, Refused, headers_of, status_of, written

HEAD_S: Final = 10.0  # from the first byte (or the connection's begin) to the end of the headers
KEEP_ALIVE_S: Final = 5
UNREAD_S: Final = 30.0  # an answer that its asker does not read
LINGER_S: Final = 1.0  # with whoever was refused
HEAD_BYTES: Final = 32 << 10  # request line, headers and trailers
MOST_CONNECTIONS: Final = 256  # at most; a quarter of the files that this process may open
MOST_WAITING: Final = 32  # requests that were sent before their forerunner's answer
_MOST_LINGERING = 64

_TOO_MANY = Refused(
    503, "too many connections", hint="try again in a moment", headers=(("retry-after", "1"),)
)
_BAD = Refused(400, "this is no HTTP/1.1 request that can be read")
_LARGE = Refused(431, f"the head is larger than {HEAD_BYTES} bytes")
_PILED = Refused(429, f"more than {MOST_WAITING} requests wait in this connection")


class Wire(HttpToolsProtocol):
    def __init__(self, config: Config, state: ServerState, counters: Counters) -> None:
        super().__init__(config, state, {})
        self._counters = counters
        self._in_head = False
        self._head_bytes = 0  # parsed
        self._fed = 0  # not parsed yet, in chunks after the one in which the head began
        self._heads = 0  # begun, ever
        self._deaf = False  # nothing more is taken in
        self._why: DreamdError = _BAD
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast("asyncio.Transport", transport))
        self._counters.connections = len(self.connections)
        beyond = len(self.connections) - most_connections()
        if beyond <= 0:
            self._await_head()
            return
        self._counters.turned_away += 1
        if beyond > _MOST_LINGERING:
            self.transport.abort()
        else:
            self._refuse(_TOO_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._counters.connections = len(self.connections)
        for name in tuple(self._timers):
            self._disarm(name)

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        heads = self._heads
        super().data_received(data)
        if self._in_head and heads == self._heads:
            self._fed += len(data)
            if self._fed > HEAD_BYTES:
                self._refuse(_LARGE)
        if self._in_head or not self._answering():
            self._await_head()

    def eof_received(self) -> Any:
        """Whoever says no more may still listen: the answers that are owed go out before the connection ends."""
        owed = self._answering() and not (self._in_head or self.cycle.more_body)
        self._deaf = True
        self._disarm("head")
        return owed

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes, self._fed = True, 0, 0
        self._heads += 1

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._disarm("head")
        if len(self.pipeline) >= MOST_WAITING:
            self._stop(_PILED)
        super().on_headers_complete()
        if self.parser.should_upgrade():  # to nothing that is spoken here; what follows could not be parsed
            self.cycle.keep_alive = False

    def pause_writing(self) -> None:
        super().pause_writing()
        self._arm("unread", UNREAD_S)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._disarm("unread")

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls for a request that does not parse, or that a callback of ours turned down."""
        del msg
        self._refuse(self._why)

    def _answering(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES:
            self._stop(_LARGE)

    def _stop(self, why: Refused) -> NoReturn:
        """Within a callback of the parser, which then calls `send_400_response`."""
        self._why = why
        raise ValueError(why.what)

    def _await_head(self) -> None:
        if not (self._deaf or "head" in self._timers or self.transport.is_closing()):
            self._arm("head", HEAD_S)

    def on_response_complete(self) -> None:
        owed = bool(self.pipeline)
        super().on_response_complete()
        if self._deaf and not owed:
            self.transport.close()

    def _refuse(self, error: DreamdError) -> None:
        """Take nothing more in. Answers that are owed go first; where there are none, say why."""
        if self._deaf or self.transport.is_closing():
            return
        self._deaf = True
        self._disarm("head")
        if not self._owing():
            self._say(error)

    def _owing(self) -> bool:
        """Whether answers are due to requests that came whole; one whose body fell apart is given up."""
        if not self._answering() or not self.cycle.more_body:
            return self._answering()
        if self.pipeline:
            self.pipeline.popleft()
            return True
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        return False

    def _say(self, error: DreamdError) -> None:
        """And go on listening for a moment: a socket that is closed on unread bytes takes the answer with it."""
        if not (self._answering() and self.cycle.response_started):
            self.transport.write(_answer(error))
        self.transport.write_eof()
        self._arm("linger", LINGER_S)

    def _arm(self, name: str, seconds: float) -> None:
        self._disarm(name)
        self._timers[name] = self.loop.call_later(seconds, self.transport.abort)

    def _disarm(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()


def _answer(error: DreamdError) -> bytes:
    body, status = written(error), HTTPStatus(status_of(error))
    headers = (
        ("content-type", "application/problem+json"),
        ("content-length", str(len(body))),
        *headers_of(error),
        *CLOSE,
    )
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} {status.phrase}\r\n{head}\r\n".encode() + body


def most_connections() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files < 0 else max(1, min(MOST_CONNECTIONS, files // 4))


def silence() -> None:
    """No word from uvicorn: it tells bugs in their own words, which may quote a log, and each stranger's bad request."""
    logger = logging.getLogger("uvicorn.error")
    logger.propagate = False
    logger.setLevel(logging.CRITICAL + 1)
