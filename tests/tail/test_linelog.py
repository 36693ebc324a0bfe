"""One line log: what is stored with what, and how a reader comes back."""

from collections.abc import Sequence
from pathlib import Path, PurePath
from zoneinfo import ZoneInfo

import pytest

from dreamd.clock import StillClock
from dreamd.formats.base import Source
from dreamd.records import Item, Span
from dreamd.sections import Tail
from dreamd.stores.base import Changes, Cursor, Written
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail import ingest, linelog
from dreamd.tail.fingerprint import tail_of
from dreamd.tail.ingest import Agent
from dreamd.tail.linelog import LineLog
from dreamd.tail.steps import How, Step, Tools
from tests.tail.house import Numbers, Told, raw, texts

SETTLE = How(settle=True)


class Recording(InMemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.writes: list[Changes] = []

    def write(self, changes: Changes) -> Written:
        self.writes.append(changes)
        return super().write(changes)


class House:
    def __init__(self, folder: Path, clock: StillClock, settings: Tail | None = None) -> None:
        self.path = folder / "x.log"
        self.store = Recording()
        self.told = Told()
        self.tools = Tools(
            self.store, clock, self.told, settings or Tail(), Agent("a", ZoneInfo("UTC"), 1000)
        )
        self.readers: list[Numbers] = []
        self.log = self.opened(
            Cursor(source_id="s", agent="a", path=str(self.path), format="numbers", version=0)
        )

    def opened(self, cursor: Cursor) -> LineLog:
        return LineLog(self.tools, cursor, self._reader)

    def _reader(self, state: bytes) -> Numbers:
        self.readers.append(Numbers(Source("s", PurePath(self.path), PurePath(self.path), "UTC"), state))
        return self.readers[-1]

    def read(self, how: How = How()) -> list[Step]:  # noqa: B008 - immutable
        return list(self.log.read(str(self.path), how))

    def restart(self) -> None:
        [cursor] = self.store.cursors("a")
        self.log = self.opened(cursor)


@pytest.fixture
def house(tmp_path: Path, clock: StillClock) -> House:
    return House(tmp_path, clock)


def numbers(*which: int) -> bytes:
    return b"".join(b'{"n":%d}\n' % number for number in which)


def test_an_append_is_one_transaction_with_its_cursor(house: House) -> None:
    house.path.write_bytes(numbers(1, 2))
    [step] = house.read()
    assert (step.written.stored, step.lines, step.read) == (2, 2, 16)
    [changes] = house.store.writes
    assert changes.cursor is not None
    assert (changes.cursor.offset, changes.cursor.records, changes.cursor.version) == (16, 2, 1)
    assert house.read() == []


def test_a_span_names_the_raw_bytes(house: House) -> None:
    house.path.write_bytes(b"\xef\xbb\xbf" + numbers(1)[:-1] + b"\r\n\r\n" + numbers(2))
    house.read()
    spans = [memory.span for changes in house.store.writes for memory in changes.memories]
    assert [(span.offset, span.length) for span in spans if span] == [(0, 11), (14, 7)]


def test_a_log_of_many_records_is_stored_in_pieces(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "BATCH_RECORDS", 10)
    house.path.write_bytes(numbers(*range(35)))
    assert [step.written.stored for step in house.read()] == [10, 10, 10, 5]


def test_stopped_between_chunks_nothing_read_is_forgotten(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linelog, "CHUNK_BYTES", 16)
    monkeypatch.setattr("dreamd.tail.logfile.CHUNK_BYTES", 16)
    house.path.write_bytes(numbers(*range(1, 9)))
    house.read(How(stopping=lambda: True))
    assert texts(house.store) == ["1", "2"]
    house.restart()
    house.read()
    assert texts(house.store) == [str(number) for number in range(1, 9)]


def test_steps_end_as_soon_as_it_is_enough_and_what_is_between_them_loses_nothing(house: House) -> None:
    house.path.write_bytes(numbers(*range(5)))
    between: list[str] = []
    steps = house.read(How(enough=lambda: True, between=between.append))
    assert [step.written.stored for step in steps] == [1, 1, 1, 1, 1, 0]  # the last one dumps the reader
    assert between == [str(house.path)] * 5
    assert texts(house.store) == [str(number) for number in range(5)]


def test_what_stands_before_the_offset_is_known_though_it_was_read_chunks_ago(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linelog, "CHUNK_BYTES", 16)
    monkeypatch.setattr("dreamd.tail.logfile.CHUNK_BYTES", 16)
    house.path.write_bytes(numbers(1, 2) + b'{"long": "' + b"x" * 60)
    stops = iter((False, False, True))
    house.read(How(stopping=lambda: next(stops)))
    [cursor] = house.store.cursors("a")
    assert (cursor.offset, cursor.tail_length, cursor.tail_sha256) == (16, *tail_of(numbers(1, 2)))


def test_a_restarted_reader_is_fed_what_its_dump_lacks_and_emits_it_only_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linelog, "_CHEAP_DUMP_BYTES", -1)  # every dump is dear
    house.path.write_bytes(numbers(1, 2))
    house.read(SETTLE)
    [cursor] = house.store.cursors("a")
    house.path.write_bytes(numbers(1, 2, 3))
    house.read()
    house.restart()
    house.path.write_bytes(numbers(1, 2, 3, 4))
    house.read()
    assert texts(house.store) == ["1", "2", "3", "4"]
    assert house.readers[-1].fed == 4
    assert cursor.offset == 16


