"""SQLite's errors in, dreamd's out, by result code and never by text (sqlite.org/rescode.html)."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dreamd.errors import DiskFull, DreamdError, StoreBusy, StoreCorrupt, StoreError
from dreamd.places import free

ROOM = 1 << 20  # bytes; with less free the disk is full, and a failed write is put down to that
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
CORRUPT_IO = {sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS}
FORBIDDEN = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Raise what goes wrong with the database at `path` as one of dreamd's errors."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(error, path) from error
    except UnicodeEncodeError as error:
        raise StoreError(f"{path} takes only Unicode text; a lone surrogate was refused") from error
    except msgspec.DecodeError as error:
        raise corrupt(path, "a row does not decode") from error


def store_error(error: sqlite3.Error, path: Path) -> DreamdError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # the module's own errors have none
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and is_full(path)):
        return full(path)
    if primary in CORRUPT or code in CORRUPT_IO:
        return corrupt(path, name)
    if primary in BUSY:
        return StoreBusy(f"{path} is held by another process", hint="try again")
    if primary in FORBIDDEN:
        return StoreError(
            f"cannot open or write {path} ({name})", hint="check permissions of file and folder"
        )
    return StoreError(f"{path} refused ({name})")


def unmade(path: Path, error: OSError) -> DreamdError:
    """Of a file or folder that cannot be made."""
    if DiskFull.is_told_by(error):
        return full(path)
    return StoreError(f"cannot make {path}: {error.strerror}", hint="check the state folder's permissions")


def full(path: Path) -> DiskFull:
    return DiskFull(f"no space left to write {path}", hint="free some space; it is tried again")


def corrupt(path: Path, why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} is damaged ({why})",
        hint="move it and its -wal file aside; dreamd makes a new one and reads all logs again",
    )


def is_full(path: Path) -> bool:
    with contextlib.suppress(OSError):  # the folder itself may be gone
        return free(path.parent) < ROOM
    return False
