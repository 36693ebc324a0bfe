from pathlib import Path

from dreamd.errors import FileChanged, NothingToDo, UsageError
from tests.commands.dreamer import Dreamer, reply


def test_undo_restores_what_stood_before_and_is_a_version_itself(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    assert "as before" in cat.run("undo").output
    assert cat.memory.read_text() == "# Memory\n\n- The shop sells tea\n"
    assert [version["author"] for version in cat.json("history")] == ["undo", "dreamd", "found"]
    assert isinstance(cat.run("undo").exception, NothingToDo)


def test_the_next_dream_does_not_redo_what_was_undone(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    cat.run("undo")
    assert "already" in cat.run("deep-dream").output
    cat.replies(reply("- (M1)\n- The shop moved to Berlin on 2026-03-01 (D1)"))
    result = cat.run("deep-dream", "--force")
    assert "had been taken back by a person before" in result.output
    assert cat.memory.read_text() == "# Memory\n\n- The shop sells tea\n"


def test_what_was_edited_since_stays(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    cat.memory.write_text("- mine\n" + cat.memory.read_text())
    assert cat.run("undo").exception is None
    assert cat.memory.read_text() == "- mine\n# Memory\n\n- The shop sells tea\n"


def test_an_edit_of_the_same_line_is_not_overwritten(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    mine = cat.memory.read_text().replace("Berlin", "Bonn")
    cat.memory.write_text(mine)
    assert isinstance(cat.run("undo").exception, FileChanged)
    assert cat.memory.read_text() == mine


def test_there_may_be_nothing_to_undo(tmp_path: Path) -> None:
    assert isinstance(Dreamer(tmp_path).run("undo").exception, NothingToDo)


def test_a_line_added_under_the_last_one_of_dreamd_survives(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    cat.memory.write_text(cat.memory.read_text() + "- mine\n")
    assert cat.run("undo").exception is None
    assert cat.memory.read_text() == "# Memory\n\n- The shop sells tea\n- mine\n"


def test_a_version_can_be_named(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    dreamt = cat.memory.read_text()
    assert "back to version 1" in cat.run("undo", "--to", "1").output
    assert cat.memory.read_text() == "# Memory\n\n- The shop sells tea\n"
    assert cat.json("undo", "--to", "2")["author"] == "undo"
    assert cat.memory.read_text() == dreamt
    assert isinstance(cat.run("undo", "--to", "9").exception, UsageError)
    assert isinstance(cat.run("undo", "--to", "2").exception, NothingToDo)


def test_where_there_was_no_file_none_is_left_and_it_is_said(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.replies(reply("- The shop moved to Berlin on 2026-03-01 (D1)"))
    cat.run("deep-dream")
    assert "is gone: there was no file" in cat.run("undo").output
    assert not cat.memory.exists()
    assert "taken back, no file" in cat.run("history").output
