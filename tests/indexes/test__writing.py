import sqlite3
from collections.abc import Iterator

import pytest

from dreamd.indexes._file import SCHEMA
from dreamd.indexes._writing import Writing
from dreamd.stores.base import Mark
from tests.indexes.filling import entry


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.executescript(SCHEMA.read_text("utf-8"))
    yield made
    made.close()


def test_the_mark_is_what_was_written_last(connection: sqlite3.Connection) -> None:
    writing = Writing(connection)
    assert writing.mark() == Mark()
    writing.apply([], [], Mark(7, "id", 3))
    assert writing.mark() == Mark(7, "id", 3)


def test_sizes_follow_what_comes_changes_and_goes(connection: sqlite3.Connection) -> None:
    writing = Writing(connection)
    writing.apply([entry(1, "a b"), entry(2, "c"), entry(3, "d", session="", conclusion=True)], [], Mark(1))
    writing.apply([entry(1, "a b c d")], [2], Mark(2))
    assert connection.execute("SELECT * FROM sizes").fetchall() == [(1, 0, 1, 4), (1, 1, 1, 1)]


def test_places_go_on_behind_the_last_of_the_session(connection: sqlite3.Connection) -> None:
    writing = Writing(connection)
    writing.apply([entry(1, "a"), entry(2, "b", session="t")], [], Mark(1))
    writing.apply([entry(3, "c"), entry(1, "d"), entry(4, "e"), entry(5, "f", "bob")], [], Mark(2))
    rows = connection.execute("SELECT n & 1099511627775, session, place FROM documents ORDER BY 1").fetchall()
    assert rows == [(1, 1, 1), (2, 2, 1), (3, 1, 2), (4, 1, 3), (5, 3, 1)]


def test_an_index_holds_its_terms_and_nothing_of_what_went(connection: sqlite3.Connection) -> None:
    writing = Writing(connection)
    writing.apply([entry(1, "red red blue")], [], Mark(1))
    writing.apply([], [1], Mark(2))
    assert connection.execute("SELECT count(*) FROM documents").fetchone() == (0,)
    assert (
        connection.execute("SELECT rowid FROM record_terms WHERE record_terms MATCH 'red'").fetchall() == []
    )
