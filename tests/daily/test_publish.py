from datetime import date
from pathlib import Path

import pytest

from dreamd.config import Agent
from dreamd.daily.publish import Place, check, place, write
from dreamd.errors import FileChanged, WorkspaceError


@pytest.fixture
def where(tmp_path: Path) -> Place:
    return Place(tmp_path / "memory" / "2026-03-02.md", tmp_path)


def test_the_file_is_named_by_the_day_in_the_agents_daily_folder(tmp_path: Path) -> None:
    agent = Agent(workspace=str(tmp_path), daily_dir="notes")
    assert place(agent, date(2026, 3, 2)) == Place(tmp_path / "notes" / "2026-03-02.md", tmp_path)
    assert place(Agent(), date(2026, 3, 2)) is None


def test_a_file_is_written_and_its_diff_told(where: Place) -> None:
    edit = write(where, lambda text: text + "one\n")
    assert where.path.read_text() == "one\n"
    assert edit.diff == f"--- {where.path}\n+++ {where.path}\n@@ -0,0 +1 @@\n+one\n"


def test_a_dry_run_shows_the_diff_alone(where: Place) -> None:
    assert "+one\n" in write(where, lambda text: text + "one", dry_run=True).diff
    assert not where.path.parent.exists()


def test_what_does_not_change_is_not_written(where: Place) -> None:
    write(where, lambda _: "one\n")
    before = where.path.stat()
    assert write(where, lambda text: text).diff == ""
    assert where.path.stat().st_ino == before.st_ino


def test_an_edit_meanwhile_is_kept_and_composed_with(where: Place) -> None:
    where.path.parent.mkdir()
    edits = iter(["theirs\n"])

    def compose(text: str) -> str:
        for edit in edits:
            where.path.write_text(edit)
        return text + "ours\n"

    write(where, compose)
    assert where.path.read_text() == "theirs\nours\n"


def test_a_file_edited_all_the_time_is_left_for_later(where: Place) -> None:
    where.path.parent.mkdir()
    count = iter(range(100))

    def compose(text: str) -> str:
        where.path.write_text(f"{next(count)}\n")
        return text + "ours\n"

    with pytest.raises(FileChanged):
        write(where, compose)
    assert "ours" not in where.path.read_text()


def test_symlinks_inside_the_workspace_stay_symlinks(where: Place, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "memory").symlink_to("real")
    (tmp_path / "real" / "file.md").write_text("old\n")
    where.path.symlink_to("file.md")
    check(where)
    write(where, lambda text: text + "new\n")
    assert where.path.is_symlink()
    assert (tmp_path / "real" / "file.md").read_text() == "old\nnew\n"


def test_a_path_that_leads_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    outside = Place(tmp_path / "work" / ".." / "elsewhere" / "x.md", tmp_path / "work")
    for step in (check, lambda place: write(place, lambda _: "text")):
        with pytest.raises(WorkspaceError, match="leads outside"):
            step(outside)
    assert not (tmp_path / "elsewhere").exists()


def test_a_workspace_that_is_missing_or_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for root in (tmp_path / "gone", tmp_path / "file"):
        with pytest.raises(WorkspaceError, match="no workspace at"):
            check(Place(root / "memory" / "x.md", root))


def test_a_file_that_is_no_text_is_left_alone(where: Place) -> None:
    where.path.parent.mkdir()
    where.path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WorkspaceError, match="not UTF-8"):
        check(where)
