import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreamd.cli import cli
from dreamd.commands.night import exit_code
from dreamd.parts import Outcome
from dreamd.stores.base import LedgerRow, RunState
from tests.acceptance.house import Home

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BRIDGE = ("How long is the bridge over the Elm?", "The Elm bridge is 320 metres long.")


def run(home: Home, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["--config", str(home.config), "night", *arguments], standalone_mode=False)


def test_it_runs_the_latest_day_that_is_in_no_daily_and_says_what_it_did(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(NOON, *BRIDGE)
    done = run(home)
    assert "Night of 2026-03-02" in done.output
    assert "anna: daily done" in done.output
    assert "2026-03-02.md (+" in done.output
    assert "anna: deep dream skipped" in done.output
    files = home.files()
    assert "already done" in run(home).output
    assert home.files() == files


def test_a_dry_run_shows_the_difference_and_changes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(NOON, *BRIDGE)
    assert home.run("sync").returncode == 0
    before = (home.root / "state" / "pool.db").read_bytes()
    done = run(home, "--dry-run")
    assert "dry run: nothing is written" in done.output
    assert "+- User: How long is the bridge over the Elm?" in done.output
    assert home.files() == {}
    assert (home.root / "state" / "pool.db").read_bytes() == before


def test_its_json_is_one_value(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(NOON, *BRIDGE)
    told = home.json("night", "--date", "2026-03-02", "--agent", "anna")
    assert isinstance(told, dict)
    assert told["day"] == "2026-03-02"
    assert told["totals"]["done"] == 1
    assert [outcome["row"]["phase"] for outcome in told["outcomes"]] == ["daily", "deep_dream"]
    assert json.dumps(told)


def test_a_day_without_records_is_said(tmp_path: Path) -> None:
    assert "no agent has records of that day" in run(Home(tmp_path), "--date", "2020-01-01").output


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--agent", "nobody"], 2), (["--date", "yesterday"], 2), (["--force"], 0)]
)
def test_the_exit_code_says_whose_fault_it_was(tmp_path: Path, arguments: list[str], code: int) -> None:
    assert Home(tmp_path).run("night", *arguments).returncode == code


@pytest.mark.parametrize(
    ("states", "code"), [([], 0), (["done", "skipped"], 0), (["done", "held"], 3), (["held", "failed"], 1)]
)
def test_a_failed_phase_exits_1_and_a_held_one_3(states: list[RunState], code: int) -> None:
    rows = [LedgerRow(agent="anna", day=date(2026, 3, 2), phase="daily", state=state) for state in states]
    assert exit_code([Outcome(row=row) for row in rows]) == code
