"""A client's connection: requests come in one after the other, each becomes a call, refusals are written here.

Every state but one has an end in time (`deadline`): only a call that waits for its upstream may take as long as it likes.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Protocol, cast

from dreamd.gateway import message
from dreamd.gateway.asking import Ask, Latest, asked
from dreamd.gateway.call import MAX_HEAD, Call, Client, Ways, reading
from dreamd.gateway.message import Malformed, RequestHead
from dreamd.gateway.refusals import Refused, refusal
from dreamd.gateway.settings import Settings, Upstream
from dreamd.gateway.sockets import Receiver, keep_alive
from dreamd.gateway.upstream import Pool
from dreamd.parts import ForegroundCall

HEAD_S = 10.0  # a head must be in then
BODY_S = 120.0  # between two pieces of a request
IDLE_S = 120.0  # between two requests
CLOSE_S = 30.0  # for the rest of an answer after which the connection ends
LINGER_S = 2.0  # for a client to hear a refusal while it still sends
STALLED_S = 600.0  # for a client to take any more of what it is sent
TURNED_AWAY = 100  # clients at once with a word; more without
MAX_HELD = 64 << 10  # bytes of requests that came before their turn

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class House(Ways, Protocol):
    settings: Settings
    request_id: Callable[[], str]
    buffer: memoryview

    def pool(self, upstream: Upstream) -> Pool: ...

    def arrived(self, ask: Ask) -> ForegroundCall | None:
        """Announce the call, if it is an agent's."""

    def came(self, client: "Incoming") -> int:
        """Count the connection, and how many more may come: below 0 there are too many."""

    def went(self, client: "Incoming") -> None: ...


class Incoming(Receiver, Client):
    def __init__(self, house: House) -> None:
        super().__init__(house.buffer)
        self._house = house
        self._transport = cast("asyncio.Transport", None)
        self._call: Call | None = None
        self._data = b""  # of a head that is not complete, or of requests before their turn
        self._head: RequestHead | None = None
        self._latest = Latest()
        self._leaving = False  # nothing more is read
        self._full = False  # it takes no more for now
        self._waiting = False  # it is not read from for now
        self.last = False
        self._unsent = 0  # of what was written, when a deadline had passed
        self.deadline = 0.0

    # the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.write = self._transport.write
        self._within(HEAD_S)
        keep_alive(transport)
        room = self._house.came(self)
        if room < -TURNED_AWAY:
            self._transport.abort()
        elif room < 0:
            self.refuse(Refused(503, "dreamd's gateway has too many connections"))

    def received(self, data: bytes) -> None:
        call = self._call
        if self._leaving:
            return
        if call is None:
            if not self._data:
                self._within(HEAD_S)
            self._data += data
            self._read_head()
        elif call.hungry:
            self._feed(call, data)
        else:
            self._data += data
            if len(self._data) > MAX_HELD:
                self.full(True)

    def pause_writing(self) -> None:
        self._full = True
        if self._call is not None:
            self._call.client_full(True)

    def resume_writing(self) -> None:
        self._full = False
        if self._call is not None:
            self._call.client_full(False)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self._house.went(self)
        call, self._call = self._call, None
        if call is not None:
            call.client_lost()

    # requests

    def _read_head(self) -> None:
        end = self._data.find(message.END)
        if end < 0:
            if len(self._data) > MAX_HEAD:
                self.refuse(Refused(431, "the request's head is too long"))
            return
        raw, data = self._data[: end + 4], self._data[end + 4 :]
        self._data = b""
        try:
            self._begin(self._latest.again(raw, self._house.settings) or self._asked(raw), data)
        except Malformed:
            self.refuse(Refused(400, "the request is not HTTP/1.1 as it should be"))
        except Refused as refused:
            self.refuse(refused)

    def _asked(self, raw: bytes) -> Ask:
        """Raises Malformed, Refused."""
        if len(raw) > MAX_HEAD:
            raise Refused(431, "the request's head is too long")
        settings = self._house.settings
        self._head = message.request(raw)
        ask = asked(self._head, settings)
        self._latest.keep(raw, ask, settings)
        return ask

    def _begin(self, ask: Ask, data: bytes) -> None:
        self._head = ask.head
        call = self._call = Call(self, ask, self._house.pool(ask.upstream), self._house)
        if ask.waits and not data and call.hungry:
            self.write(_CONTINUE)
        if self._full:
            call.client_full(True)
        call.begin(self._house.arrived(ask))
        self._feed(call, data)

    def _feed(self, call: Call, data: bytes) -> None:
        try:
            self._data = call.upload(data)
        except Malformed:
            call.refuse(Refused(400, "the request's body is not HTTP/1.1 as it should be"))
        else:
            self._within(BODY_S if call.hungry else math.inf)

    # answers

    def full(self, full: bool) -> None:
        self._waiting = full
        reading(self._transport, not full)

    def refuse(self, refused: Refused) -> None:
        self._house.counters.refused += 1
        head = self._head
        spoken = head is not None and (b"anthropic-version" in head.fields or b"/messages" in head.target)
        bodiless = head is not None and head.method == b"HEAD"
        answer = refusal(refused, self._house.request_id(), anthropic=spoken, bodiless=bodiless)
        self.write(answer)
        self._leave()

    def over(self, *, lasting: bool) -> None:
        call, self._call = self._call, None
        self._head = None
        if not lasting or self.last or self._data == b"?":
            self._leave(lingering=call is not None and not call.uploaded)
            return
        self._within(IDLE_S)
        if self._waiting:
            self.full(False)
        if self._data:
            self._within(HEAD_S)
            self._read_head()

    def cut(self, *, reset: bool) -> None:
        self._call = None
        self._leaving = True
        if reset:
            self._transport.abort()
        else:
            self._within(CLOSE_S)
            self._transport.close()

    # the end

    def stop(self) -> None:
        """No further call: an idle connection ends now, another after its answer."""
        self.last = True
        if self._call is None and not self._leaving:
            self._leave(lingering=False)

    def expire(self) -> None:
        """The deadline has passed. Who still reads an answer, however slowly, is waited for."""
        before, self._unsent = self._unsent, self._transport.get_write_buffer_size()
        if self._unsent and self._unsent != before:
            self._within(STALLED_S)
        elif self._leaving:
            self._transport.abort()
        elif self._call is not None:
            self._call.refuse(Refused(408, "the request stopped coming"))
        elif self._data:
            self.refuse(Refused(408, "the request's head did not come in time"))
        else:
            self._leave(lingering=False)

    def announce_again(self) -> None:
        """To the lanes that the house has now."""
        if self._call is not None:
            self._call.announce_again(self._house.arrived)

    def abort(self) -> None:
        self._transport.abort()

    def _leave(self, *, lingering: bool = True) -> None:
        """Close, once what was written has gone out; `lingering` for a client that may still send."""
        self._call = None
        self._leaving = True
        if lingering and self._transport.can_write_eof():
            self._within(LINGER_S)
            reading(self._transport, True)
            self._transport.write_eof()
        else:
            self._within(CLOSE_S)
            self._transport.close()

    def _within(self, seconds: float) -> None:
        self.deadline = self._house.time() + seconds
