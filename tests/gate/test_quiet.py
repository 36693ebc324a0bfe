from datetime import UTC, datetime, timedelta

from dreamd.gate.quiet import under_way
from dreamd.stores.base import TurnState

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def turn(agent: str = "kit", *, busy: bool = True, seconds_ago: float | None = 10) -> TurnState:
    at = None if seconds_ago is None else NOW - timedelta(seconds=seconds_ago)
    return TurnState(agent, f"s{seconds_ago}", busy, at)


def test_turns_under_way_of_the_lanes_agents_count() -> None:
    turns = [turn(), turn(seconds_ago=20), turn(busy=False), turn("other")]
    assert under_way(turns, {"kit"}, NOW, 3600) == 2


def test_a_turn_that_began_too_long_ago_has_died() -> None:
    assert under_way([turn(seconds_ago=4000), turn(seconds_ago=None)], {"kit"}, NOW, 3600) == 0


def test_a_turn_of_a_clock_that_was_ahead_has_died_and_one_that_is_a_little_ahead_has_not() -> None:
    assert under_way([turn(seconds_ago=-9e7), turn(seconds_ago=-60)], {"kit"}, NOW, 3600) == 1
