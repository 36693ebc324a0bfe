import sqlite3
from pathlib import Path

import msgspec
import pytest

from dreamd.errors import DiskFull, DreamdError, StoreBusy, StoreCorrupt, StoreError
from dreamd.stores._sqlite_errors import told


def failure(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("words that change from version to version")
    error.sqlite_errorcode, error.sqlite_errorname = code, f"CODE_{code}"
    return error


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_FULL, DiskFull),
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_LOCKED, StoreBusy),
        (sqlite3.SQLITE_CORRUPT, StoreCorrupt),
        (sqlite3.SQLITE_CORRUPT_VTAB, StoreCorrupt),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt),
        (sqlite3.SQLITE_IOERR_SHORT_READ, StoreCorrupt),
        (sqlite3.SQLITE_READONLY, StoreError),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, StoreError),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreError),
        (sqlite3.SQLITE_ERROR, StoreError),
    ],
)
def test_a_result_code_says_what_went_wrong(tmp_path: Path, code: int, expected: type[DreamdError]) -> None:
    with pytest.raises(expected) as raised, told(tmp_path / "pool.db"):
        raise failure(code)
    assert type(raised.value) is expected
    assert str(tmp_path / "pool.db") in raised.value.what
    assert "words that change" not in str(raised.value)


def test_what_a_person_can_help_has_a_hint(tmp_path: Path) -> None:
    for code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY):
        with pytest.raises(DreamdError) as raised, told(tmp_path / "pool.db"):
            raise failure(code)
        assert raised.value.hint


def test_errors_of_the_module_itself_have_no_code_and_are_told_too(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="ProgrammingError"), told(tmp_path / "pool.db"):
        raise sqlite3.ProgrammingError("closed")


def test_a_folder_that_is_gone_hides_no_error() -> None:
    with pytest.raises(StoreError, match="CODE_778"), told(Path("/nowhere/at/all/pool.db")):
        raise failure(sqlite3.SQLITE_IOERR_WRITE)


def test_a_row_that_does_not_decode_is_corruption(tmp_path: Path) -> None:
    with pytest.raises(StoreCorrupt), told(tmp_path / "pool.db"):
        msgspec.json.decode(b"{", type=dict)
