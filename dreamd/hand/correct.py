"""An insight that is wrong and what is right in; the right one stands, the wrong one is history with its dates."""

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.config import zone_of
from dreamd.errors import NothingToDo, UsageError
from dreamd.hand.named import named
from dreamd.hand.saying import Said, said, statement_of
from dreamd.hand.settling import settled
from dreamd.locks import dream_lock, exclusive
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.stores.base import Contradiction

REASON = "the person put it right"
_WAIT_S = 5.0


class Corrected(Struct, frozen=True):
    """`old` is superseded from now on, `new` stands in its place."""

    old: Memory
    new: Memory


async def correct(parts: Parts, memory_id: str, text: str) -> Corrected:
    """Put `text` in the place of the insight `memory_id` (or the beginning of its id); a pin goes over to the new one.

    Raises UsageError (no such insight, no text, the same text, a secret), NothingToDo (superseded already),
    ConfigError (its agent is not configured any more), StateLocked (a dream is under way), StoreError, DiskFull.
    """
    statement = statement_of(text)
    old = await to_thread.run_sync(_wrong, parts, memory_id, statement)
    zone = zone_of(parts.config.agent(old.agent))
    lock = parts.state / dream_lock(old.agent)
    async with exclusive(lock, parts.clock, what=f"{old.agent} dreams", wait_s=_WAIT_S):
        old = await to_thread.run_sync(_wrong, parts, old.memory_id, statement)
        now = parts.clock.now()
        words = said(statement, old.agent, now, zone, kind=old.kind, applies_when=old.applies_when)
        return await to_thread.run_sync(_correct, parts, old, words)


def _wrong(parts: Parts, memory_id: str, statement: str) -> Memory:
    """The insight that is to be corrected, as it stands now."""
    old = named(parts.store, memory_id, ("insight",))
    if old.status == "superseded":
        raise NothingToDo(f"insight {old.memory_id[:8]} was superseded already")
    if old.content == statement:
        raise UsageError("that is what it says already", hint="say what is right")
    return old


def _correct(parts: Parts, old: Memory, words: Said) -> Corrected:
    now = words.record.received_at
    new, changes = settled(parts, words, now, but=(old.memory_id,))
    past = replace(old, status="superseded", valid_until=now, contradictions_flag=True, pinned=False)
    pair = Contradiction(
        agent=old.agent, left_id=old.memory_id, right_id=new.memory_id, reason=REASON, at=now
    )
    pins = ((old.memory_id, False), *(((new.memory_id, True),) if old.pinned else ()))
    parts.store.write(
        replace(
            changes,
            replaced=(*changes.replaced, past),
            contradictions=(*changes.contradictions, pair),
            pins=pins,
            statuses=((old.memory_id, "superseded"),),  # though it was pinned meanwhile
        )
    )
    return Corrected(past, replace(new, pinned=new.pinned or old.pinned))
