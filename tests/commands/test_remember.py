from pathlib import Path

import pytest

from dreamd.errors import UsageError
from tests.commands.sleeper import Sleeper


def test_what_is_told_is_kept_and_can_be_asked_for(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    told = cat.run("remember", "I hate red", "--agent", "anna").output
    assert told.startswith("remembered: I hate red\n  [preference i")
    assert cat.run("remember", "I hate red", "--agent", "anna", "--pin").output.startswith(
        "known already: I hate red"
    )
    (insight,) = cat.json("insights")
    assert insight["insight"]["pinned"]
    why = cat.run("why", insight["insight"]["memory_id"]).output
    assert "user: Remember: I hate red\n" in why
    assert "UTC, told to dreamd directly]" in why


def test_json_has_the_insight_and_the_record(tmp_path: Path) -> None:
    told = Sleeper(tmp_path).json("remember", "I hate red", "--agent", "anna", "--kind", "fact")
    assert (told["new"], told["insight"]["kind"]) == (True, "fact")
    assert told["insight"]["ref_ids"] == [told["record"]["memory_id"]]


def test_of_several_agents_one_must_be_named(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    with cat.home.config.open("a") as config:
        config.write('\n[agents.zoe]\nformat = "codex"\n')
    error = cat.run("remember", "I hate red").exception
    assert isinstance(error, UsageError)
    assert "zoe" in str(error)


@pytest.mark.parametrize("text", ["", "?!"])
def test_nothing_is_no_memory(tmp_path: Path, text: str) -> None:
    assert isinstance(Sleeper(tmp_path).run("remember", text, "--agent", "anna").exception, UsageError)
