"""Shared by the formats: times, joined texts, traces, names and digests out of values of any type (FORMATS J9, J10)."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Raw

from dreamd.formats._json import cut
from dreamd.records import Trace

NOTHING = Raw(b"")  # a JSON value that is not there
TRACE_BYTES = 2048  # of a call's arguments and of its result, in its trace
SQLITE = b"SQLite format 3\0"  # how such a file begins
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def epoch_time(seconds: object) -> datetime | None:
    """Seconds since 1970 as UTC cut to ms; None for what is no such number."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return None
    try:
        at = _EPOCH + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return None
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def joined(parts: Iterable[str]) -> str:
    """The texts of one message trimmed, empty ones gone, one below the other (J9)."""
    return "\n".join(part for part in (text.strip() for text in parts) if part)


def text_of(value: object) -> str:
    """A string as it is, nothing for None, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()


def integer(value: object) -> int:
    """The number, 0 for anything else."""
    return value if isinstance(value, int) else 0


def bound(table: dict[str, Any], limit: int) -> None:
    """Let the oldest entries go."""
    while len(table) > limit:
        del table[next(iter(table))]


def outcome(arguments: str, result: str, *, ok: bool) -> Trace:
    """The trace of a finished call, each text cut to its bound."""
    said = cut(result, TRACE_BYTES)
    return Trace(arguments=arguments, result=said if ok else "", error="" if ok else said)


def name_of(*parts: str) -> str:
    """A name, of 24 hexadecimal digits, for what is known by these parts."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def digest(*parts: str | bytes) -> bytes:
    """Eight bytes that stand for the parts and their order."""
    whole = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big"))
        whole.update(data)
    return whole.digest()
