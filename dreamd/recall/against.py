"""Insights in; what speaks against each, and what took its place, out: from the pairs that dreams and people have noted."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from dreamd.memories import GONE, STATUSES, Memory
from dreamd.recall.answer import Against
from dreamd.recall.choosing import Asked, holds
from dreamd.stores.base import Contradiction, MemoryQuery, Store


class Sides(Struct, frozen=True):
    against: tuple[Against, ...] = ()
    superseded_by: str = ""


def sides_of(store: Store, insights: Sequence[Memory], asked: Asked) -> Mapping[str, Sides]:
    """By id, of those that something speaks against. Blocks; raises StoreError."""
    flagged = [one for one in insights if one.contradictions_flag or one.status == "superseded"]
    if not flagged:
        return {}
    agents = dict.fromkeys(one.agent for one in flagged)
    pairs = list(chain.from_iterable(store.contradictions(agent) for agent in agents))
    known = {one.memory_id: one for one in opposed_to(store, flagged, pairs)}
    return {one.memory_id: _sides(one, pairs, known, asked) for one in flagged}


def opposed_to(store: Store, insights: Iterable[Memory], pairs: Iterable[Contradiction]) -> list[Memory]:
    """What is noted to contradict these, of any standing but forgotten and withdrawn."""
    ids = {one.memory_id for one in insights}
    others = {other for one, other, _ in _both_ways(pairs) if one in ids}
    query = MemoryQuery(ids=tuple(sorted(others)), types=("insight",), statuses=STATUSES)
    return [one for one in store.memories(query) if one.status not in GONE]


def _both_ways(pairs: Iterable[Contradiction]) -> Iterable[tuple[str, str, str]]:
    for pair in pairs:
        yield pair.left_id, pair.right_id, pair.reason
        yield pair.right_id, pair.left_id, pair.reason


def _sides(
    insight: Memory, pairs: Iterable[Contradiction], known: Mapping[str, Memory], asked: Asked
) -> Sides:
    """What is no longer held speaks against nothing."""
    opposed = [
        (known[other], reason)
        for one, other, reason in _both_ways(pairs)
        if one == insight.memory_id and other in known
    ]
    held = [(other, reason) for other, reason in opposed if holds(other, asked)]
    successor = max((other for other, _ in held), key=since, default=None)
    return Sides(
        tuple(Against(other.memory_id, other.content, reason) for other, reason in held),
        successor.memory_id if successor and insight.status == "superseded" else "",
    )


def since(insight: Memory) -> tuple[float, int]:
    """Orders insights by when they began to hold."""
    return (insight.valid_from or insight.happened).timestamp(), insight.seq
