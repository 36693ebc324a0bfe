"""How an agent's insights stand: what each still lacks to be believed for good, and what speaks against it.

Also how they would stand under other thresholds. Reads only.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct

from dreamd.config import Config
from dreamd.dream.material import insights, with_records
from dreamd.dream.promote import lacks, support_of
from dreamd.memories import STATUSES, Memory
from dreamd.pool.fading import confidence_now
from dreamd.sections import Promote
from dreamd.stores.base import Contradiction, MemoryQuery, Store


class Against(Struct, frozen=True):
    """An insight that contradicts another; `reason` is code's."""

    memory_id: str
    statement: str
    reason: str


class Standing(Struct, frozen=True, kw_only=True):
    """`sure` is the confidence faded until now. `lacks` are sentences, () for what has passed or would pass."""

    insight: Memory
    sure: float
    lacks: tuple[str, ...] = ()
    against: tuple[Against, ...] = ()


class Replayed(Struct, frozen=True, kw_only=True):
    """An insight that other thresholds treat otherwise. `lacks` is under those."""

    insight: Memory
    would_promote: bool
    lacks: tuple[str, ...] = ()


def standings(store: Store, agent_id: str, config: Config, now: datetime) -> list[Standing]:
    """In order of arrival. Blocks; raises StoreError."""
    known, raws = insights(store, agent_id)
    against = _against(store.contradictions(agent_id), {one.memory_id: one for one in known})
    return [_standing(one, raws, against.get(one.memory_id, ()), config, now) for one in known]


def standing_of(store: Store, insight: Memory, config: Config, now: datetime) -> Standing:
    """How one insight stands. Blocks; raises StoreError."""
    whole, raws = with_records(store, insight.agent, [insight])
    pairs = store.contradictions(insight.agent)
    ids = {one for pair in pairs for one in (pair.left_id, pair.right_id)}
    others = MemoryQuery(agent=insight.agent, ids=tuple(sorted(ids)), statuses=STATUSES)
    known = {one.memory_id: one for one in store.memories(others)} if ids else {}
    against = _against(pairs, known).get(insight.memory_id, ())
    return _standing(whole[0], raws, against, config, now)


def replayed(store: Store, agent_id: str, now: Promote, other: Promote) -> list[Replayed]:
    """The candidates and long-term insights whose promotion `other` decides otherwise than `now`. Blocks."""
    known, raws = insights(store, agent_id)
    return list(
        _replayed([one for one in known if one.status in ("candidate", "long_term")], raws, now, other)
    )


def _replayed(
    known: list[Memory], raws: Mapping[str, Memory], now: Promote, other: Promote
) -> Iterator[Replayed]:
    for one in known:
        support = support_of(one, raws)
        had, has = (lacks(one, support, thresholds) for thresholds in (now, other))
        if bool(had) != bool(has):
            yield Replayed(insight=one, would_promote=not has, lacks=has)


def _standing(
    insight: Memory, raws: Mapping[str, Memory], against: tuple[Against, ...], config: Config, now: datetime
) -> Standing:
    waits = insight.status in ("candidate", "archived")
    return Standing(
        insight=insight,
        sure=round(confidence_now(insight, now, config.decay), 4),
        lacks=lacks(insight, support_of(insight, raws), config.promote) if waits else (),
        against=against,
    )


def _against(pairs: Iterable[Contradiction], known: Mapping[str, Memory]) -> dict[str, tuple[Against, ...]]:
    found: dict[str, tuple[Against, ...]] = {}
    for pair in pairs:
        for one, other in ((pair.left_id, pair.right_id), (pair.right_id, pair.left_id)):
            if other in known:
                found[one] = (
                    *found.get(one, ()),
                    Against(other, known[other].content, pair.reason),
                )
    return found
