"""One call on its way: a request from the client to its upstream, and the answer back, byte by byte.

    begun -> (connecting) -> uploading -> awaiting the head -> answering -> over

1. Nothing waits in here: what comes from one side is written to the other at once, and a side that takes no more stops
   the other from being read.
2. A client that goes ends the call, and the upstream's connection with it, so that the upstream stops working.
3. An answer that has begun is never mended: when the upstream breaks off, so does the client's connection.
4. A request is sent again only when a connection that was kept from an earlier call ended right after it was sent, before
   a byte of the answer, and only once: the upstream had closed it meanwhile.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Protocol

import anyio
from msgspec import Struct

from dreamd.gateway import message
from dreamd.gateway.asking import Ask
from dreamd.gateway.bodies import Body, Chunked, Endless, body, chunk
from dreamd.gateway.message import Malformed, ResponseHead
from dreamd.gateway.refusals import Refused
from dreamd.gateway.upstream import Outgoing, Pool, User
from dreamd.parts import ForegroundCall

MAX_HEAD = 64 << 10  # bytes of one head
MAX_INTERIM = 20  # answers (1xx) in one piece
MAX_KEPT = 256 << 10  # bytes of a request that are kept to send it again
STALE_S = 2.0  # after it was sent a request is known to have met a closed connection
MAX_UNSENT = 64 << 10  # bytes of a request that wait for the connection, before its client must
_SWITCHING, _FINAL = 101, 200


class Counters(Struct):
    """What has happened since the gateway was opened."""

    calls: int = 0
    foreground: int = 0  # of the calls: those announced
    refused: int = 0  # answered by the gateway itself
    broken_off: int = 0  # by the upstream, in mid-answer
    client_gone: int = 0  # before the end of the answer
    repeated: int = 0
    under_way: int = 0  # calls now
    announced: int = 0  # foreground calls now


class Ways(Protocol):
    """What a call needs of the house."""

    counters: Counters
    time: Callable[[], float]  # monotonic seconds
    start: Callable[[Callable[[], Coroutine[None, None, None]]], object]  # lets it run beside

    @property
    def connect_timeout_s(self) -> float: ...

    def reached(self, pool: Pool, refused: Refused | None) -> None:
        """A connection to the upstream came about, or why not."""


class Client(Protocol):
    """The connection that a call came on. It is its `last` one when no other may follow."""

    last: bool
    write: Callable[[bytes], None]

    def full(self, full: bool) -> None:
        """Do not read from the client for now, or again."""

    def refuse(self, refused: Refused) -> None:
        """Answer with this and end the connection."""

    def over(self, *, lasting: bool) -> None:
        """The answer is complete; the connection stays open for the next one, or not."""

    def cut(self, *, reset: bool) -> None:
        """End the connection in mid-answer."""


class Call(User):
    _outgoing: Outgoing | None = None
    _unsent = b""  # while there is no connection
    _kept: bytes | None = b""  # what was sent, in case that it must be sent again
    _sent_at = 0.0
    _announced: ForegroundCall | None = None
    _head_in = b""  # of the answer, while it is not complete
    _heard = _bodied = False  # a byte of the answer, and of its body, was in
    _answer: Body | None = None
    _chunked = False  # the answer goes to the client in chunks
    _lasting = _reusable = False  # the client's connection, and the upstream's
    _full = _tunnel = _is_over = False

    def __init__(self, client: Client, ask: Ask, pool: Pool, ways: Ways) -> None:
        self._client = client
        self._ask = ask
        self._head = ask.head
        self._pool = pool
        self._ways = ways
        self._request: Body = body(ask.head.length)
        self._head_out = ask.whole()  # until it is sent
        ways.counters.calls += 1
        ways.counters.under_way += 1

    @property
    def hungry(self) -> bool:
        """What the client sends belongs to this call; else it belongs to the next one."""
        return self._tunnel or not self._request.done

    @property
    def uploaded(self) -> bool:
        return self._request.done

    def announce_again(self, arrived: Callable[[Ask], ForegroundCall | None]) -> None:
        """A foreground call is one in other lanes from here on."""
        if self._announced is not None:
            self._announced.done()
            self._announced = arrived(self._ask)

    # from the client

    def begin(self, announced: ForegroundCall | None) -> None:
        """Go for a connection to the upstream."""
        if announced is not None:
            self._announced = announced
            self._ways.counters.foreground += 1
            self._ways.counters.announced += 1
        if (outgoing := self._pool.take()) is None:
            self._ways.start(self._connect)
        else:
            self._connected(outgoing)

    def upload(self, data: bytes) -> bytes:
        """Send more of the request on, its head first. Returns what came after the request. Raises Malformed."""
        head, self._head_out = self._head_out, b""
        if self._tunnel:
            self._send(data)
            return b""
        request = self._request
        if request.done:
            self._send(head)
            return data
        content = request.feed(data) if data else b""
        if isinstance(request, Chunked):
            content = chunk(content)
            if request.done:
                content += message.trailer(request.trailers)
        self._send(head + content)
        return request.left_over

    def client_lost(self) -> None:
        """It has gone, and does not wait for the answer."""
        if not self._is_over:
            self._ways.counters.client_gone += 1
            self._end(reusable=False)

    def client_full(self, full: bool) -> None:
        """The client takes no more for now, or again."""
        self._full = full
        if self._outgoing is not None:
            reading(self._outgoing.transport, not full)

    def refuse(self, refused: Refused) -> None:
        """End the call with an answer of our own, or, where an answer has begun, by breaking it off."""
        if self._is_over:
            return
        self._end(reusable=False)
        if self._answer is None:
            self._client.refuse(refused)
        else:
            self._ways.counters.broken_off += 1
            self._client.cut(reset=not self._chunked and isinstance(self._answer, Endless))

    def _send(self, data: bytes) -> None:
        if not data:
            return
        self._sent_at = self._ways.time()
        if self._kept is not None:
            self._kept += data
            if len(self._kept) > MAX_KEPT:
                self._kept = None
        if self._outgoing is not None:
            self._outgoing.transport.write(data)
            return
        self._unsent += data
        if len(self._unsent) > MAX_UNSENT:
            self._client.full(True)

    # to the upstream

    async def _connect(self) -> None:
        """Runs to its end even when the call is over: asyncio may lose a connection whose making is cancelled."""
        refused = Refused(503, "dreamd is stopping")
        outgoing = None
        name = self._pool.upstream.name
        try:
            with anyio.fail_after(self._ways.connect_timeout_s):
                outgoing = await self._pool.connect()
        except TimeoutError:
            refused = Refused(504, f"the upstream {name!r} did not take the connection in time")
        except (OSError, UnicodeError) as error:  # a name that is none
            refused = Refused(502, f"the upstream {name!r} cannot be reached: {why(error)}")
        finally:
            self._ways.reached(self._pool, refused if outgoing is None else None)
            if outgoing is None:
                self.refuse(refused)
        if outgoing is not None:
            self._connected(outgoing)

    def _connected(self, outgoing: Outgoing) -> None:
        if self._is_over:
            outgoing.transport.abort()
            return
        self._outgoing, outgoing.user = outgoing, self
        outgoing.calls += 1
        if self._full:
            reading(outgoing.transport, False)
        if self._unsent:
            self._client.full(False)
            unsent, self._unsent = self._unsent, b""
            outgoing.transport.write(unsent)

    def upstream_full(self, full: bool) -> None:
        self._client.full(full)

    # from the upstream

    def answered(self, data: bytes) -> None:
        try:
            if self._answer is None:
                self._read_heads(data)
            elif self._tunnel:
                self._client.write(data)
            else:
                self._pass(b"", data)
        except Malformed:
            self.refuse(Refused(502, f"the upstream {self._pool.upstream.name!r} does not speak HTTP/1.1"))

    def _read_heads(self, data: bytes) -> None:
        """Zero or more interim answers (1xx), then the answer."""
        self._heard = True
        data = self._head_in + data if self._head_in else data
        interim = 0
        while (end := data.find(message.END)) >= 0:
            head, data = message.response(data[: end + 4]), data[end + 4 :]
            if head.status >= _FINAL or head.status == _SWITCHING:
                self._head_in = b""
                self._begin_answer(head, data)
                return
            interim += 1
            if interim > MAX_INTERIM:
                raise Malformed("nothing but interim answers")
            if self._head.chunks:
                self._client.write(message.back(head, chunked=False, lasting=True))
        if len(data) > MAX_HEAD:
            raise Malformed("the head is too long")
        self._head_in = data

    def _begin_answer(self, head: ResponseHead, data: bytes) -> None:
        length = message.answer_length(head, self._head.method)
        if self._announced is not None:
            self._announced.answered(head.status, head.plain())
        self._answer = body(length)
        if head.status == _SWITCHING:
            self._begin_tunnel(head, data)
            return
        self._chunked = length < 0 and self._head.chunks
        self._reusable = head.lasting and length != message.UNTIL_CLOSE
        self._lasting = self._head.lasting and self._request.done and not self._client.last
        self._pass(message.back(head, chunked=self._chunked, lasting=self._lasting), data)

    def _begin_tunnel(self, head: ResponseHead, data: bytes) -> None:
        """From here on bytes pass as they are. What they mean is not known, so the call is no longer foreground."""
        protocol = message.upgrade_of(head)
        if not protocol or not message.upgrade_of(self._head) or not self._request.done:
            self._answer = None
            raise Malformed("switches protocols unasked")
        self._tunnel = True
        self._conclude()
        self._client.write(
            message.upgrading(message.back(head, chunked=False, lasting=True), protocol) + data
        )

    def _pass(self, out: bytes, data: bytes) -> None:
        """Pass on what of the answer's body is in `data`, after `out`."""
        answer = self._answer
        if answer is None:
            return
        content = answer.feed(data) if data and not answer.done else b""
        if content and not self._bodied:
            self._bodied = True
            if self._announced is not None:
                self._announced.first_byte()
        out += chunk(content) if self._chunked else content
        if answer.done:
            if isinstance(answer, Chunked) and self._chunked:
                out += message.trailer(answer.trailers)
            self._client.write(out)
            self._complete(reusable=self._reusable and not answer.left_over)
        elif out:
            self._client.write(out)

    def upstream_lost(self, error: Exception | None) -> None:
        kept, self._kept = self._kept, None
        outgoing, self._outgoing = self._outgoing, None
        if self._tunnel or (isinstance(self._answer, Endless) and error is None):
            if self._chunked:
                self._client.write(message.trailer(()))
            self._complete(reusable=False)
        elif not self._heard and kept is not None and outgoing is not None and self._was_closed(outgoing):
            self._ways.counters.repeated += 1
            self._unsent = kept
            self._ways.start(self._connect)
        else:
            self.refuse(
                Refused(502, f"the upstream {self._pool.upstream.name!r} broke off before its answer")
            )

    def _was_closed(self, outgoing: Outgoing) -> bool:
        """By the upstream before it had the request, as far as can be told: else it would do the work twice."""
        return outgoing.calls > 1 and self._ways.time() - self._sent_at < STALE_S

    def _complete(self, *, reusable: bool) -> None:
        done = self._request.done
        self._end(reusable=reusable and done)
        self._client.over(lasting=self._lasting and done)

    def _end(self, *, reusable: bool) -> None:
        self._is_over = True
        self._ways.counters.under_way -= 1
        self._conclude()
        outgoing, self._outgoing = self._outgoing, None
        if outgoing is None:
            return
        if reusable and not outgoing.transport.get_write_buffer_size():
            if self._full:
                reading(outgoing.transport, True)
            self._pool.give(outgoing)
        else:
            outgoing.user = None
            outgoing.transport.abort()

    def _conclude(self) -> None:
        announced, self._announced = self._announced, None
        if announced is not None:
            self._ways.counters.announced -= 1
            announced.done()


def reading(transport: asyncio.Transport, on: bool) -> None:
    """Read from it, or not for now; either may be said twice."""
    if transport.is_closing():
        return
    if on:
        transport.resume_reading()
    else:
        transport.pause_reading()


def why(error: OSError | UnicodeError) -> str:
    told = (
        getattr(error, "verify_message", "") or getattr(error, "strerror", "") or getattr(error, "reason", "")
    )
    if (
        isinstance(error, OSError) and error.errno and str(told).startswith("Connect call failed")
    ):  # asyncio's
        return os.strerror(error.errno)
    return str(told or type(error).__name__)
