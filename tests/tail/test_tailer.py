"""What a tailer does with what it finds; whatever else may happen to files is in test_model.py."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from msgspec.structs import replace

from dreamd.clock import StillClock
from dreamd.errors import DiskFull
from dreamd.stores import inmemory, sqlite
from dreamd.stores.base import Changes, Store, Written
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail.spans import standing
from dreamd.tail.steps import How
from dreamd.tail.sync import tailers
from dreamd.tail.tailer import Tailer, Tally
from tests.tail.house import Told, line, parts_on, raw, texts


class House:
    def __init__(self, folder: Path, clock: StillClock, store: Store | None = None) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.store = store or InMemoryStore()
        self.told = Told()
        self.parts = parts_on(folder, clock, self.logs, store=self.store, emit=self.told)
        self.tail = self.begun()

    def begun(self) -> Tailer:
        return tailers(self.parts)["a"]

    def read(self, *, settle: bool = True) -> Tally:
        return self.tail.advance(self.tail.find(), How(settle=settle))


@pytest.fixture
def house(tmp_path: Path, clock: StillClock) -> House:
    return House(tmp_path, clock)


def test_counts_say_what_was_read(house: House) -> None:
    (house.logs / "x.jsonl").write_bytes(line(1) + line(2) + b"not json\n")
    (house.logs / "copy.jsonl").write_bytes(line(1) + line(2))
    tally = house.read()
    assert (tally.files, tally.records, tally.duplicates, tally.lines) == (2, 2, 2, 5)
    assert sum(tally.skipped.values()) == 1
    assert house.read() == Tally(files=2)


def test_two_files_with_the_same_head_are_two_sources(house: House) -> None:
    shared = line(1, "x" * 2000)
    (house.logs / "x.jsonl").write_bytes(shared + line(2))
    (house.logs / "y.jsonl").write_bytes(shared + line(3))
    house.read()
    assert sorted(len(text) for text in texts(house.store)) == [8, 8, 2000]
    assert len(house.store.cursors("a")) == 2


def test_a_log_that_grew_without_being_understood_is_told_once_until_it_is(house: House) -> None:
    log = house.logs / "x.jsonl"
    log.write_bytes(b'{"type":"unheard-of","uuid":"u","sessionId":"s","parentUuid":null}\n')
    assert house.read().not_understood == [str(log)]
    with log.open("ab") as file:
        file.write(b'{"type":"unheard-of","uuid":"v"}\n')
    assert house.read().not_understood == [str(log)]
    assert house.told.names().count("source.not_understood") == 1
    with log.open("ab") as file:
        file.write(line(1))
    assert house.read().not_understood == []


UNHEARD = b'{"type":"unheard-of","uuid":"u","sessionId":"s","parentUuid":null}\n'


def test_the_first_lines_of_a_log_are_no_reason_to_wonder_until_it_is_at_rest(house: House) -> None:
    log = house.logs / "x.jsonl"
    log.write_bytes(UNHEARD)
    assert house.read(settle=False).not_understood == []
    assert house.read().not_understood == [str(log)]


def test_many_lines_of_which_none_is_understood_are_told_though_more_come(house: House) -> None:
    log = house.logs / "x.jsonl"
    for _ in range(2):
        with log.open("ab") as file:
            file.write(UNHEARD * 25)
        tally = house.read(settle=False)
    assert tally.not_understood == [str(log)]


SNAPSHOT = b'{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}\n'


def test_a_new_log_that_has_nothing_to_say_yet_is_no_puzzle(house: House) -> None:
    log = house.logs / "x.jsonl"
    log.write_bytes(SNAPSHOT)
    tally = house.read()
    assert (tally.lines, tally.records, tally.not_understood) == (1, 0, [])
    with log.open("ab") as file:
        file.write(b'{"type":"unheard-of","uuid":"v","sessionId":"s"}\n')
    assert house.read().not_understood == [str(log)]


def test_a_log_that_says_nothing_for_many_lines_is_one(house: House) -> None:
    log = house.logs / "x.jsonl"
    puzzled = []
    for _ in range(60):
        with log.open("ab") as file:
            file.write(SNAPSHOT)
        puzzled.append(bool(house.read().not_understood))
    assert puzzled.index(True) == 49
    assert house.told.names().count("source.not_understood") == 1


@pytest.mark.parametrize("kind", ["checkpoint", "end", "goal"])
def test_a_trace_of_one_line_without_words_is_no_puzzle(tmp_path: Path, clock: StillClock, kind: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x.jsonl").write_text(f'{{"dreamd":1,"kind":"{kind}","session":"s","text":""}}\n')
    told = Told()
    parts = parts_on(tmp_path, clock, tmp_path / "logs", emit=told, label="trace")
    tail = tailers(parts)["a"]
    assert tail.advance(tail.find(), How(settle=True)).lines == 1
    assert "source.not_understood" not in told.names()


def test_an_unreadable_log_is_counted_told_and_read_when_it_can_be(house: House) -> None:
    log = house.logs / "x.jsonl.zst"
    log.write_bytes(b"not zstd")
    (house.logs / "y.jsonl").write_bytes(line(1))
    assert house.read().unreadable == {str(log): "not valid zstd data"}
    assert texts(house.store) == ["text 1 字"]
    house.read()
    assert house.told.names().count("source.unreadable") == 1
    log.unlink()
    assert house.read().unreadable == {}


@pytest.mark.parametrize("left", [12, 0.5])
def test_a_compressed_log_that_was_cut_off_is_told_once_and_read_when_it_is_whole(
    house: House, left: float
) -> None:
    log, whole = house.logs / "x.jsonl.zst", zstandard.compress(b"".join(map(line, range(3000))), 1)
    log.write_bytes(whole[: int(left) or int(len(whole) * left)])
    for _ in range(3):
        assert house.read().unreadable == {str(log): "cut off; what comes before the cut is read"}
    assert house.told.names().count("source.unreadable") == 1
    log.write_bytes(whole)
    assert house.read().unreadable == {}
    assert house.told.names().count("source.readable") == 1
    assert len(raw(house.store)) == 3000


def test_after_another_process_read_the_log_it_goes_on_from_there(house: House) -> None:
    log = house.logs / "x.jsonl"
    log.write_bytes(line(1))
    house.read()
    other = house.begun()
    for number in range(2, 6):
        with log.open("ab") as file:
            file.write(line(number))
        first, second = (house.tail, other) if number % 2 else (other, house.tail)
        first.advance(first.find(), How())
        tally = second.advance(second.find(), How())
        assert (tally.records, tally.duplicates) == (0, 0)
    assert len(raw(house.store)) == 5


def test_both_finding_a_new_log_it_is_one_source(house: House) -> None:
    other = house.begun()
    (house.logs / "x.jsonl").write_bytes(line(1))
    house.read()
    other.advance(other.find(), How(settle=True))
    assert len(house.store.cursors("a")) == 1
    assert len(raw(house.store)) == 1


class FullOnce(InMemoryStore):
    full = False

    def write(self, changes: Changes) -> Written:
        if self.full:
            self.full = False
            raise DiskFull("no space left")
        return super().write(changes)


def test_after_a_full_disk_nothing_is_lost_or_doubled(tmp_path: Path, clock: StillClock) -> None:
    store = FullOnce()
    house = House(tmp_path, clock, store)
    log = house.logs / "x.jsonl"
    log.write_bytes(line(1))
    house.read()
    with log.open("ab") as file:
        file.write(line(2))
    store.full = True
    with pytest.raises(DiskFull):
        house.read()
    house.read()
    assert texts(store) == ["text 1 字", "text 2 字"]


def test_unchanged_logs_are_not_opened_after_a_restart(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    (house.logs / "x.jsonl").write_bytes(line(1))
    house.read()
    house.parts.clock.at = house.parts.clock.at.replace(year=2050)  # type: ignore[attr-defined]
    house.store.write(_later(house))
    monkeypatch.setattr("dreamd.tail.linelog.opened", None)
    house.tail = house.begun()
    assert house.read() == Tally(files=1)


def _later(house: House) -> Changes:
    [cursor] = house.store.cursors("a")
    return Changes(cursor=replace(cursor, version=cursor.version + 1, read_at=house.parts.clock.now()))


def test_a_vanished_log_takes_nothing_with_it(house: House) -> None:
    log = house.logs / "x.jsonl"
    log.write_bytes(line(1))
    house.read()
    log.unlink()
    assert house.read() == Tally()
    assert texts(house.store) == ["text 1 字"]
    assert [cursor.path for cursor in house.store.cursors("a")] == [str(log)]


def test_more_logs_than_are_kept_open_go_on_all_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dreamd.tail.tailer._OPEN_SOURCES", 2)
    for turn in range(3):
        for number in range(5):
            with (house.logs / f"{number}.jsonl").open("ab") as file:
                file.write(line(turn * 5 + number))
        house.read(settle=False)
    assert len(raw(house.store)) == 15


def test_the_backlog_is_what_is_not_in_the_pool(house: House) -> None:
    log = house.logs / "x.jsonl"
    log.write_bytes(line(1))
    assert house.tail.backlog() == len(line(1))
    house.read()
    assert house.tail.backlog() == 0


def test_changed_paths_lead_to_their_logs(house: House) -> None:
    log = house.logs / "x.jsonl"
    log.write_bytes(line(1))
    assert [one.path for one in house.tail.near([str(log)])] == [str(log)]
    (house.logs / "deep" / "er").mkdir(parents=True)
    inner = house.logs / "deep" / "er" / "y.jsonl"
    inner.write_bytes(line(2))
    assert [one.path for one in house.tail.near([str(house.logs / "deep")])] == [str(inner)]
    assert house.tail.near(["/elsewhere/z.jsonl"]) == []
    moved = log.rename(house.logs / "z.jsonl")
    assert [one.path for one in house.tail.near([str(log)])] == [str(moved)]


@pytest.mark.parametrize("opening", [sqlite.OPEN, inmemory.OPEN])
def test_a_reader_with_much_to_remember_is_left_in_the_store_and_comes_back(
    opening: Callable[[Path], Store], tmp_path: Path, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path, clock, opening(tmp_path))
    monkeypatch.setattr("dreamd.tail.catalogue._MOST_STATE_BYTES", 0)
    monkeypatch.setattr("dreamd.tail.tailer._OPEN_SOURCES", 0)
    log = house.logs / "x.jsonl"
    for number in range(4):
        with log.open("ab") as file:
            file.write(line(number))
        house.read(settle=number % 2 == 0)
    assert house.begun().backlog() == 0
    assert len(raw(house.store)) == 4
    house.store.close()


def test_another_log_of_the_same_size_and_times_is_read_after_a_restart(tmp_path: Path) -> None:
    house = House(tmp_path, StillClock(datetime.now(UTC)))
    path, long_ago = house.logs / "x.jsonl", (10**18, 10**18)
    for number in (1, 2):
        path.write_bytes(line(number))  # in place: the inode stays
        os.utime(path, ns=long_ago)
        house.tail = house.begun()
        house.read()
    assert len(texts(house.store)) == 2


def test_lines_that_end_alike_are_told_apart(house: House) -> None:
    same_end = b', "todos": "' + b"." * 100 + b'"}\n'
    first, other, third = (line(number).removesuffix(b"}\n") + same_end for number in (1, 2, 3))
    path = house.logs / "x.jsonl"
    path.write_bytes(line(9, "x" * 2000) + first)
    house.read()
    path.write_bytes(line(9, "x" * 2000) + other + third)
    house.read()
    assert len(texts(house.store)) == 4


def test_what_was_compressed_before_it_was_read_is_read_beside_the_log_begun_anew(house: House) -> None:
    path = house.logs / "x.jsonl"
    path.write_bytes(line(1))
    house.read()
    path.with_name("x.jsonl.zst").write_bytes(zstandard.compress(line(1) + line(2)))
    path.unlink()
    path.write_bytes(line(3))
    house.read()
    assert len(texts(house.store)) == 3


def test_a_compressed_copy_becomes_a_log_when_the_plain_one_is_emptied(house: House) -> None:
    path = house.logs / "x.jsonl"
    path.write_bytes(line(1))
    path.with_name("x.jsonl.zst").write_bytes(zstandard.compress(line(1)))
    house.read()
    assert len(house.store.cursors("a")) == 1
    path.with_name("x.jsonl.zst").write_bytes(zstandard.compress(line(1) + line(2)))
    path.write_bytes(b"")
    house.read()
    assert len(texts(house.store)) == 2


def test_what_took_a_quiet_logs_place_is_not_settled_for_it(house: House) -> None:
    path = house.logs / "x.jsonl"
    path.write_bytes(line(1))
    house.read(settle=False)
    assert [one.path for one in house.tail.quiet_for(0)] == [str(path)]
    path.rename(house.folder / "aside")
    path.write_bytes(line(2))
    assert house.tail.quiet_for(0) == []
    assert not house.tail.unsettled


def test_a_log_is_claimed_again_as_long_as_nothing_in_it_was_understood(tmp_path: Path) -> None:
    house = House(tmp_path, StillClock(datetime.now(UTC)))
    parts = parts_on(tmp_path, house.parts.clock, house.logs, store=house.store, label="")
    tail = tailers(parts)["a"]
    path = house.logs / "rollout-1.jsonl"  # by its name a Codex log
    for data in (line(1)[:20], line(1), line(1) + line(2)):
        path.write_bytes(data)
        tail.advance(tail.find(), How(settle=True))
    assert [cursor.format for cursor in house.store.cursors("a")] == ["claude_code"]
    assert len(texts(house.store)) == 2


def test_a_last_line_without_newline_keeps_its_evidence_when_the_log_is_rewritten(house: House) -> None:
    path = house.logs / "x.jsonl"
    path.write_bytes(line(1) + line(2)[:-1])
    house.read()
    path.write_bytes(line(3) + line(1) + line(2)[:-1])
    house.read(settle=False)
    house.read()
    assert {standing(memory.span, str(path)) for memory in raw(house.store)} == {"verified"}
    assert len(raw(house.store)) == 3
