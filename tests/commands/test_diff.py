from pathlib import Path

from dreamd.errors import UsageError
from tests.commands.dreamer import Dreamer


def test_without_numbers_it_shows_the_last_change(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    assert cat.run("diff").output.splitlines()[-1] == "+- The shop moved to Berlin on 2026-03-01"


def test_one_number_compares_with_the_file_as_it_is(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    cat.memory.write_text("- mine\n")
    (found,) = cat.json("diff", "2")
    assert "+- mine" in found["diff"]
    assert (found["before"], found["after"]) == (2, None)


def test_two_numbers_compare_versions(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    assert "-- The shop moved to Berlin on 2026-03-01" in cat.run("diff", "2", "1").output
    assert cat.run("diff", "1", "1").output == "cat: version 1 -> version 1: no difference\n"


def test_the_agent_and_the_versions_are_named(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    assert "no versions yet" in cat.run("diff").output
    assert cat.json("diff") == []
    cat.dreamt()
    assert cat.run("diff").output.startswith(f"cat: version 1 -> version 2\n--- {cat.memory}\n")
    assert cat.run("diff", "2").output == "cat: version 2 -> the file as it is: no difference\n"


def test_an_unknown_number_is_a_usage_error(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    assert isinstance(cat.run("diff", "9").exception, UsageError)
    assert isinstance(cat.run("diff", "1", "2", "3").exception, UsageError)
