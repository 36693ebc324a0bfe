from pathlib import Path

from dreamd.clock import StillClock
from dreamd.tail.condition import Condition, condition
from dreamd.tail.sync import sync
from tests.tail.house import line, parts_on


def test_what_is_wrong_is_kept_for_status_until_it_is_right(tmp_path: Path, clock: StillClock) -> None:
    log = tmp_path / "x.jsonl"
    parts = parts_on(tmp_path, clock, log)
    sync(parts)
    assert condition(parts, "a") == Condition(unreadable={str(log): "not there"})
    log.write_bytes(line(1))
    sync(parts)
    assert condition(parts, "a") == Condition()
