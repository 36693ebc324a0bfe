from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dreamd.gate.limit import Limit, judged, starting
from dreamd.gate.order import DREAM, NIGHT, PERSON
from dreamd.gate.state import (
    RECENT,
    LaneState,
    Rules,
    Step,
    arrived,
    came,
    departed,
    left,
    put_off,
    returned,
    told,
    wake,
    why,
)


def lane(calls: int = 1, *, concurrency: int = 8, **state: object) -> LaneState:
    """Of an upstream known to take so many calls and no more."""
    limit = Limit(floor=1, ceiling=32, calls=calls, failed=calls + 1, retry_at=1e9)
    return LaneState(rules=Rules(concurrency, patience_s=900), limit=limit, **state)


def tickets(calls: tuple) -> list[int]:
    return [call.ticket for call in calls]


class AnyOrderOfEvents(RuleBasedStateMachine):
    """Whatever happens in whatever order, held against a plain list of which dream calls there are."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.tickets = 0
        self.foreground = 0
        self.waiting: set[int] = set()
        self.running: set[int] = set()
        self.leaving: set[int] = set()
        self.state = lane()

    @initialize(
        concurrency=st.integers(1, 5),
        spare=st.integers(0, 3),
        floor=st.integers(1, 3),
        ceiling=st.integers(1, 8),
    )
    def with_rules(self, concurrency: int, spare: int, floor: int, ceiling: int) -> None:
        rules = Rules(concurrency, patience_s=30)
        self.state = LaneState(rules=rules, spare=spare, limit=starting(floor, ceiling))

    def take(self, step: Step) -> None:
        for ticket in step.cancelled:
            assert ticket in self.running, "a call that does not run was cancelled"
            self.running.remove(ticket)
            self.leaving.add(ticket)
        for ticket in step.started:
            assert ticket in self.waiting, "a call started twice"
            self.waiting.remove(ticket)
            self.running.add(ticket)
        self.state = step.state

    @rule(seconds=st.floats(-5, 120))
    def the_clock_steps(self, seconds: float) -> None:
        self.now += seconds
        self.take(told(self.state, self.now))

    @rule()
    def a_foreground_call_comes(self) -> None:
        self.foreground += 1
        step = arrived(self.state, self.now)
        assert step.started == ()
        self.take(step)
        over = self.foreground + len(self.running) > self.state.capacity
        assert not (over and self.running), "a dream call kept a slot that the foreground needed"

    @precondition(lambda self: self.foreground)
    @rule()
    def a_foreground_call_ends(self) -> None:
        self.foreground -= 1
        self.take(departed(self.state, self.now))

    @rule(rank=st.sampled_from([PERSON, NIGHT, DREAM]))
    def a_dream_call_comes(self, rank: int) -> None:
        self.tickets += 1
        self.waiting.add(self.tickets)
        self.take(came(self.state, self.tickets, rank, self.now))

    @precondition(lambda self: self.running | self.leaving)
    @rule(data=st.data(), finished=st.booleans())
    def a_dream_call_ends(self, data: st.DataObject, finished: bool) -> None:
        ticket = data.draw(st.sampled_from(sorted(self.running | self.leaving)))
        self.running.discard(ticket)
        self.leaving.discard(ticket)
        self.take(left(self.state, ticket, self.now, finished=finished))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def a_waiting_call_gives_up(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(sorted(self.waiting)))
        self.waiting.remove(ticket)
        self.take(left(self.state, ticket, self.now))

    @precondition(lambda self: self.leaving)
    @rule(data=st.data())
    def a_cancelled_call_is_gone(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(sorted(self.leaving)))
        self.leaving.remove(ticket)
        self.waiting.add(ticket)
        self.take(returned(self.state, ticket, self.now))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), seconds=st.floats(0, 60), reason=st.sampled_from(["budget", "shared"]))
    def a_lease_or_the_budget_is_missing(self, data: st.DataObject, seconds: float, reason: str) -> None:
        ticket = data.draw(st.sampled_from(sorted(self.running)))
        self.running.remove(ticket)
        self.waiting.add(ticket)
        self.take(put_off(self.state, ticket, seconds, reason, self.now))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), verdict=st.sampled_from(["good", "slow", "stuck", "refused", "unknown"]))
    def a_call_shows_something(self, data: st.DataObject, verdict: str) -> None:
        ticket = data.draw(st.sampled_from(sorted(self.running)))
        call = next(one for one in self.state.dreams if one.ticket == ticket)
        limit = judged(self.state.limit, verdict, call.seen, call.began, self.now)
        self.take(told(self.state, self.now, limit=limit))

    @rule(seconds=st.floats(0, 60))
    def the_upstream_asks_for_patience(self, seconds: float) -> None:
        self.take(told(self.state, self.now, cooling_until=self.now + seconds))

    @rule(seconds=st.floats(0, 60))
    def the_quota_is_told(self, seconds: float) -> None:
        self.take(told(self.state, self.now, quota_until=self.now + seconds))

    @rule(under_way=st.integers(0, 2))
    def turns_begin_and_end(self, under_way: int) -> None:
        self.take(told(self.state, self.now, turns=under_way))

    @rule()
    def a_stranger_leaves(self) -> None:
        before = self.state
        self.take(left(self.state, 10**9, self.now))
        assert tickets(before.dreams) == tickets(self.state.dreams)[: len(before.dreams)]

    @invariant()
    def no_call_is_lost_or_doubled(self) -> None:
        assert sorted(tickets(self.state.waiting)) == sorted(self.waiting)
        assert sorted(tickets(self.state.dreams)) == sorted(self.running)
        assert sorted(tickets(self.state.leaving)) == sorted(self.leaving)
        assert self.state.foreground == self.foreground

    @invariant()
    def never_more_dream_calls_than_the_limit(self) -> None:
        assert len(self.running) + len(self.leaving) <= self.state.rules.concurrency

    @invariant()
    def the_limit_keeps_its_bounds(self) -> None:
        limit = self.state.limit
        assert limit.floor <= limit.calls <= limit.ceiling
        assert not limit.failed or limit.calls < limit.failed

    @invariant()
    def nobody_waits_without_a_reason_that_passes(self) -> None:
        for call in self.state.waiting:
            reason = why(self.state, call)
            assert reason != "", "it could have started"
            in_flight = self.foreground or self.running or self.leaving or self.state.turns
            assert in_flight or wake(self.state) is not None, "nothing will ever let it in"

    @invariant()
    def calls_of_a_rank_stand_as_they_came(self) -> None:
        order = [(call.rank, call.ticket) for call in self.state.waiting]
        assert order == sorted(order)


AnyOrderOfEvents.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestAnyOrderOfEvents = AnyOrderOfEvents.TestCase


def test_a_dream_waits_for_the_foreground_call_to_end() -> None:
    busy = arrived(lane(), 0).state
    waiting = came(busy, 1, DREAM, 0)
    assert waiting.started == ()
    assert why(waiting.state, waiting.state.waiting[0]) == "foreground"
    assert departed(waiting.state, 0).started == (1,)


def test_a_foreground_call_on_a_full_lane_cancels_the_youngest_dream() -> None:
    state = lane(2)
    for ticket in (1, 2):
        state = came(state, ticket, DREAM, ticket).state
    assert arrived(state, 100).cancelled == (2,)


def test_a_cancelled_dream_keeps_its_place_and_backs_off_longer_each_time() -> None:
    state, pauses = came(lane(), 1, DREAM, 0).state, []
    for _ in range(12):
        state = arrived(state, state.now).state
        state = departed(state, state.now).state
        state = returned(state, 1, state.now).state
        pauses.append(state.waiting[0].not_before - state.now)
        state = told(state, state.now + state.usual_s).state
    assert pauses == sorted(pauses)
    assert pauses[0] < pauses[-1] == state.usual_s


def test_spare_slots_stay_free_beside_the_foreground() -> None:
    state = arrived(lane(3, spare=1), 0).state
    assert came(state, 1, DREAM, 0).started == (1,)
    assert came(came(state, 1, DREAM, 0).state, 2, DREAM, 0).started == ()


def test_a_dream_makes_way_when_fewer_than_half_of_the_spare_slots_are_free() -> None:
    for spare, calls in ((0, 4), (1, 3), (2, 3), (3, 2)):
        state = came(lane(4, spare=spare), 1, DREAM, 0).state
        for _ in range(calls - 1):
            step = arrived(state, 0)
            assert step.cancelled == ()
            state = step.state
        assert arrived(state, 0).cancelled == (1,)


def test_what_the_foreground_took_at_its_recent_maximum_stays_free_for_a_while() -> None:
    state = lane(4)
    for _ in range(3):
        state = arrived(state, 0).state
    for _ in range(3):
        state = departed(state, 0).state
    state = came(came(state, 1, DREAM, 0).state, 2, DREAM, 0).state
    assert tickets(state.dreams) == [1]
    later = 2 * RECENT * state.usual_s
    assert told(state, later - 0.1).started == ()
    assert wake(told(state, later - 0.1).state) == later
    assert told(state, later).started == (2,)


def test_the_last_slot_is_not_kept_for_a_call_that_may_come() -> None:
    assert came(lane(1, spare=3), 1, DREAM, 0).started == (1,)


def test_a_person_goes_before_the_night_and_the_night_before_dreams() -> None:
    state = came(lane(), 1, DREAM, 0).state
    for ticket, rank in ((2, DREAM), (3, NIGHT), (4, PERSON), (5, NIGHT)):
        state = came(state, ticket, rank, 0).state
    assert tickets(state.waiting) == [4, 3, 5, 2]


def test_a_turn_under_way_keeps_dreams_away_until_their_patience_is_over() -> None:
    state = came(lane(3, turns=1), 1, DREAM, 0).state
    assert state.dreams == ()
    assert why(state, state.waiting[0]) == "turn"
    assert told(state, 900).started == (1,)


def test_patience_does_not_take_the_turns_own_slot() -> None:
    state = came(lane(1, turns=1), 1, DREAM, 0).state
    assert told(state, 900).started == ()


def test_a_turn_that_begins_counts_as_a_call_where_none_are_announced() -> None:
    state = came(lane(), 1, DREAM, 0).state
    assert told(state, 1, turns=1).cancelled == (1,)
    announced = departed(arrived(lane(), 0).state, 0).state
    assert told(came(announced, 1, DREAM, 0).state, 1, turns=1).cancelled == ()


def test_nobody_starts_while_the_lane_cools_or_the_quota_is_low() -> None:
    for news, reason in (({"cooling_until": 9.0}, "cooling"), ({"quota_until": 9.0}, "quota")):
        state = came(told(lane(), 0, **news).state, 1, DREAM, 0).state
        assert why(state, state.waiting[0]) == reason
        assert wake(state) == 9
        assert told(state, 9).started == (1,)


def test_one_dream_more_than_the_limit_is_tried_once_the_limit_is_known_to_work() -> None:
    state = LaneState(rules=Rules(8), limit=starting(1, 8))
    for ticket in (1, 2, 3):
        state = came(state, ticket, DREAM, 0).state
    assert tickets(state.dreams) == [1]
    step = told(state, 1, limit=judged(state.limit, "good", 1, 0, 1))
    assert step.started == (2,)
    assert step.state.dreams[1].seen == 2


def test_a_foreground_call_cancels_what_was_only_tried() -> None:
    limit = Limit(floor=1, ceiling=8, calls=2, tested=True)
    state = LaneState(rules=Rules(8), limit=limit)
    for ticket in (1, 2, 3):
        state = came(state, ticket, DREAM, 0).state
    assert len(state.dreams) == 3
    step = arrived(state, 3)
    assert len(step.state.dreams) == 1
    assert told(step.state, 3.5).started == ()
    assert step.state.limit.broken == 1


def test_a_clock_that_goes_back_changes_nothing() -> None:
    state = told(lane(), 50, cooling_until=60).state
    assert told(state, 10).state == state
