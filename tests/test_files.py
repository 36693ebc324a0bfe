import errno
import os
import stat
from pathlib import Path

import pytest

from dreamd import files
from dreamd.errors import DiskFull, FileChanged, WorkspaceError


def test_a_new_file_is_written_whole_with_its_folders(tmp_path: Path) -> None:
    files.replace(tmp_path / "memory" / "2026-03-02.md", "今天\n", root=tmp_path)
    assert files.read(tmp_path / "memory" / "2026-03-02.md").text == "今天\n"
    assert [path.name for path in (tmp_path / "memory").iterdir()] == ["2026-03-02.md"]


def test_mode_and_symlink_stay(tmp_path: Path) -> None:
    real = tmp_path / "kept" / "MEMORY.md"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "MEMORY.md"
    link.symlink_to(real)
    files.replace(link, "new", root=tmp_path)
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_an_edit_since_reading_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("read")
    before = files.read(path)
    path.write_text("edited by a person")
    with pytest.raises(FileChanged):
        files.replace(path, "dreamt", root=tmp_path, expected_sha256=before.sha256)
    assert path.read_text() == "edited by a person"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_appeared_since_is_an_edit_too(tmp_path: Path) -> None:
    before = files.read(tmp_path / "MEMORY.md")
    assert not before.exists
    (tmp_path / "MEMORY.md").write_text("new")
    with pytest.raises(FileChanged):
        files.replace(tmp_path / "MEMORY.md", "dreamt", root=tmp_path, expected_sha256=before.sha256)


@pytest.mark.parametrize("path", ["../outside.md", "link/outside.md"])
def test_nothing_is_written_outside_the_root(tmp_path: Path, path: str) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(WorkspaceError, match="leads outside"):
        files.replace(root / path, "x", root=root)
    assert not (tmp_path / "outside.md").exists()


def test_a_full_disk_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("old")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="no space left"):
        files.replace(path, "new", root=tmp_path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["MEMORY.md"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WorkspaceError, match="permissions"):
        files.replace(tmp_path / "MEMORY.md", "new", root=tmp_path)
    tmp_path.chmod(0o700)


def test_a_file_that_is_not_text_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WorkspaceError, match="not UTF-8"):
        files.read(tmp_path / "MEMORY.md")


def test_what_is_no_regular_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "MEMORY.md")
    with pytest.raises(WorkspaceError, match="no regular file"):
        files.read(tmp_path / "MEMORY.md")
    with pytest.raises(WorkspaceError, match="no regular file"):
        files.read(tmp_path)


def test_links_in_a_circle_are_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.symlink_to(path)
    with pytest.raises(WorkspaceError):
        files.replace(path, "x", root=tmp_path, expected_sha256=files.sha256_of(""))
    with pytest.raises(WorkspaceError):
        files.read(path)


def test_a_root_that_went_away_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="missing"):
        files.replace(tmp_path / "gone" / "MEMORY.md", "x", root=tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


def test_a_file_is_taken_away_only_as_it_was_read(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "MEMORY.md"
    real.write_text("read")
    link.symlink_to(real)
    before = files.read(link)
    real.write_text("edited")
    with pytest.raises(FileChanged):
        files.remove(link, root=tmp_path, expected_sha256=before.sha256)
    files.remove(link, root=tmp_path, expected_sha256=files.read(link).sha256)
    assert link.is_symlink()
    assert not real.exists()


def test_an_empty_file_is_not_the_same_as_none(tmp_path: Path) -> None:
    none = files.read(tmp_path / "MEMORY.md")
    (tmp_path / "MEMORY.md").touch()
    assert (none.mark, files.read(tmp_path / "MEMORY.md").mark) == ("", none.sha256)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "2026-03-02.md"


def test_a_file_is_written_and_its_diff_told(path: Path) -> None:
    edit = files.edit(path, lambda text: text + "one\n", root=path.parent.parent)
    assert path.read_text() == "one\n"
    assert edit.diff == f"--- {path}\n+++ {path}\n@@ -0,0 +1 @@\n+one\n"


def test_a_dry_run_shows_the_diff_alone(path: Path) -> None:
    assert "+one\n" in files.edit(path, lambda text: text + "one", root=path.parent.parent, dry_run=True).diff
    assert not path.parent.exists()


def test_what_does_not_change_is_not_written(path: Path) -> None:
    files.edit(path, lambda _: "one\n", root=path.parent.parent)
    before = path.stat()
    assert files.edit(path, lambda text: text, root=path.parent.parent).diff == ""
    assert path.stat().st_ino == before.st_ino


def test_an_edit_meanwhile_is_kept_and_composed_with(path: Path) -> None:
    path.parent.mkdir()
    edits = iter(["theirs\n"])

    def compose(text: str) -> str:
        for edit in edits:
            path.write_text(edit)
        return text + "ours\n"

    files.edit(path, compose, root=path.parent.parent)
    assert path.read_text() == "theirs\nours\n"


def test_a_file_edited_all_the_time_is_left_for_later(path: Path) -> None:
    path.parent.mkdir()
    count = iter(range(100))

    def compose(text: str) -> str:
        path.write_text(f"{next(count)}\n")
        return text + "ours\n"

    with pytest.raises(FileChanged):
        files.edit(path, compose, root=path.parent.parent)
    assert "ours" not in path.read_text()


def test_a_diff_is_unified_and_empty_for_the_same() -> None:
    assert files.unified("- a\n", "- a\n", Path("MEMORY.md")) == ""
    assert files.unified("- a\n", "- a\n- b", Path("MEMORY.md")) == (
        "--- MEMORY.md\n+++ MEMORY.md\n@@ -1 +1,2 @@\n - a\n+- b\n\\ No newline at end of file\n"
    )
