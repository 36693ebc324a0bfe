"""The SQLite store under fire: full disks, other processes, kills."""

import contextlib
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreamd.errors import DiskFull, StoreBusy, StoreConflict, StoreError
from dreamd.stores import _sqlite_errors
from dreamd.stores.base import Changes, MemoryQuery, WindowCount
from dreamd.stores.sqlite import SqliteStore
from tests.stores.making import DAY, EVERYTHING, cursor, raw, stored

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(tmp_path, wait_s=0)) as store:
        yield store


def child(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Another process with a store open on the folder that is its first argument."""
    opening = "import sys; from pathlib import Path; from dreamd.stores.sqlite import OPEN\n"
    words = "from dreamd.stores.base import *; from tests.stores.making import *; store = OPEN(Path(sys.argv[1]))\n"
    return subprocess.Popen(
        [sys.executable, "-c", opening + words + script, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        before = stored(store, raw(1), raw(2))
        store.write(Changes(cursor=cursor(), durable=True))
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        assert list(store.memories(EVERYTHING)) == before
        assert store.cursors() == [cursor()]


def test_a_full_database_refuses_the_whole_write_and_takes_the_next(store: SqliteStore) -> None:
    stored(store, raw(0))
    pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
    store._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    changes = Changes(memories=[raw(n, content="x" * 1000) for n in range(1, 100)], cursor=cursor())
    with pytest.raises(DiskFull):
        store.write(changes)
    assert (len(list(store.memories(EVERYTHING))), store.cursors()) == (1, [])
    store._writer.execute("PRAGMA max_page_count = 100000")
    assert store.write(changes).stored == 99
    assert store.windows("ada") == [WindowCount("ada", DAY, 100, 100)]


def test_a_disk_with_hardly_any_room_is_full_before_a_write_fails(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.check_room()
    monkeypatch.setattr(_sqlite_errors, "ROOM", 1 << 62)
    with pytest.raises(DiskFull, match="free some space"):
        store.check_room()


def test_a_store_that_another_process_holds_says_busy(tmp_path: Path, store: SqliteStore) -> None:
    with contextlib.closing(SqliteStore(tmp_path)) as other:
        other._writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"):
            store.write(Changes(memories=[raw(1)]))
        assert list(store.memories(EVERYTHING)) == []
        other._writer.execute("ROLLBACK")
        assert stored(store, raw(1))[0].content == raw(1).content


def test_readers_do_not_wait_for_a_long_write(store: SqliteStore) -> None:
    stored(store, raw(1))
    writing, read = threading.Event(), threading.Event()

    def slowly() -> Iterator[tuple[str, str]]:
        writing.set()
        assert read.wait(10)
        yield "key", "value"

    class Slow(dict[str, str]):
        def items(self) -> Iterator[tuple[str, str]]:  # type: ignore[override]
            return slowly()

    writer = threading.Thread(target=store.write, args=[Changes(memories=[raw(2)], meta=Slow())])
    writer.start()
    assert writing.wait(10)
    seen = list(store.memories(EVERYTHING))
    read.set()
    writer.join()
    assert len(seen) == 1
    assert len(list(store.memories(EVERYTHING))) == 2


def test_a_reader_in_the_middle_does_not_keep_the_wal_from_being_taken_back(store: SqliteStore) -> None:
    stored(store, *(raw(n) for n in range(1200)))
    memories = store.memories(MemoryQuery())
    next(memories)
    stored(store, *(raw(n) for n in range(1200, 1300)))
    assert store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    assert len(list(memories)) == 1199


def test_processes_write_at_once_and_every_memory_is_there_once(tmp_path: Path) -> None:
    script = """
first, count = int(sys.argv[2]), 0
print("ready", flush=True); sys.stdin.readline()
for batch in range(20):
    numbers = range(first + batch * 10, first + batch * 10 + 10)
    count += store.write(Changes(memories=[raw(n) for n in numbers])).stored
print(count)
"""
    writers = [
        child(script, tmp_path, first) for first in (0, 100, 200)
    ]  # each meets half of its neighbour's
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    counts = [int(writer.communicate("go\n")[0]) for writer in writers]
    with contextlib.closing(SqliteStore(tmp_path)) as store:
        assert sum(counts) == 400
        assert [memory.seq for memory in store.memories(EVERYTHING)] == list(range(1, 401))
        assert store.windows("ada") == [WindowCount("ada", DAY, 400, 400)]


def test_processes_that_read_the_same_log_do_not_both_move_its_cursor(
    tmp_path: Path, store: SqliteStore
) -> None:
    with contextlib.closing(SqliteStore(tmp_path)) as other:
        store.write(Changes(cursor=cursor(1), memories=[raw(1)]))
        with pytest.raises(StoreConflict):
            other.write(Changes(cursor=cursor(1), memories=[raw(2)]))
        assert other.write(Changes(cursor=cursor(2), memories=[raw(2)])).stored == 1
    assert [one.version for one in store.cursors()] == [2]


def test_a_kill_at_any_instant_leaves_cursor_and_memories_in_step(tmp_path: Path) -> None:
    script = """
version = max((one.version for one in store.cursors()), default=0)
while True:
    version += 1
    store.write(Changes(cursor=cursor(version), memories=[raw(version * 100 + n) for n in range(100)]))
    print(version, flush=True)
"""
    draw = random.Random(7)
    acknowledged = 0
    for _ in range(20):
        writer = child(script, tmp_path)
        assert writer.stdout is not None
        for _ in range(draw.randrange(8)):
            acknowledged = int(writer.stdout.readline())
        writer.kill()
        writer.communicate()
        with contextlib.closing(SqliteStore(tmp_path)) as store:
            version = max((one.version for one in store.cursors()), default=0)
            assert version >= acknowledged
            assert sum(count.memories for count in store.windows("ada")) == version * 100
            assert sum(1 for _ in store.memories(EVERYTHING)) == version * 100
            assert store._writer.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert acknowledged > 10


def test_a_database_that_was_removed_while_it_is_in_use_takes_nothing_more(
    store: SqliteStore, tmp_path: Path
) -> None:
    store.write(Changes(memories=(raw(1),)))
    (tmp_path / "pool.db").rename(tmp_path / "aside.db")
    with pytest.raises(StoreError, match="restart dreamd"):
        store.write(Changes(memories=(raw(2),)))
    with contextlib.closing(SqliteStore(tmp_path)) as anew:
        anew.write(Changes(memories=(raw(1),)))
        with pytest.raises(StoreError, match="restart dreamd"):
            store.write(Changes(memories=(raw(2),)))
