from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.gate.limit import (
    DOUBTS,
    FIRST_PAUSE_S,
    FIRST_REST_S,
    FIRST_SPOILT_S,
    LONGEST_PAUSE_S,
    LONGEST_REST_S,
    LONGEST_SPOILT_S,
    MORE_PROOFS,
    PROOFS,
    STRIKES,
    Limit,
    broken_off,
    is_news,
    judged,
    rested,
    served,
    spoilt,
    starting,
    tries,
)

AT_FOUR = Limit(floor=1, ceiling=32, calls=4, tested=True)


def proven(limit: Limit, in_flight: int) -> Limit:
    for _ in range(MORE_PROOFS if limit.failed else PROOFS):
        limit = judged(limit, "good", in_flight, 0, 0)
    return limit


def test_it_starts_at_the_floor_and_rises_by_one_when_the_next_number_went_well() -> None:
    limit = starting(2, 32)
    assert limit.calls == 2
    assert proven(limit, 3).calls == 3
    assert proven(limit, 9).calls == 3


def test_one_good_call_is_no_proof() -> None:
    assert judged(AT_FOUR, "good", 5, 0, 0).calls == 4


def test_nobody_grows_on_calls_that_left_slots_unused() -> None:
    assert proven(AT_FOUR, 4).calls == 4


def test_a_refusal_within_the_limit_halves_it_once_for_all_calls_of_that_time() -> None:
    limit = judged(AT_FOUR, "refused", 4, 10, 11)
    assert limit.calls == 2
    assert judged(limit, "refused", 4, 10.5, 12) == limit
    assert judged(limit, "refused", 2, 11.5, 12).calls == 1


def test_what_was_only_tried_costs_nothing_and_is_not_tried_again_before_a_pause() -> None:
    for verdict in ("refused", "stuck"):
        limit = judged(AT_FOUR, verdict, 5, 10, 11)
        assert limit.calls == 4
        assert not tries(limit, 11)
        assert tries(limit, 11 + FIRST_PAUSE_S)


def test_late_first_bytes_within_the_limit_lead_it_down_by_one_when_they_are_several() -> None:
    limit = AT_FOUR
    for _ in range(int(DOUBTS)):
        assert limit.calls == 4
        limit = judged(limit, "slow", 4, 10, 11)
    assert (limit.calls, limit.failed) == (3, 4)


def test_a_late_call_now_and_then_among_good_ones_is_chance() -> None:
    limit = AT_FOUR
    for number in range(300):
        limit = judged(limit, "slow" if number % 6 == 0 else "good", 4, 10, 11)
    assert limit.calls == 4


def test_a_number_that_was_tried_is_too_many_when_tries_are_late_again() -> None:
    limit = AT_FOUR
    for _ in range(STRIKES):
        assert limit.failed == 0
        limit = judged(limit, "slow", 5, 10, 11)
    assert (limit.calls, limit.failed) == (4, 5)


def test_a_number_that_once_was_too_many_needs_more_proof() -> None:
    limit = judged(AT_FOUR, "stuck", 5, 10, 11)
    for _ in range(MORE_PROOFS):
        assert limit.calls == 4
        limit = judged(limit, "good", 5, 100, 100)
    assert (limit.calls, limit.failed) == (5, 0)


def test_the_pause_doubles_up_to_a_bound_and_is_forgotten_when_the_upstream_takes_more() -> None:
    limit, pauses = AT_FOUR, []
    for second in range(6):
        limit = judged(limit, "stuck", 5, second, second)
        pauses.append(limit.pause_s)
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_S
    grown = proven(limit, 5)
    assert (grown.calls, grown.failed, grown.pause_s) == (5, 0, 0)


def test_only_tries_make_the_pause_longer() -> None:
    limit = AT_FOUR
    for second in range(3):
        limit = judged(limit, "stuck", 5, second, second)
    for second in range(10, 12):
        limit = judged(limit, "stuck", 4, second, second)
    assert (limit.calls, limit.pause_s) == (3, FIRST_PAUSE_S)


