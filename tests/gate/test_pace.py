from hypothesis import given
from hypothesis import strategies as st

from dreamd.gate.pace import Pace, heard, is_late, usual


def learned(times: list[tuple[int, float]]) -> Pace:
    pace = Pace(1.3)
    for prompt_bytes, seconds in times:
        pace = heard(pace, prompt_bytes, seconds)
    return pace


def test_nothing_is_late_while_nothing_is_known() -> None:
    assert usual(Pace(1.3), 100) is None
    assert not is_late(Pace(1.3), 100, 1e9)


def test_a_time_far_beyond_the_usual_is_late() -> None:
    pace = learned([(1000, 0.2)] * 3)
    assert not is_late(pace, 1000, 0.25)
    assert is_late(pace, 1000, 0.4)


def test_a_longer_prompt_may_take_longer_on_a_server_that_reads_it_by_itself() -> None:
    pace = learned([(size, size / 10_000) for size in (1000, 5000, 2000, 8000)])
    assert not is_late(pace, 20_000, 2.1)
    assert is_late(pace, 20_000, 4.0)
    assert is_late(pace, 1000, 0.4)


def test_on_a_large_server_the_size_hardly_counts() -> None:
    pace = learned([(size, 0.5) for size in (1000, 50_000, 2000, 80_000)])
    assert is_late(pace, 200_000, 1.0)


def test_a_server_whose_times_scatter_is_given_more_time() -> None:
    calm = learned([(1000, 0.2)] * 20)
    restless = learned([(1000, 0.1), (1000, 0.3)] * 10)
    assert is_late(calm, 1000, 0.3)
    assert not is_late(restless, 1000, 0.3)


@given(st.lists(st.tuples(st.integers(0, 10**7), st.floats(0.001, 600)), min_size=1), st.integers(0, 10**8))
def test_the_usual_time_is_never_negative(times: list[tuple[int, float]], prompt_bytes: int) -> None:
    expected = usual(learned(times), prompt_bytes)
    assert expected is not None
    assert expected >= 0


def test_where_calls_differ_nothing_is_late_before_many_are_known() -> None:
    pace = Pace(1.5, enough=3.0)
    for _ in range(3):
        assert not is_late(pace, 100, 1e9)
        pace = heard(pace, 100, 0.1)
    assert is_late(heard(pace, 100, 0.1), 100, 1e9)
