import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from dreamd.records import Span
from dreamd.tail.spans import standing

WHOLE = b'{"a": 1}\n{"b": 2}\n'
SPAN = Span("log", 9, 8, hashlib.sha256(b'{"b": 2}').digest())


def test_the_same_bytes_are_verified(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(WHOLE)
    assert standing(SPAN, str(tmp_path / "log.jsonl")) == "verified"


def test_a_compressed_log_is_read_by_its_decompressed_offsets(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl.zst").write_bytes(zstandard.compress(WHOLE))
    assert standing(SPAN, str(tmp_path / "log.jsonl.zst")) == "verified"


def test_other_bytes_are_a_change_and_a_shorter_or_missing_log_is_gone(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(WHOLE.replace(b"2", b"3"))
    assert standing(SPAN, str(log)) == "changed"
    log.write_bytes(WHOLE[:12])
    assert standing(SPAN, str(log)) == "gone"
    assert standing(SPAN, str(tmp_path / "none")) == "gone"


@pytest.mark.parametrize("key", ["id", "rowid"])
def test_a_row_is_verified_by_the_column_that_has_its_hash(tmp_path: Path, key: str) -> None:
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            f"CREATE TABLE messages ({'id INTEGER PRIMARY KEY, ' if key == 'id' else ''}content TEXT)"
        )
        database.execute("INSERT INTO messages (content) VALUES ('茶')")
        database.commit()
    row = Span("db", table="messages", row="1", sha256=hashlib.sha256("茶".encode()).digest())
    assert standing(row, str(path)) == "verified"
    assert standing(Span("db", table="messages", row="1", sha256=b"x"), str(path)) == "changed"
    assert standing(Span("db", table="messages", row="2", sha256=row.sha256), str(path)) == "gone"
    assert standing(Span("db", table="no_such", row="1", sha256=row.sha256), str(path)) == "gone"
    assert standing(Span("db", table='x"; DROP', row="1"), str(path)) == "gone"
    assert standing(row, str(tmp_path / "none.db")) == "gone"


@pytest.mark.parametrize("packed", [False, True])
def test_a_row_with_a_key_of_two_columns_is_verified_packed_or_not(tmp_path: Path, packed: bool) -> None:
    path, entry = tmp_path / "agent.sqlite", '{"text": "茶"}'.encode()
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE events (session_id TEXT, seq INTEGER, entry BLOB, PRIMARY KEY (session_id, seq))"
        )
        database.execute(
            "INSERT INTO events VALUES ('a:b', 7, ?)",
            (zstandard.compress(entry) if packed else entry.decode(),),
        )
        database.commit()
    row = Span("db", table="events", row="a:b:7", sha256=hashlib.sha256(entry).digest())

    assert standing(row, str(path)) == "verified"
    assert standing(Span("db", table="events", row="a:b:7", sha256=b"x"), str(path)) == "changed"
    assert standing(Span("db", table="events", row="a:b:8", sha256=row.sha256), str(path)) == "gone"
    assert standing(Span("db", table="events", row="7", sha256=row.sha256), str(path)) == "gone"


def test_what_is_no_database_is_gone(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"not a database, but long enough to be looked at" * 50)
    assert standing(Span("db", table="messages", row="1"), str(tmp_path / "index.db")) == "gone"
