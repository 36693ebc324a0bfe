from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from dreamd.clock import StillClock
from dreamd.events import LANE_COOLING, LIMIT_CHANGED, Event
from dreamd.gate.breaks import NOTICED_S
from dreamd.gate.lane import FIRST_COOLING_S, LONGEST_COOLING_S, Lane
from dreamd.gate.limit import DOUBTS, FIRST_SPOILT_S, PROOFS
from dreamd.gate.order import DREAM
from dreamd.gate.paces import MANY
from dreamd.parts import ForegroundCall
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


async def test_refusals_of_many_calls_at_once_cool_the_lane_as_one() -> None:
    house = House()
    for _ in range(9):
        house.foreground(0.0, status=429)
    assert house.lane.state.cooling_until == pytest.approx(house.clock.ticks + FIRST_COOLING_S)


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
    assert house.lane.paces.is_delayed(1000, 0.55) is None


async def test_a_limit_is_learned_though_the_foreground_never_leaves() -> None:
    house = House()
    others = [house.lane.arrive(1000) for _ in range(7)]
    for _ in range(int(MANY) + 3):
        house.foreground(0.1)
    assert house.lane.state.limit.calls == 4
    assert house.told == [LIMIT_CHANGED]
    others += [house.lane.arrive(1000) for _ in range(4)]
    house.foreground(1.0)
    assert house.lane.state.limit.calls == 4


async def test_first_bytes_that_come_late_prove_nothing() -> None:
    house = House()
    house.foreground(0.1)
    for _ in range(PROOFS):
        other = house.lane.arrive(1000)
        house.foreground(1.0)
        other.done()
    assert house.lane.state.limit.calls == 1


def grown(calls: int, **settings: int) -> House:
    """A lane that has learned to send so many."""
    house = House(floor=1, **settings)
    for number in range(2, calls + 1):
        for _ in range(PROOFS):
            house.lane.judge("good", number, 0)
    assert house.lane.state.limit.calls == calls
    return house


async def test_a_server_whose_tokens_come_slower_the_more_calls_there_are_is_led_down_to_what_it_takes() -> (
    None
):
    lane = grown(8).lane
    lane.judged_tokens(1, 1.0, 0, 0.01)
    for _ in range(int(DOUBTS)):
        assert lane.judged_tokens(8, 8.0, 0, 0.02) == "unknown"
    assert lane.state.limit.calls == 4
    assert lane.state.limit.shares


async def test_once_a_server_is_known_to_share_itself_only_whole_answers_beside_enough_calls_are_proof() -> (
    None
):
    lane = grown(8).lane
    lane.judged_tokens(1, 1.0, 0, 0.01)
    for _ in range(int(DOUBTS)):
        lane.judged_tokens(8, 8.0, 0, 0.02)
    assert lane.tells_by_tokens(5)
    assert not lane.tells_by_tokens(4)
    assert lane.judged_tokens(5, 4.2, 0, 0.01) == "unknown"
    assert lane.judged_tokens(5, 4.8, 0, 0.01) == "good"


async def test_the_load_is_how_many_calls_were_in_flight_and_for_how_long() -> None:
    house = House(floor=4)
    lane, before = house.lane, house.lane.load
    dream = lane.come(DREAM, 10)
    house.clock.ticks += 2
    other = lane.arrive(10)
    house.clock.ticks += 3
    other.done()
    assert lane.load - before == pytest.approx(2 * 1 + 3 * 2)
    lane.leave(dream, finished=True)


async def test_a_number_is_not_proven_by_a_call_beside_one_that_was_refused() -> None:
    lane = House(floor=1).lane
    lane.judge("good", 1, 0)
    began = lane.now()
    lane.cool(0.0)
    assert lane.unthinned("good", 2, began) == "unknown"
    assert lane.unthinned("good", 1, began) == "good"


def crowded(house: House) -> ForegroundCall:
    """A call that comes right after two dreams made way for others, and finds none free but theirs."""
    lane = house.lane
    dreams = [lane.come(DREAM, 10) for _ in range(2)]
    for dream in dreams:
        assert dream.door.is_set()
    calls = [lane.arrive(1000) for _ in range(2)]
    for dream in dreams:
        assert dream.made_way
        lane.go_back(dream)
    calls[0].done()
    return calls[1]


async def test_a_refusal_in_a_slot_that_was_only_just_left_keeps_one_more_free_and_says_nothing_of_the_limit() -> (
    None
):
    house = House(floor=3, ceiling=3)
    before = house.lane.state.spare
    crowded(house).answered(429, [])
    assert house.lane.state.limit.calls == 3
    assert house.lane.state.spare == before + 1


async def test_a_call_that_waits_for_a_try_to_leave_makes_tries_rare_and_keeps_nothing_more_free() -> None:
    house = House(floor=1)
    lane = house.lane
    for _ in range(2 * int(MANY)):
        house.foreground(0.1)
    lane.learn(replace(lane.state.limit, tested=True, calls=2, failed=0))
    dreams = [lane.come(DREAM, 10) for _ in range(3)]
    assert [dream.door.is_set() for dream in dreams] == [True] * 3
    before = lane.state.spare
    house.foreground(0.5)
    assert lane.state.limit.spoilt == 1
    assert lane.state.limit.rest_until > house.clock.ticks + FIRST_SPOILT_S - 1
    assert lane.state.spare == before
    assert lane.breaks.noticed_s > NOTICED_S


async def test_dreams_that_made_way_long_ago_are_no_longer_in_their_slots() -> None:
    house = House(floor=3, ceiling=3)
    call = crowded(house)
    call.done()
    assert house.lane.crowded
    house.clock.ticks += NOTICED_S + 0.1
    assert not house.lane.crowded


async def test_an_empty_lane_waits_for_nothing() -> None:
    lane = House().lane
    assert lane.empty
    call = lane.come(DREAM, 10)
    assert call.door.is_set()
    assert lane.most == 1
    lane.leave(call, finished=True)
    assert lane.empty
    assert lane._timer is None
