import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePath
from zoneinfo import ZoneInfo

import pytest

from dreamd.clock import StillClock
from dreamd.errors import LogUnreadable
from dreamd.events import silent
from dreamd.formats.base import CERTAIN, Query, RowBatch, Source
from dreamd.records import Record, Span
from dreamd.sections import Tail
from dreamd.stores.base import Cursor
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail import rows
from dreamd.tail.ingest import Agent
from dreamd.tail.rows import RowStore, stamps
from dreamd.tail.steps import How, Tools
from tests.tail.house import texts


class Notes:
    """Rows of `notes(id, text)`, two a batch; the state is the last id."""

    name = label = "notes"
    family = "rows"
    places = ("*.db",)

    def claims(self, path: PurePath, head: bytes) -> int:
        return CERTAIN

    def poll(self, query: Query, source: Source, state: bytes) -> RowBatch:
        found = list(query("SELECT id, text FROM notes WHERE id > ? ORDER BY id LIMIT 2", int(state or b"0")))
        items = [
            Record(
                identity=f"{number} {text}", session_id="s", role="user", origin="human", text=str(text),
                span=Span(source.source_id, table="notes", row=str(number)),
            )
            for number, text in found
        ]  # fmt: skip
        return RowBatch(items, str(found[-1][0]).encode() if found else state, more=len(found) == 2)


class House:
    def __init__(self, folder: Path, clock: StillClock) -> None:
        self.path = folder / "notes #1 100%.db"
        self.store = InMemoryStore()
        self.tools = Tools(self.store, clock, silent, Tail(), Agent("a", ZoneInfo("UTC"), 1000))
        self.cursor = Cursor(source_id="s", agent="a", path=str(self.path), format="notes", version=0)
        self.writer: sqlite3.Connection | None = None

    def create(self, journal: str = "wal") -> sqlite3.Connection:
        self.writer = sqlite3.connect(self.path)
        self.writer.execute(f"PRAGMA journal_mode={journal}")
        self.writer.execute("PRAGMA wal_autocheckpoint=0")
        self.writer.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT)")
        self.writer.commit()
        return self.writer

    def note(self, *texts: str) -> None:
        assert self.writer
        self.writer.executemany("INSERT INTO notes(text) VALUES (?)", [(text,) for text in texts])
        self.writer.commit()

    def read(self) -> list[str]:
        source = Source("s", PurePath(self.path), PurePath(self.path), "UTC")
        opened = RowStore(self.tools, self.cursor, Notes(), source)
        for _ in opened.read(str(self.path), How()):
            pass
        self.cursor = opened.cursor
        return texts(self.store)


@pytest.fixture
def house(tmp_path: Path, clock: StillClock) -> Iterator[House]:
    made = House(tmp_path, clock)
    yield made
    if made.writer:
        made.writer.close()


def test_rows_are_read_in_batches_and_once(house: House) -> None:
    house.create()
    house.note("one", "two", "three", "four", "five")
    assert house.read() == ["one", "two", "three", "four", "five"]
    version = house.cursor.version
    assert house.read() == ["one", "two", "three", "four", "five"]
    assert house.cursor.version == version  # nothing new, nothing written
    house.note("six")
    assert house.read()[-1] == "six"


def test_a_long_reading_is_several_transactions_and_loses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "SITTING_S", -1.0)
    house.create()
    house.note("one", "two", "three", "four", "five")
    assert house.read() == ["one", "two", "three", "four", "five"]


def test_what_lies_only_in_the_write_ahead_log_is_seen_and_marks_a_change(house: House) -> None:
    house.create()
    house.note("one")
    before = stamps(str(house.path))
    house.note("two")
    assert stamps(str(house.path)) != before
    assert Path(f"{house.path}-wal").stat().st_size > 0
    assert house.read() == ["one", "two"]


def test_that_somebody_opened_the_write_ahead_log_is_no_news(house: House) -> None:
    house.create()
    house.note("one")
    before = stamps(str(house.path))
    house.read()  # as root, SQLite sets the log's owner
    Path(f"{house.path}-wal").chmod(0o600)
    assert stamps(str(house.path)) == before


def test_the_agents_database_is_not_changed(house: House) -> None:
    house.create("delete")
    house.note("one")
    before = house.path.read_bytes()
    house.read()
    assert house.path.read_bytes() == before


def test_a_store_in_a_folder_that_cannot_be_written_is_read_from_a_copy(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.create()
    house.note("one")
    real = rows._connected

    def refused(path: str) -> sqlite3.Connection:
        if path != str(house.path):
            return real(path)
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise error

    monkeypatch.setattr(rows, "_connected", refused)
    assert house.read() == ["one"]


def test_another_database_at_the_same_path_is_read_from_its_beginning(house: House) -> None:
    house.create()
    house.note("one", "two")
    house.read()
    assert house.writer
    house.writer.close()
    for path in house.path.parent.iterdir():
        path.rename(path.with_name("old" + path.name))
    house.create()
    house.note("new one")
    assert house.read() == ["one", "two", "new one"]


def test_a_locked_store_is_tried_later(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_BUSY_S", 0.01)
    house.create("delete")
    house.note("one")
    with closing(sqlite3.connect(house.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LogUnreadable, match="locked by the agent"):
            house.read()
        other.execute("COMMIT")
    assert house.read() == ["one"]


def test_what_is_no_database_is_named(house: House) -> None:
    house.path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(LogUnreadable, match="not a SQLite database"):
        house.read()
    house.path.unlink()
    with pytest.raises(LogUnreadable, match=r"cannot be opened|No such file"):
        house.read()
