from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from dreamd.gate.limit import starting
from dreamd.gate.state import LaneState, Rules, arrived, came, put_off, told
from dreamd.gate.turns import Underway
from dreamd.gate.waits import Teller, Wait, local, wait

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
IDLE = LaneState(rules=Rules(concurrency=4), limit=starting(1, 8))
TURN = Underway("kit", NOW - timedelta(seconds=60), NOW - timedelta(seconds=60))


def of(state: LaneState, turns: tuple[Underway, ...] = (), budget: str = "") -> Wait | None:
    return wait(state, state.waiting[0], turns, budget, NOW)


def test_nobody_is_told_of_dreamds_own_calls() -> None:
    assert of(came(came(IDLE, 1, 0, 0.0).state, 2, 0, 0.0).state) is None


def test_a_turn_is_named_with_its_beginning_and_with_when_a_dead_one_is_given_up() -> None:
    one = of(came(told(IDLE, 0.0, turns=1).state, 1, 0, 0.0).state, (TURN,))
    assert one is not None
    assert one.what == f"a turn of agent kit that began at {local(TURN.began)}"
    assert local(NOW + timedelta(seconds=900)) in one.todo
    assert "DREAMD_GATE__PATIENCE_S" in one.todo


def test_a_turn_that_holds_the_only_slot_is_named_when_patience_is_over() -> None:
    state = told(came(told(IDLE, 0.0, turns=1).state, 1, 0, 0.0).state, 1000.0).state
    heard = replace(TURN, heard=NOW - timedelta(seconds=10))
    one = of(state, (heard,))
    assert one is not None
    assert one.why == "turn"
    assert local(NOW + timedelta(seconds=890)) in one.todo


@pytest.mark.parametrize(
    ("state", "what", "todo"),
    [
        (came(arrived(IDLE, 0.0).state, 1, 0, 0.0).state, "calls of agents", "when they end"),
        (
            came(told(IDLE, 0.0, cooling_until=5.0).state, 1, 0, 0.0).state,
            "the upstream, which refused",
            local(NOW + timedelta(seconds=5)),
        ),
        (
            came(told(IDLE, 0.0, quota_until=60.0).state, 1, 0, 0.0).state,
            "the provider's quota",
            local(NOW + timedelta(seconds=60)),
        ),
        (
            put_off(came(IDLE, 1, 0, 0.0).state, 1, 60, "budget", 0.0).state,
            "the budget (the 3 calls an hour of all agents are used up)",
            "[budget]",
        ),
        (
            put_off(came(IDLE, 1, 0, 0.0).state, 1, 60, "shared", 0.0).state,
            "other processes of dreamd, which hold the slots",
            "when their calls end",
        ),
    ],
)
def test_every_reason_is_told_with_what_to_do(state: LaneState, what: str, todo: str) -> None:
    one = of(state, budget="the 3 calls an hour of all agents are used up")
    assert one is not None
    assert one.what == what
    assert todo in one.todo


def told_of(what: str) -> Wait:
    return Wait(why="turn", what=what, todo="")


def test_a_wait_is_told_once_it_has_lasted_and_again_when_the_cause_is_another() -> None:
    teller = Teller(3.0)
    seen = [
        (told_of("a"), 0.0), (told_of("a"), 2.0), (told_of("a"), 3.0), (told_of("a"), 9.0),
        (told_of("b"), 10.0), (told_of("b"), 13.0), (None, 14.0), (told_of("b"), 15.0), (told_of("b"), 19.0),
    ]  # fmt: skip
    due = [now for one, now in seen if teller.is_due(one, now)]
    assert due == [3.0, 13.0]


def test_what_has_passed_before_anybody_wonders_is_not_told() -> None:
    teller = Teller(3.0)
    assert not any(teller.is_due(told_of(what), now) for what, now in (("a", 0.0), ("b", 2.0), ("a", 4.0)))
