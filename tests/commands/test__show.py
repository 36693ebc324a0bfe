import fcntl
import json
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from dreamd.clock import StillClock
from dreamd.commands import _show
from dreamd.config import Config
from dreamd.daemon import empty_store
from dreamd.errors import ConfigError, StateLocked, UsageError
from dreamd.events import CALL_RETRIED, DREAM_WAITS, SYNC_FINISHED, silent
from dreamd.locks import NIGHT
from dreamd.parts import Parts
from dreamd.sections import Agent
from dreamd.stores.base import LedgerRow, RunState
from tests.commands.dreamer import Dreamer


def parts(tmp_path: Path, clock: StillClock, **agents: Agent) -> Parts:
    return Parts(config=Config(agents=agents), state=tmp_path, store=empty_store(), clock=clock, emit=silent)


def test_no_agent_named_is_all_that_are_switched_on(tmp_path: Path, clock: StillClock) -> None:
    house = parts(tmp_path, clock, kettle=Agent(), pantry=Agent(enabled=False))
    assert _show.agents_of(house, None) == ["kettle"]
    assert _show.agents_of(house, "pantry") == ["pantry"]


def test_an_unknown_agent_names_the_nearest_and_none_at_all_names_init(
    tmp_path: Path, clock: StillClock
) -> None:
    with pytest.raises(ConfigError, match="did you mean 'kettle'"):
        _show.agents_of(parts(tmp_path, clock, kettle=Agent()), "ketle")
    with pytest.raises(UsageError, match="dreamd init"):
        _show.agents_of(parts(tmp_path, clock), None)


def test_json_is_one_value_with_dates_and_chinese_as_they_are(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    _show.print_json({"day": date(2026, 3, 2), "path": Path("/a"), "said": "预算"})
    told = capfdbinary.readouterr().out
    assert json.loads(told) == {"day": "2026-03-02", "path": "/a", "said": "预算"}
    assert "预算".encode() in told


def test_one_is_not_many() -> None:
    assert [_show.some(count, "log") for count in (0, 1, 2)] == ["0 logs", "1 log", "2 logs"]


@pytest.mark.parametrize(
    ("state", "reason", "said"),
    [
        ("done", "", "done"),
        ("done", "no LLM is configured", "done by rule (no LLM is configured)"),
        ("failed", "the disk is full", "failed (the disk is full)"),
    ],
)
def test_a_row_is_said_with_its_reason(state: RunState, reason: str, said: str) -> None:
    row = LedgerRow(agent="anna", day=date(2026, 3, 2), phase="daily", state=state, reason=reason)
    assert _show.became(row) == said


def test_off_a_terminal_progress_and_colours_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with _show.progress(10, "reading") as step:
        step(10)
    _show.print_diff("+new\n-old\n")
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out == "+new\n-old\n"


def test_what_writes_an_agents_files_waits_for_no_night_but_says_so(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    before = cat.memory.read_text()
    with (tmp_path / "state" / NIGHT).open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for command in (
            ["undo"],
            ["held", "accept", "1"],
            ["held", "reject", "1"],
            ["deep-dream", "--force"],
        ):
            assert isinstance(cat.run(*command).exception, StateLocked)
    assert cat.memory.read_text() == before


def test_a_time_is_told_in_the_zone_with_its_offset() -> None:
    at = datetime(2026, 3, 2, 9, 0, 59, tzinfo=UTC)
    assert _show.local_time(at, ZoneInfo("Europe/Berlin")) == "2026-03-02 10:00 +01:00"
    assert _show.local_time(at, ZoneInfo("America/St_Johns")) == "2026-03-02 05:30 -03:30"


def test_who_runs_a_command_is_told_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    _show.tell_waits(DREAM_WAITS, why="turn", what="a turn of agent cat", todo="goes on soon")
    _show.tell_waits(DREAM_WAITS, why="turn", what="a turn", todo="goes on soon", unread=True)
    _show.tell_waits(CALL_RETRIED, reason="HTTP 503", pause_s=12.3)
    _show.tell_waits(CALL_RETRIED, reason="HTTP 503", pause_s=1.2)
    _show.tell_waits(SYNC_FINISHED, agent="cat")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "... waits for a turn of agent cat; goes on soon",
        "... waits for a turn; goes on soon; if it has ended, `dreamd sync` sees it",
        "... waits for the upstream: HTTP 503; asks again in 12 s",
    ]
