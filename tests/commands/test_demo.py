import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreamd.cli import cli
from dreamd.errors import UsageError


def told(*args: str) -> str:
    done = CliRunner().invoke(cli, ["demo", *args])
    assert done.exit_code == 0, done.output
    return done.output


def test_without_an_llm_the_demo_says_so_and_writes_rule_based_dailies(tmp_path: Path) -> None:
    text = told("--no-llm", "--keep", str(tmp_path / "demo"))
    assert "rule-based" in text
    assert "Deep Dream was skipped" in text
    assert "每月不超过 800 元" in (tmp_path / "demo/pantry/memory/2026-03-02.md").read_text(encoding="utf-8")
    assert not (tmp_path / "demo/kettle/MEMORY.md").exists()


def test_the_scripted_demo_dreams_and_its_audit_refuses_an_altered_date_and_a_habit_of_one_day(
    tmp_path: Path,
) -> None:
    text = told("--scripted", "--keep", str(tmp_path / "demo"))
    kettle = (tmp_path / "demo/kettle/MEMORY.md").read_text(encoding="utf-8")
    pantry = (tmp_path / "demo/pantry/MEMORY.md").read_text(encoding="utf-8")
    assert "March 20" in kettle
    assert "March 15" not in kettle
    assert "对花生过敏" in pantry
    assert "快一点" not in pantry
    assert "not by a model" in text


@pytest.mark.parametrize("how", ["--scripted", "--no-llm"])
def test_the_demo_dreams_of_a_budget_said_three_times_and_of_a_date_that_moved(
    how: str, tmp_path: Path
) -> None:
    text = told(how, "--keep", str(tmp_path / "demo"))
    dreams = re.findall(r"^  (\w+) dream: done", text, re.MULTILINE)
    assert dreams == ["kettle", "pantry"] * 3
    assert re.search(r"\^ new long-term \w+  预算有限$", text, re.MULTILINE)
    assert re.search(r"x candidate -> superseded \w+  We release version 1.4 on March 13", text)
    assert "group(s) wait" not in text
    asked = ["--config", str(tmp_path / "demo/config.toml"), "insights", "--json"]
    found = json.loads(CliRunner().invoke(cli, [*asked, "--status", "long_term"]).output)
    (budget,) = [one["insight"] for one in found if one["insight"]["content"] in ("预算有限", "预算还是有限")]
    assert (budget["windows"], budget["tasks"], budget["origins"]) == (3, 3, 3)


def test_in_the_scripted_demo_a_dream_refuses_an_altered_date_and_a_habit_that_is_none(
    tmp_path: Path,
) -> None:
    text = told("--scripted", "--keep", str(tmp_path / "demo"))
    assert (
        "refused: an insight was refused: a number, date, time or name stands in none of its records" in text
    )
    assert "refused: an insight was refused: it makes something else of its records' words" in text
    assert "March 15" not in text


def test_the_story_keeps_no_secret_and_no_scheduled_talk(tmp_path: Path) -> None:
    told("--no-llm", "--keep", str(tmp_path / "demo"))
    kept = b"".join(
        path.read_bytes()
        for path in (tmp_path / "demo").rglob("*")
        if path.is_file() and "logs" not in path.parts
    )
    assert b"sk-demo-0123456789" not in kept
    assert "nightly build is green" not in (tmp_path / "demo/kettle/memory/2026-03-02.md").read_text(
        encoding="utf-8"
    )


def test_the_demo_as_json_is_one_value_and_leaves_nothing_behind() -> None:
    told_json = json.loads(told("--no-llm", "--json"))
    assert [len(night) for night in told_json["nights"]] == [6, 6, 6]  # two agents, three phases
    assert told_json["folder"] is None


def test_a_kept_demo_can_be_asked_why(tmp_path: Path) -> None:
    text = told("--no-llm", "--keep", str(tmp_path / "demo"))
    words = text.rstrip().rpartition("dreamd --config ")[2].split()
    done = CliRunner().invoke(cli, ["--config", *words])
    assert done.exit_code == 0, done.output
    assert "verified" in done.output


def test_a_folder_that_is_there_is_not_taken(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["demo", "--keep", str(tmp_path)])
    assert isinstance(done.exception, UsageError)
