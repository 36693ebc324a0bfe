"""Shared by the JSONL formats: objects out of a line that may be damaged (FORMATS J1, J2, J4)."""

import re
from collections.abc import Iterator
from typing import TypeVar

import msgspec

T = TypeVar("T")

_START = re.compile(rb'\{"(?:parentUuid|type|timestamp|uuid|sessionId|id|role|messages)"')
_SURROGATES = re.compile(  # an escaped backslash and a whole pair are matched first, so that they are left alone
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_decode = msgspec.json.Decoder(msgspec.Raw).decode


def mended(data: bytes) -> bytes:
    """Valid UTF-8 without lone surrogates: what cannot be text becomes U+FFFD (J1)."""
    text = data.decode("utf-8", "replace").encode()
    return _SURROGATES.sub(lambda found: rb"\ufffd" if found["lone"] else found[0], text)


def decoded(decoder: "msgspec.json.Decoder[T]", data: bytes) -> T | None:
    """The JSON value as the decoder's type, mended where needed; None when it does not fit."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return decoder.decode(mended(data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def objects(line: bytes) -> tuple[list[bytes], int]:
    """The JSON objects of a line as bytes, in order, and how many damaged fragments were lost.

    A whole line is one object. Writers that were killed or raced leave a cut record with the next one on the same
    line: each later record start is tried, and several whole objects all count.
    """
    if _whole(line):
        return ([line], 0) if line.lstrip()[:1] == b"{" else ([], 1)
    line = mended(line)
    found: list[bytes] = []
    lost, at = 0, 0
    while at < len(line):
        end = _object_end(line, at)
        if end:
            found.append(line[at:end])
            at = end + len(line[end:]) - len(line[end:].lstrip())
            continue
        lost += 1
        at = next(_starts(line, at + 1), len(line))
    return found, lost


def _whole(data: bytes) -> bool:
    try:
        _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _starts(line: bytes, after: int) -> Iterator[int]:
    return (found.start() for found in _START.finditer(line, after))


def _object_end(line: bytes, start: int) -> int:
    """Where a whole object that begins at `start` ends, or 0: the line's end or just before a later record start."""
    for end in (*_starts(line, start + 1), len(line)):
        if _whole(line[start:end]):
            return end
    return 0
