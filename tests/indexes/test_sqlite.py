"""What an index promises, on the one there is."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreamd.errors import StoreError
from dreamd.indexes._file import File
from dreamd.indexes.base import Hit, Index, Vector
from dreamd.indexes.sqlite import OPEN
from dreamd.stores.base import Mark
from tests.indexes.filling import entry, put, seqs


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = OPEN(tmp_path)
    yield opened
    opened.close()


def test_what_holds_a_term_is_found_with_how_often_it_does(index: Index) -> None:
    put(index, entry(1, "red shirt red"), entry(2, "blue shirt"))
    found = index.search(["red", "shirt", "green"], ["ada"], conclusions=False, most=10)
    assert set(found.hits) == {Hit(1, 1, 1, 3, (2, 1, 0)), Hit(2, 1, 2, 2, (0, 1, 0))}
    assert found.frequencies == (1, 2, 0)
    assert (found.documents, found.length) == (2, 2.5)


def test_a_term_is_no_part_of_another(index: Index) -> None:
    put(index, entry(1, "redder"), entry(2, "红色 色"), entry(3, "粉红 红"))
    assert seqs(index, "red") == set()
    assert seqs(index, "红") == {3}
    assert seqs(index, "红*") == {2, 3}


def test_agents_are_asked_apart_and_together(index: Index) -> None:
    put(index, entry(1, "red", "ada"), entry(2, "red", "bob"), entry(3, "red", "cat"))
    assert seqs(index, "red", "bob") == {2}
    assert seqs(index, "red", "ada", "cat") == {1, 3}
    assert seqs(index, "red", "nobody") == set()


def test_conclusions_and_records_are_asked_apart(index: Index) -> None:
    put(index, entry(1, "red"), entry(2, "red", session="", conclusion=True))
    assert seqs(index, "red") == {1}
    assert seqs(index, "red", conclusions=True) == {2}


def test_what_is_written_again_is_found_by_its_new_words_in_its_old_place(index: Index) -> None:
    put(index, entry(1, "red"), entry(2, "blue"))
    put(index, entry(1, "green"))
    assert seqs(index, "red") == set()
    assert seqs(index, "green") == {1}
    assert index.beside([(1, 1), (1, 2), (1, 3)]) == {(1, 1): 1, (1, 2): 2}


def test_what_is_gone_is_not_found_and_counts_no_more(index: Index) -> None:
    put(index, entry(1, "red"), entry(2, "red"))
    put(index, gone=[1, 77])
    assert seqs(index, "red") == {2}
    assert index.search(["red"], ["ada"], conclusions=False, most=9).documents == 1


def test_records_of_a_session_stand_beside_each_other(index: Index) -> None:
    put(index, entry(1, "a"), entry(2, "b", session="other"), entry(3, "c"))
    put(index, entry(4, "d"))
    assert index.beside([(1, place) for place in range(5)]) == {(1, 1): 1, (1, 2): 3, (1, 3): 4}


def test_standing_ones_come_the_weightiest_first_and_only_as_long_as_they_stand(index: Index) -> None:
    put(index, *(entry(seq, "x", session="", conclusion=True, standing=seq / 10) for seq in (1, 3, 2)))
    put(index, entry(9, "x", "bob", session="", conclusion=True, standing=0.9))
    assert index.standing(["ada"], 2) == [3, 2]
    assert index.standing(["ada", "bob"], 2) == [9, 3]
    put(index, entry(3, "x", session="", conclusion=True))
    assert index.standing(["ada"], 9) == [2, 1]


def test_only_who_knows_how_far_it_was_followed_may_write(index: Index) -> None:
    assert index.mark() == Mark()
    put(index, entry(1, "red"))
    assert not index.write([entry(2, "red")], [], before=Mark(), after=Mark(5))
    assert index.mark() == Mark(1)
    assert seqs(index, "red") == {1}


def test_two_that_have_it_open_see_the_same(index: Index, tmp_path: Path) -> None:
    other = OPEN(tmp_path)
    put(index, entry(1, "red"))
    assert seqs(other, "red") == {1}
    put(other, entry(2, "red"))
    assert seqs(index, "red") == {1, 2}
    other.close()


def test_who_has_it_open_notices_that_another_began_anew(index: Index, tmp_path: Path) -> None:
    put(index, entry(1, "verysecretword"))
    assert seqs(index, "verysecretword") == {1}
    other = OPEN(tmp_path)
    other.clear()
    put(other, entry(1, "verysecretword"), entry(2, "red"))
    assert seqs(index, "red") == {2}
    put(index, gone=[1])
    index.scrub()
    assert b"verysecret" not in b"".join(file.read_bytes() for file in tmp_path.glob("recall.db*"))
    assert seqs(other, "red") == {2}
    other.close()


def test_a_file_that_goes_in_the_midst_is_made_anew_and_private(tmp_path: Path) -> None:
    file = File(tmp_path / "recall.db")
    lost = []

    def look(connection: sqlite3.Connection) -> int:
        if not lost:
            lost.append(file.path.unlink())
            raise sqlite3.OperationalError("no such table: documents")
        return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])

    file.change(lambda connection: connection.execute("SELECT 1").fetchone(), None)
    assert file.read(look, -1) == 0
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.close()


def test_a_damaged_index_is_scrubbed_all_the_same(index: Index, tmp_path: Path) -> None:
    put(index, *(entry(seq, f"secret word{seq}") for seq in range(500)))
    index.scrub()
    file = tmp_path / "recall.db"
    held = file.read_bytes()
    index.close()
    file.write_bytes(held[:4096] + b"secret\xff" * ((len(held) - 4096) // 7))
    other = OPEN(tmp_path)
    other.scrub()
    assert other.mark() == Mark()
    assert b"secret" not in b"".join(file.read_bytes() for file in tmp_path.glob("recall.db*"))
    other.close()


def test_a_cleared_index_begins_anew(index: Index) -> None:
    put(index, entry(1, "red"))
    index.clear()
    assert index.mark() == Mark()
    assert seqs(index, "red") == set()


def test_no_byte_stays_of_what_was_taken_out_and_scrubbed(index: Index, tmp_path: Path) -> None:
    put(index, *(entry(seq, f"word{seq} shared") for seq in range(1, 200)))
    put(index, entry(500, "verysecretword shared"), entry(501, "verysecretword", session="", conclusion=True))
    put(index, gone=[500, 501])
    index.scrub()
    held = b"".join(file.read_bytes() for file in tmp_path.glob("recall.db*"))
    assert b"verysecret" not in held
    assert b"word199" in held
    assert len(seqs(index, "shared", most=500)) == 199


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 99, None])
def test_a_damaged_or_missing_file_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    first = OPEN(tmp_path)
    put(first, entry(1, "red"))
    first.close()
    file = tmp_path / "recall.db"
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(damage)
    second = OPEN(tmp_path)
    assert second.mark() == Mark()
    put(second, entry(1, "red"))
    assert seqs(second, "red") == {1}
    second.close()


def test_what_breaks_while_it_is_open_is_made_anew(index: Index, tmp_path: Path) -> None:
    put(index, *(entry(seq, f"red word{seq}") for seq in range(500)))
    index.scrub()
    file = tmp_path / "recall.db"
    held = file.read_bytes()
    file.write_bytes(held[:4096] + b"\xff" * (len(held) - 4096))
    other = OPEN(tmp_path)
    assert seqs(other, "red") == set()
    put(other, entry(1, "red"))
    assert seqs(other, "red") == {1}
    other.close()


def test_a_closed_index_says_so_and_an_unused_one_makes_no_file(tmp_path: Path) -> None:
    index = OPEN(tmp_path)
    index.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreError, match="closed"):
        index.mark()


def test_the_file_is_private(index: Index, tmp_path: Path) -> None:
    put(index, entry(1, "red"))
    assert {file.stat().st_mode & 0o777 for file in tmp_path.glob("recall.db*")} == {0o600}


def test_nearest_by_meaning_come_first_and_go_with_their_memory(index: Index) -> None:
    put(
        index,
        entry(1, "red"),
        entry(2, "blue"),
        entry(3, "warm", session="", conclusion=True),
        entry(4, "red", "bob"),
    )
    assert index.unmeant("m", 9) == [3, 2, 1, 4]
    index.mean(
        "m", [Vector(1, "ada", [1, 0.1, 0]), Vector(2, "ada", [-1, 0, 0.2]), Vector(4, "bob", [1, 0.1, 0])]
    )
    index.mean("m", [Vector(3, "ada", [1, 0, 0]), Vector(99, "ada", [1, 0, 0])])
    assert index.unmeant("m", 9) == []
    near = index.closest([1, 0, 0], ["ada"], conclusions=False, most=9)
    assert [seq for seq, _ in near] == [1, 2]
    assert near[0][1] == pytest.approx(0.99, abs=0.02)
    assert [seq for seq, _ in index.closest([1, 0, 0], ["ada"], conclusions=True, most=9)] == [3]
    assert set(index.likeness([1, 0, 0], ["ada"], [1, 2, 3, 4])) == {1, 2, 3}
    put(index, gone=[1])
    assert [seq for seq, _ in index.closest([1, 0, 0], ["ada"], conclusions=False, most=9)] == [2]


def test_vectors_of_another_model_go(index: Index) -> None:
    put(index, entry(1, "red"), entry(2, "blue"))
    index.mean("m", [Vector(1, "ada", [1, 0])])
    assert index.unmeant("other", 9) == [2, 1]
    index.mean("other", [Vector(2, "ada", [1, 0, 0])])
    assert index.unmeant("other", 9) == [1]


def test_what_is_scattered_is_tidied_step_by_step_and_all_is_found_as_before(
    index: Index, tmp_path: Path
) -> None:
    for seq in range(1, 9):
        put(index, *(entry(seq * 1000 + number, f"shared w{number}") for number in range(300)))
    steps = 0
    while index.tidy():
        steps += 1
    assert not index.tidy()
    assert len(seqs(index, "w7", most=50)) == 8
    with sqlite3.connect(tmp_path / "recall.db") as connection:
        assert connection.execute("SELECT count(DISTINCT segid) FROM record_terms_idx").fetchone()[0] <= 4
        assert connection.execute("SELECT count(*) FROM state WHERE key LIKE 'merging%'").fetchone() == (0,)


WORDS = st.lists(st.sampled_from(["red", "blue", "green", "红色", "色调"]), min_size=1, max_size=4)
STEPS = st.lists(st.tuples(st.integers(1, 6), st.one_of(st.none(), WORDS)), max_size=20)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_whatever_was_written_and_taken_out_what_is_there_is_found(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, list[str] | None]]
) -> None:
    index = OPEN(tmp_path_factory.mktemp("index"))
    held: dict[int, list[str]] = {}
    for seq, words in steps:
        if words is None:
            put(index, gone=[seq])
            held.pop(seq, None)
        else:
            put(index, entry(seq, " ".join(words)))
            held[seq] = words
    for word in ["red", "blue", "green", "红色", "色调"]:
        assert seqs(index, word) == {seq for seq, words in held.items() if word in words}
    index.close()


def test_who_says_it_is_known_of_what_is_found_and_of_what_stands_beside(index: Index) -> None:
    put(
        index,
        entry(1, "ann red", speaker=["ann"]),
        entry(2, "bob ann red", speaker=["bob"]),
        entry(3, "ann blue", speaker=["ann"]),
    )
    found = index.search(["ann", "red"], ["ada"], conclusions=False, most=10)
    assert {hit.seq for hit in found.hits if hit.named} == {1, 3}
    assert index.said_by(["ann"], [(1, 1), (1, 2), (1, 3), (1, 4)]) == {1, 3}
    assert index.said_by(["an", "red"], [(1, 1), (1, 2)]) == set()


def test_neighbours_are_found_in_runs_and_apart(index: Index) -> None:
    put(index, *(entry(seq, "red") for seq in range(1, 10)), entry(10, "red", session="t"))
    asked = [(1, 2), (1, 3), (1, 4), (1, 8), (1, 12), (2, 1), (3, 1)]
    assert index.beside(asked) == {(1, 2): 2, (1, 3): 3, (1, 4): 4, (1, 8): 8, (2, 1): 10}
