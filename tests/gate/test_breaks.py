from hypothesis import given
from hypothesis import strategies as st

from dreamd.gate.breaks import LONGER, LONGEST_S, NOTICED_S, Breaks


def test_who_made_way_may_be_in_its_slot_for_a_moment() -> None:
    breaks = Breaks()
    breaks.add(2, 10.0, tried=False)
    breaks.add(1, 10.1, tried=False)
    assert breaks.left(10.2) == 3
    assert breaks.left(10.0 + NOTICED_S + 0.05) == 1
    assert breaks.left(11.0) == 0


def test_only_a_try_is_a_try() -> None:
    breaks = Breaks()
    breaks.add(1, 10.0, tried=False)
    assert not breaks.beside_try(10.1)
    breaks.add(1, 10.0, tried=True)
    assert breaks.beside_try(10.1)
    assert not breaks.beside_try(10.1 + NOTICED_S)


def test_a_server_that_is_slow_to_notice_is_known_by_who_waited_for_it() -> None:
    breaks = Breaks()
    breaks.add(1, 10.0, tried=True)
    breaks.waited(2.0)
    assert breaks.left(12.9) == 1
    assert breaks.beside_try(12.9)
    assert breaks.noticed_s == LONGER * 2.0
    breaks.refused()
    assert breaks.noticed_s == LONGER * LONGER * 2.0


def test_a_server_that_became_quick_is_known_after_a_while() -> None:
    breaks = Breaks()
    breaks.waited(2.0)
    for _ in range(1000):
        breaks.went_well()
    assert breaks.noticed_s == NOTICED_S


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e6))))
def test_the_moment_stays_within_its_bounds(waits: list[float | None]) -> None:
    breaks = Breaks()
    for wait in waits:
        breaks.went_well() if wait is None else breaks.waited(wait)
        assert NOTICED_S <= breaks.noticed_s <= LONGEST_S
