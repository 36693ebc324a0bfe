from pathlib import Path

from dreamd.indexes.base import Vector
from dreamd.indexes.sqlite import OPEN
from dreamd.recall.finding import Question, conclusions, records
from tests.indexes.filling import entry, put


def test_conclusions_come_by_words_by_meaning_and_unasked(tmp_path: Path) -> None:
    index = OPEN(tmp_path)
    known = {"session": "", "conclusion": True}
    put(
        index,
        entry(1, "red", **known),
        entry(2, "blue", **known),
        entry(3, "green", standing=0.5, **known),
        entry(4, "grey", **known),
    )
    index.mean("m", [Vector(2, "ada", [1.0, 0.1]), Vector(4, "ada", [-1.0, 0.1])])
    near = conclusions(index, Question(terms=("red",), agents=("ada",), vector=[1.0, 0.0]), unasked=5)
    assert set(near.words) == {1}
    assert near.meaning[2] == 0.5
    assert near.meaning[4] == 0
    assert list(near.standing) == [3]
    assert set(near.seqs) == {1, 2, 3, 4}
    index.close()


def test_records_come_with_their_neighbours_best_first(tmp_path: Path) -> None:
    index = OPEN(tmp_path)
    put(index, entry(1, "what colour"), entry(2, "red"), entry(3, "fine"), entry(4, "else", session="other"))
    assert [seq for seq, _ in records(index, Question(terms=("colour",), agents=("ada",)))] == [1, 2, 3]
    index.mean("m", [Vector(4, "ada", [1.0, 0.1])])
    meant = records(index, Question(terms=("colour",), agents=("ada",), vector=[1.0, 0.0]))
    assert {seq for seq, _ in meant} == {1, 2, 3, 4}
    index.close()
