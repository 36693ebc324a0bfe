from datetime import UTC, datetime, timedelta

import pytest

from dreamd.gate.quiet import is_given_up, under_way
from dreamd.stores.base import TurnState

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def turn(agent: str = "kit", *, busy: bool = True, seconds_ago: float | None = 10) -> TurnState:
    at = None if seconds_ago is None else NOW - timedelta(seconds=seconds_ago)
    return TurnState(agent, f"s{seconds_ago}", busy, at)


def test_turns_under_way_of_the_lanes_agents_count() -> None:
    turns = [turn(), turn(seconds_ago=20), turn(busy=False), turn("other")]
    assert under_way(turns, {"kit"}, NOW, 3600) == tuple(turns[:2])


def test_a_turn_that_began_too_long_ago_has_died() -> None:
    assert under_way([turn(seconds_ago=4000), turn(seconds_ago=None)], {"kit"}, NOW, 3600) == ()


def test_a_turn_of_a_clock_that_was_ahead_has_died_and_one_that_is_a_little_ahead_has_not() -> None:
    ahead = turn(seconds_ago=-60)
    assert under_way([turn(seconds_ago=-9e7), ahead], {"kit"}, NOW, 3600) == (ahead,)


@pytest.mark.parametrize(
    ("silent_s", "waited_s", "before", "given_up"),
    [
        (900, 900, False, True),
        (900, 10, False, False),  # who is patient may wait for a long tool run to end
        (900, 10, True, True),  # it is waited for once, not by each call
        (10, 900, False, False),
        (10, 900, True, False),  # it is back
    ],
)
def test_a_turn_is_given_up_when_its_log_is_silent_and_a_call_has_waited_for_it(
    silent_s: float, waited_s: float, *, before: bool, given_up: bool
) -> None:
    assert is_given_up(silent_s, waited_s, 900, before=before) == given_up
