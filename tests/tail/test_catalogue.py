from pathlib import Path

import pytest

from dreamd.stores.base import Cursor
from dreamd.tail.catalogue import Catalogue, Look
from dreamd.tail.fingerprint import fingerprint
from dreamd.tail.logfile import stamp
from dreamd.tail.sources import Found


class Seen(Look):
    def __init__(self, *, content: bytes = b"", same: bool = False, moved: bool = False) -> None:
        self._content = content
        self._same = same
        self._moved = moved

    def head(self) -> bytes:
        return self._content

    def same_content(self, cursor: Cursor) -> bool:
        return self._same

    def stands_in(self, path: str) -> bool:
        return Path(path).read_bytes() == self._content

    def elsewhere(self, cursor: Cursor) -> bool:
        return self._moved


def cursor_of(path: Path, source_id: str = "s", content: bytes | None = None) -> Cursor:
    found, data = stamp(str(path)), path.read_bytes() if content is None else content
    assert found
    known = fingerprint(found.device, found.inode, data, len(data))
    return Cursor(
        source_id=source_id, agent="a", path=str(path), format="f", fingerprint=known, offset=len(data)
    )


def found_at(path: Path) -> Found:
    seen = stamp(str(path))
    assert seen
    return Found(str(path), str(path.parent), seen, ())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"one\n")
    return path


def test_1_a_known_file_is_itself(log: Path) -> None:
    cursor = cursor_of(log)
    assert Catalogue([cursor]).heir(found_at(log), Seen()) == cursor


def test_the_old_inode_of_a_replaced_log_is_the_next_files(log: Path) -> None:
    known = Catalogue([cursor_of(log)])
    other = log.with_name("y.jsonl")
    log.rename(other)  # the file that was given the inode
    log.write_bytes(b"one\n")
    other.write_bytes(b"two\n")
    known.put(cursor_of(log), str(log))
    assert known.heir(found_at(other), Seen(content=b"two\n")) is None


def test_2_a_hard_link_of_a_known_file_is_ignored(log: Path) -> None:
    other = log.with_name("y.jsonl")
    other.hardlink_to(log)
    assert Catalogue([cursor_of(log)]).heir(found_at(other), Seen()) == "ignored"


def test_3_a_renamed_file_keeps_its_source_unless_its_inode_was_reused(log: Path) -> None:
    cursor = cursor_of(log)
    moved = log.rename(log.with_name("y.jsonl"))
    assert Catalogue([cursor]).heir(found_at(moved), Seen(content=b"one\ntwo\n")) == cursor
    assert Catalogue([cursor]).heir(found_at(moved), Seen(content=b"else\n")) is None


def test_4_and_5_a_new_file_at_a_known_path_is_new_only_if_the_old_one_moved(log: Path) -> None:
    cursor = cursor_of(log)
    log.rename(log.with_name("y.jsonl"))
    log.write_bytes(b"other\n")
    assert Catalogue([cursor]).heir(found_at(log), Seen(content=b"other\n", moved=True)) is None
    assert Catalogue([cursor]).heir(found_at(log), Seen(content=b"other\n")) == cursor


def test_6_a_compressed_twin_beside_the_plain_file_is_ignored(log: Path) -> None:
    packed = log.with_name("x.jsonl.zst")
    packed.write_bytes(b"packed")
    assert Catalogue([]).heir(found_at(packed), Seen(content=log.read_bytes())) == "ignored"
    assert Catalogue([]).heir(found_at(packed), Seen(content=b"of an older log")) is None


def test_7_a_compressed_twin_goes_on_and_so_does_the_plain_one_when_it_is_back(log: Path) -> None:
    cursor = cursor_of(log)
    packed = log.with_name("x.jsonl.zst")
    packed.write_bytes(b"packed")
    log.unlink()
    known = Catalogue([cursor])
    assert known.heir(found_at(packed), Seen(same=True)) == cursor
    assert known.heir(found_at(packed), Seen(same=False)) is None
    known.put(cursor, str(packed))
    log.write_bytes(b"one\n")
    assert known.heir(found_at(log), Seen(same=True)) == cursor


def test_8_a_vanished_source_is_known_again_by_its_content(log: Path) -> None:
    cursor = cursor_of(log)
    log.unlink()
    log.with_name("filler").write_bytes(b"takes the inode")
    other = log.with_name("z.jsonl")
    other.write_bytes(b"one\ntwo\n")
    assert Catalogue([cursor]).heir(found_at(other), Seen(content=b"one\ntwo\n", same=True)) == cursor


def test_9_a_fork_with_the_same_head_is_a_new_source_while_the_original_is_there(log: Path) -> None:
    fork = log.with_name("fork.jsonl")
    fork.write_bytes(b"one\ntwo\n")
    assert Catalogue([cursor_of(log)]).heir(found_at(fork), Seen(content=b"one\ntwo\n", same=True)) is None


def test_a_new_source_at_a_path_that_had_another_gets_another_name(log: Path) -> None:
    known = Catalogue([])
    first = known.new_id("a", str(log))
    known.put(cursor_of(log, first), str(log))
    second = known.new_id("a", str(log))
    assert first != second
    assert known.new_id("b", str(log)) != first


def test_a_source_is_found_where_it_was_last_seen(log: Path) -> None:
    cursor = cursor_of(log)
    known = Catalogue([cursor])
    known.put(cursor, "/elsewhere")
    assert known.at(str(log)) is None
    assert known.at("/elsewhere") == cursor
    assert known.path_of(cursor) == "/elsewhere"
    assert known.paths() == ["/elsewhere"]
