"""What a person feels of dreams, reckoned in virtual time with the benchmark's own traffic: no machine's load is in it."""

import re

import pytest

from tests import virtual
from tests.benchmarks.foreground import SETUPS, Seen, reckoned


def seen(mode: str, name: str, seconds: float = 150) -> Seen:
    return virtual.run(reckoned(mode, SETUPS[name], seed=1, seconds=seconds))


@pytest.mark.parametrize(
    ("name", "kept"),
    [("one", 0.8), ("four", 0.3), ("refuses", 0.25), ("eight", 0.45), ("shares", 0.45), ("lingers", 0.1)],
)
def test_the_foreground_does_not_feel_that_dreams_take_what_it_leaves(name: str, kept: float) -> None:
    alone, beside, naive = seen("alone", name), seen("dreamd", name), seen("naive", name, 20)
    assert beside.quantile(0.99) <= 1.1 * alone.quantile(0.99)
    assert beside.quantile(0.5) <= 1.1 * alone.quantile(0.5)
    assert beside.refused <= alone.refused + len(beside.latencies) / 200
    assert beside.dreams >= kept * naive.dreams
    assert naive.quantile(0.99) > 2 * alone.quantile(0.99)  # or there was nothing to protect it from


def test_an_upstream_that_takes_fewer_calls_and_then_more_is_followed() -> None:
    alone, beside = (seen(mode, "changes", 450) for mode in ("alone", "dreamd"))
    assert beside.quantile(0.95) <= 1.25 * alone.quantile(0.95)  # it takes a few seconds to notice
    learned = re.search(r"calls=(\d+)", beside.limit)
    assert learned
    assert int(learned[1]) >= 12


@pytest.mark.parametrize("name", ["four", "eight", "shares"])
def test_an_upstream_that_stumbles_now_and_then_keeps_no_dream_from_ending(name: str) -> None:
    steady = seen("dreamd", name)
    stumbling = virtual.run(reckoned("dreamd", SETUPS[name], seed=1, seconds=150, stumbles=0.05))
    assert stumbling.dreams >= 0.5 * steady.dreams


def test_virtual_time_comes_out_the_same_every_time() -> None:
    first, second = seen("dreamd", "four"), seen("dreamd", "four")
    assert first == second
