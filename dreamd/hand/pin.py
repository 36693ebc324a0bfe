"""Pins: a pinned insight neither fades nor is retired or superseded by a dream, and recall always brings it along."""

from dreamd.memories import Memory
from dreamd.parts import Parts


async def pin(parts: Parts, memory_id: str) -> Memory:
    """The insight, pinned now; `memory_id` may be the beginning of one. One that was put away is long-term again.

    Raises UsageError (none or more than one, or no insight), NothingToDo (it was so already), StoreError, DiskFull.
    """
    raise NotImplementedError


async def unpin(parts: Parts, memory_id: str) -> Memory:
    """The insight, free to fade again. Raises as `pin`."""
    raise NotImplementedError
