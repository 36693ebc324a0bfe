import sqlite3
from pathlib import Path

import pytest

from dreamd.errors import StoreError
from dreamd.indexes._file import VERSION, File


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def keep(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO state VALUES ('key', 'value')")


def kept(connection: sqlite3.Connection) -> list[str]:
    return [key for (key,) in connection.execute("SELECT key FROM state")]


def test_a_file_is_made_when_it_is_needed_and_found_again(tmp_path: Path) -> None:
    for expected in ([], ["key"]):
        file = File(tmp_path / "r.db")
        assert file.read(version, 0) == VERSION
        assert file.read(kept, []) == expected
        if not expected:
            file.change(keep, None)
        file.close()


def test_a_file_of_another_version_is_made_anew(tmp_path: Path) -> None:
    file = File(tmp_path / "r.db")
    file.change(keep, None)
    file.change(lambda connection: connection.execute("PRAGMA user_version = 99"), None)
    file.close()
    again = File(tmp_path / "r.db")
    assert (again.read(version, 0), again.read(kept, ["?"])) == (VERSION, [])
    again.close()


def test_a_change_that_fails_leaves_no_trace(tmp_path: Path) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        keep(connection)
        raise ZeroDivisionError

    file = File(tmp_path / "r.db")
    with pytest.raises(ZeroDivisionError):
        file.change(fails, None)
    assert file.read(kept, []) == []
    file.close()


def test_who_meets_a_damaged_file_gets_what_was_said_and_the_next_a_new_one(tmp_path: Path) -> None:
    def meets_damage(_connection: sqlite3.Connection) -> str:
        with sqlite3.connect(":memory:") as other:
            other.deserialize(b"damaged" * 1000)
            other.execute("SELECT * FROM sqlite_schema")
        return "read"

    file = File(tmp_path / "r.db")
    file.change(keep, None)
    assert file.read(meets_damage, "instead") == "instead"
    assert file.read(kept, []) == []
    assert file.change(meets_damage, "instead") == "instead"
    file.close()


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot make"):
        File(tmp_path / "missing" / "r.db").read(version, 0)
