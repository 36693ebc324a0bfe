"""Heads of HTTP/1.1 messages (pure): the bytes up to the empty line -> what they say -> the head that goes onward.

Nothing is passed on as it came in: each head is parsed by llhttp, strictly, and written anew, so that the two sides can
never disagree where a message ends. Header fields keep their order, spelling and values, but for those that RFC 9110
7.6.1 says are between two neighbours only, and for a request's length, which comes last.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import httptools
from msgspec import Struct
from msgspec.structs import replace

END = b"\r\n\r\n"  # of a head

Length = int  # of a body: so many bytes, or one of these
CHUNKED, UNTIL_CLOSE = -1, -2

PURPOSE, TOKEN = b"x-dreamd-purpose", b"x-dreamd-token"

_BETWEEN_NEIGHBOURS = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"te", b"transfer-encoding", b"upgrade")
)  # fmt: skip
_NOT_ONWARD = _BETWEEN_NEIGHBOURS | {b"host", b"content-length", b"expect", TOKEN}
_FRAMING = frozenset((b"content-length", b"host", b"date"))  # whatever Connection says of them
_ONCE = (b"host", b"content-length", b"transfer-encoding")
_IN_CHUNKS = b"Transfer-Encoding: chunked\r\n"
_UPGRADE = b"Connection: Upgrade\r\nUpgrade: %b\r\n"

Header = tuple[bytes, bytes, bytes]  # name in lower case, name and value as they came


class Malformed(Exception):
    """The bytes are no head that we would pass on."""


class RequestHead(Struct, frozen=True):
    """`kept` are the lines that go onward, but for the one that tells the body's length, which is `framing`; b"": no body.

    `fields` are without Content-Length.
    """

    method: bytes
    target: bytes
    kept: bytes
    fields: dict[bytes, bytes]
    words: frozenset[bytes]  # of the Connection field, in lower case
    length: Length
    framing: bytes
    lasting: bool  # the client means to ask again on the same connection
    chunks: bool  # the client understands them (HTTP/1.1)

    def resized(self, length: int) -> "RequestHead":
        """The same with another length."""
        return replace(self, length=length, framing=_framing(length))


class ResponseHead(Struct, frozen=True):
    status: int
    reason: bytes
    headers: tuple[Header, ...]
    fields: dict[bytes, bytes]
    words: frozenset[bytes]
    lasting: bool

    def plain(self) -> Iterator[tuple[bytes, bytes]]:
        """The fields as `parts.ForegroundCall.answered` wants them."""
        return ((low, value) for low, _, value in self.headers)


class _Heard:
    """What llhttp calls back with."""

    __slots__ = ("headers", "reason", "target")

    def __init__(self) -> None:
        self.target = self.reason = b""
        self.headers: list[Header] = []

    def on_url(self, part: bytes) -> None:
        self.target += part

    def on_status(self, part: bytes) -> None:
        self.reason += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), name, value))


def request(raw: bytes) -> RequestHead:
    """The head of a request, `raw` ending with its empty line. Raises Malformed."""
    heard = _Heard()
    parser = httptools.HttpRequestParser(heard)
    _feed(parser, raw)
    fields = _fields(heard.headers)
    version, method = parser.get_http_version(), parser.get_method()
    if not heard.target.startswith(b"/") or version not in ("1.0", "1.1") or method == b"CONNECT":
        raise Malformed("not a request for a path, in HTTP/1.1")
    if version == "1.1" and b"host" not in fields:
        raise Malformed("no Host")
    length, words = _length(fields), _words(fields.get(b"connection", b""))
    if version == "1.0" and length == CHUNKED:
        raise Malformed("chunks in HTTP/1.0")
    fields.pop(b"content-length", None)
    return RequestHead(
        method=method,
        target=heard.target,
        kept=b"".join(_kept(heard.headers, _left_out(_NOT_ONWARD, words))),
        fields=fields,
        words=words,
        length=0 if length == UNTIL_CLOSE else length,
        framing=_framing(length),
        lasting=version == "1.1" and b"close" not in words,
        chunks=version == "1.1",
    )


def response(raw: bytes) -> ResponseHead:
    """The head of a response. Raises Malformed."""
    heard = _Heard()
    parser = httptools.HttpResponseParser(heard)
    _feed(parser, raw)
    fields = _fields(heard.headers)
    words = _words(fields.get(b"connection", b""))
    return ResponseHead(
        status=parser.get_status_code(),
        reason=heard.reason,
        headers=tuple(heard.headers),
        fields=fields,
        words=words,
        lasting=parser.get_http_version() == "1.1" and b"close" not in words,
    )


def answer_length(head: ResponseHead, method: bytes) -> Length:
    """How long the body of an answer to `method` is (RFC 9112 6.3). Raises Malformed."""
    if method == b"HEAD" or head.status in (204, 304) or head.status < 200:  # noqa: PLR2004 - their names are their numbers
        return 0
    return _length(head.fields)


def onward(head: RequestHead, target: bytes, authority: bytes) -> bytes:
    """The head of the request to the upstream, but for what tells its length, and its end."""
    lines = b"%b %b HTTP/1.1\r\nHost: %b\r\n%b" % (head.method, target, authority, head.kept)
    protocol = upgrade_of(head)
    return lines + _UPGRADE % protocol if protocol else lines


def back(head: ResponseHead, *, chunked: bool, lasting: bool) -> bytes:
    """The head of the answer to the client."""
    lines = [b"HTTP/1.1 %d %b\r\n" % (head.status, head.reason)]
    lines += _kept(head.headers, _left_out(_BETWEEN_NEIGHBOURS, head.words))
    if chunked:
        lines.append(_IN_CHUNKS)
    lines.append(b"\r\n" if lasting else b"Connection: close\r\n\r\n")
    return b"".join(lines)


def key_of(head: RequestHead) -> bytes:
    """The API key that the client sent, b"" for none."""
    if key := head.fields.get(b"x-api-key") or head.fields.get(b"api-key"):
        return key
    return head.fields.get(b"authorization", b"").removeprefix(b"Bearer ")


def upgrade_of(head: RequestHead | ResponseHead) -> bytes:
    """The protocol that is asked for or granted, such as `websocket`; b"" for none."""
    return head.fields.get(b"upgrade", b"") if b"upgrade" in head.words else b""


def upgrading(head: bytes, protocol: bytes) -> bytes:
    """A head written by `back` that also grants another protocol."""
    return head[:-2] + _UPGRADE % protocol + b"\r\n"


def trailer(fields: Iterable[Header]) -> bytes:
    """The end of a chunked body: its last chunk, and the fields that follow it."""
    return b"".join([b"0\r\n", *_kept(fields, _BETWEEN_NEIGHBOURS | _FRAMING), b"\r\n"])


def _feed(parser: httptools.HttpRequestParser | httptools.HttpResponseParser, raw: bytes) -> None:
    try:
        parser.feed_data(raw)
    except httptools.HttpParserUpgrade:
        pass
    except httptools.HttpParserError as error:
        raise Malformed(str(error)) from error


def _fields(headers: list[Header]) -> dict[bytes, bytes]:
    fields = {low: value for low, _, value in headers}
    if len(fields) == len(headers):
        return fields
    names = [low for low, _, _ in headers]
    if any(names.count(name) > 1 for name in _ONCE):
        raise Malformed("Host, Content-Length or Transfer-Encoding twice")
    if names.count(b"connection") > 1:
        fields[b"connection"] = b",".join(value for low, _, value in headers if low == b"connection")
    return fields


@lru_cache(64)  # clients and servers say the same few things each time
def _words(connection: bytes) -> frozenset[bytes]:
    return frozenset(word.strip() for word in connection.lower().split(b",") if word)


@lru_cache(64)
def _left_out(always: frozenset[bytes], named: frozenset[bytes]) -> frozenset[bytes]:
    return always | (named - _FRAMING)


def _length(fields: dict[bytes, bytes]) -> Length:
    if (encoding := fields.get(b"transfer-encoding")) is not None:
        if encoding.strip().lower() != b"chunked":
            raise Malformed("a transfer encoding other than chunked")
        return CHUNKED
    length = fields.get(b"content-length")
    if length is None:
        return UNTIL_CLOSE
    if not length.strip().isdigit():
        raise Malformed("Content-Length is no number")
    return int(length)


def _framing(length: Length) -> bytes:
    if length >= 0:
        return b"Content-Length: %d\r\n" % length
    return _IN_CHUNKS if length == CHUNKED else b""


def _kept(headers: Iterable[Header], left_out: frozenset[bytes]) -> list[bytes]:
    return [b"%b: %b\r\n" % (name, value) for low, name, value in headers if low not in left_out]
