from collections.abc import Iterator
from pathlib import Path

import pytest

from dreamd.indexes._file import File
from dreamd.indexes._vectors import Signs, closest, keep, missing, signs
from dreamd.indexes._writing import Writing
from dreamd.indexes.base import Vector
from dreamd.stores.base import Mark
from tests.indexes.filling import entry


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    opened = File(tmp_path / "r.db")
    opened.change(
        lambda connection: Writing(connection).apply([entry(seq, "x") for seq in (1, 2, 3)], [], Mark(3)),
        None,
    )
    yield opened
    opened.close()


def test_the_newest_records_get_their_vectors_first(file: File) -> None:
    assert file.read(lambda connection: missing(connection, "m", 2), []) == [3, 2]
    file.change(lambda connection: keep(connection, "m", [Vector(3, "ada", [1.0])]), None)
    assert file.read(lambda connection: missing(connection, "m", 2), []) == [2, 1]


def test_signs_are_read_again_only_when_vectors_were_written(file: File) -> None:
    known = Signs()
    file.change(lambda connection: keep(connection, "m", [Vector(3, "ada", [1.0, -1.0])]), None)
    first = file.read(lambda connection: signs(connection, known), {})
    assert [bits for _, bits in first[0]] == [0b10]
    assert file.read(lambda connection: signs(connection, known), {}) is first
    file.change(lambda connection: keep(connection, "m", [Vector(2, "ada", [1.0, 1.0])]), None)
    assert len(file.read(lambda connection: signs(connection, known), {})[0]) == 2


def test_only_the_agents_that_were_asked_are_near(file: File) -> None:
    file.change(lambda connection: keep(connection, "m", [Vector(3, "ada", [1.0, -1.0])]), None)
    kept = file.read(lambda connection: signs(connection, Signs()), {})[0]
    assert [
        seq for seq, _ in file.read(lambda connection: closest(connection, kept, [1.0, -1.0], {1}, 5), [])
    ] == [3]
    assert file.read(lambda connection: closest(connection, kept, [1.0, -1.0], {2}, 5), []) == []
