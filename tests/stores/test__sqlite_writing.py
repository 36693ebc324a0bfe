"""What the writer remembers between transactions, and what it leaves in tables that no question shows."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreamd.errors import StoreConflict, StoreError
from dreamd.records import Amendment, Span
from dreamd.stores.base import Changes
from dreamd.stores.sqlite import SqliteStore
from tests.stores.making import cursor, raw, stored, summary


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        yield store


def table(store: SqliteStore, sql: str) -> list[tuple[object, ...]]:
    return store._writer.execute(sql).fetchall()


def test_a_log_has_one_number_in_every_process(tmp_path: Path, store: SqliteStore) -> None:
    with contextlib.closing(SqliteStore(tmp_path)) as other:
        stored(store, raw(1))
        stored(other, raw(2), raw(3, span=Span("another log")))
        stored(store, raw(4, span=Span("another log")), raw(5, span=None))
    assert table(store, "SELECT source, count(*) FROM memories GROUP BY 1") == [(None, 1), (1, 2), (2, 2)]


def test_more_logs_than_are_remembered_keep_their_numbers(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dreamd.stores._sqlite_writing._MOST_NUMBERS", 1)
    for number, log in enumerate("abcabc"):
        stored(store, raw(number, span=Span(log)))
    assert table(store, "SELECT source FROM memories") == [(1,), (2,), (3,), (1,), (2,), (3,)]


def test_the_log_of_a_rolled_back_write_is_numbered_anew(store: SqliteStore) -> None:
    with pytest.raises(StoreError, match="surrogate"):
        store.write(Changes(memories=[raw(1, content="\ud800")]))
    assert table(store, "SELECT * FROM sources") == []
    assert stored(store, raw(2))[0].span == raw(2).span


def test_a_memory_that_was_there_already_gets_no_new_refs(store: SqliteStore) -> None:
    one = summary("one", ("a", "b", "a"))
    stored(store, raw(1), one)
    stored(store, summary("one", ("c",), memory_id=one.memory_id))
    assert table(store, "SELECT * FROM memory_refs") == [("a", 2), ("b", 2)]


def test_a_refused_cursor_leaves_no_transaction_open(store: SqliteStore) -> None:
    with pytest.raises(StoreConflict):
        store.write(Changes(cursor=cursor(5)))
    assert not store._writer.in_transaction
    assert store.write(Changes(cursor=cursor(1))).stored == 0


def test_fields_that_few_memories_have_take_no_room_in_the_others(store: SqliteStore) -> None:
    stored(store, raw(1), summary("s", ("a",)))
    assert table(store, "SELECT extra FROM memories") == [(None,), ('{"ref_ids":["a"]}',)]


def test_counts_stay_exact_whatever_is_changed_twice_in_one_write(store: SqliteStore) -> None:
    memory = raw(1)
    change = (memory.memory_id, Amendment(identity="1", origin="scheduled"))
    again = (memory.memory_id, Amendment(identity="1", origin="human", withdrawn=False))
    store.write(Changes(memories=[memory, memory], amendments=[change, again], filed=[memory.memory_id] * 2))
    counts = table(store, "SELECT origin, memories, unfiled FROM day_counts WHERE memories OR unfiled")
    assert counts == [("human", 1, 0)]


def test_the_refs_of_a_replaced_memory_are_those_it_has_now(store: SqliteStore) -> None:
    one, two = summary("one", ("a", "b")), summary("two", ("a",))
    stored(store, one, two)
    store.write(Changes(replaced=[summary("one", ("b", "c"), memory_id=one.memory_id)]))
    assert table(store, "SELECT * FROM memory_refs ORDER BY seq, ref_id") == [("b", 1), ("c", 1), ("a", 2)]


def test_of_one_id_twice_in_a_write_the_first_memory_has_the_refs(store: SqliteStore) -> None:
    one = summary("one", ("a",))
    stored(store, one, summary("one", ("b",), memory_id=one.memory_id))
    assert table(store, "SELECT * FROM memory_refs") == [("a", 1)]
