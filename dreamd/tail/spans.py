"""A span and the path of its log in; whether the record still stands there, byte for byte, out. Reads only."""

import hashlib
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from dreamd.errors import LogUnreadable
from dreamd.records import Span
from dreamd.tail.logfile import opened

Standing = Literal["verified", "changed", "gone"]
_NAME = re.compile(r"[A-Za-z_]\w*")


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
    """Verified when one column of the row has the span's hash: which one is the format's own affair."""
    if not _NAME.fullmatch(span.table) or not Path(path).is_file():
        return "gone"
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as database:
            rows = [row for key in ("id", "rowid") for row in _select(database, span, key)]
    except sqlite3.Error:
        return "gone"
    hashes = {hashlib.sha256(_bytes(value)).digest() for row in rows for value in row}
    if not rows:
        return "gone"
    return "verified" if span.sha256 in hashes else "changed"


def _select(database: sqlite3.Connection, span: Span, key: str) -> list[tuple[object, ...]]:
    query = f'SELECT * FROM "{span.table}" WHERE "{key}" = ?'  # noqa: S608 - both are names, checked above
    try:
        return database.execute(query, (span.row,)).fetchall()
    except sqlite3.OperationalError:  # a table without that column
        return []


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
