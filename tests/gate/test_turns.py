import os
from datetime import timedelta
from pathlib import Path

import pytest

from dreamd.clock import StillClock
from dreamd.gate.turns import Turns
from dreamd.records import Turn
from dreamd.stores.base import Changes, Cursor
from dreamd.stores.inmemory import InMemoryStore

PATIENCE_S = 900.0


class House:
    """An agent in whose session a turn began; its log and another session's."""

    def __init__(self, folder: Path, clock: StillClock) -> None:
        self.clock, self.store = clock, InMemoryStore()
        self.log, self.other = folder / "walk.jsonl", folder / "talk.jsonl"
        self.began = clock.now()
        self.store.write(Changes(turns=(("kit", Turn("walk", busy=True, at=self.began)),)))
        for path in (self.log, self.other):
            path.write_text("{}\n")
            cursor = Cursor(source_id=path.stem, agent="kit", path=str(path), format="claude_code")
            self.store.write(Changes(cursor=cursor))
            self.grows(path)
        self.turns = Turns(self.store, {"kit"}, timeout_s=3600, patience_s=PATIENCE_S, clock=clock)

    def grows(self, path: Path) -> None:
        at = self.clock.now().timestamp()
        os.utime(path, (at, at))

    def passes(self, seconds: float) -> None:
        self.clock.at += timedelta(seconds=seconds)

    def count(self, waited_s: float) -> int:
        return len(self.turns.that_count(waited_s))


@pytest.fixture
def house(tmp_path: Path, clock: StillClock) -> House:
    return House(tmp_path, clock)


def test_a_killed_agents_turn_counts_until_a_call_has_waited_its_patience(house: House) -> None:
    house.passes(PATIENCE_S + 1)
    assert house.count(waited_s=10) == 1
    assert house.count(waited_s=PATIENCE_S) == 0


def test_the_next_call_does_not_wait_for_the_dead_again(house: House) -> None:
    house.passes(PATIENCE_S + 1)
    house.count(waited_s=PATIENCE_S)
    assert house.count(waited_s=0) == 0


def test_an_agent_whose_log_grows_is_at_work_however_long_its_turn(house: House) -> None:
    house.passes(PATIENCE_S)
    house.grows(house.log)
    house.passes(PATIENCE_S - 1)
    (turn,) = house.turns.that_count(PATIENCE_S)
    assert (turn.agent, turn.began) == ("kit", house.began)
    assert turn.heard == house.began + timedelta(seconds=PATIENCE_S)


def test_the_log_of_another_session_keeps_no_turn_alive(house: House) -> None:
    house.passes(PATIENCE_S + 1)
    house.grows(house.other)
    assert house.count(waited_s=PATIENCE_S) == 0


def test_where_no_log_bears_the_sessions_name_any_of_the_agents_does(house: House) -> None:
    house.store.write(
        Changes(turns=(("kit", Turn("walk", busy=False)), ("kit", Turn("9f1c", busy=True, at=house.began))))
    )
    house.passes(PATIENCE_S + 1)
    house.grows(house.other)
    assert house.count(waited_s=PATIENCE_S) == 1


def test_the_newest_rows_of_a_database_stand_beside_it(house: House) -> None:
    house.passes(PATIENCE_S + 1)
    beside = Path(f"{house.log}-wal")
    beside.touch()
    house.grows(beside)
    assert house.count(waited_s=PATIENCE_S) == 1


def test_who_was_taken_for_dead_and_writes_again_counts_again(house: House) -> None:
    house.passes(PATIENCE_S + 1)
    assert house.count(waited_s=PATIENCE_S) == 0
    house.grows(house.log)
    assert house.count(waited_s=0) == 1


def test_a_log_that_is_gone_tells_nothing(house: House) -> None:
    house.log.unlink()
    house.passes(PATIENCE_S + 1)
    assert house.count(waited_s=PATIENCE_S) == 0


def test_the_oldest_turn_is_named_first(house: House) -> None:
    house.passes(5)
    house.store.write(Changes(turns=(("kit", Turn("talk", busy=True, at=house.clock.now())),)))
    assert [turn.began for turn in house.turns.that_count(0)] == [house.began, house.clock.now()]