def test_a_whole_last_line_counts_when_the_log_is_at_rest_and_once(house: House) -> None:
    house.path.write_bytes(numbers(1) + b'{"n":2}')
    house.read()
    assert texts(house.store) == ["1"]
    house.read(SETTLE)
    assert texts(house.store) == ["1", "2"]
    house.path.write_bytes(numbers(1) + b'{"n":2}\r\n' + numbers(3))
    house.restart()
    house.read(SETTLE)
    assert texts(house.store) == ["1", "2", "3"]
    assert [step.skipped for step in house.read()] == []


@pytest.mark.parametrize("torn", [b'{"n":2', b"[2]", b"2", b'"n"', b'{"n":2}x'])
def test_a_torn_last_line_stays_pending(house: House, torn: bytes) -> None:
    house.path.write_bytes(numbers(1) + torn)
    house.read(SETTLE)
    assert house.log.cursor.offset == 8
    assert texts(house.store) == ["1"]


def test_damaged_lines_and_nul_runs_are_counted_and_cost_nothing_else(house: House) -> None:
    house.path.write_bytes(
        numbers(1) + b"\0" * 500 + numbers(2) + b"\xff\xfe broken\n" + b"\0\0\n" + numbers(3)
    )
    house.read()
    assert texts(house.store) == ["1", "2", "3"]
    assert house.log.cursor.skipped == {"damaged": 1}


def test_a_rewritten_log_is_read_anew_and_its_spans_renewed(house: House) -> None:
    house.path.write_bytes(numbers(1, 2))
    house.read()
    house.path.write_bytes(numbers(10, 1, 2, 3))
    house.read()
    assert house.told.names() == ["source.rewritten"]
    found = {memory.content: memory.span.offset for memory in raw(house.store) if memory.span}
    assert found == {"1": 9, "2": 17, "10": 0, "3": 25}


def test_an_over_long_line_is_cut_counted_and_told(tmp_path: Path, clock: StillClock) -> None:
    house = House(tmp_path, clock, Tail(max_line_bytes=2048))
    house.path.write_bytes(b'{"n":1,"text":"' + b"x" * 5000 + b'"}\n' + numbers(2))
    house.read()
    assert texts(house.store) == ["1", "2"]
    assert house.log.cursor.truncated == 1
    assert house.told.events == [
        ("line.truncated", {"agent": "a", "path": str(house.path), "offset": 0, "length": 5017})
    ]


class Late(Numbers):
    """Holds its last item back until the log is at rest."""

    held: Sequence[Item] = ()

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        out, self.held = self.held, super().feed(line, span)
        return out

    def settle(self) -> Sequence[Item]:
        out, self.held = self.held, ()
        return out


def test_what_a_reader_holds_back_comes_when_the_log_is_at_rest(house: House) -> None:
    source = Source("s", PurePath(house.path), PurePath(house.path), "UTC")
    house.log = LineLog(house.tools, house.log.cursor, lambda state: Late(source, state))
    house.path.write_bytes(numbers(1, 2))
    house.read()
    assert texts(house.store) == ["1"]
    house.read(SETTLE)
    assert texts(house.store) == ["1", "2"]
    writes = len(house.store.writes)
    house.read(SETTLE)
    assert len(house.store.writes) == writes
