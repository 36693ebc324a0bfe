from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream.decay import decayed
from dreamd.memories import Memory, Status
from dreamd.pool.fading import confidence_now
from dreamd.sections import Decay
from tests.dream.told import NOW
from tests.stores.making import EVERYTHING, summary

DECAY = Decay()


def insight(status: Status = "candidate", **more: object) -> Memory:
    fields = {"type": "insight", "status": status, "confidence": 0.8, "received_at": NOW, "timestamp": NOW}
    return summary("s", ("a",), **(fields | more))


@pytest.mark.parametrize(("status", "days"), [("candidate", 30), ("long_term", 90)])
def test_half_is_left_after_the_half_life_of_the_status(status: Status, days: int) -> None:
    one = insight(status)
    assert confidence_now(one, NOW + timedelta(days=days), DECAY) == pytest.approx(0.4)
    assert decayed(one, NOW + timedelta(days=days), DECAY) is one
    assert decayed(one, NOW + timedelta(days=3 * days), DECAY).status == status
    gone = decayed(one, NOW + timedelta(days=3 * days + 1), DECAY)
    assert (gone.status, gone.confidence < 0.1, gone.ref_ids) == ("archived", True, one.ref_ids)


def test_new_evidence_a_recall_and_coming_to_know_it_late_keep_it() -> None:
    later = NOW + timedelta(days=200)
    assert decayed(insight(), later, DECAY).status == "archived"
    for keeps in ("timestamp", "last_recalled_at", "received_at"):
        one = insight(**{keeps: later - timedelta(days=1)})
        assert decayed(one, later, DECAY) is one


def test_that_nobody_recalled_it_condemns_nothing() -> None:
    never, once = insight(), insight(last_recalled_at=NOW)
    assert confidence_now(never, NOW + timedelta(days=9), DECAY) == confidence_now(
        once, NOW + timedelta(days=9), DECAY
    )


def test_a_pinned_insight_does_not_fade() -> None:
    one = insight(pinned=True)
    assert decayed(one, NOW + timedelta(days=9999), DECAY) is one


@given(st.sampled_from(EVERYTHING.statuses), st.integers(-10, 5000), st.floats(0, 1))
def test_fading_twice_is_fading_once_and_what_is_put_away_stays_as_it_is(
    status: Status, days: int, figure: float
) -> None:
    now = NOW + timedelta(days=days)
    once = decayed(insight(status, confidence=figure), now, DECAY)
    assert decayed(once, now, DECAY) == once
    assert once.status in (status, "archived")
    assert 0 <= once.confidence <= figure
