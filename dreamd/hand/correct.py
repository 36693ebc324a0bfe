"""An insight that is wrong and what is right in; the right one stands, the wrong one is history with its dates."""

from msgspec import Struct

from dreamd.memories import Memory
from dreamd.parts import Parts


class Corrected(Struct, frozen=True):
    """`old` is superseded from now on, `new` stands in its place."""

    old: Memory
    new: Memory


async def correct(parts: Parts, memory_id: str, text: str) -> Corrected:
    """Put `text` in the place of the insight `memory_id` (or the beginning of its id).

    Raises UsageError (no such insight, no text, the same text), NothingToDo (superseded already), StateLocked,
    StoreError, DiskFull.
    """
    raise NotImplementedError
