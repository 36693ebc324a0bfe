import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from dreamd.cli import cli
from dreamd.commands.night import exit_code, show
from dreamd.parts import Outcome
from dreamd.stores.base import LedgerRow, Phase, RunState, Usage
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
    assert (
        f"anna: daily done by rule (no LLM is configured): {home.work}/memory/2026-03-02.md (+" in done.output
    )
    assert "anna: deep dream skipped" in done.output
    files = home.files()
    assert "anna: daily done already\n" in run(home).output
    assert home.files() == files


def test_what_is_no_date_is_told_with_one() -> None:
    done = CliRunner().invoke(cli, ["night", "--date", "31.3.2026"])
    assert "'31.3.2026' is no date such as 2026-03-31" in done.output
    assert "--date DATE" in CliRunner().invoke(cli, ["night", "--help"]).output


def test_a_dry_run_shows_the_difference_and_changes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(NOON, *BRIDGE)
    assert home.run("sync").returncode == 0
    before = (home.root / "state" / "pool.db").read_bytes()
    done = run(home, "--dry-run")
    assert "dry run: nothing is written" in done.output
    assert "+- User: How long is the bridge over the Elm?" in done.output
    assert "Deep Dream sees the dailies on disk alone" in done.output
    assert home.files() == {}
    assert (home.root / "state" / "pool.db").read_bytes() == before


def test_its_json_is_one_value(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(NOON, *BRIDGE)
    told = home.json("night", "--date", "2026-03-02", "--agent", "anna")
    assert isinstance(told, dict)
    assert told["day"] == "2026-03-02"
    assert told["totals"]["done"] == 2
    assert [outcome["row"]["phase"] for outcome in told["outcomes"]] == ["daily", "dream", "deep_dream"]
    assert json.dumps(told)


def test_a_dry_run_before_any_log_was_read_says_what_reads_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(NOON, *BRIDGE)
    said = run(home, "--dry-run", "--date", "2026-03-02").output
    assert "no agent has records of that day; a dry run reads no logs, `dreamd sync` does" in said


def outcome(phase: Phase, state: RunState, reason: str = "", **more: Any) -> Outcome:
    row = LedgerRow(agent="anna", day=NOON.date(), phase=phase, state=state, reason=reason, attempts=1)
    return Outcome(row=row, **more)


def test_what_became_of_a_phase_is_said_once_with_what_changed_and_what_it_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    memory, diary = Path("/w/MEMORY.md"), Path("/w/diary.md")
    diff = f"--- {memory}\n+++ {memory}\n@@ -1 +1 @@\n-old\n+new\n+newer\n"
    spent = (Usage("deep-dream", calls=1, input_tokens=20, output_tokens=10),)
    dreamt = outcome("deep_dream", "done", files=(memory, diary), diff=diff, spent=spent, retired=1)
    waits = outcome("deep_dream", "skipped", "waits its turn: bert dreams first", new=False)
    waits = replace(waits, row=replace(waits.row, attempts=0))
    show(
        NOON.date(),
        [
            dreamt,
            outcome("daily", "done", "nothing to change", new=False),
            outcome("daily", "failed", "no such model"),
            outcome("daily", "skipped", "no records of that day", new=False),
            waits,
        ],
        dry_run=False,
    )
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  anna: deep dream done: /w/MEMORY.md (+2 -1 lines); /w/diary.md; 1 entry retired; 1 LLM call, 20 + 10 tokens",
        "  anna: daily done already",
        "  anna: daily failed (no such model)",
        "  anna: daily skipped (no records of that day)",
        "  anna: deep dream waits its turn: bert dreams first",
    ]


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


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("command", ["night", "deep-dream", "memories"])
def test_a_day_at_the_calendars_ends_is_refused_in_a_line(tmp_path: Path, command: str, day: str) -> None:
    home = Home(tmp_path)
    home.says(NOON, *BRIDGE)
    done = home.run(command, "--date", day)
    assert done.returncode == 2
    assert "Expected a day of the years 1970 to 9000" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_night_that_waits_for_its_budget_has_failed_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    row = LedgerRow(
        agent="cat", day=date(2026, 3, 2), phase="daily", state="failed", attempts=0, reason="used up"
    )
    show(date(2026, 3, 2), [Outcome(row=row)], dry_run=False)
    assert "cat: daily failed (used up)" in capsys.readouterr().out
