"""The files of the SQLite store: made private, opened, brought up to the newest schema.

Law: a database that is newer, damaged or somebody else's is never touched.
"""

import contextlib
import os
import sqlite3
from pathlib import Path

from dreamd.errors import StoreTooNew
from dreamd.places import free
from dreamd.stores._forgetting import holds
from dreamd.stores._sql import Migration, folder, queries, statements
from dreamd.stores._sqlite_errors import corrupt, told, unmade

APPLICATION_ID = 0x64726D64  # "drmd", in the database's header
READER = ("query_only = ON",)
WRITER = (
    "synchronous = NORMAL",
    "cache_size = -4096",  # KiB
    "wal_autocheckpoint = 8000",  # pages: back into the database at 32 MB, a page dirtied often is written once
    "journal_size_limit = 33554432",  # bytes the WAL file may keep on disk after a checkpoint
)
BALLAST = 8 << 20  # bytes


def made_private(state: Path, migrations: list[Migration]) -> Path:
    """The database's path in the state folder; folder (0700) and file (0600) are made when missing.

    Raises StoreError, DiskFull. SQLite gives its -wal and -shm files the database's mode.
    """
    path = state / "pool.db"
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _make(path, migrations)
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise unmade(path, error) from error
    return path


def _make(path: Path, migrations: list[Migration]) -> None:
    """A new database, whole before it gets its name: opening one that another process is making fails as busy."""
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    _touch(temporary)
    try:
        with told(path), contextlib.closing(connect(temporary, 0)) as connection:
            prepare(connection, path, migrations)
        os.link(temporary, path)
    except FileExistsError:
        pass  # another process was quicker
    except OSError:
        _touch(path)  # a file system without hard links: it is made in place when opened
    finally:
        temporary.unlink(missing_ok=True)


def _touch(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))


def connect(path: Path, wait_s: float, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection without implicit transactions that waits `wait_s` seconds for another's lock."""
    connection = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
    try:
        for setting in READER if read_only else WRITER:
            connection.execute(f"PRAGMA {setting}")
        connection.create_function("holds", 3, holds, deterministic=True)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(connection: sqlite3.Connection, path: Path, migrations: list[Migration]) -> None:
    """Check whose database this is, migrate it, and set what belongs to a writer's connection.

    Raises StoreTooNew, StoreCorrupt (not dreamd's).
    """
    known = len(migrations)
    version = _version(connection, path, known)
    connection.execute("PRAGMA journal_mode = WAL")
    if version < known:
        _migrate(connection, path, migrations)


def _version(connection: sqlite3.Connection, path: Path, known: int) -> int:
    version = pragma(connection, "user_version")
    owner = pragma(connection, "application_id")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if owner != APPLICATION_ID and (tables or version or owner):
        raise corrupt(path, "not a database of dreamd's")
    if version > known:
        raise StoreTooNew(
            f"{path} has schema {version}, this dreamd knows {known}", hint="install the newer dreamd again"
        )
    return version


def _migrate(connection: sqlite3.Connection, path: Path, migrations: list[Migration]) -> None:
    """Each migration in a transaction of its own, whoever else is opening the database now."""
    for migration in migrations:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection, path, len(migrations)) < migration.number:
                _apply(connection, migration)
            connection.execute("COMMIT")
        except BaseException:
            roll_back(connection)
            raise


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    for statement in statements(migration.text):
        connection.execute(statement)
    record = queries(folder("sqlite"))["record_migration"]
    connection.execute(record, (migration.number, migration.name, migration.sha256))
    connection.execute(f"PRAGMA user_version = {migration.number}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # SQLite has already rolled back after some errors, such as a full disk
        connection.execute("ROLLBACK")


def pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


class Ballast:
    """Room kept for a full disk, where the WAL could not even be taken back into the database."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = database.with_name("ballast")
        self._kept = False

    def keep(self) -> None:
        """Make it when there is room, and a database worth it; another day will do if that fails."""
        if not self._kept:
            with contextlib.suppress(OSError):
                self._kept = self._path.exists() or self._make()

    def _make(self) -> bool:
        small = self._database.stat().st_size < BALLAST
        if small or free(self._path.parent) < 4 * BALLAST:
            return False
        _touch(self._path)
        self._path.write_bytes(os.urandom(BALLAST))  # zeros weigh nothing where the file system compresses
        return True

    def drop(self) -> None:
        self._kept = False
        with contextlib.suppress(OSError):
            self._path.unlink()
