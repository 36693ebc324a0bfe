import io
import json
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

from dreamd.events import (
    DISK_FULL,
    NIGHT_FINISHED,
    SOURCE_FOUND,
    SOURCE_READABLE,
    SOURCE_UNREADABLE,
    SYNC_FINISHED,
)
from dreamd.logs import emitter, on_change
from dreamd.sections import Logs


def test_an_event_is_one_json_line_with_its_values_and_utc() -> None:
    out = io.StringIO()
    emitter(Logs(format="json"), out)(
        NIGHT_FINISHED, day=date(2026, 3, 2), place=Path("/x"), agent="小明", calls=2
    )
    line = json.loads(out.getvalue())
    assert datetime.fromisoformat(line.pop("timestamp")).utcoffset().total_seconds() == 0  # type: ignore[union-attr]
    assert line == {
        "event": "night.finished", "level": "info", "day": "2026-03-02", "place": "/x", "agent": "小明", "calls": 2,
    }  # fmt: skip
    assert "小明" in out.getvalue()


def test_events_below_the_level_are_not_told() -> None:
    out = io.StringIO()
    emit = emitter(Logs(format="json", level="warning"), out)
    emit(SOURCE_FOUND)
    emit(NIGHT_FINISHED)
    emit(DISK_FULL)
    assert [json.loads(line)["level"] for line in out.getvalue().splitlines()] == ["error"]


def test_the_console_format_is_for_people() -> None:
    out = io.StringIO()
    emitter(Logs(format="console"), out)(
        NIGHT_FINISHED, calls=2, state=Path("/var/lib/dreamd"), day=date(2026, 3, 2)
    )
    assert "night.finished" in out.getvalue()
    assert "calls=2" in out.getvalue()
    assert "state=/var/lib/dreamd" in out.getvalue()
    assert "day=2026-03-02" in out.getvalue()
    assert "{" not in out.getvalue()


def test_a_log_that_cannot_be_written_disturbs_nobody() -> None:
    class Full(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(28, "No space left on device")

    out = Full()
    emitter(Logs(format="json"), out)(NIGHT_FINISHED)
    assert out.getvalue() == ""


def test_logging_does_not_load_rich() -> None:
    code = "import sys, dreamd.logs; sys.exit(any(name.split('.')[0] == 'rich' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_full_disk_is_told_once_until_something_was_stored_again() -> None:
    told = []
    emit = on_change(lambda event, /, **_values: told.append(event))
    for event in (DISK_FULL, DISK_FULL, NIGHT_FINISHED, DISK_FULL, SYNC_FINISHED, DISK_FULL):
        emit(event)
    assert told == [DISK_FULL, NIGHT_FINISHED, SYNC_FINISHED, DISK_FULL]


def test_a_log_that_cannot_be_read_is_told_once_until_it_can_or_for_another_reason() -> None:
    told = []
    emit = on_change(lambda _event, /, **values: told.append(values))
    for agent, reason in (("anna", "denied"), ("anna", "denied"), ("bert", "denied"), ("anna", "no folder")):
        emit(SOURCE_UNREADABLE, agent=agent, path="/x", reason=reason)
    emit(SOURCE_READABLE, agent="anna", path="/x")
    emit(SOURCE_UNREADABLE, agent="anna", path="/x", reason="no folder")
    assert [(one["agent"], one.get("reason")) for one in told] == [
        ("anna", "denied"), ("bert", "denied"), ("anna", "no folder"), ("anna", None), ("anna", "no folder"),
    ]  # fmt: skip
