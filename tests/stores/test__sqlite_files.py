"""The files of the SQLite store, and the law that what is not ours or newer is never touched."""

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreamd.errors import DiskFull, StoreCorrupt, StoreError, StoreTooNew
from dreamd.stores import _sql
from dreamd.stores._sql import Migration
from dreamd.stores._sqlite_files import BALLAST, Ballast, connect, pragma, prepare
from dreamd.stores.base import Changes, Contradiction, MemoryQuery
from dreamd.stores.sqlite import SqliteStore
from tests.stores.making import EVERYTHING, NOON, raw, stored

GOLDEN = Path(__file__).parent.parent / "golden" / "sqlite_schema.sql"
KNOWN = _sql.migrations(_sql.folder("sqlite"))


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def made(state: Path, *memories: int) -> Path:
    """A closed database with some memories."""
    with contextlib.closing(SqliteStore(state)) as store:
        stored(store, *(raw(number) for number in memories))
    return state / "pool.db"


def test_the_state_folder_and_its_files_are_the_owners_alone(tmp_path: Path) -> None:
    state = tmp_path / "deep" / "state"
    with contextlib.closing(SqliteStore(state)) as store:
        stored(store, raw(1))
        assert mode(state) == 0o700
        assert {path.name: mode(path) for path in state.iterdir()} == {
            "pool.db": 0o600,
            "pool.db-wal": 0o600,
            "pool.db-shm": 0o600,
        }
    assert [path.name for path in state.iterdir()] == ["pool.db"]


def test_a_database_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    path = made(tmp_path, 1)
    path.chmod(0o644)
    made(tmp_path, 2)
    assert mode(path) == 0o600


def test_a_state_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="permissions"):
        SqliteStore(tmp_path / "file" / "state")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_state_folder_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="permissions"):
        SqliteStore(tmp_path)


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = made(tmp_path, 1)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=r"schema 999.*install the newer dreamd"):
        SqliteStore(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database " * 1000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pool.db"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"move it .* aside; .* reads all logs again"):
        SqliteStore(tmp_path)
    assert path.read_bytes() == content


def test_somebody_elses_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pool.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="not a database of dreamd's"):
        SqliteStore(tmp_path)
    assert path.read_bytes() == before


def test_a_database_cut_short_is_told_as_damaged_and_left_alone(tmp_path: Path) -> None:
    path = made(tmp_path, *range(2000))
    os.truncate(path, 300_000)
    before = path.read_bytes()

    def use() -> None:
        with contextlib.closing(SqliteStore(tmp_path)) as store:
            assert list(store.memories(MemoryQuery())) == []

    with pytest.raises(StoreCorrupt, match="is damaged"):
        use()
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    (tmp_path / "pool.db").touch(0o600)
    made(tmp_path, 1)
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        assert len(list(store.memories(EVERYTHING))) == 1


def test_a_half_made_database_of_a_killed_process_is_nobodys_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".pool.db.0123.tmp").write_bytes(b"half")
    assert made(tmp_path, 1).exists()


def test_the_migrations_from_zero_make_the_schema(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(made(tmp_path))) as connection:
        found = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
        schema = ";\n\n".join(row[0] for row in found) + ";\n"
        recorded = connection.execute("SELECT number, name, sha256 FROM migrations").fetchall()
        assert pragma(connection, "user_version") == len(KNOWN)
    assert schema == GOLDEN.read_text("utf-8")
    assert recorded == [(migration.number, migration.name, migration.sha256) for migration in KNOWN]


@pytest.fixture
def older(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = made(tmp_path, 1, 2)
    with contextlib.closing(connect(path, 0)) as connection:
        yield connection


def test_a_new_migration_is_applied_once_and_keeps_what_is_there(
    older: sqlite3.Connection, tmp_path: Path
) -> None:
    text = "CREATE TABLE more (a TEXT);\nINSERT INTO more SELECT content FROM memories;"
    newer = [*KNOWN, Migration(len(KNOWN) + 1, "more", text)]
    for _ in range(2):
        prepare(older, tmp_path / "pool.db", newer)
    assert older.execute("SELECT count(*) FROM more").fetchone() == (2,)
    assert older.execute("SELECT name FROM migrations").fetchall()[-1] == ("more",)
    with pytest.raises(StoreTooNew):
        SqliteStore(tmp_path)


def test_a_pool_from_before_the_dreams_is_brought_up_to_date(tmp_path: Path) -> None:
    with contextlib.closing(connect(tmp_path / "pool.db", 0)) as connection:
        prepare(connection, tmp_path / "pool.db", KNOWN[:1])
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        pair = Contradiction(agent="ada", left_id="a", right_id="b", reason="number", at=NOON)
        store.write(Changes(contradictions=[pair]))
        assert store.contradictions("ada") == [pair]
        assert pragma(store._writer, "user_version") == len(KNOWN)


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    older: sqlite3.Connection, tmp_path: Path
) -> None:
    broken = [
        *KNOWN,
        Migration(len(KNOWN) + 1, "broken", "CREATE TABLE more (a TEXT);\nSELECT * FROM nowhere;"),
    ]
    before = older.execute("SELECT * FROM sqlite_schema").fetchall()
    with pytest.raises(sqlite3.OperationalError):
        prepare(older, tmp_path / "pool.db", broken)
    assert not older.in_transaction
    assert older.execute("SELECT * FROM sqlite_schema").fetchall() == before
    assert pragma(older, "user_version") == len(KNOWN)


def test_ballast_is_kept_beside_a_large_database_only(tmp_path: Path) -> None:
    database = tmp_path / "pool.db"
    database.write_bytes(b"small")
    ballast = Ballast(database)
    ballast.keep()
    assert not (tmp_path / "ballast").exists()
    os.truncate(database, BALLAST)
    ballast.keep()
    assert ((tmp_path / "ballast").stat().st_size, mode(tmp_path / "ballast")) == (BALLAST, 0o600)
    ballast.drop()
    ballast.drop()
    assert not (tmp_path / "ballast").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", tmp_path], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    yield tmp_path
    subprocess.run(["umount", "-l", tmp_path], check=True)


def test_a_full_disk_loses_nothing_and_gives_up_its_ballast(small_disk: Path) -> None:
    filler = small_disk / "filler"
    with contextlib.closing(SqliteStore(small_disk)) as store:
        store._writer.execute("PRAGMA wal_autocheckpoint = 100")
        stored(store, *(raw(number, content="x" * 100_000) for number in range(100)))
        store.write(Changes(meta={"after": "the checkpoint"}))
        assert (small_disk / "ballast").exists()
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"\0" * 65536):
                pass
        with pytest.raises(DiskFull, match="free some space"):
            store.write(Changes(memories=[raw(1000, content="y" * 60_000_000)], meta={"key": "lost"}))
        assert not (small_disk / "ballast").exists()
        assert (store.meta("key"), len(list(store.memories(MemoryQuery())))) == (None, 100)
        filler.unlink()
        assert store.write(Changes(memories=[raw(1000)])).stored == 1
        assert (small_disk / "ballast").exists()
        assert store._writer.execute("PRAGMA integrity_check").fetchone() == ("ok",)
