"""What a person tells dreamd to keep: a record of the person's own words, and the long-term insight that rests on it."""

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.config import zone_of
from dreamd.errors import StateLocked
from dreamd.hand.saying import Said, said, situation_of, statement_of
from dreamd.hand.settling import alone, settled, there_already
from dreamd.locks import dream_lock, exclusive
from dreamd.memories import Kind, Memory
from dreamd.parts import Parts
from dreamd.stores.base import Changes

_WAIT_S = 1.0  # for a dream to end; else the next one sees to what this says of other insights


class Remembered(Struct, frozen=True):
    """The insight, and the record of what was said. `new` is False, and `record` None, when it stood there already."""

    insight: Memory
    record: Memory | None
    new: bool = True


async def remember(
    parts: Parts,
    text: str,
    *,
    agent: str,
    kind: Kind | None = None,
    applies_when: str = "",
    pinned: bool = False,
) -> Remembered:
    """Keep `text` for good, as the person's own word; the same text twice is one insight.

    `kind` is told from the words where it is None. What it contradicts is linked, what it puts right superseded; while
    a dream of the agent is under way, that is left to the next. Raises UsageError (no text, too long, a secret),
    ConfigError (unknown agent), StoreError, DiskFull.
    """
    zone = await to_thread.run_sync(zone_of, parts.config.agent(agent))
    statement = statement_of(text)
    situation = situation_of(applies_when)
    words = said(statement, agent, parts.clock.now(), zone, kind=kind, applies_when=situation)
    try:
        lock = parts.state / dream_lock(agent)
        async with exclusive(lock, parts.clock, what=f"{agent} dreams", wait_s=_WAIT_S):
            return await to_thread.run_sync(_remember, parts, words, pinned)
    except StateLocked:
        return await to_thread.run_sync(_add, parts, words, pinned)


def _remember(parts: Parts, words: Said, pinned: bool) -> Remembered:
    known = _known(parts, words, pinned=pinned)
    if known:
        return known
    insight, changes = settled(parts, words, words.record.received_at)
    return _kept(parts, words, insight, changes, pinned=pinned)


def _add(parts: Parts, words: Said, pinned: bool) -> Remembered:
    known = _known(parts, words, pinned=pinned)
    if known:
        return known
    insight, changes = alone(words, words.record.received_at)
    return _kept(parts, words, insight, changes, pinned=pinned)


def _known(parts: Parts, words: Said, *, pinned: bool) -> Remembered | None:
    """What stood there already, recalled by being said again."""
    known = there_already(parts, words.record.agent, words.draft.statement)
    if known is None:
        return None
    pins = [(known.memory_id, True)] if pinned and not known.pinned else []
    recalled = [(known.memory_id, words.record.received_at)]
    parts.store.write(Changes(pins=pins, recalled=recalled, durable=True))
    return Remembered(replace(known, pinned=known.pinned or pinned), None, new=False)


def _kept(parts: Parts, words: Said, insight: Memory, changes: Changes, *, pinned: bool) -> Remembered:
    pins = ((insight.memory_id, True),) if pinned else ()
    parts.store.write(replace(changes, pins=pins))
    return Remembered(replace(insight, pinned=insight.pinned or pinned), words.record)
