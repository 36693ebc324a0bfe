"""A SQLite store that an agent writes, polled read-only: what is new in it, to the pool.

Law: never a write, never a lock the agent would notice, and what lies only in the write-ahead log is seen
(so never `immutable`). A store in a folder that may not be written is read from a private copy.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from msgspec.structs import replace

from dreamd.errors import LogUnreadable
from dreamd.formats.base import Query, RowFormat, Source
from dreamd.stores.base import Cursor, Fingerprint
from dreamd.tail.ingest import Batch, Remembered, remembered, state_of
from dreamd.tail.logfile import Stamp, stamp
from dreamd.tail.steps import How, OpenSource, Step, Tools, store

_BUSY_S = 2.0
_MOST_BATCHES = 100_000
SITTING_S = 30.0


def stamps(path: str) -> tuple[Stamp | None, ...]:
    """Of the database and its write-ahead log: as long as they stay, nothing was written.

    The log's time of change does not count: SQLite, run as root, sets its owner whenever it opens it, for us too.
    """
    log = stamp(f"{path}-wal")
    return stamp(path), log and log._replace(ctime_ns=0)


class RowStore(OpenSource):
    def __init__(self, tools: Tools, cursor: Cursor, one: RowFormat, source: Source) -> None:
        self.cursor = cursor
        self._tools = tools
        self._format = one
        self._source = source

    def read(self, path: str, how: How) -> Iterator[Step]:
        while (yield from self._sitting(path, how)):
            how.between(path)

    def _sitting(self, path: str, how: How) -> Generator[Step, None, bool]:
        """One read transaction, of a bounded time: a long one keeps the agent's write-ahead log growing. Whether more is left."""
        known, began = self._fresh_if_replaced(path), self._tools.clock.monotonic()
        with reading(path) as query:
            for _ in range(_MOST_BATCHES):
                received = self._tools.clock.now()
                batch = Batch(self._tools.agent, known)
                polled = self._format.poll(query, self._source, known.reader)
                batch.add(polled.items, received)
                batch.lines = len(polled.items)
                if polled.state != known.reader or batch.items or batch.skipped or path != self.cursor.path:
                    known.reader = polled.state
                    known.respan = known.respan and polled.more
                    moved = replace(self.cursor, path=path, state=state_of(known), read_at=received)
                    self.cursor, step = store(self._tools, batch, moved)
                    yield step
                if not polled.more or how.stopping():
                    return False
                if self._tools.clock.monotonic() - began > SITTING_S:
                    return True
                how.between(path)
        return False

    def _fresh_if_replaced(self, path: str) -> Remembered:
        """Row numbers of another database mean nothing: it is read from its beginning."""
        now, was = stamp(path), self.cursor.fingerprint
        if now and (now.device, now.inode) != (was.device, was.inode):
            state = state_of(Remembered(respan=True)) if was.inode else b""
            self.cursor = replace(self.cursor, fingerprint=Fingerprint(now.device, now.inode), state=state)
        return remembered(self.cursor.state)


@contextmanager
def reading(path: str) -> Iterator[Query]:
    """A query on one read transaction. Raises LogUnreadable: locked, not a database, not to be read."""
    try:
        with _opened(path) as connection:
            connection.execute("BEGIN")
            yield lambda sql, *args: connection.execute(sql, args)
    except (sqlite3.Error, OSError) as error:
        raise LogUnreadable(f"{path}: {_reason(error)}") from error


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    try:
        connection = _connected(path)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    else:
        with closing(connection):
            yield connection
        return
    with (
        tempfile.TemporaryDirectory(prefix="dreamd-") as folder,
        closing(_copied(path, folder)) as connection,
    ):
        yield connection


def _connected(path: str) -> sqlite3.Connection:
    """Opened and tried: SQLite says only at the first read whether it can use the write-ahead log."""
    connection = sqlite3.connect(
        f"file:{quote(path)}?mode=ro",
        uri=True,
        timeout=_BUSY_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _copied(path: str, folder: str) -> sqlite3.Connection:
    copy = Path(folder) / "copy.db"
    for suffix in ("", "-wal"):
        if Path(path + suffix).exists():
            shutil.copyfile(path + suffix, f"{copy}{suffix}")
    return _connected(str(copy))


def _reason(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        return error.strerror or "cannot be read"
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    known = {
        sqlite3.SQLITE_BUSY: "locked by the agent; tried again later",
        sqlite3.SQLITE_NOTADB: "not a SQLite database",
        sqlite3.SQLITE_CORRUPT: "a damaged SQLite database",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    }
    return known.get(code, "SQLite cannot read it")
