from pathlib import Path

import pytest

from dreamd.archives.base import CHARACTERS, MEMORIES, Place, in_blocks
from dreamd.archives.files import Archive
from dreamd.errors import StoreCorrupt, StoreError
from dreamd.records import Trace
from tests.stores.making import raw


def test_what_was_archived_is_read_back_block_by_block(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive")
    blocks = [[raw(1, trace=Trace(goal="\n你好\u2028")), raw(2)], [raw(3)]]
    places = archive.write(blocks)
    for reader in (archive, Archive(tmp_path / "archive")):
        read = [list(reader.read(place).values()) for place in places]
        assert read == blocks
    (file,) = (tmp_path / "archive").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert file.stat().st_size == sum(place.length for place in places)


def test_blocks_are_small_and_lose_nothing() -> None:
    long = [raw(number, content="x" * (CHARACTERS // 2)) for number in range(5)]
    short = [raw(number) for number in range(2 * MEMORIES)]
    blocks = in_blocks([*long, *short])
    assert [one for block in blocks for one in block] == [*long, *short]
    assert all(0 < len(block) <= MEMORIES for block in blocks)
    assert len(blocks) >= 5
    assert in_blocks([]) == []


def test_a_file_that_nobody_names_is_swept_away(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.sweep([])  # there is no folder yet
    (kept,), (gone,) = archive.write([[raw(1)]]), archive.write([[raw(2)]])
    (tmp_path / "a person's own").touch()
    archive.sweep([kept.file])
    assert {path.name for path in tmp_path.iterdir()} == {kept.file, "a person's own"}
    with pytest.raises(FileNotFoundError):
        archive.read(gone)


def test_what_does_not_read_back_is_said(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    (place,) = archive.write([[raw(1)]])
    (tmp_path / place.file).write_bytes(b"x" * place.length)
    with pytest.raises(StoreCorrupt):
        archive.read(place)
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError):
        archive.read(Place("folder", 0, 1))


def test_a_folder_that_takes_no_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "archive").touch()
    with pytest.raises(StoreError):
        Archive(tmp_path / "archive").write([[raw(1)]])
