"""So many requests a minute of each client."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as some

from dreamd.clock import StillClock
from dreamd.http.rates import Rates


def still() -> StillClock:
    return StillClock(datetime(2026, 3, 2, tzinfo=UTC))


def test_a_sixth_of_a_minutes_requests_may_come_at_once_and_then_one_by_one() -> None:
    clock = still()
    rates = Rates(60, clock)
    assert [rates.wait_s("a") for _ in range(11)] == [0.0] * 10 + [1.0]
    clock.ticks += 1
    assert rates.wait_s("a") == 0
    assert rates.wait_s("a") > 0


def test_clients_do_not_wait_for_each_other() -> None:
    rates = Rates(6, still())
    assert (rates.wait_s("a"), rates.wait_s("b")) == (0, 0)
    assert rates.wait_s("a") == 10


def test_nobody_waits_where_there_is_no_limit() -> None:
    rates = Rates(0, still())
    assert {rates.wait_s("a") for _ in range(1000)} == {0.0}


@given(some.integers(1, 600), some.lists(some.floats(0, 5), max_size=200))
def test_no_client_ever_gets_more_than_its_share(per_minute: int, pauses: list[float]) -> None:
    clock = still()
    rates = Rates(per_minute, clock)
    served = 0
    for pause in pauses:
        clock.ticks += pause
        served += rates.wait_s("a") == 0
    assert served <= max(per_minute / 6, 1) + clock.ticks * per_minute / 60 + 1e-6


def test_only_the_latest_clients_are_kept() -> None:
    rates = Rates(6, still())
    for number in range(5000):
        rates.wait_s(str(number))
    assert len(rates._buckets) == 1024
