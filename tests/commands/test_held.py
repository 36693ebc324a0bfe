from pathlib import Path

from dreamd.errors import FileChanged, NothingToDo, UsageError
from tests.commands.dreamer import Dreamer, reply

OLD = "".join(f"- fact {number} about shelf {number} of the shop\n" for number in range(1, 7))


def held(folder: Path) -> Dreamer:
    cat = Dreamer(folder)
    cat.memory.write_text(OLD)
    retired = "\n".join(f"- M{number}: no longer of interest (D1)" for number in range(1, 6))
    cat.replies(reply("- (M6)\n- The shop moved to Berlin on 2026-03-01 (D1)", retired))
    cat.run("deep-dream")
    return cat


def test_held_rewrites_are_listed_and_shown(tmp_path: Path) -> None:
    cat = held(tmp_path)
    assert "1  cat  2026-03-02  waiting" in cat.run("held").output
    assert [one["held_id"] for one in cat.json("held", "list")] == [1]
    shown = cat.run("held", "show", "1").output
    assert "-- fact 1 about shelf 1" in shown
    assert "### Retired" in shown


def test_accepting_writes_it_with_its_evidence(tmp_path: Path) -> None:
    cat = held(tmp_path)
    cat.memory.write_text(OLD + "\nfree words\n")
    assert "written to" in cat.run("held", "accept", "1").output
    assert cat.memory.read_text() == (
        "- fact 6 about shelf 6 of the shop\n- The shop moved to Berlin on 2026-03-01\n\nfree words\n"
    )
    assert cat.json("why", f"{cat.memory}:2")["rests_on"][0]["kind"] == "daily"
    assert cat.json("history")[0]["author"] == "accepted"
    assert "nothing is held" in cat.run("held").output
    assert isinstance(cat.run("held", "accept", "1").exception, NothingToDo)


def test_what_was_appended_is_in_what_is_shown_and_stays_when_accepted(tmp_path: Path) -> None:
    cat = held(tmp_path)
    cat.memory.write_text(OLD + "- mine\n")
    shown = cat.json("held", "show", "1")
    assert not shown["conflicts"]
    assert "-- mine" not in shown["diff"]
    assert "\n - mine\n" in shown["diff"]
    assert cat.run("held", "accept", "1").exception is None
    assert "- mine\n" in cat.memory.read_text()


def test_a_decided_one_shows_what_the_night_wanted(tmp_path: Path) -> None:
    cat = held(tmp_path)
    cat.run("held", "reject", "1")
    cat.memory.write_text("- all new\n")
    assert "-- fact 1 about shelf 1" in cat.run("held", "show", "1").output


def test_rejecting_leaves_the_file(tmp_path: Path) -> None:
    cat = held(tmp_path)
    assert "dropped" in cat.run("held", "reject", "1").output
    assert cat.memory.read_text() == OLD
    assert cat.json("held", "list", "--all")[0]["state"] == "rejected"
    assert "already" in cat.run("deep-dream").output


def test_a_conflict_writes_nothing_and_keeps_it_waiting(tmp_path: Path) -> None:
    cat = held(tmp_path)
    mine = OLD.replace("fact 3", "another fact 3")
    cat.memory.write_text(mine)
    shown = cat.run("held", "show", "1").output
    assert "conflicts" in shown
    assert "another fact 3" not in shown
    error = cat.run("held", "accept", "1").exception
    assert isinstance(error, FileChanged)
    assert "held reject 1" in str(error)
    assert cat.memory.read_text() == mine
    assert [one["state"] for one in cat.json("held", "list")] == ["waiting"]


def test_an_unknown_number_is_a_usage_error(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    assert isinstance(cat.run("held", "show", "7").exception, UsageError)
    assert "nothing is held" in cat.run("held").output


def test_an_accepted_rewrite_can_be_undone_and_the_persons_file_stands_as_found(tmp_path: Path) -> None:
    cat = held(tmp_path)
    assert isinstance(cat.run("undo").exception, NothingToDo)
    assert cat.memory.read_text() == OLD
    cat.run("held", "accept", "1")
    assert cat.run("undo").exception is None
    assert cat.memory.read_text() == OLD
    assert [version["author"] for version in cat.json("history")] == ["undo", "accepted", "found"]
