import sqlite3
from contextlib import closing
from pathlib import Path

import zstandard

from dreamd.tail.around import Around


def around(folder: Path) -> Around:
    return Around(str(folder / "b" / "x.jsonl"), lambda: sorted(map(str, folder.rglob("*.jsonl*"))), 1 << 20)


def make(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    (folder / "b" / "x.jsonl").write_bytes(b"own\n")
    (folder / "b" / "x.meta.json").write_bytes(b'{"a": 1}')
    (folder / "a" / "p-1.jsonl").write_bytes(b"one\r\n\ntwo")
    (folder / "a" / "p-1.jsonl.zst").write_bytes(zstandard.compress(b"packed\n"))
    (folder / "a" / "p-2.jsonl.zst").write_bytes(zstandard.compress(b"three\nfour\n"))


def test_the_head_of_a_sibling_is_answered(tmp_path: Path) -> None:
    make(tmp_path)
    assert around(tmp_path).sibling("x.meta.json") == b'{"a": 1}'
    assert around(tmp_path).sibling("x.meta.json", 3) == b'{"a'
    assert around(tmp_path).sibling("../a/p-1.jsonl", 3) == b"one"
    assert around(tmp_path).sibling("none") is None


def test_the_lines_of_another_log_are_answered_plain_before_compressed(tmp_path: Path) -> None:
    make(tmp_path)
    assert list(around(tmp_path).lines_of("p-1") or ()) == [b"one", b"two"]
    assert list(around(tmp_path).lines_of("p-2") or ()) == [b"three", b"four"]


def test_its_own_and_unreadable_logs_are_no_neighbours(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "a" / "q.jsonl.zst").write_bytes(b"not zstd")
    assert around(tmp_path).lines_of("x.jsonl") is None
    assert around(tmp_path).lines_of("nobody") is None
    assert around(tmp_path).lines_of("q.jsonl") is None


def test_rows_of_a_store_are_answered_when_it_is_a_log_of_the_agent(tmp_path: Path) -> None:
    store = tmp_path / "agent" / "s.sqlite"
    store.parent.mkdir()
    with closing(sqlite3.connect(store)) as made:
        made.executescript("CREATE TABLE t (id TEXT); INSERT INTO t VALUES ('a')")
    path, select = str(tmp_path / "b" / "x.jsonl"), "SELECT id FROM t WHERE id = ?"

    reads_it = Around(path, lambda: [path, str(store)], 1 << 20)
    assert reads_it.rows_of("../agent/s.sqlite", select, "a") == [("a",)]
    assert reads_it.rows_of("../agent/s.sqlite", select, "b") == []
    assert reads_it.rows_of("../agent/s.sqlite", "SELECT id FROM none") is None
    assert Around(path, lambda: [path], 1 << 20).rows_of("../agent/s.sqlite", select, "a") is None
