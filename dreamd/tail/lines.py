"""Bytes in, in any pieces; complete lines out, with where they stand and the hash of their raw bytes (pure).

Law: the lines do not depend on where the pieces were cut, and memory stays bounded however long a line is.
"""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from dreamd.tail.shrink import Shrinker

_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line without its newline: `content` cleaned for the format (J1), the rest about the raw bytes in the log.

    `cut` says that the line was over-long and `content` is what the shrinker left of it.
    """

    content: bytes
    offset: int
    length: int
    sha256: bytes
    cut: bool = False


def cleaned(raw: bytes) -> bytes:
    """Without NULs, one leading BOM and one trailing CR (J1)."""
    if b"\0" in raw:
        raw = raw.replace(b"\0", b"")
    raw = raw.removeprefix(_BOM)
    return raw[:-1] if raw.endswith(b"\r") else raw


class Splitter:
    """Feed it what was read; it yields each line when its newline (0x0A and nothing else) has come.

    `offset` is the place in the log behind the last line it yielded.
    """

    def __init__(self, offset: int = 0, max_line_bytes: int = 8 << 20) -> None:
        self.offset = offset
        self._max = max_line_bytes
        self._held = bytearray()
        self._long: _LongLine | None = None

    def feed(self, chunk: bytes) -> Iterator[Line]:
        pieces = chunk.split(b"\n")
        last = pieces.pop()
        if pieces and (self._held or self._long):
            yield self._completed(pieces.pop(0))
        for piece in pieces:
            yield self._line(piece)
        self._hold(last)

    def rest(self) -> Line | None:
        """The unterminated end of the log as a line, or None. The splitter goes on as if it had not been asked."""
        if self._long:
            return None  # whether an over-long line is whole shows only when its newline comes
        return _measured(bytes(self._held), self.offset) if self._held else None

    def take_rest(self) -> None:
        """The unterminated end counts as a line: what comes next begins behind it."""
        self.offset += len(self._held)
        self._held.clear()

    def _hold(self, piece: bytes) -> None:
        if self._long:
            self._long.feed(piece)
            return
        self._held += piece
        if len(self._held) > self._max:
            self._long = _LongLine(self._max)
            self._long.feed(bytes(self._held))
            self._held.clear()

    def _completed(self, piece: bytes) -> Line:
        """The line that an earlier piece began."""
        self._hold(piece)
        if not self._long:
            raw = bytes(self._held)
            self._held.clear()
            return self._line(raw)
        line = self._long.line(self.offset)
        self._long = None
        self.offset += line.length + 1
        return line

    def _line(self, raw: bytes) -> Line:
        if len(raw) > self._max:
            long = _LongLine(self._max)
            long.feed(raw)
            line = long.line(self.offset)
        else:
            line = _measured(raw, self.offset)
        self.offset += len(raw) + 1
        return line


def _measured(raw: bytes, offset: int) -> Line:
    return Line(cleaned(raw), offset, len(raw), hashlib.sha256(raw).digest())


class _LongLine:
    def __init__(self, max_line_bytes: int) -> None:
        self._shrinker = Shrinker(max_bytes=max_line_bytes)
        self._hash = hashlib.sha256()
        self._length = 0

    def feed(self, piece: bytes) -> None:
        self._hash.update(piece)
        self._length += len(piece)
        self._shrinker.feed(piece.replace(b"\0", b""))

    def line(self, offset: int) -> Line:
        return Line(cleaned(self._shrinker.result()), offset, self._length, self._hash.digest(), cut=True)
