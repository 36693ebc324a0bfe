from pathlib import Path

import click
import pytest

from dreamd.errors import ConfigError
from tests.commands.sleeper import TABS, TEA, Sleeper


def test_long_term_insights_come_first_and_candidates_say_what_they_lack(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    assert "no such insights" in cat.run("insights").output
    cat.lived()
    believed, waiting = cat.json("insights")
    assert (believed["insight"]["status"], waiting["insight"]["status"]) == ("long_term", "candidate")
    assert believed.get("lacks", []) == []
    assert waiting["lacks"]
    shown = cat.run("insights").output
    assert "long-term" in shown.splitlines()[0]
    assert TABS.rstrip(".") in shown
    assert "2 days, 2 tasks, 2 records" in shown
    assert f"lacks: {waiting['lacks'][0]}" in shown


def test_only_those_of_a_status_can_be_asked_for(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    (only,) = cat.json("insights", "--status", "candidate", "--agent", "anna")
    assert TEA.rstrip(".") in only["insight"]["content"]
    assert cat.json("insights", "--status", "superseded", "--status", "archived") == []
    with pytest.raises(click.BadParameter):
        raise cat.run("insights", "--status", "wrong").exception or AssertionError


def test_an_agent_that_is_configured_no_more_is_still_answered_for(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    known = cat.json("insights", "--agent", "anna")
    config = cat.home.config
    config.write_text(config.read_text().replace("[agents.anna]", "[agents.berta]"))
    assert cat.json("insights", "--agent", "anna") == known
    assert cat.json("insights") == []
    refused = cat.run("insights", "--agent", "clara").exception
    assert isinstance(refused, ConfigError)
    assert "berta" in str(refused)
