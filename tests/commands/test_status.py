from datetime import UTC, datetime, timedelta
from pathlib import Path

from click.testing import CliRunner

from dreamd.cli import cli
from tests.acceptance.house import Home


def told(home: Home) -> str:
    return CliRunner().invoke(cli, ["--config", str(home.config), "status"], standalone_mode=False).output


def test_it_says_for_people_how_things_stand(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.says(datetime.now(UTC) - timedelta(days=40), "How long is the bridge?", "It is 320 metres long.")
    home.run("sync")
    lines = told(home)
    assert lines.startswith("daemon   not running\nllm      none: dailies by rule, no Deep Dream\n")
    assert "anna: claude_code, 1 logs, 2 records, last read " in lines
    assert "  next night  20" in lines
    assert "  backlog  2 records of 1 day(s) since " in lines
    assert "are in no daily; run `dreamd night --agent anna --date " in lines


def test_when_all_is_well_it_says_that(tmp_path: Path) -> None:
    assert told(Home(tmp_path)).endswith("wrong    nothing\n")
