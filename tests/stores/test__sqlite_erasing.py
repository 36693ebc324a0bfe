"""What stays in the files of a SQLite store: nothing that was forgotten, all else."""

import contextlib
from datetime import timedelta
from pathlib import Path

import pytest

from dreamd.archives.base import Place
from dreamd.errors import StoreCorrupt
from dreamd.records import Amendment
from dreamd.stores._forgetting import mark_of
from dreamd.stores.base import Changes, Erased, MemoryQuery
from dreamd.stores.sqlite import SqliteStore
from tests.stores.making import DAY, EVERYTHING, NOON, ids, raw

SECRET = "my sister's code word is Zinfandel"
TOMORROW = DAY + timedelta(days=1)


def bytes_of(state: Path) -> bytes:
    return b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())


def filled(state: Path, count: int = 300) -> SqliteStore:
    store = SqliteStore(state)
    memories = []
    for number in range(count):
        text = f"{SECRET} {number}" if number % 3 == 0 else f"harmless {number} " + "filling " * (number % 50)
        memories.append(raw(number, content=text))
    store.write(Changes(memories=memories))
    return store


def forget(store: SqliteStore, count: int = 300) -> None:
    gone = [raw(number).memory_id for number in range(0, count, 3)]
    store.write(Changes(erased=Erased(at=NOON, memories=gone, marks=[mark_of(SECRET)])))


@pytest.mark.parametrize("archived", [False, True])
def test_no_byte_of_it_is_left_in_the_state_folder(tmp_path: Path, archived: bool) -> None:
    with contextlib.closing(filled(tmp_path)) as store:
        kept = [one.content for one in store.memories(MemoryQuery()) if "harmless" in one.content]
        list(store.memories(MemoryQuery()))  # a reader's connection stays open
        if archived:
            assert store.archive(TOMORROW) == 300
            assert b"harmless" not in bytes_of(tmp_path / "archive")
        forget(store)
        store.purge()
        assert b"Zinfandel" not in bytes_of(tmp_path)
        assert [one.content for one in store.memories(MemoryQuery())] == kept


def test_the_archive_holds_no_copy_of_what_was_amended_and_then_forgotten(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        store.write(Changes(memories=[raw(1, content=SECRET), raw(2)]))
        store.archive(TOMORROW)
        store.write(Changes(amendments=[(raw(1).memory_id, Amendment(identity="1", text="other"))]))
        store.write(Changes(erased=Erased(at=NOON, memories=[raw(1).memory_id])))
        store.purge()
        (place,) = store._read("block", (1,), Place._make)
        assert list(store._archive().read(place)) == [raw(2).memory_id]


def test_a_lost_pool_does_not_bring_back_what_was_forgotten(tmp_path: Path) -> None:
    with contextlib.closing(filled(tmp_path, 9)) as store:
        forget(store, 9)
    for path in tmp_path.glob("pool.db*"):
        path.unlink()
    with contextlib.closing(filled(tmp_path, 9)) as store:
        assert ids(store, EVERYTHING) == [raw(number).memory_id for number in range(9) if number % 3]
    with contextlib.closing(filled(tmp_path, 9)) as store:
        assert len(ids(store, EVERYTHING)) == 6


def test_another_process_that_has_the_store_open_refuses_it_too(tmp_path: Path) -> None:
    with contextlib.closing(filled(tmp_path, 9)) as one, contextlib.closing(SqliteStore(tmp_path)) as other:
        forget(one, 9)
        other.write(Changes(memories=[raw(number, content=SECRET) for number in range(20)]))
        assert b"".join(m.content.encode() for m in one.memories(EVERYTHING)).count(b"Zinfandel") == 0
        one.purge()
    assert b"Zinfandel" not in bytes_of(tmp_path)


def test_another_process_reads_on_while_the_archive_is_written_anew(tmp_path: Path) -> None:
    with contextlib.closing(filled(tmp_path)) as one, contextlib.closing(SqliteStore(tmp_path)) as other:
        one.archive(TOMORROW)
        assert len([memory for memory in other.memories(MemoryQuery()) if memory.archived]) == 300
        forget(one)
        one.purge()
        left = list(other.memories(MemoryQuery()))
        assert len(left) == 200
        assert all("harmless" in memory.content for memory in left)


def test_a_file_that_a_crash_left_is_swept_away(tmp_path: Path) -> None:
    with contextlib.closing(filled(tmp_path, 9)) as store:
        store._archive().write([[raw(1, content=SECRET)]])  # and killed before the transaction
        forget(store, 9)
        store.purge()
    assert b"Zinfandel" not in bytes_of(tmp_path)
    assert list((tmp_path / "archive").iterdir()) == []


def test_a_lost_file_of_the_archive_loses_its_texts_and_no_more(tmp_path: Path) -> None:
    with contextlib.closing(filled(tmp_path, 9)) as store:
        store.archive(TOMORROW)
        for file in (tmp_path / "archive").iterdir():
            file.unlink()
        store._archive().sweep([])
        store.write(Changes(memories=[raw(10)]))
        assert [one.content for one in store.memories(MemoryQuery())] == [""] * 9 + [raw(10).content]
        store.write(Changes(amendments=[(raw(1).memory_id, Amendment(identity="1", ok=True))]))
        with pytest.raises(StoreCorrupt):
            forget(store, 9)


def test_many_are_archived_page_by_page(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        store.write(Changes(memories=[raw(number) for number in range(4500)]))
        before = list(store.memories(MemoryQuery()))
        assert store.archive(DAY) == 0
        assert store.archive(TOMORROW) == 4500
        assert [one.content for one in store.memories(MemoryQuery())] == [one.content for one in before]
        assert len(list((tmp_path / "archive").iterdir())) == 3
