import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreamd.cli import cli
from dreamd.stores.base import Changes, Slot
from dreamd.stores.sqlite import SqliteStore
from tests.acceptance.house import Home


def told(home: Home) -> str:
    return CliRunner().invoke(cli, ["--config", str(home.config), "status"], standalone_mode=False).output


def test_it_says_for_people_how_things_stand(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(datetime.now(UTC) - timedelta(days=40), "How long is the bridge?", "It is 320 metres long.")
    home.run("sync")
    lines = told(home)
    assert lines.startswith("daemon   not running\nllm      none: dailies by rule, no Deep Dream\n")
    assert "anna: claude_code, 1 log, 2 records, last read " in lines
    assert "  next night  20" in lines
    assert " UTC (when the daemon runs)\n" in lines
    assert "  backlog  2 records in no daily yet, of 20" in lines
    assert "; run `dreamd night --agent anna --date D` for each you want" in lines


def test_it_says_what_calls_took_of_what_they_may(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.configure("[budget]\ntokens_per_day = 5000\n[llm]\ninput_price = 1.0\n")
    now = datetime.now(UTC)
    slot = Slot(slot_id="1", lane="here", agent="anna", purpose="distil", began_at=now, input_tokens=1500)
    (home.root / "state").mkdir(exist_ok=True)
    with contextlib.closing(SqliteStore(home.root / "state")) as store:
        store.write(Changes(slots=(slot,)))
    assert "calls    1 in the last hour, about 1,500 of 5,000 tokens today, 0.0015 spent\n" in told(home)


def test_when_all_is_well_it_says_that(tmp_path: Path) -> None:
    assert told(Home(tmp_path)).endswith("wrong    nothing\n")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_configuration_broken_since_the_start_does_not_fail_the_health_check(
    tmp_path: Path, options: list[str]
) -> None:
    home = Home(tmp_path)
    with home.daemon() as daemon:
        daemon.told("READY=1")
        home.configure("[nihgt]\nat = '23:00'")
        seen = home.run("status", "--running", *options)
        assert (seen.returncode, str(daemon.process.pid) in seen.stdout) == (0, True)
        assert "did you mean 'night'?" in seen.stderr
        assert home.run("status").returncode == 2
    assert home.run("status", "--running", *options).returncode == 1
