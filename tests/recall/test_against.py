from datetime import timedelta

from dreamd.parts import Parts
from dreamd.recall.against import Sides, sides_of
from dreamd.recall.answer import Against
from dreamd.recall.choosing import Asked
from dreamd.sections import Decay
from dreamd.stores.base import Changes, Contradiction
from tests.recall.pouring import NOW, insight, pour

ASKED = Asked(terms=frozenset(), now=NOW, decay=Decay())
LEFT = insight(1, "The deadline is March 13", contradictions_flag=True)
RIGHT = insight(2, "The deadline is March 20", contradictions_flag=True)


def at_odds(parts: Parts, *others: str) -> None:
    pairs = [
        Contradiction(
            agent="ada",
            left_id=other,
            right_id=LEFT.memory_id,
            reason="day",
            at=NOW + timedelta(seconds=place),
        )
        for place, other in enumerate(others)
    ]
    parts.store.write(Changes(contradictions=pairs))


def test_both_sides_are_told_of_each_other(parts: Parts) -> None:
    pour(parts, LEFT, RIGHT)
    at_odds(parts, RIGHT.memory_id)
    sides = sides_of(parts.store, [LEFT, RIGHT], ASKED)
    assert sides[LEFT.memory_id] == Sides((Against(RIGHT.memory_id, RIGHT.content, "day"),))
    assert sides[RIGHT.memory_id] == Sides((Against(LEFT.memory_id, LEFT.content, "day"),))


def test_of_what_nothing_speaks_against_nothing_is_asked(parts: Parts) -> None:
    assert sides_of(parts.store, [insight(3, "x")], ASKED) == {}


def test_what_is_no_longer_held_or_gone_speaks_against_nothing(parts: Parts) -> None:
    away, gone = insight(4, "a", status="archived"), insight(5, "b", status="forgotten")
    pour(parts, LEFT, away, gone)
    at_odds(parts, away.memory_id, gone.memory_id, "unknown")
    assert sides_of(parts.store, [LEFT], ASKED)[LEFT.memory_id] == Sides()


def test_the_newest_that_holds_has_taken_the_place_of_what_was_superseded(parts: Parts) -> None:
    old = insight(1, "The deadline is March 13", status="superseded")
    newer = insight(6, "It is March 27", valid_from=NOW)
    pour(parts, old, RIGHT, newer)
    at_odds(parts, RIGHT.memory_id, newer.memory_id)
    assert sides_of(parts.store, [old], ASKED)[old.memory_id].superseded_by == newer.memory_id
