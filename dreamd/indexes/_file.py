"""The file of an index: opened when it is needed, made anew when it is damaged or of another version.

One connection writes, under a lock; readers have connections of their own and never wait for it (WAL). Whoever meets a
damaged file gets what it said it would do with instead, and the next finds a new one. So does another process that had the
old one open: what it writes to a file that nobody finds any more would be lost, and what it takes out would stay.
"""

import os
import sqlite3
import threading
from collections.abc import Callable
from os.path import samestat
from pathlib import Path
from typing import TypeVar

from dreamd.errors import DiskFull, StoreBusy, StoreCorrupt, StoreError
from dreamd.places import free
from dreamd.stores._sql import statements
from dreamd.stores._sqlite_errors import corrupt, full, told, unmade
from dreamd.stores._sqlite_files import roll_back

VERSION = 2  # of the schema, and of how texts become terms
ROOM = 8 << 20  # bytes of the disk that it leaves to the pool, which cannot be made anew
_TRIES = 3
WAIT_S = 10.0  # how long a write waits for another process's
SCHEMA = Path(__file__).parent / "schema.sql"
_SETTINGS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",  # what is taken out is overwritten
    "cache_size = -8192",  # KiB
    "journal_size_limit = 33554432",  # bytes
)

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class File:
    """Raises StoreError, StoreBusy, DiskFull, whatever is asked of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.RLock()
        self._lending = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []  # readers' connections that nobody uses now
        self._known: os.stat_result | None = None  # the file that they are of
        self._times = 0  # that it was opened
        self._closed = False

    def change(self, work: Work[T], otherwise: T) -> T:
        """In one transaction. Raises DiskFull before the disk is full."""
        with self._writing:
            return self._tried(lambda: self._changed(work), otherwise)

    def read(self, work: Work[T], otherwise: T) -> T:
        return self._tried(lambda: self._looked(work), otherwise)

    def _tried(self, attempt: Callable[[], T], otherwise: T) -> T:
        for _ in range(_TRIES):
            try:
                return attempt()
            except StoreCorrupt:
                self.begin_anew()
                return otherwise
            except StoreError:
                if self._is_there():
                    raise  # else another process made it anew this very moment
        return attempt()

    def _changed(self, work: Work[T]) -> T:
        with told(self.path):
            self._check_room()
            return _transacted(self._opened(), work)

    def _looked(self, work: Work[T]) -> T:
        if self._writer is None or not self._is_there():
            with self._writing:
                self._opened()
        with told(self.path):
            times, connection = self._taken()
            try:
                return work(connection)
            finally:
                self._given_back(connection, times)

    def _check_room(self) -> None:
        if free(self.path.parent) < ROOM:
            raise full(self.path)

    def compact(self) -> None:
        """Nothing but what is in it stays in the file and beside it. Raises StoreBusy when somebody reads all the while."""
        with self._writing:
            try:
                with told(self.path):
                    writer = self._opened()
                    writer.execute("VACUUM")
                    (busy, *_) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except (StoreCorrupt, DiskFull):  # it is quicker made anew than mended, and takes less room
                return self.begin_anew()
        if busy:
            raise StoreBusy(f"{self.path} is read by another process all the while", hint="try again")
        return None

    def begin_anew(self) -> None:
        with self._writing:
            self._let_go()
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        with self._writing:
            self._let_go()
            self._closed = True

    def _let_go(self) -> None:
        with self._lending:
            for connection in (*self._idle, *([self._writer] if self._writer else ())):
                connection.close()
            self._idle.clear()
            self._writer = None
            self._times += 1

    def _is_there(self) -> bool:
        """The file that is open is the one that others find."""
        try:
            return self._known is not None and samestat(self.path.stat(), self._known)
        except OSError:
            return False

    def _opened(self) -> sqlite3.Connection:
        """The writer's connection; the caller holds the lock."""
        if self._closed:
            raise StoreError(f"{self.path} is closed")
        if self._writer is not None and not self._is_there():
            self._let_go()
        if self._writer is None:
            try:
                self._known, self._writer = _prepared(self.path)
            except StoreCorrupt:
                self.begin_anew()
                self._known, self._writer = _prepared(self.path)
        return self._writer

    def _taken(self) -> tuple[int, sqlite3.Connection]:
        with self._lending:
            if self._idle:
                return self._times, self._idle.pop()
            times = self._times
        return times, _connect(self.path)

    def _given_back(self, connection: sqlite3.Connection, times: int) -> None:
        with self._lending:
            if self._writer is None or times != self._times:  # of a file that is closed or gone
                connection.close()
            else:
                self._idle.append(connection)


def _prepared(path: Path) -> tuple[os.stat_result, sqlite3.Connection]:
    """Whose file it is: of one that is replaced meanwhile the older, which is noticed."""
    with told(path):
        known = _made_private(path)
        connection = _connect(path)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return known, connection


def _connect(path: Path) -> sqlite3.Connection:
    there = f"{path.absolute().as_uri()}?mode=rw"  # SQLite would make a file that others can read
    connection = sqlite3.connect(
        there, uri=True, timeout=WAIT_S, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _made_private(path: Path) -> os.stat_result:
    """SQLite gives the -wal and -shm files the database's mode."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unmade(path, error) from error
    try:
        return os.fstat(handle)
    finally:
        os.close(handle)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Raises StoreCorrupt for a file of another version."""
    if _version(connection) != VERSION:
        _transacted(connection, _make)
    if _version(connection) != VERSION:
        raise corrupt(path, "another version")


def _make(connection: sqlite3.Connection) -> None:
    """Unless another process has made it meanwhile, or there is something else in the file."""
    if (
        _version(connection) == 0
        and not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    ):
        for statement in statements(SCHEMA.read_text("utf-8")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _transacted(connection: sqlite3.Connection, work: Work[T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    return done