def test_two_calls_that_were_stuck_lead_it_down() -> None:
    once = judged(AT_FOUR, "stuck", 4, 10, 11)
    assert once.calls == 4
    assert judged(once, "stuck", 4, 10, 11).calls == 3


def test_tokens_that_come_late_now_and_then_are_chance_and_do_not_make_an_upstream_one_that_shares() -> None:
    limit = AT_FOUR
    for number in range(300):
        limit = judged(limit, "shared" if number % 6 == 0 else "good", 5 if number % 12 == 0 else 4, 10, 11)
    assert not limit.shares
    assert limit.calls == 4


def test_an_upstream_that_shares_itself_is_rarely_tried_and_believed_after_few_whole_answers() -> None:
    limit = AT_FOUR
    for _ in range(int(DOUBTS)):
        limit = judged(limit, "shared", 4, 10, 11)
    assert (limit.calls, limit.failed, limit.shares) == (3, 4, True)
    for second in range(20, 40):
        for _ in range(int(DOUBTS)):
            limit = judged(limit, "shared", 4, second, second)
    assert limit.pause_s == 10 * LONGEST_PAUSE_S
    for _ in range(PROOFS):
        limit = judged(limit, "good", 4, 2000, 2000)
    assert limit.calls == 4


def test_foreground_calls_beyond_what_is_known_to_be_too_many_tell_nothing_new() -> None:
    limit = judged(AT_FOUR, "stuck", 6, 10, 11)
    assert is_news(limit, "slow", 4)
    assert is_news(limit, "slow", 5)
    assert not is_news(limit, "slow", 6)
    assert not is_news(limit, "good", 5)


def test_a_try_that_is_broken_off_again_and_again_rests_longer_each_time_until_one_goes_well() -> None:
    limit, rests = AT_FOUR, []
    for _ in range(8):
        limit = broken_off(limit, 100)
        rests.append(limit.rest_until - 100)
    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (FIRST_REST_S, LONGEST_REST_S)
    assert judged(limit, "good", 5, 200, 200).broken == 0


def test_tries_that_the_foreground_felt_become_rare_until_one_goes_well() -> None:
    limit, rests = AT_FOUR, []
    for round_ in range(1, 6):
        limit = spoilt(limit, 1000 * round_)
        assert spoilt(limit, 1000 * round_ + 1) == limit
        rests.append(limit.rest_until - 1000 * round_)
    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (FIRST_SPOILT_S, LONGEST_SPOILT_S)
    assert judged(limit, "good", 5, 9000, 9000).spoilt == 0


def test_nothing_is_tried_while_it_rests_nor_before_the_limit_was_seen_to_work() -> None:
    assert not tries(rested(AT_FOUR, 9), 8.9)
    assert tries(rested(AT_FOUR, 9), 9)
    assert not tries(starting(1, 8), 0)
    assert tries(judged(starting(1, 8), "good", 1, 0, 0), 0)


@given(
    st.integers(1, 5),
    st.integers(1, 9),
    st.lists(
        st.tuples(
            st.sampled_from(["good", "slow", "stuck", "shared", "refused", "unknown"]), st.integers(1, 40)
        )
    ),
)
def test_it_stays_within_its_bounds_whatever_happens(
    floor: int, ceiling: int, calls: list[tuple[str, int]]
) -> None:
    limit = starting(floor, ceiling)
    for second, (verdict, in_flight) in enumerate(calls):
        limit = judged(limit, verdict, in_flight, second, second)
        assert limit.floor <= limit.calls <= limit.ceiling
        assert not limit.failed or limit.calls < limit.failed


def test_a_foreground_call_served_in_time_proves_half_of_the_calls_it_found() -> None:
    limit = served(starting(1, 32), 9)
    assert (limit.calls, limit.tested) == (4, True)
    assert served(limit, 9) is limit
    assert served(limit, 100).calls == 32


def test_a_foreground_call_served_in_time_does_not_speak_for_a_number_that_was_too_many() -> None:
    assert served(replace(AT_FOUR, failed=6), 20).calls == 5
    assert served(replace(AT_FOUR, failed=5), 20).calls == 4
