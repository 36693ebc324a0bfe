"""Shared by the JSONL formats: typed records out of a line that may be damaged or unexpected (FORMATS J1, J2, J4)."""

import json
import re
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, Generic, TypeVar, get_args, get_origin

import msgspec
from msgspec import UNSET

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises on bad input; deep nesting is bad input too."""

_OPENING_LINES = 8  # so many lines show what a log is, whatever happened to its first one
_MAX_STARTS = 1000  # how many record starts of a damaged line are tried before the rest of it is given up
_START = re.compile(r'\{"(?:parentUuid|type|timestamp|uuid|sessionId|id|role|messages)"')
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATES = re.compile(  # an escaped backslash and a whole pair are matched first, so that they are left alone
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_scan = json.JSONDecoder().raw_decode
_decode = msgspec.json.Decoder(msgspec.Raw).decode
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Lines(Generic[S]):
    """Reads lines as records of one Struct type: at once when they are as expected, patiently when they are not."""

    def __init__(self, shape: type[S]) -> None:
        self._shape = shape
        self._decode = msgspec.json.Decoder(shape).decode

    def read(self, line: bytes) -> tuple[list[S], int]:
        """The records of a line, in order, and how many damaged fragments of it were lost.

        A field of another type than expected is left at its default; the rest of the record counts.
        """
        try:
            return [self._decode(line)], 0
        except UNREADABLE:
            pieces, lost = objects(line)
        found = [record for piece in pieces if (record := loosely(piece, self._shape)) is not None]
        return found, lost + len(pieces) - len(found)


def mended(data: bytes) -> bytes:
    """Valid UTF-8 without lone surrogates: what cannot be text becomes U+FFFD (J1)."""
    text = data.decode("utf-8", "replace").encode()
    return _SURROGATES.sub(lambda found: rb"\ufffd" if found["lone"] else found[0], text)


def decoded(decoder: "msgspec.json.Decoder[T]", data: bytes | msgspec.Raw) -> T | None:
    """The JSON value as the decoder's type, mended where needed; None when it does not fit."""
    try:
        return decoder.decode(data)
    except UNREADABLE:
        pass
    try:
        return decoder.decode(mended(bytes(data)))
    except UNREADABLE:
        return None


def moment(text: str | None) -> datetime | None:
    """An ISO-8601 time as aware UTC, truncated to milliseconds (J10); a naive one is taken as UTC."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not UTC:
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    beyond = at.microsecond % 1000
    return at.replace(microsecond=at.microsecond - beyond) if beyond else at


def cut(text: str, max_bytes: int) -> str:
    """The head of a text in at most `max_bytes` of UTF-8."""
    if len(text) * 4 <= max_bytes:
        return text
    return text[:max_bytes].encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")


def opening(head: bytes) -> list[bytes]:
    """The first lines of a log that hold anything, cleaned (J1); the last of them may be cut."""
    lines = (
        line.strip(b" \r") for line in head.replace(b"\0", b"").removeprefix(b"\xef\xbb\xbf").split(b"\n")
    )
    return list(islice(filter(None, lines), _OPENING_LINES))


def objects(line: bytes) -> tuple[list[bytes], int]:
    """The JSON objects of a line as bytes, in order, and how many damaged fragments were lost.

    A whole line is one object. Writers that were killed or raced leave a cut record with the next one on the same
    line: each later record start is tried, and several whole objects all count. An object that is followed by `,`,
    `]` or `}` is a part of a damaged record and no record.
    """
    if _whole(line):
        return ([line], 0) if line.lstrip()[:1] == b"{" else ([], 1)
    text = line.decode("utf-8", "replace")
    found: list[bytes] = []
    lost, at, broken = 0, _skip_space(text, 0), False
    for _ in range(_MAX_STARTS):
        if at >= len(text):
            break
        end = _object_end(text, at)
        after = _skip_space(text, end)
        if end and (at == 0 or text[after : after + 1] not in {",", "]", "}"}):
            found.append(mended(text[at:end].encode("utf-8", "replace")))
            lost, broken, at = lost + broken, False, after
        else:
            broken, at = True, _next_start(text, max(end, at + 1))
    return found, lost + (broken or at < len(text))


def loosely(data: bytes | msgspec.Raw, shape: type[S]) -> S | None:
    """A Struct from an object whose fields may be of other types than declared: those keep their defaults."""
    try:
        raws = _decode_fields(mended(bytes(data)))
    except UNREADABLE:
        return None
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(shape):
        if field.encode_name in raws:
            value = _value(raws[field.encode_name], field.type)
            if value is not UNSET:
                values[field.name] = value
    return shape(**values)


def _value(raw: msgspec.Raw, type_: Any) -> object:
    try:
        return msgspec.json.decode(raw, type=type_)
    except UNREADABLE:
        pass
    one, many = _structs_in(type_)
    head = bytes(memoryview(raw)[:1])
    if one is not None and head == b"{":
        return loosely(raw, one)
    if many is not None and head == b"[":
        return [item for each in _decode_list(raw) if (item := loosely(each, many)) is not None]
    return UNSET


@cache
def _structs_in(type_: Any) -> tuple[type[msgspec.Struct] | None, type[msgspec.Struct] | None]:
    """The Struct that a field's type allows, alone and as a list's items."""
    options = get_args(type_) if get_origin(type_) is not list else (type_,)
    options = options or (type_,)
    one = next(
        (each for each in options if isinstance(each, type) and issubclass(each, msgspec.Struct)), None
    )
    lists = (get_args(each)[0] for each in options if get_origin(each) is list)
    return one, next(lists, None)


def _whole(data: bytes) -> bool:
    try:
        _decode(data)
    except UNREADABLE:
        return False
    return True


def _object_end(text: str, start: int) -> int:
    """Where the whole object that begins at `start` ends, or 0."""
    if not text.startswith("{", start):
        return 0
    try:
        return _scan(text, start)[1]
    except (ValueError, RecursionError):
        return 0


def _next_start(text: str, after: int) -> int:
    found = next(islice(_START.finditer(text, after), 1), None)
    return found.start() if found else len(text)


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
