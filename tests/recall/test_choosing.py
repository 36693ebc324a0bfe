from datetime import timedelta

import pytest

from dreamd.memories import Entity, Memory
from dreamd.pool.terms import wanted
from dreamd.recall.choosing import Asked, Chosen, chosen, holds
from dreamd.sections import Decay
from tests.recall.pouring import NOW, insight


def asked(goal: str = "prepare the release", days_ago: int | None = None) -> Asked:
    then = None if days_ago is None else NOW - timedelta(days=days_ago)
    return Asked(terms=frozenset(wanted(goal, NOW.date())), now=NOW, decay=Decay(), then=then)


def rank(*insights: Memory, near: float = 0.5, standing: tuple[int, ...] = ()) -> list[Chosen]:
    return chosen(
        asked(), insights, {one.seq: near for one in insights if one.seq not in standing}, {}, standing
    )


def first(better: Memory, worse: Memory) -> bool:
    return [one.insight for one in rank(worse, better)] == [better, worse]


def test_of_two_as_near_the_surer_the_proven_the_newer_and_the_pinned_comes_first() -> None:
    plain = insight(1, "x", seq=1)
    assert first(insight(2, "x", seq=2, confidence=0.9), plain)
    assert first(plain, insight(2, "x", seq=2, status="candidate"))
    assert first(
        plain,
        insight(2, "x", seq=2, timestamp=NOW - timedelta(days=300), received_at=NOW - timedelta(days=300)),
    )
    assert first(insight(2, "x", seq=2, pinned=True), plain)


def test_a_situation_or_an_entity_that_the_goal_names_comes_before_mere_words() -> None:
    plain = insight(1, "x", seq=1)
    assert first(insight(2, "x", seq=2, applies_when="before a release"), plain)
    assert first(insight(2, "x", seq=2, entities=(Entity("Release", "project"),)), plain)


def test_what_shares_too_little_does_not_bear_on_the_goal() -> None:
    assert rank(insight(1, "x", seq=1), near=0.05) == []
    far = chosen(asked(), [insight(1, "x", seq=1), insight(2, "y", seq=2)], {1: 0.9, 2: 0.16}, {}, ())
    assert [one.insight.seq for one in far] == [1]


def test_likeness_of_meaning_alone_is_a_match() -> None:
    (one,) = chosen(asked(), [insight(1, "x", seq=1)], {}, {1: 0.4}, ())
    assert one.matched == ("meaning",)


def test_standing_ones_come_last_in_their_order_unless_the_goal_asks_for_them() -> None:
    asked_for, second, third = (insight(seq, "x", seq=seq) for seq in (1, 2, 3))
    found = chosen(asked(), [asked_for, second, third], {1: 0.5}, {}, (3, 1, 2))
    assert [(one.insight.seq, one.matched) for one in found] == [
        (1, ("words",)),
        (3, ("standing",)),
        (2, ("standing",)),
    ]
    assert all(one.standing for one in found)


@pytest.mark.parametrize("status", ["superseded", "archived"])
def test_what_is_put_away_is_not_held_now(status: str) -> None:
    assert not holds(insight(1, "x", status=status), asked())


def test_what_has_ended_is_held_in_its_time_alone() -> None:
    one = insight(
        1, "x", status="superseded", valid_from=NOW - timedelta(days=9), valid_until=NOW - timedelta(days=3)
    )
    assert not holds(one, asked(days_ago=10))
    assert holds(one, asked(days_ago=9))
    assert holds(one, asked(days_ago=4))
    assert not holds(one, asked(days_ago=3))
    assert not holds(insight(1, "x", valid_until=NOW), asked())
