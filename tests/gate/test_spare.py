from hypothesis import given
from hypothesis import strategies as st

from dreamd.gate.spare import DEAR, FIRST, FIRST_HOLD_S, LONGEST_HOLD_S, Spare, Went, after, starting

MOST = 5
OUTCOMES = st.lists(st.tuples(st.sampled_from(["well", "late", "refused"]), st.booleans(), st.floats(0, 50)))


def leaned(spare: Spare, went: Went, now: float) -> Spare:
    return after(spare, went, MOST, now, now, leaned=True)


def test_a_refusal_in_a_slot_that_was_not_free_keeps_one_more_free() -> None:
    assert leaned(starting(0, 0), "refused", 1).slots == FIRST + 1


def test_one_refusal_of_many_at_the_same_time_counts() -> None:
    spare = leaned(starting(0, 0), "refused", 1)
    assert after(spare, "refused", MOST, 0.9, 2, leaned=True) == spare


def test_one_late_call_is_chance_and_several_are_not() -> None:
    spare = starting(0, 0)
    spare = leaned(spare, "late", 1)
    assert spare.slots == FIRST
    for second in range(2, 4):
        spare = leaned(spare, "late", second)
    assert spare.slots == FIRST + 1


def test_where_calls_come_late_at_any_rate_those_that_lean_may_too() -> None:
    spare = starting(0, 0)
    for number in range(1000):
        spare = after(spare, "late" if number % 2 else "well", MOST, 1, 1, leaned=number % 10 == 0)
    assert spare.slots == FIRST


def test_a_slot_less_is_tried_after_a_while_and_later_each_time_that_was_wrong() -> None:
    spare, now, holds = starting(0, 0), 0.0, []
    for _ in range(8):
        assert leaned(spare, "well", spare.until - 0.1).slots == spare.slots
        now = spare.until
        spare = leaned(spare, "well", now)
        assert spare.slots == FIRST - 1
        spare = leaned(spare, "refused", now + 1)
        holds.append(spare.until - now - 1)
    assert holds == sorted(holds)
    assert (holds[0], holds[-1]) == (2 * FIRST_HOLD_S, LONGEST_HOLD_S)


def test_where_a_wrong_try_costs_a_refusal_it_is_made_after_many_calls_only() -> None:
    spare, now = starting(0, 0), FIRST_HOLD_S
    for _ in range(DEAR - 1):
        spare = after(spare, "well", MOST, now, now, leaned=True, refuses=True)
        assert spare.slots == FIRST
    assert after(spare, "well", MOST, now, now, leaned=True, refuses=True).slots == FIRST - 1


def test_nothing_is_given_up_on_calls_that_leaned_on_nobody() -> None:
    assert after(starting(0, 0), "well", MOST, 900, 900, leaned=False).slots == FIRST


@given(st.integers(0, 5), OUTCOMES)
def test_it_stays_within_its_bounds_whatever_happens(
    least: int, calls: list[tuple[Went, bool, float]]
) -> None:
    spare, now = starting(least, 0), 0.0
    for went, leans, seconds in calls:
        now += seconds
        spare = after(spare, went, MOST, now, now, leaned=leans)
        assert least <= spare.slots <= max(MOST, least, FIRST)
