"""An over-long JSON line in, in pieces; small valid JSON with its metadata out (pure, constant memory).

Long strings lose their end, never half an escape, half a surrogate pair or half a character. When even that leaves
too much, nested arrays and objects lose their later elements; top-level members, where the metadata is, stay longest.
What is not JSON comes out as some bounded head of itself, which no format will parse.
"""

import re

_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_TOKEN = re.compile(rb'["\[\]{},]')
_BRACKET = re.compile(rb'["\[\]{}]')
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_LONGEST_ESCAPE = 12  # a surrogate pair
_CONTINUATION = 0x80  # 10xxxxxx: inside a UTF-8 character
_LONGEST_NUMBER = 400  # a float's digits, with room
_KEEP_BYTES = 64 << 10  # of one string
_KEEP_LATE_BYTES = 1 << 10  # of one string once the budget is spent


def cut_string(body: bytes, limit: int) -> bytes:
    """The head of a JSON string's body, at most `limit` bytes, ending between two characters."""
    if len(body) <= limit:
        return body
    end = limit
    for escape in _ESCAPE.finditer(body):
        if escape.start() >= limit:
            break
        if escape.end() > limit:
            end = escape.start()
    while end and body[end] & 0xC0 == _CONTINUATION:
        end -= 1
    return body[:end]


class Shrinker:
    """Feed it one line; `result` is at most a few times `max_bytes` long."""

    def __init__(self, max_bytes: int = 8 << 20, keep_bytes: int = _KEEP_BYTES) -> None:
        self._max = max_bytes
        self._keep = min(keep_bytes, max_bytes // 4)
        self._out = bytearray()
        self._depth = 0
        self._skip_above: int | None = None  # nothing is kept until the depth falls below this
        self._in_string = False
        self._escaped = False
        self._body = bytearray()
        self._run = 0  # bytes since the last token

    def feed(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            at = self._string(data, at) if self._in_string else self._structure(data, at)

    def result(self) -> bytes:
        return bytes(self._out)

    def _string(self, data: bytes, at: int) -> int:
        if self._escaped:
            self._hold(data[at : at + 1])
            self._escaped = False
            return at + 1
        found = _STRING.match(data, at)
        end = found.end() if found else at
        self._hold(data[at:end])
        if end == len(data):
            return end
        if data[end] == ord('"'):
            self._close_string()
        else:
            self._hold(b"\\")
            self._escaped = True
        return end + 1

    def _hold(self, piece: bytes) -> None:
        room = self._keep + _LONGEST_ESCAPE - len(self._body)
        if room > 0 and self._skip_above is None:
            self._body += piece[:room]

    def _close_string(self) -> None:
        self._in_string = False
        if self._skip_above is None:
            keep = self._keep if len(self._out) < self._max else min(self._keep, _KEEP_LATE_BYTES)
            self._put(cut_string(bytes(self._body), keep) + b'"')
        self._body.clear()

    def _structure(self, data: bytes, at: int) -> int:
        found = (_TOKEN if self._skip_above is None else _BRACKET).search(data, at)
        end = found.start() if found else len(data)
        self._between(data, at, end)
        if found:
            self._token(data[end : end + 1])
            end += 1
        return end

    def _between(self, data: bytes, start: int, end: int) -> None:
        """Numbers, literals, colons and blanks; a run of them longer than any number is not JSON."""
        room = _LONGEST_NUMBER - self._run
        self._run += end - start
        if self._skip_above is None and room > 0:
            self._put(data[start : min(end, start + room)])

    def _token(self, token: bytes) -> None:
        self._run = 0
        if token in b"]}":
            self._depth -= 1
            if self._skip_above is not None and self._depth < self._skip_above:
                self._skip_above = None
        if token == b",":
            self._comma()
        elif self._skip_above is None:
            self._put(token)
        if token in b"[{":
            self._depth += 1
        self._in_string = token == b'"'

    def _comma(self) -> None:
        if len(self._out) >= (self._max if self._depth > 1 else 2 * self._max):
            self._skip_above = self._depth
        else:
            self._put(b",")

    def _put(self, piece: bytes) -> None:
        if len(self._out) < 4 * self._max:  # only what is no JSON gets there
            self._out += piece
