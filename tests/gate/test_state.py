from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dreamd.gate.state import GateState, Step, arrive, leave


class AnyOrderOfEvents(RuleBasedStateMachine):
    """Arrivals and departures in any order, held against a list of who came when."""

    def __init__(self) -> None:
        super().__init__()
        self.state = GateState(limit=1)
        self.came: list[int] = []  # dream calls not yet started, in order
        self.running: dict[int, str] = {}
        self.tickets = 0

    def take(self, step: Step) -> None:
        self.state = step.state
        for ticket in step.started:
            if ticket in self.came:
                assert ticket == self.came.pop(0), "a later dream call was let in first"
                self.running[ticket] = "dream"

    @initialize(limit=st.integers(1, 4))
    def with_a_limit(self, limit: int) -> None:
        self.state = GateState(limit)

    @rule()
    def a_foreground_call_comes(self) -> None:
        self.tickets += 1
        step = arrive(self.state, self.tickets, "foreground")
        assert self.tickets in step.started, "a foreground call waited"
        self.running[self.tickets] = "foreground"
        self.take(step)

    @rule()
    def a_dream_call_comes(self) -> None:
        self.tickets += 1
        self.came.append(self.tickets)
        before = len(self.running)
        step = arrive(self.state, self.tickets, "dream")
        self.take(step)
        assert not step.started or before < self.state.limit

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def a_call_ends(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(sorted(self.running)))
        del self.running[ticket]
        self.take(leave(self.state, ticket))

    @precondition(lambda self: self.came)
    @rule(data=st.data())
    def a_waiting_call_gives_up(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.came))
        self.came.remove(ticket)
        self.take(leave(self.state, ticket))

    @rule()
    def a_stranger_leaves(self) -> None:
        assert leave(self.state, 10**9) == Step(self.state)

    @invariant()
    def the_state_is_what_happened(self) -> None:
        assert list(self.state.waiting) == self.came
        assert self.state.foreground | self.state.dreams == set(self.running)
        assert not self.state.foreground & self.state.dreams

    @invariant()
    def nobody_waits_while_there_is_room(self) -> None:
        assert not self.came or len(self.running) >= self.state.limit


AnyOrderOfEvents.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestAnyOrderOfEvents = AnyOrderOfEvents.TestCase


def test_a_dream_waits_for_the_foreground_call_to_end() -> None:
    busy = arrive(GateState(limit=1), 1, "foreground").state
    waiting = arrive(busy, 2, "dream")
    assert waiting.started == ()
    assert leave(waiting.state, 1).started == (2,)


def test_foreground_calls_may_exceed_the_limit_and_hold_dreams_back_until_enough_have_left() -> None:
    state = GateState(limit=1)
    for ticket in (1, 2, 3):
        state = arrive(state, ticket, "foreground").state
    state = arrive(state, 4, "dream").state
    for ticket, started in ((1, ()), (2, ()), (3, (4,))):
        step = leave(state, ticket)
        assert step.started == started
        state = step.state
