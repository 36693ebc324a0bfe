import pytest

from dreamd.gate.limit import Limit
from dreamd.gate.paces import MANY, Paces

AT_EIGHT = Limit(floor=1, ceiling=32, calls=8, tested=True)
SIZE = 1000


def known(seconds: float = 0.1) -> Paces:
    paces = Paces()
    for _ in range(int(MANY) + 2):
        paces.first_byte("foreground", SIZE, seconds, 1, AT_EIGHT)
    return paces


def test_nobody_is_late_while_nobody_knows_what_is_usual() -> None:
    assert Paces().is_delayed(SIZE, 99) is None
    assert Paces().first_byte("dream", SIZE, 99, 1, AT_EIGHT) == "good"
    assert Paces().first_byte("dream", SIZE, 99, 2, AT_EIGHT) == "unknown"


@pytest.mark.parametrize(("seconds", "verdict"), [(0.1, "good"), (0.2, "slow"), (0.5, "stuck")])
def test_a_first_byte_is_good_or_slow_or_stuck(seconds: float, verdict: str) -> None:
    assert known().first_byte("foreground", SIZE, seconds, 8, AT_EIGHT) == verdict


def test_a_little_late_counts_where_most_are() -> None:
    assert known().is_delayed(SIZE, 0.14)
    assert known().first_byte("foreground", SIZE, 0.14, 8, AT_EIGHT) == "good"
    assert not known().is_delayed(SIZE, 0.11)


def test_what_is_usual_is_known_although_the_upstream_is_never_empty() -> None:
    paces = Paces()
    for number in range(100):
        paces.first_byte("foreground", SIZE, 0.1 + 0.05 * (number % 2), 8, AT_EIGHT, crowded=True)
    assert paces.is_delayed(SIZE, 0.15)
    assert not paces.is_delayed(SIZE, 0.11)


def test_the_first_few_set_the_measure_however_many_there_are() -> None:
    paces, at_one = Paces(), Limit(floor=1, ceiling=32, calls=1)
    for _ in range(int(MANY) + 2):
        paces.first_byte("foreground", SIZE, 0.1, 7, at_one, crowded=True)
    assert paces.is_delayed(SIZE, 0.2)


def test_calls_beside_many_others_set_no_measure() -> None:
    paces = known()
    for _ in range(100):
        paces.first_byte("foreground", SIZE, 1.0, 8, AT_EIGHT)
    assert paces.is_delayed(SIZE, 0.5)


def test_tokens_that_come_at_the_usual_pace_say_nothing() -> None:
    paces = Paces()
    paces.too_many(0.010, 1.0, AT_EIGHT)
    assert paces.too_many(0.0102, 8.0, AT_EIGHT) is None


def test_from_how_much_slower_tokens_come_follows_how_many_calls_are_too_many() -> None:
    paces = Paces()
    paces.too_many(0.010, 1.0, AT_EIGHT)
    assert paces.too_many(0.016, 8.0, AT_EIGHT) == 6  # at full speed it takes five
    assert paces.too_many(0.0112, 9.0, AT_EIGHT) == 9


def test_a_faster_pace_than_the_usual_becomes_the_usual() -> None:
    paces = Paces()
    paces.too_many(0.020, 1.0, AT_EIGHT)
    for _ in range(200):
        paces.too_many(0.010, 8.0, AT_EIGHT)
    assert paces.too_many(0.020, 8.0, AT_EIGHT) == 5
