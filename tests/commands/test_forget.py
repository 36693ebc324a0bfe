from pathlib import Path

import pytest

from dreamd.errors import UsageError
from tests.commands.dreamer import SAID, Dreamer
from tests.commands.sleeper import TABS, Sleeper


def test_it_shows_what_would_go_and_does_it_only_when_told(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    shown = cat.run("forget", "--matching", "berlin").output
    assert "record " in shown
    assert SAID in shown
    assert f"- {cat.memory}:4 The shop moved to Berlin on 2026-03-01" in shown
    assert "stays, for dreamd did not write it" in shown  # the daily of this story has no marks of dreamd's
    assert "Berlin" in cat.memory.read_text()
    done = cat.run("forget", "--matching", "berlin", "--yes").output
    assert done.endswith("forgotten: 2 memories, 2 lines in 2 files\n")
    assert cat.memory.read_text() == "# Memory\n\n- The shop sells tea\n"
    assert cat.json("memories") == []


def test_json_shows_the_plan_and_with_yes_what_went(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    one = cat.insight(TABS[:20])["insight"]["memory_id"]
    plan = cat.json("forget", one)
    assert plan["memories"][0]["why"] == "asked"
    assert len(plan["digest"]) == 32
    assert cat.json("forget", one, "--yes")["memories"] == len(plan["memories"])
    assert not any("tabs" in each["insight"]["content"] for each in cat.json("insights"))


def test_what_is_not_known_is_a_usage_error(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    for arguments in (("--matching", "zinfandel"), ("nonsense",), (), ("--matching", "x")):
        assert isinstance(cat.run("forget", *arguments).exception, UsageError)


def test_at_a_terminal_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    monkeypatch.setattr("dreamd.commands.forget._asks", lambda: True)
    said_no = cat.run("forget", "--matching", "tabs over spaces", answer="n\n")
    assert "forgotten:" not in said_no.output
    said_yes = cat.run("forget", "--matching", "tabs over spaces", answer="y\n")
    assert "forgotten: 3 memories" in said_yes.output
