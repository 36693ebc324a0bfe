"""Bodies of HTTP messages (pure): bytes as they come -> content, and where it ends; content -> chunks.

However the bytes are cut into pieces, the content is the same.
"""

from typing import Protocol

import httptools

from dreamd.gateway.message import CHUNKED, UNTIL_CLOSE, Header, Length, Malformed

MAX_TRAILERS = 100


class Body(Protocol):
    """`done` once the end was seen. `left_over` is what came after it."""

    done: bool
    left_over: bytes

    def feed(self, data: bytes) -> bytes:
        """The content in `data`. Not called again once `done`. Raises Malformed."""


def body(length: Length) -> Body:
    if length == CHUNKED:
        return Chunked()
    return Endless() if length == UNTIL_CLOSE else Counted(length)


class Counted:
    __slots__ = ("_left", "done", "left_over")

    def __init__(self, length: int) -> None:
        self._left = length
        self.done = length == 0
        self.left_over = b""

    def feed(self, data: bytes) -> bytes:
        missing = self._left = self._left - len(data)
        if missing > 0:
            return data
        self.done = True
        if missing == 0:
            return data
        self.left_over = data[missing:]
        return data[:missing]


class Endless:
    """Until the connection ends."""

    __slots__ = ("done", "left_over")

    def __init__(self) -> None:
        self.done = False
        self.left_over = b""

    def feed(self, data: bytes) -> bytes:
        return data


class Chunked:
    """By llhttp, of which each body is a message of its own. What follows in the last piece is lost: `left_over` tells."""

    __slots__ = ("_parser", "_pieces", "done", "left_over", "trailers")

    def __init__(self) -> None:
        self.done = False
        self.left_over = b""
        self.trailers: list[Header] = []
        self._pieces: list[bytes] = []
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n")
        self.trailers.clear()

    def feed(self, data: bytes) -> bytes:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if not self.done:
                raise Malformed(str(error)) from error
            self.left_over = b"?"
        pieces, self._pieces = self._pieces, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def on_message_begin(self) -> None:
        if self.done:
            self.left_over = b"?"

    def on_body(self, piece: bytes) -> None:
        if not self.done:
            self._pieces.append(piece)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.done:
            return
        if len(self.trailers) == MAX_TRAILERS:
            raise Malformed("too many trailers")
        self.trailers.append((name.lower(), name, value))

    def on_message_complete(self) -> None:
        self.done = True


def chunk(content: bytes) -> bytes:
    """One chunk of a chunked body; of no content none, for an empty one would end it."""
    return b"%x\r\n%b\r\n" % (len(content), content) if content else b""
