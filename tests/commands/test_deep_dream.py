from pathlib import Path

from dreamd.errors import HeldForReview, UsageError
from tests.commands.dreamer import Dreamer, reply


def test_it_dreams_the_day_of_the_newest_daily(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.replies(reply("- The shop moved to Berlin on 2026-03-01 (D1)"))
    result = cat.run("deep-dream")
    assert result.exception is None
    assert "cat 2026-03-02 deep dream done" in result.output
    assert "+- The shop moved to Berlin on 2026-03-01" in result.output
    assert cat.memory.read_text() == "- The shop moved to Berlin on 2026-03-01\n"
    assert "already done" in cat.run("deep-dream").output


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.replies(reply("- The shop moved to Berlin on 2026-03-01 (D1)"))
    (told,) = cat.json("deep-dream", "--dry-run")
    assert "+- The shop moved to Berlin" in told["diff"]
    assert not cat.memory.exists()
    assert cat.json("history") == []


def test_a_failure_is_exit_code_one(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.replies("no sections")
    result = cat.run("deep-dream", "--date", "2026-03-02")
    assert result.return_value == 1
    assert "failed: the reply has no [MEMORY]" in result.output


def test_a_held_rewrite_is_exit_code_three(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.memory.write_text("- The shop sells tea\n")
    cat.replies(reply("- gone (D9)", retired="- M1: no longer of interest (D1)"))
    result = cat.run("deep-dream")
    assert isinstance(result.exception, HeldForReview)
    assert result.exception.exit_code == 3


def test_an_unknown_agent_is_named(tmp_path: Path) -> None:
    result = Dreamer(tmp_path).run("deep-dream", "--agent", "dog")
    assert result.exception is not None
    assert not isinstance(result.exception, UsageError)
    assert "dog" in str(result.exception)


def test_retired_entries_are_counted(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.memory.write_text("- The shop sells tea\n- Ann reviews pull requests\n")
    cat.replies(reply("- (M2)", retired="- M1: no longer of interest (D1)"))
    output = cat.run("deep-dream").output
    assert "  retired 1 entry\n" in output
    assert "-- The shop sells tea" in output
