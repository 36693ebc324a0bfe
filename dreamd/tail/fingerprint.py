"""Who a log is, whatever it is called, and what happened to it since it was last read (pure).

A cursor knows the file's device and inode, the hash of its head and the hash of the bytes just before the offset
(RELIABILITY 2.2). Paths and inodes only suggest; head and tail decide, because inodes are reused and forks share
their heads.
"""

import hashlib
from typing import Literal

from msgspec import Struct

from dreamd.stores.base import Cursor, Fingerprint

HEAD_BYTES = 1024
TAIL_BYTES = 1024  # many logs end every line with the same hundred bytes

Happened = Literal["grown", "replaced", "truncated", "rewritten"]


class Observed(Struct, frozen=True):
    """What is on disk now where a cursor points.

    `head` is its beginning, at most HEAD_BYTES; `tail` the cursor's `tail_length` bytes that end at its offset,
    None when the file is shorter than the offset. Both of the decompressed log.
    """

    device: int
    inode: int
    head: bytes
    tail: bytes | None


def same_head(cursor: Cursor, head: bytes) -> bool:
    known = cursor.fingerprint
    return len(head) >= known.head_length and _sha256(head[: known.head_length]) == known.head_sha256


def same_content(cursor: Cursor, observed: Observed) -> bool:
    """Everything the cursor has read still stands there."""
    if not cursor.offset:
        return True
    tail = observed.tail
    return same_head(cursor, observed.head) and tail is not None and _sha256(tail) == cursor.tail_sha256


def what_happened(cursor: Cursor, observed: Observed) -> Happened:
    """Read on at the offset (`grown`, `replaced`) or from 0 again (`truncated`, `rewritten`).

    1. the same file, what was read still stands    -> grown (or as it was)
    2. another file, what was read still stands     -> replaced by a copy, maybe a longer one
    3. shorter than the offset, the head still true -> truncated
    4. anything else                                -> rewritten
    """
    known = cursor.fingerprint
    if same_content(cursor, observed):
        same = (known.device, known.inode) == (observed.device, observed.inode)
        return "grown" if same else "replaced"
    if observed.tail is None and same_head(cursor, observed.head[: known.head_length]):
        return "truncated"
    return "rewritten"


def fingerprint(device: int, inode: int, head: bytes, offset: int) -> Fingerprint:
    """Of what was read alone: a torn last line may yet be written anew."""
    head = head[: min(HEAD_BYTES, offset)]
    return Fingerprint(device, inode, len(head), _sha256(head))


def tail_of(before_offset: bytes) -> tuple[int, bytes]:
    """(tail_length, tail_sha256) of the bytes that end at a cursor's offset."""
    tail = before_offset[-TAIL_BYTES:]
    return len(tail), _sha256(tail)


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
