"""A file on disk is looked at, claimed by a format, and opened as a source that can be read on."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import NamedTuple

from dreamd.errors import LogUnreadable
from dreamd.formats.base import Format, Source
from dreamd.stores.base import Cursor
from dreamd.tail.around import Around
from dreamd.tail.catalogue import Catalogue, Look
from dreamd.tail.documents import Document
from dreamd.tail.fingerprint import HEAD_BYTES, Observed, same_content, same_head
from dreamd.tail.linelog import LineLog
from dreamd.tail.logfile import COMPRESSED, opened
from dreamd.tail.rows import RowStore
from dreamd.tail.sources import HEAD_BYTES as GUESS_BYTES
from dreamd.tail.sources import Found, guess
from dreamd.tail.steps import OpenSource, Tools


class Claim(NamedTuple):
    """Sorts new logs: by format, then by who owns shared history (J21), then by path."""

    format_name: str
    order: tuple[object, ...]
    path: str
    found: Found


def claim(found: Found) -> Claim | None:
    """The format that is surest of the file, None when no one is. Raises LogUnreadable."""
    with opened(found.path) as file:
        head = file.head(GUESS_BYTES)
        one = guess(found, head)
        if one is None:
            return None
        order: tuple[object, ...] = ()
        if one.family == "lines":
            order = one.order(PurePath(found.path), head, file.tail(GUESS_BYTES))
        return Claim(one.name, order, found.path, found)


def open_source(
    tools: Tools, cursor: Cursor, one: Format, found: Found, logs: Callable[[], Iterable[str]]
) -> OpenSource:
    """`logs` lists the agent's known logs, for formats that look into a neighbour."""
    path, agent = found.path, tools.agent
    source = Source(
        cursor.source_id, PurePath(path), PurePath(found.root), str(agent.zone), agent.programs_are_human
    )
    if one.family == "rows":
        return RowStore(tools, cursor, one, source)
    if one.family == "document":
        return Document(tools, cursor, one, source)
    around = Around(path, logs, tools.settings.max_line_bytes)
    return LineLog(tools, cursor, lambda state: one.open(source, around, state))


class FileLook(Look):
    """`inodes` are the files of this pass, by device and inode."""

    def __init__(self, found: Found, inodes: Mapping[tuple[int, int], str], known: Catalogue) -> None:
        self._found = found
        self._inodes = inodes
        self._known = known
        self._head: bytes | None = None

    def head(self) -> bytes:
        if self._head is None:
            self._head = _head_of(self._found.path)
        return self._head

    def same_content(self, cursor: Cursor) -> bool:
        return _has_content_of(cursor, self._found.path)

    def stands_in(self, path: str) -> bool:
        with opened(self._found.path) as this:
            return _begins_with(path, this.chunks(0))

    def elsewhere(self, cursor: Cursor) -> bool:
        known, path = cursor.fingerprint, self._known.path_of(cursor)
        there = self._inodes.get((known.device, known.inode), path)
        if there == path:
            return not self.same_content(cursor) and _is_compressed(cursor, path)
        try:
            return same_head(cursor, _head_of(there))
        except LogUnreadable:
            return True  # the inode alone says so


def _has_content_of(cursor: Cursor, path: str) -> bool:
    with opened(path) as file:
        tail = file.before(cursor.offset, cursor.tail_length) if cursor.offset else b""
        seen = Observed(file.stamp.device, file.stamp.inode, file.head(HEAD_BYTES), tail)
    return same_content(cursor, seen)


def _is_compressed(cursor: Cursor, path: str) -> bool:
    """Whether the log once at path is the compressed one beside it now."""
    try:
        return cursor.offset > 0 and _has_content_of(cursor, path + COMPRESSED)
    except LogUnreadable:
        return False


def _begins_with(path: str, chunks: Iterator[bytes]) -> bool:
    at = 0
    try:
        with opened(path) as file:
            for chunk in chunks:
                if file.read_at(at, len(chunk)) != chunk:
                    return False
                at += len(chunk)
    except LogUnreadable:
        return False
    return True


def _head_of(path: str) -> bytes:
    with opened(path) as file:
        return file.head(HEAD_BYTES)
