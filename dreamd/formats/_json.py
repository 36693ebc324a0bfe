"""Shared by the JSONL formats: objects out of a line that may be damaged (FORMATS J1, J2, J4)."""

import re
from collections.abc import Iterator

import msgspec

_START = re.compile(rb'\{"(?:parentUuid|type|timestamp|uuid|sessionId|id|role|messages)"')
_decode = msgspec.json.Decoder(msgspec.Raw).decode


def objects(line: bytes) -> tuple[list[bytes], int]:
    """The JSON objects of a line as bytes, in order, and how many damaged fragments were lost.

    A whole line is one object. Writers that were killed or raced leave a cut record with the next one on the same
    line: each later record start is tried, and several whole objects all count.
    """
    if _whole(line):
        return ([line], 0) if line.lstrip()[:1] == b"{" else ([], 1)
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
