from datetime import UTC, datetime

import pytest

from dreamd.clock import StillClock
from dreamd.events import LANE_COOLING, LIMIT_CHANGED, Event
from dreamd.gate.lane import LONGEST_COOLING_S, Lane
from dreamd.gate.limit import DOUBTS, PROOFS
from dreamd.gate.order import DREAM
from dreamd.gate.pace import usual
from dreamd.sections import Gate

LOW = [(b"x-ratelimit-remaining-tokens", b"1"), (b"x-ratelimit-limit-tokens", b"100"),
       (b"x-ratelimit-reset-tokens", b"60s")]  # fmt: skip


class House:
    def __init__(self, **settings: int) -> None:
        self.clock = StillClock(datetime(2026, 3, 2, tzinfo=UTC))
        self.told: list[Event] = []
        self.lane = Lane("x", Gate(**settings), concurrency=8, clock=self.clock, emit=self._emit)

    def _emit(self, event: Event, /, **_values: object) -> None:
        self.told.append(event)

    def foreground(self, seconds: float, status: int = 200, **headers: str) -> None:
        """A call whose first byte takes so long."""
        call = self.lane.arrive(1000)
        self.clock.ticks += seconds
        call.answered(status, [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()])
        call.first_byte()
        call.done()
        call.done()


async def test_a_call_that_is_done_twice_has_left_once() -> None:
    lane = House().lane
    first, _ = lane.arrive(1), lane.arrive(1)
    first.done()
    first.done()
    assert lane.state.foreground == 1


async def test_a_refusal_of_the_foreground_keeps_dreams_away_for_as_long_as_the_server_says() -> None:
    house = House()
    house.foreground(0.1, status=429, retry_after_ms="2500")
    assert house.lane.state.cooling_until == pytest.approx(house.clock.ticks + 2.5)
    assert house.told == [LANE_COOLING]


@pytest.mark.parametrize("status", [400, 401, 404, 500])
async def test_other_failures_of_the_foreground_say_nothing_of_the_upstream(status: int) -> None:
    house = House()
    before = house.lane.state.limit
    house.foreground(0.1, status=status)
    assert house.lane.state.limit == before
    assert house.lane.state.cooling_until < 0


async def test_without_retry_after_the_lane_cools_longer_with_each_refusal_up_to_a_bound() -> None:
    house, pauses = House(), []
    for _ in range(9):
        house.lane.cool(None)
        pauses.append(house.lane.state.cooling_until - house.clock.ticks)
        house.clock.ticks += LONGEST_COOLING_S
    assert pauses == sorted(pauses)
    assert pauses[-1] == pytest.approx(LONGEST_COOLING_S)


@pytest.mark.parametrize(("own_key", "away"), [(True, True), (False, False)])
async def test_the_quota_of_another_key_is_not_dreamds(own_key: bool, away: bool) -> None:
    lane = House().lane
    lane.arrive(1, own_key=own_key).answered(200, LOW)
    assert (lane.state.quota_until > lane.state.now) is away


async def test_foreground_calls_that_went_well_at_once_prove_no_more_than_the_limit() -> None:
    house = House()
    house.foreground(0.1)
    for _ in range(PROOFS):
        other = house.lane.arrive(1000)
        house.foreground(0.1)
        other.done()
    assert house.lane.state.limit.tested
    assert house.lane.state.limit.calls == 1
    assert LIMIT_CHANGED not in house.told


async def test_what_asks_for_nothing_sets_no_measure() -> None:
    house = House()
    for prompt_bytes in (0, 0, 1000):
        call = house.lane.arrive(prompt_bytes)
        call.answered(200, [])
        house.clock.ticks += 0.001 if prompt_bytes == 0 else 0.5
        call.first_byte()
        call.done()
    assert usual(house.lane._paces["foreground"], 1000) == 0.5


async def test_first_bytes_that_come_late_prove_nothing() -> None:
    house = House()
    house.foreground(0.1)
    for _ in range(PROOFS):
        other = house.lane.arrive(1000)
        house.foreground(1.0)
        other.done()
    assert house.lane.state.limit.calls == 1


async def test_a_server_whose_tokens_come_slower_the_more_calls_there_are_is_led_down() -> None:
    house = House(floor=1)
    lane = house.lane
    lane.judge_tokens(1, 0, 0.01)
    for number in range(2, 9):
        for _ in range(PROOFS):
            lane.judge("good", number, 0)
    assert lane.state.limit.calls == 8
    for _ in range(int(DOUBTS)):
        lane.judge_tokens(8, 0, 0.02)
    assert lane.state.limit.calls == 3


async def test_a_number_is_not_proven_by_a_call_beside_one_that_was_refused() -> None:
    lane = House(floor=1).lane
    lane.judge("good", 1, 0)
    began = lane.now()
    lane.cool(0.0)
    for _ in range(PROOFS):
        lane.judge("good", 2, began)
    assert lane.state.limit.calls == 1


async def test_an_empty_lane_waits_for_nothing() -> None:
    lane = House().lane
    assert lane.empty
    call = lane.come(DREAM, 10)
    assert call.door.is_set()
    assert lane.most == 1
    lane.leave(call, finished=True)
    assert lane.empty
    assert lane._timer is None
