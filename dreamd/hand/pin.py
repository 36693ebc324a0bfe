"""Pins: a pinned insight neither fades nor is retired or superseded by a dream, and recall always brings it along."""

from anyio import to_thread
from msgspec.structs import replace

from dreamd.errors import NothingToDo, UsageError
from dreamd.hand.named import named
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.stores.base import Changes


async def pin(parts: Parts, memory_id: str) -> Memory:
    """The insight, pinned and long-term now, for a person vouches for it; `memory_id` may be the beginning of one.

    Raises UsageError (none or more than one, no insight, one that was superseded or withdrawn), NothingToDo (it was
    pinned already), StoreError, DiskFull.
    """
    return await to_thread.run_sync(_pin, parts, memory_id)


async def unpin(parts: Parts, memory_id: str) -> Memory:
    """The insight, free to fade again. Raises as `pin`."""
    return await to_thread.run_sync(_unpin, parts, memory_id)


def _pin(parts: Parts, memory_id: str) -> Memory:
    insight = named(parts.store, memory_id, ("insight",))
    _check(insight)
    if insight.pinned:
        raise NothingToDo(f"insight {insight.memory_id[:8]} is pinned already")
    one = insight.memory_id
    parts.store.write(Changes(pins=[(one, True)], statuses=[(one, "long_term")], durable=True))
    pinned = named(parts.store, one, ("insight",))
    _check(pinned)  # it may have been put right meanwhile: then the store has pinned nothing
    return pinned


def _check(insight: Memory) -> None:
    if insight.status in ("superseded", "withdrawn"):
        raise UsageError(
            f"insight {insight.memory_id[:8]} was {insight.status}",
            hint="`dreamd remember` says it anew, `dreamd correct` puts another one right",
        )


def _unpin(parts: Parts, memory_id: str) -> Memory:
    insight = named(parts.store, memory_id, ("insight",))
    if not insight.pinned:
        raise NothingToDo(f"insight {insight.memory_id[:8]} is not pinned")
    parts.store.write(Changes(pins=[(insight.memory_id, False)], durable=True))
    return replace(insight, pinned=False)
