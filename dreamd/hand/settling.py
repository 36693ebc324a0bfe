"""One thing that a person told dreamd in; what it makes of all that the agent's insights say, written, out.

As a dream would settle it, at once and without a model: the same is said once, what contradicts is linked, and what the
person puts right is superseded. Only that the person's word needs no second day.
"""

from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from dreamd.dream.material import insights
from dreamd.dream.merge import born
from dreamd.dream.reconcile import settle
from dreamd.hand.saying import SESSION, Said
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.stores.base import Changes

SURE = 0.9  # confidence of what a person told dreamd directly


def believed(insight: Memory) -> Memory:
    """Long-term, for a person vouches for it."""
    return replace(insight, status="long_term", confidence=max(insight.confidence, SURE))


def settled(parts: Parts, said: Said, now: datetime, *, but: Iterable[str] = ()) -> tuple[Memory, Changes]:
    """The insight that bears it now, and what to write. `but` are ids of insights to be left out of it.

    Blocks; raises StoreError. The agent's dream must be locked out: its insights are written anew.
    """
    agent, record = said.record.agent, said.record
    known, raws = insights(parts.store, agent)
    others = tuple(one for one in known if one.memory_id not in set(but))
    found = settle((said.draft,), others, {**raws, record.memory_id: record}, parts.config.dream, now)
    mine = next(
        (one for one in (*found.new, *found.changed) if record.memory_id in one.ref_ids),
        born(said.draft, [record], now),
    )
    insight = believed(mine)
    rest = (one for one in (*found.changed, *found.superseded) if one.memory_id != insight.memory_id)
    changed = [*rest] if _is_new(insight, known) else [insight, *rest]
    return insight, Changes(
        memories=(record, insight) if _is_new(insight, known) else (record,),
        replaced=changed,
        contradictions=found.contradictions,
        durable=True,
    )


def alone(said: Said, now: datetime) -> tuple[Memory, Changes]:
    """The insight by itself, for when a dream is under way: the record waits for the next, which settles it."""
    insight = believed(born(said.draft, [said.record], now))
    record = replace(said.record, status="fresh")
    return insight, Changes(memories=(record, insight), durable=True)


def _is_new(insight: Memory, known: Iterable[Memory]) -> bool:
    return all(one.memory_id != insight.memory_id for one in known)


def there_already(parts: Parts, agent: str, statement: str) -> Memory | None:
    """The long-term insight of the agent that says this in the same words and rests on what the person told dreamd."""
    known, raws = insights(parts.store, agent)
    return next(
        (
            one
            for one in known
            if one.status == "long_term"
            and one.content == statement
            and any(raws[ref].session_id == SESSION for ref in one.ref_ids if ref in raws)
        ),
        None,
    )
