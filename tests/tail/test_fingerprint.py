import hashlib

import pytest

from dreamd.stores.base import Cursor, Fingerprint
from dreamd.tail.fingerprint import Observed, fingerprint, same_content, tail_of, what_happened

DATA = bytes(range(256)) * 8


def cursor_at(offset: int, data: bytes = DATA) -> Cursor:
    length, digest = tail_of(data[:offset])
    return Cursor(
        source_id="s", agent="a", path="/x", format="f", fingerprint=fingerprint(1, 2, data, offset),
        offset=offset, tail_length=length, tail_sha256=digest,
    )  # fmt: skip


def seen(cursor: Cursor, data: bytes, inode: int = 2) -> Observed:
    tail = data[cursor.offset - cursor.tail_length : cursor.offset] if cursor.offset <= len(data) else None
    return Observed(1, inode, data[:1024], tail)


@pytest.mark.parametrize("offset", [0, 1, 64, 100, 1024, 2000, 2048])
def test_a_file_that_grew_or_stayed_is_read_on(offset: int) -> None:
    cursor = cursor_at(offset)
    assert what_happened(cursor, seen(cursor, DATA)) == "grown"
    assert what_happened(cursor, seen(cursor, DATA + b"more")) == "grown"


def test_an_identical_or_longer_copy_is_read_on() -> None:
    cursor = cursor_at(2000)
    assert what_happened(cursor, seen(cursor, DATA + b"more", inode=3)) == "replaced"


def test_a_shorter_file_with_the_same_head_was_truncated() -> None:
    cursor = cursor_at(2000)
    assert what_happened(cursor, seen(cursor, DATA[:1500])) == "truncated"


@pytest.mark.parametrize(
    "data",
    [b"x" + DATA, DATA[:1990] + b"x" * 58, b"other", b"x" * 4096],
    ids=["head", "tail", "short", "all"],
)
def test_another_content_was_rewritten(data: bytes) -> None:
    cursor = cursor_at(2000)
    assert what_happened(cursor, seen(cursor, data)) == "rewritten"


def test_of_an_unread_file_any_content_is_its_own() -> None:
    assert same_content(cursor_at(0), Observed(1, 9, b"anything", b""))


def test_the_head_covers_only_what_was_read_and_at_most_a_kibibyte() -> None:
    assert fingerprint(1, 2, DATA, 10) == Fingerprint(1, 2, 10, hashlib.sha256(DATA[:10]).digest())
    assert fingerprint(1, 2, DATA, 5000).head_length == 1024
