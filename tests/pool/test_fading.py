from datetime import timedelta

import pytest

from dreamd.pool.fading import confidence_now, faded
from dreamd.sections import Decay
from tests.stores.making import NOON, summary

NEVER = summary("s", ("a",), type="insight", status="long_term", confidence=0.8, received_at=NOON)


def test_a_half_life_halves() -> None:
    assert (faded(0), faded(1), faded(2)) == (1, 0.5, 0.25)
    assert faded(-3) == 1


def test_an_insight_fades_by_the_half_life_of_its_status() -> None:
    assert confidence_now(NEVER, NOON + timedelta(days=90), Decay()) == pytest.approx(0.4)


def test_what_is_put_away_does_not_fade_further() -> None:
    away = summary("s", ("a",), type="insight", status="archived", confidence=0.05)
    assert confidence_now(away, NOON + timedelta(days=900), Decay()) == 0.05
