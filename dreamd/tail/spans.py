"""A span and the path of its log in; whether the record still stands there, byte for byte, out. Reads only."""

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import zstandard

from dreamd.errors import LogUnreadable
from dreamd.records import Span
from dreamd.tail.logfile import opened

Standing = Literal["verified", "changed", "gone"]
_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_BYTES = 64 << 20  # of a packed column


def standing(span: Span, path: str) -> Standing:
    """verified: the same bytes are there. changed: something else is. gone: the log, or that part of it, is not there."""
    if span.table:
        return _row(span, path)
    try:
        with opened(path) as log:
            data = log.read_at(span.offset, span.length)
    except LogUnreadable:
        return "gone"
    if len(data) < span.length:
        return "gone"
    return "verified" if hashlib.sha256(data).digest() == span.sha256 else "changed"


def _row(span: Span, path: str) -> Standing:
    """Verified when one column of the row has the span's hash, packed or not: which one is the format's own affair."""
    if not _NAME.fullmatch(span.table) or not Path(path).is_file():
        return "gone"
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as database:
            keys = (["id"], ["rowid"], _primary_key(database, span.table))
            rows = [row for key in keys for row in _select(database, span, key)]
    except sqlite3.Error:
        return "gone"
    hashes = {hashlib.sha256(form).digest() for row in rows for value in row for form in _forms(value)}
    if not rows:
        return "gone"
    return "verified" if span.sha256 in hashes else "changed"


def _primary_key(database: sqlite3.Connection, table: str) -> list[str]:
    found = database.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
    return [str(name) for (name,) in found]


def _select(database: sqlite3.Connection, span: Span, key: Sequence[str]) -> list[tuple[object, ...]]:
    """The row by a key; where that is of several columns, the span's row joins them with colons."""
    values = span.row.rsplit(":", max(len(key) - 1, 0))
    if len(values) != len(key) or not all(map(_NAME.fullmatch, key)):
        return []
    where = " AND ".join(f'"{name}" = ?' for name in key)
    query = f'SELECT * FROM "{span.table}" WHERE {where}'  # noqa: S608 - all are names, checked above
    try:
        return database.execute(query, values).fetchall()
    except sqlite3.OperationalError:  # a table without that column
        return []


def _forms(value: object) -> Iterator[bytes]:
    """A column's bytes, and what they hold where they are packed."""
    if not isinstance(value, bytes):
        yield str(value).encode("utf-8", "surrogatepass")
        return
    yield value
    if value.startswith(zstandard.FRAME_HEADER):
        with suppress(zstandard.ZstdError):
            yield zstandard.ZstdDecompressor().stream_reader(value).read(_MOST_BYTES)
