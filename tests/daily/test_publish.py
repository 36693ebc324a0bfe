from datetime import date
from pathlib import Path

import pytest

from dreamd import files
from dreamd.daily.publish import Place, check, place
from dreamd.errors import WorkspaceError
from dreamd.sections import Agent


@pytest.fixture
def where(tmp_path: Path) -> Place:
    return Place(tmp_path / "memory" / "2026-03-02.md", tmp_path)


def test_the_file_is_named_by_the_day_in_the_agents_daily_folder(tmp_path: Path) -> None:
    agent = Agent(workspace=str(tmp_path), daily_dir="notes")
    assert place(agent, date(2026, 3, 2)) == Place(tmp_path / "notes" / "2026-03-02.md", tmp_path)
    assert place(Agent(), date(2026, 3, 2)) is None


def test_symlinks_inside_the_workspace_stay_symlinks(where: Place, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "memory").symlink_to("real")
    (tmp_path / "real" / "file.md").write_text("old\n")
    where.path.symlink_to("file.md")
    check(where)
    files.edit(where.path, lambda text: text + "new\n", root=where.root)
    assert where.path.is_symlink()
    assert (tmp_path / "real" / "file.md").read_text() == "old\nnew\n"


def test_a_path_that_leads_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    outside = Place(tmp_path / "work" / ".." / "elsewhere" / "x.md", tmp_path / "work")
    with pytest.raises(WorkspaceError, match="leads outside"):
        check(outside)
    with pytest.raises(WorkspaceError, match="leads outside"):
        files.edit(outside.path, lambda _: "text", root=outside.root)
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


def test_a_file_that_is_read_only_is_left_alone(where: Place) -> None:
    where.path.parent.mkdir()
    where.path.touch(mode=0o444)
    with pytest.raises(WorkspaceError, match="read-only"):
        check(where)
